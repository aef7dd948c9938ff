//! Nested schemas, and texts of values that fit them.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// Names of properties: pairs of opposites, aliases, and names that are near each other.
pub(crate) const KEYS: &[&str] = &[
    "path",
    "maxResults",
    "min_results",
    "dry_run",
    "items",
    "user-name",
    "note",
    "kind",
    "timeZone",
    "start_date",
    "end_date",
    "query",
    "settings",
    "description",
];
pub(crate) const STRINGS: &[&str] = &[
    "",
    "a",
    "null",
    "true",
    "00713",
    "5",
    "[1]",
    "{\"a\": 1}",
    "say \"hi\"",
    "C:\\new",
    "line\nbreak",
    "&amp;",
    "```json",
    "</tool_call>",
    "日本 😀",
    "it's",
    "x, y",
    "// no comment",
    "“smart”",
];
const CHOICES: &[&str] = &["in_progress", "Done", "to do", "sort-asc", "sort-desc"];

/// A schema of an object with two to five properties.
pub(crate) fn schema(dice: &mut Dice) -> Value {
    let is_old = dice.chance(20);
    let mut schema = object(dice, 3, is_old);
    let branch = object(dice, 1, is_old);
    schema["$defs"] = json!({
        "Leaf": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false},
        "Tree": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}}, "required": ["name"]},
        "Nested": {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"$ref": "#/$defs/Nested"}}]},
        "Branch": branch
    });
    if is_old {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    }
    schema
}

fn object(dice: &mut Dice, depth: usize, is_old: bool) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for _ in 0..2 + dice.roll(4) {
        let key = dice.pick(KEYS);
        if !properties.contains_key(key) {
            properties.insert(key.to_owned(), any(dice, depth - 1, is_old));
            if dice.chance(50) {
                required.push(key);
            }
        }
    }
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if dice.chance(40) {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

fn scalar(dice: &mut Dice) -> Value {
    match dice.roll(13) {
        0..3 => json!({"type": "string"}),
        3 => json!({"type": "integer"}),
        4 => json!({"type": "number"}),
        5 => json!({"type": "boolean"}),
        6 => json!({"enum": CHOICES}),
        7 => json!({"enum": [1, 2, 3]}),
        8 => json!({"const": "fixed"}),
        9 => json!({"type": "integer", "nullable": true}),
        10 => {
            json!({"type": dice.pick(&[["string", "null"], ["integer", "null"], ["boolean", "null"], ["string", "number"], ["integer", "boolean"]])})
        }
        11 => json!({"type": "integer", "minimum": 0, "maximum": 100}),
        _ => dice.pick(&["{}", "true"]).parse().unwrap(),
    }
}

fn any(dice: &mut Dice, depth: usize, is_old: bool) -> Value {
    if depth == 0 || dice.chance(35) {
        return scalar(dice);
    }
    match dice.roll(13) {
        0 | 1 => json!({"type": "array", "items": any(dice, depth - 1, is_old)}),
        2 | 3 => object(dice, depth, is_old),
        4 => json!({"$ref": dice.pick(&["#/$defs/Leaf", "#/$defs/Branch"])}),
        5 => json!({"$ref": "#/$defs/Tree"}),
        6 => json!({"$ref": "#/$defs/Nested"}),
        7 => json!({"type": "object", "additionalProperties": any(dice, depth - 1, is_old)}),
        8 => tuple(dice, depth, is_old),
        9 => json!({"allOf": [
            {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            {"type": "object", "properties": {"label": scalar(dice), "tags": {"type": "array", "items": {"type": "string"}}}}
        ]}),
        10 => json!({"oneOf": [
            {"type": "object", "properties": {"type": {"const": "file"}, "path": {"type": "string"}}, "required": ["type", "path"]},
            {"type": "object", "properties": {"type": {"const": "line"}, "line": {"type": "integer"}}, "required": ["type", "line"]}
        ]}),
        11 => json!({"anyOf": [
            {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false},
            {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"], "additionalProperties": false},
            {"anyOf": [{"type": "array", "items": scalar(dice)}, {"type": "null"}]}
        ]}),
        _ => json!({"anyOf": [scalar(dice), {"type": "array", "items": {"type": "string"}}]}),
    }
}

fn tuple(dice: &mut Dice, depth: usize, is_old: bool) -> Value {
    let prefix = [any(dice, depth - 1, is_old), scalar(dice)];
    if is_old {
        json!({"type": "array", "items": prefix, "additionalItems": false, "minItems": 2})
    } else {
        json!({"type": "array", "prefixItems": prefix, "items": {"type": "integer"}, "minItems": 2})
    }
}

/// The same schema, with whatever has no order in another order.
pub(crate) fn shuffled(dice: &mut Dice, schema: &Value) -> Value {
    const UNORDERED: &[&str] = &["anyOf", "oneOf", "allOf", "enum", "type", "required"];
    match schema {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members
                .iter()
                .map(|(key, inner)| {
                    let mut inner = shuffled(dice, inner);
                    if let (true, Value::Array(list)) = (UNORDERED.contains(&&**key), &mut inner) {
                        dice.shuffle(list);
                    }
                    (key.clone(), inner)
                })
                .collect();
            dice.shuffle(&mut members);
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(|item| shuffled(dice, item)).collect(),
        other => other.clone(),
    }
}

/// A value that satisfies `schema`, as JSON text in some spelling.
pub(crate) fn text(dice: &mut Dice, schema: &Value, root: &Value, depth: usize) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return text(
            dice,
            root.pointer(&reference[1..]).unwrap(),
            root,
            depth + 1,
        );
    }
    for union in ["oneOf", "anyOf"] {
        if let Some(branches) = schema[union].as_array() {
            // The first branch of a recursive union ends it, or the last one.
            let ends: Vec<&Value> = branches
                .iter()
                .filter(|branch| depth <= 6 || !branch.to_string().contains("$ref"))
                .collect();
            let branch = ends[dice.roll(ends.len())];
            return text(dice, branch, root, depth + 1);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = json!({"properties": {}, "required": []});
        for part in parts {
            for (key, inner) in part["properties"].as_object().into_iter().flatten() {
                whole["properties"][key] = inner.clone();
            }
            for key in part["required"].as_array().into_iter().flatten() {
                whole["required"].as_array_mut().unwrap().push(key.clone());
            }
        }
        return object_text(dice, &whole, root, depth);
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[dice.roll(values.len())].to_string();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[dice.roll(kinds.len())].as_str(),
        _ if schema["nullable"] == true && dice.chance(30) => Some("null"),
        kind => kind.as_str(),
    };
    match kind {
        Some("integer") if schema["minimum"].is_number() => dice.pick(&["0", "7", "1e2"]),
        Some("integer") => dice.pick(&["0", "5", "-18", "5.0", "1e2", "12345678901234567890123"]),
        Some("number") => dice.pick(&["0.7500", "1e400", "-0.0", "3", "2.5e-3"]),
        Some("null") => "null",
        Some("boolean") => dice.pick(&["true", "false"]),
        Some("array") => return array_text(dice, schema, root, depth),
        Some("object") => return object_text(dice, schema, root, depth),
        Some(_) => return Value::from(dice.pick(STRINGS)).to_string(),
        None => dice.pick(&["null", "{\"a\": [1, \"2\"]}", "[]", "\"5\"", "5"]),
    }
    .to_owned()
}

fn array_text(dice: &mut Dice, schema: &Value, root: &Value, depth: usize) -> String {
    let tuple = schema["prefixItems"]
        .as_array()
        .or(schema["items"].as_array());
    let prefix = tuple.cloned().unwrap_or_default();
    let mut types: Vec<&Value> = prefix.iter().collect();
    if schema["items"].is_object() {
        let more = if depth > 6 { 0 } else { dice.roll(4) };
        types.extend(std::iter::repeat_n(&schema["items"], more));
    }
    let items: Vec<String> = types
        .into_iter()
        .map(|item| dice.pick(&["", " ", "\n  "]).to_owned() + &text(dice, item, root, depth + 1))
        .collect();
    format!("[{}]", items.join(","))
}

fn object_text(dice: &mut Dice, schema: &Value, root: &Value, depth: usize) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut members = Vec::new();
    let colon = dice.pick(&[":", ": ", " : "]);
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&key.as_str()) || (depth < 6 && dice.chance(70)) {
            members.push(format!(
                "{}{colon}{}",
                Value::from(key.as_str()),
                text(dice, inner, root, depth + 1)
            ));
        }
    }
    match &schema["additionalProperties"] {
        entry @ Value::Object(_) => {
            for key in ["k1", "null", "5"].iter().take(dice.roll(3)) {
                members.push(format!(
                    "\"{key}\"{colon}{}",
                    text(dice, entry, root, depth + 1)
                ));
            }
        }
        Value::Null if dice.chance(10) => members.push("\"x-extra\": \"null\"".to_owned()),
        _ => {}
    }
    dice.shuffle(&mut members);
    let comma = dice.pick(&[",", ", ", ",\n"]);
    format!("{{{}}}", members.join(comma))
}
