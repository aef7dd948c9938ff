use super::{Defaults, answer_json, answer_repair};

fn repair(line: &str) -> serde_json::Value {
    serde_json::from_str(&answer_repair(line, &Defaults::default()).line).unwrap()
}

#[test]
fn a_cut_reply_was_cut_in_its_last_call() {
    let line = r#"{"id": 1, "mode": "native", "finish_reason": "length", "tools": [{"name": "t"}],
        "raw": [{"name": "t", "arguments": "{\"a\": 1,}"}, {"name": "t", "arguments": "{\"a\": 1,}"}]}"#;
    assert_eq!(
        repair(line)["each"],
        serde_json::json!(["repaired", "rejected"])
    );
}

#[test]
fn a_bad_line_gets_its_id_back_whatever_it_is() {
    for id in ["1e400", "12345678901234567890123", "\"x\"", "null", "[1]"] {
        let line = format!("{{\"id\": {id}, \"mode\": \"no such mode\"}}");
        let answer = answer_repair(&line, &Defaults::default());
        assert!(
            answer.is_error && answer.line.starts_with(&format!("{{\"id\":{id},")),
            "{}",
            answer.line
        );
        let answer = answer_json(&format!("{{\"id\": {id}}}"));
        assert!(
            answer.is_error && answer.line.contains(id),
            "{}",
            answer.line
        );
    }
    assert!(answer_repair("nothing", &Defaults::default()).is_error);
}
