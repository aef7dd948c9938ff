//! A run that is taken up by another process.

use std::time::Duration;

use harness::{Answer, Candidate, ErrorClass, GiveUpReason, SavedRun, Settings, Step};
use repair_core::{Policy, ToolSet};

use crate::driver::{Driven, SECOND, conversation};

const CALL: &str = r#"{"path": "a"}"#;

/// Saves a run as text and takes it up in a conversation of its own.
fn move_on(run: &mut Driven) -> Driven {
    let saved = run.run.save(run.now).unwrap();
    let text = serde_json::to_string(&saved).unwrap();
    let saved: SavedRun = serde_json::from_str(&text).unwrap();
    let talk = conversation(Settings::default());
    let run = talk.resume(saved, SECOND * 9).unwrap();
    let number = run.number();
    assert_eq!(
        talk.start(repair_core::RawCall::new("read", CALL), SECOND)
            .number(),
        number + 1
    );
    Driven {
        run,
        now: SECOND * 9,
        events: Vec::new(),
    }
}

#[test]
fn a_question_to_the_debugger_is_asked_again_with_all_it_knew() {
    let mut run = Driven::alone("Read", CALL);
    run.after(SECOND)
        .fails(ErrorClass::Value, "no 'a', but 'b' and 'c'");
    run.proposes([
        Candidate::new(r#"{"path": "b"}"#, 0.9),
        Candidate::new(r#"{"path": 1e9, "x": 1}"#, 0.8),
    ]);
    run.fails(ErrorClass::Value, "'b' is a directory");
    let before = run.failure();
    let mut again = move_on(&mut run);
    assert_eq!(*again.failure(), *before);
    again.proposes([
        Candidate::new(r#"{"path": "b"}"#, 0.9),
        Candidate::new(r#"{"path": "c"}"#, 0.8),
    ]);
    assert_eq!(again.runs(), r#"{"path": "c"}"#);
    assert_eq!(again.outcome().spent.attempts, 3);
    assert_eq!(
        again.story(),
        [
            "repaired",
            "failed",
            "proposed",
            "retrying",
            "failed",
            "proposed",
            "candidate_rejected 0",
            "retrying",
            "succeeded"
        ]
    );
}

#[test]
fn a_tool_that_was_running_may_have_had_its_effect() {
    let mut run = Driven::alone("append", CALL);
    let mut again = move_on(&mut run);
    assert_eq!(again.gave_up(), GiveUpReason::MayHaveRun);

    let mut run = Driven::alone("read", CALL);
    let mut again = move_on(&mut run);
    assert!(matches!(again.run.step(), Step::Wait { .. }));
    again.after(SECOND * 60).answer(Answer::Woke);
    again.runs();
    assert_eq!(again.outcome().spent.attempts, 2);
}

#[test]
fn a_consent_counts_after_the_restart() {
    let mut run = Driven::alone("wipe", CALL);
    run.fails(ErrorClass::Value, "no 'a', but 'b'")
        .proposes([Candidate::new(r#"{"path": "b"}"#, 0.9)]);
    let ticket = run.run.step().ticket().unwrap();
    run.after(Duration::from_hours(1));
    let mut again = move_on(&mut run);
    assert_eq!(*again.request_shown(), *run.request_shown());
    again
        .run
        .answer(ticket, Answer::Approved, again.now)
        .unwrap();
    assert_eq!(again.runs(), r#"{"path": "b"}"#);
    assert!(again.events().last().unwrap().elapsed >= Duration::from_hours(1));
}

#[test]
fn a_pause_goes_on_where_it_was() {
    let mut run = Driven::alone("read", CALL);
    run.answer(Answer::Failed {
        class: ErrorClass::Transient,
        message: "busy".into(),
        may_have_run: false,
        retry_after: Some(SECOND * 10),
    });
    run.after(SECOND * 4);
    let again = move_on(&mut run);
    let Step::Wait { until, .. } = again.run.step() else {
        panic!()
    };
    assert_eq!(until, SECOND * 15);
}

#[test]
fn what_does_not_fit_any_more_is_refused_and_what_has_ended_is_not_saved() {
    let mut run = Driven::alone("read", CALL);
    let saved = run.run.save(SECOND).unwrap();
    let (other, _) = ToolSet::new([]);
    let talk = harness::Conversation::new(other, Policy::default(), Settings::default());
    assert!(
        talk.resume(saved, SECOND)
            .unwrap_err()
            .to_string()
            .contains("'read'")
    );
    run.runs();
    assert!(run.run.save(SECOND).is_none());
}
