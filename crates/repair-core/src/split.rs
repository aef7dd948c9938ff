//! One raw call that holds the arguments of several.

use std::borrow::Cow;

use crate::call::RawCall;
use crate::fix::Fix;
use crate::json::{MAX_DEPTH, lenient};
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

impl RawCall<'_> {
    /// The calls that a text with several different values stands for, one for each; the call
    /// itself where there is one value or none. Ids get a number at their end.
    pub fn split(&self) -> Vec<RawCall<'static>> {
        let whole = || vec![self.clone().into_owned()];
        let Some(text) = self.arguments() else {
            return whole();
        };
        let read = lenient::read(text, &Tree::any_object(), None, MAX_DEPTH);
        if read.values.len() < 2 || read.cut.is_some() || read.problem.is_some() {
            return whole();
        }
        let fix = Fix::new(
            &SPLIT_CALLS,
            "",
            text,
            &format!("{} calls", read.values.len()),
        );
        read.values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let value = read.text.get(value.clone()).unwrap_or_default();
                let mut raw = self.clone().into_owned();
                raw.arguments = Some(Cow::Owned(value.to_owned()));
                raw.id = self.id().map(|id| format!("{id}_{at}"));
                raw.with_reading(fix.clone())
            })
            .collect()
    }
}

impl ToolSet {
    /// Like [`ToolSet::repair`], but a call that holds the arguments of several gives a verdict
    /// for each. If one of them cannot run by itself, none does: the verdict is that of the whole.
    pub fn repair_all(&self, raw: &RawCall<'_>, policy: &Policy) -> Vec<Verdict<'static>> {
        let whole = self.repair(raw, policy).into_owned();
        let may_hold_several =
            matches!(&whole, Verdict::Rejected(rejected) if rejected.reason() == Reason::Ambiguous);
        if !may_hold_several || policy.risk_of(&SPLIT_CALLS, SPLIT_CALLS.risk).is_none() {
            return vec![whole];
        }
        let calls = raw.split();
        let verdicts: Vec<_> = calls
            .iter()
            .map(|call| self.repair(call, policy).into_owned())
            .collect();
        let all_run = verdicts.len() > 1 && verdicts.iter().all(|verdict| verdict.call().is_some());
        if all_run { verdicts } else { vec![whole] }
    }
}
