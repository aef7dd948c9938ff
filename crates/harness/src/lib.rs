//! The retry state machine of a tool call.
//!
//! It decides what happens after a tool, a debugger or an approver answered: run, ask, wait, seek
//! approval, give up. It calls nothing itself and reads no clock, randomness or environment; time
//! comes in as a [`std::time::Duration`] since an epoch that the caller chose.
//!
//! A [`Conversation`] starts a [`CallRun`] for each call. [`CallRun::step`] says what to do next,
//! [`CallRun::answer`] reports what came of it, until [`Step::Done`].
//!
//! ```
//! use std::time::Duration;
//! use harness::{Answer, Conversation, ResultDigest, Settings, Step};
//! use repair_core::{Policy, RawCall, ToolSet, ToolSpec};
//! use serde_json::json;
//!
//! let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
//! let (tools, _) = ToolSet::new([ToolSpec::new("search", schema)]);
//! let conversation = Conversation::new(tools, Policy::default(), Settings::default());
//!
//! let now = Duration::ZERO;
//! let mut run = conversation.start(RawCall::new("Search", r#"{"limit": "5"}"#), now);
//! let Step::Run { ticket, call, .. } = run.step() else { panic!() };
//! assert_eq!((call.tool(), call.arguments().text()), ("search", r#"{"limit": 5}"#));
//!
//! let digest = ResultDigest::of(b"five planets");
//! let Step::Done(outcome) = run.answer(ticket, Answer::Ran { digest }, now)? else { panic!() };
//! assert!(outcome.succeeded());
//! let events: Vec<_> = run.take_events().iter().map(|event| event.kind.name()).collect();
//! assert_eq!(events, ["repaired", "succeeded"]);
//! # Ok::<(), harness::OutOfStep>(())
//! ```
//!
//! # What it promises
//!
//! - Every run ends within its budget, with exactly one terminal event, and nothing runs after it.
//! - A tool that is neither read-only nor idempotent never runs again when it may have had its
//!   effect.
//! - On a destructive tool nothing but the model's own call runs without an approver's consent, and
//!   a consent is for exactly the arguments that were shown.
//! - Only a call that validates runs, under the resolved name, if that is permitted at that moment.
//! - A debugger is asked only about what other arguments can mend.
//! - The same inputs give the same events.
#![deny(clippy::disallowed_methods)]

mod approval;
mod backoff;
mod budget;
mod candidate;
mod check;
mod circuit;
mod class;
mod conversation;
mod event;
mod failure;
mod ledger;
mod loops;
mod novelty;
mod outcome;
mod patch;
mod ranking;
mod run;
mod settings;
mod step;

pub use approval::{ApprovalReason, ApprovalRequest};
pub use backoff::Backoff;
pub use budget::{Budget, Left, Resource, Spent, Usage};
pub use candidate::{Candidate, Change, Proposal};
pub use circuit::CircuitSettings;
pub use class::{ErrorClass, Strategy};
pub use conversation::Conversation;
pub use event::{Event, EventKind, Rejection};
pub use failure::{
    CallError, Context, FailedAttempt, FailedCall, Failure, Message, RefusedCandidate,
};
pub use outcome::{End, GiveUpReason, Outcome};
pub use patch::{Operation, Patch, PatchError};
pub use run::{CallRun, ResumeError, SavedRun};
pub use settings::{Request, Settings};
pub use step::{Answer, OutOfStep, ResultDigest, Step, Ticket};
