//! What a conjunction says about the members of objects and the items of arrays.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::compile::Compiler;
use super::parts::Part;
use super::tree::{Items, Members, Property, Rest};
use crate::names::fold;

const MEMBER_KEYWORDS: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
];
const ITEM_KEYWORDS: &[&str] = &["items", "prefixItems", "minItems", "additionalItems"];

fn say(parts: &[Part<'_>], keywords: &[&str]) -> bool {
    parts
        .iter()
        .any(|part| keywords.iter().any(|keyword| part.get(keyword).is_some()))
}

impl<'s> Compiler<'s> {
    /// The members; nothing inside where nothing is said about them, `None` where there is no
    /// room left for them.
    #[allow(clippy::option_option, reason = "no room, nothing said, members")]
    pub(super) fn members(&mut self, parts: &[Part<'s>]) -> Option<Option<Members>> {
        if !say(parts, MEMBER_KEYWORDS) {
            return Some(None);
        }
        let declared = declared(parts);
        let required: Vec<&'s str> = parts
            .iter()
            .filter_map(|part| part.list("required"))
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !self.reserve(declared.names.len().saturating_add(required.len())) {
            return None;
        }
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let properties = declared
            .names
            .iter()
            .map(|name| Property {
                name: (*name).into(),
                fold: fold::key(name).into(),
                ty: self.intern(declared.schemas(parts, name)),
                required: is_required.contains(name),
            })
            .collect();
        let mut listed = HashSet::new();
        let undeclared = required
            .into_iter()
            .filter(|name| !declared.by_name.contains_key(name) && listed.insert(*name))
            .map(Box::from)
            .collect();
        let rest = self.rest_of_members(parts);
        Some(Some(Members::new(properties, undeclared, rest)))
    }

    /// What may stand under undeclared keys. Patterns are left to the judge: with them any key
    /// may be right.
    fn rest_of_members(&mut self, parts: &[Part<'s>]) -> Rest {
        if say(parts, &["patternProperties"]) {
            return Rest::Open;
        }
        let closed = Some(&Value::Bool(false));
        if parts.iter().any(|part| {
            part.get("additionalProperties") == closed
                || part.get("unevaluatedProperties") == closed
        }) {
            return Rest::Closed;
        }
        self.rest_of_type(
            parts
                .iter()
                .filter_map(|part| part.get("additionalProperties")),
        )
    }

    fn rest_of_type(&mut self, schemas: impl Iterator<Item = &'s Value>) -> Rest {
        let schemas: Vec<_> = schemas
            .filter(|schema| schema.as_object().is_some_and(|object| !object.is_empty()))
            .map(Part::new)
            .collect();
        if schemas.is_empty() {
            Rest::Open
        } else {
            Rest::Typed(self.intern(schemas))
        }
    }

    /// The items; `None` where nothing is said about them.
    pub(super) fn items(&mut self, parts: &[Part<'s>]) -> Option<Items> {
        if !say(parts, ITEM_KEYWORDS) {
            return None;
        }
        let tuple = parts
            .iter()
            .find_map(|part| part.list("prefixItems").or_else(|| part.list("items")));
        let prefix = tuple
            .into_iter()
            .flatten()
            .map(|schema| self.intern_one(schema))
            .collect();
        let rest: Vec<&'s Value> = parts
            .iter()
            .filter_map(|part| match part.get("items") {
                Some(Value::Array(_)) => part.get("additionalItems"),
                items => items,
            })
            .collect();
        let rest = if rest.contains(&&Value::Bool(false)) {
            Rest::Closed
        } else {
            self.rest_of_type(rest.into_iter())
        };
        Some(Items { prefix, rest })
    }
}

/// The members that some part declares and no other forbids.
struct Declared<'s> {
    /// In the order of the schema.
    names: Vec<&'s str>,
    /// Each name's schemas, with the position of the part that they stand in.
    by_name: HashMap<&'s str, Vec<(usize, &'s Value)>>,
}

fn declared<'s>(parts: &[Part<'s>]) -> Declared<'s> {
    let mut names: Vec<&'s str> = Vec::new();
    let mut by_name: HashMap<&'s str, Vec<(usize, &'s Value)>> = HashMap::new();
    let closing: Vec<Part<'s>> = parts
        .iter()
        .copied()
        .filter(|part| part.get("additionalProperties") == Some(&Value::Bool(false)))
        .collect();
    for (at, part) in parts.iter().enumerate() {
        for (name, schema) in part.map("properties").into_iter().flatten() {
            if closing.iter().any(|part| part.forbids(name)) {
                continue;
            }
            let schemas = by_name.entry(name).or_default();
            if schemas.is_empty() {
                names.push(name);
            }
            schemas.push((at, schema));
        }
    }
    Declared { names, by_name }
}

impl<'s> Declared<'s> {
    /// What the parts say about a member: their own schema for it, or the one for other members.
    fn schemas(&self, parts: &[Part<'s>], name: &str) -> Vec<Part<'s>> {
        let own = self
            .by_name
            .get(name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let others = parts.iter().enumerate().filter_map(|(at, part)| {
            let is_own = own.iter().any(|(of, _)| *of == at);
            let rest = part
                .get("additionalProperties")
                .filter(|rest| rest.is_object())?;
            (!is_own && part.get("patternProperties").is_none()).then_some(rest)
        });
        own.iter()
            .map(|(_, schema)| *schema)
            .chain(others)
            .map(Part::new)
            .collect()
    }
}
