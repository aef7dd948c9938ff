//! Lines that cannot be read.

use serde_json::Value;

use super::{request, run};

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn bad_lines_get_their_id_and_an_error_and_the_run_goes_on() {
    let good =
        request(r#""id": "good", "mode": "native", "raw": {"name": "now", "arguments": "{}"}"#);
    let too_long = format!(r#"{{"id": 9, "raw": "{}"}}"#, "x".repeat(5000));
    let cases: &[(&[u8], &str, &str)] = &[
        (b"nothing", "null", "not a request"),
        (br#"["id", 1]"#, "null", "expected a JSON object"),
        (
            br#"{"id": 1e400, "mode": "native", "raw": [}"#,
            "1e400",
            "not a request",
        ),
        (
            br#"{"id": [1, {"a": 2}], "mode": "native", "tools": []}"#,
            r#"[1, {"a": 2}]"#,
            "`raw` is missing",
        ),
        (
            br#"{"raw": {}, "id": 12345678901234567890123, "tools": []}"#,
            "12345678901234567890123",
            "`mode` is missing: how the calls come, one of \"native\", \"mcp\", \"text\", \"stream\"",
        ),
        (
            br#"{"id": "\ud800", "raw": {}, "mode": "nativ", "tools": []}"#,
            r#""\ud800""#,
            "`mode` must be one of \"native\", \"mcp\", \"text\", \"stream\", not \"nativ\"",
        ),
        (
            br#"{"id": 2, "raw": {}, "mode": 5, "tools": []}"#,
            "2",
            "not 5",
        ),
        (
            br#"{"id": 3, "mode": "native", "raw": {"name": "now", "arguments": "{}"}}"#,
            "3",
            "--tools",
        ),
        (
            br#"{"id": 4, "mode": "native", "tools": {"a": 1}, "raw": {}}"#,
            "4",
            "JSON array of OpenAI or MCP tool objects",
        ),
        (
            br#"{"id": 4, "mode": "native", "tools": [{"name": "a"}, {"nam": "b"}], "raw": {}}"#,
            "4",
            "tool 1",
        ),
        (
            br#"{"id": 5, "mode": "native", "tools": [], "raw": "now"}"#,
            "5",
            "a call is an object with `name` and `arguments`",
        ),
        (
            br#"{"id": 5, "mode": "native", "tools": [], "raw": [["a", "b", "c", "d"]]}"#,
            "5",
            "call 0",
        ),
        (
            br#"{"id": 5, "mode": "native", "tools": [], "raw": {"name": 5}}"#,
            "5",
            "`name`",
        ),
        (
            br#"{"id": 6, "mode": "text", "tools": [], "raw": {"text": 5}}"#,
            "6",
            "a text is a string, or a list of pieces",
        ),
        (
            br#"{"id": 6, "mode": "stream", "tools": [], "raw": ["a"]}"#,
            "6",
            "delta 0",
        ),
        (
            br#"{"id": 7, "mode": "native", "tools": [], "raw": {}, "permitted": "a"}"#,
            "7",
            "`permitted`",
        ),
        (
            br#"{"id": 7, "mode": "native", "tools": [], "raw": {}, "text_calls": "maybe"}"#,
            "7",
            "\"leaked\", \"expected\"",
        ),
        (
            br#"{"id": 7, "mode": "native", "tools": [], "raw": {}, "effects": {"a": "harmless"}}"#,
            "7",
            "\"read_only\"",
        ),
        (
            b"{\"id\": 8, \"raw\": \"\xff\"}",
            "8",
            "not UTF-8 (byte 18)",
        ),
        (too_long.as_bytes(), "9", "longer than 4096 bytes"),
    ];
    let mut input = Vec::new();
    for (line, _, _) in cases {
        input.extend([line, b"\n".as_slice(), good.as_bytes(), b"\r\n"].concat());
    }
    let run = run(&["repair", "--max-line-bytes", "4096"], input);
    assert_eq!(
        (run.lines.len(), run.status),
        (2 * cases.len(), 1),
        "{}",
        run.errors
    );
    for (pair, (_, id, error)) in run.lines.chunks(2).zip(cases) {
        assert!(
            pair[0].starts_with(&format!("{{\"id\":{id},\"error\":\"")),
            "{}",
            pair[0]
        );
        let answer: Value =
            serde_json::from_str(&pair[0].replace(r"\ud800", "").replace("1e400", "1")).unwrap();
        assert!(
            answer["error"].as_str().unwrap().contains(error),
            "{}",
            pair[0]
        );
        assert!(
            pair[1].starts_with(r#"{"id":"good","outcome":"unchanged""#),
            "{}",
            pair[1]
        );
    }
    assert!(
        run.errors
            .contains(&format!("{} of {} lines", cases.len(), 2 * cases.len()))
    );
}

#[test]
fn bad_lines_of_the_json_command_do_too() {
    for (line, error) in [
        (r#"{"id": 1}"#, "`input` is missing"),
        (r#"{"id": 1, "input": 5}"#, "`input`"),
        (
            r#"{"id": 1, "input": "1", "schema": {"type": "strng"}}"#,
            "schema",
        ),
    ] {
        let run = run(&["json"], line);
        assert_eq!(run.status, 1);
        assert!(
            run.lines[0].starts_with(r#"{"id":1,"error":"#) && run.lines[0].contains(error),
            "{}",
            run.lines[0]
        );
    }
}
