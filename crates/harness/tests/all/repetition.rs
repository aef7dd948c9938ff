//! The same call with the same result, again and again.

use harness::{Answer, CircuitSettings, ErrorClass, GiveUpReason, ResultDigest, Settings};

use crate::driver::{Driven, conversation};

fn ran(digest: u64) -> Answer {
    Answer::Ran {
        digest: ResultDigest(digest),
    }
}

#[test]
fn three_equal_results_block_the_call_and_another_result_does_not() {
    let talk = conversation(Settings::default());
    for spelling in [
        r#"{"path":"a","limit":1}"#,
        r#"{"limit": "1", "path": "a"}"#,
        r#"{"path":"a","limit":1.0}"#,
    ] {
        Driven::start(&talk, "Read", spelling).answer(ran(7));
    }
    let mut blocked = Driven::start(&talk, "read", r#"{"path":"a","limit":1}"#);
    assert_eq!(blocked.gave_up(), GiveUpReason::Loop);
    assert_eq!(blocked.story(), ["gave_up"]);
    Driven::start(&talk, "read", r#"{"path":"b"}"#).runs();
    for digest in [1, 2, 1, 2, 1, 2] {
        Driven::start(&talk, "read", r#"{"path":"c"}"#).answer(ran(digest));
    }
}

#[test]
fn equal_errors_are_equal_results() {
    let talk = conversation(Settings::default());
    for _ in 0..3 {
        let mut run = Driven::start(&talk, "read", r#"{"limit":1}"#);
        run.answer(Answer::TimedOut);
        assert_eq!(run.outcome().error().unwrap().class, ErrorClass::Arguments);
    }
    let mut blocked = Driven::start(&talk, "read", r#"{"limit":1}"#);
    assert_eq!(blocked.gave_up(), GiveUpReason::Loop);
    assert_eq!(blocked.story(), ["failed", "gave_up"]);
}

#[test]
fn unknown_names_share_one_counter() {
    let talk = conversation(Settings::default());
    for name in ["frobnicate", "xyzzy", "quux"] {
        assert_eq!(
            Driven::start(&talk, name, "{}").gave_up(),
            GiveUpReason::UnknownTool
        );
    }
    let mut fourth = Driven::start(&talk, "another_invention", r#"{"a":1}"#);
    assert_eq!(fourth.gave_up(), GiveUpReason::Loop);
    assert!(
        fourth
            .outcome()
            .error()
            .unwrap()
            .message
            .contains("another_invention")
    );
}

#[test]
fn polling_is_exempt_and_trouble_with_the_network_is_no_loop() {
    let never = CircuitSettings::default().failures(0);
    let talk = conversation(Settings::default().polling("read").circuit(never));
    for _ in 0..10 {
        Driven::start(&talk, "read", r#"{"path":"a"}"#).runs();
        Driven::start(&talk, "append", r#"{"path":"a"}"#).answer(Answer::TimedOut);
    }
}
