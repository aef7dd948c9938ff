//! The built command, as its users run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

/// Tools of most lines.
const TOOLS: &str = r#"[
    {"name": "read", "parameters": {"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
    {"name": "delete", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
        "annotations": {"destructiveHint": true}}]"#;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
    command.args(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a run gave.
struct Run {
    lines: Vec<String>,
    errors: String,
    status: i32,
}

fn run(args: &[&str], input: impl Into<Vec<u8>>) -> Run {
    let mut child = command(args).spawn().unwrap();
    feed(&mut child, input);
    let output = child.wait_with_output().unwrap();
    Run {
        lines: String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect(),
        errors: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

/// Writes the whole input from a thread; a command that stops reading is not its business.
fn feed(child: &mut Child, input: impl Into<Vec<u8>>) {
    let mut stdin = child.stdin.take().unwrap();
    let input = input.into();
    thread::spawn(move || stdin.write_all(&input));
}

/// A file for the command to read.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn tools_file() -> String {
    file("tools.json", TOOLS)
}

/// A request with the usual tools in one line.
fn request(rest: &str) -> String {
    format!("{{\"tools\": {}, {rest}}}", TOOLS.replace('\n', " "))
}

/// Whether everything that `part` says is so in `whole`. Lists must be as long, texts equal.
fn holds(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| holds(value, whole.get(key).unwrap_or(&Value::Null))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(a, b)| holds(a, b))
        }
        _ => part == whole,
    }
}

#[test]
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

#[test]
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

    for (line, error) in [
        (r#"{"id": 1}"#, "`input` is missing"),
        (r#"{"id": 1, "input": 5}"#, "`input`"),
        (
            r#"{"id": 1, "input": "1", "schema": {"type": "strng"}}"#,
            "schema",
        ),
    ] {
        let run = self::run(&["json"], line);
        assert_eq!(run.status, 1);
        assert!(
            run.lines[0].starts_with(r#"{"id":1,"error":"#) && run.lines[0].contains(error),
            "{}",
            run.lines[0]
        );
    }
}

#[test]
fn order_is_kept_whatever_the_lines_cost() {
    let mut input = String::new();
    for id in 0..600 {
        let items = if id % 60 == 0 {
            "{'a': [1, 2,]}, ".repeat(3000)
        } else {
            String::new()
        };
        let arguments = Value::from(format!("{{'path': 'a', 'x': [{items}]}}"));
        let rest = format!(
            r#""id": {id}, "mode": "native", "raw": {{"name": "read", "arguments": {arguments}}}"#
        );
        writeln!(input, "{}", request(&rest)).unwrap();
    }
    let many = run(&["repair", "--threads", "8"], input.as_bytes());
    let ids: Vec<u64> = many
        .lines
        .iter()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(ids, (0..600).collect::<Vec<_>>());
    assert_eq!(many.lines, run(&["repair", "--threads", "1"], input).lines);
    assert_eq!((many.status, &*many.errors), (0, ""));
}

#[test]
fn a_dialogue_gets_each_answer_before_its_next_line() {
    let tools = tools_file();
    let mut child = command(&["repair", "--tools", &tools]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for id in 0..5 {
        let question =
            format!("{{\"id\": {id}, \"mode\": \"native\", \"raw\": {{\"name\": \"now\"}}}}\n");
        stdin.write_all(question.as_bytes()).unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("{{\"id\":{id},")), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_follow_each_other() {
    let line = |id: &str| format!(r#"{{"id": "{id}", "input": "1"}}"#);
    let first = file(
        "first.jsonl",
        &format!("\u{FEFF}{}\n\n{}", line("a"), line("b")),
    );
    let last = file("last.jsonl", &line("d"));
    let run = run(&["json", &first, "-", &last], line("c"));
    let ids: Vec<&str> = run.lines.iter().map(|line| &line[7..8]).collect();
    assert_eq!((ids, run.status), (vec!["a", "b", "c", "d"], 0));
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let mut child = command(&["json"]).spawn().unwrap();
    // More than the pipes hold.
    feed(
        &mut child,
        "{\"id\": 1, \"input\": \"1\"}\n".repeat(100_000),
    );
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    let mut errors = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*errors), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_whole_lines() {
    for signal in ["INT", "TERM"] {
        let mut child = command(&["json"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = thread::spawn(move || {
            let line = format!("{{\"id\": 1, \"input\": \"['{}',]\"}}\n", "x".repeat(1000));
            // More than the pipes hold; the end of the input never comes.
            for _ in 0..2000 {
                if stdin.write_all(line.as_bytes()).is_err() {
                    break;
                }
            }
            stdin
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert!(
            rest.is_empty() || rest.ends_with('\n'),
            "the last line is not whole"
        );
        for line in first.lines().chain(rest.lines()) {
            assert!(
                line.starts_with("{\"id\":1,") && line.ends_with('}'),
                "{line}"
            );
        }
        let code = if signal == "INT" { 130 } else { 143 };
        assert_eq!(child.wait().unwrap().code(), Some(code));
        drop(writer.join());
    }
}

#[test]
fn what_stops_the_command_is_told_with_what_to_do() {
    let tools = tools_file();
    let policy = |name: &str, text: &str| file(&format!("{name}.toml"), text);
    let cases: &[(&[&str], &[&str])] = &[
        (&["repair", "--no-such-flag"], &["--no-such-flag", "--help"]),
        (&["repare"], &["repare", "repair"]),
        (&[], &["Usage"]),
        (&["repair", "--threads", "0"], &["--threads"]),
        (&["repair", "no-such-file"], &["no-such-file"]),
        (&["repair", "--tools", "no-such-file"], &["no-such-file"]),
        (
            &["repair", "--tools", &file("none.json", "{}")],
            &["none.json", "JSON array of OpenAI or MCP tool objects"],
        ),
        (
            &["repair", "--tools", &file("text.json", "tools")],
            &["text.json", "not JSON"],
        ),
        (
            &["repair", "--tools", &file("tool.json", r#"[{"name": ""}]"#)],
            &["tool.json", "tool 0", "`name`"],
        ),
        (&["repair", "--policy", "no-such-file"], &["no-such-file"]),
        (
            &["repair", "--policy", &policy("syntax", "accept = ")],
            &["syntax.toml", "line 1"],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("key", "effect = \"read_only\""),
            ],
            &["`effect`", "default_effect", "accept_for"],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("effect", "default_effect = \"harmless\""),
            ],
            &[
                "harmless",
                "read_only",
                "idempotent",
                "mutating",
                "destructive",
                "unknown",
            ],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("number", "[effects]\nread = 5"),
            ],
            &["read_only", "destructive"],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("risk", "accept = \"lossles\""),
            ],
            &["lossles", "lossless", "inferred", "guess"],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("setting", "[rules]\ntrailing_comma = \"on\""),
            ],
            &["off", "lossless", "inferred", "guess"],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("rule", "[rules]\nkey_alia = \"off\""),
            ],
            &["key_alia", "key_alias", "toolmend rules"],
        ),
        (
            &[
                "repair",
                "--policy",
                &policy("limit", "[limits]\nbytes = -1"),
            ],
            &["bytes"],
        ),
        (
            &[
                "repair",
                "--tools",
                &tools,
                "--policy",
                &policy("tool", "[effects]\nreed = \"read_only\""),
            ],
            &["reed", "read", "now", "delete"],
        ),
    ];
    for (args, named) in cases {
        let run = run(args, "");
        assert_eq!(
            (run.status, run.lines.len()),
            (2, 0),
            "{args:?}: {}",
            run.errors
        );
        for name in *named {
            assert!(
                run.errors.contains(name),
                "{args:?}: {} lacks {name}",
                run.errors
            );
        }
    }
}

#[test]
fn a_schema_that_does_not_compile_is_a_warning() {
    let tools = file(
        "broken.json",
        r#"[{"name": "a", "parameters": {"type": "strng"}}, {"name": "b"}]"#,
    );
    let line = r#"{"id": 1, "mode": "native", "raw": {"name": "a", "arguments": "{}"}}"#;
    let run = run(&["repair", "--tools", &tools], line);
    assert_eq!(run.status, 0);
    assert!(
        run.errors.contains("warning") && run.errors.contains("'a'"),
        "{}",
        run.errors
    );
    let answer: Value = serde_json::from_str(&run.lines[0]).unwrap();
    assert!(
        holds(
            &json!({"outcome": "unchanged", "calls": [{"unvalidated": true}]}),
            &answer
        ),
        "{answer}"
    );
    assert_eq!(answer["schema_problems"].as_array().unwrap().len(), 1);
}

#[test]
fn a_policy_is_followed() {
    let tools = tools_file();
    let line =
        r#"{"id": 1, "mode": "native", "raw": {"name": "read", "arguments": "{\"path\": 5}"}}"#;
    for (text, outcome) in [
        ("", "repaired"),
        ("default_effect = \"destructive\"", "rejected"),
        ("[effects]\nread = \"destructive\"", "rejected"),
        ("accept = \"lossless\"", "rejected"),
        (
            "accept = \"lossless\"\n[accept_for]\nread = \"inferred\"",
            "repaired",
        ),
    ] {
        let policy = file("followed.toml", text);
        let run = run(&["repair", "--tools", &tools, "--policy", &policy], line);
        assert!(
            run.lines[0].contains(&format!("\"outcome\":\"{outcome}\"")),
            "{text}: {}",
            run.lines[0]
        );
    }
}

#[test]
fn the_examples_of_the_help_work() {
    for name in ["repair", "json"] {
        let help = run(&[name, "--help"], "");
        assert_eq!(help.status, 0);
        let find = |start: &str| {
            help.lines
                .iter()
                .find(|line| line.trim_start().starts_with(start))
                .unwrap()
                .trim()
        };
        let end = format!("' | toolmend {name}");
        let question = find("echo '")
            .strip_prefix("echo '")
            .unwrap()
            .strip_suffix(&end)
            .unwrap();
        let answer = run(&[name], question);
        assert_eq!(answer.status, 0);
        let shown: Value =
            serde_json::from_str(&find("{\"id\":1,").replace(",\"fixes\":[...]", "")).unwrap();
        let answer: Value = serde_json::from_str(&answer.lines[0]).unwrap();
        assert!(
            holds(&shown, &answer) && answer["fixes"] != json!([]),
            "{answer}"
        );
    }
    let help = run(&["--help"], "");
    for word in [
        "repair",
        "json",
        "rules",
        "Exit status",
        "toolmend repair --help",
    ] {
        assert!(help.lines.join("\n").contains(word), "{word}");
    }
}

#[test]
fn the_policy_of_the_help_is_one() {
    let help = run(&["repair", "--help"], "").lines.join("\n");
    let start = help.find("default_effect = ").unwrap();
    let policy = file("help.toml", &help[start..]);
    let run = run(&["repair", "--policy", &policy], "");
    assert_eq!((run.status, &*run.errors), (0, ""));
}

#[test]
fn every_rule_is_listed() {
    let run = run(&["rules"], "");
    assert_eq!(run.status, 0);
    assert_eq!(run.lines.len(), toolmend::rules().count());
    for (line, rule) in run.lines.iter().zip(toolmend::rules()) {
        assert!(
            line.starts_with(rule.id) && line.ends_with(rule.summary),
            "{line}"
        );
    }
}

#[test]
fn no_progress_is_shown_to_a_pipe() {
    let run = run(&["json"], "{\"id\": 1, \"input\": \"1\"}\n".repeat(5000));
    assert_eq!((run.lines.len(), &*run.errors), (5000, ""));
}
