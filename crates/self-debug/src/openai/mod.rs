//! A model behind an OpenAI-compatible endpoint.

mod reply;
mod transport;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestUserMessage, CreateChatCompletionRequest, ResponseFormat,
    ResponseFormatJsonSchema,
};
use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::chat::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind};
use transport::{Once, Refused};

/// How to reach a model.
///
/// ```
/// use self_debug::OpenAiOptions;
/// let options = OpenAiOptions::default()
///     .with_base_url("http://127.0.0.1:8080/v1")
///     .with_model("qwen2.5-coder");
/// assert!(!format!("{:?}", options.with_api_key("sk-secret")).contains("secret"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct OpenAiOptions {
    base_url: String,
    api_key: Option<SecretString>,
    model: String,
    timeout: Duration,
    connect_timeout: Duration,
    temperature: Option<f32>,
    prices: (u64, u64),
}

impl Default for OpenAiOptions {
    /// `OpenAI`'s own endpoint, without a key or a model.
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key: None,
            model: String::new(),
            timeout: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(10),
            temperature: Some(0.0),
            prices: (0, 0),
        }
    }
}

impl OpenAiOptions {
    /// Options from `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL`, where they are set and
    /// not empty.
    pub fn from_env() -> Self {
        let read = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut options = Self::default();
        if let Some(url) = read("OPENAI_BASE_URL") {
            options = options.with_base_url(url);
        }
        if let Some(key) = read("OPENAI_API_KEY") {
            options = options.with_api_key(key);
        }
        if let Some(model) = read("OPENAI_MODEL") {
            options = options.with_model(model);
        }
        options
    }

    /// Sets the base URL, up to and without `/chat/completions`.
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        url.into()
            .trim_end_matches('/')
            .clone_into(&mut self.base_url);
        self
    }

    /// Sets the key. Local servers mostly need none.
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(SecretString::from(key.into()));
        self
    }

    /// Sets the model.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the time of one request, answer included (1 minute).
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the time to connect (10 s).
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the temperature (0); `None` leaves it to the endpoint.
    pub fn with_temperature(mut self, temperature: impl Into<Option<f32>>) -> Self {
        self.temperature = temperature.into();
        self
    }

    /// Sets what a million tokens cost, read and written, in millionths of the host's currency
    /// unit (0). Without prices a budget of cost is not used up.
    pub fn with_prices(mut self, input: u64, output: u64) -> Self {
        self.prices = (input, output);
        self
    }
}

impl fmt::Debug for OpenAiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URL may hold a password or a token.
        let url = reqwest::Url::parse(&self.base_url).ok();
        f.debug_struct("OpenAiOptions")
            .field("host", &url.as_ref().and_then(reqwest::Url::host_str))
            .field("has_key", &self.api_key.is_some())
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A model behind an OpenAI-compatible endpoint.
///
/// One call sends one request: nothing is tried again here. The answer is held to the schema by
/// `response_format: json_schema`; an endpoint that refuses that is asked with `json_object`, then
/// with neither, and what it took is remembered. Clones share that memory.
#[derive(Clone)]
pub struct OpenAiModel {
    client: Client<Endpoint>,
    options: OpenAiOptions,
    dialect: Arc<Mutex<Dialect>>,
}

impl OpenAiModel {
    /// A model with these options. Fails if they cannot work; sends nothing.
    pub fn new(options: OpenAiOptions) -> Result<Self, ModelError> {
        let wrong = |detail: &str| Err(ModelError::new(ModelErrorKind::Settings, detail));
        if options.model.is_empty() {
            return wrong("no model is set: use with_model or OPENAI_MODEL");
        }
        let Ok(url) = reqwest::Url::parse(&options.base_url) else {
            return wrong("the base URL is no URL: check with_base_url, OPENAI_BASE_URL");
        };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("the base URL must begin with http:// or https://");
        }
        let Ok(endpoint) = Endpoint::new(&options) else {
            return wrong("the key holds characters that no HTTP header can carry");
        };
        let built = reqwest::Client::builder()
            .timeout(options.timeout)
            .connect_timeout(options.connect_timeout)
            // Prompt and key go to the named endpoint and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .build();
        let Ok(http) = built else {
            return wrong("no HTTP client can be built on this system");
        };
        Ok(Self {
            client: Client::build(http.clone(), endpoint).with_http_service(Once::new(http)),
            options,
            dialect: Arc::default(),
        })
    }

    /// A model from `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL`.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::new(OpenAiOptions::from_env())
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.options.model
    }

    async fn send(&self, request: &ChatRequest, dialect: Dialect) -> Result<Value, Refused> {
        let body = self.body(request, dialect);
        let sent = self.client.chat().create_byot::<_, Value>(body).await;
        sent.map_err(|error| match error {
            OpenAIError::Boxed(error) => match error.downcast::<Refused>() {
                Ok(refused) => *refused,
                Err(_) => Refused::unexpected(),
            },
            _ => Refused::unexpected(),
        })
    }

    fn body(&self, request: &ChatRequest, dialect: Dialect) -> CreateChatCompletionRequest {
        CreateChatCompletionRequest {
            model: self.options.model.clone(),
            messages: request.messages.iter().map(message).collect(),
            response_format: dialect.format.of(&request.answer_schema),
            temperature: self.options.temperature.filter(|_| dialect.temperature),
            max_completion_tokens: u32::try_from(request.max_tokens)
                .ok()
                .filter(|_| dialect.max_tokens),
            ..CreateChatCompletionRequest::default()
        }
    }

    fn dialect(&self) -> std::sync::MutexGuard<'_, Dialect> {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ChatModel for OpenAiModel {
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let known = *self.dialect();
        let mut dialect = known;
        let mut first: Option<ModelError> = None;
        loop {
            match self.send(request, dialect).await {
                Ok(body) => {
                    if dialect != known {
                        *self.dialect() = dialect;
                    }
                    return reply::read(&body, &self.options.model, self.options.prices);
                }
                Err(refused) => {
                    let next = dialect.without(&refused);
                    let last = refused.error;
                    let first = first.get_or_insert_with(|| last.clone());
                    match next {
                        Some(next) => dialect = next,
                        // The first refusal says most about the request; what came in between,
                        // such as a full queue, is another matter.
                        None if last.kind() == first.kind() => return Err(first.clone()),
                        None => return Err(last),
                    }
                }
            }
        }
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn message(message: &harness::Message) -> ChatCompletionRequestMessage {
    let text = message.text.as_str();
    match message.role.as_str() {
        "system" => ChatCompletionRequestSystemMessage::from(text).into(),
        _ => ChatCompletionRequestUserMessage::from(text).into(),
    }
}

/// What an endpoint takes. It begins with everything, and loses what the endpoint refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dialect {
    format: Format,
    temperature: bool,
    max_tokens: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            format: Format::JsonSchema,
            temperature: true,
            max_tokens: true,
        }
    }
}

impl Dialect {
    /// The dialect to try after a refusal; `None` if the refusal has another cause.
    fn without(self, refused: &Refused) -> Option<Self> {
        if refused.error.kind() != ModelErrorKind::BadRequest {
            return None;
        }
        Some(match refused.parameter {
            Some("temperature") if self.temperature => Self {
                temperature: false,
                ..self
            },
            Some("max_completion_tokens") if self.max_tokens => Self {
                max_tokens: false,
                ..self
            },
            _ => Self {
                format: self.format.weaker()?,
                ..self
            },
        })
    }
}

/// How an answer is held to its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    JsonSchema,
    JsonObject,
    Text,
}

impl Format {
    fn weaker(self) -> Option<Self> {
        match self {
            Self::JsonSchema => Some(Self::JsonObject),
            Self::JsonObject => Some(Self::Text),
            Self::Text => None,
        }
    }

    fn of(self, schema: &Value) -> Option<ResponseFormat> {
        match self {
            Self::JsonSchema => Some(ResponseFormat::JsonSchema {
                json_schema: ResponseFormatJsonSchema {
                    name: "candidates".to_owned(),
                    schema: schema.clone(),
                    ..ResponseFormatJsonSchema::default()
                },
            }),
            Self::JsonObject => Some(ResponseFormat::JsonObject),
            Self::Text => None,
        }
    }
}

/// Where requests go. The key is in the header only.
#[derive(Clone)]
struct Endpoint {
    base_url: String,
    key: SecretString,
    headers: HeaderMap,
}

impl Endpoint {
    fn new(options: &OpenAiOptions) -> Result<Self, reqwest::header::InvalidHeaderValue> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &options.api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Self {
            base_url: options.base_url.clone(),
            key: options.api_key.clone().unwrap_or_default(),
            headers,
        })
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused_without_the_key() {
        let options = || {
            OpenAiOptions::default()
                .with_model("m")
                .with_api_key("sk-se\ncret")
        };
        for options in [
            OpenAiOptions::default(),
            options(),
            options().with_base_url("nowhere"),
            options().with_base_url("file:///etc/passwd"),
        ] {
            let error = OpenAiModel::new(options).unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::Settings);
            assert!(!format!("{error} {error:?}").contains("cret"));
        }
    }

    #[test]
    fn the_key_is_never_shown() {
        let options = OpenAiOptions::default()
            .with_base_url("http://me:secret@localhost/secret?key=secret")
            .with_model("m")
            .with_api_key("sk-secret");
        let model = OpenAiModel::new(options.clone()).unwrap();
        let shown = format!("{options:?} {model:?}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}
