//! What the command says about itself.

use serde_json::{Value, json};

use super::{file, holds, run};

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
    let (header, rows) = run.lines.split_first().unwrap();
    assert!(
        header.starts_with("rule ") && header.contains("cost"),
        "{header}"
    );
    let rules: Vec<_> = call_text::rules().chain(toolmend::rules()).collect();
    assert_eq!(rows.len(), rules.len());
    for (line, rule) in rows.iter().zip(rules) {
        assert!(
            line.starts_with(rule.id) && line.ends_with(rule.summary),
            "{line}"
        );
    }
}

#[test]
fn a_policy_may_name_every_rule_that_is_listed() {
    let rules = run(&["rules"], "");
    let names = rules.lines.iter().skip(1);
    let names = names.filter_map(|line| line.split_whitespace().next());
    let settings: Vec<String> = names.map(|name| format!("{name} = \"off\"")).collect();
    let settings = settings.join("\n");
    let policy = file("every-rule.toml", &format!("[rules]\n{settings}"));
    let run = run(&["repair", "--policy", &policy], "");
    assert_eq!((run.status, &*run.errors), (0, ""));
}
