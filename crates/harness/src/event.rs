//! What happened, for observers and for the record.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use repair_core::Fix;
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalRequest;
use crate::budget::{Left, Usage};
use crate::candidate::Candidate;
use crate::class::{ErrorClass, Strategy};
use crate::failure::CallError;
use crate::outcome::GiveUpReason;
use crate::step::ResultDigest;

/// Something that happened in a run. Every run ends with exactly one [`EventKind::Succeeded`] or
/// [`EventKind::GaveUp`], and nothing follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The number of the event in its conversation; the first is 0.
    pub number: u64,
    /// The conversation.
    pub conversation: Arc<str>,
    /// The run in its conversation.
    pub run: u64,
    /// The provider's id of the call, if it has one.
    pub call: Option<Arc<str>>,
    /// The resolved tool; for a name that resolves to none, the name that the model wrote.
    pub tool: Arc<str>,
    /// The name that the model wrote, for the record.
    pub emitted_name: Arc<str>,
    /// Which try; the first is 0.
    pub attempt: u32,
    /// When, since the conversation's epoch.
    pub at: Duration,
    /// How long after the start of the run.
    pub elapsed: Duration,
    /// What is left of the budgets of run and conversation, whichever is less.
    pub left: Left,
    /// The class of the error that is being dealt with.
    pub class: Option<ErrorClass>,
    /// Its message.
    pub message: Option<Arc<str>>,
    /// What happened.
    pub kind: EventKind,
}

/// One line for a person: tool, kind and what matters about it. It shows arguments and messages, so
/// it belongs where those may stand.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool, self.kind.name())?;
        match &self.kind {
            EventKind::Failed { .. } => {
                let message = self.message.as_deref().unwrap_or_default();
                let first = message.lines().next().unwrap_or_default();
                write!(f, " (attempt {}): {first}", self.attempt)
            }
            EventKind::Repaired { fixes, .. } => {
                let rules: Vec<&str> = fixes.iter().map(|fix| &*fix.rule).collect();
                write!(f, ": {}", rules.join(", "))
            }
            EventKind::Proposed {
                candidates,
                gave_up,
                usage,
                ..
            } => {
                if let Some(model) = &usage.model {
                    write!(f, " by {model}")?;
                }
                for (number, candidate) in candidates.iter().enumerate() {
                    let comma = if number == 0 { ':' } else { ';' };
                    write!(
                        f,
                        "{comma} {} at {:.2}",
                        candidate.text(),
                        candidate.confidence
                    )?;
                }
                match gave_up {
                    Some(reason) if candidates.is_empty() => write!(f, ": {reason}"),
                    _ => Ok(()),
                }
            }
            EventKind::CandidateRejected { arguments, why, .. } => {
                write!(f, ": {arguments}: {why}")
            }
            EventKind::Retrying { arguments, .. } => write!(f, " with {arguments}"),
            EventKind::Escalated { request } => write!(f, ": {}", request.arguments),
            EventKind::Succeeded { .. } => Ok(()),
            EventKind::GaveUp { reason, .. } => write!(f, ": {reason}"),
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A call failed: it could not run, or it ran and failed.
    Failed {
        /// The arguments that failed.
        arguments: Arc<str>,
        /// Whether the tool may have had its effect.
        may_have_run: bool,
    },
    /// A call was made right by rules before it ran.
    Repaired {
        /// The arguments as the model wrote them.
        emitted: Arc<str>,
        /// The arguments that will run.
        arguments: Arc<str>,
        /// What was changed.
        fixes: Arc<[Fix]>,
    },
    /// Candidates were gathered: a debugger answered, or the rules had some and it was not asked.
    Proposed {
        /// Which round with the debugger; the first is 0. `None` if it was not asked.
        round: Option<u32>,
        /// All candidates of this round, those of rules after those of the debugger.
        candidates: Arc<[Candidate]>,
        /// Why there are none from the debugger, in its own words.
        gave_up: Option<Arc<str>>,
        /// What the debugger used.
        usage: Usage,
    },
    /// A candidate was dropped.
    CandidateRejected {
        /// Its place in the last [`EventKind::Proposed`]; `None` for an approver's arguments.
        candidate: Option<usize>,
        /// Its arguments.
        arguments: Arc<str>,
        /// Why.
        why: Rejection,
    },
    /// A tool is about to run again.
    Retrying {
        /// With the same arguments after a back-off, or with others.
        strategy: Strategy,
        /// The candidate's place in the last [`EventKind::Proposed`], if one was chosen.
        candidate: Option<usize>,
        /// The arguments that will run.
        arguments: Arc<str>,
        /// The end of the back-off, if there is one, since the conversation's epoch.
        until: Option<Duration>,
    },
    /// An approver is asked.
    Escalated {
        /// For what.
        request: Arc<ApprovalRequest>,
    },
    /// The tool ran without an error. Terminal.
    Succeeded {
        /// The arguments that ran.
        arguments: Arc<str>,
        /// A digest of the result.
        digest: ResultDigest,
    },
    /// The run ended without a result. Terminal.
    GaveUp {
        /// Why.
        reason: GiveUpReason,
        /// The error of the first try.
        original: CallError,
    },
}

impl EventKind {
    /// Whether the run ends with it.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Succeeded { .. } | Self::GaveUp { .. })
    }

    /// Its name in `snake_case`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "failed",
            Self::Repaired { .. } => "repaired",
            Self::Proposed { .. } => "proposed",
            Self::CandidateRejected { .. } => "candidate_rejected",
            Self::Retrying { .. } => "retrying",
            Self::Escalated { .. } => "escalated",
            Self::Succeeded { .. } => "succeeded",
            Self::GaveUp { .. } => "gave_up",
        }
    }
}

/// Why a candidate was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rejection {
    /// Its confidence is below the threshold, or no number.
    LowConfidence,
    /// Another candidate has the same arguments.
    Duplicate,
    /// These arguments have failed already.
    AlreadyFailed,
    /// Its patch does not apply.
    Patch(Arc<str>),
    /// It does not validate.
    Invalid(Arc<str>),
    /// It names required values that nobody knows.
    MissingValue,
    /// It needs consent, and nobody can give it.
    NeedsConsent,
    /// There were more candidates than are looked at: this one and all after it.
    TooMany,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LowConfidence => f.write_str("its confidence is too low"),
            Self::Duplicate => f.write_str("another candidate has the same arguments"),
            Self::AlreadyFailed => f.write_str("these arguments have failed already"),
            Self::Patch(problem) => write!(f, "its patch does not apply: {problem}"),
            Self::Invalid(problem) => write!(f, "it is no valid call: {problem}"),
            Self::MissingValue => f.write_str("a required value is null, which says it is unknown"),
            Self::NeedsConsent => f.write_str("it needs consent, and nobody can give it"),
            Self::TooMany => f.write_str("there were too many candidates"),
        }
    }
}
