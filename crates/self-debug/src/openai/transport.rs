//! One request, sent once, and each kind of failure a clear class.
//!
//! The client of `async-openai` would send a request up to four times, and log a body that it
//! cannot read. Under this service it does neither: it only ever sees whole JSON.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use serde_json::Value;
use tower_service::Service;

use crate::chat::{ModelError, ModelErrorKind as Kind};

/// The longest answer that is read, in bytes.
const LONGEST: usize = 8 << 20;

/// Parameters that an endpoint may name as the ones it refuses.
const PARAMETERS: [&str; 3] = ["temperature", "max_completion_tokens", "response_format"];

/// Words under `code` or `type` of an error body that tell more than the status.
const CODES: [(&str, Kind); 4] = [
    ("insufficient_quota", Kind::Quota),
    ("context_length_exceeded", Kind::TooLong),
    ("exceed_context_size_error", Kind::TooLong),
    ("model_not_found", Kind::NotFound),
];

/// Why a request was not answered.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: ModelError,
    /// The parameter that the endpoint names, if it is one of [`PARAMETERS`].
    pub(super) parameter: Option<&'static str>,
}

impl Refused {
    fn new(kind: Kind) -> Self {
        Self {
            error: ModelError::new(kind, sentence(kind)),
            parameter: None,
        }
    }

    /// A failure that this service did not report.
    pub(super) fn unexpected() -> Self {
        Self::new(Kind::Protocol)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Refused {}

/// Sends a request once.
#[derive(Clone, Debug)]
pub(super) struct Once {
    client: reqwest::Client,
}

impl Once {
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self { client }
    }
}

impl Service<HttpRequestFactory> for Once {
    type Response = Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let client = self.client.clone();
        Box::pin(async move {
            let request = request.build().await?;
            answered(&client, request)
                .await
                .map_err(|refused| OpenAIError::Boxed(Box::new(refused)))
        })
    }
}

/// A whole answer that is JSON.
async fn answered(
    client: &reqwest::Client,
    request: reqwest::Request,
) -> Result<Response, Refused> {
    let response = client
        .execute(request)
        .await
        .map_err(|error| unsent(&error))?;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = body(response).await;
    if !status.is_success() {
        // The status says what is wrong, whether or not the body arrived.
        return Err(refused(status, &headers, &body.unwrap_or_default()));
    }
    let body = body?;
    match serde_json::from_slice::<Value>(&body) {
        Ok(value) if value.get("error").is_some_and(|error| !error.is_null()) => {
            Err(refused(StatusCode::BAD_GATEWAY, &headers, &body))
        }
        Ok(_) => Ok(http::Response::new(body).into()),
        Err(_) => Err(Refused::new(Kind::Protocol)),
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, Refused> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len().saturating_add(chunk.len()) <= LONGEST => {
                body.extend_from_slice(&chunk);
            }
            Ok(Some(_)) => return Err(Refused::new(Kind::Protocol)),
            Err(error) if error.is_timeout() => return Err(Refused::new(Kind::Timeout)),
            Err(_) => return Err(Refused::new(Kind::Interrupted)),
        }
    }
}

fn unsent(error: &reqwest::Error) -> Refused {
    Refused::new(if error.is_timeout() {
        Kind::Timeout
    } else if error.is_connect() {
        Kind::Connect
    } else {
        Kind::Interrupted
    })
}

/// The class of an error status. Of the body only words that this file knows are looked at.
fn refused(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Refused {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = |key: &str| {
        let error = body.get("error").unwrap_or(&body);
        error.get(key).and_then(Value::as_str)
    };
    let known = CODES
        .iter()
        .find(|(word, _)| said("code") == Some(word) || said("type") == Some(word));
    let kind = match (known, status.as_u16()) {
        (Some((_, kind)), _) => *kind,
        (None, 401 | 403) => Kind::Unauthorized,
        (None, 404) => Kind::NotFound,
        (None, 408) => Kind::Timeout,
        (None, 429) => Kind::RateLimited,
        (None, 413) => Kind::TooLong,
        (None, 500..) => Kind::Server,
        (None, _) => Kind::BadRequest,
    };
    Refused {
        error: ModelError::new(kind, sentence(kind))
            .with_status(status.as_u16())
            .with_retry_after(retry_after(headers)),
        parameter: PARAMETERS
            .into_iter()
            .find(|parameter| said("param") == Some(parameter)),
    }
}

/// The pause that the endpoint asks for, in seconds or, where it says so, milliseconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| {
        let text = headers.get(name)?.to_str().ok()?;
        text.trim().parse::<f64>().ok()
    };
    let seconds = match number("retry-after-ms") {
        Some(milliseconds) => milliseconds / 1_000.0,
        None => number("retry-after")?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// What is wrong and what to do about it.
fn sentence(kind: Kind) -> &'static str {
    match kind {
        Kind::Settings => "the settings of the model are wrong",
        Kind::Connect => "the endpoint cannot be reached: check the base URL and the network",
        Kind::Timeout => "the endpoint did not answer in time",
        Kind::Unauthorized => "the endpoint does not accept the key: check OPENAI_API_KEY",
        Kind::NotFound => "the endpoint knows no such model or path: check model and base URL",
        Kind::RateLimited => "the endpoint wants fewer requests",
        Kind::Quota => "the account has no means left",
        Kind::TooLong => "the question is longer than the model's context",
        Kind::BadRequest => "the endpoint does not accept the request",
        Kind::Server => "the endpoint failed",
        Kind::Interrupted => "the connection broke before the answer was complete",
        Kind::Protocol => "the endpoint's answer is not that of a chat completion",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_a_class_and_nothing_of_the_body_is_shown() {
        let body = br#"{"error": {"message": "sk-secret", "code": 7, "type": "sk-secret"}}"#;
        for (status, kind) in [
            (400, Kind::BadRequest),
            (401, Kind::Unauthorized),
            (403, Kind::Unauthorized),
            (404, Kind::NotFound),
            (408, Kind::Timeout),
            (413, Kind::TooLong),
            (422, Kind::BadRequest),
            (429, Kind::RateLimited),
            (500, Kind::Server),
            (503, Kind::Server),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let refused = refused(status, &HeaderMap::new(), body);
            assert_eq!(refused.error.kind(), kind, "{status}");
            assert!(!format!("{refused} {refused:?}").contains("secret"));
        }
    }

    #[test]
    fn known_words_tell_more_than_the_status() {
        let told =
            |body: &str| refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes());
        let long = told(r#"{"error": {"code": "context_length_exceeded"}}"#);
        assert_eq!(long.error.kind(), Kind::TooLong);
        let long = told(r#"{"error": {"code": 400, "type": "exceed_context_size_error"}}"#);
        assert_eq!(long.error.kind(), Kind::TooLong);
        let parameter = told(r#"{"error": {"param": "temperature"}}"#);
        assert_eq!(parameter.parameter, Some("temperature"));
        assert_eq!(told("<html>").parameter, None);
    }

    #[test]
    fn the_pause_is_read_in_seconds_and_milliseconds() {
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(
            read("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
        for odd in ["-1", "NaN", "inf", "1e300", "soon"] {
            assert_eq!(read("retry-after", odd), None, "{odd}");
        }
    }
}
