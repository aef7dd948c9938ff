//! JSON Patch (RFC 6902) over the text of arguments.
//!
//! The text is cut and joined, never written anew: what no operation touches keeps its bytes, and
//! with them numbers that no `f64` holds. That is why this is no crate over `serde_json::Value`.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// How much larger than document and values together a result may be: copies of copies double.
const MOST_GROWTH: usize = 1 << 20;

/// A change to the arguments that failed, as a list of operations in order.
///
/// ```
/// use harness::Patch;
/// let patch = Patch::from_json(r#"[{"op": "replace", "path": "/limit", "value": 5}]"#)?;
/// let text = r#"{ "id": 12345678901234567890123, "limit": "five" }"#;
/// assert_eq!(patch.apply(text)?, r#"{ "id": 12345678901234567890123, "limit": 5 }"#);
/// # Ok::<(), harness::PatchError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch {
    operations: Vec<Operation>,
}

/// One operation. Paths are JSON Pointers; values are JSON texts, taken as they are spelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operation {
    /// Puts a value at a place: a new or another member, or a new item.
    Add {
        /// Where.
        path: String,
        /// What.
        value: String,
    },
    /// Takes a value away.
    Remove {
        /// Where.
        path: String,
    },
    /// Puts another value in the place of one.
    Replace {
        /// Where.
        path: String,
        /// What.
        value: String,
    },
    /// Takes a value away and puts it at a place.
    Move {
        /// From where.
        from: String,
        /// Where.
        path: String,
    },
    /// Puts a copy of a value at a place.
    Copy {
        /// From where.
        from: String,
        /// Where.
        path: String,
    },
    /// Fails unless a place holds this value.
    Test {
        /// Where.
        path: String,
        /// What.
        value: String,
    },
}

/// Why a patch cannot be read or does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// It is no list of operations.
    #[error("a patch must be a JSON array of operations: {0}")]
    Unreadable(String),
    /// An operation lacks something, or is unknown.
    #[error("operation {at} ('{op}') {problem}")]
    Operation {
        /// Its place in the list.
        at: usize,
        /// Its name.
        op: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// It has too many operations, or its result would be too large.
    #[error("the patch is too large")]
    TooLarge,
    /// The arguments that it should change are not strict JSON.
    #[error("the arguments that failed are not JSON, so that no patch applies: send all of them")]
    Base,
    /// A value is not JSON.
    #[error("the value for '{0}' is not JSON")]
    Value(String),
    /// A path is no JSON Pointer, or names the whole document.
    #[error("'{0}' is no JSON Pointer to a value inside the arguments")]
    Pointer(String),
    /// Nothing, or nothing unique, stands at a path.
    #[error("there is nothing at '{0}'")]
    Missing(String),
    /// A value was to be moved into itself.
    #[error("'{0}' cannot be moved into itself")]
    IntoItself(String),
    /// A test failed.
    #[error("'{0}' does not hold the tested value")]
    Test(String),
}

/// An operation as RFC 6902 writes it.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(default)]
    op: String,
    path: Option<String>,
    from: Option<String>,
    #[serde(default, borrow, deserialize_with = "present")]
    value: Option<&'a RawValue>,
}

/// A value that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Written<'_> {
    fn read(self, at: usize) -> Result<Operation, PatchError> {
        let op = self.op.clone();
        let lacks = |problem| PatchError::Operation {
            at,
            op: op.clone(),
            problem,
        };
        let path = self.path.ok_or_else(|| lacks("has no path"))?;
        let value = self.value.map(|value| value.get().to_owned());
        let value = value.ok_or_else(|| lacks("has no value"));
        let from = self.from.ok_or_else(|| lacks("has no from"));
        Ok(match &*self.op {
            "add" => Operation::Add {
                path,
                value: value?,
            },
            "remove" => Operation::Remove { path },
            "replace" => Operation::Replace {
                path,
                value: value?,
            },
            "move" => Operation::Move { path, from: from? },
            "copy" => Operation::Copy { path, from: from? },
            "test" => Operation::Test {
                path,
                value: value?,
            },
            _ => return Err(lacks("is unknown")),
        })
    }
}

impl Patch {
    /// Most operations of a patch that is applied: each reads the text again.
    pub const MOST_OPERATIONS: usize = 64;

    /// A patch of these operations.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self {
            operations: operations.into_iter().collect(),
        }
    }

    /// Reads a patch as RFC 6902 writes it: a JSON array of operations.
    pub fn from_json(text: &str) -> Result<Self, PatchError> {
        let written: Vec<Written<'_>> = serde_json::from_str(text)
            .map_err(|error| PatchError::Unreadable(error.to_string()))?;
        let operations = written
            .into_iter()
            .enumerate()
            .map(|(at, operation)| operation.read(at));
        Ok(Self {
            operations: operations.collect::<Result<_, _>>()?,
        })
    }

    /// The document after all operations; all or nothing. Every byte that no operation touches is
    /// kept.
    pub fn apply(&self, document: &str) -> Result<String, PatchError> {
        let values: usize = self.operations.iter().map(Operation::size).sum();
        let most = document
            .len()
            .saturating_add(values)
            .saturating_add(MOST_GROWTH);
        if self.operations.len() > Self::MOST_OPERATIONS {
            return Err(PatchError::TooLarge);
        }
        if serde_json::from_str::<IgnoredAny>(document).is_err() {
            return Err(PatchError::Base);
        }
        let mut text = document.to_owned();
        for operation in &self.operations {
            operation.apply(&mut text)?;
            if text.len() > most {
                return Err(PatchError::TooLarge);
            }
        }
        Ok(text)
    }
}

impl fmt::Display for Patch {
    /// The patch as RFC 6902 writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (at, operation) in self.operations.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            write!(f, "{operation}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, path, from, value) = match self {
            Self::Add { path, value } => ("add", path, None, Some(value)),
            Self::Remove { path } => ("remove", path, None, None),
            Self::Replace { path, value } => ("replace", path, None, Some(value)),
            Self::Move { from, path } => ("move", path, Some(from), None),
            Self::Copy { from, path } => ("copy", path, Some(from), None),
            Self::Test { path, value } => ("test", path, None, Some(value)),
        };
        write!(f, r#"{{"op":"{op}","path":{}"#, quoted(path))?;
        if let Some(from) = from {
            write!(f, r#","from":{}"#, quoted(from))?;
        }
        if let Some(value) = value {
            write!(f, r#","value":{value}"#)?;
        }
        f.write_str("}")
    }
}

impl Operation {
    fn size(&self) -> usize {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } => value.len(),
            _ => 0,
        }
    }

    fn apply(&self, text: &mut String) -> Result<(), PatchError> {
        match self {
            Self::Add { path, value } => Place::find(text, path)?.add(text, &json(path, value)?),
            Self::Remove { path } => Place::find(text, path)?.remove(text),
            Self::Replace { path, value } => {
                let at = Place::find(text, path)?.value()?;
                text.replace_range(at, &json(path, value)?);
                Ok(())
            }
            Self::Move { from, path } if from == path => Place::find(text, from)?.value().map(drop),
            Self::Move { from, path } => {
                if path
                    .strip_prefix(&**from)
                    .is_some_and(|rest| rest.starts_with('/'))
                {
                    return Err(PatchError::IntoItself(from.clone()));
                }
                let source = Place::find(text, from)?;
                let value = source.text(text)?;
                source.remove(text)?;
                Place::find(text, path)?.add(text, &value)
            }
            Self::Copy { from, path } => {
                let value = Place::find(text, from)?.text(text)?;
                Place::find(text, path)?.add(text, &value)
            }
            Self::Test { path, value } => {
                let found = Place::find(text, path)?.text(text)?;
                let wanted = repair_core::canonical_json(&json(path, value)?);
                let holds = wanted.is_some() && repair_core::canonical_json(&found) == wanted;
                if holds {
                    Ok(())
                } else {
                    Err(PatchError::Test(path.clone()))
                }
            }
        }
    }
}

/// A value text, without the white space around it.
fn json(path: &str, value: &str) -> Result<String, PatchError> {
    serde_json::from_str::<&RawValue>(value)
        .map(|raw| raw.get().to_owned())
        .map_err(|_| PatchError::Value(path.to_owned()))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A place in a container, taken or free.
struct Place {
    path: String,
    /// The last segment of the path.
    name: String,
    /// Where the container's text begins.
    start: usize,
    /// Where its children stand, in order.
    children: Vec<Range<usize>>,
    is_object: bool,
    /// The child at the place, if it is taken.
    index: Option<usize>,
    /// The place is where one more item goes.
    is_end: bool,
}

impl Place {
    /// Follows a pointer to its last segment, whose place need not be taken.
    fn find(text: &str, path: &str) -> Result<Self, PatchError> {
        let segments = segments(path).ok_or_else(|| PatchError::Pointer(path.to_owned()))?;
        let missing = || PatchError::Missing(path.to_owned());
        let mut container = 0..text.len();
        let mut place = None;
        for segment in segments {
            if let Some(place) = place.take() {
                container = Self::value(&place)?;
            }
            place = Some(Self::of(text, container.clone(), segment, path).ok_or_else(missing)?);
        }
        place.ok_or_else(missing)
    }

    /// The place of one segment in the container whose text stands at `range`; `None` if that is
    /// no container, or the segment no place in it.
    fn of(text: &str, range: Range<usize>, segment: String, path: &str) -> Option<Self> {
        let container = text.get(range.clone())?;
        let start = range.start + container.len() - container.trim_start().len();
        let children: Children<'_> = serde_json::from_str(container).ok()?;
        let span = |raw: &RawValue| {
            let start = raw
                .get()
                .as_ptr()
                .addr()
                .checked_sub(text.as_ptr().addr())?;
            Some(start..start + raw.get().len())
        };
        let (is_object, index, is_end) = match &children {
            Children::Object(members) => {
                let mut same = members
                    .iter()
                    .enumerate()
                    .filter(|(_, (key, _))| *key == segment);
                let index = same.next().map(|(index, _)| index);
                if same.next().is_some() {
                    return None;
                }
                (true, index, false)
            }
            Children::Array(items) => {
                let index = match &*segment {
                    "-" => items.len(),
                    digits => array_index(digits)?,
                };
                if index > items.len() {
                    return None;
                }
                let is_end = index == items.len();
                (false, (!is_end).then_some(index), is_end)
            }
        };
        let raw = match children {
            Children::Object(members) => members.into_iter().map(|(_, value)| value).collect(),
            Children::Array(items) => items,
        };
        Some(Self {
            path: path.to_owned(),
            name: segment,
            start,
            children: raw.into_iter().map(span).collect::<Option<_>>()?,
            is_object,
            index,
            is_end,
        })
    }

    /// Where the value at the place stands.
    fn value(&self) -> Result<Range<usize>, PatchError> {
        self.index
            .and_then(|index| self.children.get(index).cloned())
            .ok_or_else(|| PatchError::Missing(self.path.clone()))
    }

    fn text(&self, text: &str) -> Result<String, PatchError> {
        let range = self.value()?;
        Ok(text.get(range).unwrap_or_default().to_owned())
    }

    /// Puts a value at the place: over a member, before an item, or at the end.
    fn add(&self, text: &mut String, value: &str) -> Result<(), PatchError> {
        let taken = self.value();
        let end = self.children.last().map(|child| child.end);
        let (at, comma) = match end {
            Some(end) => (end, ","),
            None => (self.start + 1, ""),
        };
        match (taken, self.is_object) {
            (Ok(range), true) => text.replace_range(range, value),
            (Ok(range), false) => text.insert_str(range.start, &format!("{value},")),
            (Err(_), true) => {
                text.insert_str(at, &format!("{comma}{}:{value}", quoted(&self.name)));
            }
            (Err(_), false) if self.is_end => text.insert_str(at, &format!("{comma}{value}")),
            (Err(missing), false) => return Err(missing),
        }
        Ok(())
    }

    /// Takes the value away, with its key and one comma.
    fn remove(&self, text: &mut String) -> Result<(), PatchError> {
        let value = self.value()?;
        let index = self.index.unwrap_or_default();
        let before = index
            .checked_sub(1)
            .and_then(|before| self.children.get(before));
        let after = text.get(value.end..).unwrap_or_default().find(',');
        let is_last = index + 1 == self.children.len();
        let range = match (before, after) {
            (Some(before), _) => before.end..value.end,
            (None, Some(comma)) if !is_last => self.start + 1..value.end + comma + 1,
            (None, _) => self.start + 1..value.end,
        };
        text.replace_range(range, "");
        Ok(())
    }
}

/// The segments of a JSON Pointer, unescaped; `None` for the whole document and for what is none.
fn segments(path: &str) -> Option<Vec<String>> {
    let segment = |escaped: &str| {
        let stray = escaped
            .split('~')
            .skip(1)
            .any(|rest| !rest.starts_with(['0', '1']));
        (!stray).then(|| escaped.replace("~1", "/").replace("~0", "~"))
    };
    path.strip_prefix('/')?.split('/').map(segment).collect()
}

/// An array index in its only spelling: no sign, no leading zero.
fn array_index(digits: &str) -> Option<usize> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    is_plain.then(|| digits.parse().ok())?
}

/// The children of a container as texts.
enum Children<'a> {
    Object(Vec<(Cow<'a, str>, &'a RawValue)>),
    Array(Vec<&'a RawValue>),
}

impl<'de> Deserialize<'de> for Children<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Both;
        impl<'de> Visitor<'de> for Both {
            type Value = Children<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((Cow::Owned(key), value));
                }
                Ok(Children::Object(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Children::Array(items))
            }
        }
        deserializer.deserialize_any(Both)
    }
}

#[cfg(test)]
mod tests;
