//! Tokens that are known by their shape, at a given place of a text.

use std::ops::Range;

use super::tables::{Alphabet, SCHEMES, SHAPES, Shape, is_word};

/// Least characters of the first two parts of a JSON Web Token.
const JWT_PART: usize = 8;
/// The mark that other code leaves where it shortened a text.
const CUT: &[u8] = "…".as_bytes();
const PEM_BEGIN: &str = "-----BEGIN";
const PEM_END: &str = "-----END";
const PEM_DASHES: &str = "-----";
/// Longest label of a PEM block.
const PEM_LABEL: usize = 64;

/// The first token in a word of a text.
///
/// `starts` are the places where a token may begin although a letter stands before: after an
/// escape.
pub(super) fn in_word(text: &str, word: Range<usize>, starts: &[usize]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut before = b' ';
    for at in word.clone() {
        let byte = *bytes.get(at)?;
        let starts_here = !before.is_ascii_alphanumeric() || starts.contains(&at);
        before = byte;
        if !starts_here {
            continue;
        }
        let found = table(text, at)
            .or_else(|| web_token(bytes, at, word.end))
            .or_else(|| bot_token(bytes, at, word.end));
        if let Some(end) = found {
            return Some(at..end);
        }
    }
    None
}

/// The end of a token of the table that begins here.
fn table(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    SHAPES
        .iter()
        .filter(|shape| rest.starts_with(shape.prefix))
        .find_map(|shape| match_shape(shape, rest))
        .map(|length| at + length)
}

fn match_shape(shape: &Shape, rest: &str) -> Option<usize> {
    let body = rest.as_bytes().get(shape.prefix.len()..)?;
    let inside = |byte: &&u8| shape.alphabet.contains(**byte);
    let least = body.iter().take(shape.least).take_while(inside).count();
    let is_cut = body.get(least..).is_some_and(|rest| rest.starts_with(CUT));
    if least < shape.least && !is_cut {
        return None;
    }
    let beginning = body.get(..least)?;
    if shape.random && !is_cut && !looks_random(beginning) {
        // A word that only begins alike; its first characters decide, so that this stays linear.
        return None;
    }
    let length = body.iter().take_while(inside).count();
    if shape.alphabet == Alphabet::Upper && body.get(length).is_some_and(|next| is_word(*next)) {
        return None;
    }
    Some(shape.prefix.len() + excerpt(body, length, inside))
}

/// The length of a token, with the end that a shortened one has behind the cut.
fn excerpt(body: &[u8], length: usize, inside: impl FnMut(&&u8) -> bool) -> usize {
    match body.get(length..).and_then(|rest| rest.strip_prefix(CUT)) {
        Some(end) => length + CUT.len() + end.iter().take_while(inside).count(),
        None => trimmed(body, length),
    }
}

/// A length without the full stop or slash that ends a sentence rather than a token.
fn trimmed(body: &[u8], length: usize) -> usize {
    match body.get(..length) {
        Some([before @ .., b'.' | b'/' | b'~']) => before.len(),
        _ => length,
    }
}

/// Two kinds of characters at least, one of them no lower-case letter.
pub(super) fn looks_random(token: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| token.iter().any(kind);
    let kinds = [
        has(u8::is_ascii_lowercase),
        has(u8::is_ascii_uppercase),
        has(u8::is_ascii_digit),
    ];
    kinds.into_iter().filter(|has| *has).count() >= 2
}

/// The end of a JSON Web Token: two or more parts of base64, the first a JSON object.
fn web_token(bytes: &[u8], at: usize, word_end: usize) -> Option<usize> {
    if !bytes.get(at..)?.starts_with(b"eyJ") || word_end < at + JWT_PART {
        return None;
    }
    let mut end = word_end;
    let mut parts = 1;
    while bytes.get(end) == Some(&b'.') {
        let length = run(bytes, end + 1);
        if length == 0 || (parts == 1 && length < JWT_PART) {
            break;
        }
        end += 1 + length;
        parts += 1;
    }
    (parts > 1).then_some(end)
}

/// The end of a Telegram bot token: digits, a colon, 35 characters.
fn bot_token(bytes: &[u8], at: usize, word_end: usize) -> Option<usize> {
    const DIGITS: std::ops::RangeInclusive<usize> = 6..=12;
    let word = bytes.get(at..word_end)?;
    let digits = word.strip_prefix(b"bot").unwrap_or(word);
    if !DIGITS.contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if bytes.get(word_end) != Some(&b':') {
        return None;
    }
    let length = run(bytes, word_end + 1);
    (length >= 30).then_some(word_end + 1 + length)
}

/// The length of the word at a place.
fn run(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| is_word(**byte))
        .count()
}

/// The token after the name of an authorization scheme: `Bearer …`.
pub(super) fn after_scheme(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let scheme = text.get(word.clone())?;
    let (_, least) = SCHEMES
        .iter()
        .find(|(known, _)| ends_with_ignoring_case(scheme, known))?;
    let rest = text.as_bytes().get(word.end..)?;
    let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
    if !(1..=4).contains(&spaces) {
        return None;
    }
    let body = rest.get(spaces..)?;
    let length = body
        .iter()
        .take_while(|byte| Alphabet::Token.contains(**byte))
        .count();
    let length = trimmed(body, length);
    let token = body.get(..length)?;
    let is_token = token.ends_with(b"=") && token.len() >= 8
        || token.len() >= *least && token.iter().any(u8::is_ascii_digit) && looks_random(token)
        || token.len() >= 24 && looks_random(token);
    let start = word.end + spaces;
    is_token.then_some(start..start + length)
}

fn ends_with_ignoring_case(text: &str, ending: &str) -> bool {
    text.len()
        .checked_sub(ending.len())
        .and_then(|from| text.get(from..))
        .is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

/// A private key in PEM form whose first dashes end the given word; to the end if it was cut.
pub(super) fn private_key(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !bytes.get(word.clone())?.ends_with(PEM_BEGIN.as_bytes()) {
        return None;
    }
    let start = word.end - PEM_BEGIN.len();
    let label = bytes.get(word.end..)?;
    let label = label.get(..label.len().min(PEM_LABEL))?;
    let named = b"PRIVATE KEY";
    if !label.windows(named.len()).any(|window| window == named) {
        return None;
    }
    let end = text
        .get(word.end..)?
        .find(PEM_END)
        .map_or(text.len(), |found| {
            let label = word.end + found + PEM_END.len();
            text.get(label..)
                .and_then(|rest| rest.find(PEM_DASHES))
                .map_or(text.len(), |dashes| label + dashes + PEM_DASHES.len())
        });
    Some(start..end)
}
