//! Keys: quoted in any way, or bare.

use std::borrow::Cow;
use std::collections::HashSet;

use super::token;
use crate::json::{scan, string};
use crate::schema::{Place, Tree};

/// Longest key that look-ahead recognises, in bytes.
const MAX_KEY: usize = 256;

/// A key found at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'t> {
    /// What stands between the quotes, or the bare word.
    pub(super) name: &'t str,
    /// Bytes up to and with the closing quote.
    pub(super) length: usize,
    /// Where the colon stands, in bytes from the start.
    pub(super) colon: usize,
    pub(super) is_quoted: bool,
    /// The quote it opens with, if it does.
    pub(super) quote: Option<char>,
}

impl Key<'_> {
    /// Whether it has a quote too many.
    pub(super) fn is_doubled(&self) -> bool {
        let length = |quote: char| self.name.len() + 2 * quote.len_utf8();
        self.is_quoted && self.quote.is_some_and(|quote| self.length > length(quote))
    }
}

/// The closing quotes that go with an opening one.
pub(super) fn closers_of(quote: char) -> &'static [char] {
    match quote {
        '"' => &['"'],
        '\'' => &['\''],
        '`' | '´' => &['`', '´', '\''],
        '“' | '”' | '„' => &['”', '“', '"'],
        '‘' | '’' => &['’', '‘', '\''],
        '＂' => &['＂'],
        _ => &[],
    }
}

/// The keys of one object, their escapes undone. A few are sooner compared than hashed.
#[derive(Debug, Default)]
pub(super) struct Seen<'t> {
    few: Vec<Cow<'t, str>>,
    more: HashSet<Cow<'t, str>>,
}

/// How many keys are compared one by one.
const FEW: usize = 16;

impl<'t> Seen<'t> {
    pub(super) fn insert(&mut self, key: Cow<'t, str>) {
        if self.few.len() < FEW {
            if self.few.is_empty() {
                self.few.reserve(FEW / 2);
            }
            self.few.push(key);
        } else {
            self.more.insert(key);
        }
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.few.iter().any(|few| few == key) || self.more.contains(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.few.iter().chain(&self.more).map(AsRef::as_ref)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.few.is_empty()
    }
}

/// The first closing quote that no backslash escapes, and where it stands.
pub(super) fn closing_quote(inside: &str, closers: &[char]) -> Option<(usize, char)> {
    if closers == ['"'] {
        return Some((closing_double(inside.as_bytes())?, '"'));
    }
    if let [closer] = closers
        && closer.is_ascii()
    {
        let mut escaped = false;
        let at = inside.bytes().position(|byte| {
            let is_end = !escaped && char::from(byte) == *closer;
            escaped = !escaped && byte == b'\\';
            is_end
        })?;
        return Some((at, *closer));
    }
    let mut escaped = false;
    inside.char_indices().find(|(_, c)| {
        let is_end = !escaped && closers.contains(c);
        escaped = !escaped && *c == '\\';
        is_end
    })
}

/// The same for the usual quote.
fn closing_double(inside: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at = scan::string_stop(inside, at);
        match inside.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// What a key between quotes means, its escapes undone.
pub(super) fn decoded(name: &str) -> Cow<'_, str> {
    if name.as_bytes().contains(&b'\\') {
        string::decode(name)
    } else {
        Cow::Borrowed(name)
    }
}

/// A quoted key and its colon at the start of a text.
pub(super) fn quoted(text: &str) -> Option<Key<'_>> {
    let quote = text.chars().next()?;
    let closers = closers_of(quote);
    if closers.is_empty() {
        return None;
    }
    let inside = text.get(quote.len_utf8()..)?;
    let (end, closer) = closing_quote(window(inside), closers)?;
    let name = inside.get(..end)?;
    if name.as_bytes().contains(&b'\n') {
        return None;
    }
    let length = quote.len_utf8() + end + closer.len_utf8();
    let colon = colon_after(text, length)?;
    Some(Key {
        name,
        length,
        colon,
        is_quoted: true,
        quote: Some(quote),
    })
}

/// A bare key and its colon at the start of a text; a closing quote may follow the word.
pub(super) fn bare(text: &str) -> Option<Key<'_>> {
    let end = window(text)
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.')))?;
    let name = text.get(..end).filter(|name| !name.is_empty())?;
    let after = text.get(end..)?;
    let quote = after
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '”' | '’'));
    let length = end + quote.map_or(0, char::len_utf8);
    let colon = colon_after(text, length)?;
    // Neither is `https://` a key nor the `std::` of a path.
    let is_other = text
        .get(colon..)
        .is_some_and(|rest| rest.starts_with("://") || rest.starts_with("::"));
    (!is_other).then_some(Key {
        name,
        length,
        colon,
        is_quoted: quote.is_some(),
        quote: None,
    })
}

/// Any key and its colon.
pub(super) fn any(text: &str) -> Option<Key<'_>> {
    quoted(text).or_else(|| bare(text))
}

/// A key without its closing quote, and its colon, before a value that cannot belong to it.
pub(super) fn unclosed(text: &str) -> Option<Key<'_>> {
    let quote = text.chars().next().filter(|c| !closers_of(*c).is_empty())?;
    let key = bare(text.get(quote.len_utf8()..)?)?;
    let colon = quote.len_utf8() + key.colon;
    let value = text
        .get(colon + 1..)?
        .trim_start_matches([' ', '\n', '\r', '\t']);
    let is_value = value.starts_with(quote) || opens_container(value) || is_whole_word(value);
    (!key.is_quoted && is_value).then_some(Key {
        name: key.name,
        length: quote.len_utf8() + key.length,
        colon,
        is_quoted: true,
        quote: None,
    })
}

/// Whether a container begins that is not empty.
fn opens_container(text: &str) -> bool {
    let Some(inside) = text.strip_prefix(['[', '{']) else {
        return false;
    };
    inside.trim_start().starts_with(['"', '\'', '{', '['])
}

/// Whether a number or literal stands before a comma or a closer.
fn is_whole_word(text: &str) -> bool {
    let end = window(text).find([',', '}', ']']);
    let word = end.and_then(|end| text.get(..end));
    word.is_some_and(|word| token::meaning(word.trim_end()) == token::Meaning::Strict)
}

/// A word as a key, with a quote too many before or behind it.
pub(super) fn doubled(text: &str) -> Option<Key<'_>> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let quotes = |text: &str| text.chars().take(3).take_while(|c| *c == quote).count();
    let before = quotes(text);
    let inside = text.get(before..)?;
    let end = window(inside).find(quote)?;
    let name = inside.get(..end).filter(|name| is_word(name))?;
    let behind = quotes(inside.get(end..)?);
    let length = before + end + behind;
    let colon = colon_after(text, length)?;
    let is_doubled = before <= 2 && behind <= 2 && before + behind > 2;
    is_doubled.then_some(Key {
        name,
        length,
        colon,
        is_quoted: true,
        quote: Some(quote),
    })
}

/// A quoted word without a colon, and what follows it.
pub(super) fn without_colon(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let (name, _) = window(inside).split_once('"')?;
    let after = inside.get(name.len() + 1..)?;
    (is_word(name) && colon_after(after, 0).is_none()).then_some((name, after))
}

/// Whether a key is one that needs no quotes.
pub(super) fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_word_part)
}

/// The length of the word at the start of a text, in bytes.
pub(super) fn word_length(text: &str) -> usize {
    let text = window(text);
    text.find(|c| !is_word_part(c)).unwrap_or(text.len())
}

/// Whether a character needs no quotes in a key.
pub(super) fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.')
}

/// Whether a text starts with a few words and the closing quote of an item, whose opening one is
/// missing.
pub(super) fn ends_item(text: &str) -> bool {
    window(text).split_once('"').is_some_and(|(words, _)| {
        let after = text.get(words.len() + 1..).unwrap_or_default();
        let is_word =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ',' | ' ' | ':');
        let is_closed = words.ends_with(char::is_alphanumeric);
        is_closed && words.chars().all(is_word) && after.trim_start().starts_with([',', ']'])
    })
}

fn window(text: &str) -> &str {
    let mut end = text.len().min(MAX_KEY + 2);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn colon_after(text: &str, from: usize) -> Option<usize> {
    let space = scan::skip_space(text.as_bytes(), from);
    if text.as_bytes().get(space) == Some(&b':') {
        return Some(space);
    }
    // White space that is none of JSON is rare.
    let rest = text.get(space..)?.trim_start();
    let at = text.len() - rest.len();
    rest.starts_with([':', '：', '=']).then_some(at)
}

/// Whether a text without its opening brace starts with a member: a quoted key, or a bare one that
/// the schema knows.
pub(super) fn starts_member(text: &str, tree: &Tree, place: Place) -> bool {
    match any(text) {
        Some(key) => (text.starts_with('"') && key.is_quoted) || tree.declares(place, key.name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_keys() {
        let name = |text| any(text).map(|key| key.name);
        assert_eq!(name("\"a b\" : 1"), Some("a b"));
        assert_eq!(name("path: x"), Some("path"));
        assert_eq!(name("path\": x"), Some("path"));
        assert_eq!(name("“path”: x"), Some("path"));
        assert_eq!(name("\"a\\\"b\": 1"), Some("a\\\"b"));
        assert_eq!(name("https://x"), None);
        assert_eq!(name("\"a\", 1"), None);
        assert_eq!(name(""), None);
        assert_eq!(name(&"x".repeat(300)), None);
    }
}
