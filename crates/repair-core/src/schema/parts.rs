//! Conjunctions of schema objects, with `$ref` and `allOf` resolved away.

use serde_json::{Map, Value};

/// More parts in one conjunction than this are left to the judge.
pub(super) const MAX_PARTS: usize = 256;

/// A schema in a conjunction; `bare` once its references and unions are dealt with.
#[derive(Clone, Copy)]
pub(super) struct Part<'s> {
    pub(super) schema: &'s Value,
    pub(super) bare: bool,
}

impl<'s> Part<'s> {
    pub(super) fn new(schema: &'s Value) -> Self {
        Self {
            schema,
            bare: false,
        }
    }

    /// The same schema without its references and unions.
    pub(super) fn bared(self) -> Self {
        Self { bare: true, ..self }
    }

    /// The identity of a part: where its schema stands in memory.
    pub(super) fn key(self) -> (usize, bool) {
        (std::ptr::from_ref(self.schema) as usize, self.bare)
    }

    pub(super) fn get(self, keyword: &str) -> Option<&'s Value> {
        self.schema.as_object()?.get(keyword)
    }

    pub(super) fn list(self, keyword: &str) -> Option<&'s Vec<Value>> {
        self.get(keyword)?.as_array()
    }

    pub(super) fn map(self, keyword: &str) -> Option<&'s Map<String, Value>> {
        self.get(keyword)?.as_object()
    }

    /// Whether the part forbids the member `name` because it does not know it.
    pub(super) fn forbids(self, name: &str) -> bool {
        self.get("additionalProperties") == Some(&Value::Bool(false))
            && self.get("patternProperties").is_none()
            && self
                .map("properties")
                .is_none_or(|properties| !properties.contains_key(name))
    }
}

/// The value of the first part that has the keyword.
pub(super) fn first<'s>(parts: &[Part<'s>], keyword: &str) -> Option<&'s Value> {
    parts.iter().find_map(|part| part.get(keyword))
}

/// Finds what references mean.
pub(super) struct References<'s> {
    root: &'s Value,
    hide_siblings: bool,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            root,
            hide_siblings: is_old_draft(root),
        }
    }

    /// Resolves `$ref` and `allOf`; every schema stays once.
    pub(super) fn flatten(&self, parts: Vec<Part<'s>>) -> Vec<Part<'s>> {
        let mut flat: Vec<Part<'s>> = Vec::new();
        let mut seen = Vec::new();
        let mut pending = parts;
        pending.reverse();
        while let Some(part) = pending.pop() {
            let address = part.key().0;
            if flat.len() > MAX_PARTS {
                break;
            }
            if seen.contains(&address) {
                continue;
            }
            seen.push(address);
            if part.bare {
                flat.push(part);
                continue;
            }
            let reference = part.get("$ref").and_then(Value::as_str);
            if reference.is_none() || !self.hide_siblings {
                flat.push(part);
                let all_of = part.list("allOf").into_iter().flatten();
                pending.extend(all_of.rev().map(Part::new));
            }
            pending.extend(reference.and_then(|uri| self.resolve(uri)).map(Part::new));
        }
        flat
    }

    /// The schema that a local reference names. Others are the judge's business.
    fn resolve(&self, uri: &str) -> Option<&'s Value> {
        let base = self.root.get("$id").and_then(Value::as_str);
        let uri = uri.strip_prefix(base.unwrap_or_default()).unwrap_or(uri);
        let fragment = percent_decoded(uri.strip_prefix('#')?);
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        ["$defs", "definitions"]
            .into_iter()
            .filter_map(|keyword| self.root.get(keyword)?.as_object())
            .flat_map(Map::values)
            .find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(&*fragment))
    }
}

/// Drafts before 2019-09 ignore everything beside a `$ref`.
fn is_old_draft(schema: &Value) -> bool {
    let uri = schema.get("$schema").and_then(Value::as_str);
    ["draft-04", "draft-06", "draft-07"]
        .iter()
        .any(|draft| uri.is_some_and(|uri| uri.contains(draft)))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code
            .filter(|_| *byte == b'%')
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() {
            tail.get(2..).unwrap_or_default()
        } else {
            tail
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
