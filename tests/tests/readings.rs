//! Amounts and dates in another form: what is proposed, and what is left alone.

use serde_json::{Value, json};
use toolmend::{Policy, RawCall, ToolSet, ToolSpec, Verdict};

const DAY: &str = r"^\d{4}-\d{2}-\d{2}$";

/// What is proposed for these arguments, best first; nothing may be applied.
fn proposed(properties: &Value, arguments: &Value) -> Vec<Value> {
    let schema = json!({"type": "object", "properties": properties});
    let (tools, _) = ToolSet::new([ToolSpec::new("tool", schema)]);
    let raw = RawCall::from_value("tool", arguments);
    match tools.repair(&raw, &Policy::default()) {
        Verdict::Rejected(rejected) => rejected
            .candidates()
            .iter()
            .filter(|candidate| candidate.valid)
            .map(|candidate| serde_json::from_str(&candidate.arguments).unwrap())
            .collect(),
        verdict => panic!("{arguments}: {verdict:?}"),
    }
}

#[test]
fn the_number_without_its_unit_is_not_proposed_for_another_unit() {
    let number = json!({"type": "number"});
    let list = json!({"type": "array", "items": number});
    let described = |text: &str| json!({"type": "number", "description": text});
    for (key, schema, given, want) in [
        ("minutes", &number, json!("2 hours"), vec![json!(120)]),
        ("minutes", &number, json!("-5 minutes"), vec![json!(-5)]),
        ("minutes", &number, json!("-2 hours"), vec![]),
        ("minutes", &number, json!("1 hour - 2 hours"), vec![]),
        ("minutes", &number, json!("1e2 hours"), vec![]),
        ("minutes", &number, json!(["2 hours"]), vec![json!(120)]),
        ("minutes", &list, json!("2 hours"), vec![json!([120])]),
        (
            "minutes",
            &list,
            json!(["2 hours", 5]),
            vec![json!([120, 5])],
        ),
        ("days", &number, json!("2 years"), vec![]),
        ("days", &number, json!("2 lunches"), vec![]),
        ("weight_kg", &number, json!("5 m"), vec![]),
        ("weight_kg", &number, json!("5 lb"), vec![]),
        ("timeout_s", &number, json!("2 minutes"), vec![]),
        ("timeout_s", &number, json!("2 seconds"), vec![json!(2)]),
        ("bytes", &number, json!("5 Mb"), vec![]),
        ("nights", &number, json!("2 nights"), vec![json!(2)]),
        (
            "wait",
            &described("how long, in seconds"),
            json!("1 minute"),
            vec![json!(60)],
        ),
        (
            "limit",
            &described("posts of each day to show"),
            json!("3 weeks"),
            vec![json!(3)],
        ),
    ] {
        let got = proposed(&json!({ key: schema }), &json!({ key: given }));
        let want: Vec<Value> = want
            .into_iter()
            .map(|value| json!({ key: value }))
            .collect();
        assert_eq!(got, want, "{given} for {key}");
    }
}

#[test]
fn only_the_text_that_the_schema_refuses_is_restated() {
    let day = json!({"type": "string", "pattern": DAY});
    let either = json!({"type": "string", "pattern": r"^(\d{1,2} \w+ \d{4}|\d{4}-\d{2}-\d{2})$"});
    let properties = json!({"any": {"type": "array", "items": either}, "day": day});
    let given = |count: usize| json!({"any": vec!["5 March 2026"; count], "day": "6 April 2026"});
    for count in [0, 1, 10] {
        let mut want = given(count);
        want["day"] = json!("2026-04-06");
        assert_eq!(proposed(&properties, &given(count)), [want]);
    }
    // Where it cannot be told which one it is, nothing is proposed.
    for count in [200, 20_000] {
        let got = proposed(&properties, &given(count));
        assert!(got.iter().all(|value| value["any"] == given(count)["any"]));
    }
}
