//! Promises about the arguments and their schema.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolmend::{Effect, Policy, RawCall, Reason, ToolSet, ToolSpec, Verdict};
use toolmend_tests::same;

use super::checks::{check_call, check_policy, plain};
use super::{enough, run, valid_call};
use crate::breakages::break_value;
use crate::dice::Dice;
use crate::generate::shuffled;

#[test]
fn promise_1_valid_in_identical_out() {
    run(|dice| {
        let (tools, _, arguments) = valid_call(dice, Effect::Unknown);
        let raw = RawCall::new("tool", arguments.as_str());
        let Verdict::Valid(call) = tools.repair(&raw, &Policy::default()) else {
            return Err(TestCaseError::fail(format!(
                "{arguments}: {:?}",
                tools.repair(&raw, &Policy::default())
            )));
        };
        prop_assert_eq!(call.arguments().text(), arguments.as_str());
        Ok(())
    });
}

/// `nullable` only ever allows more: what validates without a look at it stays as it is.
#[test]
fn promise_1_holds_for_the_schema_as_written() {
    let string = json!({"type": "string", "nullable": true});
    for schema in [
        json!({"oneOf": [string, {"type": "null"}]}),
        json!({"not": {"type": "integer", "nullable": true}}),
        json!({"oneOf": [string, {"type": "integer", "nullable": true}, {"const": null}]}),
        json!({"if": string, "then": false}),
    ] {
        let schema = json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
        let text = r#"{"a": null}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(jsonschema::is_valid(&schema, &value), "{schema}");
        let (tools, problems) = ToolSet::new([ToolSpec::new("tool", schema.clone())]);
        assert!(problems.is_empty(), "{problems:?}");
        let raw = RawCall::new("tool", text);
        let verdict = tools.repair(&raw, &Policy::default());
        assert!(
            matches!(verdict, Verdict::Valid(_)),
            "{schema}: {verdict:?}"
        );
    }
}

#[test]
fn promises_1_to_5_and_8_hold_for_broken_values() {
    let (cases, repaired) = (Cell::new(0usize), Cell::new(0usize));
    run(|dice| {
        let effect = dice.pick(&[
            Effect::ReadOnly,
            Effect::ReadOnly,
            Effect::ReadOnly,
            Effect::Unknown,
            Effect::Mutating,
            Effect::Destructive,
        ]);
        let (tools, schema, arguments) = valid_call(dice, effect);
        let Some((how, broken)) = break_value(dice, &arguments) else {
            return Ok(());
        };
        let text = broken.to_string();
        let is_valid = broken.is_object()
            && jsonschema::validator_for(&plain(&schema))
                .unwrap()
                .is_valid(&broken);
        let raw = RawCall::new("tool", text.as_str());
        let verdict = tools.repair(&raw, &Policy::default());
        if is_valid {
            // 1, 2: what the schema accepts is never touched.
            let is_kept =
                matches!(&verdict, Verdict::Valid(call) if call.arguments().text() == text);
            prop_assert!(is_kept, "{how}: {text} for {schema}: {verdict:?}");
            return Ok(());
        }
        prop_assert!(
            !matches!(verdict, Verdict::Valid(_)),
            "{how}: {text} for {schema}"
        );
        if effect == Effect::ReadOnly {
            cases.set(cases.get() + 1);
            repaired.set(repaired.get() + usize::from(verdict.call().is_some()));
        }
        check_call(&schema, &text, &verdict)?;
        check_policy(effect, &verdict)?;
        // 5: which of several equally good repairs comes first in the schema decides nothing.
        let (others, _) =
            ToolSet::new([ToolSpec::new("tool", shuffled(dice, &schema)).with_effect(effect)]);
        let other = others.repair(&raw, &Policy::default());
        match (verdict.call(), other.call()) {
            (Some(call), Some(other)) => prop_assert!(
                same(call.arguments().value(), other.arguments().value()),
                "{how}: {text} for {schema}: {} or {}",
                call.arguments().text(),
                other.arguments().text()
            ),
            (None, None) => {}
            _ => prop_assert!(
                false,
                "{how}: {text} for {schema}: {verdict:?} or {other:?}"
            ),
        }
        Ok(())
    });
    enough(&repaired, &cases);
}

/// Values that can be repaired in two ways at the same cost, with the schema they stand under.
const TIES: &[(&str, &str)] = &[
    (
        r#"{"oneOf": [{"type": "object", "properties": {"op": {"const": "a"}, "x": {"type": "integer"}}, "required": ["op", "x"]}, {"type": "object", "properties": {"op": {"const": "b"}, "x": {"type": "integer"}}, "required": ["op", "x"]}]}"#,
        r#"{"x": 1}"#,
    ),
    (
        r#"{"type": "object", "properties": {"path": {"type": "string"}, "pathname": {"type": "string"}}, "required": ["path", "pathname"]}"#,
        r#"{"file": "a"}"#,
    ),
    (
        r#"{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}"#,
        r#"{"file": "a", "filename": "b"}"#,
    ),
    (r#"{"enum": ["a b", "a_b"]}"#, r#""A-B""#),
    (
        r#"{"anyOf": [{"type": "object", "properties": {"left": {"type": "string"}}, "required": ["left"], "additionalProperties": false}, {"type": "object", "properties": {"right": {"type": "string"}}, "required": ["right"], "additionalProperties": false}]}"#,
        r#""x""#,
    ),
    (
        r#"{"anyOf": [{"type": "object", "properties": {"A": {"type": "integer"}}, "required": ["A"], "additionalProperties": false}, {"type": "object", "properties": {"a_": {"type": "integer"}}, "required": ["a_"], "additionalProperties": false}]}"#,
        r#"{"a": 1}"#,
    ),
];

/// Puts a schema and a value for it somewhere deep: into properties, items, tuples, dictionaries,
/// unions, references, conjunctions.
fn bury(dice: &mut Dice, schema: Value, value: Value, depth: usize) -> (Value, Value) {
    if depth == 0 {
        return (schema, value);
    }
    let (schema, value) = match dice.roll(7) {
        0 => (
            json!({"type": "object", "properties": {"inner": schema, "note": {"type": "string"}}, "required": ["inner"]}),
            json!({"inner": value, "note": "null"}),
        ),
        1 => (json!({"type": "array", "items": schema}), json!([value])),
        2 => (
            json!({"type": "array", "prefixItems": [{"type": "string"}, schema], "items": false}),
            json!(["5", value]),
        ),
        3 => (
            json!({"type": "object", "additionalProperties": schema}),
            json!({"k": value}),
        ),
        4 => (
            json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"inner": schema}, "required": ["inner"], "additionalProperties": false}]}),
            json!({"inner": value}),
        ),
        5 => (
            json!({"allOf": [{"type": "object", "properties": {"inner": schema}, "required": ["inner"]}, {"properties": {"more": {"type": "boolean"}}}]}),
            json!({"inner": value, "more": true}),
        ),
        _ => (
            json!({"type": "object", "properties": {"n": {"type": "integer"}, "inner": schema}, "required": ["inner"], "additionalProperties": false}),
            // One more fault, which alone could be repaired.
            json!({"n": "5", "inner": value}),
        ),
    };
    bury(dice, schema, value, depth - 1)
}

#[test]
fn promise_5_a_tie_is_a_refusal() {
    run(|dice| {
        let (schema, value) = dice.pick(TIES);
        let depth = dice.roll(4);
        let (schema, value) = bury(
            dice,
            serde_json::from_str(schema).unwrap(),
            serde_json::from_str(value).unwrap(),
            depth,
        );
        let schema =
            json!({"type": "object", "properties": {"root": schema}, "required": ["root"]});
        let text = json!({"root": value}).to_string();
        let (tools, problems) =
            ToolSet::new([ToolSpec::new("tool", schema.clone()).with_effect(Effect::ReadOnly)]);
        prop_assert!(problems.is_empty(), "{problems:?}");
        let raw = RawCall::new("tool", text.as_str());
        let Verdict::Rejected(rejected) = tools.repair(&raw, &Policy::default()) else {
            return Err(TestCaseError::fail(format!("{text} for {schema}")));
        };
        let candidates = rejected.candidates();
        prop_assert!(
            rejected.reason() != Reason::Ambiguous || candidates.len() > 1,
            "{text} for {schema}: {rejected:?}"
        );
        Ok(())
    });
}
