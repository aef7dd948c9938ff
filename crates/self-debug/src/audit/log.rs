//! The audit log as its host sees it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::SystemTime;

use harness::Event;

use super::file::{FileOptions, LogFile, Sink};
use super::queue::{Capacity, Drops, Queue};
use super::redact::Redactor;
use super::scribe::Scribe;

type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// How an [`AuditLog`] is written.
#[derive(Clone)]
pub struct AuditOptions {
    redactor: Option<Redactor>,
    capacity: Capacity,
    longest_text: usize,
    file: FileOptions,
    clock: Clock,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            redactor: Some(Redactor::new()),
            capacity: Capacity {
                events: 8 << 10,
                reserved: 1 << 10,
                bytes: 64 << 20,
            },
            longest_text: 256 << 10,
            file: FileOptions {
                rotate_at: 64 << 20,
                keep: 8,
                sync: false,
            },
            clock: Arc::new(SystemTime::now),
        }
    }
}

impl AuditOptions {
    /// Sets what is taken out of the lines: further keys and secrets.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = Some(redactor);
        self
    }

    /// Writes secrets down as they are. For tests, and for logs that are guarded like the secrets.
    pub fn dangerously_keep_secrets(mut self) -> Self {
        self.redactor = None;
        self
    }

    /// Sets how many events may wait to be written (8,192), and how many more that end a run
    /// (1,024). What comes beyond is dropped and counted.
    pub fn queue(mut self, events: usize, reserved: usize) -> Self {
        self.capacity.events = events;
        self.capacity.reserved = reserved;
        self
    }

    /// Sets how many bytes of texts may wait to be written (64 MiB).
    pub fn queue_bytes(mut self, bytes: usize) -> Self {
        self.capacity.bytes = bytes;
        self
    }

    /// Sets how many bytes of a text are written (256 KiB); the rest is counted in its place.
    pub fn longest_text(mut self, bytes: usize) -> Self {
        self.longest_text = bytes;
        self
    }

    /// Sets from how many bytes on a new file is begun (64 MiB), and how many full ones are kept
    /// (8) under the names `FILE.1` (the newest), `FILE.2`, ….
    pub fn rotation(mut self, bytes: u64, keep: u32) -> Self {
        self.file.rotate_at = bytes;
        self.file.keep = keep;
        self
    }

    /// Brings every batch of lines to the disk before the next is written, so that they survive
    /// a loss of power. Without it lines survive the death of the process.
    pub fn sync_to_disk(mut self) -> Self {
        self.file.sync = true;
        self
    }

    /// Sets the clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

impl fmt::Debug for AuditOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditOptions")
            .field("redactor", &self.redactor)
            .field("capacity", &self.capacity)
            .field("longest_text", &self.longest_text)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// The log could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file could not be opened.
    #[error("the audit log {} cannot be opened", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The writer's thread could not be started.
    #[error("the writer of the audit log cannot be started")]
    Start(#[source] io::Error),
    /// The writer is gone; nothing is written any more.
    #[error("the writer of the audit log is gone; open the log again")]
    Gone,
}

/// What became of the events so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCounts {
    /// Lines of events that were written.
    pub written: u64,
    /// Events that were not: the queue was full, or the disk refused.
    pub dropped: u64,
    /// How many of those ended a run.
    pub dropped_terminal: u64,
}

/// A file with one JSON line an event. Written by a thread of its own: recording an event never
/// waits for the disk.
///
/// Cheap to clone; clones are the same log. When the last one goes, it first writes what is still
/// waiting.
///
/// ```no_run
/// use self_debug::audit::{AuditLog, AuditOptions};
/// # fn example(event: harness::Event) -> Result<(), self_debug::audit::AuditError> {
/// let log = AuditLog::open("audit.jsonl", AuditOptions::default().rotation(16 << 20, 4))?;
/// log.record(event);
/// log.flush()?;
/// assert_eq!(log.counts().written, 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct AuditLog {
    inner: Arc<Inner>,
}

struct Inner {
    queue: Arc<Queue>,
    clock: Clock,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl AuditLog {
    /// Opens a file for appending, after what is there. A line that a dead process left unfinished
    /// gets its end first. One process at a time writes a file.
    pub fn open(path: impl AsRef<Path>, options: AuditOptions) -> Result<Self, AuditError> {
        let path = path.as_ref();
        let file = LogFile::open(path, options.file).map_err(|source| AuditError::Open {
            path: path.to_owned(),
            source,
        })?;
        Self::start(file, options)
    }

    /// Starts the writer.
    pub(super) fn start(
        sink: impl Sink + 'static,
        options: AuditOptions,
    ) -> Result<Self, AuditError> {
        let queue = Arc::new(Queue::new(options.capacity));
        let writer = Writer {
            queue: Arc::clone(&queue),
            scribe: Scribe::new(options.redactor, options.longest_text),
            sink,
            clock: Arc::clone(&options.clock),
            untold: Drops::default(),
        };
        let thread = std::thread::Builder::new()
            .name("audit-log".to_owned())
            .spawn(move || writer.run())
            .map_err(AuditError::Start)?;
        Ok(Self {
            inner: Arc::new(Inner {
                queue,
                clock: options.clock,
                thread: Some(thread),
            }),
        })
    }

    /// Takes an event to be written, or counts it as dropped if too many wait. Never blocks.
    pub fn record(&self, event: impl Into<Arc<Event>>) {
        let Inner { queue, clock, .. } = &*self.inner;
        queue.push((clock(), event.into()));
    }

    /// Waits until everything that was recorded so far was written. Blocks the thread: from async
    /// code, call it in `spawn_blocking`.
    pub fn flush(&self) -> Result<(), AuditError> {
        self.inner
            .queue
            .wait()
            .then_some(())
            .ok_or(AuditError::Gone)
    }

    /// What became of the events so far. An event that waits counts nowhere.
    pub fn counts(&self) -> AuditCounts {
        let (drops, written) = self.inner.queue.counts();
        AuditCounts {
            written,
            dropped: drops.events,
            dropped_terminal: drops.terminal,
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of the audit log panicked");
        }
    }
}

/// The thread that writes.
struct Writer<S> {
    queue: Arc<Queue>,
    scribe: Scribe,
    sink: S,
    clock: Clock,
    /// Drops that no line tells of yet.
    untold: Drops,
}

impl<S: Sink> Writer<S> {
    fn run(mut self) {
        // Whoever waits for this thread must hear of its end, however it ends.
        let _end = EndOnDrop(Arc::clone(&self.queue));
        loop {
            let batch = self.queue.take();
            for (time, event) in batch.events {
                let line = self.scribe.event(&event, time);
                let written = self.write(&line);
                let mut lost = Drops::default();
                if !written {
                    lost.add(event.kind.is_terminal());
                    self.untold.append(lost);
                }
                self.queue.finished(1, lost);
            }
            self.untold.append(batch.drops);
            self.tell_drops();
            if let Err(error) = self.sink.sync() {
                tracing::warn!(%error, "the audit log could not be brought to the disk");
            }
            if batch.is_last {
                break;
            }
        }
    }

    fn tell_drops(&mut self) {
        if self.untold.any() {
            let Drops { events, terminal } = self.untold;
            if self.write(&Scribe::dropped(events, terminal, (self.clock)())) {
                self.untold = Drops::default();
            }
        }
    }

    fn write(&mut self, line: &str) -> bool {
        match self.sink.line(line.as_bytes()) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "a line of the audit log could not be written");
                false
            }
        }
    }
}

/// Tells the queue that the writer is gone.
struct EndOnDrop(Arc<Queue>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}
