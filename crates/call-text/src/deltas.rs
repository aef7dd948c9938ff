//! Streamed call deltas, put together.

use repair_core::{Finish, RawCall};
use serde_json::{Map, Value};

/// Puts the call deltas of a streamed chat completion together.
///
/// A new id is a new call even under an old index; a leading `{}` or null adds nothing; object
/// deltas are merged; of growing snapshots the last counts. A missing id is made from the call's
/// position; a missing name stays empty, so that no tool is found for it.
///
/// ```
/// use call_text::DeltaAssembler;
/// use repair_core::Finish;
/// use serde_json::json;
/// let mut calls = DeltaAssembler::new();
/// calls.push(&json!({"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"path\""}}));
/// calls.push(&json!({"index": 0, "function": {"arguments": ": \"x\"}"}}));
/// let calls = calls.finish(Finish::Complete);
/// assert_eq!(calls[0].arguments(), Some("{\"path\": \"x\"}"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct DeltaAssembler {
    calls: Vec<Partial>,
}

/// A call that is not finished.
#[derive(Clone, Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    text: String,
    members: Map<String, Value>,
    has_arguments: bool,
}

impl DeltaAssembler {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one delta: `{"index", "id", "function": {"name", "arguments"}}`.
    pub fn push(&mut self, delta: &Value) {
        let function = delta.get("function").unwrap_or(delta);
        let id = delta
            .get("id")
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty());
        let index = delta.get("index").and_then(Value::as_u64);
        let name = function
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let call = self.call(index, id);
        call.add_name(name);
        if let Some(arguments) = function.get("arguments") {
            call.add_arguments(arguments);
        }
    }

    /// The calls, in the order in which they began.
    pub fn finish(self, finish: Finish) -> Vec<RawCall<'static>> {
        self.calls
            .into_iter()
            .enumerate()
            .map(|(at, call)| call.finish(at, finish))
            .collect()
    }

    /// The call that a delta belongs to.
    fn call(&mut self, index: Option<u64>, id: Option<&str>) -> &mut Partial {
        let same_place = |call: &Partial| index.is_none() || call.index == index;
        let at = match id {
            Some(id) => self
                .calls
                .iter()
                .position(|call| call.id.as_deref() == Some(id))
                .or_else(|| {
                    self.calls
                        .iter()
                        .rposition(|call| same_place(call) && call.id.is_none())
                }),
            None => self.calls.iter().rposition(same_place),
        };
        let at = at.unwrap_or_else(|| {
            self.calls.push(Partial {
                index,
                ..Partial::default()
            });
            self.calls.len() - 1
        });
        if self.calls.len() <= at {
            self.calls.push(Partial::default());
        }
        #[allow(
            clippy::indexing_slicing,
            reason = "the position was found or pushed above"
        )]
        let call = &mut self.calls[at];
        if let Some(id) = id {
            call.id.get_or_insert_with(|| id.to_owned());
        }
        call
    }
}

impl Partial {
    fn add_name(&mut self, name: &str) {
        if name.starts_with(&self.name) {
            name.clone_into(&mut self.name);
        } else if !name.is_empty() && self.text.is_empty() && self.members.is_empty() {
            self.name.push_str(name);
        }
    }

    fn add_arguments(&mut self, arguments: &Value) {
        match arguments {
            Value::Null => {}
            Value::String(text) => self.add_text(text),
            Value::Object(members) => {
                self.has_arguments = true;
                self.members.extend(members.clone());
            }
            other => self.add_text(&other.to_string()),
        }
    }

    fn add_text(&mut self, text: &str) {
        self.has_arguments |= !text.is_empty();
        let is_placeholder = matches!(self.text.trim(), "" | "{}" | "null");
        let is_snapshot = self.text.starts_with('{') && text.starts_with(&self.text);
        if (is_placeholder && !text.is_empty()) || is_snapshot {
            text.clone_into(&mut self.text);
        } else {
            self.text.push_str(text);
        }
    }

    fn finish(self, at: usize, finish: Finish) -> RawCall<'static> {
        let id = self.id.unwrap_or_else(|| format!("call_{at}"));
        let is_empty = matches!(self.text.trim(), "" | "{}");
        let raw = if !self.has_arguments {
            RawCall::without_arguments(self.name)
        } else if is_empty && !self.members.is_empty() {
            RawCall::from_value(self.name, &Value::Object(self.members))
        } else if self.text.is_empty() {
            RawCall::new(self.name, "{}")
        } else {
            RawCall::new(self.name, self.text)
        };
        raw.with_id(id).with_finish(finish)
    }
}
