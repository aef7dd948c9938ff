//! What holds for every call that comes back.

use proptest::prelude::*;
use serde_json::Value;
use toolmend::repair_core::{Loss, Stage};
use toolmend::{Effect, Fix, Policy, RawCall, Risk, ToolSet, ToolSpec, Verdict};

/// What holds for every call that comes back: promises 3, 4 and 8, and no opposites.
pub(super) fn check_call(
    schema: &Value,
    emitted: &str,
    verdict: &Verdict<'_>,
) -> Result<(), TestCaseError> {
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
                .any(|fix| ["boolean_word", "stringified_null"].contains(&&*fix.rule));
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
pub(super) fn check_policy(effect: Effect, verdict: &Verdict<'_>) -> Result<(), TestCaseError> {
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

/// The schema with `nullable` in words that every validator knows.
pub(super) fn plain(schema: &Value) -> Value {
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

/// Every scalar in a value, as text.
fn scalars(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, out)),
        Value::Object(members) => members.values().for_each(|member| scalars(member, out)),
        Value::String(text) => out.push(text.clone()),
        other => out.push(other.to_string()),
    }
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
