//! Typing by the schema: what a raw text means where the syntax does not say.

use std::borrow::Cow;

use serde_json::Value;

use crate::literal;
use crate::printed::string;

/// The types that a schema allows, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const NONE: Self = Self(0);
    const STRING: Self = Self(1);
    const NUMBER: Self = Self(2);
    const BOOLEAN: Self = Self(4);
    const NULL: Self = Self(8);
    const OBJECT: Self = Self(16);
    const ARRAY: Self = Self(32);
    const ANY: Self = Self(63);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What one of several allows.
    fn any(types: impl Iterator<Item = Self>) -> Self {
        types.fold(Self::NONE, Self::or)
    }

    fn named(name: &str) -> Self {
        match name {
            "string" => Self::STRING,
            "integer" | "number" | "float" => Self::NUMBER,
            "boolean" => Self::BOOLEAN,
            "null" => Self::NULL,
            "object" | "dict" => Self::OBJECT,
            "array" | "tuple" => Self::ARRAY,
            _ => Self::ANY,
        }
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The type of a strict JSON text.
    fn of_text(text: &str) -> Self {
        match text.bytes().next() {
            Some(b'"') => Self::STRING,
            Some(b'{') => Self::OBJECT,
            Some(b'[') => Self::ARRAY,
            Some(b't' | b'f') => Self::BOOLEAN,
            Some(b'n') => Self::NULL,
            _ => Self::NUMBER,
        }
    }
}

/// How far references and combinations are followed.
const MAX_STEPS: usize = 16;

/// A part of a tool's schema, with the whole for references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'s> {
    root: &'s Value,
    /// `None`: nothing is known about the place.
    schema: Option<&'s Value>,
}

impl<'s> Place<'s> {
    /// The arguments of a tool.
    pub(crate) fn arguments(root: Option<&'s Value>) -> Self {
        Self {
            root: root.unwrap_or(&Value::Null),
            schema: root,
        }
    }

    /// The place of a property.
    pub(crate) fn property(self, key: &str) -> Self {
        Self {
            schema: self.find(MAX_STEPS, &|schema| schema.get("properties")?.get(key)),
            ..self
        }
    }

    /// The place of the items of an array.
    pub(crate) fn items(self) -> Self {
        Self {
            schema: self.find(MAX_STEPS, &|schema| schema.get("items")),
            ..self
        }
    }

    /// Whether the schema says anything about the place.
    pub(crate) fn is_known(self) -> bool {
        self.schema.is_some()
    }

    /// Whether a string may stand here.
    pub(crate) fn allows_text(self) -> bool {
        self.types().has(Types::STRING)
    }

    /// Whether an array may stand here, and no object.
    pub(crate) fn is_list(self) -> bool {
        let types = self.types();
        types.has(Types::ARRAY) && !types.has(Types::OBJECT)
    }

    fn at(self, schema: &'s Value) -> Self {
        Self {
            schema: Some(schema),
            ..self
        }
    }

    /// The schemas that stand for this one: itself, what it refers to, what it combines.
    fn parts(self) -> Vec<&'s Value> {
        let Some(schema) = self.schema else {
            return Vec::new();
        };
        let referred = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| self.root.pointer(reference.strip_prefix('#')?));
        let combined = ["allOf", "anyOf", "oneOf"]
            .iter()
            .filter_map(|word| schema.get(word)?.as_array())
            .flatten();
        referred.into_iter().chain(combined).collect()
    }

    fn find(self, steps: usize, get: &dyn Fn(&'s Value) -> Option<&'s Value>) -> Option<&'s Value> {
        let found = get(self.schema?);
        if found.is_some() || steps == 0 {
            return found;
        }
        self.parts()
            .into_iter()
            .take(MAX_STEPS)
            .find_map(|part| self.at(part).find(steps / 2, get))
    }

    fn types(self) -> Types {
        self.schema
            .map_or(Types::ANY, |schema| self.types_of(schema, MAX_STEPS))
    }

    fn types_of(self, schema: &'s Value, steps: usize) -> Types {
        let (Value::Object(keywords), 1..) = (schema, steps) else {
            return Types::ANY;
        };
        let mut types = Types::ANY;
        let mut is_nullable = false;
        // In one walk: to look up each keyword that may be there takes longer.
        for (keyword, value) in keywords {
            let allowed = match (keyword.as_str(), value) {
                ("type", Value::String(name)) => Types::named(name),
                ("type", Value::Array(names)) => {
                    let names = names.iter().filter_map(Value::as_str);
                    Types::any(names.map(Types::named))
                }
                ("enum", Value::Array(values)) => Types::any(values.iter().map(Types::of_value)),
                ("const", value) => Types::of_value(value),
                ("$ref", Value::String(reference)) => reference
                    .strip_prefix('#')
                    .and_then(|pointer| self.root.pointer(pointer))
                    .map_or(Types::ANY, |target| self.types_of(target, steps / 2)),
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    let branches = branches.iter().take(64);
                    Types::any(branches.map(|branch| self.types_of(branch, steps / 2)))
                }
                ("allOf", Value::Array(branches)) => {
                    branches.iter().fold(Types::ANY, |types, branch| {
                        types.and(self.types_of(branch, steps / 2))
                    })
                }
                ("nullable", Value::Bool(nullable)) => {
                    is_nullable = *nullable;
                    continue;
                }
                _ => continue,
            };
            types = types.and(allowed);
        }
        if is_nullable {
            types = types.or(Types::NULL);
        }
        types
    }

    /// The JSON of a raw text that stands here.
    ///
    /// A string-only place takes the text as it is. Where other types are allowed too, exact JSON
    /// of one of them is taken, else the text. Where no string is allowed, the text is handed on
    /// as it is if it can be read as a value, else as a string, which the schema then refuses.
    pub(crate) fn json(self, raw: &str) -> Cow<'_, str> {
        let types = self.types();
        if types == Types::STRING {
            return Cow::Owned(string(raw));
        }
        let exact = raw.trim();
        if literal::is_strict_json(exact) {
            let fits = types.has(Types::of_text(exact)) && !exact.starts_with('"');
            let is_only_json = !types.has(Types::STRING);
            if fits || is_only_json {
                return Cow::Borrowed(exact);
            }
        }
        let takes_loose = !types.has(Types::STRING) || !self.is_known();
        if takes_loose && literal::is_loose_value(exact) {
            return Cow::Borrowed(exact);
        }
        Cow::Owned(string(raw))
    }
}
