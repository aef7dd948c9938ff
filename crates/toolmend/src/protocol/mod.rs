//! The line protocol of the command: one JSON object in, one out. No I/O here.

mod answer;
mod bare;
mod members;
mod raw;
mod request;
#[cfg(test)]
mod tests;
mod tools;

pub use bare::answer_json;
pub use tools::{Toolkit, ToolsError};

use repair_core::{Fix, Policy};
use serde::Serialize;
use serde_json::value::RawValue;

use members::Members;
use request::Request;

/// What `toolmend repair` knows beside the lines.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Defaults {
    /// The tools of lines that bring none.
    pub tools: Option<Toolkit>,
    /// What may be applied without asking.
    pub policy: Policy,
}

/// An answer: one line of JSON, and whether the question was one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The line, without its line break.
    pub line: String,
    /// The line could not be answered; `line` holds an `error`.
    pub is_error: bool,
}

impl Answer {
    fn of<R: Serialize>(id: Option<&RawValue>, reply: Result<R, String>) -> Self {
        let line = reply.and_then(|reply| {
            serde_json::to_string(&reply)
                .map_err(|error| format!("the answer cannot be written: {error}"))
        });
        match line {
            Ok(line) => Self {
                line,
                is_error: false,
            },
            Err(error) => Self::error(id, &error),
        }
    }

    fn error(id: Option<&RawValue>, error: &str) -> Self {
        // The id goes back as it came, whatever number it is.
        let id = id.map(inline);
        let id = id.as_deref().map_or("null", RawValue::get);
        let error = serde_json::Value::from(error);
        Self {
            line: format!("{{\"id\":{id},\"error\":{error}}}"),
            is_error: true,
        }
    }
}

/// Answers one line of `toolmend repair`.
///
/// ```
/// use toolmend::protocol::{Defaults, answer_repair};
/// let line = r#"{"id": 1, "tools": [{"name": "read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
///                "mode": "native", "raw": {"name": "Read", "arguments": "{\"path\": \"a\"}"}}"#;
/// let answer = answer_repair(line, &Defaults::default());
/// assert!(answer.line.contains(r#""outcome":"repaired""#));
/// ```
pub fn answer_repair(line: &str, defaults: &Defaults) -> Answer {
    let (members, read) = Members::read(line);
    let reply = match read {
        Ok(()) => Request::of(&members).and_then(|request| answer::answer(&request, defaults)),
        Err(error) => Err(format!("the line is not a request: {error}")),
    };
    Answer::of(members.get("id"), reply)
}

/// The answer to a line that cannot be read at all, of which `beginning` is what there is: its id,
/// where that can be found, and the error.
///
/// ```
/// let answer = toolmend::protocol::refuse(r#"{"id": 7, "raw": "some"#, "the line is too long");
/// assert_eq!(answer.line, r#"{"id":7,"error":"the line is too long"}"#);
/// ```
pub fn refuse(beginning: &str, error: &str) -> Answer {
    let (members, _) = Members::read(beginning);
    Answer::error(members.get("id"), error)
}

/// Most fixes that an answer lists. A text of nothing but commas has as many fixes as bytes, each
/// hundred times as long.
const MOST_FIXES: usize = 1000;

/// Leaves out the fixes beyond [`MOST_FIXES`]; returns how many those are.
fn shorten(fixes: &mut Vec<Fix>) -> usize {
    let more = fixes.len().saturating_sub(MOST_FIXES);
    fixes.truncate(MOST_FIXES);
    more
}

/// Whether a count needs no mention.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A strict JSON text as a value in a line: line breaks between tokens become spaces.
fn inline_value(text: &str) -> Result<Box<RawValue>, String> {
    // A strict text has no raw line break inside a string.
    RawValue::from_string(text.trim().replace(['\n', '\r'], " "))
        .map_err(|error| format!("the repaired text is not JSON: {error}"))
}

/// The same for a value that stood in a line, where only a carriage return can be left.
fn inline(value: &RawValue) -> Box<RawValue> {
    inline_value(value.get()).unwrap_or_else(|_| value.to_owned())
}
