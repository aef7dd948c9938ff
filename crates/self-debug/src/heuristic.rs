//! A debugger that needs no model.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use harness::{Candidate, ErrorClass, Failure};
use repair_core::Risk;
use serde_json::Value;

use crate::debugger::{Debugger, DebuggerError, Proposed, is_known};
use crate::tool::parse;

type Rule = dyn Fn(&Failure, &Value) -> Option<Value> + Send + Sync;

/// A debugger of rules: the tool's own suggestion (`did you mean 'b.txt'?`), and whatever rules
/// the host adds. It costs nothing and is a good first in [`crate::Debugger::or`].
///
/// What `repair-core` proposes (a guess, one of a tie, a completed cut) needs no debugger: the
/// machine ranks it by itself.
///
/// ```
/// use self_debug::{HeuristicDebugger, Risk};
/// use serde_json::json;
/// let debugger = HeuristicDebugger::new().rule("relative path", Risk::Inferred, |failure, call| {
///     let path = call["path"].as_str()?.strip_prefix('/')?;
///     failure.error.message.contains("outside the workspace").then(|| json!({"path": path}))
/// });
/// # let _ = debugger;
/// ```
#[derive(Clone, Default)]
pub struct HeuristicDebugger {
    rules: Vec<(Arc<str>, Risk, Arc<Rule>)>,
}

/// How sure a rule's proposal is, as a confidence.
const CONFIDENCE: [(Risk, f64); 3] = [
    (Risk::Lossless, 0.95),
    (Risk::Inferred, 0.8),
    (Risk::Guess, 0.55),
];

impl HeuristicDebugger {
    /// A debugger with the built-in rule.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule: it gets the failure and the arguments that failed, and returns complete other
    /// ones. `risk` says how sure it is; above what the policy accepts for the tool's effect, its
    /// proposals run only after approval. Arguments that are no JSON never reach a rule.
    pub fn rule(
        mut self,
        name: impl Into<Arc<str>>,
        risk: Risk,
        rule: impl Fn(&Failure, &Value) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        self.rules.push((name.into(), risk, Arc::new(rule)));
        self
    }
}

impl fmt::Debug for HeuristicDebugger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.rules.iter().map(|(name, risk, _)| (name, risk)))
            .finish()
    }
}

#[async_trait]
impl Debugger for HeuristicDebugger {
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError> {
        let Ok(arguments) = parse(&failure.call.arguments) else {
            return Ok(Proposed::give_up("rules cannot read these arguments"));
        };
        let own = self.rules.iter().filter_map(|(name, risk, rule)| {
            Some(candidate(&rule(failure, &arguments)?, *risk, name))
        });
        let suggested = suggestion(failure, &arguments)
            .map(|value| candidate(&value, Risk::Inferred, "the tool suggests this value"));
        let candidates: Vec<Candidate> = own
            .chain(suggested)
            .filter(|candidate| !is_known(&candidate.text(), failure))
            .collect();
        if candidates.is_empty() {
            return Ok(Proposed::give_up("no rule applies"));
        }
        Ok(candidates.into())
    }
}

fn candidate(arguments: &Value, risk: Risk, why: &str) -> Candidate {
    let confidence = CONFIDENCE
        .iter()
        .find(|(known, _)| *known == risk)
        .map_or(0.5, |(_, confidence)| *confidence);
    Candidate::new(arguments.to_string(), confidence)
        .because(why)
        .by_rule(risk)
}

/// The arguments with the value that the tool suggests, if it names exactly one, and one that the
/// call holds.
fn suggestion(failure: &Failure, arguments: &Value) -> Option<Value> {
    if failure.error.class != ErrorClass::Value {
        return None;
    }
    let (before, after) = split_at_suggestion(&failure.error.message)?;
    let mut offered = quoted(after);
    let value = offered.next()?;
    if offered.next().is_some() {
        return None;
    }
    let object = arguments.as_object()?;
    let mut named = object.iter().filter(|(_, present)| {
        present
            .as_str()
            .is_some_and(|present| present != value && quoted(before).any(|word| word == present))
    });
    let (key, _) = named.next()?;
    if named.next().is_some() {
        return None;
    }
    let mut changed = object.clone();
    changed.insert(key.clone(), value.into());
    Some(Value::Object(changed))
}

/// What stands before and after "did you mean".
fn split_at_suggestion(message: &str) -> Option<(&str, &str)> {
    const WORDS: &str = "did you mean";
    let at = message
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| starts_with_words(message.get(*at..), WORDS))?;
    Some((message.get(..at)?, message.get(at + WORDS.len()..)?))
}

fn starts_with_words(text: Option<&str>, words: &str) -> bool {
    text.and_then(|text| text.get(..words.len()))
        .is_some_and(|start| start.eq_ignore_ascii_case(words))
}

/// The texts in quotes, of any of three kinds.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(['\'', '"', '`'])?;
        let quote = rest.get(start..)?.chars().next()?;
        let inner = rest.get(start + 1..)?;
        let end = inner.find(quote)?;
        rest = inner.get(end + 1..)?;
        inner.get(..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_read_in_pairs() {
        let words = |text| quoted(text).collect::<Vec<_>>();
        assert_eq!(words("no 'a', `b` or \"c\"?"), ["a", "b", "c"]);
        assert_eq!(words("it's"), Vec::<&str>::new());
        assert_eq!(words("größe 'ü'"), ["ü"]);
    }

    #[test]
    fn the_suggestion_is_found_in_any_case() {
        let (before, after) = split_at_suggestion("No 'Ä'. Did You Mean 'b'?").unwrap();
        assert_eq!((before, after), ("No 'Ä'. ", " 'b'?"));
        assert_eq!(split_at_suggestion("nothing"), None);
    }
}
