//! What came of a call, and what surrounds one.

use std::sync::Arc;

use harness::{Budget, Event, FailedAttempt, Message, RefusedCandidate, Request, Spent};
use repair_core::{Call, Fix, HistoryCall, RawCall};
use serde_json::Value;

use crate::error::ToolError;
use crate::text::shortened;

/// What came of a call: the result, and everything that the conversation needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallReport {
    /// The tool's result; or the error of the **first** try, with what was tried attached. But if
    /// the last try may have had its effect, its error: who does not know would do it again.
    pub result: Result<Value, ToolError>,
    /// The call that ran last; `None` if none did.
    pub executed: Option<Arc<Call<'static>>>,
    /// The call for the conversation's history: the one that ran, or a form of the rejected one
    /// that no provider refuses.
    pub history: HistoryCall,
    /// What rules changed.
    pub fixes: Arc<[Fix]>,
    /// The note for the model, to stand beside the result: what was corrected, by rules or by the
    /// debugger. Empty where there is nothing to say.
    pub note: String,
    /// The tries that failed, oldest first.
    pub attempts: Vec<FailedAttempt>,
    /// The candidates that did not run, and why, oldest first.
    pub refused: Vec<RefusedCandidate>,
    /// What was spent.
    pub spent: Spent,
    /// How it ended: succeeded, or gave up with a reason.
    pub terminal: Arc<Event>,
}

impl CallReport {
    /// The text of the tool message for the model: the result or the error, then the note.
    pub fn message(&self) -> String {
        let mut text = match &self.result {
            Ok(Value::String(text)) => text.clone(),
            Ok(value) => value.to_string(),
            Err(error) => error.message().to_owned(),
        };
        if !self.note.is_empty() {
            text.push_str("\n\n");
            text.push_str(&self.note);
        }
        text
    }
}

/// What the model has to know about a call that succeeded with other arguments than it wrote: why
/// its own failed, and what ran. Empty where its own call ran.
pub(crate) fn correction(failures: &[FailedAttempt], executed: Option<&Call<'_>>) -> String {
    let (Some(first), Some(call)) = (failures.first(), executed) else {
        return String::new();
    };
    let (before, after) = (&*first.call.arguments, call.arguments().text());
    if before == after {
        return String::new();
    }
    format!(
        "Your call of '{}' failed: {}\nIt was run with these arguments instead: {}",
        call.tool(),
        shortened(&first.error.message.replace('\n', " "), EXCERPT),
        shortened(after, EXCERPT),
    )
}

/// Longest excerpt in a note, in characters.
const EXCERPT: usize = 400;

/// What surrounds a call: the last messages of the conversation, for the debugger, and a budget of
/// its own.
///
/// ```
/// use self_debug::{CallContext, Message};
/// let context = CallContext::new([Message::new("user", "Read the notes of Monday.")]);
/// # let _ = context;
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallContext {
    messages: Arc<[Message]>,
    budget: Option<Budget>,
}

impl CallContext {
    /// The last messages, oldest first. A value that occurs in them counts as the model's own.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            budget: None,
        }
    }

    /// Sets what the call may spend, in place of what the options say.
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    pub(crate) fn request(&self, raw: RawCall<'static>) -> Request {
        let request = Request::new(raw).context(self.messages.iter().cloned());
        match &self.budget {
            Some(budget) => request.budget(budget.clone()),
            None => request,
        }
    }
}
