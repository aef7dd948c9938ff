//! The two words between a run and its driver: what to do next, and what came of it.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use repair_core::Call;
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalRequest;
use crate::budget::Usage;
use crate::candidate::Proposal;
use crate::class::ErrorClass;
use crate::failure::Failure;
use crate::outcome::Outcome;

/// Names one step of one run. An answer is for the step of its ticket and for no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ticket {
    pub(crate) run: u64,
    pub(crate) step: u64,
}

/// What to do next. All times count from the conversation's epoch.
///
/// Exhaustive on purpose: a driver that ignores a step never ends.
#[derive(Clone, Debug)]
pub enum Step {
    /// Run the tool.
    Run {
        /// For the answer.
        ticket: Ticket,
        /// The call to run.
        call: Arc<Call<'static>>,
        /// When to stop it and answer [`Answer::TimedOut`].
        deadline: Option<Duration>,
    },
    /// Ask the debugger.
    Propose {
        /// For the answer.
        ticket: Ticket,
        /// What to ask about.
        failure: Arc<Failure>,
        /// When to stop it and answer [`Answer::TimedOut`].
        deadline: Option<Duration>,
        /// The most tokens that the answer may have.
        max_tokens: u64,
    },
    /// Do nothing for a while, then answer [`Answer::Woke`].
    Wait {
        /// For the answer.
        ticket: Ticket,
        /// The end of the pause.
        until: Duration,
    },
    /// Ask an approver. Without one, answer [`Answer::Denied`].
    Approve {
        /// For the answer. A consent is bound to it, and with it to these arguments.
        ticket: Ticket,
        /// What to ask for.
        request: Arc<ApprovalRequest>,
    },
    /// The run has ended.
    Done(Arc<Outcome>),
}

impl Step {
    /// The ticket for its answer; `None` when the run has ended.
    pub fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::Run { ticket, .. }
            | Self::Propose { ticket, .. }
            | Self::Wait { ticket, .. }
            | Self::Approve { ticket, .. } => Some(*ticket),
            Self::Done(_) => None,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Run { .. } => "run",
            Self::Propose { .. } => "propose",
            Self::Wait { .. } => "wait",
            Self::Approve { .. } => "approve",
            Self::Done(_) => "done",
        }
    }
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The tool ran without an error.
    Ran {
        /// A digest of its result, by which repetition is noticed.
        digest: ResultDigest,
    },
    /// The tool failed.
    Failed {
        /// What kind of failure.
        class: ErrorClass,
        /// The tool's own message for the model.
        message: String,
        /// Whether it may have had its effect.
        may_have_run: bool,
        /// How long the tool asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The debugger answered.
    Proposed {
        /// Its answer.
        proposal: Proposal,
        /// What it used.
        usage: Usage,
    },
    /// The debugger failed.
    ProposeFailed {
        /// Its error.
        message: String,
        /// What it used before it failed.
        usage: Usage,
    },
    /// The pause is over.
    Woke,
    /// The approver allows exactly these arguments.
    Approved,
    /// The approver forbids them, or there is none.
    Denied {
        /// The approver's words, if any.
        because: Option<String>,
    },
    /// The approver wants other arguments, which are validated and approved again.
    Replaced {
        /// The text of a JSON object.
        arguments: String,
    },
    /// The step took too long. A tool may have had its effect; a debugger failed; an approver said
    /// nothing, which means no.
    TimedOut,
    /// The caller does not want the run any more. A tool may have had its effect.
    Cancelled,
}

/// An answer that the run's present step does not take. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutOfStep {
    /// The ticket is of another step or another run.
    #[error("the answer is for another step: answer the ticket of the present one")]
    Ticket,
    /// The answer is of a kind that the step does not have.
    #[error("the present step is '{step}', which has no such answer")]
    Answer {
        /// The present step.
        step: &'static str,
    },
    /// The run has ended.
    #[error("the run has ended")]
    Done,
}

/// A digest of a tool's result. Equal results have equal digests; the machine never sees more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResultDigest(pub u64);

impl ResultDigest {
    /// The digest of a result's bytes.
    pub fn of(result: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(result);
        Self(hasher.finish())
    }
}
