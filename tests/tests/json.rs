//! `json/`: bare JSON text.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolmend::repair_json;
use toolmend_tests::adversarial::{PATTERNS, texts};
use toolmend_tests::{cases, is_sound_part, same};

fn read(row: &Value) -> (bool, Value, bool, usize) {
    let repaired = repair_json(row["input"].as_str().unwrap(), row.get("schema")).unwrap();
    // Numbers beyond serde_json's range are compared as text elsewhere.
    let value = serde_json::from_str(&repaired.text).unwrap_or(Value::Null);
    (repaired.ok, value, repaired.truncated, repaired.fixes.len())
}

#[test]
fn broken_texts_are_repaired() {
    for file in ["json/own.jsonl", "json/onefix.jsonl", "json/reader.jsonl"] {
        for row in cases(file) {
            let (ok, value, truncated, _) = read(&row);
            if row.get("error").is_some() {
                assert!(!ok, "{row}");
                continue;
            }
            let is_cut = row.get("truncated").is_none_or(|cut| *cut == truncated);
            assert!(is_cut, "{row}\n truncated {truncated}");
            let accepted = row["accept"].as_array().into_iter().flatten();
            let is_accepted = std::iter::once(&row["expected"])
                .chain(accepted)
                .any(|want| same(&value, want));
            assert!(
                ok && (is_accepted || row["cat"] == "bignum"),
                "{row}\n got {value}"
            );
        }
    }
}

#[test]
fn number_texts_survive_a_repair() {
    for number in [
        "9007199254740993",
        "123456789012345678901234567890",
        "1e400",
        "3.14159265358979323846264338327950288",
        "5.0",
    ] {
        let repaired = repair_json(&format!("{{\"x\": {number},}}"), None).unwrap();
        assert_eq!(repaired.text, format!("{{\"x\": {number}}}"));
    }
}

#[test]
fn valid_texts_are_not_touched() {
    for row in cases("json/valid.jsonl") {
        let input = row["input"].as_str().unwrap();
        let repaired = repair_json(input, None).unwrap();
        assert!(
            repaired.ok && repaired.fixes.is_empty() && repaired.text == input,
            "{row}"
        );
    }
}

#[test]
fn cut_texts_give_their_sound_part() {
    for row in cases("json/trunc.jsonl") {
        let (ok, value, truncated, _) = read(&row);
        let truth = &row["truth"];
        assert!(ok && (same(&value, truth) || truncated), "{row}");
        assert!(is_sound_part(&value, truth), "{row}\n got {value}");
    }
}

#[test]
fn hostile_texts_end_in_strict_json_or_an_error() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "content": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}}
    }, "additionalProperties": false});
    for (name, unit) in PATTERNS {
        for text in texts(unit, 50_000) {
            for schema in [None, Some(&schema)] {
                let repaired = repair_json(&text, schema).unwrap();
                let is_strict = serde_json::from_str::<&RawValue>(&repaired.text).is_ok();
                assert_eq!(repaired.ok, is_strict, "{name}");
            }
        }
    }
}

#[test]
fn a_million_levels_are_an_error() {
    for unit in ["[", "{\"a\":", "(", "{\"a\": ["] {
        let repaired = repair_json(&unit.repeat(1_000_000), None).unwrap();
        assert!(!repaired.ok, "{unit}");
        assert!(repaired.problem.is_some(), "{unit}");
    }
}
