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
    fn parts(&self) -> Vec<RawCall<'static>> {
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
        let may_hold_several =
            matches!(whole, Verdict::Rejected(rejected) if rejected.reason() == Reason::Ambiguous);
        if !may_hold_several || policy.risk_of(&SPLIT_CALLS, SPLIT_CALLS.risk).is_none() {
            return None;
        }
        let judged: Vec<_> = raw
            .parts()
            .into_iter()
            .map(|call| {
                let verdict = self.repair(&call, policy).into_owned();
                (call, verdict)
            })
            .collect();
        let all_run =
            judged.len() > 1 && judged.iter().all(|(_, verdict)| verdict.call().is_some());
        all_run.then_some(judged)
    }
}
