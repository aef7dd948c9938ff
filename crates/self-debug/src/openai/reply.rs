//! A chat completion, read leniently: servers differ in everything that nobody needs.

use harness::Usage;
use serde_json::Value;

use crate::chat::{ChatReply, ModelError, ModelErrorKind};

/// The first choice of a completion.
pub(super) fn read(body: &Value, model: &str, prices: (u64, u64)) -> Result<ChatReply, ModelError> {
    let Some(choice) = body.pointer("/choices/0") else {
        let detail = "the endpoint's answer has no choice";
        return Err(ModelError::new(ModelErrorKind::Protocol, detail));
    };
    let message = choice.get("message").unwrap_or(&Value::Null);
    let filtered = choice.get("finish_reason").and_then(Value::as_str) == Some("content_filter");
    let refusal = match message.get("refusal").and_then(Value::as_str) {
        Some(words) if !words.is_empty() => Some(words.to_owned()),
        _ => filtered.then(|| "a filter stopped the answer".to_owned()),
    };
    let mut reply = ChatReply::new(text(message.get("content").unwrap_or(&Value::Null)));
    reply.refusal = refusal;
    Ok(reply.with_usage(usage(body, model, prices)))
}

/// A text, or the texts of a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        _ => String::new(),
    }
}

fn usage(body: &Value, model: &str, prices: (u64, u64)) -> Usage {
    let count = |name: &str| {
        body.pointer("/usage")
            .and_then(|usage| usage.get(name))
            .map_or(0, whole)
    };
    let (input_tokens, output_tokens) = (count("prompt_tokens"), count("completion_tokens"));
    let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price) / 1_000_000;
    let cost = cost(input_tokens, prices.0) + cost(output_tokens, prices.1);
    let named = body.get("model").and_then(Value::as_str);
    Usage {
        model: Some(named.unwrap_or(model).to_owned()),
        input_tokens,
        output_tokens,
        cost_micros: u64::try_from(cost).unwrap_or(u64::MAX),
    }
}

/// A count, from servers that write it as a float too.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float saturates, and is no count where it is not whole"
)]
fn whole(number: &Value) -> u64 {
    number
        .as_u64()
        .or_else(|| number.as_f64().map(|float| float as u64))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn odd_completions_are_read() {
        let body = json!({
            "choices": [{"finish_reason": "weird", "message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}],
            "usage": {"prompt_tokens": 1000.0, "completion_tokens": 500},
            "created": 1.5,
        });
        let reply = read(&body, "m", (2_000_000, 4_000_000)).unwrap();
        assert_eq!(reply.text, "ab");
        assert_eq!(reply.usage.cost_micros, 2_000 + 2_000);
        assert_eq!(reply.usage.model.as_deref(), Some("m"));
    }

    #[test]
    fn a_refusal_and_a_filter_are_told() {
        let refusal = |choice: Value| {
            read(&json!({"choices": [choice]}), "m", (0, 0))
                .unwrap()
                .refusal
        };
        assert_eq!(
            refusal(json!({"message": {"refusal": "no"}})).as_deref(),
            Some("no")
        );
        assert!(refusal(json!({"finish_reason": "content_filter"})).is_some());
        assert_eq!(
            refusal(json!({"message": {"content": "x", "refusal": null}})),
            None
        );
    }
}
