//! The content of JSON strings: decoding and encoding.

use std::borrow::Cow;

/// A token without its quotes.
pub(crate) fn unquoted(token: &str) -> &str {
    token
        .get(1..token.len().saturating_sub(1))
        .unwrap_or_default()
}

/// Decodes the inside of a strict JSON string.
pub(crate) fn decode(inner: &str) -> Cow<'_, str> {
    let Some(first) = inner.find('\\') else {
        return Cow::Borrowed(inner);
    };
    let mut out = String::with_capacity(inner.len());
    let (plain, mut rest) = inner.split_at(first);
    out.push_str(plain);
    while let Some(escape) = rest.strip_prefix('\\') {
        let (character, after) = decode_escape(escape);
        out.push(character);
        let next = after.find('\\').unwrap_or(after.len());
        let (plain, tail) = after.split_at(next);
        out.push_str(plain);
        rest = tail;
    }
    Cow::Owned(out)
}

/// Decodes what follows a backslash; returns the character and the rest.
fn decode_escape(escape: &str) -> (char, &str) {
    let mut chars = escape.chars();
    let character = match chars.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return decode_unicode(chars.as_str()),
        Some(other) => other,
        None => '\\',
    };
    (character, chars.as_str())
}

/// Decodes the digits after `\u`, and the second half of a pair where the first asks for one.
fn decode_unicode(digits: &str) -> (char, &str) {
    let (Some(unit), Some(after)) = (hex4(digits), digits.get(4..)) else {
        return (
            char::REPLACEMENT_CHARACTER,
            digits.get(4..).unwrap_or_default(),
        );
    };
    if let Some(character) = char::from_u32(unit) {
        return (character, after);
    }
    let low = after.strip_prefix("\\u").and_then(hex4);
    if let (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) = (unit, low) {
        let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        return (character, after.get(6..).unwrap_or_default());
    }
    (char::REPLACEMENT_CHARACTER, after)
}

/// The length of the strict escape at `at`; `None` for anything else, a lone surrogate among it.
#[inline]
pub(crate) fn escape_length(text: &str, at: usize) -> Option<usize> {
    match text.as_bytes().get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => unicode_length(text, at),
        _ => None,
    }
}

/// The length of the `\u` escape, or pair of them, at `at`.
fn unicode_length(text: &str, at: usize) -> Option<usize> {
    let unit = |at: usize| text.get(at..)?.strip_prefix("\\u").and_then(hex4);
    match unit(at)? {
        0xD800..=0xDBFF => matches!(unit(at + 6)?, 0xDC00..=0xDFFF).then_some(12),
        0xDC00..=0xDFFF => None,
        _ => Some(6),
    }
}

/// How far a string is strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrictEnd {
    /// Up to its closing quote, which stands here.
    Quote(usize),
    /// Up to the end of the text.
    Text,
    /// Something in it is not strict.
    Broken,
}

/// Where the strict string content that begins at `from` ends.
pub(crate) fn strict_end(text: &str, from: usize) -> StrictEnd {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at = super::scan::string_stop(bytes, at);
        match bytes.get(at) {
            None => return StrictEnd::Text,
            Some(b'"') => return StrictEnd::Quote(at),
            Some(b'\\') => match escape_length(text, at) {
                Some(length) => at += length,
                None => return StrictEnd::Broken,
            },
            Some(_) => return StrictEnd::Broken,
        }
    }
}

/// The value of four hexadecimal digits at the start of `text`.
pub(crate) fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        u32::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

/// Appends `content` as a JSON string with its quotes.
pub(crate) fn encode(content: &str, out: &mut String) {
    out.push('"');
    encode_inner(content, out);
    out.push('"');
}

/// Appends `content` as the inside of a JSON string.
pub(crate) fn encode_inner(content: &str, out: &mut String) {
    let bytes = content.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let stop = super::scan::string_stop(bytes, at);
        out.push_str(content.get(at..stop).unwrap_or_default());
        if let Some(byte) = bytes.get(stop) {
            encode_special(*byte, out);
        }
        at = stop + 1;
    }
}

/// Appends the escape of a quote, a backslash or a control character.
pub(crate) fn encode_special(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => {
            out.push_str("\\u00");
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_serde_json_decodes() {
        for inner in [
            "",
            "plain",
            r"a\n\t\b\f\r\/\\\x22",
            r"\u00e9x\ud83d\ude00y",
            r"tail\\",
            "日本\\\"語",
        ] {
            let inner = inner.replace(r"\x22", "\\\"");
            let want: String = serde_json::from_str(&format!("\"{inner}\"")).unwrap();
            assert_eq!(decode(&inner), want, "{inner}");
        }
    }

    #[test]
    fn encodes_so_that_serde_json_reads_it_back() {
        for content in [
            "",
            "plain",
            "a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}",
            "😀 日本",
            "\"",
        ] {
            let mut token = String::new();
            encode(content, &mut token);
            assert_eq!(serde_json::from_str::<String>(&token).unwrap(), content);
        }
    }
}
