//! Promises about the text of the arguments.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;
use toolmend::{Effect, Finish, Policy, RawCall, Reason, ToolSet, ToolSpec, Verdict};

use super::checks::check_call;
use super::{enough, run, valid_call};
use crate::breakages::break_text;

/// Every string in a value.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => members.values().for_each(|member| strings(member, out)),
        _ => {}
    }
}

#[test]
fn promise_2_texts_around_a_value_leave_its_strings_alone() {
    let (cases, repaired) = (Cell::new(0usize), Cell::new(0usize));
    run(|dice| {
        let (tools, schema, arguments) = valid_call(dice, Effect::ReadOnly);
        let (how, broken) = break_text(dice, &arguments);
        cases.set(cases.get() + 1);
        let raw = RawCall::new("tool", broken.as_str()).with_finish(Finish::Complete);
        let verdict = tools.repair(&raw, &Policy::default());
        let Some(call) = verdict.call() else {
            return Ok(());
        };
        let text = call.arguments().text();
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
        check_call(&schema, &broken, &verdict)?;
        if broken.contains(&arguments) {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            strings(
                &serde_json::from_str(&arguments).unwrap_or_default(),
                &mut before,
            );
            strings(&serde_json::from_str(text).unwrap_or_default(), &mut after);
            prop_assert_eq!(before, after, "{}: {}", how, broken);
        }
        Ok(())
    });
    enough(&repaired, &cases);
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
