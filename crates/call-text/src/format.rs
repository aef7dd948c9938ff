//! The table of formats.

use repair_core::{Risk, Rule, Stage};

/// One way in which models print calls.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) rule: Rule,
    pub(crate) opening: Opening,
    /// The format's own closing marker. What it closes is complete.
    pub(crate) closer: Option<&'static str>,
    /// Whether the format has markers of its own, which ordinary text does not hold.
    pub(crate) is_marked: bool,
}

/// Where a call of a format may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// At a marker.
    Marker(&'static str),
    /// At a code fence.
    Fence,
    /// At a bracket.
    Bracket,
}

const fn reading(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Call, Risk::Lossless, cost, summary)
}

/// Nous Hermes 2 and 3, Qwen 2.5 and 3, and many more: JSON in a tag, one call each.
pub(crate) static HERMES: Format = Format {
    rule: reading(
        "call_hermes",
        5,
        "the call was printed as a <tool_call> tag",
    ),
    opening: Opening::Marker("<tool_call>"),
    closer: Some("</tool_call>"),
    is_marked: true,
};

/// A call, or a list of them, in a code fence.
pub(crate) static FENCED_JSON: Format = Format {
    rule: reading(
        "call_fenced_json",
        15,
        "the call was printed as JSON in a code fence",
    ),
    opening: Opening::Fence,
    closer: Some("```"),
    is_marked: false,
};

/// A call, or a list of them, as nothing but JSON.
pub(crate) static BARE_JSON: Format = Format {
    rule: reading("call_bare_json", 15, "the call was printed as bare JSON"),
    opening: Opening::Bracket,
    closer: None,
    is_marked: false,
};

/// All formats.
pub(crate) static FORMATS: &[&Format] = &[&HERMES, &FENCED_JSON, &BARE_JSON];

/// The rules by which calls are read from text. In leaked mode they count as inferred.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FORMATS.iter().map(|format| &format.rule)
}

/// The format that begins with a marker at the start of `text`.
pub(crate) fn marked_at(text: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(
        |format| matches!(format.opening, Opening::Marker(marker) if text.starts_with(marker)),
    )
}

/// Whether `text` is the beginning of a marker and could still become one.
pub(crate) fn may_become_marker(text: &str) -> bool {
    let mut markers = FORMATS.iter().filter_map(|format| match format.opening {
        Opening::Marker(marker) => Some(marker),
        Opening::Fence | Opening::Bracket => None,
    });
    markers.any(|marker| marker.len() > text.len() && marker.starts_with(text))
}
