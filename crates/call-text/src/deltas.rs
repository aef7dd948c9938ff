//! Streamed call deltas, put together.

mod arguments;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use repair_core::{Finish, RawCall};

use arguments::Arguments;

/// One delta of a streamed call, as far as the provider filled it in.
///
/// ```
/// use call_text::CallDelta;
/// let delta = CallDelta::new().with_index(0).with_id("call_1").with_name("read").with_fragment("{\"path\"");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallDelta<'a> {
    index: Option<u64>,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    arguments: Option<Piece<'a>>,
}

/// What a delta says about the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// The next characters of their text, or all so far.
    Fragment(Cow<'a, str>),
    /// The JSON text of a value that the provider had parsed.
    Value(Cow<'a, str>),
}

impl<'a> CallDelta<'a> {
    /// A delta that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the position of the call among the parallel calls of the reply.
    pub fn with_index(mut self, index: u64) -> Self {
        self.index = Some(index);
        self
    }

    /// Sets the id of the call. An empty one counts as none.
    pub fn with_id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(id.into()).filter(|id| !id.is_empty());
        self
    }

    /// Sets the name of the tool, or a piece of it. An empty one counts as none.
    pub fn with_name(mut self, name: impl Into<Cow<'a, str>>) -> Self {
        self.name = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Adds a fragment of the arguments text. An empty one counts as none.
    pub fn with_fragment(mut self, text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        self.arguments = (!text.is_empty()).then_some(Piece::Fragment(text));
        self
    }

    /// Adds arguments that the provider had parsed, as their JSON text: only the text keeps long
    /// numbers. `null` counts as none.
    pub fn with_value(mut self, json: impl Into<Cow<'a, str>>) -> Self {
        let json = json.into();
        self.arguments = (json.trim() != "null").then_some(Piece::Value(json));
        self
    }

    fn says_nothing(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.arguments.is_none()
    }
}

/// Puts the call deltas of a streamed chat completion together, in time linear in their text.
///
/// - A new id is a new call even under an old index. Without ids, another name after the
///   arguments began is a new call, and so are whole arguments after whole arguments that they do
///   not continue.
/// - A leading `{}` or null adds nothing; parsed objects are merged; of growing snapshots the last
///   counts.
/// - A missing id is made, unlike any other of the reply; a missing name stays empty, so that no
///   tool is found for it.
///
/// ```
/// use call_text::{CallDelta, DeltaAssembler};
/// use repair_core::Finish;
/// let mut calls = DeltaAssembler::new();
/// calls.push(CallDelta::new().with_index(0).with_id("a").with_name("read").with_fragment("{\"path\""));
/// calls.push(CallDelta::new().with_index(0).with_fragment(": \"x\"}"));
/// let calls = calls.finish(Finish::Complete);
/// assert_eq!(calls[0].arguments(), Some("{\"path\": \"x\"}"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct DeltaAssembler {
    calls: Vec<Partial>,
    /// The last call with an id, and the last one under an index.
    by_id: HashMap<String, usize>,
    by_index: HashMap<u64, usize>,
    /// The call that the last delta belonged to.
    current: usize,
}

/// A call that is not finished.
#[derive(Clone, Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: Arguments,
}

impl DeltaAssembler {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next delta.
    pub fn push(&mut self, delta: CallDelta<'_>) {
        if delta.says_nothing() {
            return;
        }
        let at = self.place(&delta).unwrap_or(self.calls.len());
        self.current = at;
        if at == self.calls.len() {
            self.calls.push(Partial::default());
        }
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        if let Some(index) = delta.index {
            call.index.get_or_insert(index);
            self.by_index.insert(index, at);
        }
        if let Some(id) = delta.id {
            if call.id.is_none() {
                call.id = Some(id.clone().into_owned());
            }
            self.by_id.insert(id.into_owned(), at);
        }
        if let Some(name) = delta.name {
            call.add_name(&name);
        }
        match delta.arguments {
            Some(Piece::Fragment(text)) => call.arguments.add_fragment(&text),
            Some(Piece::Value(json)) => call.arguments.add_value(&json),
            None => {}
        }
    }

    /// The calls, in the order in which they began. A reply that was cut was cut in the call that
    /// was being written; that is the last one unless the provider interleaves them.
    pub fn finish(self, finish: Finish) -> Vec<RawCall<'static>> {
        let last = self.calls.len().saturating_sub(1);
        let mut made = 0;
        let mut id_of = |id: Option<String>| {
            id.unwrap_or_else(|| {
                loop {
                    let id = format!("call_{made}");
                    made += 1;
                    if !self.by_id.contains_key(&id) {
                        return id;
                    }
                }
            })
        };
        self.calls
            .into_iter()
            .enumerate()
            .map(|(at, call)| {
                let finish = match finish {
                    Finish::Cut if at != last && at != self.current => Finish::Unknown,
                    finish => finish,
                };
                let raw = match call.arguments.into_text() {
                    Some(text) => RawCall::new(call.name, text),
                    None => RawCall::without_arguments(call.name),
                };
                raw.with_id(id_of(call.id)).with_finish(finish)
            })
            .collect()
    }

    /// The call that a delta continues; `None` if it begins one.
    fn place(&self, delta: &CallDelta<'_>) -> Option<usize> {
        let under_index = match delta.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => Some(self.current),
        };
        let open = under_index.and_then(|at| Some((at, self.calls.get(at)?)));
        if let Some(id) = delta.id.as_deref() {
            if let Some((at, call)) = open
                && call.id.as_deref() == Some(id)
                && !call.is_renamed_by(delta)
            {
                return Some(at);
            }
            if let Some(at) = self.by_id.get(id).copied()
                && let Some(call) = self.calls.get(at)
                && call.may_stand_at(delta)
                && !call.is_renamed_by(delta)
            {
                return Some(at);
            }
        }
        let (at, call) = open?;
        let is_other = delta.id.is_some() && call.id.is_some();
        (!is_other && !call.is_followed_by(delta)).then_some(at)
    }
}

impl Partial {
    /// Whether a delta with this call's id may be this call's: an index and a name of its own
    /// tell calls apart that were given one id.
    fn may_stand_at(&self, delta: &CallDelta<'_>) -> bool {
        delta.name.is_none()
            || delta.index.is_none()
            || self.index.is_none()
            || delta.index == self.index
    }

    /// Whether a delta brings another name, though the arguments of this call have begun.
    fn is_renamed_by(&self, delta: &CallDelta<'_>) -> bool {
        let is_other = |name: &str| !self.name.is_empty() && name != self.name;
        delta.name.as_deref().is_some_and(is_other) && !self.arguments.is_nothing()
    }

    /// Whether a delta that no id tells apart begins another call after this one.
    fn is_followed_by(&self, delta: &CallDelta<'_>) -> bool {
        self.is_renamed_by(delta)
            || delta.name.is_some()
                && !self.name.is_empty()
                && match &delta.arguments {
                    Some(Piece::Fragment(text)) => self.arguments.is_followed_by_text(text),
                    Some(Piece::Value(json)) => self.arguments.is_followed_by_value(json),
                    None => false,
                }
    }

    /// Adds a piece of the name, or the whole name again.
    fn add_name(&mut self, name: &str) {
        if name.starts_with(&self.name) {
            name.clone_into(&mut self.name);
        } else if self.arguments.is_nothing() {
            self.name.push_str(name);
        }
    }
}
