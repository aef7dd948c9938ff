//! The line protocol of the command: one JSON object in, one out. No I/O here.

mod answer;
mod bare;
mod raw;
mod request;
#[cfg(test)]
mod tests;
mod tools;

pub use bare::answer_json;
pub use tools::{Toolkit, ToolsError};

use repair_core::Policy;

/// What `toolmend repair` knows beside the lines.
#[derive(Clone, Debug, Default)]
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
    fn error(id: Option<&serde_json::value::RawValue>, error: &str) -> Self {
        // The id goes back as it came, whatever number it is.
        let id = id.map_or("null", serde_json::value::RawValue::get);
        let error = serde_json::Value::from(error);
        let line = format!("{{\"id\":{id},\"error\":{error}}}");
        Self {
            line,
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
    match request::Request::parse(line) {
        Ok(request) => answer::answer(&request, defaults),
        Err(error) => Answer::error(request::id_of(line).as_deref(), &error),
    }
}

/// A strict JSON text as a value in a line: line breaks between tokens become spaces.
fn inline_value(text: &str) -> Option<Box<serde_json::value::RawValue>> {
    // A strict text has no raw line break inside a string.
    serde_json::value::RawValue::from_string(text.trim().replace(['\n', '\r'], " ")).ok()
}
