//! Who is told what happened, and how: off the call's path, in order, and without a way back.
//!
//! Events go into one bounded channel. Each closure has a thread of its own, so that one that
//! blocks, panics or is slow delays nobody else, whatever runtime the calls run on. A call never
//! waits for an observer: whoever is too slow misses the oldest events and is told how many.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use harness::Event;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use tokio::sync::watch;

use crate::audit::AuditLog;
use crate::trace;

/// How many events a slow observer may be behind.
const CAPACITY: usize = 1_024;

/// Where the events of calls go. Cheap to clone; clones are the same place.
#[derive(Clone)]
pub(crate) struct Observers {
    events: broadcast::Sender<Arc<Event>>,
    watched: Arc<Mutex<Watched>>,
    log: Arc<OnceLock<Option<trace::Log>>>,
    pub(crate) audit: Option<AuditLog>,
}

impl Observers {
    pub(crate) fn new() -> Self {
        Self {
            events: broadcast::channel(CAPACITY).0,
            watched: Arc::default(),
            log: Arc::default(),
            audit: None,
        }
    }

    /// Tells a closure every event, on a thread of its own.
    pub(crate) fn watch(&self, mut closure: impl FnMut(&Event) + Send + 'static) {
        let mut watched = self.watched();
        let mut events = self.events.subscribe();
        let (told, progress) = watch::channel(watched.sent);
        watched.closures.push(progress);
        drop(watched);
        let thread = std::thread::Builder::new().name("self-debug observer".to_owned());
        let spawned = thread.spawn(move || {
            loop {
                match events.blocking_recv() {
                    Ok(event) => {
                        // A panic is the closure's own affair; the next event finds it again.
                        let _ = catch_unwind(AssertUnwindSafe(|| closure(&event)));
                        told.send_modify(|told| *told += 1);
                    }
                    Err(RecvError::Lagged(missed)) => {
                        told.send_modify(|told| *told += missed);
                        // A subscriber of the log that panics is no reason to hear nothing more.
                        let _ = catch_unwind(|| {
                            tracing::warn!(missed, "an observer of tool calls is too slow");
                        });
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

    /// Waits until every closure was told every event so far.
    pub(crate) async fn flush(&self) {
        let (sent, closures) = {
            let watched = self.watched();
            (watched.sent, watched.closures.clone())
        };
        for mut progress in closures {
            // A closure whose thread is gone is told nothing any more.
            let _ = progress.wait_for(|told| *told >= sent).await;
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut watched = self.watched();
        // Nobody listening is no error.
        if self.events.send(Arc::clone(event)).is_ok() {
            watched.sent += 1;
        }
    }
}

/// The closures, and how far each has come.
#[derive(Default)]
struct Watched {
    /// How many events were sent.
    sent: u64,
    /// Up to which of them each closure was told.
    closures: Vec<watch::Receiver<u64>>,
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

    /// The same, owned.
    pub fn into_event(self) -> Option<Arc<Event>> {
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
