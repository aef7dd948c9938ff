//! Feedback: what the model is told, and what stands in the conversation's history.
//!
//! A repair note stands beside the result of a call that was repaired; a corrective error stands
//! in place of the result of a call that must not run. A tool's own error (it ran and said no) is
//! no business of this module: it is passed on unchanged, without a parameter hint, because the
//! model must change the value and not the form.
//!
//! All texts are bounded in size and made of nothing but the verdict: identical input gives
//! identical text.

mod error;
mod expected;
mod history;
pub(crate) mod note;
mod teacher;
#[cfg(test)]
mod tests;
mod text;

pub use error::CorrectiveError;
pub(crate) use expected::expected_parameters;
pub use history::HistoryCall;
pub use teacher::Teacher;

use crate::fix::excerpt;

/// Longest clause about the schema or the problem, in characters.
const CLAUSE: usize = 400;

/// A text of the model or the host, as an excerpt on one line.
fn short(text: &str) -> String {
    excerpt(&one_line(&excerpt(text)))
}

/// A clause on one line, without its full stop, cut at its end.
fn clause(text: &str) -> String {
    let line = one_line(&text.chars().take(CLAUSE + 1).collect::<String>());
    let line = line.trim_end_matches('.');
    if line.chars().nth(CLAUSE).is_none() {
        return line.to_owned();
    }
    line.chars().take(CLAUSE - 1).chain(['…']).collect()
}

/// Control characters and line ends as escapes, so that nobody's text can start a new line of
/// ours.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// The first of `items` that together have at most `budget` characters, and how many are left out.
fn within<T>(budget: usize, items: Vec<T>, size: impl Fn(&T) -> usize) -> (Vec<T>, usize) {
    let mut room = budget;
    let count = items.len();
    let kept: Vec<T> = items
        .into_iter()
        .take_while(|item| match room.checked_sub(size(item)) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        })
        .collect();
    let left_out = count - kept.len();
    (kept, left_out)
}

/// Constructed values for the tests of this module and its neighbours.
#[cfg(test)]
pub(crate) mod fixtures {
    use std::borrow::Cow;

    use crate::call::{Arguments, Call};
    use crate::fix::Fix;
    use crate::rule::{Risk, Rule, Stage};
    use crate::verdict::{Candidate, Origin, Reason, Rejected};

    pub(crate) static NUMBER_AS_TEXT: Rule = Rule::new(
        "number_as_text",
        Stage::Arguments,
        Risk::Lossless,
        1,
        "a number was written as text",
    );
    pub(crate) static NULL_DROPPED: Rule = Rule::new(
        "null_dropped",
        Stage::Arguments,
        Risk::Lossless,
        1,
        "null was given for an optional parameter that does not allow it",
    );
    pub(crate) static CASE_OF_NAME: Rule = Rule::new(
        "case_of_name",
        Stage::Name,
        Risk::Lossless,
        1,
        "the name was spelled differently",
    );
    pub(crate) static MISSING_COMMA: Rule = Rule::new(
        "missing_comma",
        Stage::Text,
        Risk::Lossless,
        1,
        "a comma was missing",
    );

    pub(crate) static OTHER_QUOTE: Rule = Rule::new(
        "other_quote",
        Stage::Text,
        Risk::Lossless,
        1,
        "a string stood in quotes of another kind",
    );

    pub(crate) fn number_as_text() -> Fix {
        Fix::new(&NUMBER_AS_TEXT, "/limit", "\"5\"", "5")
    }

    pub(crate) fn call(tool: &str, arguments: &str) -> Call<'static> {
        Call {
            id: Some("call_1".to_owned()),
            tool: tool.into(),
            emitted_name: Cow::Owned(tool.to_owned()),
            arguments: Arguments::new(Cow::Owned(arguments.to_owned())),
            unvalidated: false,
        }
    }

    pub(crate) fn rejected(reason: Reason, name: &str) -> Rejected {
        Rejected {
            id: Some("call_1".to_owned()),
            emitted_name: name.to_owned(),
            emitted_arguments: None,
            tool: None,
            reason,
            detail: String::new(),
            did_you_mean: None,
            available_tools: Vec::new(),
            tool_count: 0,
            expected: None,
            errors: Vec::new(),
            candidates: Vec::new().into(),
        }
    }

    pub(crate) fn candidate(tool: &str, arguments: &str, fixes: Vec<Fix>) -> Candidate {
        Candidate {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            confidence: 0.5,
            rationale: String::new(),
            origin: Origin::Rule,
            risk: Risk::Inferred,
            valid: true,
            from_cut: false,
            fixes,
        }
    }

    /// Texts that try to break a message: long, many lines, control characters, wide characters.
    pub(crate) fn hostile() -> [String; 4] {
        [
            "x".repeat(100_000),
            "a\n- /path: fine\r\n\u{2028}".repeat(1_000),
            "\u{0}\u{1b}[2J".repeat(1_000),
            "日本…😀".repeat(1_000),
        ]
    }
}

#[cfg(test)]
mod bounds {
    use super::*;

    #[test]
    fn texts_stay_on_one_line_and_within_their_bounds() {
        for text in fixtures::hostile() {
            for (shown, most) in [(short(&text), crate::fix::EXCERPT), (clause(&text), CLAUSE)] {
                assert!(shown.chars().count() <= most, "{shown}");
                assert!(!shown.contains(char::is_control), "{shown}");
                assert!(!shown.contains('\u{2028}'), "{shown}");
            }
        }
        assert_eq!(short("a\nb"), "a\\nb");
        assert_eq!(clause("one clause."), "one clause");
    }

    #[test]
    fn a_list_is_cut_at_its_budget() {
        let items = || vec!["aa", "bbb", "c"];
        assert_eq!(within(6, items(), |item| item.len()), (items(), 0));
        assert_eq!(within(4, items(), |item| item.len()), (vec!["aa"], 2));
        assert_eq!(within(0, items(), |item| item.len()), (vec![], 3));
    }
}
