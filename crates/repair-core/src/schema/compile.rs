//! From a JSON Schema to the type tree.
//!
//! A type is the conjunction of some schema objects ("parts"). Parts are flattened first
//! (`$ref`, `allOf`), then unions are distributed over their base, so that each branch is a
//! conjunction again. The same set of parts is compiled once, which makes recursive schemas
//! finite; a work list makes deep ones safe.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::choices::Choices;
use super::discriminator;
use super::parts::{MAX_PARTS, Part, References, first};
use super::tree::{Kinds, Tree, Type, TypeId};
use crate::json::number;
use crate::units;

/// More types than this are left to the judge.
const MAX_TYPES: usize = 50_000;
/// More combinations of branches than this are left to the judge.
const MAX_BRANCHES: usize = 64;
/// More declarations of properties and allowed values than this, over all types, are left to the
/// judge: unions repeat those of their base in every branch.
const MAX_DECLARATIONS: usize = 200_000;

/// Keywords that only the judge decides and that feedback names.
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
    "contains",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "dependentRequired",
    "not",
];

/// Compiles a normalised schema.
pub(crate) fn compile(schema: &Value) -> Tree {
    let mut compiler = Compiler {
        references: References::new(schema),
        types: Vec::new(),
        known: HashMap::new(),
        choices: HashMap::new(),
        pending: Vec::new(),
        room: MAX_DECLARATIONS,
    };
    compiler.intern_one(schema);
    while let Some((id, parts)) = compiler.pending.pop() {
        let ty = compiler.build(id, &parts);
        if let Some(slot) = compiler.types.get_mut(id as usize) {
            *slot = ty;
        }
    }
    let mut tree = Tree::new(compiler.types).exact_if(!is_read_loosely(schema));
    tree.flatten_unions(MAX_BRANCHES);
    discriminator::find_all(&mut tree);
    tree
}

/// Whether a schema holds a keyword that means something else by draft, or that moves what
/// references mean: the tree's reading of it is a guess.
fn is_read_loosely(schema: &Value) -> bool {
    const LOOSE: &[&str] = &[
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveRef",
        "$vocabulary",
        "unevaluatedProperties",
        "unevaluatedItems",
        "prefixItems",
        "additionalItems",
    ];
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        let Value::Object(members) = value else {
            pending.extend(value.as_array().into_iter().flatten());
            continue;
        };
        let is_loose = members.iter().any(|(keyword, value)| {
            LOOSE.contains(&keyword.as_str())
                || (keyword == "items" && value.is_array())
                || (keyword == "$schema"
                    && !value.as_str().is_some_and(|uri| uri.contains("2020-12")))
        });
        if is_loose {
            return true;
        }
        pending.extend(members.values());
    }
    false
}

pub(super) struct Compiler<'s> {
    references: References<'s>,
    types: Vec<Type>,
    known: HashMap<Vec<(usize, bool)>, TypeId>,
    /// The choices of single lists, by where the list stands in memory.
    choices: HashMap<usize, Arc<Choices>>,
    pending: Vec<(TypeId, Vec<Part<'s>>)>,
    room: usize,
}

impl<'s> Compiler<'s> {
    /// The type of a conjunction, compiled now or before.
    pub(super) fn intern(&mut self, parts: Vec<Part<'s>>) -> TypeId {
        let parts = self.references.flatten(parts);
        let mut key: Vec<_> = parts.iter().map(|part| part.key()).collect();
        key.sort_unstable();
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = TypeId::try_from(self.types.len()).unwrap_or(0);
        self.types.push(Type::any(id));
        self.known.insert(key, id);
        if self.types.len() <= MAX_TYPES && parts.len() <= MAX_PARTS {
            self.pending.push((id, parts));
        }
        id
    }

    pub(super) fn intern_one(&mut self, schema: &'s Value) -> TypeId {
        self.intern(vec![Part::new(schema)])
    }

    /// Takes room for so many declarations; `false` if there is none left.
    pub(super) fn reserve(&mut self, declarations: usize) -> bool {
        match self.room.checked_sub(declarations) {
            Some(room) => {
                self.room = room;
                true
            }
            None => false,
        }
    }

    fn build(&mut self, id: TypeId, parts: &[Part<'s>]) -> Type {
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
            return self.build_plain(id, parts).unwrap_or_else(|| Type::any(id));
        }
        let mut rows = vec![parts.iter().map(|part| part.bared()).collect::<Vec<_>>()];
        for union in unions {
            rows = rows
                .iter()
                .flat_map(|row| {
                    union.iter().map(move |schema| {
                        let mut row = row.clone();
                        row.push(Part::new(schema));
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
            ..Type::any(id)
        }
    }

    /// `None` where there is no room left for it.
    fn build_plain(&mut self, id: TypeId, parts: &[Part<'s>]) -> Option<Type> {
        let choices = self.choices(parts)?;
        let mut kinds = parts.iter().fold(Kinds::ANY, |kinds, part| {
            kinds.intersection(kinds_of(part.schema))
        });
        if let Some(choices) = &choices {
            let allowed = choices.values().iter().map(kind_of_value);
            kinds = kinds.intersection(allowed.fold(Kinds::NONE, |kinds, kind| kinds | kind));
        }
        let limits: Map<String, Value> = LIMITS
            .iter()
            .filter_map(|keyword| Some(((*keyword).to_owned(), first(parts, keyword)?.clone())))
            .collect();
        Some(Type {
            kinds,
            members: self.members(parts)?,
            items: self.items(parts),
            choices,
            default: first(parts, "default").cloned(),
            unit: first(parts, "description")
                .and_then(Value::as_str)
                .filter(|_| kinds.meets(Kinds::NUMBER | Kinds::ARRAY))
                .and_then(units::named_in_description),
            limits,
            ..Type::any(id)
        })
    }

    /// The values that every `enum` and `const` of the parts allows, if there are any.
    #[allow(clippy::option_option, reason = "no room, no list, a list")]
    fn choices(&mut self, parts: &[Part<'s>]) -> Option<Option<Arc<Choices>>> {
        let lists: Vec<&'s [Value]> = parts
            .iter()
            .flat_map(|part| {
                let constant = part.get("const").map(std::slice::from_ref);
                [part.list("enum").map(Vec::as_slice), constant]
            })
            .flatten()
            .collect();
        let [list] = lists.as_slice() else {
            let values: usize = lists.iter().map(|list| list.len()).sum();
            return self.reserve(values).then(|| {
                Choices::common(lists.into_iter()).map(|common| Arc::new(Choices::new(common)))
            });
        };
        let address = list.as_ptr() as usize;
        if let Some(known) = self.choices.get(&address) {
            return Some(Some(Arc::clone(known)));
        }
        let choices = Arc::new(Choices::new(list.to_vec()));
        self.choices.insert(address, Arc::clone(&choices));
        Some(Some(choices))
    }
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

#[cfg(test)]
mod tests {
    use super::super::tree::Rest;
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
            "unevaluatedProperties": false,
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
