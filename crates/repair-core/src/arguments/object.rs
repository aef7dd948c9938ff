//! The members of an object: values, keys that are not declared, properties that are missing.

use super::plan::{Edit, Solutions};
use super::rules;
use super::solver::{Slot, Solver};
use super::value::{constant, is_null_word};
use crate::json::{Kind, NodeId};
use crate::names;
use crate::rule::{Risk, Rule};
use crate::schema::tree::{Kinds, Members, Property, Rest, Type, TypeId};
use crate::words;

/// Pairs of undeclared keys and absent properties are looked for only up to this many of both.
const MAX_RENAMES: usize = 64;

impl<'t> Solver<'_, 't, '_> {
    pub(super) fn solve_object(&mut self, node: NodeId, ty: &'t Type) -> Solutions {
        let Some(members) = &ty.members else {
            return Solutions::fits();
        };
        let children: Vec<NodeId> = self.arena.children(node).collect();
        let mut all = Solutions::fits();
        let mut undeclared = Vec::new();
        let mut present = vec![false; members.properties.len()];
        for child in children {
            let key = self.arena.key(child);
            let Some((at, property)) = members.position(&key) else {
                undeclared.push(child);
                continue;
            };
            if let Some(present) = present.get_mut(at) {
                *present = true;
            }
            let solutions = self.solve_member(node, child, property);
            if !solutions.is_fit() {
                all = all.and(&solutions, &mut self.plans);
            }
        }
        let absent: Vec<&'t Property> = members
            .properties
            .iter()
            .zip(present)
            .filter(|(_, present)| !present)
            .map(|(property, _)| property)
            .collect();
        if all.best().is_none()
            || (undeclared.is_empty()
                && !absent.iter().any(|property| property.required)
                && members.required_undeclared.is_empty())
        {
            return all;
        }
        let rest = self.solve_keys(node, members, undeclared, absent);
        all.and(&rest, &mut self.plans)
    }

    /// A declared property: its value repaired, or the property left out.
    fn solve_member(&mut self, object: NodeId, child: NodeId, property: &Property) -> Solutions {
        let slot = if property.required {
            Slot::Required
        } else {
            Slot::Optional
        };
        let mut solutions = self.solve(child, property.ty, slot);
        if solutions.is_fit() || property.required {
            return solutions;
        }
        if let Some(rule) = self.omission(child, property.ty)
            && let Some(step) = self.step(
                rule,
                Edit::Drop {
                    object,
                    member: child,
                },
            )
        {
            let omitted = Solutions::fits().then(step, &mut self.plans);
            solutions.add_all(&omitted);
        }
        solutions
    }

    /// The rule by which a value that says nothing may be left out, where the type refuses it.
    fn omission(&self, child: NodeId, ty: TypeId) -> Option<&'static Rule> {
        let node = self.arena.node(child);
        let kinds = self.tree.kinds(ty);
        match node.kind {
            Kind::Null => Some(&rules::OMIT_NULL),
            Kind::String => {
                let text = self.arena.string(child);
                let is_word = is_null_word(&text) && !kinds.meets(Kinds::STRING | Kinds::NULL);
                if is_word {
                    Some(&rules::OMIT_NULL_WORD)
                } else {
                    text.is_empty().then_some(&rules::OMIT_EMPTY)
                }
            }
            Kind::Array | Kind::Object => (node.len == 0).then_some(&rules::OMIT_EMPTY),
            _ => None,
        }
    }

    /// Keys that are not declared, and properties that are absent: renames first.
    fn solve_keys(
        &mut self,
        object: NodeId,
        members: &'t Members,
        mut undeclared: Vec<NodeId>,
        mut absent: Vec<&'t Property>,
    ) -> Solutions {
        let mut all = Solutions::fits();
        let targets: Vec<&'t Property> = absent
            .iter()
            .copied()
            .filter(|property| property.required || members.rest == Rest::Closed)
            .collect();
        for rename in self.renames(&undeclared, &targets, members) {
            undeclared.retain(|child| *child != rename.child);
            absent.retain(|property| property.name != rename.property.name);
            let key = self.arena.new_string(&rename.property.name);
            let Some(step) = self.step(
                rename.rule,
                Edit::Rename {
                    member: rename.child,
                    key,
                },
            ) else {
                continue;
            };
            let renamed = rename.value.then(step, &mut self.plans);
            all = all.and(&renamed, &mut self.plans);
        }
        for child in undeclared {
            let solutions = match members.rest {
                Rest::Open => continue,
                Rest::Typed(ty) => self.solve(child, ty, Slot::Entry),
                Rest::Closed => self.solve_unknown(object, child),
            };
            all = all.and(&solutions, &mut self.plans);
        }
        for property in absent.into_iter().filter(|property| property.required) {
            let solutions = self.solve_absent(object, property);
            all = all.and(&solutions, &mut self.plans);
        }
        let has = |name: &str| self.arena.member(object, name).is_some();
        if members.required_undeclared.iter().all(|name| has(name)) {
            all
        } else {
            Solutions::none()
        }
    }

    /// An unknown member of a closed object: left out.
    fn solve_unknown(&mut self, object: NodeId, child: NodeId) -> Solutions {
        let rule = if self.says_nothing(child) {
            &rules::DROP_UNKNOWN_EMPTY
        } else {
            &rules::DROP_UNKNOWN_VALUE
        };
        match self.step(
            rule,
            Edit::Drop {
                object,
                member: child,
            },
        ) {
            Some(step) => Solutions::fits().then(step, &mut self.plans),
            None => Solutions::none(),
        }
    }

    fn says_nothing(&self, child: NodeId) -> bool {
        let node = self.arena.node(child);
        match node.kind {
            Kind::Null => true,
            Kind::String => self.arena.string(child).is_empty(),
            Kind::Array | Kind::Object => node.len == 0,
            _ => false,
        }
    }

    /// A required property that is absent: its only value, or as a guess its default.
    fn solve_absent(&mut self, object: NodeId, property: &Property) -> Solutions {
        let ty = self.tree.get(property.ty);
        let (rule, value) = match (ty.values.as_deref(), &ty.default) {
            (Some([only]), _) => (&rules::INSERT_CONSTANT, only),
            (_, Some(default)) => (&rules::INSERT_DEFAULT, default),
            _ => return Solutions::none(),
        };
        let key = self.arena.new_string(&property.name);
        let Some(value) = constant(self, value) else {
            return Solutions::none();
        };
        match self.step(rule, Edit::Insert { object, key, value }) {
            Some(step) => Solutions::fits().then(step, &mut self.plans),
            None => Solutions::none(),
        }
    }

    /// The renames that the evidence allows: a key and an absent property of like spelling whose
    /// type the value fits, where neither has a second partner.
    fn renames(
        &mut self,
        undeclared: &[NodeId],
        absent: &[&'t Property],
        members: &'t Members,
    ) -> Vec<Rename<'t>> {
        if undeclared.is_empty()
            || absent.is_empty()
            || undeclared.len().max(absent.len()) > MAX_RENAMES
        {
            return Vec::new();
        }
        let mut pairs = Vec::new();
        for child in undeclared {
            let key = self.arena.key(*child).into_owned();
            for property in absent {
                let Some(rule) = evidence(&key, property, members).filter(|rule| self.uses(rule))
                else {
                    continue;
                };
                let slot = if property.required {
                    Slot::Required
                } else {
                    Slot::Optional
                };
                let value = self.solve(*child, property.ty, slot);
                let limit = if rule.risk == Risk::Lossless {
                    Risk::Inferred
                } else {
                    Risk::Lossless
                };
                if Self::is_cheap(&value, limit) {
                    pairs.push(Rename {
                        child: *child,
                        property,
                        rule,
                        value,
                    });
                }
            }
        }
        // Exactly one pair: the stronger evidence does not outweigh a rival.
        let alone = |rename: &Rename<'_>| {
            let rivals = pairs.iter().filter(|other| {
                other.child == rename.child || other.property.name == rename.property.name
            });
            rivals.count() == 1
        };
        let keep: Vec<bool> = pairs.iter().map(alone).collect();
        pairs
            .into_iter()
            .zip(keep)
            .filter_map(|(rename, keep)| keep.then_some(rename))
            .collect()
    }
}

/// A member that is meant for a property.
struct Rename<'t> {
    child: NodeId,
    property: &'t Property,
    rule: &'static Rule,
    /// How its value fits.
    value: Solutions,
}

/// Why `key` may mean `property`, if anything says so.
fn evidence(key: &str, property: &Property, members: &Members) -> Option<&'static Rule> {
    if words::are_opposites(key, &property.name) {
        return None;
    }
    let fold = names::fold::key(key);
    let folds_alike = |other: &&Property| *other.fold == *fold;
    if folds_alike(&property) {
        return (members.properties.iter().filter(folds_alike).count() == 1)
            .then_some(&rules::KEY_FOLD);
    }
    if words::are_aliases(key, &property.name) {
        return Some(&rules::KEY_ALIAS);
    }
    let is_near = |other: &&Property| names::is_slip(key, &other.name);
    (is_near(&property) && members.properties.iter().filter(is_near).count() == 1)
        .then_some(&rules::KEY_SLIP)
}
