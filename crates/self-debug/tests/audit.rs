//! The audit log: complete lines, whatever happens; counted drops; no secrets.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use self_debug::{
    AuditLog, AuditOptions, Candidate, DebuggerError, Failure, RawCall, SelfDebugOptions, ToolBox,
    ToolError, debugger_fn,
};
use serde_json::{Value, json};

use crate::support::Recorder;

/// A new folder under the target directory.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn tools(log: &AuditLog) -> ToolBox {
    let (tool, _) = Recorder::new(|_, arguments| match arguments["path"].as_str() {
        Some("b.txt") => Ok(json!("content")),
        _ => Err(ToolError::value(
            "no: Authorization: Bearer abcdefghijklmnop; use b.txt",
        )),
    });
    let debugger = debugger_fn(|_: std::sync::Arc<Failure>| async {
        let text = r#"{"path": "b.txt"}"#;
        let why = "sk-0123456789abcdef is in the way";
        Ok::<_, DebuggerError>(Candidate::new(text, 0.9).because(why))
    });
    let options = SelfDebugOptions::default().audit(log);
    ToolBox::builder()
        .tool(tool)
        .debugger(debugger)
        .options(options)
        .build()
}

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_line_holds_the_failure_the_candidates_the_choice_and_the_result() {
    let path = folder("audit_lines").join("log.jsonl");
    let log = AuditLog::open(&path, AuditOptions::default()).unwrap();
    let raw = RawCall::new("read", r#"{"path": "a.txt"}"#).with_id("call_1");
    assert!(tools(&log).call(raw).await.is_ok());
    log.flush();
    let lines = lines(&path);
    let kinds: Vec<&String> = lines
        .iter()
        .map(|line| line["kind"].as_object().unwrap().keys().next().unwrap())
        .collect();
    assert_eq!(kinds, ["failed", "proposed", "retrying", "succeeded"]);
    // The shape of version 1. A change needs another version.
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(&lines[1]),
        [
            "v",
            "time",
            "number",
            "conversation",
            "run",
            "call",
            "tool",
            "emitted_name",
            "attempt",
            "at",
            "elapsed",
            "left",
            "class",
            "message",
            "kind"
        ]
    );
    assert_eq!(
        (&lines[1]["v"], &lines[1]["call"]),
        (&json!(1), &json!("call_1"))
    );
    assert_eq!(
        keys(&lines[1]["kind"]["proposed"]),
        ["round", "candidates", "gave_up", "usage"]
    );
    assert_eq!(
        lines[0]["kind"]["failed"]["arguments"],
        r#"{"path": "a.txt"}"#
    );
    assert_eq!(lines[2]["kind"]["retrying"]["candidate"], 0);
    assert!(lines[3]["kind"]["succeeded"]["digest"].is_number());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains("abcdefghijklmnop") && !text.contains("0123456789abcdef"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_start_goes_on_after_half_a_line() {
    let path = folder("audit_torn").join("log.jsonl");
    std::fs::write(&path, "{\"v\":1,\"time\":1}\n{\"v\":1,\"ti").unwrap();
    {
        let log = AuditLog::open(&path, AuditOptions::default()).unwrap();
        assert!(
            tools(&log)
                .call(RawCall::new("read", r#"{"path": "b.txt"}"#))
                .await
                .is_ok()
        );
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let whole: Vec<bool> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).is_ok())
        .collect();
    assert_eq!(whole, [true, false, true], "{text}");
}

#[tokio::test(start_paused = true)]
async fn files_are_rotated_and_the_oldest_go() {
    let folder = folder("audit_rotate");
    let path = folder.join("log.jsonl");
    let options = AuditOptions::default().rotate_at(2_000).keep(2);
    let log = AuditLog::open(&path, options).unwrap();
    let tools = tools(&log);
    for number in 0..20 {
        let raw = RawCall::from_value("read", &json!({"path": number.to_string()}));
        assert!(tools.call(raw).await.is_ok());
        log.flush();
    }
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["log.jsonl", "log.jsonl.1", "log.jsonl.2"]);
    let newest = lines(&path);
    assert_eq!(newest.last().unwrap()["number"], 79);
    assert!(
        names
            .iter()
            .all(|name| !lines(&folder.join(name)).is_empty())
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_dropped_is_counted() {
    let path = folder("audit_drops").join("log.jsonl");
    let log = AuditLog::open(&path, AuditOptions::default().capacity(4)).unwrap();
    let tools = tools(&log);
    for number in 0..500 {
        let raw = RawCall::from_value("read", &json!({"path": number.to_string()}));
        assert!(tools.call(raw).await.is_ok());
    }
    log.flush();
    let lines = lines(&path);
    let dropped: u64 = lines
        .iter()
        .filter_map(|line| line["dropped"].as_u64())
        .sum();
    let written = lines.iter().filter(|line| line["number"].is_u64()).count();
    assert_eq!(dropped + written as u64, 2_000);
}

/// Not a test of its own: writes until it is killed.
#[tokio::test(flavor = "current_thread")]
#[ignore = "the other side of the next test"]
async fn endless_writer() {
    let Some(path) = std::env::var_os("AUDIT_PATH") else {
        return;
    };
    let log = AuditLog::open(path, AuditOptions::default()).unwrap();
    let tools = tools(&log).new_conversation();
    for number in 0.. {
        let raw = RawCall::from_value("read", &json!({"path": i32::to_string(&number)}));
        let _ = tools.call(raw).await;
        log.flush();
    }
}

#[test]
fn a_kill_loses_no_line_that_was_written() {
    let path = folder("audit_kill").join("log.jsonl");
    let mut whole = 0;
    for round in 0..5 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "audit::endless_writer", "--ignored"])
            .env("AUDIT_PATH", &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let size = || std::fs::metadata(&path).map_or(0, |file| file.len());
        let before = size();
        while size() < before + 20_000 {
            assert!(
                writer.try_wait().unwrap().is_none(),
                "the writer ended by itself"
            );
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let readable = text
            .lines()
            .filter(|line| serde_json::from_str::<Value>(line).is_ok());
        let readable = readable.count();
        let torn = text.lines().count() - readable;
        assert!(
            readable > whole && torn <= round + 1,
            "{readable} {whole} {torn}"
        );
        whole = readable;
    }
}
