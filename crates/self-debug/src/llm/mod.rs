//! A debugger that asks a model.

mod answer;
mod prompt;
mod schema;

use std::time::Duration;

use async_trait::async_trait;
use harness::{Failure, Usage};

use crate::chat::{ChatModel, ChatReply, ChatRequest, ModelError};
use crate::debugger::{Debugger, DebuggerError, Proposed};
pub use prompt::{Prompt, PromptError};

/// Asks a chat model for ranked candidates.
///
/// The model sees the tool with its schema, the failed call, the error, earlier attempts and the
/// last messages of the conversation, all as JSON-encoded data. Its answer is read leniently, and
/// every candidate is validated before it runs.
///
/// ```
/// use self_debug::{ChatReply, ChatRequest, LlmDebugger, ModelError, chat_model_fn};
/// let model = chat_model_fn(|_request: ChatRequest| async {
///     let answer = r#"{"candidates": [{"arguments": {"path": "b.txt"}, "confidence": 0.9}]}"#;
///     Ok::<_, ModelError>(ChatReply::new(answer))
/// });
/// let debugger = LlmDebugger::new(model);
/// # let _ = debugger;
/// ```
#[derive(Clone, Debug)]
pub struct LlmDebugger<M> {
    model: M,
    prompt: Prompt,
    patch_above: usize,
    retries: u32,
}

/// The pause after a transient failure of the endpoint that names none; doubled each time.
const PAUSE: Duration = Duration::from_millis(500);

/// The most tokens of an answer, where the caller has no budget.
const ANSWER_TOKENS: u64 = 4_096;

impl<M: ChatModel> LlmDebugger<M> {
    /// A debugger with the built-in prompt.
    pub fn new(model: M) -> Self {
        Self {
            model,
            prompt: Prompt::default(),
            patch_above: 8 << 10,
            retries: 2,
        }
    }

    /// Sets the prompt.
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets from how many bytes of arguments on the model is asked for a JSON Patch, and shown
    /// long texts shortened (8 KiB).
    pub fn with_patch_above(mut self, bytes: usize) -> Self {
        self.patch_above = bytes;
        self
    }

    /// Sets how often the same question is sent again after a transient failure of the endpoint
    /// (2), after the pause that it asks for. The time-out of the round ends that too.
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut pause = PAUSE;
        for _ in 0..self.retries {
            match self.model.complete(request).await {
                Err(error) if error.is_transient() => {
                    tokio::time::sleep(error.retry_after().unwrap_or(pause)).await;
                    pause = pause.saturating_mul(2);
                }
                other => return other,
            }
        }
        self.model.complete(request).await
    }
}

#[async_trait]
impl<M: ChatModel> Debugger for LlmDebugger<M> {
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError> {
        self.propose_within(failure, ANSWER_TOKENS).await
    }

    async fn propose_within(
        &self,
        failure: &Failure,
        max_tokens: u64,
    ) -> Result<Proposed, DebuggerError> {
        let arguments = &failure.call.arguments;
        let patch = arguments.len() > self.patch_above && is_object(arguments);
        let messages = self
            .prompt
            .render(failure, patch)
            .map_err(|error| DebuggerError::new(error.to_string()).with_source(error))?;
        let schema = schema::of_answer(failure, patch);
        let request = ChatRequest::new(messages, schema, max_tokens.min(u64::from(u32::MAX)));
        let reply = self.complete(&request).await.map_err(|error| {
            DebuggerError::new(format!("the model did not answer: {error}")).with_source(error)
        })?;
        proposed(reply)
    }
}

fn proposed(reply: ChatReply) -> Result<Proposed, DebuggerError> {
    let usage: Usage = reply.usage;
    if let Some(refusal) = reply.refusal {
        let reason = format!("the model refused: {}", prompt::shortened(&refusal, 500));
        return Ok(Proposed::give_up(reason).with_usage(usage));
    }
    match answer::read(&reply.text) {
        Ok(proposal) => Ok(Proposed::from(proposal).with_usage(usage)),
        Err(problem) => {
            let message = format!("the model's answer is not usable: {problem}");
            Err(DebuggerError::new(message).with_usage(usage))
        }
    }
}

/// Whether a text is an object to which a patch can be applied.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}
