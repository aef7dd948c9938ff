//! From solutions to a verdict on the arguments: apply, let the judge decide, take back.

use std::collections::HashSet;

use super::plan::{Edit, Need, Plans, Solution, Step};
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

impl Proposal {
    fn new(steps: Vec<Step>) -> Self {
        let cost = steps.iter().map(Step::cost);
        Self {
            cost: cost.fold(0, u32::saturating_add),
            steps,
        }
    }
}

/// What the search found.
#[derive(Debug)]
pub(crate) enum Found {
    /// The cheapest repair, alone at its price, and dearer ones.
    One(Proposal, Dearer),
    /// Several repairs that give different calls at the lowest price.
    Tie(Vec<Proposal>),
    /// No rule helps.
    Nothing,
    /// The step limit was reached.
    Exhausted,
}

/// Repairs that cost more than the one that was found, cheapest first. Most callers never ask for
/// them, so the judge has not seen them all.
#[derive(Debug, Default)]
pub(crate) struct Dearer {
    judged: Vec<Proposal>,
    unjudged: Vec<Solution>,
    plans: Plans,
    /// The steps that every repair begins with.
    always: Vec<Step>,
}

impl Dearer {
    /// Those that the judge accepts. `arena` is the document without any step.
    pub(crate) fn accepted(
        self,
        arena: &mut Arena<'_>,
        root: NodeId,
        target: Target<'_>,
        policy: &Policy,
    ) -> Vec<Proposal> {
        let mut trial = Trial::new(arena, root, target, policy);
        let mut all = self.judged;
        for solution in self.unjudged {
            let steps = self.plans.steps(solution.plan, &self.always);
            all.extend(trial.judged(steps));
        }
        all.sort_by_key(|proposal| proposal.cost);
        all
    }
}

/// How many nodes the judge may look at to tell which fixes are needed, beyond those of which it
/// is certain; then the tree is trusted. So many suffice for 16 fixes of any document, and for
/// hundreds of a small one.
const MAX_CHECKED: usize = 1 << 14;
const ALWAYS_CHECKED: usize = 16;

/// Looks for the cheapest repair of the document under `root`. Leaves the arena as it was.
pub(crate) fn search(
    arena: &mut Arena<'_>,
    root: NodeId,
    target: Target<'_>,
    policy: &Policy,
) -> Found {
    match walk(arena, root, target, policy, Strings::Fit) {
        // Only where nothing else helps: the tree cannot tell which string the judge refused.
        Found::Nothing if target.tree.has_patterns() => {
            walk(arena, root, target, policy, Strings::MayBeRestated)
        }
        found => found,
    }
}

/// What a walk takes a string under a pattern for.
#[derive(Clone, Copy)]
enum Strings {
    Fit,
    MayBeRestated,
}

fn walk(
    arena: &mut Arena<'_>,
    root: NodeId,
    target: Target<'_>,
    policy: &Policy,
    strings: Strings,
) -> Found {
    let always = duplicate_drops(arena);
    let mut replaced: Vec<NodeId> = arena.duplicates().iter().map(|pair| pair.earlier).collect();
    replaced.sort_unstable();
    let solver = Solver::new(arena, target.tree, policy, &replaced);
    let mut solver = match strings {
        Strings::Fit => solver,
        Strings::MayBeRestated => solver.restating(),
    };
    let solutions = solver.solve(root, target.tree.root(), Slot::Root);
    let exhausted = solver.is_exhausted();
    let plans = solver.plans;
    let mut trial = Trial::new(arena, root, target, policy);
    if let Some(only) = solutions.only() {
        return match trial.judged(plans.into_steps(only.plan, &always)) {
            Some(proposal) => Found::One(proposal, Dearer::default()),
            None if exhausted => Found::Exhausted,
            None => Found::Nothing,
        };
    }
    let price_of_always = Proposal::new(always.clone()).cost;
    let mut accepted: Vec<Proposal> = Vec::new();
    let mut least = u32::MAX;
    let mut unjudged = Vec::new();
    for solution in solutions.iter() {
        // Nothing can make it as cheap as what there is.
        if solution.is_certain && solution.cost.saturating_add(price_of_always) > least {
            unjudged.push(solution);
            continue;
        }
        let steps = plans.steps(solution.plan, &always);
        if let Some(proposal) = trial.judged(steps) {
            least = least.min(proposal.cost);
            accepted.push(proposal);
        }
    }
    if accepted.is_empty() && exhausted {
        return Found::Exhausted;
    }
    accepted.sort_by_key(|proposal| proposal.cost);
    let dearer = Dearer {
        judged: Vec::new(),
        unjudged,
        plans,
        always,
    };
    trial.rank(accepted, dearer)
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
        .map(|pair| Step {
            rule: &rules::DUPLICATE_KEY,
            risk: rules::DUPLICATE_KEY.risk,
            need: Need::NotForTheSchema,
            edit: Edit::Drop {
                object: pair.object,
                member: pair.earlier,
            },
        })
        .collect()
}

/// The document on which proposals are tried, one after the other.
struct Trial<'s, 'a, 't> {
    arena: &'s mut Arena<'a>,
    root: NodeId,
    target: Target<'t>,
    depth: usize,
}

impl<'s, 'a, 't> Trial<'s, 'a, 't> {
    fn new(arena: &'s mut Arena<'a>, root: NodeId, target: Target<'t>, policy: &Policy) -> Self {
        Self {
            arena,
            root,
            target,
            depth: policy.limits().depth,
        }
    }

    /// What is needed of these steps, if there are any and the judge accepts them.
    fn judged(&mut self, steps: Vec<Step>) -> Option<Proposal> {
        let is_right = !steps.is_empty() && self.accepts(steps.iter());
        if is_right {
            self.needed(steps).map(Proposal::new)
        } else {
            None
        }
    }

    /// What `look` sees when the steps are made.
    fn with<'p, T>(
        &mut self,
        steps: impl Iterator<Item = &'p Step> + Clone,
        look: impl FnOnce(&Self) -> T,
    ) -> T {
        for step in steps.clone() {
            step.edit.apply(self.arena);
        }
        let seen = look(self);
        self.arena.undo_all();
        for step in steps {
            if let Edit::Unquote { first, count, .. } = step.edit {
                self.arena.quote(first, count);
            }
        }
        seen
    }

    /// Whether the judge accepts the document with these steps. It recurses, so depth comes first:
    /// a container that was read out of a string, or put around a value, makes the document deeper.
    fn accepts<'p>(&mut self, steps: impl Iterator<Item = &'p Step> + Clone) -> bool {
        let may_deepen = steps.clone().any(|step| match step.edit {
            Edit::Content { with: new, .. } | Edit::Insert { value: new, .. } => {
                self.arena.node(new).kind.is_container()
            }
            Edit::Unquote { .. } | Edit::Drop { .. } | Edit::Rename { .. } => false,
        });
        self.with(steps, |trial| {
            !(may_deepen && is_deeper(trial.arena, trial.root, trial.depth))
                && trial.target.accepts(trial.arena, trial.root)
        })
    }

    /// The steps without those that the judge does not ask for: the tree was wrong about them.
    /// Steps that strictness or the host asks for, not the schema, stay. `None` if that takes too
    /// many checks.
    fn needed(&mut self, mut steps: Vec<Step>) -> Option<Vec<Step>> {
        // A single step is needed: the judge refused the document without it.
        if steps.len() == 1 {
            return Some(steps);
        }
        let mut checks = (MAX_CHECKED / self.arena.len().max(1)).max(ALWAYS_CHECKED);
        let mut is_unsettled = false;
        let mut at = 0;
        while let Some((before, [step, after @ ..])) = steps.split_at_checked(at) {
            let is_needed = match step.need {
                Need::NotForTheSchema => true,
                Need::Certain => {
                    debug_assert!(
                        steps.len() > ALWAYS_CHECKED || !self.accepts(before.iter().chain(after)),
                        "{step:?} is needed"
                    );
                    true
                }
                Need::Unknown if checks == 0 && is_unsettled => return None,
                Need::Untold if checks == 0 => return None,
                Need::Unknown if checks == 0 => true,
                Need::Unknown | Need::Untold => {
                    checks -= 1;
                    !self.accepts(before.iter().chain(after))
                }
            };
            if is_needed {
                at += 1;
            } else {
                let removed = steps.remove(at);
                is_unsettled |= self.unsettle(&removed, &mut steps);
                // What was needed beside it may not be without it.
                at = 0;
            }
        }
        Some(steps)
    }

    /// Marks the steps that were certain because of one that is gone: under another key, or in
    /// another container, another schema holds for a value. Whether there were any.
    fn unsettle(&self, removed: &Step, steps: &mut Vec<Step>) -> bool {
        *steps = steps.iter().flat_map(|step| step.singly()).collect();
        let mut moved: HashSet<NodeId> = HashSet::new();
        let mut pending = match removed.edit {
            Edit::Content { node, with } => vec![node, with],
            Edit::Unquote { first, .. } => vec![first],
            Edit::Drop { member, .. } | Edit::Rename { member, .. } => vec![member],
            Edit::Insert { value, .. } => vec![value],
        };
        while let Some(id) = pending.pop() {
            if moved.insert(id) && self.arena.node(id).kind.is_container() {
                pending.extend(self.arena.children(id));
            }
        }
        let mut has_any = false;
        for step in steps {
            let place = match step.edit {
                Edit::Content { node, .. } | Edit::Unquote { first: node, .. } => node,
                Edit::Drop { object, .. } | Edit::Insert { object, .. } => object,
                Edit::Rename { member, .. } => member,
            };
            if step.need == Need::Certain && moved.contains(&place) {
                step.need = Need::Unknown;
                has_any = true;
            }
        }
        has_any
    }

    /// The cheapest proposal, unless one that gives another call costs the same.
    fn rank(&mut self, proposals: Vec<Proposal>, mut dearer: Dearer) -> Found {
        let mut rest = proposals.into_iter();
        let Some(best) = rest.next() else {
            return Found::Nothing;
        };
        let (equal_price, judged): (Vec<_>, Vec<_>) =
            rest.partition(|other| other.cost == best.cost);
        dearer.judged = judged;
        if equal_price.is_empty() {
            return Found::One(best, dearer);
        }
        let call = self.outcome(&best);
        let rivals: Vec<_> = equal_price
            .into_iter()
            .filter(|other| self.outcome(other) != call)
            .collect();
        if rivals.is_empty() {
            Found::One(best, dearer)
        } else {
            Found::Tie(std::iter::once(best).chain(rivals).collect())
        }
    }

    /// The canonical text of the document after a proposal.
    fn outcome(&mut self, proposal: &Proposal) -> String {
        self.with(proposal.steps.iter(), |trial| {
            equal::canonical(trial.arena, trial.root)
        })
    }
}

/// Whether the document under `root` nests deeper than `limit`.
fn is_deeper(arena: &Arena<'_>, root: NodeId, limit: usize) -> bool {
    // So few nodes cannot.
    if arena.len() <= limit {
        return false;
    }
    let mut pending = vec![(root, 0)];
    while let Some((id, outside)) = pending.pop() {
        if !arena.node(id).kind.is_container() {
            continue;
        }
        let depth = outside + 1;
        if depth > limit {
            return true;
        }
        pending.extend(arena.children(id).map(|child| (child, depth)));
    }
    false
}
