//! From a JSON Schema to the type tree.
//!
//! A type is the conjunction of some schema objects ("parts"). Parts are flattened first
//! (`$ref`, `allOf`), then unions are distributed over their base, so that each branch is a
//! conjunction again. The same set of parts is compiled once, which makes recursive schemas
//! finite; a work list makes deep ones safe.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::tree::{Items, Kinds, Members, Property, Rest, Tree, Type, TypeId};
use crate::json::number;
use crate::names::fold;

/// More types than this are left to the judge.
const MAX_TYPES: usize = 10_000;
/// More parts in one conjunction than this are left to the judge.
const MAX_PARTS: usize = 256;
/// More combinations of branches than this are left to the judge.
const MAX_BRANCHES: usize = 64;

/// Keywords about a single value that only the judge decides and that feedback names.
const LIMITS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Compiles a normalised schema.
pub(crate) fn compile(schema: &Value) -> Tree {
    let mut compiler = Compiler {
        root: schema,
        ref_hides_siblings: is_old_draft(schema),
        types: Vec::new(),
        known: HashMap::new(),
        pending: Vec::new(),
    };
    compiler.intern(vec![Part {
        schema,
        bare: false,
    }]);
    while let Some((id, parts)) = compiler.pending.pop() {
        let ty = compiler.build(&parts);
        if let Some(slot) = compiler.types.get_mut(id as usize) {
            *slot = ty;
        }
    }
    let mut tree = Tree::new(compiler.types);
    find_discriminators(&mut tree);
    tree
}

/// Drafts before 2019-09 ignore everything beside a `$ref`.
fn is_old_draft(schema: &Value) -> bool {
    schema
        .get("$schema")
        .and_then(Value::as_str)
        .is_some_and(|uri| {
            ["draft-04", "draft-06", "draft-07"]
                .iter()
                .any(|draft| uri.contains(draft))
        })
}

/// A schema in a conjunction; `bare` once its references and unions are dealt with.
#[derive(Clone, Copy)]
struct Part<'s> {
    schema: &'s Value,
    bare: bool,
}

impl<'s> Part<'s> {
    fn key(self) -> (usize, bool) {
        (std::ptr::from_ref(self.schema) as usize, self.bare)
    }

    fn object(self) -> Option<&'s Map<String, Value>> {
        self.schema.as_object()
    }

    fn get(self, keyword: &str) -> Option<&'s Value> {
        self.object()?.get(keyword)
    }

    fn list(self, keyword: &str) -> Option<&'s Vec<Value>> {
        self.get(keyword)?.as_array()
    }

    fn map(self, keyword: &str) -> Option<&'s Map<String, Value>> {
        self.get(keyword)?.as_object()
    }
}

struct Compiler<'s> {
    root: &'s Value,
    ref_hides_siblings: bool,
    types: Vec<Type>,
    known: HashMap<Vec<(usize, bool)>, TypeId>,
    pending: Vec<(TypeId, Vec<Part<'s>>)>,
}

impl<'s> Compiler<'s> {
    /// The type of a conjunction, compiled now or before.
    fn intern(&mut self, parts: Vec<Part<'s>>) -> TypeId {
        let parts = self.flatten(parts);
        let mut key: Vec<_> = parts.iter().map(|part| part.key()).collect();
        key.sort_unstable();
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = TypeId::try_from(self.types.len()).unwrap_or(0);
        self.types.push(Type::any());
        self.known.insert(key, id);
        if self.types.len() <= MAX_TYPES && parts.len() <= MAX_PARTS {
            self.pending.push((id, parts));
        }
        id
    }

    fn intern_one(&mut self, schema: &'s Value) -> TypeId {
        self.intern(vec![Part {
            schema,
            bare: false,
        }])
    }

    /// Resolves `$ref` and `allOf`; every schema stays once.
    fn flatten(&self, parts: Vec<Part<'s>>) -> Vec<Part<'s>> {
        let mut flat: Vec<Part<'s>> = Vec::new();
        let mut seen = Vec::new();
        let mut pending = parts;
        pending.reverse();
        while let Some(part) = pending.pop() {
            let address = part.key().0;
            if seen.contains(&address) || flat.len() > MAX_PARTS {
                continue;
            }
            seen.push(address);
            if part.bare {
                flat.push(part);
                continue;
            }
            let target = part
                .get("$ref")
                .and_then(Value::as_str)
                .map(|uri| self.resolve(uri));
            if target.is_none() || !self.ref_hides_siblings {
                flat.push(part);
                pending.extend(
                    part.list("allOf")
                        .into_iter()
                        .flatten()
                        .rev()
                        .map(|schema| Part {
                            schema,
                            bare: false,
                        }),
                );
            }
            if let Some(Some(schema)) = target {
                pending.push(Part {
                    schema,
                    bare: false,
                });
            }
        }
        flat
    }

    /// The schema that a local reference names. Others are the judge's business.
    fn resolve(&self, uri: &str) -> Option<&'s Value> {
        let base = self
            .root
            .get("$id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let uri = uri.strip_prefix(base).unwrap_or(uri);
        let fragment = uri.strip_prefix('#')?;
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            self.root.pointer(&fragment)
        } else {
            self.definitions()
                .find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(&*fragment))
        }
    }

    fn definitions(&self) -> impl Iterator<Item = &'s Value> + use<'s> {
        let root = self.root;
        ["$defs", "definitions"]
            .into_iter()
            .filter_map(move |keyword| root.get(keyword)?.as_object())
            .flat_map(Map::values)
    }

    fn build(&mut self, parts: &[Part<'s>]) -> Type {
        let unions: Vec<_> = parts
            .iter()
            .filter(|part| !part.bare)
            .flat_map(|part| [part.list("anyOf"), part.list("oneOf")])
            .flatten()
            .collect();
        let combinations = unions
            .iter()
            .try_fold(1usize, |n, union| n.checked_mul(union.len()));
        if unions.is_empty() || combinations.is_none_or(|n| n == 0 || n > MAX_BRANCHES) {
            return self.build_plain(parts);
        }
        let base: Vec<_> = parts
            .iter()
            .map(|part| Part {
                bare: true,
                ..*part
            })
            .collect();
        let mut rows = vec![base];
        for union in unions {
            rows = rows
                .iter()
                .flat_map(|row| {
                    union.iter().map(move |schema| {
                        let mut row = row.clone();
                        row.push(Part {
                            schema,
                            bare: false,
                        });
                        row
                    })
                })
                .collect();
        }
        let mut branches: Vec<TypeId> = Vec::new();
        for row in rows {
            let id = self.intern(row);
            if !branches.contains(&id) {
                branches.push(id);
            }
        }
        Type {
            branches,
            default: first(parts, "default").cloned(),
            ..Type::any()
        }
    }

    fn build_plain(&mut self, parts: &[Part<'s>]) -> Type {
        let values = allowed_values(parts);
        let mut kinds = parts.iter().fold(Kinds::ANY, |kinds, part| {
            kinds.intersection(kinds_of(part.schema))
        });
        if let Some(values) = &values {
            kinds = kinds.intersection(
                values
                    .iter()
                    .fold(Kinds::NONE, |kinds, value| kinds | kind_of_value(value)),
            );
        }
        let mut limits = Map::new();
        for keyword in LIMITS {
            if let Some(value) = first(parts, keyword) {
                limits.insert((*keyword).to_owned(), value.clone());
            }
        }
        Type {
            kinds,
            members: self.members(parts),
            items: self.items(parts),
            values,
            branches: Vec::new(),
            discriminator: None,
            default: first(parts, "default").cloned(),
            limits,
        }
    }

    fn members(&mut self, parts: &[Part<'s>]) -> Option<Members> {
        const KEYWORDS: &[&str] = &[
            "properties",
            "required",
            "additionalProperties",
            "unevaluatedProperties",
        ];
        if !parts
            .iter()
            .any(|part| KEYWORDS.iter().any(|keyword| part.get(keyword).is_some()))
        {
            return None;
        }
        let mut names: Vec<&'s str> = Vec::new();
        let mut declared = std::collections::HashSet::new();
        for name in parts
            .iter()
            .filter_map(|part| part.map("properties"))
            .flat_map(Map::keys)
        {
            if declared.insert(name.as_str()) {
                names.push(name);
            }
        }
        let required: Vec<&'s str> = parts
            .iter()
            .filter_map(|part| part.list("required"))
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut properties = Vec::with_capacity(names.len());
        for name in names {
            let schemas = parts.iter().filter_map(|part| member_schema(*part, name));
            let schemas = schemas
                .map(|schema| Part {
                    schema,
                    bare: false,
                })
                .collect();
            properties.push(Property {
                name: name.into(),
                fold: fold::key(name).into(),
                ty: self.intern(schemas),
                required: required.contains(&name),
            });
        }
        let mut undeclared: Vec<Box<str>> = Vec::new();
        for name in required {
            if !declared.contains(name) && !undeclared.iter().any(|known| &**known == name) {
                undeclared.push(name.into());
            }
        }
        let rest = self.rest_of_members(parts);
        Some(Members::new(properties, undeclared, rest))
    }

    /// What may stand under undeclared keys. Patterns are left to the judge: with them any key
    /// may be right.
    fn rest_of_members(&mut self, parts: &[Part<'s>]) -> Rest {
        if parts
            .iter()
            .any(|part| part.get("patternProperties").is_some())
        {
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
            .map(|schema| Part {
                schema,
                bare: false,
            })
            .collect();
        if schemas.is_empty() {
            Rest::Open
        } else {
            Rest::Typed(self.intern(schemas))
        }
    }

    fn items(&mut self, parts: &[Part<'s>]) -> Option<Items> {
        const KEYWORDS: &[&str] = &["items", "prefixItems", "minItems", "additionalItems"];
        if !parts
            .iter()
            .any(|part| KEYWORDS.iter().any(|keyword| part.get(keyword).is_some()))
        {
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

/// What a part says about the member `name`: its own schema, or the one for other members.
fn member_schema<'s>(part: Part<'s>, name: &str) -> Option<&'s Value> {
    match part
        .map("properties")
        .and_then(|properties| properties.get(name))
    {
        Some(schema) => Some(schema),
        None if part.get("patternProperties").is_some() => None,
        None => part
            .get("additionalProperties")
            .filter(|schema| schema.is_object()),
    }
}

fn first<'s>(parts: &[Part<'s>], keyword: &str) -> Option<&'s Value> {
    parts.iter().find_map(|part| part.get(keyword))
}

fn kinds_of(schema: &Value) -> Kinds {
    match (schema, schema.get("type")) {
        (Value::Bool(false), _) => Kinds::NONE,
        (_, Some(Value::String(word))) => Kinds::of_word(word),
        (_, Some(Value::Array(words))) => words
            .iter()
            .filter_map(Value::as_str)
            .fold(Kinds::NONE, |kinds, word| kinds | Kinds::of_word(word)),
        _ => Kinds::ANY,
    }
}

fn kind_of_value(value: &Value) -> Kinds {
    match value {
        Value::Null => Kinds::NULL,
        Value::Bool(_) => Kinds::BOOLEAN,
        Value::Number(value) if number::is_integral(&value.to_string()) => Kinds::INTEGER,
        Value::Number(_) => Kinds::NUMBER,
        Value::String(_) => Kinds::STRING,
        Value::Array(_) => Kinds::ARRAY,
        Value::Object(_) => Kinds::OBJECT,
    }
}

/// The values that every `enum` and `const` of the parts allows.
fn allowed_values(parts: &[Part<'_>]) -> Option<Vec<Value>> {
    let lists = parts.iter().flat_map(|part| {
        let constant = part.get("const").map(std::slice::from_ref);
        [part.list("enum").map(Vec::as_slice), constant]
    });
    lists
        .flatten()
        .fold(None, |allowed: Option<Vec<Value>>, list| {
            Some(match allowed {
                None => list.to_vec(),
                Some(allowed) => allowed
                    .into_iter()
                    .filter(|value| list.contains(value))
                    .collect(),
            })
        })
}

/// Finds, for each union of objects, the property whose constants tell its branches apart.
fn find_discriminators(tree: &mut Tree) {
    for id in 0..tree.types.len() {
        let id = TypeId::try_from(id).unwrap_or(0);
        if tree.get(id).is_union() {
            let found = discriminator(tree, id);
            if let Some(ty) = tree.types.get_mut(id as usize) {
                ty.discriminator = found;
            }
        }
    }
}

fn discriminator(tree: &Tree, union: TypeId) -> Option<Box<str>> {
    let branches: Vec<&Type> = tree
        .plain_types(union)
        .into_iter()
        .map(|id| tree.get(id))
        .filter(|ty| ty.kinds.meets(Kinds::OBJECT))
        .collect();
    let (first, others) = branches.split_first()?;
    if others.is_empty() {
        return None;
    }
    let constants = |ty: &Type, name: &str| -> Option<Vec<Value>> {
        let property = ty.members.as_ref()?.property(name)?;
        tree.get(property.ty).values.clone()
    };
    first
        .properties()
        .iter()
        .map(|property| &property.name)
        .find(|name| {
            let mut seen: Vec<Value> = Vec::new();
            branches.iter().all(|ty| match constants(ty, name) {
                Some(values) if !values.iter().any(|value| seen.contains(value)) => {
                    seen.extend(values);
                    true
                }
                _ => false,
            })
        })
        .cloned()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn root(schema: &Value) -> (Tree, Type) {
        let tree = compile(schema);
        let root = tree.get(tree.root()).clone();
        (tree, root)
    }

    #[test]
    fn conjunctions_are_merged_and_references_resolved() {
        let (tree, root) = root(&json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A%20b"}},
            "allOf": [{"properties": {"b": {"type": ["string", "null"]}}, "required": ["a", "z"]}],
            "additionalProperties": false,
            "$defs": {"A b": {"type": "integer", "minimum": 3}}
        }));
        let members = root.members.unwrap();
        assert_eq!(members.rest, Rest::Closed);
        assert_eq!(members.required_undeclared, vec!["z".into()]);
        let a = members.property("a").unwrap();
        assert!(a.required);
        assert_eq!(tree.get(a.ty).kinds, Kinds::INTEGER);
        assert_eq!(tree.get(a.ty).limits["minimum"], json!(3));
        let b = members.property("b").unwrap();
        assert_eq!(tree.get(b.ty).kinds, Kinds::STRING | Kinds::NULL);
    }

    #[test]
    fn unions_are_distributed_over_their_base() {
        let (tree, root) = root(&json!({
            "required": ["k"],
            "oneOf": [
                {"type": "object", "properties": {"k": {"const": "a"}, "n": {"type": "integer"}}},
                {"type": "object", "properties": {"k": {"const": "b"}}}
            ]
        }));
        assert_eq!(root.branches.len(), 2);
        assert_eq!(root.discriminator.as_deref(), Some("k"));
        for id in root.branches {
            assert!(
                tree.get(id)
                    .members
                    .as_ref()
                    .unwrap()
                    .property("k")
                    .unwrap()
                    .required
            );
        }
    }

    #[test]
    fn recursive_schemas_are_finite() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"properties": {"f": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}}),
            json!({"anyOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]}),
            json!({"$defs": {"N": {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}}}}, "$ref": "#/$defs/N"}),
        ] {
            let (tree, _) = root(&schema);
            assert!(
                tree.types.len() < 20,
                "{schema}: {} types",
                tree.types.len()
            );
            tree.plain_types(tree.root());
        }
    }
}
