//! Deterministic repair of the tool calls of LLM agents.
//!
//! This crate does no I/O, has no async, and reads no clock, environment or randomness: the same
//! raw call, tools and policy always give the same verdict.
#![deny(clippy::disallowed_methods)]

mod arguments;
mod bare;
mod call;
mod candidates;
mod feedback;
mod fix;
mod fixes;
mod json;
mod names;
mod naming;
mod pipeline;
mod policy;
mod rule;
mod schema;
mod spec;
mod split;
mod stats;
mod toolset;
mod verdict;
pub mod words;

pub use bare::{BadSchema, JsonRepair, repair_json};
pub use call::{Arguments, Call, Finish, RawCall};
pub use feedback::{CorrectiveError, HistoryCall, Teacher};
pub use fix::Fix;
pub use fixes::Fixes;
pub use json::canonical_json;
pub use policy::{Limits, Policy, RuleSetting};
pub use rule::{Loss, Risk, Rule, Stage};
pub use spec::{Effect, SpecError, ToolSpec};
pub use stats::{Counts, RepairStats};
pub use toolset::{SchemaProblem, ToolSet};
pub use verdict::{
    ArgumentError, Candidate, ExpectedParameters, Origin, Reason, Rejected, Repaired, Verdict,
};

/// All rules, in the order of the pipeline: what each does, how sure it is, what it costs.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let tables = [
        names::rules::RULES,
        json::lenient::RULES,
        split::RULES,
        arguments::rules::ALL,
    ];
    tables.into_iter().flatten().copied()
}
