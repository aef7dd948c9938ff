//! From solutions to a verdict on the arguments: apply, let the judge decide, take back.

use super::plan::{Edit, Step};
use super::rules;
use super::solver::{Slot, Solver};
use crate::json::{Arena, Kind, NodeId, equal};
use crate::policy::Policy;
use crate::schema::{Judge, Tree};

/// What a document must satisfy.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) judge: Option<&'t Judge>,
    /// The document is the arguments of a call, so it must be an object.
    pub(crate) is_arguments: bool,
}

impl Target<'_> {
    /// Whether the document under `root` is right.
    pub(crate) fn accepts(&self, arena: &Arena<'_>, root: NodeId) -> bool {
        (!self.is_arguments || arena.node(root).kind == Kind::Object)
            && self.judge.is_none_or(|judge| judge.accepts(arena, root))
    }
}

/// A repair that the judge accepts.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub(crate) cost: u32,
    pub(crate) steps: Vec<Step>,
}

/// What the search found.
#[derive(Debug)]
pub(crate) enum Found {
    /// The cheapest repair, alone at its price, and dearer ones.
    One(Proposal, Vec<Proposal>),
    /// Several repairs that give different calls at the lowest price.
    Tie(Vec<Proposal>),
    /// No rule helps.
    Nothing,
    /// The step limit was reached.
    Exhausted,
}

/// Fixes whose need is checked one by one; of more, the tree is trusted.
const MAX_CHECKED: usize = 16;

/// Looks for the cheapest repair of the document under `root`. Leaves the arena as it was.
pub(crate) fn search(
    arena: &mut Arena<'_>,
    root: NodeId,
    target: Target<'_>,
    policy: &Policy,
) -> Found {
    let always = duplicate_drops(arena);
    let mut solver = Solver::new(arena, target.tree, policy);
    let solutions = solver.solve(root, target.tree.root(), Slot::Root);
    let exhausted = solver.is_exhausted();
    let proposals: Vec<Proposal> = solutions
        .iter()
        .map(|solution| {
            let steps = always
                .iter()
                .copied()
                .chain(solver.plans.steps(solution.plan))
                .collect();
            Proposal {
                cost: solution.cost,
                steps,
            }
        })
        .collect();
    let mut accepted = Vec::new();
    for proposal in proposals {
        if !proposal.steps.is_empty() && is_accepted(arena, root, target, &proposal.steps) {
            accepted.push(without_needless_steps(arena, root, target, proposal));
        }
    }
    if accepted.is_empty() && exhausted {
        Found::Exhausted
    } else {
        rank(arena, root, accepted)
    }
}

/// Whether a key stands several times in one object, with different values.
pub(crate) fn has_conflicting_keys(arena: &Arena<'_>) -> bool {
    !duplicate_drops(arena).is_empty()
}

/// The last of several members with one key counts; equal ones are left alone.
fn duplicate_drops(arena: &Arena<'_>) -> Vec<Step> {
    arena
        .duplicates()
        .iter()
        .filter(|pair| !equal::nodes_equal(arena, pair.earlier, pair.later))
        .map(|pair| {
            Step::new(
                &rules::DUPLICATE_KEY,
                Edit::Drop {
                    object: pair.object,
                    member: pair.earlier,
                },
            )
        })
        .collect()
}

fn apply(arena: &mut Arena<'_>, steps: impl IntoIterator<Item = Step>) {
    for step in steps {
        step.edit.apply(arena);
    }
}

fn is_accepted(arena: &mut Arena<'_>, root: NodeId, target: Target<'_>, steps: &[Step]) -> bool {
    apply(arena, steps.iter().copied());
    let accepted = target.accepts(arena, root);
    arena.undo_all();
    accepted
}

/// Rules that do not act on behalf of the schema.
const NOT_FOR_THE_SCHEMA: [&str; 2] = [rules::DUPLICATE_KEY.id, rules::INTEGRAL_FLOAT.id];

/// Takes out every step without which the judge accepts as well: the tree was wrong about it.
/// Steps that strictness or the host asks for, not the schema, stay.
fn without_needless_steps(
    arena: &mut Arena<'_>,
    root: NodeId,
    target: Target<'_>,
    mut proposal: Proposal,
) -> Proposal {
    if proposal.steps.len() > MAX_CHECKED {
        return proposal;
    }
    let mut at = 0;
    while let Some(step) = proposal.steps.get(at).copied() {
        let rest: Vec<Step> = proposal
            .steps
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, step)| *step)
            .collect();
        let is_needed =
            NOT_FOR_THE_SCHEMA.contains(&step.rule.id) || !is_accepted(arena, root, target, &rest);
        if is_needed {
            at += 1;
        } else {
            proposal.steps = rest;
        }
    }
    proposal
}

/// The cheapest proposal, unless one that gives another call costs the same.
fn rank(arena: &mut Arena<'_>, root: NodeId, proposals: Vec<Proposal>) -> Found {
    let mut rest = proposals.into_iter();
    let Some(best) = rest.next() else {
        return Found::Nothing;
    };
    let (equal_price, dearer): (Vec<_>, Vec<_>) = rest.partition(|other| other.cost == best.cost);
    if equal_price.is_empty() {
        return Found::One(best, dearer);
    }
    let text = outcome(arena, root, &best);
    let rivals: Vec<_> = equal_price
        .into_iter()
        .filter(|other| outcome(arena, root, other) != text)
        .collect();
    if rivals.is_empty() {
        Found::One(best, dearer)
    } else {
        Found::Tie(std::iter::once(best).chain(rivals).collect())
    }
}

/// The canonical text of the document after a proposal.
fn outcome(arena: &mut Arena<'_>, root: NodeId, proposal: &Proposal) -> String {
    apply(arena, proposal.steps.iter().copied());
    let text = equal::canonical(arena, root);
    arena.undo_all();
    text
}
