//! What the machine adds to a call: its repair alone, a run that succeeds, a run that recovers.
//!
//! `cargo bench -p harness`
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![allow(clippy::expect_used, reason = "a bench without its subject must stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use harness::{
    Answer, CallRun, Candidate, Conversation, ErrorClass, Proposal, ResultDigest, Settings, Step,
    Usage,
};
use repair_core::{Effect, Policy, RawCall, ToolSet, ToolSpec};
use serde_json::json;

const CALL: &str =
    r#"{"query": "planets with rings", "limit": 25, "language": "en", "sort": "relevance"}"#;

fn main() {
    let (tools, policy) = (tools(), Policy::default());
    let talk = conversation(Settings::default());
    // The same call again and again is the point here.
    let polling = conversation(Settings::default().polling("search"));
    let mut number = 0;
    let alone = median(|| {
        let raw = RawCall::new("search", CALL);
        black_box(tools.repair(&raw, &policy).into_owned());
    });
    let rows = [
        ("repair alone", alone),
        ("a run that succeeds", median(|| succeeds(&polling, 1))),
        ("the same, looking for loops", {
            median(|| {
                number += 1;
                succeeds(&talk, number);
            })
        }),
        ("a run that recovers", median(|| recovers(&polling))),
    ];
    for (name, time) in rows {
        println!(
            "{name:28} {time:>9.1?}, adds {:?}",
            time.saturating_sub(alone)
        );
    }
}

/// The median time of a call to `work`, in blocks that the clock can tell apart.
fn median(mut work: impl FnMut()) -> Duration {
    const BLOCK: u32 = 200;
    let mut block = || {
        let start = Instant::now();
        (0..BLOCK).for_each(|_| work());
        start.elapsed() / BLOCK
    };
    let mut times: Vec<Duration> = (0..300).map(|_| block()).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn tools() -> ToolSet {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "language": {"type": "string"},
            "sort": {"enum": ["relevance", "date"]}
        },
        "required": ["query"],
        "additionalProperties": false
    });
    let search = ToolSpec::new("search", schema).with_effect(Effect::ReadOnly);
    ToolSet::new([search]).0
}

fn conversation(settings: Settings) -> Conversation {
    Conversation::new(tools(), Policy::default(), settings)
}

fn answer(run: &mut CallRun, answer: Answer) {
    let ticket = run.step().ticket().expect("the run goes on");
    run.answer(ticket, answer, Duration::ZERO).expect("in step");
}

fn succeeds(talk: &Conversation, result: u64) {
    let mut run = talk.start(RawCall::new("search", CALL), Duration::ZERO);
    let digest = ResultDigest(result);
    answer(&mut run, Answer::Ran { digest });
    black_box(run.take_events());
}

fn recovers(talk: &Conversation) {
    let mut run = talk.start(RawCall::new("search", CALL), Duration::ZERO);
    answer(
        &mut run,
        Answer::Failed {
            class: ErrorClass::Value,
            message: "limit must be at most 10".to_owned(),
            may_have_run: false,
            retry_after: None,
        },
    );
    assert!(matches!(run.step(), Step::Propose { .. }));
    let other = CALL.replace("25", "10");
    answer(
        &mut run,
        Answer::Proposed {
            proposal: Proposal::Candidates(vec![Candidate::new(other, 0.9)]),
            usage: Usage::default(),
        },
    );
    let digest = ResultDigest(1);
    answer(&mut run, Answer::Ran { digest });
    black_box(run.take_events());
}
