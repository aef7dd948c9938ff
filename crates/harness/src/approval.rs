//! What needs an approver's consent, and what an approver is shown.

use std::sync::Arc;

use repair_core::{Effect, Origin};
use serde::{Deserialize, Serialize};

/// Why arguments do not run without consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalReason {
    /// The tool may destroy something, or the host wants every candidate approved.
    FailClosed,
    /// They hold a value that occurs in none of call, schema, error and context, and the tool has
    /// effects.
    Novel,
    /// Two repairs were equally good, and this is one of them.
    Tie,
    /// The call was cut off, and this completes it.
    Cut,
    /// A rule made them whose risk the policy does not accept for this tool.
    Risk,
    /// Their confidence is below the host's level for review.
    LowConfidence,
    /// The debugger does not know a required value: only an approver's own arguments can run.
    MissingValue,
    /// An approver's own arguments.
    Replaced,
}

/// Arguments that wait for consent. A consent is bound to the ticket of its step, and with it to
/// exactly this text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The tool.
    pub tool: Arc<str>,
    /// What running it does.
    pub effect: Effect,
    /// The arguments that would run, as JSON text.
    pub arguments: Arc<str>,
    /// The arguments that failed.
    pub failed: Arc<str>,
    /// Why the call failed.
    pub error: Arc<str>,
    /// Why consent is needed; at least one.
    pub reasons: Vec<ApprovalReason>,
    /// JSON Pointers of required values that the debugger does not know.
    pub missing: Vec<String>,
    /// Where the arguments came from; `None` for an approver's own.
    pub origin: Option<Origin>,
    /// How good the debugger thinks they are, from 0 to 1.
    pub confidence: f64,
    /// Why they are proposed.
    pub rationale: Arc<str>,
}
