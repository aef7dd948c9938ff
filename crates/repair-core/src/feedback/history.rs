//! What stands in the conversation's history for a call. No provider may refuse it: one bad call
//! that stays in a transcript would make every later request fail.

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::json::{Arena, Kind, MAX_DEPTH, string};
use crate::verdict::{Reason, Rejected, Verdict};

/// Longest excerpt of unreadable arguments, in characters.
const UNREADABLE: usize = 1_000;
/// Longest name that providers accept, in characters.
const NAME: usize = 64;

/// A call in the form that goes into the conversation: the call that ran, or a strict-JSON form of
/// a call that was rejected.
///
/// A rejected call keeps its arguments text where that is a JSON object; any other text is wrapped:
/// `{"unreadable_arguments": "…"}`. A name that resolves to no tool is spelled with the characters
/// that providers accept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryCall {
    /// The provider's id of the call, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The resolved tool's name as the host declared it; otherwise ASCII letters, digits, `_` and
    /// `-`, 1 to 64 characters, and no digit or `-` at the start.
    pub name: String,
    /// The text of a strict JSON object.
    pub arguments: String,
}

impl Call<'_> {
    /// The call for the conversation's history: the resolved name and the exact text.
    pub fn history_call(&self) -> HistoryCall {
        HistoryCall {
            id: self.id().map(str::to_owned),
            name: self.tool().to_owned(),
            arguments: self.arguments().text().to_owned(),
        }
    }
}

impl Rejected {
    /// The call for the conversation's history, before the corrective error: in a form that no
    /// provider refuses. It is a record and never to be run.
    pub fn history_call(&self) -> HistoryCall {
        HistoryCall {
            id: self.id().map(str::to_owned),
            name: match self.tool() {
                Some(tool) => tool.to_owned(),
                None => accepted_name(self.emitted_name()),
            },
            arguments: self.history_arguments(),
        }
    }

    fn history_arguments(&self) -> String {
        let text = self.emitted_arguments().unwrap_or_default();
        if text.trim().is_empty() {
            return "{}".to_owned();
        }
        // A call over a limit is not read again, and its size may be the problem.
        if self.reason() != Reason::Limit && is_plain_object(text) {
            return text.to_owned();
        }
        let mut arguments = String::from(r#"{"unreadable_arguments":"#);
        string::encode(&cut(text), &mut arguments);
        arguments.push('}');
        arguments
    }
}

impl Verdict<'_> {
    /// The call for the conversation's history: the one that runs, or a form of the rejected one
    /// that no provider refuses.
    pub fn history_call(&self) -> HistoryCall {
        match self {
            Self::Valid(call) => call.history_call(),
            Self::Repaired(repaired) => repaired.call().history_call(),
            Self::Rejected(rejected) => rejected.history_call(),
        }
    }
}

/// Whether every JSON reader takes the text for the same object: no key twice, no lone surrogate,
/// no number beyond the range of a double.
fn is_plain_object(text: &str) -> bool {
    Arena::read(text.into(), MAX_DEPTH).is_ok_and(|(arena, root)| {
        arena.node(root).kind == Kind::Object && arena.duplicates().is_empty()
    }) && serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// `name` in the characters that providers accept.
fn accepted_name(name: &str) -> String {
    let mut accepted: String = name
        .chars()
        .take(NAME)
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
            _ => '_',
        })
        .collect();
    match accepted.chars().next() {
        None => "unknown_tool".to_owned(),
        Some('0'..='9' | '-') => {
            accepted.insert(0, '_');
            accepted.truncate(NAME);
            accepted
        }
        Some(_) => accepted,
    }
}

fn cut(text: &str) -> String {
    if text.chars().nth(UNREADABLE).is_none() {
        return text.to_owned();
    }
    text.chars().take(UNREADABLE - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{call, hostile, rejected};
    use super::*;

    fn arguments(reason: Reason, emitted: Option<&str>) -> String {
        let mut rejected = rejected(reason, "search");
        rejected.emitted_arguments = emitted.map(str::to_owned);
        rejected.history_call().arguments
    }

    #[test]
    fn a_call_that_runs_keeps_its_name_and_text() {
        let text = r#"{ "a" : 1e400, "b": 12345678901234567890123 }"#;
        let history = Verdict::Valid(call("my.tool", text)).history_call();
        assert_eq!((&*history.name, &*history.arguments), ("my.tool", text));
        assert_eq!(history.id.as_deref(), Some("call_1"));
    }

    #[test]
    fn a_rejected_call_keeps_what_every_reader_takes_and_wraps_the_rest() {
        for (emitted, want) in [
            (Some(r#"{ "a" : 5.0 }"#), r#"{ "a" : 5.0 }"#),
            (
                Some(r#"{"a": 12345678901234567890123}"#),
                r#"{"a": 12345678901234567890123}"#,
            ),
            (None, "{}"),
            (Some(" \n"), "{}"),
            (Some("null"), r#"{"unreadable_arguments":"null"}"#),
            (Some("[1]"), r#"{"unreadable_arguments":"[1]"}"#),
            (
                Some(r#"{"a": "x"#),
                r#"{"unreadable_arguments":"{\"a\": \"x"}"#,
            ),
            (
                Some(r#"{"a":1,"a":2}"#),
                r#"{"unreadable_arguments":"{\"a\":1,\"a\":2}"}"#,
            ),
            (
                Some(r#"{"a":"\ud800"}"#),
                r#"{"unreadable_arguments":"{\"a\":\"\\ud800\"}"}"#,
            ),
            (
                Some(r#"{"a":1e400}"#),
                r#"{"unreadable_arguments":"{\"a\":1e400}"}"#,
            ),
            (
                Some("{\"a\": NaN}\n"),
                r#"{"unreadable_arguments":"{\"a\": NaN}\n"}"#,
            ),
        ] {
            assert_eq!(arguments(Reason::Arguments, emitted), want, "{emitted:?}");
        }
        assert_eq!(
            arguments(Reason::Limit, Some("{}")),
            r#"{"unreadable_arguments":"{}"}"#
        );
    }

    #[test]
    fn whatever_was_emitted_a_provider_takes_it() {
        let deep = "[".repeat(100_000);
        let texts = hostile().into_iter().chain([deep, String::new()]);
        for text in texts {
            let mut rejected = rejected(Reason::Syntax, &text);
            rejected.emitted_arguments = Some(text);
            let history = rejected.history_call();
            let value: serde_json::Value = serde_json::from_str(&history.arguments).unwrap();
            assert!(value.is_object());
            assert!(history.arguments.chars().count() < 8_000);
            assert!((1..=NAME).contains(&history.name.len()), "{}", history.name);
        }
    }

    #[test]
    fn an_unknown_name_is_spelled_as_providers_accept_it() {
        for (emitted, want) in [
            ("WebSearch", "WebSearch"),
            ("functions.search:0", "functions_search_0"),
            ("<|call|>", "__call__"),
            ("søk", "s_k"),
            ("-x", "_-x"),
            ("1st", "_1st"),
            ("", "unknown_tool"),
        ] {
            let history = rejected(Reason::UnknownTool, emitted).history_call();
            assert_eq!(history.name, want, "{emitted}");
        }
        let mut known = rejected(Reason::Arguments, "WebSearch");
        known.tool = Some("web.search".to_owned());
        assert_eq!(known.history_call().name, "web.search");
    }
}
