//! Which quotes end a string, where the quote alone does not tell: every reading of the text is
//! tried, and of those that are possible the one is taken that fits the schema best.
//!
//! A reading is impossible if it is no JSON, is cut off, holds a key twice, or lacks a required
//! key that no undeclared one could stand for.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use super::reader::Frame;
use super::{Cut, Lenient, Problem, frame, rules};
use crate::rule::Rule;
use crate::schema::tree::Kinds;
use crate::schema::{Place, Tree};

/// Most readings that are tried.
const MAX_READINGS: usize = 1024;

/// Bytes that trying readings may cost for each byte of the text, and in any case.
const COST: (usize, usize) = (8, 1 << 20);

/// The doubtful quotes of one reading.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// The answers that are given, in the order of the questions; the rules answer the others.
    given: Vec<bool>,
    /// Every answer of this reading.
    answers: Vec<bool>,
    /// A quote was doubtful.
    pub(super) has_doubt: bool,
    /// This reading is one of several that are tried.
    is_trial: bool,
    is_impossible: bool,
    /// Keys that the schema declares where they stand.
    declared_keys: usize,
    /// Keys that the schema rules out.
    surplus_keys: usize,
    /// Where the first of them stands, if a doubtful quote stands before it.
    surplus_at: Option<usize>,
    /// As many of them as another reading has that leaves out no key of the outermost object.
    most_surplus: Option<usize>,
    root_keys: usize,
    /// How commas and colons are spelled, with the white space around them.
    spellings: BTreeSet<String>,
}

impl Doubts {
    /// Whether a doubtful quote ends its string, which by the rules it does if `by_rule`.
    pub(super) fn answer(&mut self, by_rule: bool) -> bool {
        let answer = self.given.get(self.answers.len()).copied();
        let answer = answer.unwrap_or(by_rule);
        self.answers.push(answer);
        answer
    }

    /// Whether every doubt of this reading is tried the other way too.
    pub(super) fn is_trial(&self) -> bool {
        self.is_trial
    }

    /// Gives a reading up that others are tried beside.
    pub(super) fn give_up(&mut self) {
        self.is_impossible |= self.is_trial;
    }

    /// Whether this reading need not go on.
    pub(super) fn is_hopeless(&self) -> bool {
        self.is_trial && self.is_impossible
    }

    /// Notes a key before it is read.
    pub(super) fn key(
        &mut self,
        frame: &Frame<'_>,
        is_root: bool,
        tree: &Tree,
        key: &str,
        at: usize,
    ) {
        let is_new = !frame.keys.contains(key);
        let is_declared = tree.declares(frame.place, key);
        self.is_impossible |= !is_new;
        let is_surplus = !is_declared && !tree.is_open(frame.place);
        self.surplus_keys += usize::from(is_surplus);
        if is_surplus && self.has_doubt {
            self.surplus_at = self.surplus_at.or(Some(at));
        }
        self.declared_keys += usize::from(is_new && is_declared);
        self.root_keys += usize::from(is_root && is_new && is_declared);
        self.is_impossible |= self
            .most_surplus
            .is_some_and(|most| self.surplus_keys > most);
    }

    /// Notes how the separator before or behind a key is spelled. A model writes all of them alike.
    pub(super) fn separator(&mut self, spelling: &str) {
        if self.is_trial && !self.spellings.contains(spelling) {
            self.spellings.insert(spelling.to_owned());
        }
    }

    /// Notes the end of an object.
    pub(super) fn object(&mut self, frame: &Frame<'_>, tree: &Tree) {
        self.is_impossible |= lacks_key(frame, tree);
    }
}

/// Whether an object lacks a required key, and holds none that could be meant for it.
fn lacks_key(frame: &Frame<'_>, tree: &Tree) -> bool {
    let Some(place) = frame.place.filter(|_| frame.is_object) else {
        return false;
    };
    let has_all = |id: &u32| {
        let ty = tree.get(*id);
        !ty.kinds.meets(Kinds::OBJECT)
            || ty
                .properties()
                .iter()
                .all(|property| !property.required || frame.keys.contains(&property.name))
    };
    let declares_all = || {
        let mut keys = frame.keys.iter();
        keys.all(|key| tree.declares(frame.place, key))
    };
    !tree.plain_types(place).iter().any(has_all) && declares_all()
}

/// Reads a text.
pub(super) fn read(text: &str, tree: &Tree, place: Place, max_depth: usize) -> Lenient {
    let mut doubts = Doubts::default();
    let first = frame::read(text, tree, place, max_depth, &mut doubts);
    let is_whole = text
        .get(..frame::Tail::new(text).start)
        .is_some_and(|body| body.ends_with(['}', ']']));
    if !is_whole
        && first.cut == Some(Cut::Inside)
        && let Some(before) = doubts.surplus_at.and_then(|at| text.get(..at))
    {
        // What looks like a key may be content of the string before it: of neither more is certain.
        return frame::read(before, tree, place, max_depth, &mut Doubts::default());
    }
    // Only a schema tells which reading is the best.
    let has_schema = tree.declares_any(place);
    if doubts.answers.is_empty() || !is_whole || !has_schema || is_possible(&first, &doubts) {
        return first;
    }
    best_possible(text, tree, place, max_depth).unwrap_or(first)
}

fn is_possible(read: &Lenient, doubts: &Doubts) -> bool {
    let is_readable = !matches!(
        read.problem,
        Some(Problem::Ambiguous(_) | Problem::Unreadable(_) | Problem::NoValue)
    );
    let is_whole = !matches!(read.cut, Some(Cut::Inside | Cut::Beginning | Cut::Unclosed));
    is_readable && is_whole && read.values.len() < 2 && !doubts.is_impossible
}

/// How well a possible reading fits: the less the better.
type Misfit = (Reverse<usize>, usize, usize, usize);

fn misfit(read: &Lenient, doubts: &Doubts) -> Misfit {
    let is_usual = |rule: &Rule| USUAL.iter().any(|usual| usual.id == rule.id);
    let others = read.fixes.iter().filter(|fix| !is_usual(fix.rule));
    (
        Reverse(doubts.declared_keys),
        doubts.surplus_keys,
        others.count(),
        doubts.spellings.len(),
    )
}

/// What is wrong with a text whose quotes are not escaped, in any reading.
const USUAL: &[&Rule] = &[
    &rules::FRAME,
    &rules::MISSING_OPENER,
    &rules::SURPLUS_COMMA,
    &rules::QUOTES,
    &rules::INNER_QUOTE,
    &rules::RAW_CONTROL,
    &rules::ESCAPE,
];

/// The one possible reading that fits best. Each run answers one doubt of an earlier one the other
/// way, and those behind it by the rules.
fn best_possible(text: &str, tree: &Tree, place: Place, max_depth: usize) -> Option<Lenient> {
    let mut best: Option<(Misfit, Lenient)> = None;
    let mut is_tied = false;
    let (mut most_keys, mut best_keys) = (0, 0);
    let all_keys = place.map_or(0, |id| tree.get(id).properties().len());
    let mut most_surplus = None;
    let mut cost = COST.0 * text.len() + COST.1;
    let mut pending = vec![Vec::new()];
    for _ in 0..MAX_READINGS {
        let Some(given) = pending.pop() else {
            // What another reading found a key in is no content.
            return best
                .filter(|_| !is_tied && best_keys == most_keys)
                .map(|(_, read)| read);
        };
        cost = cost.checked_sub(text.len())?;
        let known = given.len();
        let mut doubts = Doubts {
            given,
            is_trial: true,
            most_surplus,
            ..Doubts::default()
        };
        let read = frame::read(text, tree, place, max_depth, &mut doubts);
        if read.values.len() < 2 {
            most_keys = most_keys.max(doubts.root_keys);
        }
        if is_possible(&read, &doubts) {
            let misfit = misfit(&read, &doubts);
            let order = best
                .as_ref()
                .map_or(Ordering::Less, |(best, _)| misfit.cmp(best));
            is_tied = order == Ordering::Equal || (is_tied && order == Ordering::Greater);
            if order == Ordering::Less {
                best_keys = doubts.root_keys;
                most_surplus = (best_keys == all_keys).then_some(misfit.1);
                best = Some((misfit, read));
            }
        }
        if pending.len() + doubts.answers.len().saturating_sub(known) > MAX_READINGS {
            // Not all of them could be tried. (And their answers would take memory squared.)
            return None;
        }
        for at in known..doubts.answers.len() {
            let mut other = doubts.answers.get(..=at).unwrap_or_default().to_vec();
            if let Some(last) = other.last_mut() {
                *last = !*last;
            }
            pending.push(other);
        }
    }
    None
}
