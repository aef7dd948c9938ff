//! A process that writes the audit log is killed, again and again: no line that was flushed is
//! lost or damaged, and the next process appends.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use harness::Event;
use self_debug::audit::{AuditLog, AuditOptions, Record};
use serde_json::json;

/// Names the log to the child.
const LOG: &str = "AUDIT_KILL_LOG";
/// The number of the child's first event.
const FIRST: &str = "AUDIT_KILL_FIRST";
const KILLS: u64 = 100;
/// So many numbers belong to one child.
const NUMBERS: u64 = 1_000_000;

#[test]
fn kill_while_it_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let mut flushed = BTreeSet::new();
    for kill in 0..KILLS {
        let first = kill * NUMBERS;
        let mut child = start(&path, first);
        // The child goes on writing while this reads; where it is hit differs from time to time.
        let count = read_acknowledged(&mut child, 1 + kill % 7);
        child.kill().expect("the child is there");
        child.wait().expect("the child is gone");
        flushed.extend(first..first + count);
    }
    let mut found = BTreeSet::new();
    let mut torn = 0;
    for file in files(&path) {
        for line in BufReader::new(std::fs::File::open(file).expect("a file")).lines() {
            match serde_json::from_str::<Record>(&line.expect("text")) {
                Ok(record) => {
                    let number = record.run.expect("a line about a run").number;
                    assert!(found.insert(number), "event {number} stands there twice");
                }
                Err(_) => torn += 1,
            }
        }
    }
    let missing: Vec<_> = flushed.difference(&found).collect();
    assert!(missing.is_empty(), "flushed and lost: {missing:?}");
    assert!(torn <= KILLS, "{torn} torn lines of {KILLS} kills");
    assert!(flushed.len() as u64 > KILLS);

    let log = AuditLog::open(&path, AuditOptions::default()).expect("the log opens");
    log.record(event(KILLS * NUMBERS));
    log.flush().expect("written");
    let text = std::fs::read_to_string(&path).expect("text");
    let last = text.lines().last().expect("a line");
    let record: Record = serde_json::from_str(last).expect("a record");
    assert_eq!(record.run.expect("a run").number, KILLS * NUMBERS);
}

/// The child: writes until it is killed.
#[test]
#[ignore = "the test above starts it"]
fn write_until_killed() {
    let path = std::env::var_os(LOG).expect("the test above sets it");
    let first: u64 = std::env::var(FIRST)
        .expect("the test above sets it")
        .parse()
        .expect("a number");
    let options = AuditOptions::default().rotation(256 << 10, 1_000);
    let log = AuditLog::open(path, options).expect("a log");
    for count in 1_u64.. {
        log.record(event(first + count - 1));
        if count.is_multiple_of(5) {
            log.flush().expect("written");
            // Not `println`, which the test runner would catch.
            writeln!(std::io::stdout(), "\nflushed {count}").expect("the parent reads");
        }
    }
}

fn event(number: u64) -> Event {
    let event = json!({
        "number": number, "conversation": "c", "run": number, "call": null, "tool": "t", "emitted_name": "t", "attempt": 0,
        "at": {"secs": 0, "nanos": 0}, "elapsed": {"secs": 0, "nanos": 0},
        "left": {"attempts": null, "rounds": null, "time": null, "tokens": null, "cost_micros": null},
        "class": null, "message": null,
        "kind": {"succeeded": {"arguments": format!("{{\"text\":\"{}\"}}", "x".repeat(700)), "digest": 1}}
    });
    serde_json::from_value(event).expect("an event")
}

fn start(path: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--ignored",
            "--exact",
            "audit_kill::write_until_killed",
            "--nocapture",
        ])
        .env(LOG, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts")
}

/// Reads so many messages of the child; how many of its events were flushed.
fn read_acknowledged(child: &mut Child, messages: u64) -> u64 {
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("flushed ")?.parse().ok())
        .nth(usize::try_from(messages).unwrap_or(0))
        .expect("the child writes until it is killed")
}

/// The log and the full files that were moved away.
fn files(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().expect("a folder");
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}
