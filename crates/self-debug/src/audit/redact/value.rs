//! Redaction of JSON values, without recursion.

use serde_json::{Map, Value};

use super::keys::{Place, is_secret};
use super::known::Known;
use super::{MARK, Redactor};

/// Keys under which an object names what its value is: `{"name": "password", "value": …}`.
const NAMES: &[&str] = &[
    "name",
    "key",
    "header",
    "field",
    "parameter",
    "path",
    "pointer",
];
/// Keys of the value that is so named.
const NAMED: &[&str] = &[
    "value", "values", "content", "before", "after", "got", "expected", "default", "from", "to",
];

/// What is still to be looked at, and whether a key above it said that it is secret.
type Pending<'v> = Vec<(&'v mut Value, bool)>;

/// How deep JSON inside strings of JSON is read.
const NESTED: usize = 4;

/// Remembers the secrets of a text that is JSON: its objects may name what their values are.
pub(super) fn learn(text: &str, redactor: &Redactor, known: &mut Known) {
    learn_nested(text, redactor, known, NESTED);
}

fn learn_nested(text: &str, redactor: &Redactor, known: &mut Known, levels: usize) {
    if levels > 0
        && text.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str(text)
    {
        redact_nested(&mut value, redactor, known, levels - 1);
    }
}

/// Replaces every secret, and remembers those that a key told of.
pub(super) fn redact(value: &mut Value, redactor: &Redactor, known: &mut Known) {
    redact_nested(value, redactor, known, NESTED);
}

fn redact_nested(value: &mut Value, redactor: &Redactor, known: &mut Known, levels: usize) {
    let mut pending: Pending<'_> = vec![(value, false)];
    while let Some((value, secret)) = pending.pop() {
        match value {
            Value::String(text) if secret => {
                known.add(text);
                MARK.clone_into(text);
            }
            Value::String(text) => {
                learn_nested(text, redactor, known, levels);
                redactor.text_in_place(text, known);
            }
            Value::Number(number) if secret => {
                known.add(&number.to_string());
                *value = MARK.into();
            }
            Value::Array(items) => list(items, secret, &mut pending),
            Value::Object(object) => {
                keys(object, redactor, known);
                let named = names_secret(object, redactor);
                for (key, value) in object.iter_mut() {
                    let secret = secret
                        || is_secret(key, Place::Key, redactor.own_keys())
                        || (named && NAMED.contains(&key.as_str()));
                    pending.push((value, secret));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Replaces the known secrets in every text, keys included.
pub(super) fn redact_known(value: &mut Value, known: &Known) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => {
                if let Some(redacted) = known.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(object) => {
                rename(object, |key| known.redact(key));
                pending.extend(object.values_mut());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The items of a list. After a flag of a command line, and after the name in a pair of a list of
/// pairs, stands its value.
fn list<'v>(items: &'v mut [Value], secret: bool, pending: &mut Pending<'v>) {
    let mut follows_flag = false;
    for item in items {
        let is_flag = |text: &str| {
            text.strip_prefix("--")
                .is_some_and(|name| is_secret(name, Place::Key, &[]))
        };
        let is_next = std::mem::replace(&mut follows_flag, item.as_str().is_some_and(is_flag));
        if !is_secret_pair(item) {
            pending.push((item, secret || is_next));
        } else if let Value::Array(pair) = item
            && let Some(value) = pair.last_mut()
        {
            pending.push((value, true));
        }
    }
}

/// A list of a secret's name and its value.
fn is_secret_pair(item: &Value) -> bool {
    matches!(
        item.as_array().map(Vec::as_slice),
        Some([Value::String(name), _]) if is_secret(name, Place::Key, &[])
    )
}

/// A secret may stand where a key should.
fn keys(object: &mut Map<String, Value>, redactor: &Redactor, known: &mut Known) {
    rename(object, |key| redactor.text_knowing(key, known));
}

/// Renames keys and keeps their order; a key that is there already gets a number.
fn rename(object: &mut Map<String, Value>, mut new_name: impl FnMut(&str) -> Option<String>) {
    let names: Vec<Option<String>> = object.keys().map(|key| new_name(key)).collect();
    if names.iter().all(Option::is_none) {
        return;
    }
    let renamed = std::mem::take(object);
    for ((key, value), name) in renamed.into_iter().zip(names) {
        let mut name = name.unwrap_or(key);
        if object.contains_key(&name) {
            name = format!("{name} {}", object.len());
        }
        object.insert(name, value);
    }
}

/// Whether the object names a secret beside its value. A pointer names it by any of its parts.
fn names_secret(object: &Map<String, Value>, redactor: &Redactor) -> bool {
    NAMES.iter().any(|key| {
        object
            .get(*key)
            .and_then(Value::as_str)
            .is_some_and(|name| {
                name.split('/')
                    .any(|part| is_secret(part, Place::Key, redactor.own_keys()))
            })
    })
}
