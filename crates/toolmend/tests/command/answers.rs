//! What the answers hold.

use serde_json::{Value, json};

use super::{holds, request, run};

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn repair_answers_as_it_promises() {
    let call = |text: &str| json!([{"name": "read", "arguments_text": text}]);
    for (what, rest, want) in [
        (
            "a valid call comes back byte for byte",
            r#""id": 1, "mode": "native", "raw": {"id": "c", "name": "read", "arguments": " {\"path\" : \"\\u0061\", \"n\":5.0 }"}"#,
            json!({"id": 1, "outcome": "unchanged", "each": ["unchanged"], "content": "", "fixes": [], "candidates": [],
                "calls": [{"id": "c", "name": "read", "arguments": {"path": "a", "n": 5.0}, "arguments_text": " {\"path\" : \"\\u0061\", \"n\":5.0 }"}]}),
        ),
        (
            "parsed arguments, in the provider's shape",
            r#""id": "x", "mode": "mcp", "raw": {"id": 7, "function": {"name": "read", "arguments": {"path": "a",  "n": 1}}}"#,
            json!({"id": "x", "outcome": "unchanged", "calls": [{"id": "7", "arguments_text": "{\"path\": \"a\",  \"n\": 1}"}]}),
        ),
        (
            "a repaired call says what was wrong",
            r#""id": null, "mode": "native", "raw": {"name": "Read", "arguments": "{'path': 'a'}"}"#,
            json!({"id": null, "outcome": "repaired", "calls": call(r#"{"path": "a"}"#), "reason": null}),
        ),
        (
            "a sibling's failure takes no good call with it",
            r#""id": 2, "mode": "native", "raw": [{"name": "read", "arguments": "{\"path\": \"a\"}"}, {"name": "nothing like it", "arguments": "{}"}, {"name": "read", "arguments": "{\"path\": \"a\",}"}]"#,
            json!({"outcome": "rejected", "each": ["unchanged", "rejected", "repaired"], "calls": [{"name": "read"}, {"name": "read"}]}),
        ),
        (
            "a reply that was cut was cut in its last call",
            r#""id": 3, "mode": "native", "finish_reason": "length", "raw": [{"name": "read", "arguments": "{\"path\": \"a\",}"}, {"name": "read", "arguments": "{\"path\": \"a\",}"}]"#,
            json!({"each": ["repaired", "rejected"]}),
        ),
        (
            "the same in a stream",
            r#""id": 3, "mode": "stream", "finish_reason": "length", "raw": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"path\": \"a\",}"}}, {"index": 1, "id": "b", "function": {"name": "read", "arguments": "{\"path\": \"a\",}"}}]"#,
            json!({"each": ["repaired", "rejected"], "calls": [{"id": "a"}]}),
        ),
        (
            "a finish reason that lies makes no cut text whole",
            r#""id": 3, "mode": "stream", "finish_reason": "tool_calls", "effects": {"read": "read_only"}, "raw": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"path\": \"a"}}]"#,
            json!({"outcome": "rejected", "calls": [], "each": ["rejected"]}),
        ),
        (
            "a finish reason that lies spoils no valid call",
            r#""id": 3, "mode": "stream", "finish_reason": "length", "raw": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"path\": \"a\"}"}}]"#,
            json!({"outcome": "unchanged"}),
        ),
        (
            "a stream: parallel calls under index 0, ids made",
            r#""id": 4, "mode": "stream", "raw": [{"index": 0, "function": {"name": "read", "arguments": {"path": "a"}}}, {"index": 0, "function": {"name": "now", "arguments": ""}}, null, {}]"#,
            json!({"outcome": "repaired", "calls": [{"id": "call_0", "name": "read"}, {"id": "call_1", "name": "now"}]}),
        ),
        (
            "a stream without a name is refused",
            r#""id": 5, "mode": "stream", "raw": [{"index": 0, "id": "a", "function": {"arguments": "{\"path\": \"a\"}"}}]"#,
            json!({"outcome": "rejected", "calls": []}),
        ),
        (
            "an empty stream is no call",
            r#""id": 5, "mode": "stream", "raw": []"#,
            json!({"outcome": "none", "calls": [], "each": []}),
        ),
        (
            "text around a call stays",
            r#""id": 6, "mode": "text", "raw": ["Well. <tool_", "call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}</tool_call>"]"#,
            json!({"outcome": "repaired", "content": "Well. ", "calls": [{"name": "read"}]}),
        ),
        (
            "text without a call is content",
            r#""id": 6, "mode": "text", "raw": "I would call read."}"#.trim_end_matches('}'),
            json!({"outcome": "none", "content": "I would call read.", "calls": [], "each": [], "reason": null}),
        ),
        (
            "no call is read where none may be made",
            r#""id": 6, "mode": "text", "tool_choice": "none", "raw": "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>""#,
            json!({"outcome": "none", "content": "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>"}),
        ),
        (
            "what is not permitted is not run",
            r#""id": 7, "mode": "native", "permitted": ["now"], "raw": {"name": "read", "arguments": "{\"path\": \"a\"}"}"#,
            json!({"outcome": "rejected", "calls": []}),
        ),
        (
            "the effect decides how sure a repair must be",
            r#""id": 8, "mode": "native", "effects": {"read": "destructive"}, "raw": {"name": "read", "arguments": "{\"path\": 5}"}"#,
            json!({"outcome": "rejected", "calls": [], "candidates": [{"arguments": "{\"path\": \"5\"}"}]}),
        ),
        (
            "half a surrogate pair becomes U+FFFD, and is a guess",
            r#""id": "\ud800", "mode": "native", "\udc00": 1, "effects": {"read": "read_only"}, "raw": {"name": "read", "arguments": "{\"path\": \"a\ud83d\"}"}"#,
            json!({"outcome": "rejected", "candidates": [{"arguments": "{\"path\": \"a\u{FFFD}\"}", "risk": "guess"}]}),
        ),
        (
            "half a surrogate pair in text is content",
            r#""id": 1, "mode": "text", "raw": "a\udc00b \ud83d\ude00""#,
            json!({"outcome": "none", "content": "a\u{FFFD}b \u{1F600}"}),
        ),
    ] {
        let run = run(&["repair"], request(rest));
        // An id that is no text on its own is compared as it came.
        let line = run.lines[0].replace(r"\ud800", "");
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(holds(&want, &answer), "{what}: {line}");
        assert_eq!(
            (run.status, &*run.errors, run.lines.len()),
            (0, "", 1),
            "{what}"
        );
        let same: Vec<&str> = rest.split(", ").take(1).collect();
        let id = same[0].trim_start_matches(r#""id": "#);
        assert!(
            run.lines[0].starts_with(&format!("{{\"id\":{id},")),
            "{what}: {}",
            run.lines[0]
        );
    }
}

#[test]
fn number_text_survives_in_every_mode() {
    let long = r#"{"path": "a", "n": 12345678901234567890123, "x": 1e400, "y": 0.10}"#;
    let quoted = Value::from(long).to_string();
    for rest in [
        format!(r#""mode": "native", "raw": {{"name": "read", "arguments": {long}}}"#),
        format!(r#""mode": "native", "raw": {{"name": "read", "arguments": {quoted}}}"#),
        format!(
            r#""mode": "stream", "raw": [{{"index": 0, "id": "a", "function": {{"name": "read", "arguments": {long}}}}}]"#
        ),
        format!(
            r#""mode": "stream", "raw": [{{"index": 0, "id": "a", "function": {{"name": "read", "arguments": {quoted}}}}}]"#
        ),
    ] {
        let run = run(&["repair"], request(&rest));
        let line = &run.lines[0];
        assert!(line.contains(r#""outcome":"unchanged""#), "{line}");
        assert!(
            line.contains(&format!(r#""arguments":{long},"arguments_text":{quoted}"#)),
            "{line}"
        );
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn json_answers_as_it_promises() {
    for (what, line, want) in [
        (
            "strict",
            r#"{"id": 1, "input": " {\"a\": 1.0} "}"#,
            r#"{"id":1,"ok":true,"value":{"a": 1.0},"text":" {\"a\": 1.0} ","truncated":false,"fixes":[]}"#,
        ),
        (
            "long numbers",
            r#"{"id": 1, "input": "[12345678901234567890123, 1e400]"}"#,
            r#"{"ok":true,"text":"[12345678901234567890123, 1e400]"}"#,
        ),
        (
            "a key without a value",
            r#"{"id": 1, "input": "{\"a\": 1, \"b\": "}"#,
            r#"{"ok":true,"value":{"a":1},"truncated":true}"#,
        ),
        (
            "half a key",
            r#"{"id": 1, "input": "{\"a\": 1, \"b"}"#,
            r#"{"ok":true,"value":{"a":1},"truncated":true}"#,
        ),
        (
            "half an escape",
            r#"{"id": 1, "input": "{\"a\": \"x\\"}"#,
            r#"{"ok":true,"value":{"a":"x"},"truncated":true}"#,
        ),
        (
            "half a unicode escape",
            r#"{"id": 1, "input": "{\"a\": \"x\\u00"}"#,
            r#"{"ok":true,"value":{"a":"x"},"truncated":true}"#,
        ),
        (
            "half a pair",
            r#"{"id": 1, "input": "{\"a\": \"x\\ud83d"}"#,
            r#"{"ok":true,"value":{"a":"x"},"truncated":true}"#,
        ),
        (
            "a number",
            r#"{"id": 1, "input": "{\"a\": -1.5e+"}"#,
            r#"{"ok":true,"value":{"a":-1.5},"truncated":true}"#,
        ),
        (
            "a sign alone",
            r#"{"id": 1, "input": "{\"b\": 2, \"a\": -"}"#,
            r#"{"ok":true,"value":{"b":2},"truncated":true}"#,
        ),
        (
            "a literal",
            r#"{"id": 1, "input": "[true, fal"}"#,
            r#"{"ok":true,"value":[true,false],"truncated":true}"#,
        ),
        (
            "the literal null",
            r#"{"id": 1, "input": "{\"a\": nu"}"#,
            r#"{"ok":true,"value":{"a":null},"truncated":true}"#,
        ),
        (
            "several values",
            r#"{"id": 1, "input": "{\"a\": 1}\n{\"a\": 2}"}"#,
            r#"{"ok":true,"value":[{"a":1},{"a":2}]}"#,
        ),
        (
            "equal values",
            r#"{"id": 1, "input": "{\"a\": 1}\n{\"a\": 1}"}"#,
            r#"{"ok":true,"value":{"a":1}}"#,
        ),
        (
            "no number",
            r#"{"id": 1, "input": "{\"a\": NaN}"}"#,
            r#"{"ok":true,"value":{"a":null},"fixes":[{"before":"NaN","after":"null"}]}"#,
        ),
        (
            "no JSON",
            r#"{"id": 1, "input": "I am sorry"}"#,
            r#"{"ok":false,"value":null,"text":"","truncated":false}"#,
        ),
        (
            "a schema",
            r#"{"id": 1, "input": "{\"n\": \"5\"}", "schema": {"properties": {"n": {"type": "integer"}}}}"#,
            r#"{"ok":true,"value":{"n":5}}"#,
        ),
        (
            "half a pair in the line",
            r#"{"id": 1, "input": "[\"\ud800\"]"}"#,
            "{\"ok\":true,\"value\":[\"\u{FFFD}\"],\"fixes\":[{\"risk\":\"guess\"}]}",
        ),
    ] {
        let run = run(&["json"], line);
        let answer: Value = serde_json::from_str(&run.lines[0].replace("1e400", "1")).unwrap();
        let want: Value = serde_json::from_str(&want.replace("1e400", "1")).unwrap();
        assert!(holds(&want, &answer), "{what}: {}", run.lines[0]);
        assert_eq!((run.status, &*run.errors), (0, ""), "{what}");
    }
}
