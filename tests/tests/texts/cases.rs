//! The case files: what is read from each text, and what it says about itself.

use serde_json::Value;
use toolmend::{Finish, Mode, Policy, RawCall, ReadOptions, Risk, call_text};
use toolmend_tests::{cases, same};

use super::{FAMILIES, case_tools, options_of, read, read_all_ways};

#[test]
fn every_case_reads_as_it_should_in_any_cutting() {
    let tools = case_tools();
    for row in FAMILIES
        .iter()
        .flat_map(|family| cases(&format!("text/{family}.jsonl")))
    {
        let id = row["id"].as_str().unwrap();
        let (raws, content) =
            read_all_ways(row["text"].as_str().unwrap(), &tools, options_of(&row));
        if let Some(wanted) = row["content"].as_str() {
            assert_eq!(content, wanted, "{id}");
        }
        let verdicts: Vec<_> = raws
            .iter()
            .flat_map(|raw| tools.repair_all(raw, &Policy::default()))
            .collect();
        let calls: Vec<_> = verdicts
            .iter()
            .filter_map(|verdict| verdict.call())
            .collect();
        let wanted = row["calls"].as_array().unwrap();
        assert_eq!(calls.len(), wanted.len(), "{id}: {verdicts:?}");
        for (call, wanted) in calls.iter().zip(wanted) {
            assert_eq!(call.tool(), wanted["name"].as_str().unwrap(), "{id}");
            let arguments = call.arguments().value();
            assert!(same(arguments, &wanted["arguments"]), "{id}: {arguments}");
        }
        if row.get("rejected").is_some() {
            assert!(
                !verdicts.is_empty(),
                "{id}: a call that cannot run is reported"
            );
        } else if let Some(format) = row["format"].as_str() {
            let named = |raw: &RawCall<'_>| {
                serde_json::to_value(raw).unwrap()["readings"][0]["rule"] == format
            };
            assert!(
                raws.iter().any(named),
                "{id} was not read by {format}: {raws:?}"
            );
        }
    }
}

#[test]
fn every_format_has_a_case() {
    let rows: Vec<Value> = FAMILIES
        .iter()
        .flat_map(|family| cases(&format!("text/{family}.jsonl")))
        .collect();
    for rule in call_text::rules() {
        assert!(
            rows.iter().any(|row| row["format"] == rule.id),
            "{} has no case in tests/cases/text",
            rule.id
        );
    }
}

#[test]
fn a_marked_call_is_sure_only_where_calls_are_expected() {
    let tools = case_tools();
    let text = r#"<tool_call>{"name": "ping", "arguments": {}}</tool_call>"#;
    for (mode, risk) in [
        (Mode::Leaked, Risk::Inferred),
        (Mode::Expected, Risk::Lossless),
    ] {
        let (calls, _) = read(&[text], &tools, ReadOptions::default().with_mode(mode));
        let reading = &serde_json::to_value(&calls[0]).unwrap()["readings"][0];
        assert_eq!(reading["risk"], serde_json::to_value(risk).unwrap());
        // What is shown is what the model wrote.
        let before = reading["before"].as_str().unwrap();
        assert!(
            before.contains("\"ping\"") && text.contains(before),
            "{before}"
        );
    }
}

#[test]
fn the_next_call_ends_a_broken_one() {
    let broken = r#"{"city": "Oslo", "days": 3"#;
    let whole = r#"<tool_call>{"name": "ping", "arguments": {}}</tool_call>"#;
    for (close, finish) in [("</tool_call>", Finish::Complete), ("", Finish::Cut)] {
        let text = format!(
            "<tool_call>{{\"name\": \"get_weather\", \"arguments\": {broken}{close}\n{whole}"
        );
        let (calls, content) = read_all_ways(&text, &case_tools(), ReadOptions::default());
        let [first, second] = calls.as_slice() else {
            panic!("{text}: {calls:?}");
        };
        let arguments = first.arguments().unwrap_or_default();
        assert_eq!((arguments.trim_end(), first.finish()), (broken, finish));
        assert_eq!((second.name(), second.arguments()), ("ping", Some("{}")));
        assert_eq!(content, "");
    }
}
