//! `field.jsonl` and `local/`: calls that real agents saw, through the command's protocol.

use serde_json::{Value, json};
use toolmend::protocol::{Defaults, answer_repair};
use toolmend_tests::{cases, same};

fn answer(row: &Value) -> Value {
    let line = row.to_string();
    serde_json::from_str(&answer_repair(&line, &Defaults::default()).line).unwrap()
}

fn is_right(row: &Value, got: &Value) -> bool {
    let expected = &row["expected"];
    let outcome = got["outcome"].as_str().unwrap_or_default();
    let calls: Vec<Value> = got["calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| json!({"name": call["name"], "arguments": call["arguments"]}))
        .collect();
    if let Some(wanted) = expected.get("calls") {
        let content_fits = expected
            .get("content")
            .is_none_or(|content| got["content"] == *content);
        matches!(outcome, "repaired" | "unchanged")
            && same(&Value::Array(calls), wanted)
            && content_fits
    } else if expected.get("refuse").is_some() {
        matches!(outcome, "rejected" | "none") && calls.is_empty()
    } else if row["mode"] == "text" {
        outcome == "none" && calls.is_empty() && got["content"] == row["raw"]
    } else {
        let text = got["calls"][0]["arguments_text"].as_str();
        outcome == "unchanged"
            && row["raw"]["arguments"]
                .as_str()
                .is_none_or(|raw| text == Some(raw))
    }
}

/// Runs the rows that `wanted` picks; returns the ids of those that fail.
fn misses(wanted: impl Fn(&Value) -> bool) -> (usize, Vec<String>) {
    let disputed: Vec<Value> = cases("disputed.jsonl")
        .into_iter()
        .map(|row| row["id"].clone())
        .collect();
    let rows: Vec<Value> = cases("field.jsonl")
        .into_iter()
        // Repeated calls need a conversation: they are the harness's.
        .filter(|row| {
            row["raw"].get("repeat").is_none() && !disputed.contains(&row["id"]) && wanted(row)
        })
        .collect();
    let failed = rows.iter().filter(|row| !is_right(row, &answer(row)));
    (
        rows.len(),
        failed
            .map(|row| format!("{} {}", row["id"], row["kind"]))
            .collect(),
    )
}

#[test]
fn every_native_call_of_the_field_is_right() {
    let (count, misses) =
        misses(|row| matches!(row["mode"].as_str(), Some("native" | "mcp" | "stream")));
    assert!(count > 100 && misses.is_empty(), "{misses:#?}");
}

#[test]
fn text_that_is_no_call_stays_text() {
    let (count, misses) =
        misses(|row| row["mode"] == "text" && row["expected"].get("calls").is_none());
    assert!(count > 15 && misses.is_empty(), "{misses:#?}");
}

#[test]
fn printed_calls_are_read() {
    let (count, misses) =
        misses(|row| row["mode"] == "text" && row["expected"].get("calls").is_some());
    assert!(count > 15 && misses.is_empty(), "{misses:#?}");
}

#[test]
fn real_replies_of_small_models_become_usable_calls() {
    for (file, at_least) in [
        ("local/qwen15_native.jsonl", 98),
        ("local/qwen05_native.jsonl", 96),
    ] {
        let rows = cases(file);
        let usable = rows.iter().filter(|row| {
            let got = answer(row);
            matches!(got["outcome"].as_str(), Some("repaired" | "unchanged"))
                && got["calls"][0]["name"].is_string()
        });
        let share = usable.count() * 100 / rows.len();
        assert!(share >= at_least, "{file}: {share} % usable");
    }
}
