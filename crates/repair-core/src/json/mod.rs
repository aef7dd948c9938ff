//! JSON text: one arena over it, two readers that fill it, one writer that patches it.

pub(crate) mod arena;
pub(crate) mod attempt;
pub(crate) mod emit;
pub(crate) mod equal;
pub(crate) mod lenient;
pub(crate) mod number;
pub(crate) mod pointer;
pub(crate) mod scan;
pub(crate) mod strict;
pub(crate) mod string;
mod value;

pub(crate) use arena::{Arena, Buffer, Kind, NONE, Node, NodeId};
pub(crate) use value::{node_to_value, to_number, to_value};

/// Depth to which our own recursive walks go; every text is checked against it first.
pub(crate) const MAX_DEPTH: usize = 128;

/// Whether `text` is a strict JSON object.
pub(crate) fn is_strict_object(text: &str) -> bool {
    Arena::read(text.into(), MAX_DEPTH)
        .is_ok_and(|(arena, root)| arena.node(root).kind == Kind::Object)
}

/// The canonical text of a strict JSON text: sorted keys, one spelling of each number, no white
/// space. Equal values have equal canonical texts, whatever the size of their numbers. `None` if
/// the text is not strict JSON, or nests deeper than 128 levels.
///
/// ```
/// use repair_core::canonical_json;
/// assert_eq!(canonical_json(r#"{"b": 1e2, "a": "x"}"#).as_deref(), Some(r#"{"a":"x","b":1e2}"#));
/// assert_eq!(canonical_json("100"), canonical_json("1.0e2"));
/// assert_eq!(canonical_json("{"), None);
/// ```
pub fn canonical_json(text: &str) -> Option<String> {
    let (arena, root) = Arena::read(text.into(), MAX_DEPTH).ok()?;
    Some(equal::canonical(&arena, root))
}
