//! The error of a tool call.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use harness::{ErrorClass, FailedAttempt, GiveUpReason};

/// Why a tool call failed. The class decides what may follow.
///
/// ```
/// use self_debug::{ErrorClass, ToolError};
/// let error = ToolError::value("there is no file a.txt; did you mean 'b.txt'?");
/// assert_eq!(error.class(), ErrorClass::Value);
/// assert!(!error.may_have_run());
/// ```
#[derive(Clone)]
pub struct ToolError {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    class: ErrorClass,
    message: String,
    may_have_run: bool,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn Error + Send + Sync>>,
    attempts: Vec<FailedAttempt>,
    gave_up: Option<GiveUpReason>,
}

impl ToolError {
    /// A failure with the message for the model.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                class,
                message: message.into(),
                may_have_run: false,
                retry_after: None,
                source: None,
                attempts: Vec::new(),
                gave_up: None,
            }),
        }
    }

    /// The tool ran and refused a value: other arguments may succeed, so a debugger is asked.
    pub fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Value, message)
    }

    /// The same call may succeed later: it is tried again after a pause, unless it may have had an
    /// effect already.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Transient, message)
    }

    /// Nothing helps.
    pub fn fatal(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Fatal, message)
    }

    /// Says that the tool may have had its effect before it failed.
    pub fn with_effect_possible(mut self) -> Self {
        self.inner.may_have_run = true;
        self
    }

    /// Says how long the tool wants to be left alone.
    pub fn with_retry_after(mut self, pause: Duration) -> Self {
        self.inner.retry_after = Some(pause);
        self
    }

    /// Keeps the error behind this one, for [`Error::source`]. It is not shown to the model.
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.inner.source = Some(Arc::new(source));
        self
    }

    pub(crate) fn with_history(
        mut self,
        attempts: Vec<FailedAttempt>,
        reason: GiveUpReason,
    ) -> Self {
        self.inner.attempts = attempts;
        self.inner.gave_up = Some(reason);
        self
    }

    /// The class.
    pub fn class(&self) -> ErrorClass {
        self.inner.class
    }

    /// The message for the model, unchanged.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// Whether the tool may have had its effect.
    pub fn may_have_run(&self) -> bool {
        self.inner.may_have_run
    }

    /// How long the tool wants to be left alone, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// What was tried before giving up, oldest first; the first is this error itself, unless the
    /// last may have had its effect. Empty for an error that no retry loop has seen.
    pub fn attempts(&self) -> &[FailedAttempt] {
        &self.inner.attempts
    }

    /// Why a retry loop gave up, if one did.
    pub fn gave_up(&self) -> Option<&GiveUpReason> {
        self.inner.gave_up.as_ref()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("class", &self.inner.class)
            .field("message", &self.inner.message)
            .field("may_have_run", &self.inner.may_have_run)
            .field("retry_after", &self.inner.retry_after)
            .field("attempts", &self.inner.attempts.len())
            .field("gave_up", &self.inner.gave_up)
            .finish_non_exhaustive()
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.inner
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
