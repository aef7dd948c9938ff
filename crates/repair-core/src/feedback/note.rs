//! The repair note: what the model is told beside the result of a repaired call.

use std::collections::BTreeMap;

use super::{clause, short};
use crate::fix::Fix;
use crate::rule::Stage;
use crate::verdict::{Candidate, Repaired, Verdict};

/// Most fixes listed in a note.
const LINES: usize = 10;
/// Most fixes of one rule listed in a note: a rule that fired a thousand times must not hide the
/// others.
const LINES_PER_RULE: usize = 3;

impl Repaired<'_> {
    /// The repair note, for the model, beside the tool's result: which call, what was fixed, and
    /// the request to use that form from now on.
    pub fn note(&self) -> String {
        render(self.call().tool(), self.fixes().iter())
    }
}

impl Verdict<'_> {
    /// The repair note; empty where nothing was fixed.
    pub fn note(&self) -> String {
        match self {
            Self::Repaired(repaired) => repaired.note(),
            Self::Valid(_) | Self::Rejected(_) => String::new(),
        }
    }
}

impl Candidate {
    /// The repair note for a call that ran in the form of this candidate; empty where it lists no
    /// fix.
    pub fn note(&self) -> String {
        render(&self.tool, self.fixes.iter())
    }
}

/// The note on a call of `tool`; empty if there is no fix.
pub(crate) fn render<'f>(tool: &str, fixes: impl Iterator<Item = &'f Fix>) -> String {
    Selection::of(fixes).render(tool)
}

/// The fixes that a note lists, and how many it does not.
#[derive(Default)]
pub(super) struct Selection<'f> {
    pub(super) listed: Vec<&'f Fix>,
    pub(super) left_out: usize,
}

impl<'f> Selection<'f> {
    pub(super) fn of(fixes: impl Iterator<Item = &'f Fix>) -> Self {
        let mut selection = Self::default();
        let mut of_rule: BTreeMap<&str, usize> = BTreeMap::new();
        for fix in fixes {
            let count = of_rule.entry(&fix.rule).or_default();
            let is_new = selection.listed.len() < LINES
                && *count < LINES_PER_RULE
                && !selection
                    .listed
                    .iter()
                    .any(|listed| reads_alike(listed, fix));
            if is_new {
                *count += 1;
                selection.listed.push(fix);
            } else {
                selection.left_out += 1;
            }
        }
        selection
    }

    /// One line for each fix that is listed.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.listed.iter().map(|fix| line(fix))
    }

    pub(super) fn render(&self, tool: &str) -> String {
        if self.listed.is_empty() {
            return String::new();
        }
        let rest = (self.left_out > 0).then(|| format!("and {} more", self.left_out));
        let lines: Vec<String> = self.lines().chain(rest).collect();
        format!(
            "Your call of '{}' was corrected before it ran:\n- {}\n\
             Write it this way from now on.",
            short(tool),
            lines.join("\n- ")
        )
    }
}

/// Whether two fixes have the same line in a note: they differ in their offset alone.
fn reads_alike(one: &Fix, other: &Fix) -> bool {
    (&one.rule, &one.path, &one.before, &one.after)
        == (&other.rule, &other.path, &other.before, &other.after)
}

/// Where it is, what was wrong, and the right form.
fn line(fix: &Fix) -> String {
    let place = match (fix.path.as_str(), fix.stage) {
        ("", Stage::Name) => "tool name".to_owned(),
        ("", Stage::Text) => "JSON text of the arguments".to_owned(),
        ("", Stage::Arguments) => "arguments".to_owned(),
        ("", Stage::Call) => "call".to_owned(),
        (path, _) => short(path),
    };
    let (before, after) = (short(&fix.before), short(&fix.after));
    let form = match (before.as_str(), after.as_str()) {
        ("", "") => String::new(),
        ("", after) => format!("; write `{after}`"),
        (before, "") => format!("; leave out `{before}`"),
        (before, after) => format!("; write `{after}`, not `{before}`"),
    };
    format!("{place}: {}{form}", clause(&fix.sentence))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{
        CASE_OF_NAME, MISSING_COMMA, NULL_DROPPED, OTHER_QUOTE, candidate, hostile, number_as_text,
    };
    use super::*;

    #[test]
    fn each_fix_has_one_line_with_its_place_and_the_right_form() {
        let fixes = [
            Fix::new(&CASE_OF_NAME, "", "WebSearch", "web_search"),
            Fix::new(&MISSING_COMMA, "", "", ",").at_offset(12),
            number_as_text(),
            Fix::new(&NULL_DROPPED, "/page", "null", ""),
        ];
        insta::assert_snapshot!(render("web_search", fixes.iter()), @r#"
        Your call of 'web_search' was corrected before it ran:
        - tool name: the name was spelled differently; write `web_search`, not `WebSearch`
        - JSON text of the arguments: a comma was missing; write `,`
        - /limit: a number was written as text; write `5`, not `"5"`
        - /page: null was given for an optional parameter that does not allow it; leave out `null`
        Write it this way from now on.
        "#);
    }

    #[test]
    fn nothing_fixed_nothing_said() {
        assert_eq!(render("search", [].iter()), "");
        assert_eq!(candidate("search", "{}", vec![]).note(), "");
    }

    #[test]
    fn many_fixes_are_counted_and_hide_no_other_rule() {
        let comma = Fix::new(&MISSING_COMMA, "", "", ",");
        let mut fixes = vec![comma; 1_000];
        fixes.extend(["'", "`", "“", "‘"].map(|quote| Fix::new(&OTHER_QUOTE, "", quote, "\"")));
        fixes.push(number_as_text());
        insta::assert_snapshot!(render("search", fixes.iter()), @r#"
        Your call of 'search' was corrected before it ran:
        - JSON text of the arguments: a comma was missing; write `,`
        - JSON text of the arguments: a string stood in quotes of another kind; write `"`, not `'`
        - JSON text of the arguments: a string stood in quotes of another kind; write `"`, not ```
        - JSON text of the arguments: a string stood in quotes of another kind; write `"`, not `“`
        - /limit: a number was written as text; write `5`, not `"5"`
        - and 1000 more
        Write it this way from now on.
        "#);
    }

    #[test]
    fn a_note_is_bounded_and_keeps_its_lines() {
        for text in hostile() {
            let fixes: Vec<Fix> = (0..50)
                .map(|n| Fix {
                    rule: format!("rule_{n}").into(),
                    path: text.clone(),
                    before: text.clone(),
                    after: text.clone(),
                    sentence: text.clone().into(),
                    ..number_as_text()
                })
                .collect();
            let note = render(&text, fixes.iter());
            assert!(note.chars().count() <= 9_000, "{}", note.len());
            assert_eq!(note.lines().count(), LINES + 3, "{note}");
        }
    }
}
