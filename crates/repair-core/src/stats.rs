//! Counts of what came of calls, for a report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::verdict::{Reason, Verdict};

/// Counts by tool, rule and outcome. Names that resolve to no tool share one entry, so that a
/// model that makes names up cannot fill the memory.
///
/// ```
/// use repair_core::RepairStats;
/// let (mut monday, tuesday) = (RepairStats::default(), RepairStats::default());
/// monday.merge(&tuesday);
/// assert_eq!(monday.total().calls(), 0);
/// assert_eq!(monday.total().repaired_share(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepairStats {
    tools: BTreeMap<String, Counts>,
    unknown: Counts,
}

/// What came of some calls.
///
/// ```
/// use repair_core::Counts;
/// let counts = Counts::default();
/// assert_eq!(counts.valid() + counts.repaired() + counts.rejected(), counts.calls());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    valid: u64,
    repaired: u64,
    rejected: BTreeMap<Reason, u64>,
    rules: BTreeMap<String, u64>,
}

impl RepairStats {
    /// Counts one verdict.
    pub fn record(&mut self, verdict: &Verdict<'_>) {
        let tool = match verdict {
            Verdict::Valid(call) => Some(call.tool()),
            Verdict::Repaired(repaired) => Some(repaired.call().tool()),
            Verdict::Rejected(rejected) => rejected.tool(),
        };
        self.counts_of(tool).record(verdict);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (tool, counts) in &other.tools {
            self.counts_of(Some(tool)).merge(counts);
        }
        self.unknown.merge(&other.unknown);
    }

    fn counts_of(&mut self, tool: Option<&str>) -> &mut Counts {
        match tool {
            Some(tool) => self.tools.entry(tool.to_owned()).or_default(),
            None => &mut self.unknown,
        }
    }

    /// The tools that were called and their counts, by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = (&str, &Counts)> {
        self.tools.iter().map(|(tool, counts)| (&**tool, counts))
    }

    /// The counts of all names that resolve to no tool.
    pub fn unknown(&self) -> &Counts {
        &self.unknown
    }

    /// The counts of all calls.
    pub fn total(&self) -> Counts {
        let mut total = self.unknown.clone();
        for counts in self.tools.values() {
            total.merge(counts);
        }
        total
    }
}

impl Counts {
    fn record(&mut self, verdict: &Verdict<'_>) {
        match verdict {
            Verdict::Valid(_) => self.valid += 1,
            Verdict::Repaired(repaired) => {
                self.repaired += 1;
                for fix in repaired.fixes() {
                    add(&mut self.rules, &fix.rule, 1);
                }
            }
            Verdict::Rejected(rejected) => {
                *self.rejected.entry(rejected.reason()).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.valid += other.valid;
        self.repaired += other.repaired;
        for (reason, count) in &other.rejected {
            *self.rejected.entry(*reason).or_default() += count;
        }
        for (rule, count) in &other.rules {
            add(&mut self.rules, rule, *count);
        }
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.valid + self.repaired + self.rejected()
    }

    /// How many were right as they were.
    pub fn valid(&self) -> u64 {
        self.valid
    }

    /// How many were made right.
    pub fn repaired(&self) -> u64 {
        self.repaired
    }

    /// How many were rejected.
    pub fn rejected(&self) -> u64 {
        self.rejected.values().sum()
    }

    /// How many were rejected, by reason, in the order of [`Reason`].
    pub fn reasons(&self) -> impl ExactSizeIterator<Item = (Reason, u64)> {
        self.rejected
            .iter()
            .map(|(reason, count)| (*reason, *count))
    }

    /// How many fixes were made, by rule.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.rules.iter().map(|(rule, count)| (&**rule, *count))
    }

    /// The share of calls that were right as they were, 0 to 1; `None` without calls.
    pub fn valid_share(&self) -> Option<f64> {
        self.share(self.valid)
    }

    /// The share of calls that were made right, 0 to 1; `None` without calls.
    pub fn repaired_share(&self) -> Option<f64> {
        self.share(self.repaired)
    }

    /// The share of calls that were rejected, 0 to 1; `None` without calls.
    pub fn rejected_share(&self) -> Option<f64> {
        self.share(self.rejected())
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "a share needs no more than the precision of a double"
    )]
    fn share(&self, count: u64) -> Option<f64> {
        let calls = self.calls();
        (calls > 0).then(|| count as f64 / calls as f64)
    }
}

fn add(counts: &mut BTreeMap<String, u64>, key: &str, count: u64) {
    match counts.get_mut(key) {
        Some(known) => *known += count,
        None => {
            counts.insert(key.to_owned(), count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::fixtures::{call, rejected};

    fn refused(reason: Reason, name: &str, tool: Option<&str>) -> Verdict<'static> {
        let mut refused = rejected(reason, name);
        refused.tool = tool.map(str::to_owned);
        Verdict::Rejected(Box::new(refused))
    }

    fn sample() -> RepairStats {
        let mut stats = RepairStats::default();
        for verdict in [
            Verdict::Valid(call("search", "{}")),
            Verdict::Valid(call("fetch", "{}")),
            refused(Reason::Syntax, "Search", Some("search")),
            refused(Reason::Arguments, "search", Some("search")),
            refused(Reason::Syntax, "search", Some("search")),
            refused(Reason::UnknownTool, "made_up_1", None),
            refused(Reason::UnknownTool, "made_up_2", None),
        ] {
            stats.record(&verdict);
        }
        stats
    }

    #[test]
    fn calls_count_under_their_tool_and_unknown_names_together() {
        let stats = sample();
        let tools: Vec<_> = stats.tools().map(|(tool, n)| (tool, n.calls())).collect();
        assert_eq!(tools, [("fetch", 1), ("search", 4)]);
        assert_eq!(stats.unknown().calls(), 2);
        let search = stats.tools().nth(1).unwrap().1;
        assert_eq!(
            search.reasons().collect::<Vec<_>>(),
            [(Reason::Syntax, 2), (Reason::Arguments, 1)]
        );
        assert_eq!(search.valid_share(), Some(0.25));
        assert_eq!(search.rejected_share(), Some(0.75));
        assert_eq!(stats.total().calls(), 7);
    }

    #[test]
    fn merging_is_recording_both() {
        let mut twice = sample();
        twice.merge(&sample());
        assert_eq!(twice.total().calls(), 14);
        assert_eq!(twice.tools().len(), 2);
        let mut other = RepairStats::default();
        other.merge(&sample());
        assert_eq!(other, sample());
    }

    #[test]
    fn rules_add_up_in_the_order_of_their_names() {
        let mut counts = Counts::default();
        let more = Counts {
            rules: [("b".to_owned(), 2), ("a".to_owned(), 1)].into(),
            ..Counts::default()
        };
        counts.merge(&more);
        counts.merge(&more);
        assert_eq!(counts.rules().collect::<Vec<_>>(), [("a", 2), ("b", 4)]);
    }

    #[test]
    fn they_can_be_stored() {
        let stored = serde_json::to_string(&sample()).unwrap();
        assert_eq!(
            serde_json::from_str::<RepairStats>(&stored).unwrap(),
            sample()
        );
    }
}
