//! Edits, and plans that share their parts.

use crate::json::arena::SYNTHETIC;
use crate::json::{Arena, Kind, NodeId};
use crate::rule::{Risk, Rule};

/// A change of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// The node gets the content of another one.
    Content { node: NodeId, with: NodeId },
    /// Strings without escapes, one after another from `first` on, are the scalars of this kind that
    /// stand between their quotes.
    Unquote {
        first: NodeId,
        count: u32,
        kind: Kind,
    },
    /// The member is left out.
    Drop { object: NodeId, member: NodeId },
    /// The member gets the key that the string node `key` holds.
    Rename { member: NodeId, key: NodeId },
    /// The value is added under the key that the string node `key` holds.
    Insert {
        object: NodeId,
        key: NodeId,
        value: NodeId,
    },
}

impl Edit {
    /// Makes the change.
    pub(crate) fn apply(self, arena: &mut Arena<'_>) {
        match self {
            Self::Content { node, with } => arena.set_content(node, with),
            Self::Unquote { first, count, kind } => arena.unquote(first, count, kind),
            Self::Drop { object, member } => arena.drop_member(object, member),
            Self::Rename { member, key } => {
                let key = arena.string(key).into_owned();
                arena.rename(member, &key);
            }
            Self::Insert { object, key, value } => {
                let key = arena.string(key).into_owned();
                arena.insert(object, &key, value);
            }
        }
    }
}

impl Edit {
    fn is_the_same(self, other: Self, arena: &Arena<'_>) -> bool {
        let alike = |a: NodeId, b: NodeId| is_alike(arena, a, b);
        match (self, other) {
            (Self::Content { node, with }, Self::Content { node: at, with: by }) => {
                node == at && alike(with, by)
            }
            (
                Self::Rename { member, key },
                Self::Rename {
                    member: at,
                    key: to,
                },
            ) => member == at && alike(key, to),
            (
                Self::Insert { object, key, value },
                Self::Insert {
                    object: at,
                    key: under,
                    value: new,
                },
            ) => object == at && alike(key, under) && alike(value, new),
            _ => self == other,
        }
    }
}

/// Whether two nodes are one, scalars of the same text, or new containers around the same value.
fn is_alike(arena: &Arena<'_>, a: NodeId, b: NodeId) -> bool {
    let (left, right) = (arena.node(a), arena.node(b));
    if a == b || left.kind != right.kind {
        return a == b;
    }
    if !left.kind.is_container() {
        return arena.token(a) == arena.token(b);
    }
    let content = |id| {
        let node = arena.node(id);
        (
            arena.key_token(id),
            node.start,
            node.end,
            node.first,
            node.kind,
        )
    };
    left.has(SYNTHETIC)
        && right.has(SYNTHETIC)
        && arena
            .children(a)
            .map(content)
            .eq(arena.children(b).map(content))
}

/// What is known about the need of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// What stood there is refused, whatever else the document holds: no union leads there, and
    /// its kind, its absence, its key or its word is not allowed.
    Certain,
    /// Only the judge can tell.
    Unknown,
    /// The same, and the tree does not even say that something is wrong.
    Untold,
    /// Strictness or the host asks for it, not the schema.
    NotForTheSchema,
}

/// An edit and the rule that proposes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) rule: &'static Rule,
    /// The risk under the policy: the rule's, or a higher one, or what the host says.
    pub(crate) risk: Risk,
    pub(crate) need: Need,
    pub(crate) edit: Edit,
}

impl Step {
    /// What it costs: its rule's price, raised into the band of its risk, for each value.
    pub(crate) fn cost(&self) -> u32 {
        let band = match self.risk {
            Risk::Lossless => 0,
            Risk::Inferred => 10,
            Risk::Guess => 100,
        };
        let count = match self.edit {
            Edit::Unquote { count, .. } => count,
            _ => 1,
        };
        self.rule.cost.max(band).saturating_mul(count)
    }

    /// Makes one step of this and the next one, if both take quotes off, one behind the other, and
    /// neither can turn out not to be needed.
    pub(crate) fn extend(&mut self, next: &Self) -> bool {
        let is_alike = std::ptr::eq(self.rule, next.rule)
            && (self.risk, self.need) == (next.risk, next.need)
            && self.need == Need::Certain;
        match (&mut self.edit, next.edit) {
            (
                Edit::Unquote { first, count, kind },
                Edit::Unquote {
                    first: behind,
                    count: more,
                    kind: same,
                },
            ) if is_alike && *kind == same && *first + *count == behind => {
                *count += more;
                true
            }
            _ => false,
        }
    }

    /// The step as one for each value that it is about.
    pub(crate) fn singly(self) -> impl Iterator<Item = Self> {
        let count = match self.edit {
            Edit::Unquote { count, .. } => count,
            _ => 1,
        };
        (0..count).map(move |at| match self.edit {
            Edit::Unquote { first, kind, .. } => Self {
                edit: Edit::Unquote {
                    first: first + at,
                    count: 1,
                    kind,
                },
                ..self
            },
            _ => self,
        })
    }
}

/// A sequence of steps in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Those that stand there one after another.
    Steps { from: u32, to: u32 },
    /// One of the store's pairs of plans.
    Pair(u32),
}

impl Plan {
    /// The plan without steps.
    pub(crate) const NOTHING: Self = Self::Steps { from: 0, to: 0 };
}

/// The steps of one search. Plans share them; that one plan follows another is written down only
/// where their steps do not stand one after another anyway.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    steps: Vec<Step>,
    pairs: Vec<(Plan, Plan)>,
}

impl Plans {
    #[inline]
    pub(crate) fn step(&mut self, step: Step) -> Plan {
        let from = index(self.steps.len());
        self.steps.push(step);
        Plan::Steps { from, to: from + 1 }
    }

    /// `first`, then `second`.
    #[inline]
    pub(crate) fn join(&mut self, first: Plan, second: Plan) -> Plan {
        match (first, second) {
            (Plan::NOTHING, plan) | (plan, Plan::NOTHING) => plan,
            (
                Plan::Steps { from, to },
                Plan::Steps {
                    from: next,
                    to: end,
                },
            ) if to == next => Plan::Steps { from, to: end },
            (first, second) => {
                self.pairs.push((first, second));
                Plan::Pair(index(self.pairs.len() - 1))
            }
        }
    }

    /// Whether two plans make the same changes, though each with nodes of its own.
    pub(crate) fn make_the_same(&self, a: Plan, b: Plan, arena: &Arena<'_>) -> bool {
        let (a, b) = (self.steps(a, &[]), self.steps(b, &[]));
        a.len() == b.len()
            && a.iter()
                .zip(&b)
                .all(|(a, b)| a.edit.is_the_same(b.edit, arena))
    }

    /// Some steps and those of a plan, in order.
    pub(crate) fn steps(&self, plan: Plan, before: &[Step]) -> Vec<Step> {
        let mut steps = before.to_vec();
        let (mut next, mut pending) = (plan, Vec::new());
        loop {
            match next {
                Plan::Steps { from, to } => {
                    let run = self.steps.get(from as usize..to as usize);
                    steps.extend_from_slice(run.unwrap_or_default());
                }
                Plan::Pair(at) => {
                    if let Some((first, second)) = self.pairs.get(at as usize) {
                        pending.push(*second);
                        next = *first;
                        continue;
                    }
                }
            }
            match pending.pop() {
                Some(plan) => next = plan,
                None => return steps,
            }
        }
    }

    /// The same for the only plan that is wanted, without a copy where the store holds nothing
    /// else.
    pub(crate) fn into_steps(self, plan: Plan, before: &[Step]) -> Vec<Step> {
        match plan {
            Plan::Steps { from: 0, to } if to as usize == self.steps.len() && before.is_empty() => {
                self.steps
            }
            _ => self.steps(plan, before),
        }
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A way to make a value fit a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Solution {
    pub(crate) cost: u32,
    pub(crate) plan: Plan,
    /// No step of it can turn out not to be needed.
    pub(crate) is_certain: bool,
}

impl Solution {
    /// The value fits as it is.
    pub(crate) const FITS: Self = Self {
        cost: 0,
        plan: Plan::NOTHING,
        is_certain: true,
    };

    /// The value fits after this step.
    #[inline]
    fn of(step: Step, plans: &mut Plans) -> Self {
        Self {
            cost: step.cost(),
            plan: plans.step(step),
            is_certain: !matches!(step.need, Need::Unknown | Need::Untold),
        }
    }

    /// This one, then the other.
    #[inline]
    fn and(self, next: Self, plans: &mut Plans) -> Self {
        Self {
            cost: self.cost.saturating_add(next.cost),
            plan: plans.join(self.plan, next.plan),
            is_certain: self.is_certain && next.is_certain,
        }
    }
}

/// How many solutions of one value are kept.
const KEPT: usize = 8;

/// Solutions of one value, cheapest first. None where no rule helps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solutions {
    best: Option<Solution>,
    others: Vec<Solution>,
}

impl Solutions {
    pub(crate) fn fits() -> Self {
        Self {
            best: Some(Solution::FITS),
            others: Vec::new(),
        }
    }

    pub(crate) fn none() -> Self {
        Self::default()
    }

    #[inline]
    pub(crate) fn best(&self) -> Option<Solution> {
        self.best
    }

    #[inline]
    pub(crate) fn is_fit(&self) -> bool {
        self.best.is_some_and(|best| best.cost == 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Solution> + '_ {
        self.best.into_iter().chain(self.others.iter().copied())
    }

    /// Adds a solution in its place; of equal ones the earlier stays first.
    #[inline]
    pub(crate) fn add(&mut self, solution: Solution) {
        let Some(best) = self.best else {
            self.best = Some(solution);
            return;
        };
        if solution.cost < best.cost {
            self.others.insert(0, best);
            self.best = Some(solution);
        } else {
            let at = self
                .others
                .partition_point(|other| other.cost <= solution.cost);
            self.others.insert(at, solution);
        }
        self.others.truncate(KEPT - 1);
    }

    /// Whether a solution at this cost, the last of its price, would not be kept.
    fn is_full_of_cheaper(&self, cost: u32) -> bool {
        self.others
            .get(KEPT - 2)
            .is_some_and(|last| last.cost <= cost)
    }

    pub(crate) fn add_all(&mut self, solutions: Self) {
        if self.best.is_none() {
            *self = solutions;
            return;
        }
        for solution in solutions.iter() {
            self.add(solution);
        }
    }

    /// The only solution, if there is one only.
    #[inline]
    pub(crate) fn only(&self) -> Option<Solution> {
        self.best.filter(|_| self.others.is_empty())
    }

    /// Every combination of a solution of `self` with one of `next`, the cheapest ones.
    #[inline]
    pub(crate) fn and(self, next: &Self, plans: &mut Plans) -> Self {
        match (self.only(), next.only()) {
            (Some(first), Some(second)) => Self {
                best: Some(first.and(second, plans)),
                ..self
            },
            _ => self.combined(next, plans),
        }
    }

    fn combined(&self, next: &Self, plans: &mut Plans) -> Self {
        let mut both = Self::none();
        for first in self.iter() {
            for second in next.iter() {
                let cost = first.cost.saturating_add(second.cost);
                // All that follow cost as much or more.
                if both.is_full_of_cheaper(cost) {
                    break;
                }
                both.add(first.and(second, plans));
            }
        }
        both
    }

    /// The same solutions with one more step at their end.
    #[inline]
    pub(crate) fn then(mut self, step: Step, plans: &mut Plans) -> Self {
        self.add_step(step, plans);
        self
    }

    /// Adds a step at the end of each solution.
    #[inline]
    pub(crate) fn add_step(&mut self, step: Step, plans: &mut Plans) {
        let Some(best) = &mut self.best else {
            return;
        };
        let last = Solution::of(step, plans);
        *best = best.and(last, plans);
        for solution in &mut self.others {
            *solution = solution.and(last, plans);
        }
    }
}
