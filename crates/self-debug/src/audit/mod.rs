//! The audit log: what happened to every call, one JSON line an event.
//!
//! [`AuditLog`] writes the events of the harness, secrets taken out by a [`Redactor`]. A [`Record`]
//! is one of its lines.

mod clock;
mod file;
mod log;
mod queue;
mod record;
mod redact;
mod scribe;

#[cfg(test)]
mod tests;

pub use log::{AuditCounts, AuditError, AuditLog, AuditOptions};
pub use record::{Body, CandidateRecord, FixRecord, LeftRecord, Record, RunRef, SCHEMA_VERSION};
pub use redact::{MARK, Redactor};
