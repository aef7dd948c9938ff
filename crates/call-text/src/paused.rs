//! What a reader waits for that needs more text, and how far it has come.

use std::cell::{Cell, RefCell};

use crate::attempts::Awaited;
use crate::tags;
use crate::values::{Bare, PausedValue};

/// Where a reader stopped.
#[derive(Debug)]
pub(crate) enum Paused {
    /// In a value.
    Value(PausedValue),
    /// In a call whose next tag is a part of it if it begins with one of these words.
    Tags(&'static [&'static str]),
}

impl Paused {
    /// Whether all of it was read, so that only what stands behind it tells more.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Self::Value(value) if value.is_whole())
    }

    /// Whether the reader, on a text that has grown from `known` bytes on, would stop again. It
    /// goes on here as far as it can.
    pub(crate) fn needs_more(&mut self, text: &str, known: usize) -> bool {
        match self {
            Self::Value(value) => value.needs_more(text),
            Self::Tags(words) => !tags::ends_other(text, known, words),
        }
    }
}

/// What a reader that is asked again remembers, and what it leaves for the next time.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    before: RefCell<Option<Paused>>,
    after: RefCell<Option<Paused>>,
    left_open: RefCell<Option<Vec<usize>>>,
    dull: Cell<Dull>,
    awaited: Cell<Option<Awaited>>,
}

/// Where a search for the end of a broken call found nothing, as long as the text stays the same:
/// the places are counted from its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dull {
    /// The first marker that was searched for.
    pub(crate) marker: &'static str,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Memo {
    pub(crate) fn new(paused: Option<Paused>, dull: Dull) -> Self {
        Self {
            before: RefCell::new(paused),
            dull: Cell::new(dull),
            ..Self::default()
        }
    }

    /// Says that the text ends in the beginning of a marker.
    pub(crate) fn await_marker(&self, at: usize, marker: &'static str) {
        self.awaited.set(Some((at, marker)));
    }

    /// The marker in whose beginning the text ends.
    pub(crate) fn awaited(&self) -> Option<Awaited> {
        self.awaited.get()
    }

    /// Where a search found nothing.
    pub(crate) fn dull(&self) -> Dull {
        self.dull.get()
    }

    pub(crate) fn leave_dull(&self, dull: Dull) {
        self.dull.set(dull);
    }

    /// The value that was read at this place, as far as it was.
    pub(crate) fn resume(&self, start: usize, bare: Bare) -> Option<PausedValue> {
        // Where an earlier reader of this look stopped says nothing about the one that begins now.
        self.after.take();
        match self.before.take() {
            Some(Paused::Value(value)) if value.is_at(start, bare) => Some(value),
            other => {
                self.before.replace(other);
                None
            }
        }
    }

    pub(crate) fn pause(&self, paused: Paused) {
        self.after.replace(Some(paused));
    }

    /// Says what is open where a value ends or breaks off. Only the first value of a look counts:
    /// what is read after it is read in another way.
    pub(crate) fn leave_open(&self, starts: impl FnOnce() -> Vec<usize>) {
        self.left_open.borrow_mut().get_or_insert_with(starts);
    }

    /// What is open where the first value breaks off; nothing if it does not.
    pub(crate) fn left_open(&self) -> Vec<usize> {
        self.left_open.take().unwrap_or_default()
    }

    /// Where the reader stopped, if it needs more text; else what the next reader may go on with.
    pub(crate) fn into_paused(self, needs_more: bool) -> Option<Paused> {
        let paused = if needs_more { self.after } else { self.before };
        paused.into_inner()
    }
}
