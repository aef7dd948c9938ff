//! The queue between the callers and the writer: bounded, and never waited for by a caller.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use harness::{Event, EventKind};

/// An event and when it came.
pub(super) type Stamped = (SystemTime, Arc<Event>);

/// How much the queue holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    /// Events of any kind.
    pub(super) events: usize,
    /// Further events that end a run.
    pub(super) reserved: usize,
    /// Bytes of texts; an event that ends a run is taken in spite of them.
    pub(super) bytes: usize,
}

/// Events that were not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drops {
    pub(super) events: u64,
    pub(super) terminal: u64,
}

impl Drops {
    pub(super) fn add(&mut self, is_terminal: bool) {
        self.events += 1;
        self.terminal += u64::from(is_terminal);
    }

    pub(super) fn append(&mut self, other: Self) {
        self.events += other.events;
        self.terminal += other.terminal;
    }

    pub(super) fn any(self) -> bool {
        self.events > 0
    }
}

#[derive(Debug)]
pub(super) struct Queue {
    capacity: Capacity,
    state: Mutex<State>,
    /// Something to write, or the end.
    work: Condvar,
    /// Something was written, or the writer ended.
    progress: Condvar,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Stamped>,
    bytes: usize,
    /// Not told to the writer yet.
    drops: Drops,
    all_drops: Drops,
    /// Taken in, ever.
    accepted: u64,
    /// Dealt with by the writer, ever.
    finished: u64,
    /// Written, ever.
    written: u64,
    /// Nothing more comes.
    closed: bool,
    /// The writer is gone.
    ended: bool,
}

/// What the writer takes at once.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) events: VecDeque<Stamped>,
    /// What was dropped after these events came.
    pub(super) drops: Drops,
    pub(super) is_last: bool,
}

impl Queue {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            state: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    /// Takes an event in, or counts it as dropped. Holds the lock for a moment, never while
    /// anything is written.
    pub(super) fn push(&self, stamped: Stamped) {
        let is_terminal = stamped.1.kind.is_terminal();
        let weight = weight(&stamped.1);
        let mut state = self.lock();
        let fits = if is_terminal {
            state.events.len() < self.capacity.events + self.capacity.reserved
        } else {
            state.events.len() < self.capacity.events
                && state.bytes.saturating_add(weight) <= self.capacity.bytes
        };
        if fits && !state.ended && !state.closed {
            state.bytes = state.bytes.saturating_add(weight);
            state.accepted += 1;
            state.events.push_back(stamped);
        } else {
            state.drops.add(is_terminal);
            state.all_drops.add(is_terminal);
        }
        drop(state);
        self.work.notify_one();
    }

    /// Waits for something to write.
    pub(super) fn take(&self) -> Batch {
        let state = self.lock();
        let mut state = self
            .work
            .wait_while(state, |state| {
                state.events.is_empty() && !state.drops.any() && !state.closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        state.bytes = 0;
        Batch {
            events: std::mem::take(&mut state.events),
            drops: std::mem::take(&mut state.drops),
            is_last: state.closed,
        }
    }

    /// Tells those who wait that the writer is done with so many events, and lost some of them.
    pub(super) fn finished(&self, events: u64, lost: Drops) {
        let mut state = self.lock();
        state.finished += events;
        state.written += events.saturating_sub(lost.events);
        state.all_drops.append(lost);
        drop(state);
        self.progress.notify_all();
    }

    /// Waits until all that was taken in so far was dealt with; false if the writer is gone.
    pub(super) fn wait(&self) -> bool {
        let state = self.lock();
        let target = state.accepted;
        let state = self
            .progress
            .wait_while(state, |state| state.finished < target && !state.ended)
            .unwrap_or_else(PoisonError::into_inner);
        state.finished >= target
    }

    /// Takes nothing more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    /// The writer is gone.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.progress.notify_all();
    }

    /// Events that were dropped, and events that were written.
    pub(super) fn counts(&self) -> (Drops, u64) {
        let state = self.lock();
        (state.all_drops, state.written)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// About how many bytes an event keeps alive.
fn weight(event: &Event) -> usize {
    const BASE: usize = 256;
    let texts = match &event.kind {
        EventKind::Failed { arguments, .. }
        | EventKind::CandidateRejected { arguments, .. }
        | EventKind::Retrying { arguments, .. }
        | EventKind::Succeeded { arguments, .. } => arguments.len(),
        EventKind::Repaired {
            emitted, arguments, ..
        } => emitted.len() + arguments.len(),
        EventKind::Proposed { candidates, .. } => candidates
            .iter()
            .map(|candidate| candidate.text().len() + candidate.rationale.len())
            .sum(),
        EventKind::Escalated { request } => request.arguments.len() + request.failed.len(),
        EventKind::GaveUp { original, .. } => original.message.len(),
        _ => 0,
    };
    BASE + texts + event.message.as_ref().map_or(0, |message| message.len())
}
