//! The teacher: how often the model is told the same thing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::note::Selection;
use crate::fix::Fix;
use crate::verdict::Verdict;

/// Decides, for one conversation, whether a repair note is shown again: each rule at most three
/// times for each tool, so that a model that does not learn is not told for ever.
///
/// ```
/// use repair_core::{Fix, Risk, Rule, Stage, Teacher};
/// static RULE: Rule =
///     Rule::new("number_as_text", Stage::Arguments, Risk::Lossless, 1, "a number was written as text");
/// let fix = Fix::new(&RULE, "/limit", "\"5\"", "5");
/// let mut teacher = Teacher::with_limit(1);
/// assert!(teacher.teach_fixes("search", [&fix]).contains("write `5`"));
/// assert_eq!(teacher.teach_fixes("search", [&fix]), "");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Teacher {
    limit: u32,
    /// How often each rule was shown, by tool and rule.
    shown: BTreeMap<String, BTreeMap<String, u32>>,
}

impl Default for Teacher {
    fn default() -> Self {
        Self::with_limit(3)
    }
}

impl Teacher {
    /// A teacher that shows each rule at most `limit` times for each tool; 0 means never.
    pub fn with_limit(limit: u32) -> Self {
        Self {
            limit,
            shown: BTreeMap::new(),
        }
    }

    /// The repair note, restricted to what is still to be taught; empty if that is nothing.
    pub fn teach(&mut self, verdict: &Verdict<'_>) -> String {
        match verdict {
            Verdict::Repaired(repaired) => {
                self.teach_fixes(repaired.call().tool(), repaired.fixes().iter())
            }
            Verdict::Valid(_) | Verdict::Rejected(_) => String::new(),
        }
    }

    /// The same for fixes that come from elsewhere, such as an approved candidate.
    pub fn teach_fixes<'f>(
        &mut self,
        tool: &str,
        fixes: impl IntoIterator<Item = &'f Fix>,
    ) -> String {
        let selection = Selection::of(
            fixes
                .into_iter()
                .filter(|fix| self.times_shown(tool, &fix.rule) < self.limit),
        );
        // One note teaches a rule once, however many of its fixes it lists.
        let rules: BTreeSet<&str> = selection.listed.iter().map(|fix| &*fix.rule).collect();
        for rule in rules {
            let of_tool = self.shown.entry(tool.to_owned()).or_default();
            let times = of_tool.entry(rule.to_owned()).or_default();
            *times = times.saturating_add(1);
        }
        selection.render(tool)
    }

    fn times_shown(&self, tool: &str, rule: &str) -> u32 {
        self.shown
            .get(tool)
            .and_then(|of_tool| of_tool.get(rule))
            .copied()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{NULL_DROPPED, call, number_as_text, rejected};
    use super::*;
    use crate::verdict::Reason;

    #[test]
    fn each_rule_is_taught_three_times_for_each_tool() {
        let mut teacher = Teacher::default();
        let number = number_as_text();
        let null = Fix::new(&NULL_DROPPED, "/page", "null", "");
        for _ in 0..3 {
            // Two fixes of one rule in one note count once.
            assert!(!teacher.teach_fixes("search", [&number, &number]).is_empty());
        }
        assert_eq!(teacher.teach_fixes("search", [&number]), "");
        assert!(!teacher.teach_fixes("fetch", [&number]).is_empty());
        let rest = teacher.teach_fixes("search", [&number, &null]);
        assert!(rest.contains("/page") && !rest.contains("/limit"), "{rest}");
    }

    #[test]
    fn a_rule_that_is_not_listed_is_not_taught() {
        let fixes: Vec<Fix> = (0..11)
            .map(|n| Fix {
                rule: format!("rule_{n:02}").into(),
                ..number_as_text()
            })
            .collect();
        let mut teacher = Teacher::with_limit(1);
        assert!(teacher.teach_fixes("search", &fixes).contains("and 1 more"));
        assert!(!teacher.teach_fixes("search", &fixes).is_empty());
        assert_eq!(teacher.teach_fixes("search", &fixes), "");
    }

    #[test]
    fn it_says_nothing_where_nothing_was_fixed_or_its_limit_is_zero() {
        let mut teacher = Teacher::default();
        assert_eq!(teacher.teach(&Verdict::Valid(call("search", "{}"))), "");
        let refused = Verdict::Rejected(Box::new(rejected(Reason::Syntax, "search")));
        assert_eq!(teacher.teach(&refused), "");
        assert_eq!(teacher, Teacher::default());
        let mut silent = Teacher::with_limit(0);
        assert_eq!(silent.teach_fixes("search", [&number_as_text()]), "");
    }

    #[test]
    fn it_can_be_stored_and_taken_up_again() {
        let mut teacher = Teacher::with_limit(1);
        teacher.teach_fixes("search", [&number_as_text()]);
        let stored = serde_json::to_string(&teacher).unwrap();
        let mut again: Teacher = serde_json::from_str(&stored).unwrap();
        assert_eq!(again.teach_fixes("search", [&number_as_text()]), "");
    }
}
