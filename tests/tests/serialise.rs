//! Every public type of `repair-core` is data: it can be written as JSON and read back.

use std::fmt::Debug;

use serde_json::{Value, json};
use toolmend::repair_core::{
    Arguments, Call, Candidate, CorrectiveError, Counts, Effect, Finish, Fix, Fixes, HistoryCall,
    JsonRepair, Limits, Loss, Origin, Policy, RawCall, Reason, Rejected, RepairStats, Repaired,
    Risk, RuleSetting, SchemaProblem, Stage, Teacher, ToolSet, ToolSpec, Verdict, repair_json,
    rules,
};

/// Writes a value, reads it back, and compares what both are as JSON and for the eye.
#[track_caller]
fn check<T: serde::Serialize + serde::de::DeserializeOwned + Debug>(value: &T) -> Value {
    let text = serde_json::to_string(value).unwrap();
    let again: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    assert_eq!(format!("{again:?}"), format!("{value:?}"));
    serde_json::from_str(&text).unwrap()
}

fn search() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "mode": {"enum": ["fast", "deep"]}},
        "required": ["query"],
        "additionalProperties": false
    });
    ToolSpec::new("search", schema)
        .with_description("Finds things.")
        .with_effect(Effect::ReadOnly)
        .with_server("web")
}

fn verdict(name: &str, arguments: &str) -> Verdict<'static> {
    let (tools, _) = ToolSet::new([search()]);
    let raw = RawCall::new(name, arguments).with_id("call_1");
    tools.repair(&raw, &Policy::default()).into_owned()
}

#[test]
fn what_the_host_says() {
    check(&search());
    check(&ToolSpec::without_schema("any"));
    let policy = Policy::default()
        .with_default_effect(Effect::Mutating)
        .with_effect("delete", Effect::Destructive)
        .with_accepted(Risk::Inferred)
        .with_accepted_for("search", Risk::Guess)
        .with_rule("enum_near", RuleSetting::Inferred)
        .with_integral_floats(true);
    check(&policy);
    check(&Limits::default());
    for effect in [
        Effect::ReadOnly,
        Effect::Idempotent,
        Effect::Mutating,
        Effect::Destructive,
        Effect::Unknown,
    ] {
        check(&effect);
    }
    for setting in [
        RuleSetting::Off,
        RuleSetting::Lossless,
        RuleSetting::Inferred,
        RuleSetting::Guess,
    ] {
        check(&setting);
    }
    let (_, problems) = ToolSet::new([ToolSpec::new("bad", json!({"type": "strng"}))]);
    check::<Vec<SchemaProblem>>(&problems);
}

#[test]
fn what_the_model_wrote() {
    let fix = Fix::new(rules().next().unwrap(), "", "a", "b");
    let raw = RawCall::new("search", "{}")
        .with_id("call_1")
        .with_finish(Finish::Complete)
        .with_reading(fix);
    check::<RawCall<'static>>(&raw.into_owned());
    check::<RawCall<'static>>(&RawCall::without_arguments("search"));
    for finish in [Finish::Unknown, Finish::Complete, Finish::Cut] {
        check(&finish);
    }
}

#[test]
fn what_came_of_it() {
    let valid = verdict("search", r#"{ "query": "x", "limit": 1e2 }"#);
    let written = check::<Verdict<'static>>(&valid);
    assert_eq!(written["verdict"], "valid");
    let repaired = verdict("Search", r#"{"query": "x", "limit": "5",}"#);
    let written = check::<Verdict<'static>>(&repaired);
    assert_eq!(written["verdict"], "repaired");
    assert_eq!(written["fixes"].as_array().map(Vec::len), Some(3));
    let Verdict::Repaired(inner) = &repaired else {
        panic!("{repaired:?}");
    };
    check::<Repaired<'static>>(&inner.clone().into_owned());
    check::<Fixes<'static>>(&inner.fixes().clone().into_owned());
    check::<Call<'static>>(&inner.call().clone().into_owned());
    let owned = inner.call().clone().into_owned();
    let text = check::<Arguments<'_>>(owned.arguments());
    assert_eq!(text, inner.call().arguments().text());
    check::<HistoryCall>(&repaired.history_call());
    for (name, arguments) in [
        ("search", r#"{"query": "x", "mode": "fst"}"#),
        ("serch", "{}"),
        ("search", r#"{"query": "x"#),
        ("search", "[1"),
    ] {
        let rejected = verdict(name, arguments);
        let written = check::<Verdict<'static>>(&rejected);
        assert_eq!(written["verdict"], "rejected");
        let Verdict::Rejected(rejected) = rejected else {
            panic!("{rejected:?}");
        };
        check::<Rejected>(&rejected);
        check::<Vec<Candidate>>(&rejected.candidates().to_vec());
        check::<CorrectiveError>(&rejected.error());
        check::<HistoryCall>(&rejected.history_call());
    }
}

#[test]
fn what_is_kept_about_many_calls() {
    let verdicts = [
        verdict("search", r#"{"query": 5}"#),
        verdict("nothing", "{}"),
    ];
    let (mut stats, mut teacher) = (RepairStats::default(), Teacher::default());
    for verdict in &verdicts {
        stats.record(verdict);
        teacher.teach(verdict);
    }
    check(&stats);
    check::<Counts>(&stats.total());
    check(&teacher);
    check::<JsonRepair>(&repair_json("{a: 1", None).unwrap());
}

#[test]
fn words_and_rules() {
    for reason in [
        Reason::UnknownTool,
        Reason::AmbiguousTool,
        Reason::NotPermitted,
        Reason::Syntax,
        Reason::Truncated,
        Reason::Ambiguous,
        Reason::Arguments,
        Reason::NeedsApproval,
        Reason::Limit,
    ] {
        check(&reason);
    }
    for origin in [Origin::Rule, Origin::Model] {
        check(&origin);
    }
    for loss in [Loss::Completes, Loss::Splits, Loss::Drops] {
        check(&loss);
    }
    for stage in [Stage::Name, Stage::Text, Stage::Arguments, Stage::Call] {
        check(&stage);
    }
    // Rules are compiled in: they are written for a report, and found again by their id.
    for rule in rules() {
        let written = serde_json::to_value(rule).unwrap();
        let found: Vec<_> = rules().filter(|other| written["id"] == other.id).collect();
        assert_eq!(found, [rule]);
    }
}

#[test]
fn arguments_are_read_back_only_as_a_strict_object() {
    for text in [r#""{\"a\": 1""#, r#""[1]""#, r#""{a: 1}""#, "5"] {
        assert!(
            serde_json::from_str::<Arguments<'static>>(text).is_err(),
            "{text}"
        );
    }
}
