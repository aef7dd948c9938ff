//! Lines of `toolmend repair`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use repair_core::Effect;
use serde::Deserialize;
use serde_json::value::RawValue;

/// How the calls of a line come.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// Tool calls as the provider's API returned them.
    Native,
    /// The same from an MCP client.
    Mcp,
    /// The assistant's text.
    Text,
    /// Streamed call deltas.
    Stream,
}

/// Whether the model was told to print its calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextCalls {
    #[default]
    Leaked,
    Expected,
}

/// One line. Unknown keys are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Request<'l> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'l RawValue>,
    #[serde(borrow, default)]
    pub(super) tools: Option<&'l RawValue>,
    pub(super) mode: Mode,
    #[serde(borrow)]
    pub(super) raw: &'l RawValue,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    pub(super) tool_choice: Option<&'l RawValue>,
    #[serde(default)]
    pub(super) text_calls: Option<TextCalls>,
    #[serde(default)]
    pub(super) permitted: Option<Vec<String>>,
    #[serde(default)]
    pub(super) effects: Option<BTreeMap<String, Effect>>,
}

impl<'l> Request<'l> {
    /// Reads a line; the error says what is wrong with it and where.
    pub(super) fn parse(line: &'l str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| format!("not a request: {error}"))
    }

    pub(super) fn forbids_calls(&self) -> bool {
        self.tool_choice
            .is_some_and(|choice| choice.get() == "\"none\"")
    }
}

/// The id of a line that is no request but at least an object.
pub(super) fn id_of(line: &str) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Id {
        #[serde(default)]
        id: Option<Box<RawValue>>,
    }
    serde_json::from_str::<Id>(line).ok()?.id
}
