//! How a run ended.

use std::fmt;
use std::sync::Arc;

use repair_core::{Call, Fix, HistoryCall};
use serde::{Deserialize, Serialize};

use crate::budget::{Resource, Spent};
use crate::failure::{CallError, FailedAttempt, RefusedCandidate};
use crate::step::ResultDigest;

/// How a run ended, and what it took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The end.
    pub end: End,
    /// The tries that failed, oldest first.
    pub failures: Vec<FailedAttempt>,
    /// The candidates that did not run, and why, oldest first.
    pub refused: Vec<RefusedCandidate>,
    /// What rules changed in the call that ran last.
    pub fixes: Arc<[Fix]>,
    /// The repair note for the model, to stand beside the result; empty where there is nothing to
    /// teach.
    pub note: String,
    /// The call for the conversation's history: the one that succeeded; where none did, the one
    /// that [`Outcome::error`] is about, in a form that no provider refuses.
    pub history: HistoryCall,
    /// What the run spent.
    pub spent: Spent,
}

/// The end of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum End {
    /// The tool ran without an error.
    Succeeded {
        /// The call that ran.
        call: Arc<Call<'static>>,
        /// A digest of its result.
        digest: ResultDigest,
    },
    /// Nothing more is tried.
    GaveUp {
        /// Why.
        reason: GiveUpReason,
        /// The error of the first try.
        original: CallError,
    },
}

impl Outcome {
    /// Whether the tool ran without an error.
    pub fn succeeded(&self) -> bool {
        matches!(self.end, End::Succeeded { .. })
    }

    /// The error to return, if there is no result: the original one. But where the last try may
    /// have had its effect, its error: who does not know of it would do the same again.
    pub fn error(&self) -> Option<&CallError> {
        let End::GaveUp { original, .. } = &self.end else {
            return None;
        };
        let last = self.failures.last().map(|failure| &failure.error);
        Some(last.filter(|last| last.may_have_run).unwrap_or(original))
    }
}

/// Why nothing more is tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GiveUpReason {
    /// No tool has the emitted name.
    UnknownTool,
    /// The tool is not permitted now.
    NotPermitted,
    /// An approver said no, or nobody could be asked.
    Denied {
        /// The approver's words, if any.
        because: Option<String>,
    },
    /// The tools were replaced while the call waited, and the tool no longer takes it.
    ToolChanged,
    /// The error says that nothing helps.
    Fatal,
    /// The tool may have had its effect, and must not have it twice.
    MayHaveRun,
    /// The same call has had the same result too often.
    Loop,
    /// A budget does not allow another step.
    Budget {
        /// Which amount.
        resource: Resource,
        /// It is the conversation's budget, not the run's.
        shared: bool,
    },
    /// The tool or the debugger failed so often that it is left alone for a while.
    CircuitOpen {
        /// The tool, or the debugger's endpoint.
        name: String,
    },
    /// The tool has no usable schema, so that no proposal could be checked.
    NoSchema,
    /// The error says nothing that a debugger could work with.
    NoMessage,
    /// The debugger knows no way.
    DebuggerGaveUp {
        /// Its words.
        because: String,
    },
    /// The debugger failed.
    DebuggerFailed {
        /// Its error.
        because: String,
    },
    /// No candidate could run; [`Outcome::refused`] says why.
    NoCandidate,
    /// The caller cancelled the run.
    Cancelled,
}

impl fmt::Display for GiveUpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool => f.write_str("no tool has this name"),
            Self::NotPermitted => f.write_str("the tool is not permitted now"),
            Self::Denied { because: None } => f.write_str("the arguments were not approved"),
            Self::Denied {
                because: Some(words),
            } => write!(f, "the arguments were not approved: {words}"),
            Self::ToolChanged => f.write_str("the tool changed while the call waited"),
            Self::Fatal => f.write_str("the error is final"),
            Self::MayHaveRun => {
                f.write_str("the tool may have had its effect and must not run twice")
            }
            Self::Loop => f.write_str("the same call had the same result too often"),
            Self::Budget { resource, shared } => {
                let owner = if *shared { "conversation" } else { "run" };
                write!(f, "the {owner} has no {} left", resource.word())
            }
            Self::CircuitOpen { name } => {
                write!(f, "'{name}' failed too often and is left alone for a while")
            }
            Self::NoSchema => f.write_str("the tool has no schema to check proposals against"),
            Self::NoMessage => f.write_str("the error says nothing to work with"),
            Self::DebuggerGaveUp { because } => write!(f, "the debugger gave up: {because}"),
            Self::DebuggerFailed { because } => write!(f, "the debugger failed: {because}"),
            Self::NoCandidate => f.write_str("no candidate could run"),
            Self::Cancelled => f.write_str("the run was cancelled"),
        }
    }
}

impl Resource {
    fn word(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Rounds => "debugger rounds",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Cost => "money",
        }
    }
}
