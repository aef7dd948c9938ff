use repair_core::{Finish, RawCall};
use serde_json::Value;

use super::{CallDelta, DeltaAssembler};

/// `[index, id, name, arguments]`: a string is a fragment, an object a parsed value.
type Row = (Option<u64>, Option<String>, Option<String>, Value);

/// The calls that a JSON list of rows becomes.
fn assemble(deltas: &str, finish: Finish) -> Vec<RawCall<'static>> {
    let rows: Vec<Row> = serde_json::from_str(deltas).unwrap();
    let mut assembler = DeltaAssembler::new();
    for (index, id, name, arguments) in rows {
        let mut delta = CallDelta::new();
        if let Some(index) = index {
            delta = delta.with_index(index);
        }
        delta = delta.with_id(id.unwrap_or_default());
        delta = delta.with_name(name.unwrap_or_default());
        assembler.push(match arguments {
            Value::String(text) => delta.with_fragment(text),
            value => delta.with_value(value.to_string()),
        });
    }
    assembler.finish(finish)
}

/// The calls as `id name arguments`.
fn shown(deltas: &str) -> Vec<String> {
    let show = |call: &RawCall<'_>| {
        let id = call.id().unwrap_or("-");
        format!("{id} {} {}", call.name(), call.arguments().unwrap_or("-"))
    };
    assemble(deltas, Finish::Complete)
        .iter()
        .map(show)
        .collect()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn deltas_become_the_calls_that_were_meant() {
    for (what, deltas, want) in [
        (
            "fragments",
            r#"[[0, "a", "t", ""], [0, null, null, "{\"x\""], [0, null, null, ":1}"]]"#,
            &[r#"a t {"x":1}"#] as &[&str],
        ),
        (
            "parallel calls, interleaved",
            r#"[[0, "a", "t", ""], [1, "b", "u", ""], [0, null, null, "{\"x\":"], [1, null, null, "{}"], [0, null, null, "1}"]]"#,
            &[r#"a t {"x":1}"#, "b u {}"],
        ),
        (
            "a new id under an old index",
            r#"[[0, "a", "t", "{\"x\":1}"], [0, "b", "t", "{\"x\""], [0, null, null, ":2}"], [0, "a", null, " "]]"#,
            &[r#"a t {"x":1} "#, r#"b t {"x":2}"#],
        ),
        (
            "another name under an old index, without ids",
            r#"[[0, null, "t", "{}"], [0, null, "u", "{\"y\":"], [0, null, null, "2}"]]"#,
            &["call_0 t {}", r#"call_1 u {"y":2}"#],
        ),
        (
            "the same tool twice under an old index, without ids",
            r#"[[0, null, "t", "{\"x\":1}"], [0, null, "t", "{\"x\":2}"]]"#,
            &[r#"call_0 t {"x":1}"#, r#"call_1 t {"x":2}"#],
        ),
        (
            "the same, parsed",
            r#"[[null, null, "t", {"x": "Oslo"}], [null, null, "t", {"x": "Rome"}]]"#,
            &[r#"call_0 t {"x":"Oslo"}"#, r#"call_1 t {"x":"Rome"}"#],
        ),
        (
            "one id for two calls at two indices",
            r#"[[0, "a", "t", "{\"x\":"], [1, "a", "u", "{\"y\":"], [0, "a", null, "1}"], [1, "a", null, "2}"]]"#,
            &[r#"a t {"x":1}"#, r#"a u {"y":2}"#],
        ),
        (
            "one id for two calls at one index",
            r#"[[0, "a", "t", "{\"x\":1}"], [0, "a", "u", "{\"y\":2}"]]"#,
            &[r#"a t {"x":1}"#, r#"a u {"y":2}"#],
        ),
        (
            "name and id in every delta",
            r#"[[0, "a", "t", "{\"x\""], [0, "a", "t", ":1"], [0, "a", "t", "}"]]"#,
            &[r#"a t {"x":1}"#],
        ),
        (
            "the name in every delta, without ids",
            r#"[[0, null, "t", "{\"x\":"], [0, null, "t", "{\"y\":1}"], [0, null, "t", "}"]]"#,
            &[r#"call_0 t {"x":{"y":1}}"#],
        ),
        (
            "a name in pieces",
            r#"[[0, "a", "get_", null], [0, null, "time", null], [0, null, null, "{}"]]"#,
            &["a get_time {}"],
        ),
        (
            "a growing name",
            r#"[[0, "a", "get", null], [0, null, "get_time", "{}"]]"#,
            &["a get_time {}"],
        ),
        (
            "a leading {} and null add nothing",
            r#"[[0, "a", "t", {}], [0, null, null, null], [0, null, null, "{\"x\":"], [0, null, null, "1}"]]"#,
            &[r#"a t {"x":1}"#],
        ),
        (
            "a leading {} in pieces",
            r#"[[0, "a", "t", "{"], [0, null, null, "}"], [0, null, null, "{\"x\":1}"]]"#,
            &[r#"a t {"x":1}"#],
        ),
        (
            "white space is kept",
            r#"[[0, "a", "t", "\n"], [0, null, null, " "], [0, null, null, "{\"x\":"], [0, null, null, "1}\n"]]"#,
            &["a t \n {\"x\":1}\n"],
        ),
        (
            "growing snapshots",
            r#"[[0, "a", "t", "{\"x\""], [0, "a", "t", "{\"x\":\"va"], [0, "a", "t", "{\"x\":\"value\"}"]]"#,
            &[r#"a t {"x":"value"}"#],
        ),
        (
            "growing snapshots, closed for show",
            r#"[[0, "a", "t", "{}"], [0, "a", "t", "{\"x\":\"va\"}"], [0, null, null, "{\"x\":\"value\",\"y\":[1]}"]]"#,
            &[r#"a t {"x":"value","y":[1]}"#],
        ),
        (
            "growing snapshots, parsed",
            r#"[[0, "a", "t", {}], [0, "a", null, {"x": "va"}], [0, "a", null, {"x": "value"}]]"#,
            &[r#"a t {"x":"value"}"#],
        ),
        (
            "parsed objects are merged",
            r#"[[0, "a", "t", {"x": 1}], [0, "a", "t", {"y": {"z": 2}}], [0, "a", "t", {}]]"#,
            &[r#"a t {"x":1,"y":{"z":2}}"#],
        ),
        (
            "a parsed object before other text is kept",
            r#"[[0, "a", "t", {"x": 1}], [0, "a", "t", "{\"y\":2}"]]"#,
            &[r#"a t {"x":1}{"y":2}"#],
        ),
        (
            "JSON inside a string is no snapshot",
            r#"[[0, "a", "t", "{\"x\":\"{"], [0, null, null, "{\\\"x\\\""], [0, null, null, "\"}"]]"#,
            &[r#"a t {"x":"{{\"x\""}"#],
        ),
        ("no arguments", r#"[[0, "a", "t", ""]]"#, &["a t -"]),
        ("no name", r#"[[0, "a", null, "{}"]]"#, &["a  {}"]),
        (
            "nothing",
            r#"[[0, "", "", ""], [null, null, null, null]]"#,
            &[],
        ),
        (
            "made ids are no given ones",
            r#"[[0, null, "t", "{}"], [1, "call_0", "t", "{}"], [2, null, "t", "{}"], [3, "call_2", "t", "{}"]]"#,
            &["call_1 t {}", "call_0 t {}", "call_3 t {}", "call_2 t {}"],
        ),
    ] {
        assert_eq!(shown(deltas), want, "{what}");
    }
}

#[test]
fn a_cut_reply_was_cut_in_the_call_that_was_being_written() {
    use Finish::{Complete, Cut, Unknown};
    let finishes = |deltas, finish| -> Vec<Finish> {
        assemble(deltas, finish)
            .iter()
            .map(RawCall::finish)
            .collect()
    };
    let three = r#"[[0, "a", "t", "{}"], [1, "b", "t", "{}"], [2, "c", "t", "{}"]]"#;
    assert_eq!(finishes(three, Cut), [Unknown, Unknown, Cut]);
    assert_eq!(finishes(three, Complete), [Complete; 3]);
    assert_eq!(finishes(three, Unknown), [Unknown; 3]);
    let interleaved = r#"[[0, "a", "t", "{"], [1, "b", "t", "{"], [0, null, null, "}"]]"#;
    assert_eq!(finishes(interleaved, Cut), [Cut, Cut]);
}

#[test]
fn number_text_survives() {
    let delta = |json| {
        CallDelta::new()
            .with_index(0)
            .with_name("t")
            .with_value(json)
    };
    let long = r#"{"n": 12345678901234567890123, "f": 1e400}"#;
    let mut one = DeltaAssembler::new();
    one.push(delta(long));
    assert_eq!(
        one.clone().finish(Finish::Complete)[0].arguments(),
        Some(long)
    );
    one.push(delta(r#"{"m": 0.10}"#).with_id("a"));
    assert_eq!(
        one.finish(Finish::Complete)[0].arguments(),
        Some(r#"{"n":12345678901234567890123,"f":1e400,"m":0.10}"#)
    );
}

#[test]
fn many_deltas_cost_linear_time() {
    // Each of these is quadratic, and would not end, if a delta looked at all that came before.
    let many = 50_000;
    let mut spaces = DeltaAssembler::new();
    let mut objects = DeltaAssembler::new();
    let mut calls = DeltaAssembler::new();
    for at in 0..many {
        spaces.push(CallDelta::new().with_name("t").with_fragment(" "));
        objects.push(
            CallDelta::new()
                .with_name("t")
                .with_value(format!("{{\"k{at}\":[]}}")),
        );
        calls.push(
            CallDelta::new()
                .with_index(at)
                .with_id(format!("call_{}", 2 * at)),
        );
        calls.push(CallDelta::new().with_index(many + at).with_name("t"));
    }
    assert_eq!(spaces.finish(Finish::Unknown).len(), 1);
    assert_eq!(objects.finish(Finish::Unknown).len(), 1);
    let calls = calls.finish(Finish::Unknown);
    let ids: std::collections::HashSet<_> = calls.iter().map(RawCall::id).collect();
    assert_eq!(ids.len(), calls.len());
}
