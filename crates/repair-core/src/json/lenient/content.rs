//! The content of a string: how its backslashes are to be read, and how it is written anew.

use super::output::Output;
use crate::json::scan;
use crate::json::string;
use crate::rule::Risk;

/// A cut string without the escape that it ends in the middle of.
pub(super) fn without_half_escape(content: &str) -> &str {
    let window = content.len().saturating_sub(12);
    let window = (window..=content.len())
        .find(|at| content.is_char_boundary(*at))
        .unwrap_or(0);
    let tail = content.get(window..).unwrap_or_default();
    // Backslashes from the first of a run on: an even run is a run of escaped ones.
    let run_start = |at: usize| {
        content
            .get(..at)
            .map_or(0, |before| before.trim_end_matches('\\').len())
    };
    for (offset, _) in tail.match_indices('\\') {
        let at = window + offset;
        let is_escape = (at - run_start(at)) % 2 == 0;
        let rest = content.get(at..).unwrap_or_default();
        let is_half = match rest.as_bytes() {
            [_] => true,
            [_, b'u', digits @ ..] => {
                let hex = digits
                    .iter()
                    .take_while(|byte| byte.is_ascii_hexdigit())
                    .count();
                let high = rest
                    .get(2..)
                    .and_then(string::hex4)
                    .is_some_and(|unit| (0xD800..0xDC00).contains(&unit));
                let low = rest.get(6..).unwrap_or_default();
                (digits.len() < 4 && hex == digits.len())
                    || (high
                        && (low.is_empty()
                            || low == "\\"
                            || (low.starts_with("\\u") && low.len() < 6)))
            }
            _ => false,
        };
        if is_escape && is_half {
            return content.get(..at).unwrap_or_default();
        }
    }
    content
}

/// What had to be changed in a string's content.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) control: bool,
    /// An illegal escape, and how sure its reading is.
    pub(super) escape: Option<Risk>,
    pub(super) surrogate: bool,
    pub(super) damage: Option<usize>,
}

impl Written {
    /// Notes an escape of another language that means one character: a change like any other.
    fn decoded(&mut self) {
        self.escape = self.escape.or(Some(Risk::Lossless));
    }
}

/// Writes the inside of a string as strict JSON; legal escapes keep their spelling.
pub(super) fn write(content: &str, out: &mut Output) -> Written {
    let start = out.len();
    // Most strings were escaped as they should be.
    write_as(content, &Reading::default(), out).unwrap_or_else(|| {
        out.text.truncate(start);
        let reading = Reading::of(content);
        let written = write_as(content, &reading, out).unwrap_or_default();
        Written {
            escape: reading.risk().or(written.escape),
            ..written
        }
    })
}

/// The same for a string in which nothing but control characters may be wrong.
pub(super) fn write_escaped(content: &str, out: &mut Output) -> Written {
    let bytes = content.as_bytes();
    let mut from = 0;
    loop {
        let stop = scan::control(bytes, from);
        out.push(content.get(from..stop).unwrap_or_default());
        let Some(byte) = bytes.get(stop) else { break };
        string::encode_special(*byte, &mut out.text);
        from = stop + 1;
    }
    Written {
        control: from > 0,
        ..Written::default()
    }
}

/// Writes a string whose backslashes are read in this way; `None` if an illegal escape shows that it
/// was not escaped, and the reading says that it was.
fn write_as(content: &str, reading: &Reading, out: &mut Output) -> Option<Written> {
    let mut written = Written::default();
    let bytes = content.as_bytes();
    // What was read and not yet written.
    let mut from = 0;
    let mut at = 0;
    loop {
        let stop = scan::string_stop(bytes, at);
        let Some(byte) = bytes.get(stop) else { break };
        if *byte == b'\\'
            && let Some(length) = kept_escape(content, stop, reading)
        {
            at = stop + length;
            continue;
        }
        out.push(content.get(from..stop).unwrap_or_default());
        at = stop
            + if *byte == b'\\' {
                let (length, is_escape) = write_escape(content, stop, out, &mut written);
                if !is_escape && !reading.is_unescaped {
                    return None;
                }
                length
            } else {
                written.control |= *byte < 0x20;
                string::encode_special(*byte, &mut out.text);
                1
            };
        from = at;
    }
    out.push(content.get(from..).unwrap_or_default());
    Some(written)
}

/// The length of the escape at `at`, if it stays as it stands.
fn kept_escape(content: &str, at: usize, reading: &Reading) -> Option<usize> {
    match content.as_bytes().get(at + 1)? {
        b'"' | b'\\' | b'/' => Some(2),
        b'b' | b'f' => (!reading.is_unescaped).then_some(2),
        b'n' | b't' | b'r' => (!(reading.is_unescaped && reading.is_drive)).then_some(2),
        b'u' => match unicode(content.get(at..)?) {
            Unicode::Whole(length) => Some(length),
            _ => None,
        },
        _ => None,
    }
}

/// Writes the escape at `at`, which cannot stay; returns its length in the input, and whether it is
/// one of any language.
fn write_escape(
    content: &str,
    at: usize,
    out: &mut Output,
    written: &mut Written,
) -> (usize, bool) {
    let rest = content.get(at..).unwrap_or_default();
    let doubled = |out: &mut Output, is_escape: bool| {
        out.push("\\\\");
        (1, is_escape)
    };
    match rest.as_bytes().get(1) {
        Some(b'\'' | b'`') => {
            written.decoded();
            out.push(rest.get(1..2).unwrap_or_default());
            (2, true)
        }
        Some(b'u') => match unicode(rest) {
            Unicode::Lone => {
                written.surrogate = true;
                out.push("\\ufffd");
                (6, true)
            }
            Unicode::Damaged => {
                written.damage = written.damage.or(Some(at));
                doubled(out, true)
            }
            Unicode::Whole(_) | Unicode::None => doubled(out, false),
        },
        Some(b'x') => match control_code(rest) {
            Some(code) => {
                written.decoded();
                string::encode_special(code, &mut out.text);
                (4, true)
            }
            None => doubled(out, false),
        },
        _ => doubled(out, false),
    }
}

/// What a `\u` escape is.
enum Unicode {
    /// A character, or a pair, of this length.
    Whole(usize),
    /// Half a pair.
    Lone,
    /// One to three digits.
    Damaged,
    /// No digit: not an escape.
    None,
}

fn unicode(rest: &str) -> Unicode {
    let digits = rest.get(2..).unwrap_or_default();
    let Some(unit) = string::hex4(digits) else {
        let is_damaged = digits.starts_with(|c: char| c.is_ascii_hexdigit());
        return if is_damaged {
            Unicode::Damaged
        } else {
            Unicode::None
        };
    };
    let low = rest
        .get(6..)
        .and_then(|rest| rest.strip_prefix("\\u"))
        .and_then(string::hex4);
    match (unit, low) {
        (0xD800..=0xDBFF, Some(0xDC00..=0xDFFF)) => Unicode::Whole(12),
        (0xD800..=0xDFFF, _) => Unicode::Lone,
        _ => Unicode::Whole(6),
    }
}

/// The control character of `\xNN`, the only characters for which that is decoded.
fn control_code(rest: &str) -> Option<u8> {
    let digits = rest
        .get(2..4)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16)
        .ok()
        .filter(u8::is_ascii_control)
}

/// How the backslashes of a string are to be read. An illegal escape shows that the model did not
/// escape this string at all.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four independent observations"
)]
struct Reading {
    is_unescaped: bool,
    /// It begins like a Windows path, whose `\n`, `\t` and `\r` are names.
    is_drive: bool,
    /// It holds `\b`, `\f`, `\n`, `\r` or `\t`, which could have been meant either way.
    has_ambiguous: bool,
    /// It looks like LaTeX, where `\n` and `\t` begin commands.
    is_latex: bool,
}

impl Reading {
    fn of(content: &str) -> Self {
        let bytes = content.as_bytes();
        let mut reading = Self {
            is_drive: is_drive(bytes),
            ..Self::default()
        };
        let (mut long_word, mut word_after_space) = (false, false);
        let mut at = 0;
        loop {
            let stop = scan::backslash(bytes, at);
            if stop >= bytes.len() {
                break;
            }
            let rest = content.get(stop..).unwrap_or_default();
            let letters = |from: usize| {
                bytes
                    .get(stop + from..)
                    .unwrap_or_default()
                    .iter()
                    .take(2)
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count()
            };
            at = stop + 2;
            match bytes.get(stop + 1) {
                Some(b'"' | b'\\' | b'/' | b'\'' | b'`') => {}
                Some(b'b' | b'f') => reading.has_ambiguous = true,
                Some(b'n' | b't' | b'r') => {
                    reading.has_ambiguous = true;
                    word_after_space |= letters(2) > 0;
                }
                Some(b'u') if !matches!(unicode(rest), Unicode::None) => {}
                // Not JSON's escape, but an escape.
                Some(b'x') if control_code(rest).is_some() => {}
                _ => {
                    reading.is_unescaped = true;
                    long_word |= letters(1) == 2;
                    at = stop + 1;
                }
            }
        }
        reading.is_latex = long_word && word_after_space && !reading.is_drive;
        reading
    }

    /// How sure the reading is, if the string has illegal escapes.
    fn risk(&self) -> Option<Risk> {
        self.is_unescaped
            .then_some(match (self.is_latex, self.has_ambiguous) {
                (true, _) => Risk::Guess,
                (false, true) => Risk::Inferred,
                (false, false) => Risk::Lossless,
            })
    }
}

/// Whether a text begins with a drive letter, a colon and a backslash, or with two backslashes.
pub(super) fn begins_like_path(text: &str) -> bool {
    match text.as_bytes() {
        [letter, b':', b'\\', ..] => letter.is_ascii_alphabetic(),
        bytes => bytes.starts_with(b"\\\\"),
    }
}

/// A drive letter, a colon and a single backslash.
fn is_drive(bytes: &[u8]) -> bool {
    matches!(bytes, [letter, b':', b'\\', next, ..] if letter.is_ascii_alphabetic() && *next != b'\\')
}
