//! The way from a call to the log: bounded, never waited for, with room kept for how runs end.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use harness::Event;

/// Events on their way to the log.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// How many events wait at most; half as many terminal ones beside them.
    capacity: usize,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Arc<Event>>,
    dropped: u64,
    is_closed: bool,
    /// Somebody waits until everything is written.
    is_busy: bool,
}

/// What the writer takes from the queue at once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: VecDeque<Arc<Event>>,
    /// How many were dropped since the last batch.
    pub(super) dropped: u64,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            capacity,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event along, or counts it as dropped.
    pub(super) fn push(&self, event: &Arc<Event>) {
        let reserve = if event.kind.is_terminal() {
            self.capacity / 2
        } else {
            0
        };
        let mut state = self.state();
        if state.events.len() >= self.capacity + reserve {
            state.dropped += 1;
            return;
        }
        state.events.push_back(Arc::clone(event));
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for events; `None` when there will be no more.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut state = self.state();
        state.is_busy = false;
        self.changed.notify_all();
        while state.events.is_empty() && state.dropped == 0 {
            if state.is_closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.is_busy = true;
        Some(Batch {
            events: std::mem::take(&mut state.events),
            dropped: std::mem::take(&mut state.dropped),
        })
    }

    /// Waits until everything that was pushed has been written.
    pub(super) fn flush(&self) {
        let mut state = self.state();
        while state.is_busy || !state.events.is_empty() || state.dropped > 0 {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }
}
