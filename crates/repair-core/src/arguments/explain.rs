//! What is wrong with arguments, for feedback. Our own walk: a validator's error lists are
//! exponential in nested unions.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::choice::{is_allowed_value, near_choice};
use crate::fix::excerpt;
use crate::json::pointer::push_segment;
use crate::json::{Arena, Kind, NodeId, number};
use crate::schema::tree::{Kinds, Rest, Tree, Type, TypeId};
use crate::schema::{Choices, Judge};
use crate::verdict::ArgumentError;

/// The errors of the document under `root`, at most `limit`.
pub(crate) fn explain(
    arena: &Arena<'_>,
    root: NodeId,
    tree: &Tree,
    limit: usize,
) -> Vec<ArgumentError> {
    let mut walk = Walk {
        arena,
        tree,
        limit,
        errors: Vec::new(),
        limits: HashMap::new(),
    };
    walk.value(root, tree.root(), &mut String::new());
    if walk.errors.is_empty() {
        // Each part is right by itself: alternatives exclude each other, or a condition failed.
        let expected = "what the schema says about the arguments as a whole".to_owned();
        walk.error("", expected, walk.shown(root), None);
    }
    walk.errors
}

/// Most allowed values that an error lists.
const LISTED: usize = 30;
/// Most unknown keys that a missing one is compared with, and the longest of them.
const COMPARED: usize = 32;
const COMPARED_BYTES: usize = 64;

/// A judge for each keyword that can be compiled alone: one with a reference in it cannot.
fn judges_of(limits: &Map<String, Value>) -> Vec<(String, Judge)> {
    limits
        .iter()
        .filter(|(keyword, _)| *keyword != "format")
        .filter_map(|(keyword, value)| {
            let alone = Value::Object(Map::from_iter([(keyword.clone(), value.clone())]));
            let judge = Judge::compile(&alone).ok()?;
            Some((excerpt(&format!("{keyword} {value}")), judge))
        })
        .collect()
}

struct Walk<'w> {
    arena: &'w Arena<'w>,
    tree: &'w Tree,
    limit: usize,
    errors: Vec<ArgumentError>,
    /// The limits of the types that were met, each as a judge of its own with its words.
    limits: HashMap<TypeId, Vec<(String, Judge)>>,
}

impl Walk<'_> {
    fn value(&mut self, node: NodeId, ty: TypeId, path: &mut String) {
        if self.errors.len() >= self.limit {
            return;
        }
        let kind = self.arena.node(node).kind;
        if kind == Kind::Object && self.names_no_branch(node, self.tree.get(ty), path) {
            return;
        }
        let Some(ty) = self.meant(node, ty) else {
            let expected = words(self.tree.kinds(ty));
            return self.error(path, expected, self.shown(node), None);
        };
        let resolved = self.tree.get(ty);
        if let Some(choices) = &resolved.choices
            && !is_allowed_value(self.arena, node, resolved)
        {
            return self.wrong_choice(node, choices, path);
        }
        self.limits(node, resolved, path);
        match kind {
            Kind::Object => self.object(node, resolved, path),
            Kind::Array => self.array(node, resolved, path),
            _ => {}
        }
    }

    /// Whether an object of a union says by no known constant which branch it means; then that is
    /// its error.
    fn names_no_branch(&mut self, node: NodeId, union: &Type, path: &mut String) -> bool {
        let Some(name) = union.discriminator.as_deref() else {
            return false;
        };
        let constants: Vec<&Choices> = union
            .branches
            .iter()
            .filter_map(|branch| self.tree.get(*branch).members.as_ref()?.property(name))
            .filter_map(|property| self.tree.get(property.ty).choices.as_deref())
            .collect();
        let member = self.arena.member(node, name);
        let is_named = member.is_some_and(|member| {
            constants
                .iter()
                .any(|choices| choices.allow(self.arena, member))
        });
        if is_named {
            return false;
        }
        let all = constants.iter().flat_map(|choices| choices.values());
        let all = Choices::new(all.cloned().collect());
        within(path, name, |path| match member {
            Some(member) => self.wrong_choice(member, &all, path),
            None => self.error(
                path,
                format!("{} (required)", one_of(&all)),
                "nothing".to_owned(),
                None,
            ),
        });
        true
    }

    /// The plain type that a value seems to be meant for: the first that allows its kind, or the
    /// one that its discriminator names.
    fn meant(&self, node: NodeId, ty: TypeId) -> Option<TypeId> {
        let kind = self.arena.node(node).kind;
        let integral = || number::is_integral(self.arena.token(node));
        let fitting: Vec<TypeId> = self
            .tree
            .plain_types(ty)
            .iter()
            .copied()
            .filter(|id| self.tree.get(*id).kinds.allows(kind, integral))
            .collect();
        let discriminator = self
            .tree
            .get(ty)
            .discriminator
            .as_deref()
            .filter(|_| kind == Kind::Object);
        let named = discriminator.and_then(|name| {
            let member = self.arena.member(node, name)?;
            fitting.iter().copied().find(|id| {
                let property = self
                    .tree
                    .get(*id)
                    .members
                    .as_ref()
                    .and_then(|members| members.property(name));
                property.is_some_and(|property| {
                    is_allowed_value(self.arena, member, self.tree.get(property.ty))
                })
            })
        });
        let allowed = || {
            fitting
                .iter()
                .copied()
                .find(|id| is_allowed_value(self.arena, node, self.tree.get(*id)))
        };
        named.or_else(allowed).or_else(|| fitting.first().copied())
    }

    fn object(&mut self, node: NodeId, ty: &Type, path: &mut String) {
        let Some(members) = &ty.members else { return };
        let declared = members
            .properties
            .iter()
            .filter(|property| property.required);
        let declared =
            declared.map(|property| (&property.name, words(self.tree.kinds(property.ty))));
        let undeclared = members
            .required_undeclared
            .iter()
            .map(|name| (name, "a value".to_owned()));
        let present: HashSet<String> = self
            .arena
            .children(node)
            .map(|child| self.arena.key(child).into_owned())
            .collect();
        let unknown: Vec<String> = self
            .arena
            .children(node)
            .map(|child| self.arena.key(child))
            .filter(|key| key.len() <= COMPARED_BYTES && members.property(key).is_none())
            .take(COMPARED)
            .map(std::borrow::Cow::into_owned)
            .collect();
        for (name, expected) in declared.chain(undeclared).collect::<Vec<_>>() {
            if !present.contains(&**name) {
                let got = match nearest(name, &unknown) {
                    Some(key) => format!("nothing (there is an unknown '{key}')"),
                    None => "nothing".to_owned(),
                };
                within(path, name, |path| {
                    self.error(path, format!("{expected} (required)"), got, None);
                });
            }
        }
        for child in self.arena.children(node).collect::<Vec<_>>() {
            let key = self.arena.key(child).into_owned();
            match (members.property(&key), members.rest) {
                (Some(property), _) => {
                    within(path, &key, |path| self.value(child, property.ty, path));
                }
                (None, Rest::Typed(ty)) => within(path, &key, |path| self.value(child, ty, path)),
                (None, Rest::Closed) => {
                    let shown = self.shown(child);
                    within(path, &key, |path| {
                        self.error(path, "no such property".to_owned(), shown, None);
                    });
                }
                (None, Rest::Open) => {}
            }
        }
    }

    fn array(&mut self, node: NodeId, ty: &Type, path: &mut String) {
        let Some(items) = &ty.items else { return };
        for (index, child) in self
            .arena
            .children(node)
            .collect::<Vec<_>>()
            .into_iter()
            .enumerate()
        {
            match items.at(index) {
                Some(ty) => within(path, &index.to_string(), |path| self.value(child, ty, path)),
                None if items.rest == Rest::Closed => {
                    let expected = format!("at most {} items", items.prefix.len());
                    return self.error(path, expected, format!("item {index}"), None);
                }
                None => {}
            }
        }
    }

    fn wrong_choice(&mut self, node: NodeId, choices: &Choices, path: &str) {
        let closest = (self.arena.node(node).kind == Kind::String)
            .then(|| {
                let text = self.arena.string(node);
                choices
                    .folded(&text)
                    .or_else(|| near_choice(choices, &text))
                    .map(|value| Value::from(value).to_string())
            })
            .flatten();
        self.error(path, one_of(choices), self.shown(node), closest);
    }

    /// Checks the keywords that only the judge decides, one by one. Rejected calls are rare enough
    /// to compile them here, once for each type.
    fn limits(&mut self, node: NodeId, ty: &Type, path: &str) {
        let judges = self.limits.remove(&ty.id);
        let judges = judges.unwrap_or_else(|| judges_of(&ty.limits));
        for (limit, judge) in &judges {
            if !judge.accepts(self.arena, node) {
                self.error(path, limit.clone(), self.shown(node), None);
            }
        }
        self.limits.insert(ty.id, judges);
    }

    fn shown(&self, node: NodeId) -> String {
        excerpt(self.arena.token(node))
    }

    fn error(&mut self, path: &str, expected: String, got: String, closest: Option<String>) {
        if self.errors.len() < self.limit {
            self.errors.push(ArgumentError {
                path: path.to_owned(),
                expected,
                got,
                closest,
            });
        }
    }
}

/// The allowed values in words; of many the first.
fn one_of(choices: &Choices) -> String {
    let values = choices.values();
    let shown: Vec<String> = values.iter().take(LISTED).map(Value::to_string).collect();
    let more = match values.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(", … ({more} more)"),
    };
    format!("one of {}{more}", shown.join(", "))
}

/// The unknown key that could be this name misspelt; the first in the alphabet of equally near ones.
fn nearest<'k>(name: &str, unknown: &'k [String]) -> Option<&'k str> {
    unknown
        .iter()
        .map(|key| (strsim::osa_distance(name, key), key.as_str()))
        .filter(|(distance, key)| 3 * distance <= name.len().max(key.len()))
        .min()
        .map(|(_, key)| key)
}

fn words(kinds: Kinds) -> String {
    let words = kinds.words();
    if words.is_empty() {
        "nothing (no value is allowed)".to_owned()
    } else {
        words.join(" or ")
    }
}

/// Runs `inside` with one more segment on the JSON Pointer.
fn within(path: &mut String, segment: &str, inside: impl FnOnce(&mut String)) {
    let length = path.len();
    push_segment(path, segment);
    inside(path);
    path.truncate(length);
}
