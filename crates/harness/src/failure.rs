//! A failed call, as a debugger gets to see it.

use std::sync::Arc;

use repair_core::{Effect, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::class::ErrorClass;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallError {
    /// What kind of failure it is.
    pub class: ErrorClass,
    /// The message for the model: a corrective error, or the tool's own words unchanged.
    pub message: Arc<str>,
    /// Whether the tool may have had its effect.
    pub may_have_run: bool,
}

impl CallError {
    /// An error of a call that had no effect.
    pub fn new(class: ErrorClass, message: impl Into<Arc<str>>) -> Self {
        Self {
            class,
            message: message.into(),
            may_have_run: false,
        }
    }
}

impl Failure {
    /// The first failure of a call, for trying a debugger out.
    ///
    /// ```
    /// use harness::{CallError, ErrorClass, Failure};
    /// use repair_core::ToolSpec;
    /// use serde_json::json;
    /// let spec = ToolSpec::new("read", json!({"properties": {"path": {"type": "string"}}}));
    /// let error = CallError::new(ErrorClass::Value, "no such file");
    /// let failure = Failure::new(spec, r#"{"path": "a.tx"}"#, error);
    /// assert_eq!((failure.attempt, &*failure.call.tool), (0, "read"));
    /// ```
    pub fn new(spec: ToolSpec, arguments: impl Into<Arc<str>>, error: CallError) -> Self {
        Self {
            effect: spec.effect(),
            call: FailedCall {
                tool: spec.name().into(),
                arguments: arguments.into(),
            },
            spec,
            error,
            attempt: 0,
            round: 0,
            earlier: Vec::new(),
            refused: Vec::new(),
            by_rule: Vec::new(),
            wanted: 3,
            context: Context::default(),
        }
    }
}

/// A call that failed: as it was run, or as the model wrote it where it never ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedCall {
    /// The tool; for a name that resolves to none, the name that the model wrote.
    pub tool: Arc<str>,
    /// The text of the arguments; empty where there were none.
    pub arguments: Arc<str>,
}

/// One try that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// Which try; the first is 0.
    pub attempt: u32,
    /// The call.
    pub call: FailedCall,
    /// Why it failed.
    pub error: CallError,
}

/// A candidate that was proposed and not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedCandidate {
    /// Its arguments as proposed.
    pub arguments: Arc<str>,
    /// Why not, for the debugger.
    pub why: Arc<str>,
}

/// One message of the conversation around a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks: `user`, `assistant`, `tool`, …
    pub role: String,
    /// The text.
    pub text: String,
}

impl Message {
    /// A message.
    pub fn new(role: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            text: text.into(),
        }
    }
}

/// The last messages of the conversation, oldest first. A debugger reads them, and a value that
/// occurs in them is not counted as invented.
pub type Context = Arc<[Message]>;

/// Everything that a debugger needs to propose other arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The tool, with its schema.
    pub spec: ToolSpec,
    /// What running the tool does, under the host's policy.
    pub effect: Effect,
    /// The call that failed.
    pub call: FailedCall,
    /// Why it failed.
    pub error: CallError,
    /// Which try failed; the first is 0.
    pub attempt: u32,
    /// Which round with a debugger this is; the first is 0.
    pub round: u32,
    /// The tries before this one, oldest first.
    pub earlier: Vec<FailedAttempt>,
    /// Candidates of earlier rounds that were not taken.
    pub refused: Vec<RefusedCandidate>,
    /// What the rules propose already; the machine ranks these by itself.
    pub by_rule: Vec<Candidate>,
    /// How many candidates to propose; fewer are welcome.
    pub wanted: u32,
    /// The last messages of the conversation.
    pub context: Context,
}
