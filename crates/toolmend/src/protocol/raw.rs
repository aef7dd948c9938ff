//! The `raw` of a line: what the model wrote, in its different forms.

use std::borrow::Cow;
use std::collections::BTreeMap;

use call_text::{CallDelta, CallReader, DeltaAssembler, Piece, ReadOptions};
use repair_core::{Finish, Fix, RawCall, Risk, Rule, Stage, ToolSet};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::members::{Members, Pairs, Text, told};
use super::request::{Mode, Request};

/// What stood in a line.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) calls: Vec<RawCall<'static>>,
    /// The text around the calls.
    pub(super) content: String,
}

/// Half a surrogate pair in the line itself: the same fault as in the arguments text.
pub(super) static HALF_PAIR: Rule = Rule::new(
    "lone_surrogate",
    Stage::Text,
    Risk::Guess,
    110,
    "half a surrogate pair is no character; write the character itself",
);

/// Reads the `raw` of a request.
pub(super) fn read(request: &Request<'_>, tools: &ToolSet) -> Result<Written, String> {
    let written = match request.mode {
        Mode::Native => native(request),
        Mode::Text => text(request, tools),
        Mode::Stream => stream(request),
    };
    written.map_err(|error| format!("`raw`: {error}"))
}

/// The elements of a list, or the one value that is no list.
fn elements<'l, T: Deserialize<'l>>(raw: &'l RawValue) -> Result<Vec<T>, String> {
    let list = if raw.get().starts_with('[') {
        serde_json::from_str(raw.get())
    } else {
        serde_json::from_str(raw.get()).map(|one| vec![one])
    };
    list.map_err(|error| told(&error))
}

// ---- native calls ----

fn native(request: &Request<'_>) -> Result<Written, String> {
    let elements: Vec<&RawValue> = elements(request.raw)?;
    let last = elements.len().saturating_sub(1);
    let calls = elements.into_iter().enumerate().map(|(at, call)| {
        // A reply that was cut off was cut off in its last call.
        let finish = match request.finish {
            Finish::Cut if at != last => Finish::Unknown,
            finish => finish,
        };
        native_call(call, finish).map_err(|error| {
            format!("a call is an object with `name` and `arguments`; call {at}: {error}")
        })
    });
    Ok(Written {
        calls: calls.collect::<Result<_, _>>()?,
        content: String::new(),
    })
}

fn native_call(call: &RawValue, finish: Finish) -> Result<RawCall<'static>, String> {
    let outer = Members::of(call)?;
    let inner = function_of(&outer)?;
    let name = match outer.text("name")? {
        Some(name) => name,
        None => inner.text("name")?.unwrap_or_default(),
    };
    let mut was_damaged = name.was_damaged;
    let name = name.into_string();
    let raw = match outer.get("arguments").or_else(|| inner.get("arguments")) {
        None => RawCall::without_arguments(name),
        Some(arguments) => match text_of(arguments) {
            // A string holds the text of the arguments; anything else is them.
            Some(text) => {
                was_damaged |= text.was_damaged;
                RawCall::new(name, text.into_string())
            }
            None => RawCall::new(name, arguments.get().to_owned()),
        },
    };
    let raw = match id_of(&outer) {
        Some(id) => raw.with_id(id),
        None => raw,
    };
    Ok(marked(raw.with_finish(finish), was_damaged))
}

/// What stands under `function`, in the shape of the provider's API.
fn function_of<'l>(call: &Members<'l>) -> Result<Members<'l>, String> {
    match call.get("function") {
        Some(inner) => Members::of(inner).map_err(|error| format!("`function`: {error}")),
        None => Ok(Members::default()),
    }
}

/// The id of a call; a number counts by its digits.
fn id_of(call: &Members<'_>) -> Option<String> {
    let id = call.get("id")?;
    let id = text_of(id).map_or_else(|| id.get().to_owned(), Text::into_string);
    Some(id).filter(|id| !id.is_empty())
}

fn text_of(value: &RawValue) -> Option<Text<'_>> {
    serde_json::from_str(value.get()).ok()
}

/// Marks a call that holds half a surrogate pair, if the line did.
fn marked(raw: RawCall<'static>, line_was_damaged: bool) -> RawCall<'static> {
    let damaged = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
    if line_was_damaged && (damaged(raw.name()) || raw.arguments().is_some_and(damaged)) {
        raw.with_reading(Fix::new(&HALF_PAIR, "", "", "\u{FFFD}"))
    } else {
        raw
    }
}

// ---- text ----

fn text(request: &Request<'_>, tools: &ToolSet) -> Result<Written, String> {
    let pieces: Vec<Text<'_>> = elements(request.raw)
        .map_err(|error| format!("a text is a string, or a list of pieces: {error}"))?;
    let mut pairs = Pairs::default();
    let mut joined: Vec<Cow<'_, str>> = Vec::new();
    for piece in pieces {
        let (alone, piece) = pairs.join(piece);
        joined.extend([alone.into(), piece]);
    }
    joined.push(pairs.rest().into());
    let options = ReadOptions::default()
        .with_mode(request.text_calls)
        .with_tool_choice_none(request.forbids_calls)
        .with_finish(request.finish);
    let mut reader = CallReader::new(tools.clone(), options);
    let mut written = Written::default();
    let mut take = |pieces: Vec<Piece>| {
        for piece in pieces {
            match piece {
                Piece::Text(text) => written.content.push_str(&text),
                Piece::Call(call) => written.calls.push(marked(call, pairs.was_damaged)),
            }
        }
    };
    for piece in joined {
        take(reader.push(&piece));
    }
    take(reader.finish());
    Ok(written)
}

// ---- streamed deltas ----

fn stream(request: &Request<'_>) -> Result<Written, String> {
    let deltas: Vec<&RawValue> = elements(request.raw)?;
    let mut assembler = Deltas::default();
    for (at, delta) in deltas.into_iter().enumerate() {
        if delta.get() == "null" {
            continue;
        }
        assembler.push(delta).map_err(|error| {
            format!("a delta is an object with `index`, `id` and `function`; delta {at}: {error}")
        })?;
    }
    Ok(Written {
        calls: assembler.finish(request.finish),
        content: String::new(),
    })
}

/// The deltas of a reply, each call's halves of surrogate pairs joined.
#[derive(Debug, Default)]
struct Deltas {
    assembler: DeltaAssembler,
    /// By the index under which the arguments come.
    pairs: BTreeMap<Option<u64>, Pairs>,
    was_damaged: bool,
}

impl Deltas {
    fn push(&mut self, delta: &RawValue) -> Result<(), String> {
        let outer = Members::of(delta)?;
        let inner = function_of(&outer)?;
        let index = outer.typed("index")?;
        let mut call = delta_under(index);
        if let Some(id) = id_of(&outer) {
            call = call.with_id(id);
        }
        let name = match inner.text("name")? {
            Some(name) => Some(name),
            None => outer.text("name")?,
        };
        if let Some(name) = name {
            self.was_damaged |= name.was_damaged;
            call = call.with_name(name.content);
        }
        if let Some(arguments) = inner.get("arguments").or_else(|| outer.get("arguments")) {
            call = match text_of(arguments) {
                Some(text) => {
                    let pairs = self.pairs.entry(index).or_default();
                    let (alone, text) = pairs.join(text);
                    self.assembler.push(delta_under(index).with_fragment(alone));
                    call.with_fragment(text)
                }
                None => call.with_value(arguments.get()),
            };
        }
        self.assembler.push(call);
        Ok(())
    }

    fn finish(mut self, finish: Finish) -> Vec<RawCall<'static>> {
        for (index, pairs) in &mut self.pairs {
            self.assembler
                .push(delta_under(*index).with_fragment(pairs.rest()));
            self.was_damaged |= pairs.was_damaged;
        }
        let calls = self.assembler.finish(finish).into_iter();
        calls.map(|call| marked(call, self.was_damaged)).collect()
    }
}

fn delta_under<'a>(index: Option<u64>) -> CallDelta<'a> {
    match index {
        Some(index) => CallDelta::new().with_index(index),
        None => CallDelta::new(),
    }
}
