//! Consent: which arguments need it, and what comes of asking.

use std::sync::Arc;

use repair_core::{Call, Effect, Origin, canonical_json};

use super::{CallRun, Chosen, is_repeatable};
use crate::approval::{ApprovalReason, ApprovalRequest};
use crate::check::Checked;
use crate::event::{EventKind, Rejection};
use crate::outcome::GiveUpReason;
use crate::ranking::{Ranked, is_at_least};
use crate::step::Step;

/// How often an approver may put other arguments in the place of those asked for.
const MOST_REPLACEMENTS: u32 = 8;

impl CallRun {
    /// Why a candidate does not run without consent.
    pub(super) fn reasons_to_ask(
        &self,
        candidate: &Ranked,
        call: &Call<'_>,
        is_novel: bool,
    ) -> Vec<ApprovalReason> {
        let effect = self.effect();
        let settings = &self.shared.settings;
        let accepts = |risk, loss| {
            let policy = &self.shared.policy;
            policy.accepts(&self.memory.tool, effect, risk, loss)
        };
        let is_risky = candidate.by_rule_only.is_some_and(|risk| {
            !accepts(risk, None)
                || !candidate
                    .fixes
                    .iter()
                    .all(|fix| accepts(fix.risk, fix.loss))
        });
        let canonical = canonical_json(call.arguments().text());
        let is_tied =
            candidate.tied || canonical.is_none_or(|text| self.memory.tied.contains(&text));
        [
            (
                is_closed(effect) || settings.fail_closed,
                ApprovalReason::FailClosed,
            ),
            (is_novel && !is_repeatable(effect), ApprovalReason::Novel),
            (is_tied, ApprovalReason::Tie),
            (
                candidate.from_cut || self.memory.is_cut,
                ApprovalReason::Cut,
            ),
            (is_risky, ApprovalReason::Risk),
            (
                !is_at_least(candidate.confidence, settings.review_below),
                ApprovalReason::LowConfidence,
            ),
        ]
        .into_iter()
        .filter_map(|(applies, reason)| applies.then_some(reason))
        .collect()
    }

    pub(super) fn request(&self, arguments: &str) -> ApprovalRequest {
        ApprovalRequest {
            tool: Arc::clone(&self.memory.tool),
            effect: self.effect(),
            arguments: arguments.into(),
            failed: self.arguments(),
            error: self.message(),
            reasons: Vec::new(),
            missing: Vec::new(),
            origin: None,
            confidence: 1.0,
            rationale: Arc::default(),
        }
    }

    pub(super) fn escalate_missing(&mut self, candidate: &Ranked, missing: Vec<String>) {
        let request = ApprovalRequest {
            reasons: vec![ApprovalReason::MissingValue],
            missing,
            origin: Some(Origin::Model),
            confidence: candidate.confidence,
            rationale: candidate.rationale.as_str().into(),
            ..self.request(&candidate.arguments)
        };
        self.escalate(request, None);
    }

    pub(super) fn escalate(&mut self, request: ApprovalRequest, chosen: Option<Chosen>) {
        let request = Arc::new(request);
        self.memory.effect = request.effect;
        self.chosen = chosen;
        self.emit(EventKind::Escalated {
            request: Arc::clone(&request),
        });
        self.issue(|ticket| Step::Approve { ticket, request });
    }

    pub(super) fn approved(&mut self) {
        match self.chosen.take() {
            Some(chosen) => self.retry(chosen),
            None => self.give_up(GiveUpReason::Denied {
                because: Some("a required value is still missing".to_owned()),
            }),
        }
    }

    /// The approver's own arguments: checked like any others, and shown once more as they would
    /// run.
    pub(super) fn replaced(&mut self, request: &ApprovalRequest, arguments: &str) {
        self.memory.replacements += 1;
        if self.memory.replacements > MOST_REPLACEMENTS {
            return self.give_up(GiveUpReason::Denied {
                because: Some("the arguments were replaced too often".to_owned()),
            });
        }
        let why = match self.check(&self.shared.tools(), arguments) {
            Checked::Call(call, fixes) if !self.has_failed(&call) => {
                let request = ApprovalRequest {
                    reasons: vec![ApprovalReason::Replaced],
                    ..self.request(call.arguments().text())
                };
                let chosen = Chosen {
                    call,
                    fixes: fixes.into(),
                    candidate: None,
                };
                return self.escalate(request, Some(chosen));
            }
            Checked::Call(..) => Rejection::AlreadyFailed,
            Checked::Refused(why) => why,
            Checked::Missing(_) => Rejection::MissingValue,
        };
        self.refuse(None, arguments.to_owned(), why);
        let chosen = self.chosen.take();
        self.escalate(request.clone(), chosen);
    }
}

/// Whether nothing but the model's own call may run without consent. An effect that this version
/// does not know is no safe one.
pub(super) fn is_closed(effect: Effect) -> bool {
    !matches!(
        effect,
        Effect::ReadOnly | Effect::Idempotent | Effect::Mutating | Effect::Unknown
    )
}
