//! Schemas, values that fit them more or less, and breakages, from the fuzzer's bytes.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};

const KEYS: &[&str] = &[
    "path",
    "file",
    "maxResults",
    "max_results",
    "dry_run",
    "items",
    "item",
    "user-name",
    "note",
    "kind",
    "type",
    "value",
    "content",
    "a/b~c",
    "",
];
const STRINGS: &[&str] = &[
    "",
    "a",
    "null",
    "None",
    "true",
    "yes",
    "00713",
    "5",
    "5.0",
    "1,000",
    "5 kg",
    "[1]",
    "a, b",
    "{\"a\": 1}",
    "[\"a\"",
    "say \"hi\"",
    "C:\\new",
    "\\d+\\n",
    "line\nbreak",
    "&amp;",
    "```json",
    "</tool_call>",
    "日本 😀",
    "it's",
    "// no comment",
    "“smart”",
    "in progress",
    "In_Progress",
    "\u{0}",
    "2024-01-01 10:00:00Z",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-18",
    "5.0",
    "1e2",
    "0.7500",
    "-0.0",
    "2.5e-3",
    "12345678901234567890123",
    "1e400",
    "100000",
];

/// A schema of an object.
pub fn schema(u: &mut Unstructured<'_>) -> Result<Value> {
    let mut schema = if u.ratio(9, 10)? {
        object_schema(u, 3)?
    } else {
        any_schema(u, 3)?
    };
    if let Some(members) = schema.as_object_mut() {
        members.insert(
            "$defs".to_owned(),
            json!({
                "Leaf": {
                    "type": "object",
                    "properties": {"id": {"type": "integer"}},
                    "required": ["id"],
                    "additionalProperties": false
                },
                "Tree": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "next": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
                        "all": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
                    },
                    "required": ["name"]
                }
            }),
        );
    }
    Ok(schema)
}

fn object_schema(u: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for _ in 0..u.int_in_range(0..=5)? {
        let key = *u.choose(KEYS)?;
        properties.insert(key.to_owned(), any_schema(u, depth.saturating_sub(1))?);
        if u.ratio(1, 2)? && !required.contains(&key) {
            required.push(key);
        }
    }
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    match u.int_in_range(0..=9)? {
        0..=3 => schema["additionalProperties"] = json!(false),
        4 => schema["additionalProperties"] = any_schema(u, 0)?,
        5 => schema["minProperties"] = json!(1),
        6 => schema["patternProperties"] = json!({"^x-": any_schema(u, 0)?}),
        7 => schema["dependentRequired"] = json!({"path": ["note"]}),
        _ => {}
    }
    Ok(schema)
}

fn any_schema(u: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    let inner = |u: &mut Unstructured<'_>| any_schema(u, depth.saturating_sub(1));
    let kind = u.int_in_range(0..=if depth == 0 { 13 } else { 27 })?;
    Ok(match kind {
        0 | 1 => json!({"type": "string"}),
        2 => json!({"type": "integer"}),
        3 => json!({"type": "number"}),
        4 => json!({"type": "boolean"}),
        5 => json!({"enum": ["in_progress", "Done", "to do"]}),
        6 => json!({"enum": ["a", 5, true, null, "5"]}),
        7 => json!({"type": ["string", "null"]}),
        8 => json!({"type": ["integer", "boolean"]}),
        9 => json!({"type": "integer", "nullable": true, "minimum": 1, "maximum": 100}),
        10 => json!({"type": "string", "minLength": 1, "maxLength": 5}),
        11 => json!({"type": "string", "pattern": "^[a-z]+$", "default": "abc"}),
        12 => json!({"const": "file"}),
        13 => json!({}),
        14..=16 => json!({"type": "array", "items": inner(u)?}),
        17 => json!({"type": "array", "items": inner(u)?, "minItems": 1, "uniqueItems": true}),
        18 => json!({"type": "array", "prefixItems": [inner(u)?, inner(u)?], "items": false}),
        19 | 20 => object_schema(u, depth)?,
        21 => json!({"$ref": "#/$defs/Leaf"}),
        22 => json!({"$ref": "#/$defs/Tree"}),
        23 => json!({"type": "object", "additionalProperties": inner(u)?}),
        24 => json!({"oneOf": [
            {
                "type": "object",
                "properties": {"type": {"const": "file"}, "path": {"type": "string"}},
                "required": ["type", "path"]
            },
            {
                "type": "object",
                "properties": {"type": {"const": "line"}, "value": inner(u)?},
                "required": ["type", "value"]
            }
        ]}),
        25 => json!({"anyOf": [inner(u)?, inner(u)?, {"type": "null"}]}),
        26 => json!({"allOf": [inner(u)?, object_schema(u, 0)?]}),
        _ => json!({"if": inner(u)?, "then": inner(u)?, "not": {"const": 5}}),
    })
}

/// The text of a value that mostly satisfies `schema`.
pub fn text(
    u: &mut Unstructured<'_>,
    schema: &Value,
    root: &Value,
    depth: usize,
) -> Result<String> {
    if depth > 8 || u.is_empty() {
        return Ok("null".to_owned());
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return text(u, target.unwrap_or(&Value::Null), root, depth + 1);
    }
    for union in ["oneOf", "anyOf", "allOf"] {
        if let Some(branches) = schema[union].as_array() {
            let branch = u.choose(branches)?;
            return text(u, branch, root, depth + 1);
        }
    }
    if let Some(constant) = schema.get("const") {
        return Ok(constant.to_string());
    }
    if let Some(values) = schema["enum"].as_array() {
        return Ok(u.choose(values)?.to_string());
    }
    let word = match &schema["type"] {
        Value::String(word) => word.as_str(),
        Value::Array(words) => u.choose(words)?.as_str().unwrap_or_default(),
        _ => "any",
    };
    Ok(match word {
        "integer" | "number" => (*u.choose(NUMBERS)?).to_owned(),
        "boolean" => (*u.choose(&["true", "false"])?).to_owned(),
        "null" => "null".to_owned(),
        "array" => {
            let prefix = schema["prefixItems"].as_array();
            let length = match prefix {
                Some(prefix) => prefix.len(),
                None => u.int_in_range(0..=3)?,
            };
            let mut items = Vec::new();
            for at in 0..length {
                let item = prefix
                    .and_then(|all| all.get(at))
                    .unwrap_or(&schema["items"]);
                items.push(text(u, item, root, depth + 1)?);
            }
            format!("[{}]", items.join(","))
        }
        "object" => object_text(u, schema, root, depth)?,
        "string" => Value::from(*u.choose(STRINGS)?).to_string(),
        _ => (*u.choose(&["{}", "[1, \"x\"]", "\"free\"", "7", "null"])?).to_owned(),
    })
}

fn object_text(
    u: &mut Unstructured<'_>,
    schema: &Value,
    root: &Value,
    depth: usize,
) -> Result<String> {
    let is_required = |key: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|name| name == key))
    };
    let mut members = Vec::new();
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        if is_required(key) || u.ratio(2, 3)? {
            let inner = text(u, inner, root, depth + 1)?;
            members.push(format!("{}: {inner}", Value::from(key.as_str())));
        }
    }
    if schema["additionalProperties"].is_object() && u.ratio(1, 2)? {
        let inner = text(u, &schema["additionalProperties"], root, depth + 1)?;
        members.push(format!("\"k1\": {inner}"));
    }
    let comma = u.choose(&[",", ", ", ",\n"])?;
    Ok(format!("{{{}}}", members.join(comma)))
}

/// Changes one value somewhere in the document, as models get values wrong.
pub fn break_value(u: &mut Unstructured<'_>, value: &mut Value) -> Result<()> {
    let mut slot = value;
    // Down to some place.
    loop {
        let size = match slot {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        if size == 0 || u.ratio(1, 3)? {
            break;
        }
        let at = u.choose_index(size)?;
        slot = match slot {
            Value::Array(items) => &mut items[at],
            Value::Object(members) => members.values_mut().nth(at).expect("counted"),
            _ => unreachable!("only containers have a size"),
        };
    }
    let inner = slot.take();
    *slot = match u.int_in_range(0..=13)? {
        0 => Value::from(inner.to_string()),
        1 => Value::Null,
        2 => json!([inner]),
        3 => json!({}),
        4 => json!(""),
        5 => json!({"value": inner}),
        6 => json!({"arguments": inner}),
        7 => match inner {
            Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
            other => json!({"item": other}),
        },
        8 => match inner {
            Value::String(text) => Value::from(text.to_uppercase()),
            Value::Number(number) => Value::from(number.to_string()),
            other => other,
        },
        9 | 10 => rename(u, inner)?,
        11 => match inner {
            Value::Object(mut members) => {
                members.insert((*u.choose(KEYS)?).to_owned(), json!(null));
                members.into()
            }
            other => other,
        },
        12 => match inner {
            Value::Object(mut members) if !members.is_empty() => {
                let key = members.keys().nth(u.choose_index(members.len())?).cloned();
                members.shift_remove(&key.unwrap_or_default());
                members.into()
            }
            other => other,
        },
        _ => json!(*u.choose(STRINGS)?),
    };
    Ok(())
}

/// The object with another key.
fn rename(u: &mut Unstructured<'_>, value: Value) -> Result<Value> {
    let Value::Object(members) = value else {
        return Ok(value);
    };
    if members.is_empty() {
        return Ok(members.into());
    }
    let chosen = u.choose_index(members.len())?;
    let other = *u.choose(KEYS)?;
    let upper = u.ratio(1, 2)?;
    let renamed = members.into_iter().enumerate().map(|(at, (key, value))| {
        let key = match (at == chosen, upper) {
            (false, _) => key,
            (true, true) => key.to_uppercase(),
            (true, false) => other.to_owned(),
        };
        (key, value)
    });
    Ok(renamed.collect::<Map<_, _>>().into())
}

/// Pieces that break a text.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "\\",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "```",
    "//",
    "/*",
    "*/",
    "\"\"\"",
    "=",
    ";",
    "“",
    "\\u",
    "\\ud83d",
    "None",
    "True",
    "NaN",
    "0x1F",
    "<|im_end|>",
    "</tool_call>",
    "#",
    " ",
    "\u{0}",
    "\u{feff}",
    "1_000",
    ".5",
    "+",
    "{}",
    "\\\"",
];

/// Changes the text in one place, as models get JSON wrong.
pub fn break_text(u: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if places.is_empty() {
        return Ok((*u.choose(PIECES)?).to_owned());
    }
    let at = places[u.choose_index(places.len())?];
    let (head, tail) = text.split_at(at);
    Ok(match u.int_in_range(0..=9)? {
        0 | 1 => head.to_owned() + u.choose(PIECES)? + tail,
        2 | 3 => {
            let mut rest = tail.chars();
            rest.next();
            head.to_owned() + rest.as_str()
        }
        4 => format!("```json\n{text}\n```"),
        5 => Value::from(text).to_string(),
        6 => text.replace('"', "'"),
        7 => text.replace("\\\"", "\""),
        8 => text.replace("\\n", "\n"),
        _ => {
            let end = places[u.choose_index(places.len())?].max(at);
            head.to_owned() + text.get(end..).unwrap_or_default()
        }
    })
}
