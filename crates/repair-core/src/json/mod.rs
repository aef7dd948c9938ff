//! JSON text: one arena over it, two readers that fill it, one writer that patches it.

pub(crate) mod arena;
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
