//! Answers of `toolmend repair`.

use repair_core::{Call, Candidate, Fix, Policy, Verdict};
use serde::Serialize;
use serde_json::value::RawValue;

use super::raw::{self, Written};
use super::request::Request;
use super::tools::{Toolkit, parse_cached};
use super::{Answer, Defaults, inline_value};

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
struct Reply<'r> {
    id: Option<&'r RawValue>,
    outcome: Outcome,
    calls: Vec<RunnableCall>,
    content: String,
    fixes: Vec<Fix>,
    reason: Option<String>,
    feedback: Option<String>,
    candidates: Vec<Candidate>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
}

impl RunnableCall {
    fn of(call: &Call<'_>) -> Option<Self> {
        let text = call.arguments().text().to_owned();
        let arguments = inline_value(&text)?;
        Some(Self {
            id: call.id().map(str::to_owned),
            name: call.tool().to_owned(),
            arguments,
            arguments_text: text,
        })
    }
}

/// Answers a request.
pub(super) fn answer(request: &Request<'_>, defaults: &Defaults) -> Answer {
    let toolkit = match (request.tools, &defaults.tools) {
        (Some(tools), _) => match parse_cached(tools.get()) {
            Ok(toolkit) => toolkit,
            Err(error) => return Answer::error(request.id, &error.to_string()),
        },
        (None, Some(toolkit)) => toolkit.clone(),
        (None, None) => {
            return Answer::error(
                request.id,
                "there are no tools: give them in the line or with --tools",
            );
        }
    };
    let toolkit = match &request.permitted {
        Some(names) => Toolkit {
            set: toolkit.set.with_permitted(names.iter().cloned()),
            ..toolkit
        },
        None => toolkit,
    };
    let policy = request
        .effects
        .iter()
        .flatten()
        .fold(defaults.policy.clone(), |policy, (tool, effect)| {
            policy.with_effect(tool, *effect)
        });
    match raw::read(request, &toolkit.set) {
        Ok(written) => reply(request, &toolkit, written, &policy),
        Err(error) => Answer::error(request.id, &error),
    }
}

fn reply(request: &Request<'_>, toolkit: &Toolkit, written: Written, policy: &Policy) -> Answer {
    let mut reply = Reply {
        id: request.id,
        outcome: Outcome::None,
        calls: Vec::new(),
        content: written.content,
        fixes: Vec::new(),
        reason: None,
        feedback: None,
        candidates: Vec::new(),
        each: Vec::new(),
        schema_problems: toolkit.problems.iter().map(ToString::to_string).collect(),
    };
    let calls: Vec<_> = if request.forbids_calls() {
        Vec::new()
    } else {
        written.calls
    };
    for call in &calls {
        for verdict in toolkit.set.repair_all(call, policy) {
            add(&mut reply, &verdict);
        }
    }
    reply.outcome = reply.each.iter().copied().max().unwrap_or(Outcome::None);
    if reply.each.len() < 2 {
        reply.each.clear();
    }
    match serde_json::to_string(&reply) {
        Ok(line) => Answer {
            line,
            is_error: false,
        },
        Err(error) => Answer::error(
            request.id,
            &format!("the answer cannot be written: {error}"),
        ),
    }
}

/// Adds what came of one call.
fn add(reply: &mut Reply<'_>, verdict: &Verdict<'_>) {
    let more = |known: &mut Option<String>, text: String| match known {
        Some(known) => {
            known.push('\n');
            known.push_str(&text);
        }
        None => *known = Some(text),
    };
    let outcome = match verdict {
        Verdict::Valid(_) => Outcome::Unchanged,
        Verdict::Repaired(repaired) => {
            reply.fixes.extend(repaired.fixes().iter().cloned());
            more(&mut reply.feedback, repaired.note());
            Outcome::Repaired
        }
        Verdict::Rejected(rejected) => {
            more(
                &mut reply.reason,
                format!("{:?}: {}", rejected.reason(), rejected.detail()),
            );
            more(&mut reply.feedback, rejected.feedback());
            reply
                .candidates
                .extend(rejected.candidates().iter().cloned());
            Outcome::Rejected
        }
    };
    reply
        .calls
        .extend(verdict.call().and_then(RunnableCall::of));
    reply.each.push(outcome);
}
