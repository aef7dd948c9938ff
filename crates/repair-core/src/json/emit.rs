//! The writer: the text of a document after repairs, with every byte outside them kept.

use std::borrow::Cow;
use std::cell::Cell;

use super::arena::{CHANGED, INSERTED, KEY_SIDE, SYNTHETIC};
use super::{Arena, Buffer, Kind, Node, NodeId};

/// The text of the document under `root`. Untouched parts keep their spelling and white space;
/// what repairs put in is compact.
pub(crate) fn emit(arena: &Arena<'_>, root: NodeId) -> String {
    let originals = Originals::of(arena);
    let mut out = Out::new(arena, arena.source().len() + 64);
    write_value(arena, &originals, root, &mut out);
    out.finish()
}

/// The text of one value as it stands after repairs.
pub(crate) fn emit_value(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId) -> String {
    let mut out = Out::new(arena, 0);
    write_value(arena, originals, id, &mut out);
    out.finish()
}

/// A text in the making. Spans that follow one another are copied as one.
struct Out<'s> {
    arena: &'s Arena<'s>,
    text: String,
    /// What is to be copied next.
    buffer: Buffer,
    start: u32,
    end: u32,
}

impl<'s> Out<'s> {
    fn new(arena: &'s Arena<'_>, capacity: usize) -> Self {
        Self {
            arena,
            text: String::with_capacity(capacity),
            buffer: Buffer::Source,
            start: 0,
            end: 0,
        }
    }

    #[inline]
    fn push_span(&mut self, buffer: Buffer, start: u32, end: u32) {
        if start == self.end && buffer == self.buffer {
            self.end = end;
            return;
        }
        self.flush();
        (self.buffer, self.start, self.end) = (buffer, start, end);
    }

    fn push(&mut self, character: char) {
        self.flush();
        self.text.push(character);
    }

    fn flush(&mut self) {
        let span = self.arena.slice(self.buffer, self.start, self.end);
        self.text.push_str(span);
        self.start = self.end;
    }

    fn finish(mut self) -> String {
        self.flush();
        self.text
    }
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
        let mut was = if now.has(CHANGED) {
            self.find(id).unwrap_or(now)
        } else {
            now
        };
        was.quote();
        was
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

fn write_value(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId, out: &mut Out<'_>) {
    let node = arena.node(id);
    if !node.kind.is_container() || node.first == super::NONE {
        out.push_span(arena.buffer(id), node.start, node.end);
    } else if node.has(SYNTHETIC) {
        write_compact(arena, originals, id, out);
    } else {
        write_patched(arena, originals, id, out);
    }
}

/// A container that a repair made.
fn write_compact(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId, out: &mut Out<'_>) {
    let (opener, closer) = if arena.node(id).kind == Kind::Array {
        ('[', ']')
    } else {
        ('{', '}')
    };
    out.push(opener);
    for (index, child) in arena.children(id).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_key(arena.node(child), out);
        write_value(arena, originals, child, out);
    }
    out.push(closer);
}

/// The key of a member that a repair put in.
fn write_key(child: Node, out: &mut Out<'_>) {
    if child.key_end > child.key_start {
        out.push_span(key_buffer(child), child.key_start, child.key_end);
        out.push(':');
    }
}

fn key_buffer(node: Node) -> Buffer {
    if node.has(KEY_SIDE) {
        Buffer::Side
    } else {
        Buffer::Source
    }
}

/// A container with a text of its own. Each child that stays brings the gap before it (comma and
/// white space); the first one brings the gap after the opener.
fn write_patched(arena: &Arena<'_>, originals: &Originals<'_>, id: NodeId, out: &mut Out<'_>) {
    let node = arena.node(id);
    let buffer = arena.buffer(id);
    out.push_span(buffer, node.start, node.start + 1);
    let mut gap_start = node.start + 1;
    let mut opening_gap = None;
    let mut is_first = true;
    for child in arena.all_children(id) {
        let now = arena.node(child);
        let is_behind_dropped = is_first && opening_gap.is_some();
        let is_whole = || !now.kind.is_container() || arena.is_untouched(child, now.next);
        if now.is_in_place() && !is_behind_dropped && is_whole() {
            let quote = u32::from(now.unquoted);
            out.push_span(buffer, gap_start, now.start - quote);
            out.push_span(buffer, now.start, now.end);
            gap_start = now.end + quote;
            is_first = false;
            continue;
        }
        if now.has(INSERTED) {
            if !is_first {
                out.push(',');
            }
            write_key(now, out);
            write_value(arena, originals, child, out);
            is_first = false;
            continue;
        }
        let place = originals.node(arena, child);
        let has_key = place.key_end > place.key_start;
        let piece_start = if has_key {
            place.key_start
        } else {
            place.start
        };
        let gap = (gap_start, piece_start);
        let opening = *opening_gap.get_or_insert(gap);
        gap_start = place.end;
        if now.has(super::arena::DROPPED) {
            continue;
        }
        let (start, end) = if is_first { opening } else { gap };
        is_first = false;
        out.push_span(buffer, start, end);
        if has_key {
            out.push_span(key_buffer(now), now.key_start, now.key_end);
            out.push_span(key_buffer(place), place.key_end, place.start);
        }
        write_value(arena, originals, child, out);
    }
    if !is_first {
        out.push_span(buffer, gap_start, node.end.saturating_sub(1));
    }
    let closer = node.end.saturating_sub(1);
    out.push_span(buffer, closer, node.end);
}
