//! Which candidate runs.

use harness::{
    Answer, ApprovalReason, Budget, Candidate, ErrorClass, EventKind, GiveUpReason, Message, Patch,
    Proposal, Rejection, Request, Resource, Settings, Step, Usage,
};
use repair_core::{Finish, RawCall, Risk};

use crate::driver::{Driven, conversation};

const CALL: &str = r#"{"path": "a"}"#;

/// A read that the tool refused, with the debugger asked.
fn refused(tool: &str, arguments: &str) -> Driven {
    let mut run = Driven::alone(tool, arguments);
    run.fails(ErrorClass::Value, "no file 'a'; there are 'b', 'c' and 'd'");
    run
}

fn path(name: &str, confidence: f64) -> Candidate {
    Candidate::new(format!(r#"{{"path":"{name}"}}"#), confidence)
}

#[test]
fn the_first_valid_one_that_has_not_failed_runs() {
    let mut run = refused("read", CALL);
    run.proposes([
        Candidate::new(r#"{"path": 7, "limit": "many"}"#, 0.9).because("A is invalid"),
        path("b", 0.7).because("B is valid"),
        Candidate::new(r#"{ "path":"a" }"#, 0.8).because("C is what failed"),
    ]);
    assert_eq!(run.runs(), r#"{"path":"b"}"#);
    assert_eq!(
        run.story(),
        [
            "failed",
            "proposed",
            "candidate_rejected 2",
            "candidate_rejected 0",
            "retrying",
            "succeeded",
        ]
    );
    let events = run.events();
    let attempts: Vec<u32> = events.iter().map(|event| event.attempt).collect();
    assert_eq!(attempts, [0, 0, 0, 0, 1, 1]);
    let numbers: Vec<u64> = events.iter().map(|event| event.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    let EventKind::Retrying {
        candidate,
        arguments,
        ..
    } = &events[4].kind
    else {
        panic!()
    };
    assert_eq!((*candidate, &**arguments), (Some(1), r#"{"path":"b"}"#));
    let left: Vec<_> = events.iter().map(|event| event.left.attempts).collect();
    assert_eq!(left, [Some(2), Some(2), Some(2), Some(2), Some(1), Some(1)]);
    assert_eq!(run.outcome().history.arguments, r#"{"path":"b"}"#);
}

/// However it is spelled, a value that nobody mentioned does not run where it has effects.
#[test]
fn a_novel_value_is_noticed_in_any_spelling() {
    for text in [
        r#"{"path": "invented"}"#,
        r"{'path': 'invented'}",
        r#"{"path": "invented",}"#,
        "```json\n{\"path\": \"invented\"}\n```",
    ] {
        let settings = Settings::default().has_approver(false);
        let mut run = Driven::start(&conversation(settings), "append", CALL);
        run.fails(ErrorClass::Value, "no file 'a'");
        run.proposes([Candidate::new(text, 0.9)]);
        run.proposes([Candidate::new(text, 0.9)]);
        assert_eq!(run.gave_up(), GiveUpReason::NoCandidate, "{text}");
    }
}

#[test]
fn a_debugger_that_repeats_itself_is_not_asked_a_third_time() {
    let mut run = refused("read", CALL);
    run.proposes([
        path("nobody knows this", 0.2),
        Candidate::new(r#"{"path": "b", "limit": -1}"#, 0.9),
    ]);
    assert_eq!(run.failure().refused.len(), 2);
    run.proposes([Candidate::new(r#"{ "limit":-1, "path":"b" }"#, 0.9)]);
    let outcome = run.outcome();
    let why: Vec<&str> = outcome
        .refused
        .iter()
        .map(|refused| &*refused.why)
        .collect();
    assert_eq!(why.len(), 3, "{why:?}");
    assert!(why[0].contains("confidence"), "{why:?}");
    assert!(matches!(
        &outcome.end,
        harness::End::GaveUp {
            reason: GiveUpReason::NoCandidate,
            ..
        }
    ));
}

#[test]
fn without_a_valid_one_the_debugger_is_told_and_asked_again_within_its_rounds() {
    let settings = Settings::default().run_budget(Budget::default().rounds(2));
    let mut run = Driven::start(&conversation(settings), "read", CALL);
    run.fails(ErrorClass::Value, "no file 'a'");
    assert_eq!((run.failure().round, run.failure().refused.len()), (0, 0));
    run.proposes([
        Candidate::new(r#"{"limit": -1, "path": 5}"#, 0.9),
        path("b", 0.2),
    ]);
    let failure = run.failure();
    assert_eq!(
        (failure.round, failure.refused.len(), failure.wanted),
        (1, 2, 3)
    );
    assert!(
        failure.refused[1].why.contains("limit"),
        "{:?}",
        failure.refused
    );
    run.proposes([path("a", 0.9)]);
    let rounds = GiveUpReason::Budget {
        resource: Resource::Rounds,
        shared: false,
    };
    assert_eq!(run.gave_up(), rounds);
    assert_eq!(&*run.outcome().error().unwrap().message, "no file 'a'");
}

#[test]
fn later_failures_are_shown_with_the_earlier_ones_and_never_tried_again() {
    let mut run = refused("read", CALL);
    run.proposes([path("b", 0.9)])
        .fails(ErrorClass::Value, "'b' is a directory");
    let failure = run.failure();
    assert_eq!(
        (failure.attempt, &*failure.call.arguments),
        (1, r#"{"path":"b"}"#)
    );
    assert_eq!(failure.earlier.len(), 1);
    assert_eq!(&*failure.earlier[0].call.arguments, CALL);
    run.proposes([path("a", 0.9), path("b", 0.9), path("c", 0.6)]);
    assert_eq!(run.runs(), r#"{"path":"c"}"#);
}

#[test]
fn a_debugger_that_fails_or_gives_up_never_hides_the_error() {
    let usage = Usage::default;
    let answers = [
        (
            Answer::TimedOut,
            GiveUpReason::DebuggerFailed {
                because: "it took too long".into(),
            },
        ),
        (
            Answer::ProposeFailed {
                message: "500".into(),
                usage: usage(),
            },
            GiveUpReason::DebuggerFailed {
                because: "500".into(),
            },
        ),
        (
            Answer::Proposed {
                proposal: Proposal::GiveUp {
                    reason: "no idea".into(),
                },
                usage: usage(),
            },
            GiveUpReason::DebuggerGaveUp {
                because: "no idea".into(),
            },
        ),
        (
            Answer::Proposed {
                proposal: Proposal::Candidates(vec![]),
                usage: usage(),
            },
            GiveUpReason::NoCandidate,
        ),
        (Answer::Cancelled, GiveUpReason::Cancelled),
    ];
    for (answer, want) in answers {
        let mut run = refused("read", CALL);
        run.answer(answer);
        assert_eq!(run.gave_up(), want);
        let message = run.outcome().error().unwrap().message.clone();
        assert!(message.starts_with("no file 'a'"), "{message}");
    }
}

#[test]
fn a_value_that_nobody_mentioned_is_ranked_last_and_needs_consent_where_there_are_effects() {
    let invented = || [path("passwords", 0.99), path("b", 0.6)];
    let mut run = refused("append", CALL);
    run.proposes(invented());
    assert_eq!(run.is_running(), r#"{"path":"b"}"#);
    assert_eq!(run.story(), ["failed", "proposed", "retrying"]);

    for (tool, asks) in [
        ("read", false),
        ("put", false),
        ("append", true),
        ("mystery", true),
    ] {
        let mut run = refused(tool, CALL);
        run.proposes([path("passwords", 0.99)]);
        match run.run.step() {
            Step::Approve { request, .. } if asks => {
                assert_eq!(request.reasons, [ApprovalReason::Novel]);
            }
            Step::Run { .. } if !asks => {}
            other => panic!("{tool}: {other:?}"),
        }
    }
    // The context counts as mentioned.
    let raw = RawCall::new("append", CALL);
    let request = Request::new(raw).context([Message::new("user", "Put it into passwords.")]);
    let mut run = Driven::request(&conversation(Settings::default()), request);
    run.fails(ErrorClass::Value, "no")
        .proposes([path("passwords", 0.99)]);
    run.runs();
}

#[test]
fn a_null_for_a_required_value_asks_for_a_person_if_nothing_else_runs() {
    let unknown = || Candidate::new(r#"{"path": null, "mode": "fast"}"#, 0.95);
    let mut run = refused("read", CALL);
    run.proposes([unknown(), path("b", 0.6)]);
    assert_eq!(run.runs(), r#"{"path":"b"}"#);

    let mut run = refused("read", CALL);
    run.proposes([unknown()]);
    let request = run.request_shown();
    assert_eq!(request.reasons, [ApprovalReason::MissingValue]);
    assert_eq!(request.missing, ["/path"]);
    run.answer(Answer::Replaced {
        arguments: r#"{"path": "b", "mode": "fast"}"#.into(),
    });
    assert_eq!(run.request_shown().reasons, [ApprovalReason::Replaced]);
    run.answer(Answer::Approved);
    assert_eq!(run.runs(), r#"{"path": "b", "mode": "fast"}"#);
    assert_eq!(
        run.story(),
        [
            "failed",
            "proposed",
            "candidate_rejected 0",
            "escalated",
            "escalated",
            "retrying",
            "succeeded"
        ]
    );

    let mut run = refused("read", CALL);
    run.proposes([unknown()]).answer(Answer::Approved);
    assert!(matches!(run.gave_up(), GiveUpReason::Denied { .. }));
}

#[test]
fn a_rule_candidate_runs_without_consent_only_if_the_policy_accepts_its_risk() {
    for (tool, risk, asks) in [
        ("read", Risk::Inferred, false),
        ("read", Risk::Guess, true),
        ("append", Risk::Inferred, false),
        ("append", Risk::Guess, true),
    ] {
        let mut run = refused(tool, CALL);
        run.proposes([path("b", 0.9).by_rule(risk)]);
        let is_asked = matches!(run.run.step(), Step::Approve { .. });
        assert_eq!(is_asked, asks, "{tool} {risk:?}");
    }
}

/// A misspelt enum value is a guess: a candidate and no repair.
const GUESS: &str = r#"{"path": "a", "mode": "exakt"}"#;

#[test]
fn what_the_rules_propose_is_ranked_with_the_rest_and_gains_by_agreement() {
    let mut run = Driven::alone("append", GUESS);
    assert_eq!(run.failure().by_rule.len(), 1);
    let give_up = Proposal::GiveUp {
        reason: "no".into(),
    };
    run.answer(Answer::Proposed {
        proposal: give_up,
        usage: Usage::default(),
    });
    let request = run.request_shown();
    assert_eq!(request.reasons, [ApprovalReason::Risk]);
    run.answer(Answer::Approved);
    assert_eq!(run.runs(), r#"{"path": "a", "mode": "exact"}"#);

    let mut run = Driven::alone("append", GUESS);
    run.proposes([
        Candidate::new(r#"{"path": "a", "mode": "slow"}"#, 0.7),
        Candidate::new(r#"{"mode": "exact", "path": "a"}"#, 0.6),
    ]);
    assert_eq!(run.runs(), r#"{"mode": "exact", "path": "a"}"#);
}

#[test]
fn without_a_debugger_the_rules_still_have_their_say() {
    let settings = Settings::default().run_budget(Budget::default().rounds(0));
    let mut run = Driven::start(&conversation(settings), "read", GUESS);
    assert_eq!(run.request_shown().reasons, [ApprovalReason::Risk]);
    assert_eq!(run.story(), ["failed", "proposed", "escalated"]);
    run.answer(Answer::Denied {
        because: Some("not now".into()),
    });
    assert_eq!(
        run.gave_up(),
        GiveUpReason::Denied {
            because: Some("not now".into())
        }
    );
}

#[test]
fn one_of_a_tie_runs_only_after_consent_even_if_a_model_chose_it() {
    let mut run = Driven::alone("assign", r#"{"owner": "ada"}"#);
    let tied: Vec<Candidate> = run.failure().by_rule.clone();
    assert!(
        tied.len() >= 2 && tied.iter().all(|candidate| candidate.tied),
        "{tied:?}"
    );
    run.proposes([Candidate::new(r#"{ "owner": {"name": "ada"} }"#, 0.99)]);
    let request = run.request_shown();
    assert!(
        request.reasons.contains(&ApprovalReason::Tie),
        "{request:?}"
    );
    assert!(request.arguments.contains("name"));

    // Nor if it spelled it in a way that has to be repaired first.
    let mut run = Driven::alone("assign", r#"{"owner": "ada"}"#);
    run.proposes([Candidate::new(r#"{"owner": "{\"name\": \"ada\"}"}"#, 0.99)]);
    assert!(run.request_shown().reasons.contains(&ApprovalReason::Tie));
}

#[test]
fn what_completes_a_cut_call_runs_only_after_consent() {
    let raw = RawCall::new("read", r#"{"path": "notes/2026/nov"#).with_finish(Finish::Cut);
    let mut run = Driven::request(&conversation(Settings::default()), raw.into());
    run.proposes([Candidate::new(r#"{"path": "notes"}"#, 0.99)]);
    assert_eq!(run.request_shown().reasons, [ApprovalReason::Cut]);
}

#[test]
fn a_patch_changes_the_failed_arguments_and_keeps_their_other_bytes() {
    let content = r#"{ "path" : "a" , "limit":1e2 }"#;
    let mut run = refused("append", content);
    let patch = |text: &str| Candidate::patch(Patch::from_json(text).unwrap(), 0.9);
    run.proposes([
        patch(r#"[{"op":"replace","path":"/pathh","value":"b"}]"#),
        patch(r#"[{"op":"replace","path":"/path","value":"b"}]"#),
    ]);
    assert_eq!(run.runs(), r#"{ "path" : "b" , "limit":1e2 }"#);
    let story = run.story();
    assert_eq!(story[2], "candidate_rejected 0");
    let EventKind::CandidateRejected { why, .. } = &run.events()[2].kind else {
        panic!()
    };
    assert!(matches!(why, Rejection::Patch(_)), "{why:?}");
}

#[test]
fn a_flood_of_candidates_is_cut() {
    let mut run = refused("read", CALL);
    run.proposes((0..10_000).map(|_| path("a", 0.9)));
    let rejected = run
        .story()
        .iter()
        .filter(|name| name.starts_with("candidate_rejected"))
        .count();
    assert_eq!(rejected, 33);
}
