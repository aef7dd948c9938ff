//! Tools files, policy files, options.

use serde_json::{Value, json};

use super::{file, holds, run, tools_file};

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
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
