//! What a log says in sum.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::runs::{ChosenBy, ResultRow, Run};

/// Most rows of a table; further names are counted together.
const MOST_ROWS: usize = 4 << 10;
/// The name of the row for all further names.
pub const OTHERS: &str = "(others)";
/// Longest example, in characters.
const EXAMPLE: usize = 80;

/// A table by name, bounded.
#[derive(Clone, Debug)]
pub struct Tally<T> {
    rows: BTreeMap<String, T>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
        }
    }
}

impl<T: Default> Tally<T> {
    fn row(&mut self, name: &str) -> &mut T {
        let name = if self.rows.len() >= MOST_ROWS && !self.rows.contains_key(name) {
            OTHERS
        } else {
            name
        };
        match self.rows.entry(name.to_owned()) {
            Entry::Vacant(entry) => entry.insert(T::default()),
            Entry::Occupied(entry) => entry.into_mut(),
        }
    }

    /// The rows, by name.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &T)> {
        self.rows.iter().map(|(name, row)| (name.as_str(), row))
    }

    /// The rows with the largest weight first, equal ones by name.
    pub fn by(&self, weight: impl Fn(&T) -> u64) -> Vec<(&str, &T)> {
        let mut rows: Vec<_> = self.rows().collect();
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(weight(row)));
        rows
    }
}

/// How many runs there were, and how they went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunTally {
    /// All of them.
    pub runs: u64,
    /// Something was wrong with the first call.
    pub broken: u64,
    /// Of those, made right by rules before the first try.
    pub repaired: u64,
    /// Of those, made right after a failed try: by a candidate, an approver or a second try.
    pub recovered: u64,
    /// Of those, given up.
    pub gave_up: u64,
}

impl RunTally {
    fn add(&mut self, run: &Run) {
        self.runs += 1;
        if run.was_clean() {
            return;
        }
        self.broken += 1;
        match &run.failure {
            _ if !run.succeeded() => self.gave_up += 1,
            None => self.repaired += 1,
            Some(_) => self.recovered += 1,
        }
    }

    /// The share of broken calls that were made right, in percent; none without a broken call.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    pub fn recovery(&self) -> Option<f64> {
        (self.broken > 0)
            .then(|| (self.repaired + self.recovered) as f64 * 100.0 / self.broken as f64)
    }
}

/// How often a rule was applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleTally {
    /// Fixes.
    pub fixes: u64,
    /// Runs with such a fix.
    pub runs: u64,
    /// Of those, the ones that succeeded.
    pub succeeded: u64,
}

/// What a model did and used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTally {
    /// Rounds.
    pub rounds: u64,
    /// Candidates that it proposed.
    pub candidates: u64,
    /// Of those, dropped before they could run.
    pub rejected: u64,
    /// Runs that one of its candidates made right.
    pub recovered: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Cost in millionths of a currency unit.
    pub cost_micros: u64,
}

/// A fault that comes again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offender {
    /// How often.
    pub times: u64,
    /// Of those, not made right.
    pub gave_up: u64,
    /// What stood there last time, shortened.
    pub before: String,
    /// What stood there afterwards, shortened; empty if it was not made right.
    pub after: String,
}

/// Sums over all runs of a log.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// All runs.
    pub all: RunTally,
    /// By tool.
    pub tools: Tally<RunTally>,
    /// By day of the end, in UTC.
    pub days: Tally<RunTally>,
    /// By rule.
    pub rules: Tally<RuleTally>,
    /// By model.
    pub models: Tally<ModelTally>,
    /// First errors by class, and how the runs went.
    pub classes: Tally<RunTally>,
    /// Reasons for giving up.
    pub reasons: Tally<u64>,
    /// By tool and fault: `tool: rule`, or `tool: class` where no rule was applied.
    pub offenders: Tally<Offender>,
}

impl Report {
    /// Counts a run in.
    pub fn add(&mut self, run: &Run) {
        self.all.add(run);
        self.tools.row(&run.tool).add(run);
        self.days
            .row(run.time.get(..10).unwrap_or("(no day)"))
            .add(run);
        if let Some(failure) = &run.failure {
            self.classes
                .row(failure.class.as_deref().unwrap_or("(no class)"))
                .add(run);
        }
        if let ResultRow::GaveUp { reason } = &run.result {
            *self.reasons.row(reason) += 1;
        }
        self.add_rules(run);
        self.add_models(run);
        self.add_offenders(run);
    }

    fn add_rules(&mut self, run: &Run) {
        let mut names: Vec<&str> = run.fixes.iter().map(|fix| fix.rule.as_str()).collect();
        for name in &names {
            self.rules.row(name).fixes += 1;
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            let row = self.rules.row(name);
            row.runs += 1;
            row.succeeded += u64::from(run.succeeded());
        }
    }

    fn add_models(&mut self, run: &Run) {
        const UNNAMED: &str = "(no model)";
        for round in &run.rounds {
            let row = self.models.row(round.model.as_deref().unwrap_or(UNNAMED));
            row.rounds += 1;
            row.input_tokens += round.input_tokens;
            row.output_tokens += round.output_tokens;
            row.cost_micros += round.cost_micros;
        }
        for (at, candidate) in run.candidates.iter().enumerate() {
            if candidate.candidate.origin != "model" {
                continue;
            }
            let row = self
                .models
                .row(candidate.model.as_deref().unwrap_or(UNNAMED));
            row.candidates += 1;
            row.rejected += u64::from(candidate.rejected.is_some());
            let is_chosen = run
                .chosen
                .as_ref()
                .is_some_and(|chosen| chosen.by == ChosenBy::Model && chosen.candidate == Some(at));
            row.recovered += u64::from(is_chosen && run.succeeded());
        }
    }

    fn add_offenders(&mut self, run: &Run) {
        for fix in &run.fixes {
            let row = self.offenders.row(&format!("{}: {}", run.tool, fix.rule));
            row.see(run, &fix.before, &fix.after);
        }
        if let Some(failure) = &run.failure {
            let class = failure.class.as_deref().unwrap_or("failed");
            let after = match &run.result {
                ResultRow::Succeeded { arguments, .. } => arguments.as_str(),
                ResultRow::GaveUp { .. } => "",
            };
            self.offenders.row(&format!("{}: {class}", run.tool)).see(
                run,
                &failure.arguments,
                after,
            );
        }
    }
}

impl Offender {
    fn see(&mut self, run: &Run, before: &str, after: &str) {
        self.times += 1;
        self.gave_up += u64::from(!run.succeeded());
        // An example that shows both sides is worth more than a newer one.
        if run.succeeded() || self.after.is_empty() {
            self.before = example(before);
            self.after = example(after);
        }
    }
}

/// A text on one line, shortened.
fn example(text: &str) -> String {
    let mut letters = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut example: String = letters.by_ref().take(EXAMPLE).collect();
    if letters.next().is_some() {
        example.push('…');
    }
    example
}
