//! The promises, as properties over generated schemas, values and breakages.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use toolmend::{Effect, Finish, Policy, RawCall, Reason, ToolSet, ToolSpec, Verdict};

use crate::generate::{Dice, break_text, break_value, schema, text};

/// A tool, and the text of arguments that fit it.
fn valid_call(dice: &mut Dice, effect: Effect) -> (ToolSet, Value, String) {
    let schema = schema(dice);
    let arguments = text(dice, &schema, &schema, 0);
    let (tools, problems) =
        ToolSet::new([ToolSpec::new("tool", schema.clone()).with_effect(effect)]);
    assert!(problems.is_empty(), "{problems:?}");
    (tools, schema, arguments)
}

fn run(test: impl Fn(&mut Dice) -> Result<(), TestCaseError>) {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&any::<u64>(), |seed| test(&mut Dice::new(seed)))
        .unwrap();
}

/// Whether a number, in some spelling, stands in a text.
fn is_number_of(scalar: &str, text: &str) -> bool {
    let Ok(number) = scalar.parse::<f64>() else {
        return false;
    };
    text.split(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)))
        .filter_map(|token| token.parse::<f64>().ok())
        // Beyond the doubles the view of a value is clamped.
        .any(|token| {
            token.clamp(f64::MIN, f64::MAX).to_bits() == number.to_bits()
                || (token - number).abs() == 0.0
        })
}

/// Every string in a value.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => members.values().for_each(|member| strings(member, out)),
        _ => {}
    }
}

/// Every scalar in a value, as text.
fn scalars(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, out)),
        Value::Object(members) => members.values().for_each(|member| scalars(member, out)),
        Value::String(text) => out.push(text.clone()),
        other => out.push(other.to_string()),
    }
}

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

#[test]
fn promises_2_3_4_8_repairs_are_clean_faithful_and_final() {
    let (cases, repaired) = (Cell::new(0usize), Cell::new(0usize));
    run(|dice| {
        let (tools, schema, arguments) = valid_call(dice, Effect::ReadOnly);
        let broken = if dice.chance(50) {
            Some(break_text(dice, &arguments))
        } else {
            break_value(dice, &arguments)
        };
        let Some((how, broken)) = broken else {
            return Ok(());
        };
        cases.set(cases.get() + 1);
        let raw = RawCall::new("tool", broken.as_str()).with_finish(Finish::Complete);
        let verdict = tools.repair(&raw, &Policy::default());
        prop_assert_eq!(
            format!("{verdict:?}"),
            format!("{:?}", tools.repair(&raw, &Policy::default())),
            "same input, same output"
        );
        let Some(call) = verdict.call() else {
            return Ok(());
        };
        let text = call.arguments().text();
        // 1: only what came back untouched is called valid.
        prop_assert_eq!(
            matches!(verdict, Verdict::Valid(_)),
            text == broken,
            "{}: {}",
            how,
            broken
        );
        if matches!(verdict, Verdict::Repaired(_)) {
            repaired.set(repaired.get() + 1);
        }
        // 3: what is returned validates, by a validator of its own.
        let validator = jsonschema::validator_for(&schema).unwrap();
        prop_assert!(
            validator.is_valid(call.arguments().value()),
            "{how}: {broken} -> {text}"
        );
        // 4: every scalar comes from the model's text.
        let model_text = broken.replace("\\'", "'");
        let mut found = Vec::new();
        scalars(call.arguments().value(), &mut found);
        for scalar in &found {
            let quoted = Value::from(scalar.as_str()).to_string();
            let inner = quoted.trim_matches('"').to_owned();
            let twice = Value::from(inner.as_str())
                .to_string()
                .trim_matches('"')
                .to_owned();
            let is_there = [scalar, &inner, &twice]
                .iter()
                .any(|form| model_text.contains(form.as_str()));
            let is_number = is_number_of(scalar, &broken);
            prop_assert!(
                is_there || is_number,
                "{how}: {scalar:?} is not in {broken}"
            );
        }
        // 2: strings of a text that was broken around its values stay what they were.
        if broken.contains(&arguments) {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            strings(
                &serde_json::from_str(&arguments).unwrap_or_default(),
                &mut before,
            );
            strings(&serde_json::from_str(text).unwrap_or_default(), &mut after);
            prop_assert_eq!(before, after, "{}: {}", how, broken);
        }
        // 8: a repaired call is valid.
        let again = RawCall::new(call.tool(), text);
        prop_assert!(
            matches!(tools.repair(&again, &Policy::default()), Verdict::Valid(_)),
            "{how}: {text}"
        );
        Ok(())
    });
    assert!(
        repaired.get() * 3 >= cases.get(),
        "only {} of {} cases reached a repair",
        repaired.get(),
        cases.get()
    );
}

#[test]
fn promise_5_a_tie_is_a_refusal() {
    let schema = serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}, "mode": {"enum": ["a b", "a_b"]}}, "required": ["path"]});
    let (tools, _) = ToolSet::new([ToolSpec::new("tool", schema)]);
    for arguments in [
        r#"{"file": "a", "filename": "b"}"#,
        r#"{"path": "x", "mode": "A-B"}"#,
    ] {
        let verdict = tools.repair_all(&RawCall::new("tool", arguments), &Policy::default());
        assert!(
            verdict.iter().all(|verdict| verdict.call().is_none()),
            "{arguments}: {verdict:?}"
        );
    }
}

#[test]
fn promise_6_a_cut_is_not_a_call() {
    run(|dice| {
        let (tools, _, arguments) = valid_call(dice, Effect::Mutating);
        let ends: Vec<usize> = arguments.char_indices().map(|(at, _)| at).collect();
        let cut = &arguments[..ends[dice.roll(ends.len())]];
        for finish in [Finish::Unknown, Finish::Complete, Finish::Cut] {
            let raw = RawCall::new("tool", cut).with_finish(finish);
            let verdict = tools.repair(&raw, &Policy::default());
            // Nothing at all is no cut but a call without arguments.
            let is_empty = cut.trim().is_empty() && finish != Finish::Cut;
            prop_assert!(
                is_empty || verdict.call().is_none(),
                "{finish:?}: {cut} -> {verdict:?}"
            );
            if let Verdict::Rejected(rejected) = &verdict {
                prop_assert!(
                    is_empty || rejected.reason() == Reason::Truncated,
                    "{cut}: {:?}",
                    rejected.reason()
                );
            }
        }
        Ok(())
    });
}

#[test]
fn promise_7_unreadable_is_never_empty() {
    let (tools, _) = ToolSet::new([ToolSpec::without_schema("tool").with_effect(Effect::ReadOnly)]);
    for arguments in [
        "nothing here",
        "{nope}",
        "[1, 2]",
        "5",
        "\"text\"",
        "```\n```",
        "{\"a\"",
        "{\"a\": \\u12}",
        "}{",
        ",",
    ] {
        let verdict = tools
            .repair(&RawCall::new("tool", arguments), &Policy::default())
            .into_owned();
        assert!(verdict.call().is_none(), "{arguments}: {verdict:?}");
    }
}

#[test]
fn promise_9_anything_ends() {
    let (tools, _) = ToolSet::new([ToolSpec::new(
        "tool",
        serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}),
    )]);
    let policy = Policy::default();
    for unit in [
        "[",
        "{",
        "\"",
        "'",
        "\\",
        "{\"a\":",
        "[1 ",
        "{x ",
        "```",
        "\"path\": \"",
        "<tool_call>",
        "\n\"",
        "/*",
        "1,",
        "…",
    ] {
        let text = unit.repeat(200_000 / unit.len());
        for text in [
            text.clone(),
            format!("{{\"content\": \"{text}\"}}"),
            format!("{{\"content\": \"{text}"),
        ] {
            assert!(
                tools
                    .repair(&RawCall::new(text.as_str(), "{}"), &policy)
                    .call()
                    .is_none(),
                "{unit}"
            );
            for verdict in tools.repair_all(&RawCall::new("tool", text.as_str()), &policy) {
                let history = verdict.history_call().arguments;
                assert!(serde_json::from_str::<Value>(&history).is_ok(), "{unit}");
            }
        }
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    /// 9 and 11: no text panics, and every form for the history is strict JSON.
    #[test]
    fn promise_11_the_history_stays_valid(name in "\\PC{0,20}", arguments in "[\\[\\]{}\",:'\\\\a-c0-2 \\n/*#<>|`.tfn_-]{0,60}") {
        let (tools, _) = ToolSet::new([ToolSpec::without_schema("tool")]);
        for name in ["tool", name.as_str()] {
            let raw = RawCall::new(name, arguments.as_str());
            for verdict in tools.repair_all(&raw, &Policy::default()) {
                let history = verdict.history_call();
                let parsed: Result<serde_json::Map<String, Value>, _> = serde_json::from_str(&history.arguments);
                prop_assert!(parsed.is_ok(), "{arguments}: {}", history.arguments);
                if let Some(call) = verdict.call() {
                    let is_object = serde_json::from_str::<serde_json::Map<String, Value>>(call.arguments().text()).is_ok();
                    prop_assert!(is_object, "{}", call.arguments().text());
                }
            }
        }
    }

    /// The lenient reader only ever writes strict JSON.
    #[test]
    fn bare_repairs_are_strict_json(input in "[\\[\\]{}\",:'\\\\a-c0-2 \\n/*#<>|`.tfnuNe_+-]{0,80}") {
        let repaired = toolmend::repair_json(&input, None).unwrap();
        if repaired.ok {
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&repaired.text).is_ok(), "{input} -> {}", repaired.text);
        }
    }
}
