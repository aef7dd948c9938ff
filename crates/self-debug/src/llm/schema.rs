//! The schema of the model's answer, with the tool's own schema inside.

use harness::Failure;
use serde_json::{Value, json};

/// Where the tool's schema stands in the schema of the answer, as a URI fragment.
const PLACE: &str = "#/properties/candidates/items/properties/arguments";

/// Schema keywords whose values are data, not schemas.
const DATA: [&str; 5] = ["const", "enum", "default", "example", "examples"];

/// Schema keywords whose values are schemas under names of the host.
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// The schema of the answer to a question about `failure`.
pub(crate) fn of_answer(failure: &Failure, patch: bool) -> Value {
    let (name, change) = if patch {
        ("patch", patch_schema())
    } else {
        ("arguments", moved(failure.spec.schema()))
    };
    json!({
        "type": "object",
        "properties": {
            "candidates": {
                "type": "array",
                "maxItems": failure.wanted.max(1),
                "items": {
                    "type": "object",
                    "properties": {
                        "rationale": {"type": "string"},
                        name: change,
                        "confidence": {"type": "number"},
                    },
                    "required": ["rationale", name, "confidence"],
                    "additionalProperties": false,
                },
            },
            "give_up": {"type": "boolean"},
            "reason": {"type": "string"},
        },
        "required": ["candidates", "give_up", "reason"],
        "additionalProperties": false,
    })
}

fn patch_schema() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "op": {"enum": ["add", "remove", "replace", "move", "copy"]},
                "path": {"type": "string"},
                "from": {"type": "string"},
                "value": {},
            },
            "required": ["op", "path"],
        },
    })
}

/// The tool's schema at its new place: references to its own parts follow it.
fn moved(schema: Option<&Value>) -> Value {
    let Some(Value::Object(_)) = schema else {
        return json!({"type": "object"});
    };
    let mut schema = schema.cloned().unwrap_or_default();
    if let Value::Object(root) = &mut schema {
        root.shift_remove("$schema");
        root.shift_remove("$id");
    }
    // With each part, whether its members are named by the host and not by JSON Schema.
    let mut open = vec![(&mut schema, false)];
    while let Some((part, are_names)) = open.pop() {
        match part {
            Value::Array(items) => open.extend(items.iter_mut().map(|item| (item, false))),
            Value::Object(members) => {
                for (key, value) in members.iter_mut() {
                    match value {
                        Value::String(target) if key == "$ref" && !are_names => {
                            if let Some(rest) = target.strip_prefix('#')
                                && (rest.is_empty() || rest.starts_with('/'))
                            {
                                *target = format!("{PLACE}{rest}");
                            }
                        }
                        _ if !are_names && DATA.contains(&key.as_str()) => {}
                        other => {
                            let is_map = !are_names && MAPS.contains(&key.as_str());
                            open.push((other, is_map));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(schema: &Value) -> Failure {
        serde_json::from_value(json!({
            "spec": {"name": "t", "schema": schema}, "effect": "unknown",
            "call": {"tool": "t", "arguments": "{}"},
            "error": {"class": "value", "message": "no", "may_have_run": false},
            "attempt": 0, "round": 0, "earlier": [], "refused": [], "by_rule": [],
            "wanted": 3, "context": [],
        }))
        .unwrap()
    }

    #[test]
    fn references_follow_the_schema_to_its_new_place() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"default": {"$ref": "#/$defs/node"}, "all": {"$ref": "#"}},
            "$defs": {"node": {
                "type": "object",
                "properties": {
                    "left": {"$ref": "#/$defs/node"},
                    "note": {"const": {"$ref": "#/$defs/node"}},
                },
                "required": ["left"],
            }},
        });
        let answer = of_answer(&failure(&schema), false);
        let leaf = json!({"left": {"left": 1}});
        let told = |tree: &Value| {
            json!({"candidates": [{"rationale": "", "arguments": {"default": tree}, "confidence": 1}],
                   "give_up": false, "reason": ""})
        };
        let (tools, problems) =
            repair_core::ToolSet::new([repair_core::ToolSpec::new("t", answer)]);
        assert_eq!(problems, []);
        let is_valid = |value: &Value| {
            let raw = repair_core::RawCall::from_value("t", value);
            let verdict = tools.repair(&raw, &repair_core::Policy::default());
            matches!(verdict, repair_core::Verdict::Valid(_))
        };
        assert!(is_valid(
            &json!({"candidates": [], "give_up": true, "reason": "x"})
        ));
        assert!(!is_valid(&told(&leaf)), "the leaf is no node");
        assert!(!is_valid(&told(&json!({"right": {}}))));
    }

    #[test]
    fn a_patch_needs_no_schema_of_the_tool() {
        let answer = of_answer(&failure(&json!({"properties": {"secret": {}}})), true);
        assert!(!answer.to_string().contains("secret"));
        assert!(answer.to_string().contains("\"patch\""));
    }
}
