//! The end: one terminal event, and an outcome.

use std::sync::Arc;

use repair_core::HistoryCall;

use super::CallRun;
use crate::class::ErrorClass;
use crate::conversation::lock;
use crate::event::EventKind;
use crate::failure::{CallError, FailedAttempt};
use crate::loops::{LoopKey, LoopResult};
use crate::outcome::{End, GiveUpReason, Outcome};
use crate::step::Step;

impl CallRun {
    pub(super) fn give_up(&mut self, reason: GiveUpReason) {
        let original = match self.memory.failures.first() {
            Some(first) => first.error.clone(),
            None => CallError::new(ErrorClass::Fatal, reason.to_string()),
        };
        self.emit(EventKind::GaveUp {
            reason: reason.clone(),
            original: original.clone(),
        });
        let is_told = !matches!(
            reason,
            GiveUpReason::Cancelled | GiveUpReason::CircuitOpen { .. } | GiveUpReason::Loop
        );
        let is_transient = |failure: &FailedAttempt| failure.error.class == ErrorClass::Transient;
        if is_told && !self.memory.failures.iter().any(is_transient) {
            self.remember_result(LoopResult::error(&original.message), false);
        }
        self.finish(End::GaveUp { reason, original });
    }

    pub(super) fn remember_result(&self, result: LoopResult, changed_something: bool) {
        let Some(key) = self.loop_key else { return };
        let result = match key {
            LoopKey::UNKNOWN_TOOL => LoopResult::UNKNOWN_TOOL,
            _ => result,
        };
        self.shared.loops.record(key, result, changed_something);
    }

    pub(super) fn finish(&mut self, end: End) {
        (self.held, self.pass, self.chosen) = (None, None, None);
        let note = match &end {
            End::Succeeded { call, .. } if !self.fixes.is_empty() => {
                lock(&self.shared.teacher).teach_fixes(call.tool(), self.fixes.iter())
            }
            _ => String::new(),
        };
        let history = self.history(&end);
        self.step = Step::Done(Arc::new(Outcome {
            end,
            failures: std::mem::take(&mut self.memory.failures),
            refused: std::mem::take(&mut self.memory.refused),
            fixes: Arc::clone(&self.fixes),
            note,
            history,
            spent: self.ledger.spent(),
        }));
    }

    fn history(&self, end: &End) -> HistoryCall {
        let may_have_run = self.last_error().is_some_and(|error| error.may_have_run);
        match (end, &self.rejected, &self.call) {
            (End::Succeeded { call, .. }, _, _) => call.history_call(),
            (_, _, Some(call)) if may_have_run => call.history_call(),
            (_, Some(rejected), _) => rejected.history_call(),
            _ => self
                .shared
                .tools()
                .repair(&self.memory.raw, &self.shared.policy)
                .history_call(),
        }
    }
}
