//! The audit log: what happened to every call, one JSON line an event.
//!
//! [`AuditLog`] writes the events of the harness, secrets taken out by a [`Redactor`]. A [`Record`]
//! is one of its lines; [`Runs`] puts the lines together to runs again, and [`Report`] sums them up.

mod clock;
mod file;
mod log;
mod queue;
mod record;
mod redact;
mod report;
mod runs;
mod scribe;

#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod tests;

pub use log::{AuditCounts, AuditError, AuditLog, AuditOptions};
pub use record::{Body, CandidateRecord, FixRecord, LeftRecord, Record, RunRef, SCHEMA_VERSION};
pub use redact::{MARK, Redactor};
pub use report::{ModelTally, OTHERS, Offender, Report, RuleTally, RunTally, Tally};
pub use runs::{
    CandidateRow, Chosen, ChosenBy, FailureRow, LineCounts, ResultRow, RoundRow, Run, Runs,
};
