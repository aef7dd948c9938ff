//! Running the tool, and what follows when it fails.

use std::sync::Arc;
use std::time::Duration;

use repair_core::{Call, Effect, ToolSet, canonical_json};

use super::{CallRun, is_repeatable};
use crate::backoff::mix;
use crate::check::Checked;
use crate::circuit::Pass;
use crate::class::{ErrorClass, Strategy};
use crate::event::EventKind;
use crate::failure::{CallError, FailedAttempt, FailedCall};
use crate::ledger::{Amounts, Reservation};
use crate::loops::LoopResult;
use crate::outcome::{End, GiveUpReason};
use crate::step::{ResultDigest, Step};

impl CallRun {
    /// Runs the call, for which an attempt is reserved. `announce` is what this try is about.
    pub(super) fn run_reserved(&mut self, announce: Option<EventKind>) {
        let Some(call) = self.call.clone() else {
            return self.give_up(GiveUpReason::NoCandidate);
        };
        let tools = self.shared.tools();
        if tools.spec(call.tool()).is_none() {
            return self.give_up(GiveUpReason::UnknownTool);
        }
        if !tools.permits(call.tool()) {
            return self.give_up(GiveUpReason::NotPermitted);
        }
        if self.has_waited() && !self.still_fits(&tools, &call) {
            return self.give_up(GiveUpReason::ToolChanged);
        }
        if let Err(reason) = self.ledger.has_time(Duration::ZERO) {
            return self.give_up(reason);
        }
        let Some(pass) = self
            .shared
            .tool_circuits
            .pass(&self.memory.tool, self.clock.now)
        else {
            let name = self.memory.tool.to_string();
            return self.give_up(GiveUpReason::CircuitOpen { name });
        };
        if let Some(event) = announce {
            self.memory.attempt += 1;
            self.emit(event);
        }
        self.pass = Some(pass);
        let deadline = self
            .ledger
            .deadline(self.clock.now, |budget| budget.attempt_timeout);
        self.issue(|ticket| Step::Run {
            ticket,
            call,
            deadline,
        });
    }

    /// Whether time has passed since the call was checked.
    fn has_waited(&self) -> bool {
        let is_first = self.memory.steps == 0;
        !is_first && matches!(self.step, Step::Wait { .. } | Step::Approve { .. })
    }

    /// Whether the tool still takes exactly these arguments, and does what it did when they were
    /// accepted.
    fn still_fits(&self, tools: &ToolSet, call: &Call<'_>) -> bool {
        if self.effect() != self.memory.effect {
            return false;
        }
        match self.check(tools, call.arguments().text()) {
            Checked::Call(same, _) => same.arguments() == call.arguments(),
            Checked::Missing(_) | Checked::Refused(_) => false,
        }
    }

    pub(super) fn succeed(&mut self, call: Arc<Call<'static>>, digest: ResultDigest) {
        self.settle(Amounts::ATTEMPT);
        self.report(Pass::worked);
        self.emit(EventKind::Succeeded {
            arguments: self.arguments(),
            digest,
        });
        let changed_something = !matches!(self.effect(), Effect::ReadOnly | Effect::Unknown);
        self.remember_result(LoopResult::success(digest), changed_something);
        self.finish(End::Succeeded { call, digest });
    }

    pub(super) fn tool_failed(&mut self, error: &CallError, retry_after: Option<Duration>) {
        self.settle(Amounts::ATTEMPT);
        let now = self.clock.now;
        match error.class.strategy() {
            Strategy::Retry => self.report(|pass| pass.failed(now)),
            Strategy::Repair | Strategy::Debug => self.report(Pass::worked),
            Strategy::GiveUp => self.report(drop),
        }
        self.note_failure(error);
        self.decide(error, retry_after);
    }

    pub(super) fn note_failure(&mut self, error: &CallError) {
        let arguments = self.arguments();
        let may_have_run = error.may_have_run;
        if error.class.strategy() != Strategy::Retry {
            let canonical = canonical_json(&arguments);
            self.memory.failed.extend(canonical);
        }
        self.memory.failures.push(FailedAttempt {
            attempt: self.memory.attempt,
            call: FailedCall {
                tool: Arc::clone(&self.memory.tool),
                arguments: Arc::clone(&arguments),
            },
            error: error.clone(),
        });
        self.emit(EventKind::Failed {
            arguments,
            may_have_run,
        });
    }

    /// What follows a failure.
    pub(super) fn decide(&mut self, error: &CallError, retry_after: Option<Duration>) {
        match error.class.strategy() {
            Strategy::GiveUp => self.give_up(match error.class {
                ErrorClass::NotPermitted => GiveUpReason::NotPermitted,
                ErrorClass::Denied => GiveUpReason::Denied { because: None },
                _ => GiveUpReason::Fatal,
            }),
            _ if error.may_have_run && !self.is_repeatable() => {
                self.give_up(GiveUpReason::MayHaveRun);
            }
            Strategy::Retry => self.back_off(retry_after),
            Strategy::Repair | Strategy::Debug => self.debug(),
        }
    }

    /// Whether the tool may run once more, by what it did when it ran and by what it does now.
    fn is_repeatable(&self) -> bool {
        is_repeatable(self.memory.effect) && is_repeatable(self.effect())
    }

    /// The same call again, after a pause.
    fn back_off(&mut self, retry_after: Option<Duration>) {
        let attempt = match self.ledger.attempt() {
            Ok(attempt) => attempt,
            Err(reason) => return self.give_up(reason),
        };
        let in_a_row = self.memory.failures.iter().rev();
        let in_a_row = in_a_row.take_while(|failure| failure.error.class == ErrorClass::Transient);
        let in_a_row = u32::try_from(in_a_row.count()).unwrap_or(u32::MAX);
        let settings = &self.shared.settings;
        let chance = mix(settings.seed, self.memory.number, u64::from(in_a_row));
        let pause = settings.backoff.pause(in_a_row, chance);
        let pause = pause.max(retry_after.unwrap_or_default());
        if let Err(reason) = self.ledger.has_time(pause) {
            return self.give_up(reason);
        }
        let until = self.clock.now.saturating_add(pause);
        self.memory.attempt += 1;
        self.emit(EventKind::Retrying {
            strategy: Strategy::Retry,
            candidate: None,
            arguments: self.arguments(),
            until: Some(until),
        });
        self.pause(attempt, until);
    }

    /// Waits, with an attempt reserved for afterwards.
    pub(super) fn pause(&mut self, attempt: Reservation, until: Duration) {
        self.held = Some(attempt);
        self.issue(|ticket| Step::Wait { ticket, until });
    }
}
