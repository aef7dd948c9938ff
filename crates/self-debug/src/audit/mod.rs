//! The audit log: one JSON line for each event, secrets redacted. It is the dataset: failure, all
//! candidates, the chosen one, the result.

mod file;
mod queue;
mod redact;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use harness::Event;
use serde::Serialize;
use serde_json::{Value, json};

use file::Lines;
use queue::{Batch, Queue};

/// The version of the lines, in each of them under `v`.
pub const AUDIT_VERSION: u32 = 1;

/// How an [`AuditLog`] is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditOptions {
    /// How many events may wait to be written (4,096); half as many terminal ones beside them.
    /// What is more is dropped, and the number of dropped events is written.
    pub capacity: usize,
    /// From how many bytes on a new file is begun (64 MiB).
    pub rotate_at: u64,
    /// How many older files are kept (8), as `NAME.1`, `NAME.2`, ….
    pub keep: u32,
    /// Whether secrets are redacted (yes).
    pub redact: bool,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            capacity: 4_096,
            rotate_at: 64 << 20,
            keep: 8,
            redact: true,
        }
    }
}

impl AuditOptions {
    /// Sets how many events may wait to be written.
    pub fn capacity(mut self, events: usize) -> Self {
        self.capacity = events;
        self
    }

    /// Sets from how many bytes on a new file is begun.
    pub fn rotate_at(mut self, bytes: u64) -> Self {
        self.rotate_at = bytes;
        self
    }

    /// Sets how many older files are kept.
    pub fn keep(mut self, files: u32) -> Self {
        self.keep = files;
        self
    }

    /// Writes secrets too. Only for data that holds none.
    pub fn without_redaction(mut self) -> Self {
        self.redact = false;
        self
    }
}

/// A log of events in a file of JSON lines, written by a thread of its own. No call waits for it.
///
/// Give it to [`crate::SelfDebugOptions::audit`]. Clones write to the same file; when the last is
/// gone, everything has been written.
#[derive(Clone, Debug)]
pub struct AuditLog {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Arc<Queue>,
    writer: Option<JoinHandle<()>>,
}

impl AuditLog {
    /// Opens a log, or goes on with the one that is there.
    pub fn open(path: impl AsRef<Path>, options: AuditOptions) -> io::Result<Self> {
        let lines = Lines::open(path.as_ref(), options.rotate_at, options.keep)?;
        let queue = Arc::new(Queue::new(options.capacity));
        let source = Arc::clone(&queue);
        let writer = std::thread::Builder::new()
            .name("self-debug audit".to_owned())
            .spawn(move || write(lines, &source, options.redact))?;
        Ok(Self {
            inner: Arc::new(Inner {
                queue,
                writer: Some(writer),
            }),
        })
    }

    /// Waits until everything that has happened so far is written. It blocks the thread.
    pub fn flush(&self) {
        self.inner.queue.flush();
    }

    pub(crate) fn tell(&self, event: &Arc<Event>) {
        self.inner.queue.push(event);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(writer) = self.writer.take() {
            // It ends by itself, and a panic of it is told by its own message.
            let _ = writer.join();
        }
    }
}

/// Writes batches until the queue is closed. What a full disk loses is counted as dropped.
fn write(mut lines: Lines, queue: &Queue, is_redacting: bool) {
    let mut lost = 0;
    while let Some(Batch { events, dropped }) = queue.take() {
        lost += dropped;
        let mut text = String::new();
        if lost > 0 {
            push_line(
                &mut text,
                &json!({"v": AUDIT_VERSION, "time": now(), "dropped": lost}),
            );
        }
        for event in &events {
            push_line(&mut text, &record(event, is_redacting));
        }
        match lines.append(&text) {
            Ok(()) => lost = 0,
            Err(error) => {
                lost += u64::try_from(events.len()).unwrap_or(u64::MAX);
                tracing::error!(target: "self_debug", %error, "the audit log cannot be written");
            }
        }
    }
}

fn push_line(text: &mut String, record: &Value) {
    text.push_str(&record.to_string());
    text.push('\n');
}

#[derive(Serialize)]
struct Record<'a> {
    v: u32,
    /// Milliseconds since the beginning of 1970.
    time: u64,
    #[serde(flatten)]
    event: &'a Event,
}

fn record(event: &Event, is_redacting: bool) -> Value {
    let record = Record {
        v: AUDIT_VERSION,
        time: now(),
        event,
    };
    let mut value = serde_json::to_value(record).unwrap_or_default();
    if is_redacting {
        redact::redact(&mut value);
    }
    value
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
