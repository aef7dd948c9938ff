//! Schemas and texts that try to hang, to overflow or to eat memory. What takes linear time ends at once;
//! for what does not, the texts are long enough to wait for.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolmend::repair_core::Limits;
use toolmend::{Effect, Finish, Policy, RawCall, Reason, ToolSet, ToolSpec, Verdict, repair_json};
use toolmend_tests::adversarial::{PATTERNS, texts, units};

fn tools(schema: Value) -> ToolSet {
    let (tools, problems) =
        ToolSet::new([ToolSpec::new("tool", schema).with_effect(Effect::ReadOnly)]);
    assert!(problems.is_empty(), "{problems:?}");
    tools
}

fn repaired(tools: &ToolSet, arguments: &Value) -> Option<Value> {
    let text = arguments.to_string();
    let raw = RawCall::new("tool", text.as_str());
    let verdict = tools.repair(&raw, &Policy::default());
    if let Verdict::Rejected(rejected) = &verdict {
        assert!(rejected.feedback().chars().count() <= 4_000);
    }
    verdict.call().map(|call| call.arguments().value().clone())
}

#[test]
fn schemas_that_go_in_circles_end() {
    let given = [
        json!({}),
        json!({"n": "5"}),
        json!({"n": {"n": {"n": "x"}}}),
    ];
    // Which of them the schema accepts.
    for (schema, accepted) in [
        (json!({"$ref": "#"}), [true; 3]),
        (json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}), [true; 3]),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            [true; 3],
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "integer"}]}, "b": {"oneOf": [{"$ref": "#/$defs/a"}, {"type": "object", "properties": {"n": {"$ref": "#/$defs/a"}}}]}}}),
            [true; 3],
        ),
        (
            json!({"allOf": [{"allOf": [{"$ref": "#/$defs/a"}]}], "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}, {"required": ["n"]}]}}}),
            [false, true, true],
        ),
        (
            json!({"properties": {"n": {"$ref": "#"}}, "required": ["n"]}),
            [false, true, true],
        ),
        (json!({"not": {"$ref": "#"}}), [false; 3]),
        (
            json!({"if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"required": ["n"]}}),
            [true; 3],
        ),
    ] {
        let tools = tools(schema.clone());
        for (arguments, accepted) in given.iter().zip(accepted) {
            let wanted = accepted.then(|| arguments.clone());
            assert_eq!(repaired(&tools, arguments), wanted, "{schema}");
        }
    }
    let tools = tools(json!({"allOf": [{"$ref": "#"}], "properties": {"n": {"type": "integer"}}}));
    let verdicts = given.map(|arguments| repaired(&tools, &arguments));
    assert_eq!(verdicts, [Some(json!({})), Some(json!({"n": 5})), None]);
}

#[test]
fn a_deep_value_of_a_recursive_union_is_repaired() {
    let tools = tools(json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"anyOf": [
            {"type": "integer"},
            {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}, "required": ["next"]}
        ]}}
    }));
    let nested = |leaf: Value| {
        let mut value = leaf;
        for level in 0..60 {
            value = if level % 2 == 0 {
                json!([value])
            } else {
                json!({"next": value})
            };
        }
        json!({"tree": value})
    };
    assert_eq!(
        repaired(&tools, &nested(json!("5"))),
        Some(nested(json!(5)))
    );
    assert_eq!(repaired(&tools, &nested(json!("five"))), None);
}

#[test]
fn unions_in_unions_do_not_overflow_the_stack() {
    // Each level doubles what a walk without memory would see.
    let mut union = json!({"type": "integer"});
    for level in 0..100 {
        union = json!({"anyOf": [union, {"type": "array", "items": {"const": level}}]});
    }
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": union}}});
    let tools = tools(schema);
    let items = vec![json!("5"); 1_000];
    // Refused, not guessed.
    assert_eq!(repaired(&tools, &json!({"a": items})), None);

    let branches: Vec<Value> = (0..60)
        .map(|n| json!({"type": "object", "properties": {"k": {"anyOf": [{"const": n}, {"type": "array", "items": {"$ref": "#/$defs/U"}}]}}, "required": ["k"]}))
        .collect();
    let schema = json!({"type": "object", "properties": {"u": {"$ref": "#/$defs/U"}}, "$defs": {"U": {"anyOf": branches}}});
    let tools = self::tools(schema);
    let mut value = json!({"k": "7"});
    for _ in 0..20 {
        value = json!({"k": [value, {"k": "x"}]});
    }
    assert_eq!(repaired(&tools, &json!({"u": value})), None);
}

#[test]
fn eighty_thousand_allowed_values_are_looked_up() {
    let values: Vec<Value> = (0..80_000).map(|n| json!(format!("Value_{n}"))).collect();
    let tools = tools(json!({
        "type": "object",
        "properties": {"v": {"type": "array", "items": {"enum": values}}},
        "allOf": [{"properties": {"v": {"items": {"enum": values}}}}]
    }));
    let given: Vec<Value> = (0..2_000).map(|n| json!(format!("value-{n}"))).collect();
    let wanted: Vec<Value> = (0..2_000).map(|n| json!(format!("Value_{n}"))).collect();
    assert_eq!(
        repaired(&tools, &json!({"v": given})),
        Some(json!({"v": wanted}))
    );
    assert_eq!(repaired(&tools, &json!({"v": vec!["none"; 2_000]})), None);
}

#[test]
fn ten_thousand_properties_are_indexed() {
    let names = || (0..10_000).map(|n| format!("property_number_{n}"));
    let properties: Map<String, Value> = names()
        .map(|name| (name, json!({"type": "integer"})))
        .collect();
    let required: Vec<String> = names().collect();
    let tools = tools(
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
    );
    let all = |value: Value| -> Value {
        Value::Object(names().map(|name| (name, value.clone())).collect())
    };
    assert_eq!(repaired(&tools, &all(json!("5"))), Some(all(json!(5))));
    assert_eq!(repaired(&tools, &json!({})), None);
    let unknown: Map<String, Value> = (0..10_000).map(|n| (format!("x{n}"), json!(1))).collect();
    assert_eq!(repaired(&tools, &Value::Object(unknown)), None);
}

#[test]
fn a_base_is_not_copied_into_ten_thousand_branches() {
    let properties: Map<String, Value> = (0..5_000)
        .map(|n| (format!("p{n}"), json!({"type": "integer"})))
        .collect();
    let branch = |n: usize| json!({"anyOf": (50..100).map(|m| json!({"required": [format!("p{n}"), format!("p{m}")]})).collect::<Vec<_>>()});
    let tools = tools(
        json!({"type": "object", "properties": properties, "oneOf": (0..50).map(branch).collect::<Vec<_>>()}),
    );
    let whole = json!({"p1": 5, "p60": 6});
    assert_eq!(repaired(&tools, &whole), Some(whole));
    // No branch is met, and none is guessed.
    assert_eq!(repaired(&tools, &json!({"p1": "5"})), None);
}

#[test]
fn patterns_that_backtrack_end() {
    for pattern in [
        r"^(a+)+$",
        r"^(?=(a+)+b)a*$",
        r"(x+x+)+y",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
    ] {
        let tools = tools(
            json!({"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}, "n": {"type": "integer"}}}),
        );
        for text in ["a".repeat(40) + "!", "x".repeat(5_000)] {
            // None of the texts matches.
            assert_eq!(repaired(&tools, &json!({"s": text, "n": "5"})), None);
        }
    }
}

#[test]
fn a_schema_deeper_than_a_validator_can_go_is_reported() {
    let mut schema = json!({"type": "integer"});
    for _ in 0..1_000 {
        schema = Value::Object(Map::from_iter([("not".to_owned(), schema)]));
    }
    let (tools, problems) = ToolSet::new([ToolSpec::new("deep", schema)]);
    assert_eq!(problems.len(), 1);
    let raw = RawCall::new("deep", "{}");
    let verdict = tools.repair(&raw, &Policy::default());
    assert!(verdict.call().is_some_and(toolmend::Call::is_unvalidated));
    // What cannot be judged is not repaired either.
    for text in ["{\"a\": 1,}", "{\"a\": 1, \"a\": 2}", "[]"] {
        let raw = RawCall::new("deep", text).with_finish(Finish::Complete);
        let verdict = tools.repair(&raw, &Policy::default());
        assert!(verdict.call().is_none(), "{text}: {verdict:?}");
    }
}

#[test]
fn long_strings_are_not_read_again_for_every_branch() {
    let branches: Vec<Value> = (0..60)
        .map(|n| json!({"type": "object", "properties": {"k": {"type": "integer"}, "m": {"const": n}}, "required": ["k", "m"], "additionalProperties": false}))
        .collect();
    let tools = tools(json!({"type": "object", "properties": {"u": {"anyOf": branches}}}));
    let text = format!("{{\"k\": 1, \"other\": [{}]", "1, ".repeat(300_000));
    assert_eq!(repaired(&tools, &json!({"u": text})), None);
}

#[test]
fn the_step_limit_ends_a_search() {
    let branches: Vec<Value> = (0..50)
        .map(|n| json!({"type": "object", "properties": {"k": {"type": "integer"}, "n": {"type": "integer", "minimum": n}}, "required": ["k"]}))
        .collect();
    let tools = tools(json!({"type": "object", "properties": {"u": {"anyOf": branches}}}));
    let mut limits = Limits::default();
    limits.steps = 0;
    let policy = Policy::default().with_limits(limits);
    let raw = RawCall::new("tool", r#"{"u": {"k": "x", "n": "1"}}"#);
    let Verdict::Rejected(rejected) = tools.repair(&raw, &policy) else {
        panic!("nothing helps against x");
    };
    assert_eq!(rejected.reason(), Reason::Limit);
}

#[test]
fn a_schema_too_deep_is_refused_for_bare_json_too() {
    let mut schema = serde_json::json!({"type": "integer"});
    for _ in 0..400 {
        schema = serde_json::json!({"type": "array", "items": schema});
    }
    let refused = repair_json("[1]", Some(&schema)).unwrap_err();
    assert!(refused.to_string().contains("deeper"), "{refused}");
}

/// Reads hostile texts in every way, on a thread with a stack as small as they come.
fn read_on_a_small_stack(units: impl Iterator<Item = String> + Send + 'static, size: usize) {
    let reading = move || {
        let schema = json!({"type": "object", "properties": {
            "path": {"type": "string"}, "content": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}}
        }, "additionalProperties": false});
        let tools = tools(schema.clone());
        for unit in units {
            for text in texts(&unit, size) {
                for schema in [None, Some(&schema)] {
                    let repaired = repair_json(&text, schema).unwrap();
                    let is_json = serde_json::from_str::<Value>(&repaired.text).is_ok();
                    // serde_json has a limit of its own.
                    assert!(
                        is_json || !repaired.ok || unit.contains(['[', '{']),
                        "{unit:?}"
                    );
                }
                let raw = RawCall::new("tool", text.as_str());
                if let Some(call) = tools.repair(&raw, &Policy::default()).call() {
                    assert!(call.arguments().value().is_object(), "{unit:?}");
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(reading).unwrap().join().unwrap();
}

#[test]
fn looking_ahead_ends_where_it_tells_nothing_more() {
    let many = 2_000_000;
    let lists = format!("[{}0]\n", "0,".repeat(11_999)).repeat(250);
    for text in [
        format!("[[{}", "}".repeat(many)),
        format!("{{\"a\":{{\"b\":1{}", "]".repeat(many)),
        lists,
    ] {
        let repaired = repair_json(&text, None).unwrap();
        let is_strict = serde_json::from_str::<&RawValue>(&repaired.text).is_ok();
        assert_eq!(repaired.ok, is_strict, "{}", &text[..20]);
    }
}

#[test]
fn no_long_text_overflows_a_small_stack() {
    let units = PATTERNS.iter().map(|(_, unit)| (*unit).to_owned());
    read_on_a_small_stack(units, 100_000);
}

#[test]
fn no_pair_of_patterns_overflows_a_small_stack() {
    read_on_a_small_stack(units(), 10_000);
}
