//! A value of which more text is needed: where its reader stopped, and how it goes on.

use super::string::find_end;
use super::{Bare, Expect, Node, Reader, Values};
use crate::cursor::{Cursor, Stop};

/// A reader that needs more text.
#[derive(Debug)]
pub(crate) struct PausedValue {
    start: usize,
    at: usize,
    bare: Bare,
    nodes: Vec<Node>,
    open: Vec<usize>,
    expect: Expect,
    seen: (usize, usize),
    quoting: usize,
    /// How many bytes were read, those that were read again counted again.
    work: usize,
}

impl PausedValue {
    /// A whole value, behind which more text is needed.
    pub(crate) fn whole(values: Values<'_>, end: usize, bare: Bare) -> Self {
        Self {
            start: values.node(0).map_or(usize::MAX, |node| node.start),
            at: end,
            bare,
            nodes: values.nodes,
            open: Vec::new(),
            expect: Expect::CommaOrEnd,
            seen: (usize::MAX, 0),
            quoting: usize::MAX,
            work: 0,
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.open.is_empty() && !self.nodes.is_empty()
    }

    /// Whether the value begins at this place and is read in this way.
    pub(crate) fn is_at(&self, start: usize, bare: Bare) -> bool {
        self.start == start && self.bare == bare
    }

    /// Whether the value still needs more text.
    pub(crate) fn needs_more(&mut self, text: &str) -> bool {
        /// What is read again more often is not worth it.
        const MAX_TIMES: usize = 16;
        if self.is_inside_string(text) {
            return true;
        }
        let known = if self.seen.0 == self.at {
            self.seen.1
        } else {
            self.at
        };
        self.work += text.len().saturating_sub(known);
        if self.work > text.len().saturating_mul(MAX_TIMES) {
            return false;
        }
        let start = self.start;
        let paused = Self {
            nodes: std::mem::take(&mut self.nodes),
            open: std::mem::take(&mut self.open),
            ..*self
        };
        let mut reader = Reader::resume(Cursor::new(text, false), paused);
        let read = reader.run();
        *self = reader.pause(start);
        if read == Err(Stop::Not) {
            // It stopped within a token: whoever looks begins again.
            self.start = usize::MAX;
        }
        read == Err(Stop::More)
    }

    /// Whether the reader stopped in a string that the new text does not end.
    fn is_inside_string(&mut self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let new = bytes.get(self.seen.1..).unwrap_or_default();
        let is_inside = self.seen.0 == self.at
            && bytes
                .get(self.at)
                .is_some_and(|quote| self.seen.1 > self.at + 2 && find_end(new, *quote).is_none());
        if is_inside {
            self.seen.1 = self.seen.1.max(bytes.len());
        }
        is_inside
    }
}

impl<'t> Reader<'t> {
    pub(super) fn resume(cursor: Cursor<'t>, paused: PausedValue) -> Self {
        Self {
            cursor: Cursor {
                at: paused.at,
                ..cursor
            },
            bare: paused.bare,
            nodes: paused.nodes,
            open: paused.open,
            expect: paused.expect,
            seen: paused.seen,
            quoting: paused.quoting,
            work: paused.work,
        }
    }

    pub(super) fn pause(self, start: usize) -> PausedValue {
        PausedValue {
            start,
            at: self.cursor.at,
            bare: self.bare,
            nodes: self.nodes,
            open: self.open,
            expect: self.expect,
            seen: self.seen,
            quoting: self.quoting,
            work: self.work,
        }
    }
}
