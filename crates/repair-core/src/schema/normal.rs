//! Schemas as models and vendors write them, made plain JSON Schema before anything compiles.

use serde_json::{Map, Value};

/// Keywords whose value is one schema.
const ONE: &[&str] = &[
    "additionalProperties",
    "items",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a list of schemas (`items` may be one, in older drafts).
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value is an object of schemas.
const MAP: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];

/// The schema with `OpenAPI`'s `nullable: true` written as a type list with `null`. Data (`enum`,
/// `const`, `default`, `examples`) is never touched, nor is a property that is named `nullable`.
pub(crate) fn normalise(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let mut pending = vec![&mut schema];
    while let Some(next) = pending.pop() {
        let Value::Object(object) = next else {
            continue;
        };
        allow_null(object);
        for (key, value) in object.iter_mut() {
            if LIST.contains(&key.as_str()) && value.is_array() {
                pending.extend(value.as_array_mut().into_iter().flatten());
            } else if ONE.contains(&key.as_str()) {
                pending.push(value);
            } else if MAP.contains(&key.as_str()) {
                pending.extend(value.as_object_mut().into_iter().flat_map(Map::values_mut));
            }
        }
    }
    schema
}

fn allow_null(schema: &mut Map<String, Value>) {
    if schema.get("nullable") != Some(&Value::Bool(true)) {
        return;
    }
    let Some(types) = schema.get_mut("type") else {
        return;
    };
    let null = Value::from("null");
    match types {
        Value::String(_) => *types = Value::Array(vec![types.take(), null.clone()]),
        Value::Array(list) if !list.contains(&null) => list.push(null.clone()),
        _ => {}
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nullable_becomes_a_type_list_in_schema_positions_only() {
        let given = json!({
            "type": "object",
            "properties": {
                "nullable": {"type": "string"},
                "a": {"type": "string", "nullable": true},
                "b": {"anyOf": [{"type": "integer", "nullable": true}]},
                "c": {"const": {"type": "x", "nullable": true}},
                "d": {"type": "string", "nullable": true, "enum": ["x"]}
            }
        });
        let plain = normalise(&given);
        assert_eq!(plain["properties"]["nullable"], json!({"type": "string"}));
        assert_eq!(plain["properties"]["a"]["type"], json!(["string", "null"]));
        assert_eq!(
            plain["properties"]["b"]["anyOf"][0]["type"],
            json!(["integer", "null"])
        );
        assert_eq!(plain["properties"]["c"], given["properties"]["c"]);
        assert_eq!(plain["properties"]["d"]["enum"], json!(["x", null]));
    }
}
