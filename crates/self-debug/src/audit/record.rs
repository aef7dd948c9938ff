//! The lines of the audit log: their schema, and how events become lines.
//!
//! The schema is this file and its version, not the events of the harness: a reader of old logs
//! must not break when an event gets a field. Added fields keep the version; anything else raises
//! it.

use std::time::Duration;

use harness::{Change, Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the schema.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The version of the schema.
    pub v: u32,
    /// When, in UTC, as RFC 3339 writes it.
    pub time: String,
    /// The run that the line is about; none for lines about the log itself.
    #[serde(flatten)]
    pub run: Option<RunRef>,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// Which run, and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRef {
    /// The conversation.
    pub conversation: String,
    /// The run in its conversation.
    pub run: u64,
    /// The number of the event in its conversation.
    pub number: u64,
    /// The provider's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The resolved tool, or the name that resolves to none.
    pub tool: String,
    /// The name that the model wrote, if it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted_name: Option<String>,
    /// Which try; the first is 0.
    pub attempt: u32,
    /// Milliseconds since the start of the run.
    pub elapsed_ms: u64,
    /// The class of the error that is being dealt with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What is left of the budgets; an amount that is absent is unlimited.
    #[serde(default)]
    pub left: LeftRecord,
}

/// What is left of the budgets of run and conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LeftRecord {
    /// Runs of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Rounds with a debugger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in millionths of a currency unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Body {
    /// A call failed.
    Failed {
        /// The arguments that failed.
        arguments: String,
        /// Whether the tool may have had its effect.
        may_have_run: bool,
    },
    /// Rules made a call right before it ran.
    Repaired {
        /// The arguments as the model wrote them.
        emitted: String,
        /// The arguments that will run.
        arguments: String,
        /// What was changed.
        fixes: Vec<FixRecord>,
    },
    /// Candidates were gathered.
    Proposed {
        /// Which round with the debugger; the first is 0. Absent if only rules proposed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<u32>,
        /// All candidates.
        candidates: Vec<CandidateRecord>,
        /// Why the debugger has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gave_up: Option<String>,
        /// The model that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Tokens that the model read.
        input_tokens: u64,
        /// Tokens that the model wrote.
        output_tokens: u64,
        /// Cost in millionths of a currency unit; 0 where prices are unknown.
        cost_micros: u64,
    },
    /// A candidate was dropped.
    CandidateRejected {
        /// Its place in the last `proposed`; absent for an approver's arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        candidate: Option<usize>,
        /// Its arguments.
        arguments: String,
        /// Why, as a word.
        why: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Value>,
    },
    /// A tool is about to run again.
    Retrying {
        /// `retry` with the same arguments, or with others.
        strategy: String,
        /// The chosen candidate's place in the last `proposed`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        candidate: Option<usize>,
        /// The arguments that will run.
        arguments: String,
    },
    /// An approver is asked.
    Escalated {
        /// The arguments that wait for consent.
        arguments: String,
        /// Why consent is needed.
        reasons: Vec<Value>,
    },
    /// The tool ran without an error.
    Succeeded {
        /// The arguments that ran.
        arguments: String,
        /// A digest of the result, in hexadecimal.
        digest: String,
    },
    /// The run ended without a result.
    GaveUp {
        /// Why, as a word.
        reason: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Value>,
        /// The class of the first error.
        original_class: String,
        /// Its message.
        original_message: String,
        /// Whether the tool may have had its effect.
        may_have_run: bool,
    },
    /// Events that the log did not take or could not write before this line.
    Dropped {
        /// How many.
        events: u64,
        /// How many of them ended a run.
        terminal: u64,
    },
    /// An event that this version does not know.
    #[serde(other)]
    Unknown,
}

/// One change that a rule made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FixRecord {
    /// The rule.
    pub rule: String,
    /// Where: a JSON Pointer into the arguments.
    pub path: String,
    /// What stood there, shortened.
    pub before: String,
    /// What stands there now, shortened.
    pub after: String,
    /// How sure the rule is.
    pub risk: Value,
}

/// One proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CandidateRecord {
    /// All arguments, if they were proposed whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The JSON Patch to the failed arguments, if that was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Value>,
    /// How good it is beside its rivals, from 0 to 1.
    pub confidence: f64,
    /// Why it is proposed.
    pub rationale: String,
    /// `rule` or `model`.
    pub origin: Value,
    /// For a rule: what it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixRecord>,
}

impl Record {
    /// A line about the log itself.
    pub(super) fn about_log(time: String, body: Body) -> Self {
        Self {
            v: SCHEMA_VERSION,
            time,
            run: None,
            body,
        }
    }

    /// The line of an event, secrets and all.
    pub(super) fn of(event: &Event, time: String) -> Self {
        Self {
            v: SCHEMA_VERSION,
            time,
            run: Some(RunRef {
                conversation: event.conversation.to_string(),
                run: event.run,
                number: event.number,
                call: event.call.as_deref().map(str::to_owned),
                tool: event.tool.to_string(),
                emitted_name: (event.emitted_name != event.tool)
                    .then(|| event.emitted_name.to_string()),
                attempt: event.attempt,
                elapsed_ms: millis(event.elapsed),
                class: event.class.map(|class| word(&class).0),
                message: event.message.as_deref().map(str::to_owned),
                left: LeftRecord {
                    attempts: event.left.attempts,
                    rounds: event.left.rounds,
                    time_ms: event.left.time.map(millis),
                    tokens: event.left.tokens,
                    cost_micros: event.left.cost_micros,
                },
            }),
            body: Body::of(&event.kind),
        }
    }
}

impl Body {
    fn of(kind: &EventKind) -> Self {
        match kind {
            EventKind::Failed {
                arguments,
                may_have_run,
            } => Self::Failed {
                arguments: arguments.to_string(),
                may_have_run: *may_have_run,
            },
            EventKind::Repaired {
                emitted,
                arguments,
                fixes,
            } => Self::Repaired {
                emitted: emitted.to_string(),
                arguments: arguments.to_string(),
                fixes: fixes.iter().map(FixRecord::of).collect(),
            },
            EventKind::Proposed {
                round,
                candidates,
                gave_up,
                usage,
            } => Self::Proposed {
                round: *round,
                candidates: candidates.iter().map(CandidateRecord::of).collect(),
                gave_up: gave_up.as_deref().map(str::to_owned),
                model: usage.model.clone(),
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cost_micros: usage.cost_micros,
            },
            EventKind::CandidateRejected {
                candidate,
                arguments,
                why,
            } => {
                let (why, detail) = word(why);
                Self::CandidateRejected {
                    candidate: *candidate,
                    arguments: arguments.to_string(),
                    why,
                    detail,
                }
            }
            EventKind::Retrying {
                strategy,
                candidate,
                arguments,
                ..
            } => Self::Retrying {
                strategy: word(strategy).0,
                candidate: *candidate,
                arguments: arguments.to_string(),
            },
            EventKind::Escalated { request } => Self::Escalated {
                arguments: request.arguments.to_string(),
                reasons: request.reasons.iter().map(value).collect(),
            },
            EventKind::Succeeded { arguments, digest } => Self::Succeeded {
                arguments: arguments.to_string(),
                digest: format!("{:016x}", digest.0),
            },
            EventKind::GaveUp { reason, original } => {
                let (reason, detail) = word(reason);
                Self::GaveUp {
                    reason,
                    detail,
                    original_class: word(&original.class).0,
                    original_message: original.message.to_string(),
                    may_have_run: original.may_have_run,
                }
            }
            _ => Self::Unknown,
        }
    }
}

impl FixRecord {
    fn of(fix: &repair_core::Fix) -> Self {
        Self {
            rule: fix.rule.to_string(),
            path: fix.path.clone(),
            before: fix.before.clone(),
            after: fix.after.clone(),
            risk: value(&fix.risk),
        }
    }
}

impl CandidateRecord {
    fn of(candidate: &harness::Candidate) -> Self {
        let text = candidate.text().into_owned();
        // A patch as a value and not as a text: its operations name what is secret.
        let (arguments, patch) = match candidate.change {
            Change::Complete(_) => (Some(text), None),
            _ => (None, serde_json::from_str(&text).ok()),
        };
        Self {
            arguments,
            patch,
            confidence: candidate.confidence,
            rationale: candidate.rationale.clone(),
            origin: value(&candidate.origin),
            fixes: candidate.fixes.iter().map(FixRecord::of).collect(),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

/// A variant as its name and what it carries.
fn word(variant: &impl Serialize) -> (String, Option<Value>) {
    match value(variant) {
        Value::String(name) => (name, None),
        Value::Object(object) => object
            .into_iter()
            .next()
            .map_or_else(Default::default, |(name, detail)| (name, Some(detail))),
        other => (other.to_string(), None),
    }
}
