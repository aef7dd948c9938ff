//! Repairs the tool calls of LLM agents: one dependency for all of it.
//!
//! - [`repair_core`]: one call at a time, deterministic, in microseconds;
//! - [`call_text`]: calls that a model printed as text, and streamed call deltas;
//! - `self_debug` (feature `self-debug`): tools that are repaired, debugged and retried; with
//!   `openai` by a model behind an OpenAI-compatible endpoint, with `mcp` those of MCP servers;
//! - [`protocol`]: the line protocol of the `toolmend` command, as functions without I/O.
//!
//! The features `cli` (the command), `self-debug` and `openai` are on by default. What is pure and
//! synchronous alone is `toolmend = { version = "…", default-features = false }`.
//!
//! ```
//! use toolmend::{Policy, RawCall, ToolSet, ToolSpec, Verdict};
//! use serde_json::json;
//! let search = ToolSpec::new("search", json!({
//!     "type": "object",
//!     "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
//!     "required": ["query"]
//! }));
//! let (tools, _) = ToolSet::new([search]);
//! let raw = RawCall::new("Search", r#"{"query": "planets", "limit": "5"}"#);
//! let Verdict::Repaired(repaired) = tools.repair(&raw, &Policy::default()) else { panic!() };
//! assert_eq!(repaired.call().arguments().text(), r#"{"query": "planets", "limit": 5}"#);
//! ```

pub mod protocol;

/// The README's programs must compile and run.
#[cfg(all(doctest, feature = "openai"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use call_text;
pub use repair_core;

pub use call_text::{CallDelta, CallReader, DeltaAssembler, Mode, Piece, ReadOptions, read_calls};
pub use repair_core::{
    Arguments, BadSchema, Call, Effect, Finish, Fix, Fixes, JsonRepair, Policy, RawCall, Reason,
    Rejected, Repaired, Risk, RuleSetting, ToolSet, ToolSpec, Verdict, repair_json, rules,
};
#[cfg(feature = "self-debug")]
pub use self_debug;
#[cfg(feature = "self-debug")]
pub use self_debug::{
    Approval, ApprovalRequest, Approver, Budget, CallContext, CallReport, Candidate, Debugger,
    DebuggerError, Event, EventKind, Failure, FnTool, HeuristicDebugger, LlmDebugger, Message,
    NoDebugger, Notice, Proposed, SelfDebugOptions, Subscription, Tool, ToolBox, ToolError,
    ToolExt, approver_fn, async_trait, debugger_fn, wrap_with_self_debug,
};
#[cfg(feature = "openai")]
pub use self_debug::{OpenAiModel, OpenAiOptions};
