//! The quickstart's calls, replayed: verdicts, what ran, and the order of events.

use self_debug::HeuristicDebugger;
use toolmend::Verdict;
use toolmend_examples::quickstart::{Played, cases, play, tools};

/// A word for the verdict, what ran, and the names of the events.
fn summary(played: &Played) -> (String, Option<String>, Vec<&'static str>) {
    let verdict = match &played.verdict {
        Verdict::Valid(_) => "valid".to_owned(),
        Verdict::Repaired(repaired) => {
            let rules = repaired.fixes().iter().map(|fix| &*fix.rule);
            rules.collect::<Vec<_>>().join(" ")
        }
        Verdict::Rejected(rejected) => format!("{:?}", rejected.reason()),
    };
    let ran = played.report.executed.as_ref();
    let ran = ran.map(|call| format!("{} {}", call.tool(), call.arguments().text()));
    let events = played.events.iter().map(|event| event.kind.name());
    (verdict, ran, events.collect())
}

#[tokio::test]
async fn each_call_comes_to_what_it_should() {
    let tools = tools(HeuristicDebugger::new());
    let repaired = vec!["repaired", "succeeded"];
    let expected = [
        (
            "name_fold",
            Some(r#"search_notes {"query": "planets"}"#),
            repaired.clone(),
        ),
        (
            "stringified_container",
            Some(r##"search_notes {"query": "planets", "tags": ["#space", "#sky"]}"##),
            repaired.clone(),
        ),
        (
            "omit_null",
            Some(r#"search_notes {"query": "milk"}"#),
            repaired.clone(),
        ),
        (
            "inner_quote",
            Some(r#"write_note {"path": "greeting.md", "content": "Say \"hello\" to Ann."}"#),
            repaired.clone(),
        ),
        (
            "key_slip",
            Some(r#"write_note {"path": "todo.md", "content": "Buy milk and bread. #home"}"#),
            repaired,
        ),
        (
            "valid",
            Some(r#"read_note {"path":"monday.md"}"#),
            vec!["failed", "proposed", "retrying", "succeeded"],
        ),
        (
            "Truncated",
            None,
            vec!["failed", "proposed", "candidate_rejected", "gave_up"],
        ),
        ("NotPermitted", None, vec!["failed", "gave_up"]),
    ];
    let cases = cases();
    assert_eq!(cases.len(), expected.len());
    for (case, (verdict, ran, events)) in cases.into_iter().zip(expected) {
        let title = case.title;
        let played = play(&tools, case).await;
        let found = summary(&played);
        let wanted = (verdict.to_owned(), ran.map(str::to_owned), events);
        assert_eq!(found, wanted, "{title}\n{played}");
    }
}

#[tokio::test]
async fn the_same_calls_print_the_same() {
    let mut printed = Vec::new();
    for _ in 0..2 {
        let tools = tools(HeuristicDebugger::new());
        let mut text = String::new();
        for case in cases() {
            text.push_str(&play(&tools, case).await.to_string());
        }
        printed.push(text);
    }
    assert_eq!(printed[0], printed[1]);
    for part in [
        "  in  ",
        "  verdict",
        "  fix ",
        "  event ",
        "  ran ",
        "  model ",
    ] {
        assert!(printed[0].contains(part), "{part}");
    }
}
