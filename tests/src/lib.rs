//! Helpers of the tests across crates: case files and JSON equality.

pub mod adversarial;

use std::path::PathBuf;

use serde_json::Value;

/// The rows of a case file under `tests/cases`.
///
/// # Panics
///
/// If the file is missing or a line is not JSON: the test cannot go on.
#[allow(clippy::panic, reason = "a test without its cases must fail")]
pub fn cases(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("cases")
        .join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .filter_map(|line| match serde_json::from_str(line) {
            Ok(row) => Some(row),
            // Rows with numbers that serde_json cannot hold are compared as text elsewhere.
            Err(error) if error.to_string().contains("out of range") => None,
            Err(error) => panic!("{name}: {error}: {line}"),
        })
        .collect()
}

/// JSON equality: numbers by value, key order without meaning.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// Whether `part` is what could be told of `truth` before the text was cut.
pub fn is_sound_part(part: &Value, truth: &Value) -> bool {
    match (part, truth) {
        (Value::Object(part), Value::Object(truth)) => part.iter().all(|(key, value)| {
            truth
                .get(key)
                .is_some_and(|whole| is_sound_part(value, whole))
        }),
        (Value::Array(part), Value::Array(truth)) => {
            part.len() <= truth.len() && part.iter().zip(truth).all(|(a, b)| is_sound_part(a, b))
        }
        (Value::String(part), Value::String(truth)) => truth.starts_with(part.as_str()),
        (Value::Number(part), Value::Number(truth)) => {
            same(&Value::Number(part.clone()), &Value::Number(truth.clone()))
                || truth.to_string().starts_with(&part.to_string())
        }
        _ => same(part, truth),
    }
}

/// The programs in the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
