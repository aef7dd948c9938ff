//! Lines of `toolmend repair`.

use repair_core::{Effect, Finish};
use serde_json::value::RawValue;

use super::members::{Members, Text, listed, word};

/// How the calls of a line come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Tool calls as the provider's API or an MCP client returned them.
    Native,
    /// The assistant's text.
    Text,
    /// Streamed call deltas.
    Stream,
}

const MODES: &[(&str, Mode)] = &[
    ("native", Mode::Native),
    ("mcp", Mode::Native),
    ("text", Mode::Text),
    ("stream", Mode::Stream),
];

/// Whether the model was told to print its calls.
const TEXT_CALLS: &[(&str, call_text::Mode)] = &[
    ("leaked", call_text::Mode::Leaked),
    ("expected", call_text::Mode::Expected),
];

/// One line. Unknown keys are ignored.
#[derive(Debug)]
pub(super) struct Request<'l> {
    pub(super) id: Option<&'l RawValue>,
    pub(super) tools: Option<&'l RawValue>,
    pub(super) mode: Mode,
    pub(super) raw: &'l RawValue,
    pub(super) finish: Finish,
    /// `tool_choice` is `none`.
    pub(super) forbids_calls: bool,
    pub(super) text_calls: call_text::Mode,
    pub(super) permitted: Option<Vec<String>>,
    pub(super) effects: Vec<(String, Effect)>,
}

impl<'l> Request<'l> {
    /// The error says what is wrong with the line, where, and what would be right.
    pub(super) fn of(members: &Members<'l>) -> Result<Self, String> {
        let mode = members.word("mode", MODES)?.ok_or_else(|| {
            format!(
                "`mode` is missing: how the calls come, one of {}",
                listed(MODES)
            )
        })?;
        let raw = members
            .get("raw")
            .ok_or("`raw` is missing: what the model wrote")?;
        let finish = members.text("finish_reason")?;
        let permitted: Option<Vec<Text<'_>>> = members.typed("permitted")?;
        Ok(Self {
            id: members.get("id"),
            tools: members.get("tools"),
            mode,
            raw,
            finish: finish.map_or(Finish::Unknown, |reason| {
                Finish::from_reason(&reason.content)
            }),
            forbids_calls: forbids_calls(members),
            text_calls: members.word("text_calls", TEXT_CALLS)?.unwrap_or_default(),
            permitted: permitted.map(|names| names.into_iter().map(Text::into_string).collect()),
            effects: effects(members)?,
        })
    }
}

/// `"none"`, or `{"type": "none"}`; any other choice allows calls.
fn forbids_calls(members: &Members<'_>) -> bool {
    let is_none = |text: Option<Text<'_>>| text.is_some_and(|text| text.content == "none");
    let Some(choice) = members.get("tool_choice") else {
        return false;
    };
    is_none(members.text("tool_choice").ok().flatten())
        || Members::of(choice).is_ok_and(|choice| is_none(choice.text("type").ok().flatten()))
}

fn effects(members: &Members<'_>) -> Result<Vec<(String, Effect)>, String> {
    let Some(value) = members.get("effects") else {
        return Ok(Vec::new());
    };
    let effects = Members::of(value).map_err(|error| format!("`effects`: {error}"))?;
    effects
        .iter()
        .map(|(tool, effect)| Ok((tool.to_owned(), word(tool, effect, EFFECTS)?)))
        .collect::<Result<_, String>>()
        .map_err(|error| format!("`effects`: {error}"))
}

const EFFECTS: &[(&str, Effect)] = &[
    ("read_only", Effect::ReadOnly),
    ("idempotent", Effect::Idempotent),
    ("mutating", Effect::Mutating),
    ("destructive", Effect::Destructive),
    ("unknown", Effect::Unknown),
];
