//! The `raw` of a line: what the model wrote, in its different forms.

use std::borrow::Cow;

use call_text::{CallReader, DeltaAssembler, Piece, ReadOptions};
use repair_core::{Finish, RawCall, ToolSet};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::request::{Mode, Request, TextCalls};

/// What stood in a line.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) calls: Vec<RawCall<'static>>,
    /// The text around the calls.
    pub(super) content: String,
}

/// A native call.
#[derive(Deserialize)]
struct Native<'l> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'l RawValue>,
    #[serde(borrow, default)]
    function: Option<&'l RawValue>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'l, str>>,
}

/// Reads the `raw` of a request.
pub(super) fn read(request: &Request<'_>, tools: &ToolSet) -> Result<Written, String> {
    let finish = finish_of(request.finish_reason.as_deref());
    match request.mode {
        Mode::Native | Mode::Mcp => {
            let elements = elements(request.raw.get())?;
            let last = elements.len().saturating_sub(1);
            let calls = elements
                .into_iter()
                .enumerate()
                // A reply that was cut off was cut off in its last call.
                .map(|(at, call)| native(call, if at == last { finish } else { Finish::Unknown }))
                .collect::<Result<_, _>>()?;
            Ok(Written {
                calls,
                content: String::new(),
            })
        }
        Mode::Text => text(request, tools, finish),
        Mode::Stream => {
            let deltas: Vec<Value> = serde_json::from_str(request.raw.get())
                .map_err(|error| format!("raw: a stream is a list of deltas: {error}"))?;
            let mut assembler = DeltaAssembler::new();
            for delta in &deltas {
                assembler.push(delta);
            }
            Ok(Written {
                calls: assembler.finish(finish),
                content: String::new(),
            })
        }
    }
}

fn finish_of(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}

/// The elements of a list, or the one value that is no list.
fn elements(raw: &str) -> Result<Vec<&RawValue>, String> {
    let list = if raw.starts_with('[') {
        serde_json::from_str(raw)
    } else {
        serde_json::from_str(raw).map(|one| vec![one])
    };
    list.map_err(|error| format!("raw: {error}"))
}

fn native(call: &RawValue, line_finish: Finish) -> Result<RawCall<'static>, String> {
    let bad = |error: serde_json::Error| {
        format!("raw: a call is an object with `name` and `arguments`: {error}")
    };
    let read: Native<'_> = serde_json::from_str(call.get()).map_err(bad)?;
    // The shape of the provider's API: the call stands under `function`.
    let inner: Option<Native<'_>> = read
        .function
        .map(|inner| serde_json::from_str(inner.get()))
        .transpose()
        .map_err(bad)?;
    let name = read
        .name
        .or_else(|| inner.as_ref()?.name.clone())
        .unwrap_or_default();
    let arguments = read.arguments.or_else(|| inner.as_ref()?.arguments);
    let mut raw = match arguments.map(RawValue::get) {
        None | Some("null") => RawCall::without_arguments(name),
        // A string holds the text of the arguments; anything else is them.
        Some(text) if text.starts_with('"') => {
            RawCall::new(name, serde_json::from_str::<String>(text).map_err(bad)?)
        }
        Some(text) => RawCall::new(name, text.to_owned()),
    };
    if let Some(id) = read.id.filter(|id| !id.is_empty()) {
        raw = raw.with_id(id);
    }
    let finish = read
        .finish_reason
        .as_deref()
        .map_or(line_finish, Finish::from_reason);
    Ok(raw.with_finish(finish))
}

fn text(request: &Request<'_>, tools: &ToolSet, finish: Finish) -> Result<Written, String> {
    let bad =
        |error: serde_json::Error| format!("raw: a text is a string, or a list of pieces: {error}");
    let raw = request.raw.get();
    let pieces: Vec<Cow<'_, str>> = if raw.starts_with('[') {
        serde_json::from_str(raw).map_err(bad)?
    } else {
        vec![serde_json::from_str::<String>(raw).map_err(bad)?.into()]
    };
    let mode = match request.text_calls.unwrap_or_default() {
        TextCalls::Leaked => call_text::Mode::Leaked,
        TextCalls::Expected => call_text::Mode::Expected,
    };
    let options = ReadOptions::default()
        .with_mode(mode)
        .with_tool_choice_none(request.forbids_calls())
        .with_finish(finish);
    let mut reader = CallReader::new(tools.clone(), options);
    let mut written = Written::default();
    let mut take = |pieces: Vec<Piece>| {
        for piece in pieces {
            match piece {
                Piece::Text(text) => written.content.push_str(&text),
                Piece::Call(call) => written.calls.push(call),
            }
        }
    };
    for piece in pieces {
        take(reader.push(&piece));
    }
    take(reader.finish());
    Ok(written)
}
