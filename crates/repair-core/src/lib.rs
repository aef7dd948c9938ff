//! Deterministic repair of the tool calls of LLM agents.
//!
//! This crate does no I/O, has no async, and reads no clock, environment or randomness: the same
//! raw call, tools and policy always give the same verdict.
//!
//! ```
//! use repair_core::{Policy, RawCall, ToolSet, ToolSpec, Verdict};
//! use serde_json::json;
//! let (tools, problems) = ToolSet::new([ToolSpec::new("read", json!({
//!     "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]
//! }))]);
//! assert!(problems.is_empty());
//! let raw = RawCall::new("Read", r#"{'path': "a.txt",}"#);
//! let Verdict::Repaired(repaired) = tools.repair(&raw, &Policy::default()) else { panic!() };
//! assert_eq!(repaired.call().arguments().text(), r#"{"path": "a.txt"}"#);
//! assert_eq!(repaired.fixes().iter().count(), 3);
//! ```
//!
//! | where | what |
//! |---|---|
//! | `toolset`, `spec`, `policy` | the tools, their effects, what may be applied |
//! | `pipeline`, `naming`, `split` | the way of a call; its first step; several calls in one text |
//! | `names`, `words` | which tool is meant |
//! | `json` | the arena, the strict and the lenient reader, writing |
//! | `schema` | the judge and the type tree |
//! | `arguments` | rules for values and members, and the search among them |
//! | `verdict`, `fix`, `fixes`, `candidates` | what came of it |
//! | `feedback`, `stats` | what the model is told; counts |
//! | `bare` | JSON text without a call |
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
mod units;
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

/// All rules of repair, in the order of the pipeline: what each does, how sure it is, what it costs.
///
/// Those by which calls are read from text, with ids such as `call_hermes`, are `call-text`'s.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let tables = [
        names::rules::RULES,
        json::lenient::RULES,
        split::RULES,
        arguments::rules::ALL,
    ];
    tables.into_iter().flatten().copied()
}
