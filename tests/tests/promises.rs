//! The promises, as properties over generated schemas, values and breakages.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use toolmend::repair_core::{Loss, Stage};
use toolmend::{Effect, Finish, Fix, Policy, RawCall, Reason, Risk, ToolSet, ToolSpec, Verdict};
use toolmend_tests::same;

use crate::breakages::{break_text, break_value};
use crate::dice::Dice;
use crate::generate::{schema, shuffled, text};

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

/// The schema with `nullable` in words that every validator knows.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> = members
                .iter()
                .map(|(key, inner)| (key.clone(), plain(inner)))
                .collect();
            if members.get("nullable") == Some(&Value::Bool(true)) {
                members["type"] = Value::from(vec![members["type"].clone(), "null".into()]);
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// Every value of an `enum` or `const` of a schema that is a string.
fn choices(schema: &Value, out: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, inner) in members {
                match (key.as_str(), inner) {
                    ("enum", Value::Array(values)) => {
                        out.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    ("const", Value::String(value)) => out.push(value.clone()),
                    _ => choices(inner, out),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| choices(item, out)),
        _ => {}
    }
}

/// The repaired arguments without one of their fixes; `None` where that cannot be told from the
/// excerpts of the fix.
fn undone(value: &Value, fix: &Fix) -> Option<Value> {
    let mut value = value.clone();
    if fix.stage != Stage::Arguments || fix.before.chars().count() >= 120 {
        return None;
    }
    let (parent, key) = fix.path.rsplit_once('/').unwrap_or_default();
    let key = key.replace("~1", "/").replace("~0", "~");
    if fix.rule.starts_with("key_") {
        let members = value.pointer_mut(parent)?.as_object_mut()?;
        let inner = members.shift_remove(&key)?;
        members.insert(serde_json::from_str(&fix.before).ok()?, inner);
    } else if fix.after.is_empty() {
        let dropped: Value = serde_json::from_str(&format!("{{{}}}", fix.before)).ok()?;
        let members = value.pointer_mut(parent)?.as_object_mut()?;
        members.extend(dropped.as_object()?.clone());
    } else if fix.before.is_empty() {
        value
            .pointer_mut(parent)?
            .as_object_mut()?
            .shift_remove(&key)?;
    } else {
        *value.pointer_mut(&fix.path)? = serde_json::from_str(&fix.before).ok()?;
    }
    Some(value)
}

/// Pairs of keys and values that no rule may exchange.
const OPPOSITES: &[(&str, &str)] = &[
    ("start_date", "end_date"),
    ("min_results", "max_results"),
    ("minResults", "maxResults"),
    ("sort-asc", "sort-desc"),
    ("sort-ASC", "sort-DESC"),
];

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

/// At least a third of the cases must reach a repair, or a property proves nothing.
fn enough(repaired: &Cell<usize>, cases: &Cell<usize>) {
    assert!(
        repaired.get() * 3 >= cases.get(),
        "only {} of {} cases reached a repair",
        repaired.get(),
        cases.get()
    );
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

/// What holds for every call that comes back: promises 3, 4 and 8, and no opposites.
fn check_call(schema: &Value, emitted: &str, verdict: &Verdict<'_>) -> Result<(), TestCaseError> {
    let Verdict::Repaired(repaired) = verdict else {
        return Ok(());
    };
    let call = repaired.call();
    let (text, value) = (call.arguments().text(), call.arguments().value());
    let fixes = repaired.fixes();
    // 3: the whole is clean, and no fix is needless.
    let validator = jsonschema::validator_for(&plain(schema)).unwrap();
    prop_assert!(
        value.is_object() && validator.is_valid(value),
        "{emitted} -> {text} for {schema}"
    );
    for fix in fixes {
        let is_alone = fixes.iter().filter(|other| other.path == fix.path).count() == 1;
        if let Some(undone) = is_alone.then(|| undone(value, fix)).flatten() {
            prop_assert!(
                !(undone.is_object() && validator.is_valid(&undone)),
                "needless {fix:?}: {emitted} -> {text} for {schema}"
            );
        }
    }
    // 4: every scalar comes from the model's text, or is spelled as the schema spells it.
    let bare = |text: &str| text.replace('\\', "");
    let model_text = bare(emitted);
    let (mut found, mut listed) = (Vec::new(), Vec::new());
    scalars(value, &mut found);
    choices(schema, &mut listed);
    for scalar in &found {
        // However often it was encoded.
        let quoted = bare(&Value::from(scalar.as_str()).to_string());
        let is_there =
            model_text.contains(quoted.trim_matches('"')) || model_text.contains(&bare(scalar));
        let is_choice = listed.contains(scalar)
            && fixes
                .iter()
                .any(|fix| fix.rule.starts_with("enum_") || fix.rule == "insert_constant");
        let word = scalar.to_lowercase();
        let is_word = (["true", "false", "null"].contains(&word.as_str())
            && model_text.to_lowercase().contains(&word))
            || fixes
                .iter()
                .any(|fix| ["boolean_word", "stringified_null"].contains(&fix.rule.as_str()));
        let is_number = is_number_of(scalar, emitted);
        prop_assert!(
            is_there || is_choice || is_word || is_number,
            "{scalar:?} is not in {emitted}"
        );
    }
    for fix in fixes {
        let unquoted = |text: &str| text.trim_matches('"').to_owned();
        let (before, after) = (unquoted(&fix.before), unquoted(&fix.after));
        prop_assert!(
            !OPPOSITES
                .iter()
                .any(|(a, b)| [(*a, *b), (*b, *a)].contains(&(&*before, &*after))),
            "{fix:?}: {emitted}"
        );
    }
    // 8: a repaired call is valid.
    let again = RawCall::new(call.tool(), text);
    let schema = ToolSpec::new(call.tool(), schema.clone());
    let (tools, _) = ToolSet::new([schema]);
    prop_assert!(
        matches!(tools.repair(&again, &Policy::default()), Verdict::Valid(_)),
        "{emitted} -> {text}"
    );
    Ok(())
}

/// Section 5: nothing riskier is applied than the effect allows.
fn check_policy(effect: Effect, verdict: &Verdict<'_>) -> Result<(), TestCaseError> {
    let Verdict::Repaired(repaired) = verdict else {
        return Ok(());
    };
    for fix in repaired.fixes() {
        let (ceiling, lossy) = match effect {
            Effect::ReadOnly | Effect::Idempotent => (Risk::Inferred, true),
            Effect::Destructive => (Risk::Lossless, false),
            _ => (Risk::Inferred, false),
        };
        prop_assert!(fix.risk <= ceiling, "{effect:?}: {fix:?}");
        prop_assert!(
            lossy || fix.loss.is_none_or(|loss: Loss| loss == Loss::Splits),
            "{effect:?}: {fix:?}"
        );
    }
    Ok(())
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

/// A made-up word.
fn word(dice: &mut Dice, letters: usize) -> String {
    let letter = |dice: &mut Dice| char::from(b'a' + u8::try_from(dice.roll(26)).unwrap());
    (0..letters).map(|_| letter(dice)).collect()
}

/// The text with another first letter, without its first, or with one more.
fn with_another_first_letter(dice: &mut Dice, name: &str) -> String {
    let (first, rest) = name.split_at(1);
    let other = loop {
        let letter = word(dice, 1);
        if !letter.eq_ignore_ascii_case(first) {
            break letter;
        }
    };
    match dice.roll(3) {
        0 => format!("{other}{rest}"),
        1 => rest.to_owned(),
        _ => format!("{other}{name}"),
    }
}

/// The opposite of a word is often one letter longer or shorter at its beginning.
#[test]
fn another_first_letter_is_no_slip() {
    run(|dice| {
        let group = dice.pick(&["", "crm_", "mcp__crm__"]);
        let separator = dice.pick(&["_", "-", ""]);
        let operation = |dice: &mut Dice| {
            let (first, second) = (4 + dice.roll(8), 4 + dice.roll(8));
            format!("{}{separator}{}", word(dice, first), word(dice, second))
        };
        let (meant, other) = (operation(dice), operation(dice));
        let specs = [&meant, &other]
            .map(|name| ToolSpec::without_schema(format!("{group}{name}")))
            .map(|spec| spec.with_effect(Effect::ReadOnly));
        let (tools, _) = ToolSet::new(specs);
        let mut emitted = with_another_first_letter(dice, &meant);
        if dice.chance(30) {
            emitted = emitted.to_uppercase();
        }
        let emitted = format!("{group}{emitted}");
        let raw = RawCall::new(emitted.as_str(), "{}");
        let verdict = tools.repair(&raw, &Policy::default());
        prop_assert!(verdict.call().is_none(), "{emitted} for {meant}, {other}");
        prop_assert_eq!(tools.resolve_name(&emitted), None);
        Ok(())
    });
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
