//! JSON of a line, read leniently where the line is not to blame: half a surrogate pair, which
//! models do print, makes no bad line.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What half a surrogate pair becomes.
const HALF: &str = "\u{FFFD}";

/// A string. Half a surrogate pair in it became U+FFFD.
#[derive(Clone, Debug, Default)]
pub(super) struct Text<'l> {
    pub(super) text: Cow<'l, str>,
    /// There was half a pair.
    pub(super) was_damaged: bool,
    /// The second half of a pair at the very beginning, and the first half at the very end: the
    /// other one may stand in the piece beside.
    pub(super) halves: (Option<u16>, Option<u16>),
}

impl Text<'_> {
    pub(super) fn into_string(self) -> String {
        self.text.into_owned()
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for Text<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
                Ok(std::str::from_utf8(bytes).map_or_else(
                    |_| without_half_pairs(bytes),
                    |text| Text {
                        text: Cow::Borrowed(text),
                        ..Text::default()
                    },
                ))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
                Ok(without_half_pairs(bytes))
            }
        }
        // As bytes: serde_json hands out half pairs only there, each as the three bytes that its
        // code would have in UTF-8.
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The text of bytes that are UTF-8 except for half pairs.
fn without_half_pairs(bytes: &[u8]) -> Text<'static> {
    const FIRST_BYTE_OF_HALF: &[u8] = &[0xED];
    let mut text = String::with_capacity(bytes.len());
    let mut was_damaged = false;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Each of the three bytes is a chunk of its own.
        if chunk.invalid() == FIRST_BYTE_OF_HALF {
            text.push_str(HALF);
            was_damaged = true;
        }
    }
    let half = |bytes: Option<&[u8; 3]>, kind: std::ops::RangeInclusive<u16>| {
        let [0xED, middle, last] = *bytes? else {
            return None;
        };
        let code = 0xD000 | u16::from(middle & 0x3F) << 6 | u16::from(last & 0x3F);
        kind.contains(&code).then_some(code)
    };
    Text {
        text: text.into(),
        was_damaged,
        halves: (
            half(bytes.first_chunk(), 0xDC00..=0xDFFF),
            half(bytes.last_chunk(), 0xD800..=0xDBFF),
        ),
    }
}

/// Joins surrogate pairs whose halves stand in two pieces of one text.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The first half, at the end of the last piece.
    first: Option<u16>,
    /// A half stayed alone.
    pub(super) was_damaged: bool,
}

impl Pairs {
    /// What stayed alone at the end of the piece before, and this piece with the pair that it
    /// completes. A first half at its end is left for the next one.
    pub(super) fn join<'l>(&mut self, piece: Text<'l>) -> (&'static str, Cow<'l, str>) {
        if piece.text.is_empty() {
            return ("", piece.text);
        }
        let (second, first) = piece.halves;
        let pair = self.first.zip(second).and_then(|(first, second)| {
            let mut pair = char::decode_utf16([first, second]);
            pair.next()?.ok()
        });
        let alone = match pair {
            Some(_) => "",
            None => self.rest(),
        };
        self.first = first;
        if pair.is_none() && first.is_none() {
            self.was_damaged |= piece.was_damaged;
            return (alone, piece.text);
        }
        let mut text = &*piece.text;
        if pair.is_some() {
            text = text.strip_prefix(HALF).unwrap_or(text);
        }
        if first.is_some() {
            text = text.strip_suffix(HALF).unwrap_or(text);
        }
        self.was_damaged |= text.contains(HALF);
        let joined = pair.into_iter().chain(text.chars()).collect();
        (alone, Cow::Owned(joined))
    }

    /// What stayed alone at the end of the text.
    pub(super) fn rest(&mut self) -> &'static str {
        if self.first.take().is_none() {
            return "";
        }
        self.was_damaged = true;
        HALF
    }
}

/// The members of an object, their values as they were written. Of a key that stands twice the last
/// one counts; null counts as absent.
#[derive(Debug, Default)]
pub(super) struct Members<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> Members<'l> {
    /// Reads an object. Where the text is broken, the members before that place are there.
    pub(super) fn read(text: &'l str) -> (Self, Result<(), String>) {
        struct Reader<'m, 'l>(&'m mut Vec<(Cow<'l, str>, &'l RawValue)>);
        impl<'l> Visitor<'l> for Reader<'_, 'l> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
                while let Some(key) = map.next_key::<Text<'l>>()? {
                    self.0.push((key.text, map.next_value()?));
                }
                Ok(())
            }
        }
        let mut members = Vec::new();
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = reader
            .deserialize_map(Reader(&mut members))
            .and_then(|()| reader.end())
            .map_err(|error| told(&error));
        (Self(members), read)
    }

    /// The same for a value inside a line: all or nothing.
    pub(super) fn of(value: &'l RawValue) -> Result<Self, String> {
        let (members, read) = Self::read(value.get());
        read.map(|()| members)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'l RawValue> {
        let (_, value) = self.0.iter().rfind(|(known, _)| known == key)?;
        (value.get() != "null").then_some(value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'l RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }

    /// The value of a key as a string.
    pub(super) fn text(&self, key: &str) -> Result<Option<Text<'l>>, String> {
        self.typed(key)
    }

    /// The value of a key as any type; the error names the key.
    pub(super) fn typed<T: Deserialize<'l>>(&self, key: &str) -> Result<Option<T>, String> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        serde_json::from_str(value.get())
            .map(Some)
            .map_err(|error| format!("`{key}`: {}", told(&error)))
    }

    /// The value of a key as one of a few words.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, String> {
        self.get(key)
            .map(|value| word(key, value, words))
            .transpose()
    }
}

/// The value of `key` as one of a few words.
pub(super) fn word<T: Copy>(key: &str, value: &RawValue, words: &[(&str, T)]) -> Result<T, String> {
    let said: Option<Text<'_>> = serde_json::from_str(value.get()).ok();
    let said = said.unwrap_or_default().text;
    match words.iter().find(|(word, _)| *word == said) {
        Some((_, meant)) => Ok(*meant),
        None => Err(format!(
            "`{key}` must be one of {}, not {}",
            listed(words),
            excerpt(value.get())
        )),
    }
}

/// The words as a list for a message.
pub(super) fn listed<T>(words: &[(&str, T)]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    quoted.join(", ")
}

/// What is wrong with a text, and where; a line has no lines, so only the column counts.
pub(super) fn told(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match whole.strip_suffix(&place) {
        Some(what) if error.column() > 0 => format!("{what} (byte {})", error.column()),
        Some(what) => what.to_owned(),
        None => whole,
    }
}

/// The beginning of a text, for a message.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
