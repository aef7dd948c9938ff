//! Fast steps over bytes that both readers take.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Nonzero where a byte of `word` is zero.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Nonzero where a byte of `word` is `byte`.
fn same_bytes(word: u64, byte: u8) -> u64 {
    zero_bytes(word ^ (ONES * u64::from(byte)))
}

/// Index of the first byte at or after `from` that is searched for; the length of the text if there
/// is none. Eight bytes a step: `hits` is nonzero where a byte is one, of which the lowest counts.
#[inline]
fn find(
    bytes: &[u8],
    from: usize,
    hits: impl Fn(u64) -> u64,
    is_hit: impl Fn(u8) -> bool,
) -> usize {
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let hit = hits(u64::from_le_bytes(*chunk));
        if hit != 0 {
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let tail = bytes.get(at..).unwrap_or_default();
    let stop = tail.iter().position(|byte| is_hit(*byte));
    at.min(bytes.len()) + stop.unwrap_or(tail.len())
}

/// Index of the first quote, backslash or control character at or after `from`.
#[inline]
pub(crate) fn string_stop(bytes: &[u8], from: usize) -> usize {
    let hits = |word: u64| {
        // With this bit turned, a quote stands directly behind the control characters.
        let turned = word ^ (ONES * 0x02);
        let quote_or_control = turned.wrapping_sub(ONES * 0x21) & !turned & HIGHS;
        quote_or_control | same_bytes(word, b'\\')
    };
    find(bytes, from, hits, is_string_stop)
}

/// Index from `from` on before which there is nothing that is searched for: blocks that a compiler
/// compares as a whole, for what is rare.
#[inline]
fn skip_blocks(bytes: &[u8], from: usize, is_hit: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<32>) {
        let hits = block
            .iter()
            .fold(0, |hits, byte| hits | u8::from(is_hit(*byte)));
        if hits != 0 {
            break;
        }
        at += block.len();
    }
    at
}

/// Index of the first quote or backslash at or after `from`.
#[inline]
pub(crate) fn quote_or_backslash(bytes: &[u8], from: usize) -> usize {
    let is_hit = |byte| matches!(byte, b'"' | b'\\');
    let hits = |word| same_bytes(word, b'"') | same_bytes(word, b'\\');
    find(bytes, skip_blocks(bytes, from, is_hit), hits, is_hit)
}

/// Index of the first backslash at or after `from`.
#[inline]
pub(crate) fn backslash(bytes: &[u8], from: usize) -> usize {
    let is_hit = |byte| byte == b'\\';
    let hits = |word| same_bytes(word, b'\\');
    find(bytes, skip_blocks(bytes, from, is_hit), hits, is_hit)
}

/// Index of the first control character at or after `from`.
#[inline]
pub(crate) fn control(bytes: &[u8], from: usize) -> usize {
    let is_hit = |byte| byte < 0x20;
    let hits = |word: u64| word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    find(bytes, skip_blocks(bytes, from, is_hit), hits, is_hit)
}

fn is_string_stop(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// A number made of the length of a key and of the bytes at its ends. Keys that differ mostly have
/// different ones, and then they need no comparison.
#[inline]
pub(crate) fn fingerprint(key: &[u8]) -> u64 {
    let half = |word: &[u8; 4]| u64::from(u32::from_le_bytes(*word));
    let ends = if let Some((head, tail)) = key.first_chunk::<8>().zip(key.last_chunk::<8>()) {
        u64::from_le_bytes(*head) ^ u64::from_le_bytes(*tail).rotate_left(29)
    } else if let Some((head, tail)) = key.first_chunk::<4>().zip(key.last_chunk::<4>()) {
        (half(head) << 32) | half(tail)
    } else {
        let shift_in = |ends, byte: &u8| (ends << 8) | u64::from(*byte);
        key.iter().fold(0, shift_in)
    };
    (ends ^ key.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Index of the first byte at or after `from` that is not JSON white space.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_stop_wherever_it_stands() {
        for stop in [b'"', b'\\', 0x00, 0x1f, b'\n'] {
            for at in 0..80 {
                let mut bytes = vec![b'x'; 80];
                bytes[at] = stop;
                assert_eq!(string_stop(&bytes, 0), at, "stop {stop} at {at}");
                let backslash_at = if stop == b'\\' { at } else { bytes.len() };
                assert_eq!(backslash(&bytes, 0), backslash_at, "stop {stop} at {at}");
                let control_at = if stop < 0x20 { at } else { bytes.len() };
                assert_eq!(control(&bytes, 0), control_at, "stop {stop} at {at}");
                let is_quote = matches!(stop, b'"' | b'\\');
                let quote_at = if is_quote { at } else { bytes.len() };
                assert_eq!(
                    quote_or_backslash(&bytes, 0),
                    quote_at,
                    "stop {stop} at {at}"
                );
            }
        }
        let text = "é\u{7f}\u{80}\u{ff}日本語 no stop here at all";
        assert_eq!(string_stop(text.as_bytes(), 0), text.len());
    }
}
