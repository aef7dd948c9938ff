//! One raw call that holds the arguments of several.

use std::borrow::Cow;

use crate::arguments::rules::SCALAR_TO_STRING;
use crate::call::RawCall;
use crate::fix::Fix;
use crate::json::lenient::{self, TextFix};
use crate::policy::Policy;
use crate::rule::{Loss, Risk, Rule, Stage};
use crate::schema::Tree;
use crate::toolset::ToolSet;
use crate::verdict::{Reason, Verdict};

/// Several objects in the arguments of one call.
pub(crate) static SPLIT_CALLS: Rule = Rule::new(
    "split_calls",
    Stage::Text,
    Risk::Inferred,
    40,
    "one call held the arguments of several; send one call for each",
)
.with_loss(Loss::Splits);

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&SPLIT_CALLS];

impl ToolSet {
    /// The calls that one stands for whose text holds the arguments of several; the call itself
    /// where it holds one, and where one of them cannot run by itself.
    pub fn split(&self, raw: &RawCall<'_>, policy: &Policy) -> Vec<RawCall<'static>> {
        let whole = self.repair(raw, policy);
        match self.several(raw, policy, &whole) {
            Some(several) => several.into_iter().map(|(call, _)| call).collect(),
            None => vec![raw.clone().into_owned()],
        }
    }

    /// Like [`ToolSet::repair`], but a call that holds the arguments of several gives a verdict
    /// for each. If one of them cannot run by itself, none does: the verdict is that of the whole.
    pub fn repair_all(&self, raw: &RawCall<'_>, policy: &Policy) -> Vec<Verdict<'static>> {
        let whole = self.repair(raw, policy).into_owned();
        match self.several(raw, policy, &whole) {
            Some(several) => several.into_iter().map(|(_, verdict)| verdict).collect(),
            None => vec![whole],
        }
    }

    /// The parts of a call with their verdicts, if there are several and all of them can run.
    fn several(
        &self,
        raw: &RawCall<'_>,
        policy: &Policy,
        whole: &Verdict<'_>,
    ) -> Option<Vec<(RawCall<'static>, Verdict<'static>)>> {
        let rejected = match whole {
            Verdict::Rejected(rejected) if rejected.reason() == Reason::Ambiguous => rejected,
            _ => return None,
        };
        // The schema decides where strings end, and so how many objects there are.
        let tree = &self.named(rejected.tool()?)?.tree;
        parts(raw, tree, policy)?
            .map(|Part { call, respelled }| {
                let verdict = self.repair(&call, policy).into_owned();
                let runs = verdict.call().is_some() && !(respelled && has_new_string(&verdict));
                runs.then_some((call, verdict))
            })
            .collect()
    }
}

/// Whether a number or literal became a string.
fn has_new_string(verdict: &Verdict<'_>) -> bool {
    let Verdict::Repaired(repaired) = verdict else {
        return false;
    };
    let mut fixes = repaired.fixes().iter();
    fixes.any(|fix| fix.rule == SCALAR_TO_STRING.id)
}

/// A call that is one of several.
struct Part {
    call: RawCall<'static>,
    /// Numbers or literals in it are not spelled as the model spelled them.
    respelled: bool,
}

/// The calls that a text with several different values stands for, one for each. Ids get a number
/// at their end.
fn parts<'r>(
    raw: &'r RawCall<'r>,
    tree: &Tree,
    policy: &Policy,
) -> Option<impl Iterator<Item = Part> + use<'r>> {
    let text = raw.arguments()?;
    let read = lenient::read(text, None, tree, Some(tree.root()), policy.limits().depth);
    if read.values.len() < 2 || read.cut.is_some() || read.problem.is_some() {
        return None;
    }
    // Splitting is no surer than the reading of the text.
    let risk = read
        .fixes
        .iter()
        .map(|fix| policy.risk_of(fix.rule, fix.risk))
        .try_fold(
            policy.risk_of(&SPLIT_CALLS, SPLIT_CALLS.risk)?,
            |risk, of_fix| Some(risk.max(of_fix?)),
        )?;
    let count = format!("{} calls", read.values.len());
    let fix = Fix::new(&SPLIT_CALLS, "", text, &count).with_risk(risk);
    let respellings = read.fixes.into_iter().filter(TextFix::is_respelling);
    let respelled: Vec<_> = respellings.map(|fix| fix.after.start).collect();
    Some(
        read.values
            .into_iter()
            .enumerate()
            .map(move |(at, value)| Part {
                respelled: respelled.iter().any(|place| value.contains(place)),
                call: RawCall {
                    id: raw.id().map(|id| format!("{id}_{at}")),
                    name: Cow::Owned(raw.name().to_owned()),
                    arguments: Some(Cow::Owned(
                        read.text.get(value).unwrap_or_default().to_owned(),
                    )),
                    finish: raw.finish,
                    readings: raw.readings.iter().chain([&fix]).cloned().collect(),
                },
            }),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::RuleSetting;
    use crate::spec::{Effect, ToolSpec};

    fn tools() -> ToolSet {
        let schema =
            json!({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]});
        ToolSet::new([ToolSpec::new("tool", schema).with_effect(Effect::ReadOnly)]).0
    }

    fn run(text: &str, policy: &Policy) -> Vec<Verdict<'static>> {
        tools().repair_all(&RawCall::new("tool", text).with_id("a"), policy)
    }

    fn objects(count: usize) -> String {
        let objects: Vec<String> = (0..count).map(|n| format!(r#"{{"s": "{n}"}}"#)).collect();
        objects.concat()
    }

    #[test]
    fn each_part_is_a_call_of_its_own() {
        let verdicts = run(&objects(3), &Policy::default());
        let calls: Vec<_> = verdicts.iter().filter_map(Verdict::call).collect();
        let texts: Vec<_> = calls.iter().map(|call| call.arguments().text()).collect();
        assert_eq!(texts, [r#"{"s": "0"}"#, r#"{"s": "1"}"#, r#"{"s": "2"}"#]);
        let ids: Vec<_> = calls.iter().filter_map(|call| call.id()).collect();
        assert_eq!(ids, ["a_0", "a_1", "a_2"]);
    }

    #[test]
    fn more_calls_than_the_limit_are_refused() {
        let policy = Policy::default();
        assert_eq!(run(&objects(256), &policy).len(), 256);
        let verdicts = run(&objects(257), &policy);
        let [Verdict::Rejected(rejected)] = verdicts.as_slice() else {
            panic!("{verdicts:?}");
        };
        assert_eq!(rejected.reason(), Reason::Limit);
        assert!(rejected.detail().contains("257"), "{rejected:?}");
        let raw = RawCall::new("tool", objects(257));
        assert_eq!(tools().split(&raw, &policy), [raw]);
    }

    #[test]
    fn splitting_is_as_sure_as_the_reading() {
        let text = r#"{"s": "\ud800"} {"s": "x"}"#;
        let ran = |policy: &Policy| run(text, policy).iter().any(|one| one.call().is_some());
        assert!(!ran(&Policy::default()));
        assert!(ran(&Policy::default().with_accepted(Risk::Guess)));
        let off = Policy::default()
            .with_accepted(Risk::Guess)
            .with_rule("lone_surrogate", RuleSetting::Off);
        assert!(!ran(&off));
    }
}
