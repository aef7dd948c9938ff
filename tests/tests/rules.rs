//! `rules.jsonl`: at least one case for every rule.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolmend::{Effect, Policy, RawCall, Risk, ToolSet, ToolSpec, Verdict};
use toolmend_tests::{cases, same};

/// The rules that a case's fixes name, applied or proposed.
fn run(row: &Value) -> (Option<Value>, BTreeSet<String>) {
    let name = row["name"].as_str().unwrap_or("tool");
    let schema = row
        .get("schema")
        .cloned()
        .unwrap_or_else(|| json!({"type": "object"}));
    let emitted = row["emitted"].as_str().unwrap_or(name);
    let (tools, problems) =
        ToolSet::new([ToolSpec::new(name, schema).with_effect(Effect::ReadOnly)]);
    assert!(problems.is_empty(), "{problems:?}");
    let accepted = serde_json::from_value(row["accept"].clone()).unwrap_or(Risk::Guess);
    let policy = Policy::default()
        .with_accepted(accepted)
        .with_integral_floats(row["integral_floats"] == true);
    let raw = match row["raw"].as_str() {
        Some(text) => RawCall::new(emitted, text).with_finish(toolmend::Finish::Complete),
        None => RawCall::without_arguments(emitted),
    };
    let verdicts = tools.repair_all(&raw, &policy);
    let mut rules = BTreeSet::new();
    let mut values = Vec::new();
    for verdict in &verdicts {
        if let Verdict::Repaired(repaired) = verdict {
            rules.extend(repaired.fixes().iter().map(|fix| fix.rule.to_string()));
        }
        values.extend(verdict.call().map(|call| call.arguments().value().clone()));
    }
    let value = if values.len() == 1 {
        values.pop()
    } else {
        (!values.is_empty()).then_some(Value::Array(values))
    };
    (value, rules)
}

#[test]
fn every_rule_has_a_case_and_every_case_holds() {
    let mut seen = BTreeSet::new();
    for row in cases("rules.jsonl") {
        let (value, rules) = run(&row);
        match row.get("expected") {
            Some(expected) => {
                assert!(
                    value.as_ref().is_some_and(|value| same(value, expected)),
                    "{row}\n got {value:?} by {rules:?}"
                );
                assert!(
                    rules.contains(row["rule"].as_str().unwrap()),
                    "{row}\n was repaired by {rules:?}"
                );
            }
            None => assert!(value.is_none(), "{row}\n got {value:?} by {rules:?}"),
        }
        seen.extend(rules);
    }
    // A non-finite number is never part of a call, so its rule shows in bare JSON only.
    let bare = toolmend::repair_json(r#"{"x": NaN}"#, None).unwrap();
    assert_eq!(bare.text, r#"{"x": null}"#);
    seen.extend(bare.fixes.into_iter().map(|fix| fix.rule.into_owned()));
    let without: Vec<_> = toolmend::rules()
        .map(|rule| rule.id)
        .filter(|id| !seen.contains(*id))
        .collect();
    assert!(without.is_empty(), "rules without a case: {without:?}");
}
