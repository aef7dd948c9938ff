//! Formats without a marker that only a call begins with.

use super::{Body, Format, TAG_CLOSE, format};
use crate::cursor::{Cursor, Look};
use crate::named;

/// Calls in tags without a list around them.
pub(crate) static BARE_TAGS: Format = format(
    "call_bare_tags",
    "the call was printed as tags with a name and parameters",
    &[],
    TAG_CLOSE,
    Body::Tags,
);

/// The same with elements.
pub(crate) static BARE_ELEMENTS: Format = format(
    "call_bare_elements",
    "the call was printed as invoke tags with an element for each value",
    &[],
    &["]<]minimax[>[</tool_call>", "</tool_call>"],
    Body::Elements,
);

/// A tag named as the tool.
pub(crate) static TOOL_TAG: Format = format(
    "call_tool_tag",
    "the call was printed as a tag with the tool's name",
    &[],
    &[],
    Body::ToolTag,
);

/// A call, or a list of them, as nothing but JSON.
pub(crate) static BARE_JSON: Format = format(
    "call_bare_json",
    "the call was printed as bare JSON",
    &[],
    &[],
    Body::Any,
);

/// A call, or a list of them, as nothing but Python.
pub(crate) static BARE_PYTHON: Format = format(
    "call_bare_python",
    "the call was printed as bare Python",
    &[],
    &[],
    Body::Any,
);

/// A name and JSON, without markers.
pub(crate) static BARE_NAMED: Format = format(
    "call_bare_named",
    "the call was printed as a name and JSON",
    &[],
    &[],
    Body::Named(&named::PLAIN),
);

/// With what Gemma 3 begins its calls.
pub(crate) const TOOL_CODE: &str = "```tool_code\n";

/// With what a text begins that says whom each part of it is for, the first being for all; the
/// first marker belongs to the prompt.
pub(crate) fn recipient_all(mut cursor: Cursor<'_>) -> Look<Option<usize>> {
    cursor.eat(">>>")?;
    let length = cursor.at;
    Ok(cursor.eat("all\n")?.then_some(length + "all\n".len()))
}

/// Calls in a code fence.
pub(crate) static FENCED: Format = format(
    "call_fenced",
    "the call was printed in a code fence",
    &[],
    &["```"],
    Body::Any,
);

/// All of them.
pub(super) static UNMARKED: &[&Format] = &[
    &BARE_TAGS,
    &BARE_ELEMENTS,
    &TOOL_TAG,
    &BARE_JSON,
    &BARE_PYTHON,
    &BARE_NAMED,
    &FENCED,
];
