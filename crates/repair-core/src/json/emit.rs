//! The writer: the text of a document after repairs, with every byte outside them kept.

use std::borrow::Cow;
use std::cell::Cell;

use super::arena::{CHANGED, INSERTED, KEY_SIDE, SYNTHETIC};
use super::{Arena, Buffer, Kind, Node, NodeId};

/// The text of the document under `root`. Untouched parts keep their spelling and white space;
/// what repairs put in is compact.
pub(crate) fn emit(arena: &Arena<'_>, root: NodeId) -> String {
    let originals = Originals::of(arena);
    let mut out = String::with_capacity(arena.source().len() + 64);
    write_value(arena, &originals, root, &mut out);
    out
}

/// The text of one value as it stands after repairs.
pub(crate) fn emit_value(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId) -> String {
    let mut out = String::new();
    write_value(arena, originals, id, &mut out);
    out
}

/// Where changed nodes stood before any change.
pub(crate) struct Originals<'l> {
    /// The oldest entry of each node, by node.
    entries: Cow<'l, [(NodeId, Node)]>,
    /// The entry that will likely be asked for next: nodes are written in their order.
    next: Cell<usize>,
}

impl<'l> Originals<'l> {
    pub(crate) fn of(arena: &'l Arena<'_>) -> Self {
        let mut entries = Cow::Borrowed(arena.log());
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            let entries = entries.to_mut();
            // A stable sort: the first entry of a node is the oldest.
            entries.sort_by_key(|(id, _)| *id);
            entries.dedup_by_key(|(id, _)| *id);
        }
        Self {
            entries,
            next: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn node(&self, arena: &Arena<'_>, id: NodeId) -> Node {
        let now = arena.node(id);
        if now.has(CHANGED) {
            self.find(id).unwrap_or(now)
        } else {
            now
        }
    }

    fn find(&self, id: NodeId) -> Option<Node> {
        let likely = self.next.get();
        let at = if self.entries.get(likely).is_some_and(|(of, _)| *of == id) {
            likely
        } else {
            self.entries.binary_search_by_key(&id, |(of, _)| *of).ok()?
        };
        self.next.set(at + 1);
        self.entries.get(at).map(|(_, node)| *node)
    }
}

fn write_value(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId, out: &mut String) {
    let node = arena.node(id);
    if !node.kind.is_container() || node.first == super::NONE {
        out.push_str(arena.token(id));
    } else if node.has(SYNTHETIC) {
        write_compact(arena, originals, id, out);
    } else {
        write_patched(arena, originals, id, out);
    }
}

/// A container that a repair made.
fn write_compact(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId, out: &mut String) {
    let (opener, closer) = brackets(arena.node(id).kind);
    out.push(opener);
    for (index, child) in arena.children(id).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_key(arena, child, out);
        write_value(arena, originals, child, out);
    }
    out.push(closer);
}

fn write_key(arena: &Arena<'_>, child: NodeId, out: &mut String) {
    let key = arena.key_token(child);
    if !key.is_empty() {
        out.push_str(key);
        out.push(':');
    }
}

/// A container with a text of its own. Each child that stays brings the gap before it (comma and
/// white space); the first one brings the gap after the opener.
fn write_patched(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId, out: &mut String) {
    let node = arena.node(id);
    let buffer = arena.buffer(id);
    let (opener, closer) = brackets(node.kind);
    out.push(opener);
    let mut gap_start = node.start + 1;
    let mut opening_gap = None;
    let mut written = 0;
    for child in arena.all_children(id) {
        let now = arena.node(child);
        if now.has(INSERTED) {
            if written > 0 {
                out.push(',');
            }
            write_key(arena, child, out);
            write_value(arena, originals, child, out);
            written += 1;
            continue;
        }
        let place = originals.node(arena, child);
        let piece_start = if place.key_end > place.key_start {
            place.key_start
        } else {
            place.start
        };
        let gap = arena.slice(buffer, gap_start, piece_start);
        let opening = *opening_gap.get_or_insert(gap);
        gap_start = place.end;
        if now.has(super::arena::DROPPED) {
            continue;
        }
        out.push_str(if written == 0 { opening } else { gap });
        if place.key_end > place.key_start {
            let key_buffer = if place.has(KEY_SIDE) {
                Buffer::Side
            } else {
                Buffer::Source
            };
            out.push_str(arena.key_token(child));
            out.push_str(arena.slice(key_buffer, place.key_end, place.start));
        }
        write_value(arena, originals, child, out);
        written += 1;
    }
    if written > 0 {
        out.push_str(arena.slice(buffer, gap_start, node.end.saturating_sub(1)));
    }
    out.push(closer);
}

fn brackets(kind: Kind) -> (char, char) {
    if kind == Kind::Array {
        ('[', ']')
    } else {
        ('{', '}')
    }
}
