//! Consent: for exactly these arguments, from somebody who takes as long as it takes.

use std::time::Duration;

use harness::{Answer, ApprovalReason, Candidate, ErrorClass, GiveUpReason, Settings, Step};

use repair_core::Risk;

use crate::driver::{Driven, conversation};

fn asked(settings: Settings, tool: &str) -> Driven {
    let mut run = Driven::start(&conversation(settings), tool, r#"{"path": "a"}"#);
    run.fails(ErrorClass::Value, "no 'a', but 'b' and 'c'")
        .proposes([Candidate::new(r#"{"path": "b"}"#, 0.9)]);
    run
}

#[test]
fn no_candidate_runs_unasked_on_a_destructive_tool_or_where_the_host_says_so() {
    let closed = Settings::default().fail_closed(true);
    let careful = Settings::default().review_below(0.95);
    for (settings, tool, want) in [
        (Settings::default(), "wipe", ApprovalReason::FailClosed),
        (closed, "read", ApprovalReason::FailClosed),
        (careful, "read", ApprovalReason::LowConfidence),
    ] {
        let mut run = asked(settings, tool);
        assert_eq!(run.request_shown().reasons, [want]);
        run.answer(Answer::Approved);
        assert_eq!(run.runs(), r#"{"path": "b"}"#);
    }
}

#[test]
fn silence_means_no() {
    for answer in [Answer::TimedOut, Answer::Denied { because: None }] {
        let mut run = asked(Settings::default(), "wipe");
        run.answer(answer);
        assert_eq!(run.gave_up(), GiveUpReason::Denied { because: None });
        assert_eq!(run.outcome().error().unwrap().class, ErrorClass::Value);
    }
}

#[test]
fn waiting_for_consent_costs_no_time() {
    let mut run = asked(Settings::default(), "wipe");
    let before = run.events().last().unwrap().left.time;
    run.after(Duration::from_hours(24)).answer(Answer::Approved);
    run.runs();
    let last = run.events().last().unwrap();
    assert_eq!(last.left.time, before);
    assert_eq!(last.elapsed, Duration::from_hours(24));
}

#[test]
fn consent_is_for_these_arguments_only() {
    let mut run = asked(Settings::default(), "wipe");
    let old = run.run.step().ticket().unwrap();
    run.answer(Answer::Replaced {
        arguments: r#"{"path": "c"}"#.into(),
    });
    assert_eq!(&*run.request_shown().arguments, r#"{"path": "c"}"#);
    assert!(run.run.answer(old, Answer::Approved, run.now).is_err());
    run.answer(Answer::Approved);
    run.fails(ErrorClass::Value, "no 'c' either, but 'd'")
        .proposes([Candidate::new(r#"{"path": "d"}"#, 0.9)]);
    assert_eq!(run.request_shown().reasons, [ApprovalReason::FailClosed]);
}

#[test]
fn a_replacement_is_validated_and_cannot_go_on_for_ever() {
    let mut run = asked(Settings::default(), "wipe");
    for bad in [
        "{",
        r#"{"path": 5, "x": 1}"#,
        r#"{"path": "a"}"#,
        r#"{"path": null}"#,
    ] {
        run.answer(Answer::Replaced {
            arguments: bad.into(),
        });
        assert_eq!(&*run.request_shown().arguments, r#"{"path": "b"}"#, "{bad}");
    }
    let mut replacements = 0;
    while let Step::Approve { .. } = run.run.step() {
        run.answer(Answer::Replaced {
            arguments: r#"{"path": "c"}"#.into(),
        });
        replacements += 1;
        assert!(replacements < 20);
    }
    assert!(matches!(run.gave_up(), GiveUpReason::Denied { .. }));
}

#[test]
fn where_nobody_can_be_asked_what_needs_consent_is_passed_over() {
    let alone = || conversation(Settings::default().has_approver(false));
    let invented = || Candidate::new(r#"{"path": "secrets"}"#, 0.9);
    let error = "no 'a', but 'b'";
    let call = r#"{"path": "a"}"#;

    let mut run = Driven::start(&alone(), "append", call);
    run.fails(ErrorClass::Value, error).proposes([
        invented(),
        Candidate::new(r#"{"path": "b"}"#, 0.9).by_rule(Risk::Guess),
    ]);
    assert_eq!(
        &*run.failure().refused[1].why,
        "it needs consent, and nobody can give it"
    );
    run.proposes([invented(), Candidate::new(r#"{"path": "b"}"#, 0.6)]);
    assert_eq!(run.runs(), r#"{"path": "b"}"#);

    let mut run = Driven::start(&alone(), "append", call);
    run.fails(ErrorClass::Value, error)
        .proposes([Candidate::new(r#"{"path": null}"#, 0.9)]);
    assert_eq!(run.failure().round, 1);

    // No debugger is asked for what could not run.
    let mut run = Driven::start(&alone(), "wipe", call);
    run.fails(ErrorClass::Value, error);
    assert_eq!(run.gave_up(), GiveUpReason::Denied { because: None });
}
