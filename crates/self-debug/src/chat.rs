//! A chat model, as far as a debugger needs one.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use harness::{Message, Usage};
use serde_json::Value;

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The JSON Schema that the answer should follow. A model that cannot be held to it may
    /// ignore it: answers are read leniently and validated.
    pub answer_schema: Value,
    /// The most tokens of the answer.
    pub max_tokens: u64,
}

impl ChatRequest {
    /// A question whose answer should follow a schema.
    pub fn new(messages: Vec<Message>, answer_schema: Value, max_tokens: u64) -> Self {
        Self {
            messages,
            answer_schema,
            max_tokens,
        }
    }
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatReply {
    /// The text.
    pub text: String,
    /// Why the model declined to answer, if it did.
    pub refusal: Option<String>,
    /// What it used.
    pub usage: Usage,
}

impl ChatReply {
    /// A text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Sets what the model used.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

/// A model that answers messages. [`chat_model_fn`] makes one from an async closure;
/// [`crate::OpenAiModel`] (feature `openai`) is one behind an OpenAI-compatible endpoint.
///
/// An implementation sends one request: whether and when to ask again is decided by the retry
/// machine. It need not keep to a time-out, the caller does.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Answers the messages.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError>;
}

/// A chat model made from an async closure.
///
/// ```
/// use self_debug::{ChatReply, ChatRequest, ModelError, chat_model_fn};
/// let model = chat_model_fn(|_request: ChatRequest| async {
///     Ok::<_, ModelError>(ChatReply::new(r#"{"candidates": [], "give_up": true}"#))
/// });
/// # let _ = model;
/// ```
pub fn chat_model_fn<F, Fut>(closure: F) -> FnModel<F>
where
    F: Fn(ChatRequest) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ChatReply, ModelError>> + Send,
{
    FnModel(closure)
}

/// A chat model made by [`chat_model_fn`].
#[derive(Clone)]
pub struct FnModel<F>(F);

impl<F> fmt::Debug for FnModel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnModel").finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, Fut> ChatModel for FnModel<F>
where
    F: Fn(ChatRequest) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ChatReply, ModelError>> + Send,
{
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        (self.0)(request.clone()).await
    }
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for std::sync::Arc<M> {
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        (**self).complete(request).await
    }
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for Box<M> {
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        (**self).complete(request).await
    }
}

/// What kind of failure a model's error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The settings are wrong; no request was sent.
    Settings,
    /// The endpoint cannot be reached.
    Connect,
    /// The endpoint did not answer in time.
    Timeout,
    /// The key is missing, wrong or not allowed to do this (401, 403).
    Unauthorized,
    /// The endpoint or the model does not exist (404).
    NotFound,
    /// Too many requests (429).
    RateLimited,
    /// The account has no means left.
    Quota,
    /// The question is longer than the model's context.
    TooLong,
    /// The endpoint does not accept the request (other 4xx).
    BadRequest,
    /// The endpoint failed (5xx).
    Server,
    /// The connection broke before the answer was complete.
    Interrupted,
    /// The answer is not that of a chat completion.
    Protocol,
}

/// Why a model did not answer. It never holds a key, a prompt or the body of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    kind: ModelErrorKind,
    detail: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
}

impl ModelError {
    /// An error, with what to do about it. Keep keys, prompts and answers out of `detail`.
    pub fn new(kind: ModelErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            status: None,
            retry_after: None,
        }
    }

    /// Sets the HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets how long the endpoint wants to be left alone.
    pub fn with_retry_after(mut self, pause: Option<Duration>) -> Self {
        self.retry_after = pause;
        self
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// The HTTP status, if there was an answer.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// How long the endpoint wants to be left alone, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind as Kind;
        matches!(
            self.kind,
            Kind::Connect | Kind::Timeout | Kind::RateLimited | Kind::Server | Kind::Interrupted
        )
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)?;
        if let Some(status) = self.status {
            write!(f, " (HTTP {status})")?;
        }
        if let Some(pause) = self.retry_after {
            write!(f, "; try again in {} s", pause.as_secs())?;
        }
        Ok(())
    }
}

impl std::error::Error for ModelError {}
