//! The audit log: what happened to every call, one JSON line an event.

mod redact;

pub use redact::{MARK, Redactor};
