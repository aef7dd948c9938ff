//! Strictness by other means than ours.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Whether a text is strict JSON, whatever its numbers are.
pub(crate) fn is_text(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The object of a strict text in which no key stands twice, and whose numbers are doubles.
pub(crate) fn object(text: &str) -> Option<Value> {
    let Unique(value) = serde_json::from_str(text).ok()?;
    value.is_object().then_some(value)
}

/// A value whose objects have each key once.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let (mut map, mut seen) = (Map::new(), HashSet::new());
        while let Some((key, Unique(value))) = members.next_entry::<String, Unique>()? {
            if !seen.insert(key.clone()) {
                return Err(de::Error::custom("a key twice"));
            }
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

/// Every scalar in a value.
pub(crate) fn scalars<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, out)),
        Value::Object(members) => members.values().for_each(|member| scalars(member, out)),
        scalar => out.push(scalar),
    }
}
