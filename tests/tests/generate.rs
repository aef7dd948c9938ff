//! Nested schemas, values that fit them, texts of the values, and breakages.

use serde_json::{Map, Value, json};

/// A small deterministic source of choices (xorshift64*), seeded by proptest.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % sides
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.roll(items.len())]
    }
}

const KEYS: &[&str] = &[
    "path",
    "maxResults",
    "dry_run",
    "items",
    "user-name",
    "note",
    "kind",
    "zone",
];
const STRINGS: &[&str] = &[
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

/// A schema of an object with two to five properties.
pub(crate) fn schema(dice: &mut Dice) -> Value {
    let mut schema = object_schema(dice, 3);
    schema["$defs"] = json!({
        "Leaf": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false},
        "Tree": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}}, "required": ["name"]}
    });
    schema
}

fn object_schema(dice: &mut Dice, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for _ in 0..2 + dice.roll(4) {
        let key = dice.pick(KEYS);
        if !properties.contains_key(key) {
            properties.insert(key.to_owned(), any_schema(dice, depth - 1));
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

fn any_schema(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 7 } else { 13 }) {
        0 | 1 => json!({"type": "string"}),
        2 => json!({"type": "integer"}),
        3 => json!({"type": "number"}),
        4 => json!({"type": "boolean"}),
        5 => json!({"enum": ["in_progress", "Done", "to do"]}),
        6 => json!({"type": ["string", "null"]}),
        7 => json!({"type": "array", "items": any_schema(dice, depth - 1)}),
        8 => object_schema(dice, depth),
        9 => json!({"$ref": "#/$defs/Leaf"}),
        10 => json!({"$ref": "#/$defs/Tree"}),
        11 => json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        _ => json!({"oneOf": [
            {"type": "object", "properties": {"type": {"const": "file"}, "path": {"type": "string"}}, "required": ["type", "path"]},
            {"type": "object", "properties": {"type": {"const": "line"}, "line": {"type": "integer"}}, "required": ["type", "line"]}
        ]}),
    }
}

/// A value that satisfies `schema`, as JSON text in some spelling.
pub(crate) fn text(dice: &mut Dice, schema: &Value, root: &Value, depth: usize) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return text(dice, root.pointer(&reference[1..]).unwrap(), root, depth);
    }
    for union in ["oneOf", "anyOf"] {
        if let Some(branches) = schema[union].as_array() {
            // Recursive schemas end with their last branch.
            let branch = if depth > 6 {
                branches.len() - 1
            } else {
                dice.roll(branches.len())
            };
            return text(dice, &branches[branch], root, depth + 1);
        }
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[dice.roll(values.len())].to_string();
    }
    let space = |dice: &mut Dice| dice.pick(&["", " ", "\n  "]);
    match schema["type"].as_str() {
        Some("integer") => dice
            .pick(&["0", "5", "-18", "5.0", "1e2", "12345678901234567890123"])
            .to_owned(),
        Some("number") => dice
            .pick(&["0.7500", "1e400", "-0.0", "3", "2.5e-3"])
            .to_owned(),
        Some("null") => "null".to_owned(),
        Some("boolean") => dice.pick(&["true", "false"]).to_owned(),
        Some("array") => {
            let items: Vec<String> = (0..dice.roll(4))
                .map(|_| space(dice).to_owned() + &text(dice, &schema["items"], root, depth + 1))
                .collect();
            format!("[{}]", items.join(","))
        }
        Some("object") => object_text(dice, schema, root, depth),
        _ if schema["type"].is_array() && dice.chance(40) => "null".to_owned(),
        _ => Value::from(dice.pick(STRINGS)).to_string(),
    }
}

fn object_text(dice: &mut Dice, schema: &Value, root: &Value, depth: usize) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut members = Vec::new();
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&key.as_str()) || (depth < 6 && dice.chance(70)) {
            let colon = dice.pick(&[":", ": ", " : "]);
            members.push(format!(
                "{}{colon}{}",
                Value::from(key.as_str()),
                text(dice, inner, root, depth + 1)
            ));
        }
    }
    if schema["additionalProperties"].is_object() {
        members.push("\"k1\": 1".to_owned());
    }
    let comma = dice.pick(&[",", ", ", ",\n"]);
    format!("{{{}}}", members.join(comma))
}

/// Breaks the text of a call's arguments; says how.
pub(crate) fn break_text(dice: &mut Dice, text: &str) -> (&'static str, String) {
    match dice.roll(9) {
        0 => (
            "trailing comma",
            text.strip_suffix('}')
                .map_or_else(|| text.to_owned(), |open| format!("{open},}}")),
        ),
        1 => ("fence", format!("```json\n{text}\n```")),
        2 => ("special token", format!("{text}<|im_end|>")),
        3 => ("surplus closer", format!("{text}}}")),
        4 => (
            "comment",
            format!("{{ /* args */ {}", text.trim_start_matches('{')),
        ),
        5 => ("encoded twice", Value::from(text).to_string()),
        7 => ("foreign escape", text.replace("it's", "it\\'s")),
        6 => ("prose", format!("Calling it now:\n{text}")),
        _ => ("raw line break", text.replace("\\n", "\n")),
    }
}

/// Breaks a value so that it no longer fits; says how. Works on the first place that takes it.
pub(crate) fn break_value(dice: &mut Dice, text: &str) -> Option<(&'static str, String)> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let members = value.as_object_mut()?;
    let keys: Vec<String> = members.keys().cloned().collect();
    let key = keys.get(dice.roll(keys.len().max(1)))?.clone();
    let slot = members.get_mut(&key)?;
    let how = match (dice.roll(3), &slot) {
        (0, Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            *slot = Value::from(slot.to_string());
            "stringified"
        }
        (1, Value::Array(items)) if items.len() == 1 => {
            *slot = items[0].clone();
            "single item"
        }
        (2, _) => {
            let renamed = key.to_uppercase();
            let inner = members.shift_remove(&key)?;
            members.insert(renamed, inner);
            "key in capitals"
        }
        _ => return None,
    };
    Some((how, value.to_string()))
}
