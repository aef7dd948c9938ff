//! Answers of `toolmend repair`.

use std::borrow::Cow;

use repair_core::{Call, Candidate, Fix, Policy, Verdict};
use serde::Serialize;
use serde_json::value::RawValue;

use super::raw::{self, Written};
use super::request::Request;
use super::tools::{Toolkit, parse_cached};
use super::{Defaults, inline, inline_value, is_zero, shorten};

/// What came of a line or of one of its calls; later ones are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    None,
    Unchanged,
    Repaired,
    Rejected,
}

#[derive(Serialize)]
pub(super) struct Reply {
    id: Option<Box<RawValue>>,
    outcome: Outcome,
    calls: Vec<RunnableCall>,
    content: String,
    fixes: Vec<Fix>,
    /// How many more there are than listed.
    #[serde(skip_serializing_if = "is_zero")]
    more_fixes: usize,
    reason: Option<String>,
    feedback: Option<String>,
    candidates: Vec<Candidate>,
    /// One for each call, in order.
    each: Vec<Outcome>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    schema_problems: Vec<String>,
}

/// A call that may run.
#[derive(Serialize)]
struct RunnableCall {
    id: Option<String>,
    name: String,
    /// The arguments, in their exact spelling.
    arguments: Box<RawValue>,
    arguments_text: String,
    /// The tool's schema does not compile: nothing but "a JSON object" was checked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unvalidated: bool,
}

impl RunnableCall {
    fn of(call: &Call<'_>) -> Result<Self, String> {
        let text = call.arguments().text().to_owned();
        Ok(Self {
            id: call.id().map(str::to_owned),
            name: call.tool().to_owned(),
            arguments: inline_value(&text)?,
            arguments_text: text,
            unvalidated: call.is_unvalidated(),
        })
    }
}

/// Answers a request.
pub(super) fn answer(request: &Request<'_>, defaults: &Defaults) -> Result<Reply, String> {
    let mut toolkit = match (request.tools, &defaults.tools) {
        (Some(tools), _) => parse_cached(tools.get()).map_err(|error| error.to_string())?,
        (None, Some(toolkit)) => toolkit.clone(),
        (None, None) => {
            return Err("there are no tools: give them in the line or with --tools".to_owned());
        }
    };
    if let Some(names) = &request.permitted {
        toolkit.set = toolkit.set.with_permitted(names.iter().cloned());
    }
    let mut policy = Cow::Borrowed(&defaults.policy);
    for (tool, effect) in &request.effects {
        policy = Cow::Owned(policy.into_owned().with_effect(tool, *effect));
    }
    let written = raw::read(request, &toolkit.set)?;
    reply(request, &toolkit, written, &policy)
}

fn reply(
    request: &Request<'_>,
    toolkit: &Toolkit,
    written: Written,
    policy: &Policy,
) -> Result<Reply, String> {
    let mut reply = Reply {
        id: request.id.map(inline),
        outcome: Outcome::None,
        calls: Vec::new(),
        content: written.content,
        fixes: Vec::new(),
        more_fixes: 0,
        reason: None,
        feedback: None,
        candidates: Vec::new(),
        each: Vec::new(),
        schema_problems: toolkit.problems.iter().map(ToString::to_string).collect(),
    };
    let calls = if request.forbids_calls {
        Vec::new()
    } else {
        written.calls
    };
    for call in &calls {
        for verdict in toolkit.set.repair_all(call, policy) {
            add(&mut reply, &verdict)?;
        }
    }
    reply.outcome = reply.each.iter().copied().max().unwrap_or(Outcome::None);
    Ok(reply)
}

/// Adds what came of one call.
fn add(reply: &mut Reply, verdict: &Verdict<'_>) -> Result<(), String> {
    let outcome = match verdict {
        Verdict::Valid(_) => Outcome::Unchanged,
        Verdict::Repaired(repaired) => {
            reply.fixes.extend(repaired.fixes().iter().cloned());
            reply.more_fixes += shorten(&mut reply.fixes);
            add_lines(&mut reply.feedback, &repaired.note());
            Outcome::Repaired
        }
        Verdict::Rejected(rejected) => {
            let reason = serde_json::to_value(rejected.reason()).unwrap_or_default();
            let reason = reason.as_str().unwrap_or("rejected");
            add_lines(
                &mut reply.reason,
                &format!("{reason}: {}", rejected.detail()),
            );
            add_lines(&mut reply.feedback, &rejected.feedback());
            let candidates = rejected.candidates().iter().cloned();
            reply.candidates.extend(candidates.map(|mut candidate| {
                shorten(&mut candidate.fixes);
                candidate
            }));
            Outcome::Rejected
        }
    };
    if let Some(call) = verdict.call() {
        reply.calls.push(RunnableCall::of(call)?);
    }
    reply.each.push(outcome);
    Ok(())
}

fn add_lines(known: &mut Option<String>, text: &str) {
    let known = known.get_or_insert_default();
    if !known.is_empty() {
        known.push('\n');
    }
    known.push_str(text);
}
