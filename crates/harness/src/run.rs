//! One call on its way through the machine.

use std::sync::Arc;
use std::time::Duration;

use repair_core::{Call, HistoryCall, RawCall, ToolSet, Verdict};

use crate::budget::{Left, Spent};
use crate::class::ErrorClass;
use crate::conversation::{Shared, lock};
use crate::event::{Event, EventKind};
use crate::failure::{CallError, FailedAttempt, FailedCall};
use crate::outcome::{End, GiveUpReason, Outcome};
use crate::settings::Request;
use crate::step::{Answer, OutOfStep, Step, Ticket};

/// One call on its way through the machine. Made by [`crate::Conversation::start`].
///
/// Dropping it ends it without a terminal event; [`CallRun::cancel`] ends it with one.
#[derive(Debug)]
pub struct CallRun {
    shared: Arc<Shared>,
    number: u64,
    verdict: Verdict<'static>,
    started: Duration,
    attempt: u32,
    failures: Vec<FailedAttempt>,
    events: Vec<Event>,
    step: Step,
}

impl CallRun {
    pub(crate) fn start(shared: Arc<Shared>, request: Request, now: Duration) -> Self {
        let tools: ToolSet = shared.tools();
        let raw: RawCall<'static> = request.raw;
        let verdict = tools.repair(&raw, &shared.policy).into_owned();
        let number = shared.next_run();
        let ticket = Ticket {
            run: number,
            step: 0,
        };
        let step = match verdict.call() {
            Some(call) => Step::Run {
                ticket,
                call: Arc::new(call.clone().into_owned()),
                deadline: shared
                    .settings
                    .run_budget
                    .attempt_timeout
                    .map(|time| now.saturating_add(time)),
            },
            None => Step::Wait { ticket, until: now },
        };
        let mut run = Self {
            shared,
            number,
            verdict,
            started: now,
            attempt: 0,
            failures: Vec::new(),
            events: Vec::new(),
            step,
        };
        match &run.verdict {
            Verdict::Valid(_) => {}
            Verdict::Repaired(repaired) => {
                let kind = EventKind::Repaired {
                    arguments: repaired.call().arguments().text().into(),
                    fixes: repaired.fixes().iter().cloned().collect(),
                };
                run.event(kind, now);
            }
            Verdict::Rejected(rejected) => {
                let error = CallError::new(rejected.reason().into(), rejected.feedback());
                run.fail(error, now);
            }
        }
        run
    }

    /// What to do next: the same until it is answered.
    pub fn step(&self) -> Step {
        self.step.clone()
    }

    /// Reports what came of the step that has this ticket, and says what to do next.
    pub fn answer(
        &mut self,
        ticket: Ticket,
        answer: Answer,
        now: Duration,
    ) -> Result<Step, OutOfStep> {
        match self.step.ticket() {
            None => return Err(OutOfStep::Done),
            Some(present) if present != ticket => return Err(OutOfStep::Ticket),
            Some(_) => {}
        }
        match (&self.step, answer) {
            (Step::Run { call, .. }, Answer::Ran { digest }) => {
                let call = Arc::clone(call);
                let arguments = call.arguments().text().into();
                self.event(EventKind::Succeeded { arguments, digest }, now);
                self.finish(End::Succeeded { call, digest });
            }
            (
                Step::Run { .. },
                Answer::Failed {
                    class,
                    message,
                    may_have_run,
                    ..
                },
            ) => {
                let mut error = CallError::new(class, message);
                error.may_have_run = may_have_run;
                self.fail(error, now);
            }
            (_, Answer::Cancelled) => self.cancel(now),
            _ => return Err(OutOfStep::Answer { step: "run" }),
        }
        Ok(self.step())
    }

    /// Ends the run; does nothing if it has ended.
    pub fn cancel(&mut self, now: Duration) {
        if !matches!(self.step, Step::Done(_)) {
            self.give_up(GiveUpReason::Cancelled, now);
        }
    }

    /// The events since the last time, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn fail(&mut self, error: CallError, now: Duration) {
        let arguments: Arc<str> = self.history().arguments.into();
        self.failures.push(FailedAttempt {
            attempt: self.attempt,
            call: FailedCall {
                tool: self.history().name.into(),
                arguments: Arc::clone(&arguments),
            },
            error: error.clone(),
        });
        let may_have_run = error.may_have_run;
        self.event(
            EventKind::Failed {
                arguments,
                may_have_run,
            },
            now,
        );
        self.give_up(GiveUpReason::NoCandidate, now);
    }

    fn give_up(&mut self, reason: GiveUpReason, now: Duration) {
        let original = match self.failures.first() {
            Some(first) => first.error.clone(),
            None => CallError::new(ErrorClass::Fatal, reason.to_string()),
        };
        let kind = EventKind::GaveUp {
            reason: reason.clone(),
            original: original.clone(),
        };
        self.event(kind, now);
        self.finish(End::GaveUp { reason, original });
    }

    fn finish(&mut self, end: End) {
        let fixes = match &self.verdict {
            Verdict::Repaired(repaired) => repaired.fixes().iter().cloned().collect(),
            _ => Arc::default(),
        };
        let note = match end {
            End::Succeeded { .. } => lock(&self.shared.teacher).teach(&self.verdict),
            End::GaveUp { .. } => String::new(),
        };
        self.step = Step::Done(Arc::new(Outcome {
            end,
            failures: self.failures.clone(),
            fixes,
            note,
            history: self.history(),
            spent: Spent::default(),
        }));
    }

    fn history(&self) -> HistoryCall {
        self.verdict.history_call()
    }

    fn event(&mut self, kind: EventKind, now: Duration) {
        let call: Option<&Call<'_>> = self.verdict.call();
        let error = self.failures.last().map(|failure| &failure.error);
        self.events.push(Event {
            number: self.shared.next_event(),
            conversation: Arc::clone(&self.shared.settings.id),
            run: self.number,
            call: call.and_then(|call| call.id()).map(Arc::from),
            tool: self.history().name.into(),
            attempt: self.attempt,
            at: now,
            elapsed: now.saturating_sub(self.started),
            left: Left::default(),
            class: error.map(|error| error.class),
            message: error.map(|error| Arc::clone(&error.message)),
            kind,
        });
    }
}
