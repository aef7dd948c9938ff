//! The audit log of a tool box.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::path::Path;
use std::sync::Arc;

use self_debug::audit::{Body, Record, Runs};
use self_debug::{
    AuditLog, AuditOptions, Candidate, DebuggerError, Failure, RawCall, SelfDebugOptions, ToolBox,
    ToolError, debugger_fn,
};
use serde_json::json;

use crate::support::Recorder;

fn tools(log: &AuditLog) -> ToolBox {
    let (tool, _) = Recorder::new(|_, arguments| match arguments["path"].as_str() {
        Some("b.txt") => Ok(json!("content")),
        _ => Err(ToolError::value(
            "no: Authorization: Bearer abcdefghijklmn0p; use b.txt",
        )),
    });
    let debugger = debugger_fn(|_: Arc<Failure>| async {
        let why = "sk-0123456789abcdef is in the way";
        Ok::<_, DebuggerError>(Candidate::new(r#"{"path": "b.txt"}"#, 0.9).because(why))
    });
    ToolBox::builder()
        .tool(tool)
        .debugger(debugger)
        .options(SelfDebugOptions::default().audit(log))
        .build()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a log")
}

#[tokio::test(start_paused = true)]
async fn a_run_is_a_row_of_the_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, AuditOptions::default()).expect("a log");
    let raw = RawCall::new("Read", r#"{"path": "a.txt"}"#).with_id("call_1");
    assert!(tools(&log).call(raw).await.is_ok());
    log.flush().expect("written");

    let text = read(&path);
    assert!(
        !text.contains("abcdefghijklmn0p") && !text.contains("0123456789abcdef"),
        "{text}"
    );
    let mut runs = Runs::default();
    let rows: Vec<_> = text
        .lines()
        .filter_map(|line| runs.line(line.as_bytes()))
        .collect();
    assert_eq!(
        (rows.len(), runs.counts().bad, runs.counts().unknown),
        (1, 0, 0),
        "{text}"
    );
    let row = &rows[0];
    let failure = row.failure.as_ref().expect("a failure");
    assert_eq!(failure.arguments, r#"{"path": "a.txt"}"#);
    assert_eq!(failure.class.as_deref(), Some("value"));
    assert_eq!(row.candidates.len(), 1);
    assert_eq!(
        row.candidates[0].candidate.rationale,
        "[redacted] is in the way"
    );
    assert_eq!(
        row.chosen.as_ref().map(|chosen| chosen.arguments.as_str()),
        Some(r#"{"path": "b.txt"}"#)
    );
    assert!(row.succeeded());
}

#[tokio::test(start_paused = true)]
async fn no_event_is_lost_uncounted() {
    const CALLS: u64 = 500;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, AuditOptions::default().queue(4, 4)).expect("a log");
    let tools = tools(&log);
    for number in 0..CALLS {
        let raw = RawCall::from_value("read", &json!({"path": number.to_string()}));
        assert!(tools.call(raw).await.is_ok());
    }
    log.flush().expect("written");
    let counts = log.counts();
    drop((tools, log));
    let records = read(&path);
    let records: Vec<Record> = records
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    let written = records.iter().filter(|record| record.run.is_some()).count() as u64;
    let told: u64 = records
        .iter()
        .map(|record| match &record.body {
            Body::Dropped { events, .. } => *events,
            _ => 0,
        })
        .sum();
    assert_eq!((written, told), (counts.written, counts.dropped));
    // Each call fails, is proposed for, retried, and succeeds.
    assert_eq!(written + told, 4 * CALLS);
}
