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
