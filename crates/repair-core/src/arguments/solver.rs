//! The walk: for each value and type, the cheapest ways to make the one fit the other.
//!
//! Bottom-up and memoised, so that nested unions cost no more than their size. A value that fits
//! is never looked at by a rule.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::choice::is_allowed_value;
use super::moment;
use super::plan::{Edit, Need, Plans, Solutions, Step};
use super::rules;
use super::value::{Fault, Whole, spelled};
use crate::json::arena::{ESCAPED, SYNTHETIC};
use crate::json::{Arena, Kind, NodeId, number};
use crate::policy::Policy;
use crate::rule::{Risk, Rule};
use crate::schema::tree::{Kinds, Property, Rest, Tree, Type, TypeId};
use crate::units::Unit;

/// Where a value stands, which decides what an empty one means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// The arguments themselves.
    Root,
    /// A required property.
    Required,
    /// An optional property.
    Optional,
    /// An item of this array.
    Item(NodeId),
    /// A member of a typed dictionary.
    Entry,
}

impl Slot {
    /// That of a declared property.
    pub(super) fn of(property: &Property) -> Self {
        if property.required {
            Self::Required
        } else {
            Self::Optional
        }
    }
}

/// What is known of the property that a value belongs to, whatever shape it has there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place<'t> {
    pub(super) name: Option<&'t str>,
    /// The unit that the description of the property, or of an array around the value, names.
    pub(super) unit: Option<&'static Unit>,
}

/// How many changes of shape may be stacked on one value.
const MAX_PROPOSALS: u32 = 4;

/// The state of one search.
pub(crate) struct Solver<'s, 't, 'a> {
    pub(crate) arena: &'s mut Arena<'a>,
    pub(crate) tree: &'t Tree,
    pub(super) plans: Plans,
    policy: &'t Policy,
    /// What was found where several ways may lead to one value.
    memo: HashMap<Asked<'t>, Solutions, BuildHasherDefault<IdHasher>>,
    /// How many alternatives the walk is in: outside of all, it comes by each value once.
    pub(super) alternatives: u32,
    /// Every type on the way here is the only one that can be meant, and exactly what the schema
    /// says.
    is_plain: bool,
    /// Members that another one of the same key replaces.
    pub(super) replaced: &'t [NodeId],
    /// The property that the walk is in.
    pub(super) place: Place<'t>,
    /// Whether a string under a pattern is taken for one that does not match, if it is a date or a
    /// time in another form.
    restates: bool,
    proposals: u32,
    steps_left: usize,
    /// How many bytes of strings may still be read as JSON.
    reading_left: usize,
}

/// What a solution was found for. How many changes of shape stood around the value then is part of
/// it, the more, the fewer are left to try; whether its types were certain; and the name of its
/// property, which tells what unit is asked for.
type Asked<'t> = (NodeId, TypeId, Slot, u32, bool, Option<&'t str>);

/// A hasher for ids, which nobody outside chooses.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        let mixed = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_isize(&mut self, discriminant: isize) {
        self.write_u32(u32::try_from(discriminant).unwrap_or(u32::MAX));
    }
}

/// Bytes of strings that may be read as JSON whatever the size of the document.
const READING: usize = 1 << 16;

impl<'s, 't, 'a> Solver<'s, 't, 'a> {
    pub(super) fn new(
        arena: &'s mut Arena<'a>,
        tree: &'t Tree,
        policy: &'t Policy,
        replaced: &'t [NodeId],
    ) -> Self {
        let reading_left = arena
            .source()
            .len()
            .saturating_mul(4)
            .saturating_add(READING);
        let steps_left = policy
            .limits()
            .steps
            .saturating_add(arena.len().saturating_mul(4));
        Self {
            arena,
            tree,
            plans: Plans::default(),
            policy,
            memo: HashMap::default(),
            alternatives: 0,
            is_plain: tree.is_exact(),
            replaced,
            place: Place::default(),
            restates: false,
            proposals: 0,
            steps_left,
            reading_left,
        }
    }

    /// The same, for arguments of which the judge refused every repair that the tree knows.
    pub(super) fn restating(self) -> Self {
        Self {
            restates: true,
            ..self
        }
    }

    /// Whether the step limit ended the search early.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// Takes room for reading a string as JSON. Without room the search is over: a union of many
    /// branches could ask for the same long string again and again.
    pub(super) fn may_read(&mut self, bytes: usize) -> bool {
        match self.reading_left.checked_sub(bytes) {
            Some(left) => self.reading_left = left,
            None => self.steps_left = 0,
        }
        self.steps_left > 0
    }

    /// Whether the policy leaves a rule on.
    pub(super) fn uses(&self, rule: &Rule) -> bool {
        self.policy.risk_of(rule, rule.risk).is_some()
    }

    /// The ways to make a node fit a type.
    #[inline]
    pub(super) fn solve(&mut self, node: NodeId, ty: TypeId, slot: Slot) -> Solutions {
        let union = self.tree.get(ty);
        if !union.is_union() {
            let whole = Whole {
                kinds: union.kinds,
                is_union: false,
            };
            return self.solve_plain(node, union, slot, whole);
        }
        let key = self.asked(node, ty, slot);
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        self.alternatives += 1;
        let solutions = self.solve_union(node, union, slot);
        self.alternatives -= 1;
        self.memo.insert(key, solutions.clone());
        solutions
    }

    fn asked(&self, node: NodeId, ty: TypeId, slot: Slot) -> Asked<'t> {
        let name = self.place.name;
        (node, ty, slot, self.proposals, self.is_plain, name)
    }

    /// Whether a scalar fits as it stands, so that nothing needs to be looked for.
    #[inline]
    pub(super) fn is_fit_scalar(&mut self, node: NodeId, ty: &Type) -> bool {
        let kind = self.arena.node(node).kind;
        if ty.is_union() || kind.is_container() || self.steps_left == 0 {
            return false;
        }
        self.steps_left -= 1;
        let integral = || number::is_integral(self.arena.token(node));
        ty.kinds.allows(kind, integral)
            && !(kind == Kind::Number && self.policy.integral_floats())
            && is_allowed_value(self.arena, node, ty)
            && !self.is_restatable(node, ty)
    }

    /// Whether a list of scalars fits as it stands: what a walk over it would find, sooner.
    pub(super) fn is_fit_list(&mut self, node: NodeId, ty: &Type) -> bool {
        let list = self.arena.node(node);
        let is_plain = list.kind == Kind::Array
            && self.alternatives == 0
            && !ty.is_union()
            && ty.kinds.meets(Kinds::ARRAY)
            && ty.choices.is_none();
        let item = ty
            .items
            .as_ref()
            .filter(|items| is_plain && items.prefix.is_empty());
        let Some(Rest::Typed(item)) = item.map(|items| items.rest) else {
            return false;
        };
        let item = self.tree.get(item);
        let before = self.steps_left;
        self.steps_left = before.saturating_sub(1);
        let mut next = self.arena.first_child(node);
        while let Some(child) = next {
            if !self.is_fit_scalar(child, item) {
                self.steps_left = before;
                return false;
            }
            next = self.arena.sibling(child);
        }
        before > 0
    }

    #[inline]
    fn is_restatable(&self, node: NodeId, ty: &Type) -> bool {
        self.restates && self.matches_restated(node, ty)
    }

    #[inline(never)]
    fn matches_restated(&self, node: NodeId, ty: &Type) -> bool {
        ty.has_pattern()
            && self.arena.node(node).kind == Kind::String
            && moment::restated(&self.arena.string(node)).is_some()
    }

    fn solve_union(&mut self, node: NodeId, union: &'t Type, slot: Slot) -> Solutions {
        let tree = self.tree;
        let whole = Whole {
            kinds: tree.kinds(union.id),
            is_union: true,
        };
        let mut all = Solutions::none();
        for branch in self.branches(node, union) {
            let solutions = self.solve_plain(node, tree.get(branch), slot, whole);
            if solutions.is_fit() {
                return solutions;
            }
            for solution in solutions.iter() {
                // Branches that want the same change are not rivals.
                let is_known =
                    all.iter()
                        .filter(|known| known.cost == solution.cost)
                        .any(|known| {
                            self.plans
                                .make_the_same(known.plan, solution.plan, self.arena)
                        });
                if !is_known {
                    all.add(solution);
                }
            }
        }
        all
    }

    /// The branches of a union that a value can mean: the one its discriminator names, or all.
    fn branches(&self, node: NodeId, union: &'t Type) -> Vec<TypeId> {
        let named = union.discriminator.as_deref().and_then(|name| {
            let member = (self.arena.node(node).kind == Kind::Object)
                .then(|| self.arena.member(node, name))??;
            let matches = |ty: &TypeId| {
                let property = self
                    .tree
                    .get(*ty)
                    .members
                    .as_ref()
                    .and_then(|members| members.property(name));
                property.is_some_and(|property| {
                    let constants = self.tree.get(property.ty);
                    is_allowed_value(self.arena, member, constants)
                        || (self.arena.node(member).kind == Kind::String
                            && constants.choices.as_ref().is_some_and(|choices| {
                                choices.folded(&self.arena.string(member)).is_some()
                            }))
                })
            };
            let named: Vec<_> = union.branches.iter().copied().filter(matches).collect();
            (named.len() == 1).then_some(named)
        });
        named.unwrap_or_else(|| union.branches.clone())
    }

    /// The ways to make a node fit a type that is no union; `whole` is the union that it is a
    /// branch of, or itself.
    #[inline]
    pub(super) fn solve_plain(
        &mut self,
        node: NodeId,
        ty: &'t Type,
        slot: Slot,
        whole: Whole,
    ) -> Solutions {
        if self.steps_left == 0 {
            return Solutions::none();
        }
        self.steps_left -= 1;
        // A scalar is soon looked at again, and what a proposal made is looked at once.
        let value = self.arena.node(node);
        if self.alternatives == 0 || !value.kind.is_container() || value.has(SYNTHETIC) {
            return self.solve_value(node, ty, slot, whole);
        }
        let key = self.asked(node, ty.id, slot);
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let solutions = self.solve_value(node, ty, slot, whole);
        self.memo.insert(key, solutions.clone());
        solutions
    }

    fn solve_value(&mut self, node: NodeId, ty: &'t Type, slot: Slot, whole: Whole) -> Solutions {
        let kind = self.arena.node(node).kind;
        let integral = || number::is_integral(self.arena.token(node));
        let may_fit = ty.kinds.allows(kind, integral)
            && is_allowed_value(self.arena, node, ty)
            && !self.is_restatable(node, ty);
        let mut solutions = if may_fit {
            let was_plain = self.is_plain;
            self.is_plain &= !whole.is_union;
            let solutions = match kind {
                Kind::Object => self.solve_object(node, ty),
                Kind::Array => self.solve_array(node, ty),
                Kind::Number => self.solve_number(node, ty),
                _ => Solutions::fits(),
            };
            self.is_plain = was_plain;
            solutions
        } else {
            Solutions::none()
        };
        if solutions
            .best()
            .is_none_or(|best| best.cost > rules::INTEGRAL_FLOAT.cost)
        {
            let fault = Fault {
                node,
                ty,
                slot,
                whole,
            };
            self.propose(fault, &mut solutions);
        }
        solutions
    }

    /// A number that fits; hosts with typed integers want `5.0` as `5`.
    fn solve_number(&mut self, node: NodeId, ty: &Type) -> Solutions {
        let is_whole = self.policy.integral_floats() && !ty.kinds.contains(Kinds::NUMBER);
        if !is_whole {
            return Solutions::fits();
        }
        let token = self.arena.token(node);
        let Some(written) = number::written_out(token).filter(|written| written != token) else {
            return Solutions::fits();
        };
        let with = self.arena.new_scalar(Kind::Number, &written);
        let edit = Edit::Content { node, with };
        match self.step(&rules::INTEGRAL_FLOAT, Need::NotForTheSchema, edit) {
            Some(step) => Solutions::fits().then(step, &mut self.plans),
            None => Solutions::fits(),
        }
    }

    /// Lets every value rule say what the value could mean.
    #[inline(never)]
    fn propose(&mut self, fault: Fault<'t>, solutions: &mut Solutions) {
        if self.proposals >= MAX_PROPOSALS {
            return;
        }
        let from = Kinds::of(self.arena.node(fault.node).kind);
        let need = self.need_of(fault);
        let mut is_read = false;
        for entry in rules::value_rules(from, fault.ty) {
            // A lossless reading is the only one there is.
            let is_settled = is_read && entry.rule.risk > Risk::Lossless;
            if is_settled || !self.uses(entry.rule) {
                continue;
            }
            let Some(proposed) = (entry.propose)(self, fault) else {
                continue;
            };
            let edit = Edit::Content {
                node: fault.node,
                with: proposed.node,
            };
            let Some(step) = self.step_of_risk(entry.rule, proposed.risk, need, edit) else {
                continue;
            };
            let inner = self.solve_proposed(proposed.node, fault);
            is_read |= step.risk == Risk::Lossless && inner.is_fit();
            solutions.add_all(inner.then(step, &mut self.plans));
        }
    }

    /// The ways to make what a rule proposes fit.
    fn solve_proposed(&mut self, proposed: NodeId, fault: Fault<'t>) -> Solutions {
        if self.is_fit_scalar(proposed, fault.ty) {
            return Solutions::fits();
        }
        self.proposals += 1;
        self.alternatives += 1;
        let inner = self.solve_plain(proposed, fault.ty, fault.slot, fault.whole);
        self.alternatives -= 1;
        self.proposals -= 1;
        inner
    }

    /// The step that takes the quotes off a string which is no fit, where nothing else can be
    /// meant: what the rules about such strings propose, found without asking all the others.
    #[inline]
    pub(super) fn unquoting(&self, node: NodeId, ty: &Type) -> Option<Step> {
        (self.arena.node(node).kind == Kind::String).then(|| self.unquoting_string(node, ty))?
    }

    fn unquoting_string(&self, node: NodeId, ty: &Type) -> Option<Step> {
        let may_ask = !self.arena.node(node).has(ESCAPED)
            && !ty.is_union()
            && ty.choices.is_none()
            && self.proposals < MAX_PROPOSALS
            && self.steps_left > 0;
        if !may_ask {
            return None;
        }
        let text = self.arena.string(node);
        let (kind, rule) = spelled(&text)?;
        let is_fit = ty.kinds.allows(kind, || number::is_integral(&text))
            && !(kind == Kind::Number && self.policy.integral_floats());
        if !is_fit {
            return None;
        }
        // Without choices, the type refuses a string for its kind.
        let edit = Edit::Unquote {
            first: node,
            count: 1,
            kind,
        };
        let step = self.step(rule, self.certain_if(true), edit)?;
        // Of a riskier reading there may be others.
        (step.risk == Risk::Lossless).then_some(step)
    }

    /// Whether the schema refuses the value by itself: by its kind, or as a string that is none of
    /// the allowed ones.
    fn need_of(&self, fault: Fault<'_>) -> Need {
        if self.is_restatable(fault.node, fault.ty) {
            return Need::Untold;
        }
        let kind = self.arena.node(fault.node).kind;
        let integral = || number::is_integral(self.arena.token(fault.node));
        let is_wrong_word = kind == Kind::String
            && !fault.whole.is_union
            && !is_allowed_value(self.arena, fault.node, fault.ty);
        self.certain_if(is_wrong_word || !fault.whole.kinds.allows(kind, integral))
    }

    /// The need of a step where the schema refuses what stands there if `is_refused`.
    pub(super) fn certain_if(&self, is_refused: bool) -> Need {
        if self.is_plain && is_refused {
            Need::Certain
        } else {
            Need::Unknown
        }
    }

    /// The ways to make the value of a property fit, under this name.
    #[inline]
    pub(super) fn solve_named(
        &mut self,
        node: NodeId,
        ty: TypeId,
        slot: Slot,
        name: Option<&'t str>,
    ) -> Solutions {
        let unit = self.tree.get(ty).unit;
        let outer = std::mem::replace(&mut self.place, Place { name, unit });
        let solutions = self.solve(node, ty, slot);
        self.place = outer;
        solutions
    }

    fn solve_array(&mut self, node: NodeId, ty: &'t Type) -> Solutions {
        let Some(items) = &ty.items else {
            return Solutions::fits();
        };
        if items.rest == Rest::Closed && self.arena.node(node).len as usize > items.prefix.len() {
            return Solutions::none();
        }
        let mut all = Solutions::fits();
        // Of strings that lose their quotes one behind the other, one step.
        let mut run: Option<Step> = None;
        let mut next = self.arena.first_child(node);
        for index in 0.. {
            let Some(child) = next else {
                break;
            };
            next = self.arena.sibling(child);
            let Some(item) = items.at(index) else {
                continue;
            };
            let ty = self.tree.get(item);
            if self.is_fit_scalar(child, ty) || self.is_fit_list(child, ty) {
                continue;
            }
            if let Some(step) = self.unquoting(child, ty) {
                if !run.as_mut().is_some_and(|run| run.extend(&step))
                    && let Some(run) = run.replace(step)
                {
                    all.add_step(run, &mut self.plans);
                }
                continue;
            }
            let solutions = self.solve(child, item, Slot::Item(node));
            if solutions.is_fit() {
                continue;
            }
            if let Some(run) = run.take() {
                all.add_step(run, &mut self.plans);
            }
            all = all.and(&solutions, &mut self.plans);
            if all.best().is_none() {
                break;
            }
        }
        if let Some(run) = run {
            all.add_step(run, &mut self.plans);
        }
        all
    }

    /// The rule's step, unless the policy switched it off.
    pub(super) fn step(&self, rule: &'static Rule, need: Need, edit: Edit) -> Option<Step> {
        self.step_of_risk(rule, rule.risk, need, edit)
    }

    /// The same for a fix that may be riskier than its rule.
    pub(super) fn step_of_risk(
        &self,
        rule: &'static Rule,
        risk: Risk,
        need: Need,
        edit: Edit,
    ) -> Option<Step> {
        let risk = self.policy.risk_of(rule, rule.risk.max(risk))?;
        Some(Step {
            rule,
            risk,
            need,
            edit,
        })
    }

    /// Whether the cheapest way is at most this risky, by its cost.
    pub(super) fn is_cheap(solutions: &Solutions, risk: Risk) -> bool {
        let limit = match risk {
            Risk::Lossless => 10,
            Risk::Inferred => 100,
            Risk::Guess => u32::MAX,
        };
        solutions.best().is_some_and(|best| best.cost < limit)
    }
}
