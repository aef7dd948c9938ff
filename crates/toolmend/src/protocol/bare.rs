//! Lines and answers of `toolmend json`.

use repair_core::{Fix, repair_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Answer, inline_value, request};

#[derive(Deserialize)]
struct Request<'l> {
    #[serde(borrow, default)]
    id: Option<&'l RawValue>,
    input: String,
    #[serde(default)]
    schema: Option<Value>,
}

#[derive(Serialize)]
struct Reply<'r> {
    id: Option<&'r RawValue>,
    ok: bool,
    value: Option<Box<RawValue>>,
    text: String,
    truncated: bool,
    fixes: Vec<Fix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Answers one line of `toolmend json`.
///
/// ```
/// let answer = toolmend::protocol::answer_json(r#"{"id": 1, "input": "{'a': 1,}"}"#);
/// assert!(answer.line.contains(r#""value":{"a": 1}"#));
/// ```
pub fn answer_json(line: &str) -> Answer {
    let asked: Request<'_> = match serde_json::from_str(line) {
        Ok(asked) => asked,
        Err(error) => {
            return Answer::error(
                request::id_of(line).as_deref(),
                &format!("not a request: {error}"),
            );
        }
    };
    let repaired = match repair_json(&asked.input, asked.schema.as_ref()) {
        Ok(repaired) => repaired,
        Err(error) => return Answer::error(asked.id, &error.to_string()),
    };
    let value = inline_value(&repaired.text);
    let reply = Reply {
        id: asked.id,
        ok: repaired.ok,
        value: value.filter(|_| repaired.ok),
        text: repaired.text,
        truncated: repaired.truncated,
        fixes: repaired.fixes,
        problem: repaired.problem,
    };
    match serde_json::to_string(&reply) {
        Ok(line) => Answer {
            line,
            is_error: false,
        },
        Err(error) => Answer::error(asked.id, &format!("the answer cannot be written: {error}")),
    }
}
