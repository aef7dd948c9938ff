//! The members of an object: values, keys that are not declared, properties that are missing.

use std::collections::HashSet;

use super::choice::constant;
use super::plan::{Edit, Solutions};
use super::rules;
use super::solver::{Slot, Solver};
use super::value::is_null_word;
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
        let mut all = Solutions::fits();
        let mut undeclared = Vec::new();
        let mut present = Present::default();
        let mut likely = 0;
        let mut next = self.arena.first_child(node);
        while let Some(child) = next {
            next = self.arena.sibling(child);
            if !self.replaced.is_empty() && self.replaced.binary_search(&child).is_ok() {
                continue;
            }
            let key = self.arena.key(child);
            let Some((at, property)) = members.position(&key, likely) else {
                undeclared.push(child);
                continue;
            };
            present.add(at);
            likely = at + 1;
            let ty = self.tree.get(property.ty);
            if self.is_fit_scalar(child, ty) || self.is_fit_list(child, ty) {
                continue;
            }
            // What spells a value says something: the property is not left out.
            if let Some(step) = self.unquoting(child, ty) {
                all.add_step(step, &mut self.plans);
                continue;
            }
            let solutions = self.solve_member(node, child, property);
            if !solutions.is_fit() {
                all = all.and(&solutions, &mut self.plans);
            }
        }
        let absent = members
            .properties
            .iter()
            .enumerate()
            .filter(|(at, _)| !present.has(*at))
            .map(|(_, property)| property);
        if all.best().is_none()
            || (undeclared.is_empty()
                && !absent.clone().any(|property| property.required)
                && members.required_undeclared.is_empty())
        {
            return all;
        }
        let absent: Vec<&'t Property> = absent.collect();
        let rest = self.solve_keys(node, members, &undeclared, &absent);
        all.and(&rest, &mut self.plans)
    }

    /// A declared property: its value repaired, or the property left out.
    fn solve_member(&mut self, object: NodeId, child: NodeId, property: &'t Property) -> Solutions {
        let slot = Slot::of(property);
        let mut solutions = self.solve_named(child, property.ty, slot, Some(&property.name));
        if solutions.is_fit() || property.required {
            return solutions;
        }
        let Some(rule) = self.omission(child, property.ty) else {
            return solutions;
        };
        // Such a value is refused for its kind, or it is a word that only the judge knows about.
        let kind = Kinds::of(self.arena.node(child).kind);
        let is_refused = !self.tree.kinds(property.ty).meets(kind);
        let edit = Edit::Drop {
            object,
            member: child,
        };
        if let Some(step) = self.step(rule, self.certain_if(is_refused), edit) {
            solutions.add_all(Solutions::fits().then(step, &mut self.plans));
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
        undeclared: &[NodeId],
        absent: &[&'t Property],
    ) -> Solutions {
        let has = |name: &str| self.arena.member(object, name).is_some();
        if !members.required_undeclared.iter().all(|name| has(name)) {
            return Solutions::none();
        }
        let targets: Vec<&'t Property> = absent
            .iter()
            .copied()
            .filter(|property| property.required || members.rest == Rest::Closed)
            .collect();
        let pairs = self.renames(undeclared, &targets, members, absent);
        let (certain, rivals): (Vec<&Rename<'_>>, Vec<&Rename<'_>>) = pairs
            .iter()
            .partition(|rename| !pairs.iter().any(|other| rename.is_rival_of(other)));
        let Some(rival) = rivals.first() else {
            return self.solve_rest(object, members, undeclared, absent, &certain);
        };
        // Of several keys for one property, or several properties for one key, one may be meant:
        // candidates, none of which is better than another.
        let mut all = Solutions::none();
        for guess in &rivals {
            let is_one_of_them = std::ptr::eq(*guess, *rival) || guess.is_rival_of(rival);
            if is_one_of_them {
                let mut chosen = certain.clone();
                chosen.push(guess);
                self.alternatives += 1;
                let solutions = self.solve_rest(object, members, undeclared, absent, &chosen);
                self.alternatives -= 1;
                all.add_all(solutions);
            }
        }
        all
    }

    /// The members of an object that are left when these keys are renamed.
    fn solve_rest(
        &mut self,
        object: NodeId,
        members: &Members,
        undeclared: &[NodeId],
        absent: &[&Property],
        renames: &[&Rename<'t>],
    ) -> Solutions {
        let mut all = Solutions::fits();
        for rename in renames {
            let key = self.arena.new_string(&rename.property.name);
            let edit = Edit::Rename {
                member: rename.child,
                key,
            };
            // Under its old key it is unknown, or what is required is missing.
            let is_refused = members.rest == Rest::Closed || rename.property.required;
            let need = self.certain_if(is_refused);
            let Some(step) = self.step_of_risk(rename.rule, rename.risk, need, edit) else {
                return Solutions::none();
            };
            let with_key = rename.value.clone().then(step, &mut self.plans);
            all = all.and(&with_key, &mut self.plans);
        }
        for child in undeclared {
            if renames.iter().any(|rename| rename.child == *child) {
                continue;
            }
            let solutions = match members.rest {
                Rest::Open => continue,
                Rest::Typed(ty) => self.solve_named(*child, ty, Slot::Entry, None),
                Rest::Closed => self.solve_unknown(object, *child),
            };
            if solutions.is_fit() {
                continue;
            }
            all = all.and(&solutions, &mut self.plans);
        }
        for property in absent.iter().filter(|property| property.required) {
            if renames
                .iter()
                .any(|rename| rename.property.name == property.name)
            {
                continue;
            }
            let solutions = self.solve_absent(object, property);
            all = all.and(&solutions, &mut self.plans);
        }
        all
    }

    /// An unknown member of a closed object: left out.
    fn solve_unknown(&mut self, object: NodeId, child: NodeId) -> Solutions {
        let rule = if self.says_nothing(child) {
            &rules::DROP_UNKNOWN_EMPTY
        } else {
            &rules::DROP_UNKNOWN_VALUE
        };
        let edit = Edit::Drop {
            object,
            member: child,
        };
        match self.step(rule, self.certain_if(true), edit) {
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
        let only = ty.choices.as_ref().and_then(|choices| choices.only());
        let (rule, value) = match (only, &ty.default) {
            (Some(only), _) => (&rules::INSERT_CONSTANT, only),
            (_, Some(default)) => (&rules::INSERT_DEFAULT, default),
            _ => return Solutions::none(),
        };
        let key = self.arena.new_string(&property.name);
        let Some(value) = constant(self, value) else {
            return Solutions::none();
        };
        let edit = Edit::Insert { object, key, value };
        match self.step(rule, self.certain_if(true), edit) {
            Some(step) => Solutions::fits().then(step, &mut self.plans),
            None => Solutions::none(),
        }
    }

    /// The renames that there is evidence for: a key and an absent property of like spelling
    /// whose type the value fits. Those that are not alone are guesses, however good the evidence.
    fn renames(
        &mut self,
        undeclared: &[NodeId],
        targets: &[&'t Property],
        members: &'t Members,
        absent: &[&'t Property],
    ) -> Vec<Rename<'t>> {
        if undeclared.is_empty()
            || targets.is_empty()
            || undeclared.len().max(targets.len()) > MAX_RENAMES
        {
            return Vec::new();
        }
        let mut pairs = Vec::new();
        for child in undeclared {
            let key = self.arena.key(*child).into_owned();
            let fold = names::fold::key(&key);
            for property in targets {
                let rule = evidence(&key, &fold, property, members, absent);
                let Some(rule) = rule.filter(|rule| self.uses(rule)) else {
                    continue;
                };
                let slot = Slot::of(property);
                self.alternatives += 1;
                let value = self.solve_named(*child, property.ty, slot, Some(&property.name));
                self.alternatives -= 1;
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
                        risk: rule.risk,
                        value,
                    });
                }
            }
        }
        let is_alone: Vec<bool> = pairs
            .iter()
            .map(|rename| !pairs.iter().any(|other| rename.is_rival_of(other)))
            .collect();
        for (rename, is_alone) in pairs.iter_mut().zip(is_alone) {
            if !is_alone {
                rename.risk = Risk::Guess;
            }
        }
        pairs
    }
}

/// A member that may be meant for a property.
struct Rename<'t> {
    child: NodeId,
    property: &'t Property,
    rule: &'static Rule,
    risk: Risk,
    /// How its value fits.
    value: Solutions,
}

impl Rename<'_> {
    /// Whether both are about one member or one property.
    fn is_rival_of(&self, other: &Self) -> bool {
        (self.child == other.child) != (self.property.name == other.property.name)
    }
}

/// Which properties of a type are there, by position.
#[derive(Default)]
struct Present {
    first: u64,
    /// Those beyond the first 64.
    others: HashSet<usize>,
}

impl Present {
    fn add(&mut self, at: usize) {
        if at < 64 {
            self.first |= 1 << at;
        } else {
            self.others.insert(at);
        }
    }

    fn has(&self, at: usize) -> bool {
        if at < 64 {
            self.first & (1 << at) != 0
        } else {
            self.others.contains(&at)
        }
    }
}

/// Why `key` may mean `property`, one of the absent ones, if anything says so. `fold` is that of
/// the key.
fn evidence(
    key: &str,
    fold: &str,
    property: &Property,
    members: &Members,
    absent: &[&Property],
) -> Option<&'static Rule> {
    let rule = if *property.fold == *fold {
        let alike = members
            .properties
            .iter()
            .filter(|other| *other.fold == *fold);
        (alike.count() == 1).then_some(&rules::KEY_FOLD)
    } else if words::are_aliases(fold, &property.fold) {
        Some(&rules::KEY_ALIAS)
    } else {
        let is_near = |other: &Property| names::near::is_slip_of_fold(fold, &other.fold);
        // A property that is there has its own key, so a required one has no rival in it.
        let is_rival = |other: &&Property| {
            other.name != property.name
                && is_near(other)
                && (!property.required || absent.iter().any(|known| known.name == other.name))
        };
        (is_near(property) && !members.properties.iter().any(|other| is_rival(&other)))
            .then_some(&rules::KEY_SLIP)
    };
    // The list of aliases holds no opposites.
    let is_listed = rule.is_some_and(|rule| rule.id == rules::KEY_ALIAS.id);
    rule.filter(|_| is_listed || words::may_be_a_slip(key, &property.name))
}
