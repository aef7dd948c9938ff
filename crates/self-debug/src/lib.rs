//! Wraps any async tool with a debugger that corrects its failed calls.
//!
//! - [`wrap_with_self_debug`] wraps one [`Tool`]; a [`ToolBox`] holds the tools of a conversation.
//! - What fails is corrected by a [`Debugger`]: a closure ([`debugger_fn`]), rules
//!   ([`HeuristicDebugger`]), a model ([`LlmDebugger`]), or several in a row
//!   ([`Debugger::or`]).
//! - A model is a [`ChatModel`]: a closure ([`chat_model_fn`]) or one behind an OpenAI-compatible
//!   endpoint (`OpenAiModel`, with the default feature `openai`; without it there is no HTTP
//!   client in the tree).
//! - The tools of MCP servers are tools, too (`mcp`, with the feature of that name).
//! - What happens is told to closures, subscriptions and `tracing`, in order, off the call's path;
//!   [`audit`] writes it down.
//!
//! What to do next is decided by the state machine of [`harness`]; this crate calls tools, models
//! and approvers for it. Calls run inside a Tokio runtime whose timer is enabled, and nothing is
//! spawned for them: dropping a call drops what it was doing.
//!
//! ```
//! use self_debug::{
//!     Candidate, Effect, FnTool, SelfDebugOptions, Tool, ToolError, debugger_fn,
//!     wrap_with_self_debug,
//! };
//! use serde_json::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Weather {
//!     city: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let weather = FnTool::new("weather", "Tells the weather", |weather: Weather| async move {
//!     match weather.city.as_str() {
//!         "Köln" => Ok("rain"),
//!         city => Err(ToolError::value(format!("no city '{city}'"))),
//!     }
//! })
//! .with_effect(Effect::ReadOnly);
//!
//! let debugger = debugger_fn(|failure| async move {
//!     let arguments = failure.call.arguments.replace("Cologne", "Köln");
//!     Ok(Candidate::new(arguments, 0.9).because("its own name"))
//! });
//!
//! let weather = wrap_with_self_debug(weather, debugger, SelfDebugOptions::default());
//! assert_eq!(weather.call(json!({"city": "Cologne"})).await?, "rain");
//! # Ok(())
//! # }
//! ```
//!
//! | where | what |
//! |---|---|
//! | `tool`, `fn_tool`, `error` | what a tool is, and how it fails |
//! | `wrap`, `toolbox` | one tool, the tools of a conversation |
//! | `driver` | does the steps of the machine: clock, time-outs, walls against panics |
//! | `debugger`, `heuristic`, `llm` | who proposes; the prompt and how its answer is read |
//! | `chat`, `openai` | models, and the one behind an endpoint |
//! | `approver` | who is asked for consent |
//! | `observers`, `trace`, `audit` | who is told: closures and subscriptions, `tracing`, the log |
//! | `report`, `text` | what came of a call; excerpts |

mod approver;
pub mod audit;
mod chat;
mod debugger;
mod driver;
mod error;
mod fn_tool;
mod heuristic;
mod llm;
#[cfg(feature = "mcp")]
pub mod mcp;
mod observers;
#[cfg(feature = "openai")]
mod openai;
mod options;
mod report;
mod text;
mod tool;
mod toolbox;
mod trace;
mod wrap;

pub use approver::{Approval, Approver, FnApprover, approver_fn};
pub use audit::{AuditLog, AuditOptions};
pub use chat::{
    ChatModel, ChatReply, ChatRequest, FnModel, ModelError, ModelErrorKind, chat_model_fn,
};
pub use debugger::{Debugger, DebuggerError, FnDebugger, NoDebugger, Or, Proposed, debugger_fn};
pub use error::ToolError;
pub use fn_tool::FnTool;
pub use heuristic::HeuristicDebugger;
pub use llm::{LlmDebugger, Prompt, PromptError};
pub use observers::{Notice, Subscription};
#[cfg(feature = "openai")]
pub use openai::{OpenAiModel, OpenAiOptions};
pub use options::SelfDebugOptions;
pub use report::{CallContext, CallReport};
pub use tool::{Tool, ToolExt};
pub use toolbox::{ToolBox, ToolBoxBuilder};
pub use wrap::{SelfDebug, wrap_with_self_debug};

pub use harness;
pub use repair_core;

/// For implementing [`Tool`], [`Debugger`] and the other async traits.
pub use async_trait::async_trait;
pub use harness::{
    ApprovalReason, ApprovalRequest, Budget, Candidate, ErrorClass, Event, EventKind,
    FailedAttempt, Failure, GiveUpReason, Message, Proposal, RefusedCandidate, Rejection, Settings,
    Usage,
};
pub use repair_core::{Effect, Finish, Policy, RawCall, Risk, ToolSpec};
