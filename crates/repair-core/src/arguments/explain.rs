//! What is wrong with arguments, for feedback. Our own walk: a validator's error lists are
//! exponential in nested unions.

use serde_json::{Map, Value};

use super::value::{folded_choice, is_allowed_value, near_choice};
use crate::fix::excerpt;
use crate::json::pointer::push_segment;
use crate::json::{Arena, Kind, NodeId, number};
use crate::schema::Judge;
use crate::schema::tree::{Kinds, Rest, Tree, Type, TypeId};
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
    };
    walk.value(root, tree.root(), &mut String::new());
    walk.errors
}

struct Walk<'w> {
    arena: &'w Arena<'w>,
    tree: &'w Tree,
    limit: usize,
    errors: Vec<ArgumentError>,
}

impl Walk<'_> {
    fn value(&mut self, node: NodeId, ty: TypeId, path: &mut String) {
        if self.errors.len() >= self.limit {
            return;
        }
        let kind = self.arena.node(node).kind;
        let Some(ty) = self.meant(node, ty) else {
            let expected = words(self.tree.kinds(ty));
            return self.error(path, expected, self.shown(node), None);
        };
        let resolved = self.tree.get(ty);
        if !is_allowed_value(self.arena, node, resolved) {
            return self.wrong_choice(node, resolved, path);
        }
        self.limits(node, &resolved.limits, path);
        match kind {
            Kind::Object => self.object(node, resolved, path),
            Kind::Array => self.array(node, resolved, path),
            _ => {}
        }
    }

    /// The plain type that a value seems to be meant for: the first that allows its kind, or the
    /// one that its discriminator names.
    fn meant(&self, node: NodeId, ty: TypeId) -> Option<TypeId> {
        let kind = self.arena.node(node).kind;
        let integral = || number::is_integral(self.arena.token(node));
        let fitting: Vec<TypeId> = self
            .tree
            .plain_types(ty)
            .into_iter()
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
        for (name, expected) in declared.chain(undeclared).collect::<Vec<_>>() {
            if self.arena.member(node, name).is_none() {
                within(path, name, |path| {
                    self.error(
                        path,
                        format!("{expected} (required)"),
                        "nothing".to_owned(),
                        None,
                    );
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

    fn wrong_choice(&mut self, node: NodeId, ty: &Type, path: &str) {
        let values = ty.values.as_deref().unwrap_or_default();
        let shown: Vec<String> = values.iter().take(30).map(Value::to_string).collect();
        let more = values.len().saturating_sub(shown.len());
        let more = if more > 0 {
            format!(", … ({more} more)")
        } else {
            String::new()
        };
        let expected = format!("one of {}{more}", shown.join(", "));
        let closest = (self.arena.node(node).kind == Kind::String)
            .then(|| {
                let text = self.arena.string(node);
                folded_choice(ty, &text)
                    .or_else(|| near_choice(ty, &text))
                    .map(|value| Value::from(value).to_string())
            })
            .flatten();
        self.error(path, expected, self.shown(node), closest);
    }

    /// Checks the keywords that only the judge decides, one by one. Rejected calls are rare enough
    /// to compile them here.
    fn limits(&mut self, node: NodeId, limits: &Map<String, Value>, path: &str) {
        for (keyword, value) in limits.iter().filter(|(keyword, _)| *keyword != "format") {
            let alone = Value::Object(Map::from_iter([(keyword.clone(), value.clone())]));
            let holds =
                Judge::compile(&alone, false).is_ok_and(|judge| judge.accepts(self.arena, node));
            if !holds {
                self.error(path, format!("{keyword} {value}"), self.shown(node), None);
            }
        }
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
