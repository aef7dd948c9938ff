//! Name and arguments in the JSON of a printed call.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// A call as it was printed: the arguments are the model's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) name: String,
    pub(crate) arguments: Option<String>,
}

/// Keys under which the name stands.
const NAME_KEYS: &[&str] = &["name", "tool", "tool_name", "function", "function_name"];
/// Keys under which the arguments stand.
const ARGUMENT_KEYS: &[&str] = &["arguments", "parameters", "args", "input"];
/// Keys that may stand beside them.
const OTHER_KEYS: &[&str] = &["type", "id", "index", "call_id", "tool_call_id"];

/// Whether a key belongs to a printed call.
pub(crate) fn is_call_key(key: &str) -> bool {
    [NAME_KEYS, ARGUMENT_KEYS, OTHER_KEYS]
        .iter()
        .any(|keys| keys.contains(&key))
}

/// The calls in a JSON object or array; `None` if it is not made of calls.
pub(crate) fn read(text: &str) -> Option<Vec<Envelope>> {
    let text = text.trim();
    if text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text)
    {
        let calls: Option<Vec<_>> = items.into_iter().map(|item| one(item.get())).collect();
        return calls.filter(|calls| !calls.is_empty());
    }
    one(text).map(|call| vec![call])
}

fn one(text: &str) -> Option<Envelope> {
    match serde_json::from_str(text) {
        Ok(members) => strict(&members),
        Err(_) => forgiving(text),
    }
}

/// The members of an object in order, with the exact text of their values.
#[derive(Debug)]
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de: 't, 't> serde::Deserialize<'de> for Members<'t> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    members.push((Cow::Owned(key), map.next_value::<&RawValue>()?));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Visitor).map(Members)
    }
}

impl<'t> Members<'t> {
    fn get(&self, keys: &[&str]) -> Option<&'t RawValue> {
        keys.iter().find_map(|wanted| {
            self.0
                .iter()
                .find(|(key, _)| key == wanted)
                .map(|(_, value)| *value)
        })
    }
}

fn strict(members: &Members<'_>) -> Option<Envelope> {
    // {"type": "function", "function": {"name": …, "arguments": …}}
    if let Some(inner) = members
        .get(&["function"])
        .filter(|inner| inner.get().starts_with('{'))
    {
        return strict(&serde_json::from_str(inner.get()).ok()?);
    }
    let name = serde_json::from_str::<String>(members.get(NAME_KEYS)?.get()).ok()?;
    if members.0.iter().any(|(key, _)| !is_call_key(key)) {
        return None;
    }
    let arguments = members.get(ARGUMENT_KEYS).map(|value| match value.get() {
        // Arguments as a string are the text of the arguments.
        text if text.starts_with('"') => {
            serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
        }
        text => text.to_owned(),
    });
    Some(Envelope { name, arguments })
}

/// Reads an object that is not strict JSON: the name by its key, the arguments as everything from
/// their key on that does not belong to the envelope.
fn forgiving(text: &str) -> Option<Envelope> {
    let inside = text.trim_start().strip_prefix('{')?;
    let (name_at, name) = NAME_KEYS
        .iter()
        .filter_map(|key| {
            let after = after_key(inside, key)?;
            Some((after, quoted(inside.get(after..)?)?))
        })
        .min_by_key(|(at, _)| *at)?;
    let arguments = ARGUMENT_KEYS
        .iter()
        .filter_map(|key| after_key(inside, key))
        .min();
    let arguments = arguments.map(|from| {
        let to = if from < name_at {
            key_start(inside, name_at)
        } else {
            inside.len()
        };
        without_envelope(inside.get(from..to).unwrap_or_default()).to_owned()
    });
    Some(Envelope {
        name: name.to_owned(),
        arguments,
    })
}

/// Where the value of `key` begins, if the key stands in the text.
fn after_key(text: &str, key: &str) -> Option<usize> {
    text.match_indices(key).find_map(|(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let mut rest = text.get(at + key.len()..)?;
        let is_quoted = before.is_some_and(|c| matches!(c, '"' | '\''));
        if is_quoted {
            rest = rest.strip_prefix(['"', '\''])?;
        } else if !before.is_none_or(|c| c.is_whitespace() || c == ',') {
            return None;
        }
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        Some(text.len() - value.len())
    })
}

/// Where the key starts whose value begins at `value`.
fn key_start(text: &str, value: usize) -> usize {
    let before = text.get(..value).unwrap_or_default();
    before.rfind(',').unwrap_or(0)
}

/// The content of the quoted string at the start of a text; a name holds no quotes.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = text.get(1..)?;
    let name = inside.get(..inside.find(quote)?)?;
    (!name.is_empty() && !name.contains('\n')).then_some(name)
}

/// The arguments without the closing brackets and commas of the object around them.
fn without_envelope(text: &str) -> &str {
    let trimmed = text.trim().trim_end_matches(',').trim_end();
    let outer = trimmed.strip_suffix(']').map_or(trimmed, str::trim_end);
    let Some(inner) = outer.strip_suffix('}') else {
        return trimmed;
    };
    let inner = inner.trim_end().trim_end_matches(',').trim_end();
    if inner.ends_with('}') || !text.starts_with('{') {
        inner
    } else {
        outer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_opened() {
        for (text, name, arguments) in [
            (
                r#"{"name": "f", "arguments": {"a": 1e400}}"#,
                "f",
                Some(r#"{"a": 1e400}"#),
            ),
            (
                r#"{"arguments": {"a": 1}, "name": "f"}"#,
                "f",
                Some(r#"{"a": 1}"#),
            ),
            (
                r#"{"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}"#,
                "f",
                Some(r#"{"a": 1}"#),
            ),
            (
                r#"{"type": "function", "function": "f", "parameters": {}}"#,
                "f",
                Some("{}"),
            ),
            (
                r#"{"tool": "f", "arguments": {"a": 300},}"#,
                "f",
                Some(r#"{"a": 300}"#),
            ),
            (
                "{'name': 'f', 'arguments': {'a': 'x'}}",
                "f",
                Some("{'a': 'x'}"),
            ),
            (
                r#"{"name": "f", "arguments": {"a": "<b c="d">"}}"#,
                "f",
                Some(r#"{"a": "<b c="d">"}"#),
            ),
            (
                r#"{"arguments": {"a": 1,}, "name": "f"}"#,
                "f",
                Some(r#"{"a": 1,}"#),
            ),
            (
                r#"{"name": "f", "arguments": {"a": "cut"#,
                "f",
                Some(r#"{"a": "cut"#),
            ),
            (r#"{"name": "f"}"#, "f", None),
        ] {
            let calls = read(text).unwrap_or_default();
            let want = Envelope {
                name: name.to_owned(),
                arguments: arguments.map(str::to_owned),
            };
            assert_eq!(calls, vec![want], "{text}");
        }
        for text in [
            "{}",
            r#"{"answer": 1}"#,
            r#"{"name": "f", "color": 1}"#,
            "[]",
            "[1]",
            r#"{"name": 5}"#,
            "x",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
