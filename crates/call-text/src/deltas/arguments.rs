//! The arguments of a streamed call: fragments, snapshots, and parsed objects.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The arguments so far.
#[derive(Clone, Debug, Default)]
pub(super) enum Arguments {
    /// None.
    #[default]
    Nothing,
    /// Their text.
    Text(Text),
    /// Members of the parsed objects that came.
    Object(Object),
}

impl Arguments {
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    pub(super) fn add_fragment(&mut self, fragment: &str) {
        match self {
            Self::Nothing => *self = Self::Text(Text::new(fragment)),
            Self::Text(text) => text.add(fragment),
            Self::Object(object) => {
                let mut text = Text::new(&object.text());
                text.add(fragment);
                *self = Self::Text(text);
            }
        }
    }

    pub(super) fn add_value(&mut self, json: &str) {
        let Some(members) = members_of(json) else {
            return self.add_fragment(json);
        };
        match self {
            Self::Text(text) if !text.is_placeholder() => text.add(json),
            Self::Object(object) => object.add(json, members),
            Self::Nothing | Self::Text(_) => {
                let mut object = Object::default();
                object.add(json, members);
                *self = Self::Object(object);
            }
        }
    }

    /// Whether `fragment` begins the arguments of another call.
    pub(super) fn is_followed_by_text(&self, fragment: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Text(text) => text.is_followed_by(fragment),
            Self::Object(object) => Text::new(&object.text()).is_followed_by(fragment),
        }
    }

    /// Whether the parsed `json` is the arguments of another call.
    pub(super) fn is_followed_by_value(&self, json: &str) -> bool {
        match (self, members_of(json)) {
            (Self::Object(object), Some(members)) => object.contradicts(&members),
            _ => self.is_followed_by_text(json),
        }
    }

    /// The text of the arguments; `None` if there are none.
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Text(text) => Some(text.so_far),
            Self::Object(object) => Some(object.text()),
        }
    }
}

/// A growing text, and how far its first object has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    so_far: String,
    extent: Extent,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

/// What a text holds so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Extent {
    /// White space.
    #[default]
    Blank,
    /// The beginning of an object.
    Open,
    /// One object.
    Closed,
    /// Anything else.
    Other,
}

impl Text {
    fn new(text: &str) -> Self {
        let mut new = Self::default();
        new.append(text);
        new
    }

    fn add(&mut self, fragment: &str) {
        let begins = fragment.trim_start().starts_with('{');
        if begins && (self.is_placeholder() || self.grows_into(fragment)) {
            *self = Self::new(fragment);
        } else {
            self.append(fragment);
        }
    }

    fn append(&mut self, fragment: &str) {
        self.so_far.push_str(fragment);
        for byte in fragment.bytes() {
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        if byte.is_ascii_whitespace() {
            return;
        }
        self.extent = match (self.extent, byte) {
            (Extent::Blank, b'{') | (Extent::Open, _) => Extent::Open,
            _ => Extent::Other,
        };
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.extent == Extent::Open && self.depth == 0 {
            self.extent = Extent::Closed;
        }
    }

    /// Text that stands for arguments yet to come.
    fn is_placeholder(&self) -> bool {
        // Longer white space is not worth a look at every fragment.
        self.so_far.len() <= 16 && matches!(self.so_far.trim(), "{}" | "null")
    }

    /// Whether `fragment` is this text further on: a snapshot, not a continuation.
    fn grows_into(&self, fragment: &str) -> bool {
        match self.extent {
            Extent::Closed => is_grown(&self.so_far, fragment),
            Extent::Open => fragment.starts_with(&self.so_far),
            Extent::Blank | Extent::Other => false,
        }
    }

    /// Whether `fragment` begins another object after this one.
    fn is_followed_by(&self, fragment: &str) -> bool {
        self.extent == Extent::Closed
            && fragment.trim_start().starts_with('{')
            && !self.is_placeholder()
            && !self.grows_into(fragment)
    }
}

/// Whether `new` says all that `old`, which a server closed for show, had said.
fn is_grown(old: &str, new: &str) -> bool {
    let said = old.trim_end_matches(|c: char| matches!(c, '}' | ']' | '"') || c.is_whitespace());
    new.starts_with(said)
}

/// Merged objects: of each key the last value, values as they were written.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// The text of the one object that came, as long as it is one.
    only: Option<String>,
    members: Vec<(String, Box<RawValue>)>,
    places: HashMap<String, usize>,
}

impl Object {
    fn add(&mut self, json: &str, members: Vec<(String, Box<RawValue>)>) {
        if members.is_empty() && self.only.is_some() {
            return;
        }
        self.only = self.members.is_empty().then(|| json.to_owned());
        for (key, value) in members {
            let known = self.places.get(&key).copied();
            if let Some(member) = known.and_then(|at| self.members.get_mut(at)) {
                member.1 = value;
            } else {
                self.places.insert(key.clone(), self.members.len());
                self.members.push((key, value));
            }
        }
    }

    /// Whether one of the members has another value here, not the beginning of the new one.
    fn contradicts(&self, members: &[(String, Box<RawValue>)]) -> bool {
        members.iter().any(|(key, new)| {
            let old = self.places.get(key).and_then(|at| self.members.get(*at));
            old.is_some_and(|(_, old)| !is_grown(old.get(), new.get()))
        })
    }

    fn text(&self) -> String {
        if let Some(only) = &self.only {
            return only.clone();
        }
        let mut text = String::from("{");
        for (key, value) in &self.members {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::from(key.as_str()).to_string());
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        text
    }
}

/// The members of a JSON object; `None` for any other text.
fn members_of(json: &str) -> Option<Vec<(String, Box<RawValue>)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Box<RawValue>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let members = reader.deserialize_map(Members).ok()?;
    reader.end().ok()?;
    Some(members)
}
