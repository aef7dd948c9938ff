//! Lines and answers of `toolmend json`.

use repair_core::{Fix, repair_json};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::members::Members;
use super::raw::HALF_PAIR;
use super::{Answer, inline, inline_value, is_zero, shorten};

#[derive(Serialize)]
struct Reply {
    id: Option<Box<RawValue>>,
    ok: bool,
    value: Option<Box<RawValue>>,
    text: String,
    truncated: bool,
    fixes: Vec<Fix>,
    #[serde(skip_serializing_if = "is_zero")]
    more_fixes: usize,
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
    let (members, read) = Members::read(line);
    let answer = match read {
        Ok(()) => reply(&members),
        Err(error) => Err(format!("the line is not a request: {error}")),
    };
    Answer::of(members.get("id"), answer)
}

fn reply(members: &Members<'_>) -> Result<Reply, String> {
    let input = members
        .text("input")?
        .ok_or("`input` is missing: the text to repair")?;
    let schema: Option<Value> = members.typed("schema")?;
    let mut repaired =
        repair_json(&input.content, schema.as_ref()).map_err(|error| error.to_string())?;
    if input.was_damaged {
        let fix = Fix::new(&HALF_PAIR, "", "", "\u{FFFD}");
        repaired.fixes.insert(0, fix);
    }
    let value = if repaired.ok {
        Some(inline_value(&repaired.text)?)
    } else {
        None
    };
    Ok(Reply {
        id: members.get("id").map(inline),
        ok: repaired.ok,
        value,
        text: repaired.text,
        truncated: repaired.truncated,
        more_fixes: shorten(&mut repaired.fixes),
        fixes: repaired.fixes,
        problem: repaired.problem,
    })
}
