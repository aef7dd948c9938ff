//! One call on its way through the machine.
//!
//! The files are in the order of the way: [`begin`] repairs the call, [`attempt`] runs it and
//! decides what follows a failure, [`debug`] finds other arguments, [`consent`] has them approved,
//! [`end`] sums up. Each step ends by issuing the next [`Step`] or by finishing.

mod attempt;
mod begin;
mod consent;
mod debug;
mod end;
mod save;

pub use save::{ResumeError, SavedRun};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use repair_core::{Call, Effect, Fix, RawCall, Rejected, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::circuit::Pass;
use crate::class::ErrorClass;
use crate::conversation::Shared;
use crate::event::{Event, EventKind};
use crate::failure::{CallError, Context, FailedAttempt, RefusedCandidate};
use crate::ledger::{Amounts, Ledger, Reservation};
use crate::loops::LoopKey;
use crate::outcome::GiveUpReason;
use crate::step::{Answer, OutOfStep, Step, Ticket};

/// One call on its way through the machine. Made by [`crate::Conversation::start`].
///
/// Dropping it releases what it has reserved and ends it without a terminal event;
/// [`CallRun::cancel`] ends it with one.
#[derive(Debug)]
pub struct CallRun {
    shared: Arc<Shared>,
    ledger: Ledger,
    memory: Memory,
    /// Why the call could not run as the model wrote it.
    rejected: Option<Box<Rejected>>,
    /// The call that runs, will run after a pause, or ran last.
    call: Option<Arc<Call<'static>>>,
    /// What rules changed in it.
    fixes: Arc<[Fix]>,
    loop_key: Option<LoopKey>,
    step: Step,
    /// What is reserved for the present step.
    held: Option<Reservation>,
    /// The circuit that the present step goes through.
    pass: Option<Pass>,
    /// What an approver is being asked to allow; `None` if only a replacement can run.
    chosen: Option<Chosen>,
    clock: Clock,
    events: Vec<Event>,
}

/// What a run knows about its past. It is what gets saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Memory {
    number: u64,
    /// The number of the present step.
    steps: u64,
    raw: RawCall<'static>,
    context: Context,
    budget: Budget,
    /// The resolved tool, or the emitted name where it resolves to none.
    tool: Arc<str>,
    attempt: u32,
    round: u32,
    replacements: u32,
    failures: Vec<FailedAttempt>,
    refused: Vec<RefusedCandidate>,
    /// Canonical arguments that have failed.
    failed: BTreeSet<String>,
    /// Canonical arguments of repairs that were equally good.
    tied: BTreeSet<String>,
    /// What running the tool does, as it was when the present arguments were accepted or shown.
    effect: Effect,
    /// The model's call was cut off: whatever completes it needs consent.
    is_cut: bool,
}

/// The time of a run. It never goes back.
#[derive(Debug)]
struct Clock {
    /// Elapsed before the run was taken up again.
    before: Duration,
    started: Duration,
    /// When the present step was issued.
    since: Duration,
    now: Duration,
}

/// Arguments that were chosen to run next.
#[derive(Clone, Debug)]
struct Chosen {
    call: Arc<Call<'static>>,
    fixes: Arc<[Fix]>,
    /// The place in the last proposal.
    candidate: Option<usize>,
}

impl CallRun {
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
            Some(_) => self.pass_time(now),
        }
        match (self.step.clone(), answer) {
            (Step::Run { call, .. }, Answer::Ran { digest }) => self.succeed(call, digest),
            (
                Step::Run { .. },
                Answer::Failed {
                    class,
                    message,
                    may_have_run,
                    retry_after,
                },
            ) => {
                let mut error = CallError::new(class, message);
                error.may_have_run = may_have_run;
                self.tool_failed(&error, retry_after);
            }
            (Step::Run { .. }, Answer::TimedOut) => {
                let mut error = CallError::new(ErrorClass::Transient, "the tool took too long");
                error.may_have_run = true;
                self.tool_failed(&error, None);
            }
            (Step::Propose { failure, .. }, Answer::Proposed { proposal, usage }) => {
                self.proposed(&failure, proposal, usage);
            }
            (Step::Propose { failure, .. }, Answer::ProposeFailed { message, usage }) => {
                self.propose_failed(&failure, message, Some(usage));
            }
            (Step::Propose { failure, .. }, Answer::TimedOut) => {
                self.propose_failed(&failure, "it took too long".to_owned(), None);
            }
            (Step::Wait { until, .. }, Answer::Woke) => {
                if self.clock.now >= until {
                    self.run_reserved(None);
                }
            }
            (Step::Approve { .. }, Answer::Approved) => self.approved(),
            (Step::Approve { .. }, Answer::Denied { because }) => {
                self.give_up(GiveUpReason::Denied { because });
            }
            (Step::Approve { .. }, Answer::TimedOut) => {
                self.give_up(GiveUpReason::Denied { because: None });
            }
            (Step::Approve { request, .. }, Answer::Replaced { arguments }) => {
                self.replaced(&request, &arguments);
            }
            (_, Answer::Cancelled) => self.cancel(now),
            (step, _) => return Err(OutOfStep::Answer { step: step.name() }),
        }
        Ok(self.step())
    }

    /// Ends the run; does nothing if it has ended. A tool that was running may have had its effect.
    pub fn cancel(&mut self, now: Duration) {
        if matches!(self.step, Step::Done(_)) {
            return;
        }
        self.pass_time(now);
        if matches!(self.step, Step::Run { .. }) {
            let mut error = CallError::new(ErrorClass::Fatal, "the call was cancelled");
            error.may_have_run = true;
            self.settle(Amounts::ATTEMPT);
            self.note_failure(&error);
        }
        self.give_up(GiveUpReason::Cancelled);
    }

    /// The events since the last time, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The run's number in its conversation.
    pub fn number(&self) -> u64 {
        self.memory.number
    }
}

impl CallRun {
    /// Charges the time of the present step. Waiting for an approver is free.
    fn pass_time(&mut self, now: Duration) {
        self.clock.now = self.clock.now.max(now);
        let spent = self.clock.now.saturating_sub(self.clock.since);
        self.clock.since = self.clock.now;
        if !matches!(self.step, Step::Approve { .. }) {
            self.ledger.spend_time(spent);
        }
    }

    fn issue(&mut self, step: impl FnOnce(Ticket) -> Step) {
        self.memory.steps += 1;
        self.step = step(Ticket {
            run: self.memory.number,
            step: self.memory.steps,
        });
    }

    fn settle(&mut self, used: Amounts) {
        if let Some(held) = self.held.take() {
            held.settle(used);
        }
    }

    fn report(&mut self, report: impl FnOnce(Pass)) {
        if let Some(pass) = self.pass.take() {
            report(pass);
        }
    }

    fn effect(&self) -> Effect {
        let tools = self.shared.tools();
        let declared = tools.spec(&self.memory.tool).map(ToolSpec::effect);
        self.shared
            .policy
            .effect(&self.memory.tool, declared.unwrap_or_default())
    }

    fn last_error(&self) -> Option<&CallError> {
        self.memory.failures.last().map(|failure| &failure.error)
    }

    fn message(&self) -> Arc<str> {
        self.last_error()
            .map(|error| Arc::clone(&error.message))
            .unwrap_or_default()
    }

    /// The arguments that run or ran last, or that the model wrote where nothing ran yet.
    fn arguments_text(&self) -> &str {
        match &self.call {
            Some(call) => call.arguments().text(),
            None => self.memory.raw.arguments().unwrap_or_default(),
        }
    }

    fn arguments(&self) -> Arc<str> {
        self.arguments_text().into()
    }

    fn emit(&mut self, kind: EventKind) {
        let Memory {
            number,
            raw,
            tool,
            attempt,
            ..
        } = &self.memory;
        let emitted_name = if raw.name() == &**tool {
            Arc::clone(tool)
        } else {
            raw.name().into()
        };
        let error = self.last_error();
        self.events.push(Event {
            number: self.shared.next_event(),
            conversation: Arc::clone(&self.shared.settings.id),
            run: *number,
            call: raw.id().map(Arc::from),
            tool: Arc::clone(tool),
            emitted_name,
            attempt: *attempt,
            at: self.clock.now,
            elapsed: self.clock.elapsed(),
            left: self.ledger.left(),
            class: error.map(|error| error.class),
            message: error.map(|error| Arc::clone(&error.message)),
            kind,
        });
    }
}

impl Clock {
    fn elapsed(&self) -> Duration {
        self.before
            .saturating_add(self.now.saturating_sub(self.started))
    }
}

/// Whether running a tool twice is the same as running it once.
fn is_repeatable(effect: Effect) -> bool {
    matches!(effect, Effect::ReadOnly | Effect::Idempotent)
}
