use super::{Defaults, answer_json, answer_repair};

#[test]
fn a_bad_line_gets_its_id_back_whatever_it_is() {
    for id in [
        "1e400",
        "12345678901234567890123",
        "\"x\"",
        "\"\\ud800\"",
        "[1]",
    ] {
        for line in [
            format!("{{\"id\": {id}, \"mode\": \"no such mode\"}}"),
            format!("{{\"other\": 1, \"id\": {id}, \"raw\": ["),
        ] {
            for answer in [
                answer_repair(&line, &Defaults::default()),
                answer_json(&line),
            ] {
                let start = format!("{{\"id\":{id},\"error\":");
                assert!(
                    answer.is_error && answer.line.starts_with(&start),
                    "{}",
                    answer.line
                );
            }
        }
    }
}

#[test]
fn an_answer_is_one_line() {
    let line = "{\"id\": [1,\r 2], \"mode\": \"native\", \"tools\": [{\"name\": \"t\"}],
        \"raw\": {\"name\": \"t\", \"arguments\": \"{\\n\\\"a\\\": 1\\r\\n}\"}}";
    let answer = answer_repair(line, &Defaults::default()).line;
    assert!(!answer.contains(['\n', '\r']), "{answer}");
    assert!(
        answer.contains(r#""arguments_text":"{\n\"a\": 1\r\n}""#),
        "{answer}"
    );
}

#[test]
fn depth_and_many_keys_are_no_danger() {
    let deep = "[".repeat(300_000) + &"]".repeat(300_000);
    let keys: Vec<String> = (0..100_000).map(|at| format!("\"k{at}\": 0, ")).collect();
    let keys = keys.concat();
    let line = format!(
        "{{{keys}\"x\": {deep}, \"id\": 1, \"mode\": \"native\", \"tools\": [{{\"name\": \"t\"}}], \
         \"raw\": {{\"name\": \"t\", \"arguments\": {{\"a\": {deep}}}}}}}"
    );
    let answer = answer_repair(&line, &Defaults::default());
    let start = r#"{"id":1,"outcome":"rejected","calls":[]"#;
    assert!(answer.line.starts_with(start), "{}", &answer.line[..200]);
}

#[test]
fn an_answer_is_not_a_hundred_times_as_long_as_its_line() {
    let commas = ",".repeat(20_000);
    for answer in [
        answer_json(&format!("{{\"id\": 1, \"input\": \"[1{commas}2]\"}}")),
        answer_repair(
            &format!(
                "{{\"id\": 1, \"mode\": \"native\", \"tools\": [{{\"name\": \"t\"}}], \
                 \"raw\": {{\"name\": \"t\", \"arguments\": \"{{'a': [1{commas}2]}}\"}}}}"
            ),
            &Defaults::default(),
        ),
    ] {
        let line: serde_json::Value = serde_json::from_str(&answer.line).unwrap();
        let listed = line["fixes"].as_array().unwrap().len();
        let more = usize::try_from(line["more_fixes"].as_u64().unwrap()).unwrap();
        assert_eq!(listed, 1000);
        assert!(listed + more > 19_000, "{more}");
    }
}

/// A text as a JSON string, each of its UTF-16 units as an escape.
fn escaped(units: &[u16]) -> String {
    let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{}\"", escapes.concat())
}

fn answered(mode: &str, raw: &str) -> serde_json::Value {
    let line =
        format!(r#"{{"id": 1, "mode": "{mode}", "tools": [{{"name": "t"}}], "raw": [{raw}]}}"#);
    serde_json::from_str(&answer_repair(&line, &Defaults::default()).line).unwrap()
}

#[test]
fn a_surrogate_pair_may_be_cut_between_pieces() {
    let delta = |index: usize, fragment: &str| {
        format!(r#"{{"index": {index}, "function": {{"name": "t", "arguments": {fragment}}}}}"#)
    };
    let arguments: Vec<u16> = r#"{"a": "😀x🦀🦀"}"#.encode_utf16().collect();
    let call: Vec<u16> = r#"é🦀<tool_call>{"name": "t", "arguments": {"a": "😀🦀"}}</tool_call>"#
        .encode_utf16()
        .collect();
    let text = answered("text", &escaped(&call));
    assert_eq!(text["calls"][0]["arguments"]["a"], "😀🦀");
    let other = delta(1, "\"{}\"");
    let stream = answered(
        "stream",
        &format!("{}, {other}", delta(0, &escaped(&arguments))),
    );
    assert_eq!(stream["calls"][0]["arguments"]["a"], "😀x🦀🦀");
    for size in 1..4 {
        let pieces: Vec<String> = call.chunks(size).map(escaped).collect();
        assert_eq!(answered("text", &pieces.join(", ")), text, "by {size}");
        // The deltas of another call stand between.
        let deltas: Vec<String> = arguments
            .chunks(size)
            .map(|units| delta(0, &escaped(units)))
            .collect();
        let between = format!(", {}, ", delta(1, "\"\""));
        let cut = format!("{}, {other}", deltas.join(&between));
        assert_eq!(
            answered("stream", &cut)["calls"][0]["arguments"]["a"],
            "😀x🦀🦀",
            "by {size}"
        );
    }
}

#[test]
fn half_a_surrogate_pair_that_stays_alone_is_told() {
    let first =
        r#"{"index": 0, "id": "a", "function": {"name": "t", "arguments": "{\"a\": \"\ud83d"}}"#;
    for rest in [
        r#"{"index": 0, "function": {"arguments": "x\"}"}}"#,
        r#"{"index": 0, "function": {"arguments": "\ud83d\"}"}}"#,
        r#"{"index": 0, "id": "b", "function": {"name": "t", "arguments": "{\"a\": \"\ude00\"}"}}"#,
    ] {
        let answer = answered("stream", &format!("{first}, {rest}"));
        let told = answer.to_string();
        assert!(told.contains("lone_surrogate"), "{told}");
    }
    let answer = answered("text", r#""a\ud83d", "\ud83d\ude00\ud83d""#);
    assert_eq!(answer["content"], "a\u{FFFD}😀\u{FFFD}");
}
