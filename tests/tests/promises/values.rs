//! Promises about single values: what was written is what arrives, whatever its form.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolmend::{Effect, Policy, RawCall, ToolSet, ToolSpec, Verdict};

use super::{enough, run};
use crate::dice::Dice;

/// A tool with one required argument.
fn tool(key: &str, schema: &Value) -> ToolSet {
    let schema = json!({"type": "object", "properties": {key: schema}, "required": [key]});
    let spec = ToolSpec::new("tool", schema).with_effect(Effect::ReadOnly);
    let (tools, problems) = ToolSet::new([spec]);
    assert!(problems.is_empty(), "{problems:?}");
    tools
}

/// What may come of a text: the value that runs, and those that are offered.
fn values(tools: &ToolSet, key: &str, text: &str) -> (Option<Value>, Vec<Value>) {
    let of = |arguments: &str| -> Value {
        let mut arguments: Value = serde_json::from_str(arguments).unwrap();
        arguments[key].take()
    };
    match tools.repair(&RawCall::new("tool", text), &Policy::default()) {
        Verdict::Valid(call) => (Some(of(call.arguments().text())), Vec::new()),
        Verdict::Repaired(repaired) => (Some(of(repaired.call().arguments().text())), Vec::new()),
        Verdict::Rejected(rejected) => {
            let candidates = rejected.candidates().iter();
            (
                None,
                candidates
                    .map(|candidate| of(&candidate.arguments))
                    .collect(),
            )
        }
    }
}

/// A number or literal as some language spells it, but not always JSON.
fn spelling(dice: &mut Dice) -> String {
    let sign = dice.pick(&["", "", "+", "-"]);
    let digits = |dice: &mut Dice, most: usize| -> String {
        let count = 1 + dice.roll(most);
        (0..count)
            .map(|_| dice.pick(&['0', '1', '4', '7', '9']))
            .collect()
    };
    let number = match dice.roll(8) {
        0 => digits(dice, 18),
        1 => format!("0{}", digits(dice, 6)),
        2 => format!("0x{}", digits(dice, 6)),
        3 => format!("{}.{}", digits(dice, 3), digits(dice, 3)),
        4 => format!(".{}", digits(dice, 3)),
        5 => format!("{}.", digits(dice, 3)),
        6 => format!("{}e{}", digits(dice, 2), digits(dice, 2)),
        _ => {
            return dice
                .pick(&[
                    "True",
                    "False",
                    "None",
                    "true",
                    "null",
                    "nil",
                    "NaN",
                    "undefined",
                    "TRUE",
                ])
                .to_owned();
        }
    };
    format!("{sign}{number}")
}

/// A phone number, a version, a hash: what is to be a string keeps its characters.
#[test]
fn a_string_keeps_the_spelling_of_what_looks_like_a_number_or_literal() {
    let (cases, repaired) = (Cell::new(0usize), Cell::new(0usize));
    let tools = tool("a", &json!({"type": "string"}));
    run(|dice| {
        let spelling = spelling(dice);
        let text = dice.pick(&["{\"a\": $}", "{'a': $}", "{a: $,}", "{\"a\":$ }"]);
        let text = text.replace('$', &spelling);
        let (value, _) = values(&tools, "a", &text);
        cases.set(cases.get() + 1);
        if let Some(value) = value {
            repaired.set(repaired.get() + 1);
            prop_assert_eq!(value, json!(spelling), "{}", text);
        }
        Ok(())
    });
    enough(&repaired, &cases);
}

/// `[WIP] fix the login` holds no list.
#[test]
fn words_around_a_list_in_a_string_are_kept() {
    let words = ["fix", "see", "the notes", "WIP:", "and", "- ", "item 1,"];
    let lists = [
        "[WIP]",
        "[\"a\", \"b\"]",
        "[1, 2]",
        "['x']",
        "{\"k\": 1}",
        "[]",
    ];
    for item in ["string", "integer", "object"] {
        let tools = tool("a", &json!({"type": "array", "items": {"type": item}}));
        run(|dice| {
            let around = dice.pick(&["before", "behind", "both"]);
            let mut held = dice.pick(&lists).to_owned();
            if around != "behind" {
                held = format!("{} {held}", dice.pick(&words));
            }
            if around != "before" {
                held = format!("{held} {}", dice.pick(&words));
            }
            let text = json!({"a": held}).to_string();
            let (value, _) = values(&tools, "a", &text);
            let is_kept = value.as_ref().is_none_or(|value| *value == json!([held]));
            prop_assert!(is_kept, "{text} for {item}: {value:?}");
            Ok(())
        });
    }
}

/// Units (`m` is none of them: it is two): the dimension, how a text writes one and several, what a key says, how many of the
/// smallest.
const UNITS: &[(&str, &str, &str, &str, u64)] = &[
    ("time", "ms", "milliseconds", "ms", 1),
    ("time", "second", "s", "seconds", 1_000),
    ("time", "minute", "min", "minutes", 60_000),
    ("time", "hour", "h", "hours", 3_600_000),
    ("time", "day", "days", "days", 86_400_000),
    ("length", "metre", "meters", "metres", 1_000),
    ("length", "km", "kilometers", "km", 1_000_000),
    ("mass", "gram", "g", "grams", 1),
    ("mass", "kg", "kilograms", "kg", 1_000),
    ("data", "byte", "bytes", "bytes", 1),
    ("data", "KB", "kilobytes", "kb", 1_000),
    ("data", "MiB", "mib", "mib", 1_048_576),
];

/// `two minutes` for `timeout_seconds` is 120 or nothing, and never two.
#[test]
fn an_amount_keeps_its_quantity() {
    let (cases, found) = (Cell::new(0usize), Cell::new(0usize));
    run(|dice| {
        let (dimension, one, other, _, size) = dice.pick(UNITS);
        let (asked_dimension, _, _, asked, asked_size) = dice.pick(UNITS);
        let key = format!("limit_{asked}");
        let tools = tool(&key, &json!({"type": "number"}));
        let (number, tenths) = (1 + dice.roll(90), dice.pick(&[0, 0, 5]));
        let number = (number * 10 + tenths) as u64;
        let spelled = match number % 10 {
            0 => format!("{}", number / 10),
            tenths => format!("{}.{tenths}", number / 10),
        };
        let unit = dice.pick(&[one, other]);
        let space = dice.pick(&["", " "]);
        let text = json!({&key: format!("{spelled}{space}{unit}")}).to_string();
        let (value, candidates) = values(&tools, &key, &text);
        let is_same_dimension = dimension == asked_dimension;
        for value in value.iter().chain(&candidates).filter_map(Value::as_f64) {
            // Both sides are whole numbers below 2^53.
            #[allow(clippy::cast_precision_loss, reason = "whole numbers below 2^53")]
            let is_right = (value * 10.0 * asked_size as f64 - (number * size) as f64).abs()
                <= 1e-9 * (number * size) as f64;
            prop_assert!(is_same_dimension && is_right, "{text}: {value}");
        }
        if is_same_dimension {
            cases.set(cases.get() + 1);
            found.set(found.get() + usize::from(value.is_some() || !candidates.is_empty()));
        }
        Ok(())
    });
    enough(&found, &cases);
}

/// `03/04/2026` is a day in March or in April: nobody knows.
#[test]
fn a_date_keeps_its_day() {
    const MONTHS: &[&str] = &[
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let (cases, found) = (Cell::new(0usize), Cell::new(0usize));
    let tools = tool(
        "day",
        &json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}),
    );
    run(|dice| {
        let (year, month, day) = (1990 + dice.roll(60), 1 + dice.roll(12), 1 + dice.roll(28));
        let name = MONTHS[month - 1];
        let is_tied = day <= 12 && day != month;
        let (written, is_clear) = match dice.roll(7) {
            0 => (format!("{year}/{month}/{day}"), true),
            1 => (format!("{name} {day}, {year}"), true),
            2 => (format!("{day} {name} {year}"), true),
            3 => (format!("{} {day} {year}", &name[..3]), true),
            4 => (format!("{day:02}.{month:02}.{year}"), true),
            5 => (format!("{month:02}/{day:02}/{year}"), !is_tied),
            _ => (format!("{day}-{month}-{year}"), !is_tied),
        };
        let text = json!({"day": written}).to_string();
        let (value, candidates) = values(&tools, "day", &text);
        let meant = json!(format!("{year}-{month:02}-{day:02}"));
        for value in value.iter().chain(&candidates) {
            prop_assert!(is_clear && *value == meant, "{text}: {value}");
        }
        if is_clear {
            cases.set(cases.get() + 1);
            found.set(found.get() + usize::from(value.is_some() || !candidates.is_empty()));
        }
        Ok(())
    });
    enough(&found, &cases);
}
