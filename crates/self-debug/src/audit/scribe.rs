//! Events become lines: with secrets taken out, and texts of a bounded length.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;
use std::time::SystemTime;

use harness::Event;
use serde_json::Value;

use super::clock::rfc3339;
use super::record::{Body, Record};
use super::redact::{Known, Redactor};

/// Conversations whose secrets are remembered; the one that was silent longest goes first.
const CONVERSATIONS: usize = 256;

/// Writes the lines, and remembers the secrets of each conversation while it does: a later event
/// may repeat a secret without its key.
#[derive(Debug)]
pub(super) struct Scribe {
    /// None if the host switched redaction off.
    redactor: Option<Redactor>,
    longest_text: usize,
    conversations: VecDeque<(Arc<str>, Known)>,
}

impl Scribe {
    pub(super) fn new(redactor: Option<Redactor>, longest_text: usize) -> Self {
        Self {
            redactor,
            longest_text,
            conversations: VecDeque::new(),
        }
    }

    /// The line of an event, with its end of line.
    pub(super) fn event(&mut self, event: &Event, time: SystemTime) -> String {
        let mut line = value(&Record::of(event, rfc3339(time)));
        if let Some(redactor) = &self.redactor {
            let mut known = recall(&mut self.conversations, &event.conversation)
                .unwrap_or_else(|| redactor.known());
            redact_line(&mut line, redactor, &mut known);
            if self.conversations.len() == CONVERSATIONS {
                self.conversations.pop_front();
            }
            self.conversations
                .push_back((Arc::clone(&event.conversation), known));
        }
        shorten(&mut line, self.longest_text);
        format!("{line}\n")
    }

    /// The line that counts what was dropped.
    pub(super) fn dropped(events: u64, terminal: u64, time: SystemTime) -> String {
        let body = Body::Dropped { events, terminal };
        format!("{}\n", value(&Record::about_log(rfc3339(time), body)))
    }
}

fn value(record: &Record) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

fn recall(
    conversations: &mut VecDeque<(Arc<str>, Known)>,
    conversation: &Arc<str>,
) -> Option<Known> {
    let at = conversations
        .iter()
        .rposition(|(name, _)| name == conversation)?;
    conversations.remove(at).map(|(_, known)| known)
}

/// Keys of a line whose values are the log's own: they tell records apart, and hold no text of a
/// model, tool or user.
const IDS: &[&str] = &[
    "v",
    "time",
    "conversation",
    "run",
    "number",
    "event",
    "attempt",
    "elapsed_ms",
];

/// Takes the secrets out of a line, and remembers those that are new.
pub(super) fn redact_line(line: &mut Value, redactor: &Redactor, known: &mut Known) {
    let own: Vec<(&str, Value)> = IDS
        .iter()
        .filter_map(|id| Some((*id, line.get_mut(*id)?.take())))
        .collect();
    redactor.value_knowing(line, known);
    for (id, value) in own {
        if let Some(place) = line.get_mut(id) {
            *place = value;
        }
    }
}

/// Cuts every text that is longer than `longest` bytes.
fn shorten(line: &mut Value, longest: usize) {
    let mut pending = vec![line];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) if text.len() > longest => {
                let end = (0..=longest)
                    .rev()
                    .find(|end| text.is_char_boundary(*end))
                    .unwrap_or(0);
                let left_out = text.len() - end;
                text.truncate(end);
                // Writing into a string cannot fail.
                let _ = write!(text, "…[{left_out} bytes left out]");
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(object) => pending.extend(object.values_mut()),
            _ => {}
        }
    }
}
