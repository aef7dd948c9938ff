//! Who is told what happened, and how: off the call's path, in order, and without a way back.
//!
//! Events go into one bounded channel. Each closure has a thread of its own, so that one that
//! blocks, panics or is slow delays nobody else, whatever runtime the calls run on. A call never
//! waits for an observer: whoever is too slow misses the oldest events and is told how many.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use harness::Event;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use crate::audit::AuditLog;
use crate::trace;

/// How many events a slow observer may be behind.
const CAPACITY: usize = 1_024;

/// Where the events of calls go. Cheap to clone; clones are the same place.
#[derive(Clone)]
pub(crate) struct Observers {
    events: broadcast::Sender<Arc<Event>>,
    log: Arc<OnceLock<Option<trace::Log>>>,
    pub(crate) audit: Option<AuditLog>,
}

impl Observers {
    pub(crate) fn new() -> Self {
        Self {
            events: broadcast::channel(CAPACITY).0,
            log: Arc::default(),
            audit: None,
        }
    }

    /// Tells a closure every event, on a thread of its own.
    pub(crate) fn watch(&self, mut closure: impl FnMut(&Event) + Send + 'static) {
        let mut events = self.events.subscribe();
        let thread = std::thread::Builder::new().name("self-debug observer".to_owned());
        let spawned = thread.spawn(move || {
            loop {
                match events.blocking_recv() {
                    Ok(event) => {
                        // A panic is the closure's own affair; the next event finds it again.
                        let _ = catch_unwind(AssertUnwindSafe(|| closure(&event)));
                    }
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "an observer of tool calls is too slow");
                    }
                    Err(RecvError::Closed) => return,
                }
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "an observer of tool calls has no thread");
        }
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription {
            events: self.events.subscribe(),
        }
    }

    /// Whether anybody looks at events.
    pub(crate) fn is_watched(&self) -> bool {
        self.events.receiver_count() > 0 || self.audit.is_some() || trace::is_enabled()
    }

    pub(crate) fn tell(&self, event: &Arc<Event>) {
        if trace::is_enabled()
            && let Some(log) = self.log.get_or_init(trace::Log::start)
        {
            log.tell(event);
        }
        if let Some(audit) = &self.audit {
            audit.record(Arc::clone(event));
        }
        // Nobody listening is no error.
        let _ = self.events.send(Arc::clone(event));
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers")
            .field("receivers", &self.events.receiver_count())
            .finish_non_exhaustive()
    }
}

/// A subscription to the events of calls, from the moment it was made. It holds the latest 1,024
/// events that were not read yet.
#[derive(Debug)]
pub struct Subscription {
    events: broadcast::Receiver<Arc<Event>>,
}

/// What a [`Subscription`] gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// Something happened.
    Event(Arc<Event>),
    /// The reader was too slow: so many events are lost to it.
    Missed(u64),
}

impl Notice {
    /// The event, if this is one.
    pub fn event(&self) -> Option<&Arc<Event>> {
        match self {
            Self::Event(event) => Some(event),
            Self::Missed(_) => None,
        }
    }
}

impl Subscription {
    /// Waits for the next notice; `None` once everything that could send one is gone.
    pub async fn next(&mut self) -> Option<Notice> {
        match self.events.recv().await {
            Ok(event) => Some(Notice::Event(event)),
            Err(RecvError::Lagged(missed)) => Some(Notice::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next notice, if there is one already.
    pub fn try_next(&mut self) -> Option<Notice> {
        match self.events.try_recv() {
            Ok(event) => Some(Notice::Event(event)),
            Err(TryRecvError::Lagged(missed)) => Some(Notice::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}
