//! Limits that hold.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use harness::{
    Answer, Budget, Candidate, CircuitSettings, Conversation, ErrorClass, GiveUpReason, Proposal,
    Resource, ResultDigest, Settings, Step, Usage,
};
use repair_core::RawCall;

use crate::driver::{Driven, SECOND, conversation, failed};

const CALL: &str = r#"{"path": "a"}"#;

fn short(resource: Resource, shared: bool) -> GiveUpReason {
    GiveUpReason::Budget { resource, shared }
}

fn settings(budget: Budget) -> Settings {
    Settings::default().run_budget(budget)
}

#[test]
fn retries_are_counted_beyond_the_first_try() {
    for retries in 0..3 {
        let talk = conversation(settings(Budget::default().max_retries(retries)));
        let mut run = Driven::start(&talk, "read", CALL);
        for _ in 0..retries {
            run.fails(ErrorClass::Transient, "busy");
            run.after(SECOND * 40).answer(Answer::Woke);
        }
        run.fails(ErrorClass::Transient, "busy");
        assert_eq!(run.gave_up(), short(Resource::Attempts, false));
        assert_eq!(run.outcome().spent.attempts, retries + 1);
    }
}

#[test]
fn a_call_that_never_reached_the_tool_was_a_try_all_the_same() {
    let talk = conversation(settings(Budget::default().max_retries(0)));
    let mut run = Driven::start(&talk, "read", r#"{"limit": 5}"#);
    assert_eq!(run.gave_up(), short(Resource::Attempts, false));
    assert_eq!(run.outcome().error().unwrap().class, ErrorClass::Arguments);
}

#[test]
fn zero_means_none() {
    let none = Budget::unlimited;
    for (budget, resource) in [
        (none().attempts(0), Resource::Attempts),
        (none().time(Duration::ZERO), Resource::Time),
    ] {
        let mut run = Driven::start(&conversation(settings(budget)), "read", CALL);
        assert_eq!(run.gave_up(), short(resource, false));
    }
    for (budget, resource) in [
        (none().rounds(0), Resource::Rounds),
        (none().tokens(0), Resource::Tokens),
        (none().cost_micros(0), Resource::Cost),
    ] {
        for shared in [false, true] {
            let settings = if shared {
                Settings::default().shared_budget(budget.clone())
            } else {
                settings(budget.clone())
            };
            let mut run = Driven::start(&conversation(settings), "read", CALL);
            run.fails(ErrorClass::Value, "no");
            assert_eq!(run.gave_up(), short(resource, shared));
        }
    }
}

#[test]
fn deadlines_follow_from_what_is_left() {
    let budget = Budget::default()
        .time(SECOND * 10)
        .attempt_timeout(SECOND * 8)
        .round_timeout(SECOND * 3);
    let mut run = Driven::start(&conversation(settings(budget)), "read", CALL);
    let deadline = |run: &Driven| match run.run.step() {
        Step::Run { deadline, .. } | Step::Propose { deadline, .. } => deadline.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(deadline(&run), SECOND * 8);
    run.after(SECOND)
        .fails(ErrorClass::Value, "no 'a', but 'b'");
    assert_eq!(deadline(&run), SECOND * 4);
    run.after(SECOND * 3)
        .proposes([Candidate::new(r#"{"path": "b"}"#, 0.9)]);
    assert_eq!(deadline(&run), SECOND * 10);
    run.after(SECOND * 6).answer(Answer::TimedOut);
    assert_eq!(run.gave_up(), short(Resource::Time, false));
}

#[test]
fn a_pause_follows_the_tool_s_wish_and_must_fit_into_the_time() {
    let wish = |seconds| Answer::Failed {
        class: ErrorClass::Transient,
        message: "busy".into(),
        may_have_run: false,
        retry_after: Some(SECOND * seconds),
    };
    let mut run = Driven::alone("read", CALL);
    run.answer(wish(20));
    let Step::Wait { until, .. } = run.run.step() else {
        panic!()
    };
    assert_eq!(until, SECOND * 20);
    // Woken too early, it sleeps on.
    run.after(SECOND * 19).answer(Answer::Woke);
    assert!(matches!(run.run.step(), Step::Wait { .. }));
    run.after(SECOND).answer(Answer::Woke);
    run.runs();

    let mut run = Driven::alone("read", CALL);
    run.answer(wish(3_600));
    assert_eq!(run.gave_up(), short(Resource::Time, false));
}

#[test]
fn tokens_and_cost_are_settled_by_what_was_used() {
    let budget = Budget::unlimited().tokens(5_000).cost_micros(100);
    let talk = conversation(
        settings(budget.clone())
            .shared_budget(budget)
            .round_cost_micros(60),
    );
    let mut run = Driven::start(&talk, "read", CALL);
    run.fails(ErrorClass::Value, "no 'a', but 'b'");
    let Step::Propose { max_tokens, .. } = run.run.step() else {
        panic!()
    };
    assert!((64..4_900).contains(&max_tokens), "{max_tokens}");
    assert_eq!(talk.left().cost_micros, Some(40));
    let usage = Usage {
        model: Some("m".into()),
        input_tokens: 700,
        output_tokens: 50,
        cost_micros: 10,
    };
    let proposal = Proposal::Candidates(vec![Candidate::new(r#"{"path": "b"}"#, 0.9)]);
    run.answer(Answer::Proposed { proposal, usage });
    assert_eq!(
        (talk.left().tokens, talk.left().cost_micros),
        (Some(4_250), Some(90))
    );
    run.runs();
    let spent = run.outcome().spent;
    assert_eq!(
        (spent.tokens, spent.cost_micros, spent.rounds),
        (750, 10, 1)
    );
}

#[test]
fn what_a_dropped_run_had_reserved_is_free_again() {
    let budget = Budget::unlimited().attempts(2).rounds(1).tokens(9_000);
    let talk = conversation(Settings::default().shared_budget(budget));
    let mut run = Driven::start(&talk, "read", CALL);
    run.fails(ErrorClass::Value, "no");
    assert_eq!(
        (talk.left().attempts, talk.left().rounds),
        (Some(1), Some(0))
    );
    drop(run);
    assert_eq!(
        (talk.left().rounds, talk.left().tokens),
        (Some(1), Some(9_000))
    );
    let running = Driven::start(&talk, "read", CALL);
    assert_eq!(talk.left().attempts, Some(0));
    drop(running);
    assert_eq!(talk.left().attempts, Some(1));
}

#[test]
fn a_thousand_parallel_calls_never_overspend() {
    let most = 300;
    let budget = Budget::unlimited()
        .attempts(most)
        .rounds(40)
        .tokens(200_000);
    let talk = conversation(Settings::default().loop_limit(0).shared_budget(budget));
    let started = AtomicU32::new(0);
    let drive = |number: u32| {
        let mut run = talk.start(
            RawCall::new("read", format!(r#"{{"path": "f{number}"}}"#)),
            SECOND,
        );
        loop {
            let answer = match run.step() {
                Step::Run { .. } => {
                    assert!(started.fetch_add(1, Ordering::SeqCst) < most, "overspent");
                    match number % 3 {
                        0 => Answer::Ran {
                            digest: ResultDigest(0),
                        },
                        1 => failed(ErrorClass::Value, "no such file", false),
                        // Gone while the tool runs: what was reserved is released.
                        _ => {
                            started.fetch_sub(1, Ordering::SeqCst);
                            return;
                        }
                    }
                }
                Step::Propose { max_tokens, .. } => {
                    assert!(talk.left().tokens.is_some());
                    let usage = Usage {
                        output_tokens: max_tokens.min(100),
                        ..Usage::default()
                    };
                    let other = Candidate::new(format!(r#"{{"path": "g{number}"}}"#), 0.9);
                    Answer::Proposed {
                        proposal: Proposal::Candidates(vec![other]),
                        usage,
                    }
                }
                Step::Wait { .. } => Answer::Woke,
                Step::Approve { .. } => Answer::Denied { because: None },
                Step::Done(_) => return,
            };
            let ticket = run.step().ticket().unwrap();
            run.answer(ticket, answer, SECOND * 2).unwrap();
        }
    };
    let drive = &drive;
    std::thread::scope(|scope| {
        for block in 0..50 {
            scope.spawn(move || (0..20).for_each(|call| drive(block * 20 + call)));
        }
    });
    let spent = talk.spent();
    assert!(
        spent.attempts <= most && spent.rounds <= 40 && spent.tokens <= 200_000,
        "{spent:?}"
    );
    assert_eq!(spent.attempts, started.load(Ordering::SeqCst));
    // Nothing stays reserved when nobody is left.
    assert_eq!(talk.left().attempts, Some(most - spent.attempts));
    assert_eq!(talk.left().tokens, Some(200_000 - spent.tokens));
}

fn fragile() -> Conversation {
    let circuit = CircuitSettings::default().failures(2).pause(SECOND * 100);
    let budget = Budget::unlimited().attempts(1).rounds(1);
    conversation(settings(budget).circuit(circuit))
}

#[test]
fn a_tool_that_fails_again_and_again_is_left_alone() {
    let talk = fragile();
    for _ in 0..2 {
        Driven::start(&talk, "read", CALL).fails(ErrorClass::Transient, "down");
    }
    let mut blocked = Driven::start(&talk, "Read", CALL);
    assert_eq!(
        blocked.gave_up(),
        GiveUpReason::CircuitOpen {
            name: "read".into()
        }
    );
    assert_eq!(blocked.outcome().spent.attempts, 0);
    Driven::start(&talk, "put", CALL).runs();
    let mut later = talk.start(RawCall::new("read", CALL), SECOND * 200);
    let ticket = later.step().ticket().unwrap();
    later
        .answer(
            ticket,
            Answer::Ran {
                digest: ResultDigest(1),
            },
            SECOND * 201,
        )
        .unwrap();
    Driven::start(&talk, "read", CALL).runs();
}

#[test]
fn a_refused_value_is_no_failing_tool() {
    let talk = fragile();
    for number in 0..5 {
        let call = format!(r#"{{"path": "f{number}"}}"#);
        Driven::start(&talk, "read", &call).fails(ErrorClass::Value, "no");
    }
    Driven::start(&talk, "read", CALL).runs();
}

#[test]
fn an_endpoint_that_fails_again_and_again_is_left_alone() {
    let circuit = CircuitSettings::default().failures(2);
    let talk = conversation(Settings::default().circuit(circuit).endpoint("http://llm"));
    let ask = |number: u32| {
        let call = format!(r#"{{"path": "f{number}"}}"#);
        let mut run = Driven::start(&talk, "read", &call);
        run.fails(ErrorClass::Value, "no");
        run
    };
    for number in 0..2 {
        ask(number).answer(Answer::TimedOut);
    }
    assert_eq!(
        ask(3).gave_up(),
        GiveUpReason::CircuitOpen {
            name: "http://llm".into()
        }
    );
}
