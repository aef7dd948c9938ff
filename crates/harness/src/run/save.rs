//! A run that outlives its process.

use std::sync::Arc;
use std::time::Duration;

use repair_core::{Call, Fix, RawCall};
use serde::{Deserialize, Serialize};

use super::{CallRun, Chosen, Clock, Memory};
use crate::approval::ApprovalRequest;
use crate::budget::Spent;
use crate::candidate::Candidate;
use crate::check::{Checked, check};
use crate::class::ErrorClass;
use crate::conversation::Shared;
use crate::event::Event;
use crate::failure::CallError;
use crate::step::{Step, Ticket};

const VERSION: u32 = 1;

/// A run as data. Made by [`CallRun::save`], taken up by [`crate::Conversation::resume`]; in
/// between it may go to a disk and to another process. It holds the arguments and the context.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedRun {
    version: u32,
    memory: Memory,
    spent: Spent,
    elapsed: Duration,
    /// The call that runs, will run after the pause, or ran last.
    call: Option<SavedCall>,
    step: SavedStep,
    events: Vec<Event>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedStep {
    Run,
    Propose {
        by_rule: Vec<Candidate>,
    },
    Wait {
        left: Duration,
    },
    Approve {
        request: ApprovalRequest,
        chosen: Option<SavedCall>,
    },
}

/// A call as its arguments: it is checked again before it becomes one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedCall {
    arguments: Arc<str>,
    fixes: Arc<[Fix]>,
    candidate: Option<usize>,
}

/// Why a saved run cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// Another version of this crate wrote it.
    #[error("the run was saved in format {found}, and this version reads format {VERSION}")]
    Version {
        /// The format found.
        found: u32,
    },
    /// Its call is none any more: the tools have changed.
    #[error("the saved call of '{tool}' no longer fits the tool")]
    Call {
        /// The tool.
        tool: String,
    },
}

impl SavedRun {
    pub(crate) fn number(&self) -> u64 {
        self.memory.number
    }
}

impl CallRun {
    /// The run as data, with the events that were not taken yet; `None` if it has ended. The run
    /// itself must not be driven on, or its tool runs twice.
    pub fn save(&self, now: Duration) -> Option<SavedRun> {
        let now = self.clock.now.max(now);
        let mut spent = self.ledger.spent();
        if !matches!(self.step, Step::Approve { .. }) {
            let in_step = now.saturating_sub(self.clock.since);
            spent.time = spent.time.saturating_add(in_step);
        }
        let call = |call: &Arc<Call<'static>>, fixes: &Arc<[Fix]>, candidate| SavedCall {
            arguments: call.arguments().text().into(),
            fixes: Arc::clone(fixes),
            candidate,
        };
        let step = match &self.step {
            Step::Run { .. } => {
                spent.attempts = spent.attempts.saturating_add(1);
                SavedStep::Run
            }
            Step::Propose { failure, .. } => {
                // The debugger may have been asked, and is asked again.
                spent.rounds = spent.rounds.saturating_add(1);
                SavedStep::Propose {
                    by_rule: failure.by_rule.clone(),
                }
            }
            Step::Wait { until, .. } => SavedStep::Wait {
                left: until.saturating_sub(now),
            },
            Step::Approve { request, .. } => SavedStep::Approve {
                request: (**request).clone(),
                chosen: self
                    .chosen
                    .as_ref()
                    .map(|chosen| call(&chosen.call, &chosen.fixes, chosen.candidate)),
            },
            Step::Done(_) => return None,
        };
        Some(SavedRun {
            version: VERSION,
            memory: self.memory.clone(),
            spent,
            elapsed: self
                .clock
                .elapsed()
                .saturating_add(now.saturating_sub(self.clock.now)),
            call: self.call.as_ref().map(|last| call(last, &self.fixes, None)),
            step,
            events: self.events.clone(),
        })
    }

    pub(crate) fn resume(
        shared: Arc<Shared>,
        saved: SavedRun,
        now: Duration,
    ) -> Result<Self, ResumeError> {
        if saved.version != VERSION {
            let found = saved.version;
            return Err(ResumeError::Version { found });
        }
        let clock = Clock {
            before: saved.elapsed,
            started: now,
            since: now,
            now,
        };
        let tool = Arc::clone(&saved.memory.tool);
        let mut run = Self::assemble(shared, saved.memory, saved.spent, clock);
        run.memory.tool = tool;
        run.events = saved.events;
        let last = saved.call.map(|call| run.checked(call)).transpose()?;
        run.fixes = last
            .as_ref()
            .map(|last| Arc::clone(&last.fixes))
            .unwrap_or_default();
        run.call = last.map(|last| last.call);
        match saved.step {
            SavedStep::Run => {
                let mut error = CallError::new(
                    ErrorClass::Transient,
                    "the tool was running when the run was interrupted",
                );
                error.may_have_run = true;
                run.note_failure(&error);
                run.decide(&error, None);
            }
            SavedStep::Propose { by_rule } => run.ask(by_rule),
            SavedStep::Wait { left } => match run.ledger.attempt() {
                Ok(attempt) => run.pause(attempt, now.saturating_add(left)),
                Err(reason) => run.give_up(reason),
            },
            SavedStep::Approve { request, chosen } => {
                run.chosen = chosen.map(|call| run.checked(call)).transpose()?;
                run.step = Step::Approve {
                    ticket: Ticket {
                        run: run.memory.number,
                        step: run.memory.steps,
                    },
                    request: Arc::new(request),
                };
            }
        }
        Ok(run)
    }

    /// A saved call, if the tools still take exactly these arguments.
    fn checked(&self, saved: SavedCall) -> Result<Chosen, ResumeError> {
        let mut raw = RawCall::new(&*self.memory.tool, &*saved.arguments);
        if let Some(id) = self.memory.raw.id() {
            raw = raw.with_id(id);
        }
        match check(&self.shared.tools(), &self.shared.policy, &raw) {
            Checked::Call(call, fixes) if fixes.is_empty() => Ok(Chosen {
                call,
                fixes: saved.fixes,
                candidate: saved.candidate,
            }),
            _ => Err(ResumeError::Call {
                tool: self.memory.tool.to_string(),
            }),
        }
    }
}
