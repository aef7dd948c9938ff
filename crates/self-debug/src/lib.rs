//! Wraps any async tool with a debugger that corrects its failed calls.
//!
//! Wrapping is not there yet. What stands is the error of a tool, because its class decides what
//! may follow a failure, and because a tool that may have run must not run again.

pub mod audit;

use harness::ErrorClass;

/// Why a tool call failed.
///
/// ```
/// use harness::ErrorClass;
/// use self_debug::ToolError;
/// let error = ToolError::new(ErrorClass::Value, "there is no file a.txt");
/// assert!(!error.may_have_run());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    class: ErrorClass,
    message: String,
    may_have_run: bool,
}

impl ToolError {
    /// A failure with the message for the model.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            may_have_run: false,
        }
    }

    /// Says that the tool may have had its effect before it failed.
    pub fn with_effect_possible(mut self) -> Self {
        self.may_have_run = true;
        self
    }

    /// The class.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// The message for the model, unchanged.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the tool may have had its effect.
    pub fn may_have_run(&self) -> bool {
        self.may_have_run
    }
}
