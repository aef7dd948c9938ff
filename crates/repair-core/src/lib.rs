//! Deterministic repair of the tool calls of LLM agents.
//!
//! This crate does no I/O, has no async, and reads no clock, environment or randomness: the same
//! raw call, tools and policy always give the same verdict.
#![deny(clippy::disallowed_methods)]

mod call;
mod feedback;
mod fix;
mod fixes;
mod json;
mod names;
mod policy;
mod rule;
mod schema;
mod spec;
mod stats;
mod toolset;
mod verdict;

pub use call::{Arguments, Call, Finish, RawCall};
pub use feedback::{CorrectiveError, HistoryCall, Teacher};
pub use fix::Fix;
pub use fixes::Fixes;
pub use policy::{Limits, Policy, RuleSetting};
pub use rule::{Loss, Risk, Rule, Stage};
pub use spec::{Effect, SpecError, ToolSpec};
pub use stats::{Counts, RepairStats};
pub use toolset::{SchemaProblem, ToolSet};
pub use verdict::{
    ArgumentError, Candidate, ExpectedParameters, Origin, Reason, Rejected, Repaired, Verdict,
};
