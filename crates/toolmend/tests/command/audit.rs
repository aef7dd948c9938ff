//! `toolmend audit`.

use serde_json::{Value, json};

use super::run;

/// Lines of a log: a run that a model made right, one that rules made right, one that was given up,
/// a clean one, one without an end, and lines that are no records.
fn log() -> String {
    let line = |run: u64, tool: &str, class: Option<&str>, event: Value| {
        let mut line = json!({
            "v": 1, "time": format!("2026-11-{:02}T10:00:00.000Z", run + 1), "conversation": "c", "run": run, "number": 0,
            "tool": tool, "attempt": 0, "elapsed_ms": 5, "left": {}
        });
        if let Some(class) = class {
            line["class"] = class.into();
            line["message"] = "no such user".into();
        }
        line.as_object_mut()
            .unwrap()
            .extend(event.as_object().unwrap().clone());
        line.to_string()
    };
    let failed =
        json!({"event": "failed", "arguments": "{\"user\":\"an\"}", "may_have_run": false});
    let succeeded =
        json!({"event": "succeeded", "arguments": "{\"user\":\"ann\"}", "digest": "00"});
    let fix = json!({"rule": "number-from-string", "path": "/n", "before": "\"5\u{1b}[31m\"", "after": "5", "risk": "lossless"});
    let candidate = json!({
        "arguments": "{\"user\":\"ann\",\"password\":\"hunter2\"}", "confidence": 0.9, "rationale": "hunter2 fits", "origin": "model"
    });
    [
        line(0, "login", Some("value"), failed.clone()),
        line(1, "search", None, json!({"event": "repaired", "emitted": "{\"n\":\"5\"}", "arguments": "{\"n\":5}", "fixes": [fix]})),
        line(0, "login", None, json!({
            "event": "proposed", "round": 0, "candidates": [candidate], "model": "small", "input_tokens": 300,
            "output_tokens": 40, "cost_micros": 1_250_000
        })),
        "{\"v\":1,\"time".to_owned(),
        line(0, "login", None, json!({"event": "retrying", "strategy": "debug", "candidate": 0, "arguments": "{}"})),
        line(0, "login", None, succeeded.clone()),
        line(1, "search", None, succeeded.clone()),
        line(2, "login", Some("value"), failed.clone()),
        line(2, "login", None, json!({
            "event": "gave_up", "reason": "no_candidate", "original_class": "value", "original_message": "no such user",
            "may_have_run": false
        })),
        line(3, "now", None, succeeded),
        line(4, "login", Some("value"), failed),
        json!({"v": 1, "time": "t", "event": "dropped", "events": 7, "terminal": 2}).to_string(),
    ]
    .map(|line| line + "\n")
    .concat()
}

#[test]
fn a_report_has_its_tables() {
    let report = run(&["audit", "report"], log());
    assert_eq!(report.status, 1, "a line is no record: {}", report.errors);
    assert!(report.errors.contains("1 of 12 lines"), "{}", report.errors);
    let text = report.lines.join("\n");
    for part in [
        "4 runs, 3 of them broken: 1 repaired by rules, 1 recovered, 1 given up (66.7 % made right)",
        "1 runs without an end",
        "7 events dropped by the log",
        "2 ends of runs among them",
        "2026-11-03",
        "number-from-string",
        "no_candidate",
        "1.2500",
        "login: value",
        "{\"user\":\"an\"}",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for secret in ["hunter2", "\u{1b}"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn a_report_leaves_out_rows_that_were_not_asked_for() {
    let report = run(&["audit", "report", "--rows", "1"], log())
        .lines
        .join("\n");
    assert!(report.contains("… and 2 more"), "{report}");
}

#[test]
fn an_export_is_a_dataset() {
    let export = run(&["audit", "export"], log());
    let rows: Vec<Value> = export
        .lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let runs: Vec<u64> = rows
        .iter()
        .map(|row| row["run"].as_u64().unwrap())
        .collect();
    assert_eq!(
        runs,
        [0, 1, 2],
        "the clean one and the one without an end are left out"
    );
    let recovered = &rows[0];
    assert_eq!(recovered["failure"]["arguments"], "{\"user\":\"an\"}");
    assert_eq!(recovered["failure"]["message"], "no such user");
    assert_eq!(
        recovered["candidates"][0]["arguments"],
        "{\"user\":\"ann\",\"password\":\"[redacted]\"}"
    );
    assert_eq!(recovered["candidates"][0]["rationale"], "[redacted] fits");
    assert_eq!(recovered["chosen"]["by"], "model");
    assert_eq!(recovered["result"]["outcome"], "succeeded");
    assert_eq!(rows[1]["chosen"]["by"], "repair");
    assert_eq!(
        rows[2]["result"],
        json!({"outcome": "gave_up", "reason": "no_candidate"})
    );
}

#[test]
fn an_empty_log_is_no_error() {
    assert_eq!(run(&["audit", "report"], "").status, 0);
    let export = run(&["audit", "export"], "");
    assert_eq!((export.status, export.lines.len()), (0, 0));
}
