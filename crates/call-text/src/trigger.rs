//! Where a call may begin: single bytes, markers, names.

use crate::format::FORMATS;
use crate::prose::TURNS;
use crate::tools::MAX_NAME;

/// Whether a call, code or a line may begin with a byte.
fn is_trigger(byte: u8, expected: bool) -> bool {
    matches!(byte, b'<' | b'[' | b']' | b'`' | b'{' | b'\n') || (expected && byte == b'(')
}

/// The first place where a call, code or a line may begin.
pub(crate) fn find(bytes: &[u8], expected: bool) -> Option<usize> {
    const BLOCK: usize = 64;
    let opening = if expected { b'(' } else { b'<' };
    let mut at = 0;
    // Whole blocks at once, without a branch for each byte: the compiler makes vector
    // instructions of it.
    for block in bytes.chunks_exact(BLOCK) {
        let mut hits = 0_u8;
        for byte in block {
            hits |= u8::from(*byte == b'<')
                | u8::from(*byte == b'[')
                | u8::from(*byte == b']')
                | u8::from(*byte == b'`')
                | u8::from(*byte == b'{')
                | u8::from(*byte == b'\n')
                | u8::from(*byte == opening);
        }
        if hits != 0 {
            break;
        }
        at += BLOCK;
    }
    let tail = bytes.get(at..)?;
    tail.iter()
        .position(|byte| is_trigger(*byte, expected))
        .map(|found| at + found)
}

/// For each byte, the bytes that follow it at the start of a marker or of a token of [`TURNS`], as
/// bits.
static STARTS: [[u64; 4]; 256] = starts();

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn starts() -> [[u64; 4]; 256] {
    let mut table = [[0; 4]; 256];
    let mut format = 0;
    while format < FORMATS.len() {
        let mut marker = 0;
        while marker < FORMATS[format].open.len() {
            let word = FORMATS[format].open[marker].as_bytes();
            table[word[0] as usize][(word[1] / 64) as usize] |= 1 << (word[1] % 64);
            marker += 1;
        }
        format += 1;
    }
    let mut turn = 0;
    while turn < TURNS.len() {
        let word = TURNS[turn].0.as_bytes();
        table[word[0] as usize][(word[1] / 64) as usize] |= 1 << (word[1] % 64);
        turn += 1;
    }
    table
}

/// Whether a marker, or a token of [`TURNS`], may stand at the start of `text`, by its first two
/// bytes.
pub(crate) fn may_start(text: &str) -> bool {
    let [first, second, ..] = text.as_bytes() else {
        return true;
    };
    STARTS
        .get(usize::from(*first))
        .and_then(|seconds| seconds.get(usize::from(second / 64)))
        .is_some_and(|bits| bits & (1 << (second % 64)) != 0)
}

/// Whether `text` is the beginning of a marker and could still become one.
pub(crate) fn may_become_marker(text: &str) -> bool {
    FORMATS
        .iter()
        .flat_map(|format| format.open)
        .any(|marker| marker.len() > text.len() && marker.starts_with(text))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/' | '\\')
}

/// The name at the end of a text.
pub(crate) fn name_before(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take(MAX_NAME)
        .take_while(|(_, c)| is_name_char(*c))
        .last()
        .map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

/// The length of the name at the start of a text; `None` while it may go on.
pub(crate) fn name_at(text: &str) -> Option<usize> {
    text.find(|c: char| !is_name_char(c))
}

/// Whether `text` is the beginning of one of the names, or one of them whole.
pub(crate) fn may_become_name<'n>(text: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    names.any(|name| name.starts_with(text))
}
