//! The value that belongs to a key in a text, whatever the text is: JSON, whole or broken, JSON
//! inside a string, a query, a header, an environment file, an XML-like call.

use std::cell::Cell;
use std::ops::Range;

use super::tables::{AFTER_FLAG, DIAGNOSES, PLAIN_VALUES, SCHEMES, is_word};

/// Longest tag that is skipped between a key and its value.
const TAG: usize = 64;

/// A quotation mark as it is written in a text: itself, escaped, or encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    mark: Mark,
    /// Backslashes before it.
    backslashes: usize,
    /// Bytes of all of it.
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Double,
    Single,
    Back,
    Percent,
    Entity,
}

const MARKS: &[(&str, Mark)] = &[
    ("\"", Mark::Double),
    ("'", Mark::Single),
    ("`", Mark::Back),
    ("%22", Mark::Percent),
    ("&quot;", Mark::Entity),
    ("&#34;", Mark::Entity),
];

/// A view of a text at byte offsets; every offset is safe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    /// The last `<` that was looked for, so that many searches together stay linear.
    tag: &'t Cell<usize>,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str, tag: &'t Cell<usize>) -> Self {
        Self { text, tag }
    }

    pub(super) fn byte(self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn len(self) -> usize {
        self.text.len()
    }

    /// The next `<` from here on. Asked with growing places only.
    fn next_tag(self, at: usize) -> Option<usize> {
        if self.tag.get() < at {
            self.tag.set(self.skip(at, |byte| byte != b'<'));
        }
        (self.tag.get() < self.len()).then(|| self.tag.get())
    }

    pub(super) fn starts_with(self, at: usize, prefix: &str) -> bool {
        self.text
            .as_bytes()
            .get(at..)
            .is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    pub(super) fn slice(self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// The first place from `at` on where the condition does not hold.
    pub(super) fn skip(self, at: usize, inside: impl Fn(u8) -> bool) -> usize {
        let mut end = at;
        while self.byte(end).is_some_and(&inside) {
            end += 1;
        }
        end
    }

    fn quote(self, at: usize) -> Option<Quote> {
        let mark_at = self.skip(at, |byte| byte == b'\\');
        let (spelling, mark) = MARKS
            .iter()
            .find(|(spelling, _)| self.starts_with(mark_at, spelling))?;
        Some(Quote {
            mark: *mark,
            backslashes: mark_at - at,
            length: mark_at - at + spelling.len(),
        })
    }
}

/// The value of a key, as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Between quotation marks, or a bare word that may be replaced as it stands.
    Plain { start: usize, end: usize },
    /// Not in quotation marks where the key is: the replacement needs them to stay JSON.
    Unquoted { start: usize, end: usize },
    /// A sentence about the key begins here: only what it quotes is secret.
    Diagnosis { at: usize },
}

/// How the key is bound to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// By `=` or its encoded form.
    Equals,
    /// By a colon, between quotation marks or not.
    Colon { quoted: bool },
    /// By the tag around it.
    Tag,
    /// By a space, after `--key`.
    Flag,
}

/// A key with its binding and where its value begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) binding: Binding,
    /// The mark after the key.
    quote: Option<Quote>,
    value_at: usize,
}

/// What follows a word that might be a key; none if no value does.
pub(super) fn bound(text: Text<'_>, word: &Range<usize>) -> Option<Bound> {
    let quote = text.quote(word.end);
    let after_quote = word.end + quote.map_or(0, |quote| quote.length);
    let is_space = |byte: u8| {
        byte == b' ' || byte == b'\t' || (quote.is_some() && matches!(byte, b'\n' | b'\r'))
    };
    let at = text.skip(after_quote, is_space);
    let make = |binding, value_at| Bound {
        binding,
        quote,
        value_at: text.skip(value_at, is_space),
    };
    let colon = Binding::Colon {
        quoted: quote.is_some(),
    };
    match text.byte(at)? {
        b':' if text.byte(at + 1) == Some(b':') => None,
        b':' if text.byte(at + 1) == Some(b'=') => Some(make(Binding::Equals, at + 2)),
        b':' => Some(make(colon, at + 1)),
        b'=' => {
            let end = text.skip(at, |byte| byte == b'=');
            let is_arrow = text.byte(end) == Some(b'>');
            Some(if is_arrow {
                make(colon, end + 1)
            } else {
                make(Binding::Equals, end)
            })
        }
        b'%' => encoded(text, at, make, colon),
        b'>' if at == after_quote => Some(make(Binding::Tag, at + 1)),
        b'<' => tags(text, at).map(|value_at| make(Binding::Tag, value_at)),
        _ if at == after_quote + 1 && quote.is_none() && is_flag(text, word) => {
            (text.byte(at) != Some(b'-')).then(|| make(Binding::Flag, at))
        }
        _ => None,
    }
}

fn is_flag(text: Text<'_>, word: &Range<usize>) -> bool {
    text.starts_with(word.start, "--")
}

/// `%3D` and `%3A`, with or without an encoded space behind.
fn encoded(
    text: Text<'_>,
    at: usize,
    make: impl Fn(Binding, usize) -> Bound,
    colon: Binding,
) -> Option<Bound> {
    let sign = text.slice(at..at + 3);
    let space = if text.starts_with(at + 3, "%20") {
        3
    } else {
        0
    };
    if sign.eq_ignore_ascii_case("%3D") {
        Some(make(Binding::Equals, at + 3 + space))
    } else if sign.eq_ignore_ascii_case("%3A") {
        Some(make(colon, at + 3 + space))
    } else {
        None
    }
}

/// `</key><value>`: the key's closing tag and the opening one of its value.
fn tags(text: Text<'_>, at: usize) -> Option<usize> {
    let after_key = tag(text, at, "</")?;
    let value_tag = text.skip(after_key, |byte| byte.is_ascii_whitespace());
    tag(text, value_tag, "<")
}

fn tag(text: Text<'_>, at: usize, opening: &str) -> Option<usize> {
    if !text.starts_with(at, opening) {
        return None;
    }
    let name = at + opening.len();
    let end = (name..name + TAG).find(|at| text.byte(*at).is_none_or(|byte| !is_word(byte)))?;
    (end > name && text.byte(end) == Some(b'>')).then_some(end + 1)
}

/// The value after a secret key; none if it says nothing.
pub(super) fn value(text: Text<'_>, bound: Bound, takes_line: bool) -> Option<Found> {
    let at = bound.value_at;
    if let Some(quote) = text.quote(at) {
        let start = at + quote.length;
        return plain(
            text,
            start,
            quoted_end(text, start, quote, bound.quote.is_some()),
        );
    }
    match bound.binding {
        Binding::Tag => tag_end(text, at).and_then(|end| plain(text, at, end)),
        Binding::Equals => plain(text, at, word_end(text, at)),
        Binding::Flag => {
            let end = word_end(text, at);
            let word = text.slice(at..end);
            (!AFTER_FLAG.contains(&word)).then(|| plain(text, at, end))?
        }
        Binding::Colon { .. } if is_diagnosis(text, at) => Some(Found::Diagnosis { at }),
        Binding::Colon { quoted } => {
            let end = match container_end(text, at, bound.quote) {
                // In JSON an entry ends here, or it is no container.
                Some(end) if quoted && !ends_entry(text, end) => loose_end(text, end),
                Some(end) => end,
                None if takes_line && !quoted => line_end(text, at),
                None => loose_end(text, at),
            };
            match plain(text, at, end)? {
                Found::Plain { start, end } if quoted => Some(Found::Unquoted { start, end }),
                found => Some(found),
            }
        }
    }
}

/// A value, unless it tells nothing: empty, a literal, a type, the name of a variable.
fn plain(text: Text<'_>, start: usize, end: usize) -> Option<Found> {
    let value = text.slice(start..end).trim();
    let word = value.trim_end_matches([',', ';', ')']);
    let says_nothing = word.is_empty()
        || value == super::MARK
        || PLAIN_VALUES.contains(&word)
        || is_variable(word);
    (!says_nothing).then_some(Found::Plain { start, end })
}

/// `$NAME` or `${NAME}`.
fn is_variable(word: &str) -> bool {
    let name = word.strip_prefix('$').unwrap_or_default();
    let name = name
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'))
        .unwrap_or(name);
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Whether a sentence about the key follows and not its value.
fn is_diagnosis(text: Text<'_>, at: usize) -> bool {
    DIAGNOSES.iter().any(|word| {
        let end = at + word.len();
        matches!(text.byte(end), Some(b' ' | b','))
            && text.slice(at..end).eq_ignore_ascii_case(word)
    })
}

/// The end of a tag's content, where its closing tag follows.
fn tag_end(text: Text<'_>, at: usize) -> Option<usize> {
    let end = text.next_tag(at)?;
    text.starts_with(end, "</").then_some(end)
}

/// The end of the line that a diagnosis is on.
pub(super) fn diagnosis_end(text: Text<'_>, at: usize) -> usize {
    let mut end = at;
    while let Some(byte) = text.byte(end) {
        let escaped = byte == b'\\' && matches!(text.byte(end + 1), Some(b'n' | b'r'));
        if matches!(byte, b'\n' | b'\r') || escaped {
            break;
        }
        end += 1;
    }
    end
}

/// What a diagnosis quotes at this place: the part between the marks, and where to go on. No part:
/// the mark ends the text that the diagnosis is in.
pub(super) fn quotation(text: Text<'_>, at: usize) -> Option<(Option<Range<usize>>, usize)> {
    let quote = text.quote(at)?;
    let start = at + quote.length;
    let before = at.checked_sub(1).and_then(|before| text.byte(before));
    if !matches!(before, Some(b' ' | b'(' | b'[' | b'=' | b':' | b',')) {
        return Some((None, start));
    }
    let end = quoted_end(text, start, quote, false);
    let found = plain(text, start, end).map(|_| start..end);
    Some((found, (end + quote.length).min(text.len())))
}

/// The end of a header's line. A quotation mark ends it too, for the line may be a string of
/// something larger; but not one that a value of the header opened.
fn line_end(text: Text<'_>, at: usize) -> usize {
    let mut end = at;
    let mut opened = None;
    while let Some(byte) = text.byte(end) {
        let escaped = byte == b'\\' && matches!(text.byte(end + 1), Some(b'n' | b'r'));
        if matches!(byte, b'\n' | b'\r') || escaped {
            break;
        }
        if matches!(byte, b'"' | b'\'') {
            if opened == Some(byte) {
                opened = None;
            } else if text.byte(end - 1) == Some(b'=') {
                opened = Some(byte);
            } else {
                break;
            }
        }
        end += 1;
    }
    end - usize::from(end > at && text.byte(end - 1) == Some(b'\\'))
}

/// The end of a value without quotation marks after `=`, without punctuation that follows it, but
/// with the token after the name of an authorization scheme.
fn word_end(text: Text<'_>, at: usize) -> usize {
    let end = one_word_end(text, at);
    let is_scheme = SCHEMES
        .iter()
        .any(|(scheme, _)| text.slice(at..end).eq_ignore_ascii_case(scheme));
    if is_scheme && text.byte(end) == Some(b' ') {
        one_word_end(text, end + 1)
    } else {
        end
    }
}

fn one_word_end(text: Text<'_>, at: usize) -> usize {
    if text.starts_with(at, super::MARK) {
        return at + super::MARK.len();
    }
    let mut end = at;
    while let Some(byte) = text.byte(end) {
        let ends = match byte {
            b'&' | b';' | b'"' | b'\'' | b'`' | b'<' | b'>' => true,
            b'\\' => matches!(text.byte(end + 1), Some(b'n' | b'r' | b't' | b'"')),
            b'%' => ["%26", "%22", "%23"]
                .iter()
                .any(|sign| text.starts_with(end, sign)),
            _ => byte.is_ascii_whitespace(),
        };
        if ends {
            break;
        }
        end += 1;
    }
    let is_variable = text.starts_with(at, "${");
    let closes =
        |byte: u8| matches!(byte, b',' | b'.' | b')' | b']') || (byte == b'}' && !is_variable);
    while end > at + 1 && text.byte(end - 1).is_some_and(closes) {
        end -= 1;
    }
    end
}

/// The end of a value without quotation marks after a colon: the line, or a comma, closers or a
/// mark that end the entry.
fn loose_end(text: Text<'_>, at: usize) -> usize {
    if text.starts_with(at, super::MARK) {
        return at + super::MARK.len();
    }
    let mut end = at;
    let mut before = b' ';
    while let Some(byte) = text.byte(end) {
        let next = text.byte(end + 1);
        let ends = match byte {
            b'\n' | b'\r' | b'<' | b'&' => true,
            b'"' | b'`' if before.is_ascii_whitespace() => true,
            b'"' | b'`' | b'\'' => {
                next.is_none_or(|next| next.is_ascii_whitespace()) || ends_entry(text, end + 1)
            }
            b'\\' => matches!(next, Some(b'n' | b'r' | b'"')),
            b',' => next.is_none_or(|next| next.is_ascii_whitespace() || b"\"'\\".contains(&next)),
            b'}' | b']' | b')' => {
                next.is_none_or(|next| next.is_ascii_whitespace() || b",}])\"'\\".contains(&next))
            }
            b'%' => text.starts_with(end, "%26") || text.starts_with(end, "%22"),
            _ => false,
        };
        if ends {
            break;
        }
        before = byte;
        end += 1;
    }
    at + text.slice(at..end).trim_end().len()
}

/// The end of a quoted value. Where the text is JSON, a mark that nothing structural follows
/// belongs to the value.
fn quoted_end(text: Text<'_>, start: usize, quote: Quote, structural: bool) -> usize {
    let mut at = start;
    while let Some(byte) = text.byte(at) {
        if !matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b'%' | b'&') {
            at += 1;
            continue;
        }
        let Some(found) = text.quote(at) else {
            at = text.skip(at + 1, |next| byte == b'\\' && next == b'\\');
            continue;
        };
        if closes(found, quote) && (!structural || ends_entry(text, at + found.length)) {
            // An escaped backslash before the mark belongs to the value.
            return at + found.backslashes.saturating_sub(quote.backslashes);
        }
        at += found.length;
    }
    text.len()
}

/// Whether a mark closes the string that another opened. An unescaped double mark closes every
/// string that an escaped one opened.
fn closes(found: Quote, opening: Quote) -> bool {
    found.mark == opening.mark && ends_at_level(found.backslashes, opening.backslashes)
        || found.mark == Mark::Double && found.backslashes == 0 && opening.backslashes > 0
}

/// Whether a mark behind so many backslashes ends a string whose opening mark had `opening` of
/// them: both are unescaped as often as the opening one needs.
fn ends_at_level(mut backslashes: usize, mut opening: usize) -> bool {
    while opening > 0 {
        if backslashes.is_multiple_of(2) {
            return true;
        }
        backslashes /= 2;
        opening /= 2;
    }
    backslashes.is_multiple_of(2)
}

fn ends_entry(text: Text<'_>, at: usize) -> bool {
    let next = text.skip(at, |byte| byte.is_ascii_whitespace());
    match text.byte(next) {
        None
        | Some(b',' | b'}' | b']' | b')' | b';' | b'&' | b'<' | b'%' | b'\\' | b'"' | b'\'') => {
            true
        }
        Some(_) => text.slice(at..next).contains('\n'),
    }
}

/// The end of an object or array, to the end of the text if it is open.
fn container_end(text: Text<'_>, at: usize, key_quote: Option<Quote>) -> Option<usize> {
    if !matches!(text.byte(at), Some(b'{' | b'[')) || text.starts_with(at, super::MARK) {
        return None;
    }
    let level = key_quote.map_or(0, |quote| quote.backslashes);
    let mut depth = 0_usize;
    let mut opened: Option<Quote> = None;
    let mut end = at;
    while let Some(byte) = text.byte(end) {
        if matches!(byte, b'\\' | b'"' | b'\'') {
            let Some(quote) = text.quote(end) else {
                end = text.skip(end, |byte| byte == b'\\');
                continue;
            };
            match opened {
                None if quote.backslashes <= level => opened = Some(quote),
                Some(opening) if closes(quote, opening) => opened = None,
                _ => {}
            }
            end += quote.length;
            continue;
        }
        if opened.is_none() {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        end += 1;
        if depth == 0 {
            break;
        }
    }
    Some(end)
}

/// The quotation mark that the value of a quoted key needs.
pub(super) fn quote_of(text: Text<'_>, bound: Bound, key_end: usize) -> String {
    bound
        .quote
        .map(|quote| text.slice(key_end..key_end + quote.length).to_owned())
        .unwrap_or_default()
}
