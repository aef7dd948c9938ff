//! What each class of error leads to, on tools of each effect.

use harness::{Answer, ErrorClass, GiveUpReason, Settings, Step};
use repair_core::{Effect, RawCall, ToolSet, ToolSpec};
use serde_json::json;

use crate::driver::{Driven, SECOND, conversation, failed, tools};

const CALL: &str = r#"{"path": "a"}"#;

/// What a run does next, in a word.
fn next(run: &mut Driven) -> String {
    match run.run.step() {
        Step::Done(_) => format!("{:?}", run.gave_up()),
        Step::Run { .. } => "run".to_owned(),
        Step::Propose { .. } => "propose".to_owned(),
        Step::Wait { .. } => "wait".to_owned(),
        Step::Approve { .. } => "approve".to_owned(),
    }
}

#[test]
fn the_class_decides_the_strategy_and_the_effect_decides_what_may_run_again() {
    use ErrorClass::{
        Arguments, Denied, Fatal, NotPermitted, Syntax, Transient, UnknownTool, Value,
    };
    // Class, what follows if the tool had no effect, and if it may have had one that counts.
    let table = [
        (Value, "propose", "MayHaveRun"),
        (Arguments, "propose", "MayHaveRun"),
        (Syntax, "propose", "MayHaveRun"),
        (Transient, "wait", "MayHaveRun"),
        (UnknownTool, "UnknownTool", "MayHaveRun"),
        (NotPermitted, "NotPermitted", "NotPermitted"),
        (
            Denied,
            "Denied { because: None }",
            "Denied { because: None }",
        ),
        (Fatal, "Fatal", "Fatal"),
    ];
    for (class, without_effect, with_effect) in table {
        for (tool, is_repeatable) in [
            ("read", true),
            ("put", true),
            ("append", false),
            ("mystery", false),
            ("wipe", false),
        ] {
            for may_have_run in [false, true] {
                let mut run = Driven::alone(tool, CALL);
                run.answer(failed(class, "no", may_have_run));
                let want = if may_have_run && !is_repeatable {
                    with_effect
                } else {
                    without_effect
                };
                assert_eq!(next(&mut run), want, "{class:?} on {tool}, {may_have_run}");
            }
        }
    }
}

#[test]
fn a_timeout_and_a_cancellation_may_have_had_an_effect() {
    for (tool, want) in [
        ("read", "wait"),
        ("append", "MayHaveRun"),
        ("wipe", "MayHaveRun"),
    ] {
        let mut run = Driven::alone(tool, CALL);
        run.answer(Answer::TimedOut);
        assert_eq!(next(&mut run), want);
        assert!(run.events()[0].class == Some(ErrorClass::Transient));
    }
    let mut run = Driven::alone("append", CALL);
    run.answer(Answer::Cancelled);
    assert_eq!(run.gave_up(), GiveUpReason::Cancelled);
    assert!(run.outcome().error().unwrap().may_have_run);
    assert_eq!(run.story(), ["failed", "gave_up"]);
}

#[test]
fn calls_that_never_reach_the_tool_have_a_class_too() {
    let permitted = tools().with_permitted(["read"]);
    let talk = conversation(Settings::default());
    talk.replace_tools(permitted);
    for (tool, arguments, class, want) in [
        ("reed_it", "{}", ErrorClass::UnknownTool, "UnknownTool"),
        ("Wipe", CALL, ErrorClass::NotPermitted, "NotPermitted"),
        ("read", "no JSON at all", ErrorClass::Syntax, "propose"),
        ("read", r#"{"limit": 3}"#, ErrorClass::Arguments, "propose"),
    ] {
        let mut run = Driven::start(&talk, tool, arguments);
        assert_eq!(run.events()[0].class, Some(class), "{tool} {arguments}");
        assert_eq!(next(&mut run), want, "{tool} {arguments}");
    }
}

#[test]
fn events_and_steps_name_the_resolved_tool_and_keep_the_emitted_name() {
    let mut run = Driven::alone("Read", r#"{"path": "a", "limit": "5"}"#);
    assert_eq!(run.runs(), r#"{"path": "a", "limit": 5}"#);
    for event in run.events() {
        assert_eq!((&*event.tool, &*event.emitted_name), ("read", "Read"));
        assert_eq!(event.call.as_deref(), Some("call_1"));
    }
    assert_eq!(run.story(), ["repaired", "succeeded"]);
    let outcome = run.outcome();
    assert!(
        outcome.note.contains("read") && outcome.note.contains("limit"),
        "{}",
        outcome.note
    );
    assert_eq!(outcome.history.name, "read");
    assert_eq!(outcome.fixes.len(), 2);
}

#[test]
fn a_tool_that_is_withdrawn_or_changed_while_a_run_waits_is_not_run() {
    let talk = conversation(Settings::default());
    let mut run = Driven::start(&talk, "read", CALL);
    run.fails(ErrorClass::Transient, "busy");
    talk.replace_tools(tools().with_permitted(["put"]));
    run.after(SECOND * 60).answer(Answer::Woke);
    assert_eq!(run.gave_up(), GiveUpReason::NotPermitted);

    let mut run = Driven::start(&talk, "put", CALL);
    run.fails(ErrorClass::Transient, "busy");
    let other =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    talk.replace_tools(ToolSet::new([ToolSpec::new("put", other)]).0);
    run.after(SECOND * 60).answer(Answer::Woke);
    assert_eq!(run.gave_up(), GiveUpReason::ToolChanged);
}

/// What was accepted for a harmless tool does not run on one that has become dangerous.
#[test]
fn a_tool_whose_effect_changed_while_a_run_waits_is_not_run() {
    let talk = conversation(Settings::default());
    let spec = tools().spec("read").unwrap().clone();
    let mut run = Driven::start(&talk, "read", CALL);
    run.fails(ErrorClass::Transient, "busy");
    let stricter = spec.with_effect(Effect::Destructive);
    talk.replace_tools(ToolSet::new([stricter]).0);
    run.after(SECOND * 60).answer(Answer::Woke);
    assert_eq!(run.gave_up(), GiveUpReason::ToolChanged);
}

#[test]
fn no_model_is_asked_about_a_tool_that_was_withdrawn() {
    let talk = conversation(Settings::default());
    let mut run = Driven::start(&talk, "read", CALL);
    talk.permit(["put"]);
    run.fails(ErrorClass::Value, "no file 'a'");
    assert_eq!(run.gave_up(), GiveUpReason::NotPermitted);
}

#[test]
fn no_model_is_asked_without_a_schema_or_a_message() {
    for (tool, message, want) in [
        ("free", "no such file", GiveUpReason::NoSchema),
        ("broken", "no such file", GiveUpReason::NoSchema),
        ("read", " \n", GiveUpReason::NoMessage),
        ("read", "", GiveUpReason::NoMessage),
    ] {
        let mut run = Driven::alone(tool, CALL);
        run.fails(ErrorClass::Value, message);
        assert_eq!(run.gave_up(), want, "{tool} {message:?}");
    }
}

#[test]
fn the_original_error_is_returned_unless_a_later_try_may_have_had_an_effect() {
    use harness::Candidate;
    let mut run = Driven::alone("append", r#"{"limit": 3, "path": null}"#);
    run.proposes([Candidate::new(r#"{"path": "", "limit": 3}"#, 0.9)]);
    assert_eq!(run.is_running(), r#"{"path": "", "limit": 3}"#);
    run.answer(Answer::TimedOut);
    assert_eq!(run.gave_up(), GiveUpReason::MayHaveRun);
    let outcome = run.outcome();
    assert_eq!(outcome.error().unwrap().class, ErrorClass::Transient);
    assert_eq!(outcome.history.arguments, r#"{"path": "", "limit": 3}"#);

    let mut run = Driven::alone("append", r#"{"limit": 3, "path": null}"#);
    run.proposes([Candidate::new(r#"{"path": "", "limit": 3}"#, 0.9)])
        .fails(ErrorClass::Fatal, "the disk is gone");
    let outcome = run.outcome();
    assert_eq!(outcome.error().unwrap().class, ErrorClass::Arguments);
    assert_eq!(outcome.history.arguments, r#"{"limit": 3, "path": null}"#);
    assert_eq!(outcome.failures.len(), 2);
}

#[test]
fn only_the_present_ticket_and_a_fitting_answer_are_taken() {
    let talk = conversation(Settings::default());
    let mut run = Driven::start(&talk, "read", CALL);
    let mut other = Driven::start(&talk, "read", CALL);
    let stale = run.run.step().ticket().unwrap();
    let foreign = other.run.step().ticket().unwrap();
    assert!(run.run.answer(foreign, Answer::Cancelled, run.now).is_err());
    assert!(run.run.answer(stale, Answer::Woke, run.now).is_err());
    assert!(run.run.answer(stale, Answer::Approved, run.now).is_err());
    run.fails(ErrorClass::Value, "no such file");
    assert!(run.run.answer(stale, Answer::Cancelled, run.now).is_err());
    assert!(matches!(run.run.step(), Step::Propose { .. }));
    let last = run.run.step().ticket().unwrap();
    run.answer(Answer::Cancelled);
    assert!(run.run.answer(last, Answer::Cancelled, run.now).is_err());
    run.run.cancel(run.now);
    assert_eq!(run.story(), ["failed", "gave_up"]);
    other.runs();
}

#[test]
fn a_raw_call_starts_a_run_as_it_is() {
    let talk = conversation(Settings::default());
    let run = talk.start(RawCall::new("read", CALL), SECOND);
    let again = (run.step().ticket(), run.step().ticket());
    assert_eq!(again.0, again.1);
}
