//! One tag: its role, its name and what else it says, and where it ends.

use super::{MAX_TAG, Role, Tag};
use crate::cursor::{Beginning, Cursor, Look, Stop, beginning, floor};

/// What the first word of a tag says; a word before its own beginnings.
static WORDS: &[(&str, Role)] = &[
    ("parameter", Role::Parameter),
    ("param", Role::Parameter),
    ("function_calls", Role::List),
    ("function_call", Role::List),
    ("function", Role::Call),
    ("invoke", Role::Call),
    ("tool_calls", Role::List),
    ("tool_call", Role::List),
];
/// Characters of the bars in tags such as `<｜DSML｜invoke>`.
const BARS: &[char] = &['｜', '‖', '|', '│', '▁'];

/// The tag at the cursor, without stepping over it. [`Stop::Not`]: no tag of these syntaxes.
pub(crate) fn tag<'t>(cursor: &Cursor<'t>) -> Look<Tag<'t>> {
    let rest = cursor.rest();
    let Some(inside) = rest.strip_prefix('<') else {
        return if rest.is_empty() {
            cursor.more()
        } else {
            Err(Stop::Not)
        };
    };
    let word = inside.strip_prefix('/').unwrap_or(inside);
    let is_closing = word.len() < inside.len();
    let word_of = |text: &str| {
        let mut words = WORDS.iter();
        words.find(|(word, _)| beginning(text, word) == Beginning::Whole)
    };
    // Most tags have no prefix.
    let is_prefix = |behind: &u8| behind.is_ascii_alphanumeric() || *behind == b':';
    let found =
        word_of(word).filter(|(known, _)| !word.as_bytes().get(known.len()).is_some_and(is_prefix));
    let bare = if found.is_some() {
        word
    } else {
        without_prefix(word)
    };
    let Some((word, role)) = found.or_else(|| word_of(bare)) else {
        let could_grow = rest.len() < 48 && !rest.contains(['>', '\n']);
        return if could_grow {
            cursor.more()
        } else {
            Err(Stop::Not)
        };
    };
    let after = bare.get(word.len()..).unwrap_or_default();
    let window = after.get(..floor(after, MAX_TAG)).unwrap_or(after);
    let Some(close) = tag_end(window) else {
        return if window.len() < after.len() {
            Err(Stop::Not)
        } else {
            cursor.more()
        };
    };
    let attributes = after.get(..close).unwrap_or_default();
    let is_empty = attributes.ends_with('/');
    let attributes = attributes.trim_end_matches('/');
    if !attributes.is_empty()
        && !attributes.starts_with([' ', '=', 'Ġ', '\n', '\t', ':'])
        && !attributes.starts_with("name")
    {
        return Err(Stop::Not);
    }
    Ok(Tag {
        role: *role,
        is_closing,
        is_empty,
        attributes,
        length: rest.len() - after.len() + close + 1,
    })
}

/// The same, `None` where there is no tag of these syntaxes.
pub(crate) fn any_tag<'t>(cursor: &Cursor<'t>) -> Look<Option<Tag<'t>>> {
    match tag(cursor) {
        Ok(tag) => Ok(Some(tag)),
        Err(Stop::Not) => Ok(None),
        Err(Stop::More) => Err(Stop::More),
    }
}

/// Whether behind `known` bytes a tag ends that begins with none of these words.
pub(crate) fn ends_other(text: &str, known: usize, words: &[&str]) -> bool {
    let new = text.as_bytes().get(known..).unwrap_or_default();
    // Most pieces end here.
    if !new.contains(&b'>') {
        return false;
    }
    memchr::memchr_iter(b'>', new).any(|at| {
        // No tag is longer.
        let from = floor(text, (known + at).saturating_sub(MAX_TAG));
        let before = text.get(from..known + at).unwrap_or_default();
        let tag = before.rfind('<').and_then(|at| before.get(at + 1..));
        tag.is_some_and(|tag| {
            let tag = without_prefix(tag.strip_prefix('/').unwrap_or(tag));
            !words.iter().any(|word| tag.starts_with(word))
        })
    })
}

/// Where the `>` of a tag stands that is in no quotes.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'<' | b'\n', _) => return None,
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    // A quote that never ends is none.
    quote.and_then(|_| text.find('>'))
}

/// A tag's text without `antml:`, `｜DSML｜` and the like.
fn without_prefix(text: &str) -> &str {
    let letters = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if letters > 0 {
        let inner = text.get(letters..).and_then(|rest| rest.strip_prefix(':'));
        return inner.unwrap_or(text);
    }
    let barred = text.trim_start_matches(BARS);
    if barred.len() < text.len() {
        let word = barred.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let inner = word.trim_start_matches(BARS);
        if inner.len() < word.len() {
            return inner.trim_start_matches(' ');
        }
    }
    text
}

impl<'t> Tag<'t> {
    /// The name in it: `=f`, ` name="f"`, `Ġname='f'`, `name=f`; empty if there is none.
    pub(crate) fn name(self) -> &'t str {
        if let Some(name) = self.attributes.strip_prefix('=') {
            return name.trim().trim_matches(['"', '\'']);
        }
        attribute(self.attributes, "name").unwrap_or_default()
    }

    /// DSML's `string="true"`.
    pub(super) fn is_string(self) -> Option<bool> {
        attribute(self.attributes, "string").map(|value| value == "true")
    }
}

fn attribute<'t>(attributes: &'t str, key: &str) -> Option<&'t str> {
    if attributes.len() <= key.len() {
        return None;
    }
    let at = memchr::memmem::find(attributes.as_bytes(), key.as_bytes())?;
    let after = attributes.get(at + key.len()..)?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    Some(match quote {
        Some(quote) => value.get(1..)?.split(quote).next()?,
        None => value.split_whitespace().next()?,
    })
}
