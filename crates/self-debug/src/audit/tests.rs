use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use harness::Event;
use serde_json::{Value, json};

use super::file::Sink;
use super::{AuditLog, AuditOptions, Body, ChosenBy, Record, Report, Run, Runs};

/// An event of a kind, through the form in which the harness serialises it.
fn event(number: u64, kind: &Value) -> Event {
    event_with(number, kind, &json!({}))
}

fn event_with(number: u64, kind: &Value, more: &Value) -> Event {
    let mut event = json!({
        "number": number, "conversation": "c1", "run": 7, "call": "call_1", "tool": "login", "emitted_name": "login", "attempt": 0,
        "at": {"secs": 3, "nanos": 0}, "elapsed": {"secs": 0, "nanos": 12_000_000},
        "left": {"attempts": 2, "rounds": null, "time": {"secs": 60, "nanos": 0}, "tokens": 900, "cost_micros": null},
        "class": null, "message": null, "kind": kind
    });
    let Value::Object(more) = more else {
        panic!("more fields are an object")
    };
    event
        .as_object_mut()
        .expect("an object")
        .extend(more.clone());
    serde_json::from_value(event).expect("an event of the harness")
}

fn failed(number: u64) -> Event {
    event(
        number,
        &json!({"failed": {"arguments": "{}", "may_have_run": false}}),
    )
}

fn gave_up(number: u64) -> Event {
    event(
        number,
        &json!({"gave_up": {
            "reason": "no_candidate",
            "original": {"class": "value", "message": "no such user", "may_have_run": false}
        }}),
    )
}

/// One event of every kind that the harness has.
fn every_kind() -> Vec<Event> {
    let fix = json!({
        "rule": "number-from-string", "stage": "arguments", "path": "/limit", "offset": null,
        "before": "\"5\"", "after": "5", "risk": "lossless", "loss": null, "sentence": "s"
    });
    let candidate = json!({
        "change": {"complete": "{\"user\":\"ann\"}"}, "confidence": 0.9, "rationale": "the context names her",
        "origin": "model", "sample": 0, "risk": "guess", "fixes": [], "from_cut": false, "tied": false
    });
    let patch = json!({
        "change": {"patch": [{"replace": {"path": "/password", "value": "\"xy\""}}]}, "confidence": 0.5, "rationale": "",
        "origin": "rule", "sample": 0, "risk": "inferred", "fixes": [fix], "from_cut": false, "tied": false
    });
    vec![
        event_with(
            0,
            &json!({"failed": {"arguments": "{\"user\":\"an\"}", "may_have_run": true}}),
            &json!({"class": "value", "message": "no such user: an"}),
        ),
        event(
            1,
            &json!({"repaired": {"emitted": "{\"limit\":\"5\"}", "arguments": "{\"limit\":5}", "fixes": [fix]}}),
        ),
        event(
            2,
            &json!({"proposed": {
                "round": 0, "candidates": [candidate, patch], "gave_up": null,
                "usage": {"model": "small", "input_tokens": 300, "output_tokens": 40, "cost_micros": 12}
            }}),
        ),
        event(
            3,
            &json!({"candidate_rejected": {
                "candidate": 1, "arguments": "{\"user\":5}", "why": {"invalid": "/user: expected a string"}
            }}),
        ),
        event(
            4,
            &json!({"candidate_rejected": {"candidate": null, "arguments": "{}", "why": "already_failed"}}),
        ),
        event(
            5,
            &json!({"retrying": {
                "strategy": "debug", "candidate": 0, "arguments": "{\"user\":\"ann\"}", "until": null
            }}),
        ),
        event(
            6,
            &json!({"escalated": {"request": {
                "tool": "login", "effect": "mutating", "arguments": "{\"user\":\"ann\"}", "failed": "{}", "error": "e",
                "reasons": ["novel", "tie"], "missing": [], "origin": "model", "confidence": 0.9, "rationale": "r"
            }}}),
        ),
        event(
            7,
            &json!({"succeeded": {"arguments": "{\"user\":\"ann\"}", "digest": 255}}),
        ),
        event(
            8,
            &json!({"gave_up": {
                "reason": {"budget": {"resource": "tokens", "shared": true}},
                "original": {"class": "value", "message": "no such user", "may_have_run": true}
            }}),
        ),
        gave_up(9),
    ]
}

fn options() -> AuditOptions {
    AuditOptions::default().clock(|| UNIX_EPOCH + Duration::from_millis(1_709_251_200_123))
}

fn read(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("the log");
    text.lines().map(str::to_owned).collect()
}

/// The numbers of the events in a log, and how many of its lines cannot be read.
fn numbers(lines: &[String]) -> (Vec<u64>, usize) {
    let records: Vec<Option<Record>> = lines
        .iter()
        .map(|line| serde_json::from_str(line).ok())
        .collect();
    let bad = records.iter().filter(|record| record.is_none()).count();
    let numbers = records
        .into_iter()
        .flatten()
        .filter_map(|record| Some(record.run?.number));
    (numbers.collect(), bad)
}

#[test]
fn the_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, options()).expect("a log");
    for event in every_kind() {
        log.record(event);
    }
    log.flush().expect("written");
    let lines = read(&path);
    insta::assert_snapshot!(lines.join("\n"));
    for line in &lines {
        let record: Record = serde_json::from_str(line).expect("a record");
        assert_ne!(record.body, Body::Unknown, "{line}");
        assert_eq!(
            serde_json::to_string(&record).expect("JSON"),
            *line,
            "reading and writing is the identity"
        );
    }
}

#[test]
fn lines_of_a_later_version_can_be_read() {
    let line = r#"{"v":1,"time":"t","conversation":"c","run":1,"number":2,"tool":"x","attempt":0,"elapsed_ms":1,"event":"dreamt","of":"sheep"}"#;
    let record: Record = serde_json::from_str(line).expect("a record");
    assert_eq!(record.body, Body::Unknown);
    assert_eq!(record.run.map(|run| run.number), Some(2));
}

#[test]
fn planted_secrets_reach_no_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, options()).expect("a log");
    let password = "tr0ub4dor&3";
    let token = format!("gh{}_{}", "p", "0123456789abcdefABCDEF0123456789abcd");
    let candidate = json!({
        "change": {"complete": format!("{{\"password\": \"{password}\"}}")}, "confidence": 0.9,
        "rationale": format!("the user said {password}"), "origin": "model", "sample": 0, "risk": "guess",
        "fixes": [], "from_cut": false, "tied": false
    });
    let fix = json!({
        "rule": "r", "stage": "arguments", "path": "/password", "offset": null, "before": format!("[\"{password}\"]"),
        "after": password, "risk": "inferred", "loss": null, "sentence": "s"
    });
    // The broken arguments name the key; later events repeat the secret without it.
    log.record(event(0, &json!({"failed": {
        "arguments": format!("{{\"user\": \"ann\", \"password\": \"{password}\", \"url\": \"https://ann:{token}@x.org\""),
        "may_have_run": false
    }})));
    log.record(event_with(
        1,
        &json!({"repaired": {"emitted": format!("{{\"note\":\"{password}\"}}"), "arguments": "{}", "fixes": [fix]}}),
        &json!({"message": format!("{password} is not good enough; header was Bearer {token}")}),
    ));
    log.record(event(2, &json!({"proposed": {
        "round": 0, "candidates": [candidate], "gave_up": format!("I tried {password} and {token}"),
        "usage": {"model": null, "input_tokens": 1, "output_tokens": 1, "cost_micros": 0}
    }})));
    log.record(event(3, &json!({"gave_up": {
        "reason": {"debugger_failed": {"because": format!("GET https://x.org/?api_key={token}&q={password}: 403")}},
        "original": {"class": "value", "message": format!("login of ann with {password} failed"), "may_have_run": false}
    }})));
    log.flush().expect("written");
    let text = read(&path).join("\n");
    assert!(
        !text.contains(password) && !text.contains("tr0ub4dor") && !text.contains(&token),
        "{text}"
    );
    assert!(
        text.contains("login of ann with [redacted] failed"),
        "{text}"
    );
    assert_eq!(numbers(&read(&path)), (vec![0, 1, 2, 3], 0));
}

#[test]
fn a_long_text_is_cut_and_its_line_stays_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, options().longest_text(10)).expect("a log");
    log.record(event(
        0,
        &json!({"succeeded": {"arguments": "ä".repeat(50), "digest": 1}}),
    ));
    log.flush().expect("written");
    assert!(read(&path)[0].contains("\"äääää…[90 bytes left out]\""));
}

/// A sink that writes a line when it is told to.
struct Gate {
    permits: Receiver<io::Result<()>>,
    asked: Sender<()>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Sink for Gate {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        // The other end may be gone when the test is over.
        let _ = self.asked.send(());
        self.permits.recv().unwrap_or(Ok(()))?;
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        self.lines.lock().expect("lines").push(line);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Gated {
    permit: Sender<io::Result<()>>,
    asked: Receiver<()>,
    lines: Arc<Mutex<Vec<String>>>,
    log: AuditLog,
}

fn gated(options: AuditOptions) -> Gated {
    let (permit, permits) = channel();
    let (ask, asked) = channel();
    let lines = Arc::default();
    let sink = Gate {
        permits,
        asked: ask,
        lines: Arc::clone(&lines),
    };
    let log = AuditLog::start(sink, options).expect("a writer");
    Gated {
        permit,
        asked,
        lines,
        log,
    }
}

#[test]
fn a_full_queue_drops_and_counts_but_keeps_the_ends_of_runs() {
    let Gated {
        permit,
        asked,
        lines,
        log,
    } = gated(options().queue(2, 1));
    // The writer holds the first event and is stuck in it.
    log.record(failed(0));
    asked.recv().expect("the writer has begun");
    for number in 1..=5 {
        log.record(failed(number));
    }
    log.record(gave_up(6));
    log.record(gave_up(7));
    let counts = log.counts();
    assert_eq!(
        (counts.written, counts.dropped, counts.dropped_terminal),
        (0, 4, 1)
    );

    for _ in 0..5 {
        permit.send(Ok(())).expect("a writer");
    }
    log.flush().expect("written");
    drop(log);
    let lines = lines.lock().expect("lines").clone();
    assert_eq!(numbers(&lines), (vec![0, 1, 2, 6], 0));
    let last: Record = serde_json::from_str(&lines[4]).expect("a record");
    assert_eq!(
        last.body,
        Body::Dropped {
            events: 4,
            terminal: 1
        }
    );
}

#[test]
fn bytes_are_bounded_too() {
    let Gated {
        permit, asked, log, ..
    } = gated(options().queue_bytes(10_000));
    log.record(failed(0));
    asked.recv().expect("the writer has begun");
    let big = |number| {
        event(
            number,
            &json!({"failed": {"arguments": "x".repeat(6_000), "may_have_run": false}}),
        )
    };
    log.record(big(1));
    log.record(big(2));
    log.record(gave_up(3));
    assert_eq!(log.counts().dropped, 1);
    drop(permit);
}

#[test]
fn what_the_disk_refuses_is_counted_and_told_later() {
    let Gated {
        permit, lines, log, ..
    } = gated(options());
    permit
        .send(Err(io::ErrorKind::StorageFull.into()))
        .expect("a writer");
    log.record(gave_up(0));
    drop(permit);
    log.flush().expect("the writer goes on");
    log.record(failed(1));
    log.flush().expect("written");
    let counts = log.counts();
    assert_eq!(
        (counts.written, counts.dropped, counts.dropped_terminal),
        (1, 1, 1)
    );
    drop(log);
    let lines = lines.lock().expect("lines").clone();
    assert!(
        lines
            .iter()
            .any(|line| line.contains(r#""event":"dropped","events":1,"terminal":1"#)),
        "{lines:?}"
    );
}

#[test]
fn the_next_start_appends_behind_a_torn_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    std::fs::write(&path, "{\"v\":1,\"time").expect("a torn line");
    let log = AuditLog::open(&path, options()).expect("a log");
    log.record(failed(1));
    drop(log);
    assert_eq!(numbers(&read(&path)), (vec![1], 1));
}

#[test]
fn full_files_are_moved_away_and_only_some_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, options().rotation(1_000, 2)).expect("a log");
    for number in 0..40 {
        log.record(failed(number));
    }
    drop(log);
    let mut all = Vec::new();
    for name in ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"] {
        let path = folder.path().join(name);
        let size = std::fs::metadata(&path).expect("a file").len();
        assert!((1..=1_000).contains(&size), "{name}: {size}");
        all.extend(read(&path));
    }
    let (numbers, bad) = numbers(&all);
    let expected: Vec<u64> = (40 - numbers.len() as u64..40).collect();
    assert_eq!((numbers, bad), (expected, 0));
    assert!(!folder.path().join("audit.jsonl.3").exists());
}

#[test]
fn a_file_has_one_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path, options()).expect("a log");
    let error = AuditLog::open(&path, options()).expect_err("it is open");
    assert!(error.to_string().contains("audit.jsonl"));
    drop(log);
    AuditLog::open(&path, options()).expect("it is free again");
}

/// Checked by the compiler.
const _: () = {
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<AuditLog>();
    crosses_threads::<AuditOptions>();
    crosses_threads::<super::AuditError>();
};

fn run_of(number: u64, events: &[Value]) -> Vec<String> {
    let mut scribe = super::scribe::Scribe::new(None, 1_000);
    let lines = events.iter().enumerate().map(|(at, parts)| {
        let mut more = json!({"run": number});
        for key in ["tool", "attempt", "class", "message"] {
            if let Some(value) = parts.get(key) {
                more[key] = value.clone();
            }
        }
        let event = event_with(at as u64, &parts["kind"], &more);
        scribe.event(&event, UNIX_EPOCH + Duration::from_secs(86_400 * number))
    });
    lines.collect()
}

/// Four runs: one clean, one repaired by rules, one recovered by a model, one given up.
fn four_runs() -> Vec<Vec<String>> {
    let fix = json!({
        "rule": "number-from-string", "stage": "arguments", "path": "/limit", "offset": null,
        "before": "\"5\"", "after": "5", "risk": "lossless", "loss": null, "sentence": "s"
    });
    let candidate = |arguments: &str| {
        json!({
            "change": {"complete": arguments}, "confidence": 0.9, "rationale": "r", "origin": "model", "sample": 0,
            "risk": "guess", "fixes": [], "from_cut": false, "tied": false
        })
    };
    let proposed = |candidates: Value| {
        json!({"kind": {"proposed": {
            "round": 0, "candidates": candidates, "gave_up": null,
            "usage": {"model": "small", "input_tokens": 300, "output_tokens": 40, "cost_micros": 1_200_000}
        }}})
    };
    let failed = json!({
        "class": "value", "message": "no such user: an",
        "kind": {"failed": {"arguments": "{\"user\":\"an\"}", "may_have_run": false}}
    });
    let succeeded =
        |arguments: &str| json!({"kind": {"succeeded": {"arguments": arguments, "digest": 1}}});
    vec![
        run_of(0, &[succeeded("{}")]),
        run_of(
            1,
            &[
                json!({"tool": "search", "kind": {"repaired": {"emitted": "{\"limit\":\"5\"}", "arguments": "{\"limit\":5}", "fixes": [fix, fix]}}}),
                json!({"tool": "search", "kind": {"succeeded": {"arguments": "{\"limit\":5}", "digest": 1}}}),
            ],
        ),
        run_of(
            2,
            &[
                failed.clone(),
                proposed(json!([
                    candidate("{\"user\":5}"),
                    candidate("{\"user\":\"ann\"}")
                ])),
                json!({"kind": {"candidate_rejected": {"candidate": 0, "arguments": "{}", "why": {"invalid": "x"}}}}),
                json!({"kind": {"retrying": {
                    "strategy": "debug", "candidate": 1, "arguments": "{\"user\":\"ann\"}", "until": null
                }}}),
                succeeded("{\"user\":\"ann\"}"),
            ],
        ),
        run_of(
            3,
            &[
                failed,
                proposed(json!([])),
                json!({"kind": {"gave_up": {
                    "reason": "no_candidate", "original": {"class": "value", "message": "no such user", "may_have_run": false}
                }}}),
            ],
        ),
    ]
}

#[test]
fn lines_that_are_mixed_up_become_runs_again() {
    let mut logs: Vec<_> = four_runs().into_iter().map(Vec::into_iter).collect();
    let mut runs = Runs::default();
    let mut found = Vec::new();
    // One line of each run in turn.
    loop {
        let lines: Vec<String> = logs.iter_mut().filter_map(Iterator::next).collect();
        if lines.is_empty() {
            break;
        }
        found.extend(lines.iter().filter_map(|line| runs.line(line.as_bytes())));
    }
    assert_eq!(runs.unfinished(), 0);
    assert_eq!(runs.counts().bad, 0);
    found.sort_by_key(|run| run.run);
    let clean: Vec<bool> = found.iter().map(Run::was_clean).collect();
    assert_eq!(clean, [true, false, false, false]);

    let recovered = &found[2];
    assert_eq!(
        recovered
            .failure
            .as_ref()
            .map(|failure| failure.arguments.as_str()),
        Some("{\"user\":\"an\"}")
    );
    assert_eq!(recovered.candidates[0].rejected.as_deref(), Some("invalid"));
    let chosen = recovered.chosen.as_ref().expect("a candidate");
    assert_eq!((chosen.by, chosen.candidate), (ChosenBy::Model, Some(1)));
    let row = serde_json::to_string(recovered).expect("JSON");
    assert_eq!(
        serde_json::from_str::<Run>(&row).expect("a row"),
        *recovered
    );
    insta::assert_snapshot!(row);
}

#[test]
fn the_report_counts() {
    let mut runs = Runs::default();
    let mut report = Report::default();
    for line in four_runs().concat() {
        if let Some(run) = runs.line(line.as_bytes()) {
            report.add(&run);
        }
    }
    let all = report.all;
    assert_eq!(
        (
            all.runs,
            all.broken,
            all.repaired,
            all.recovered,
            all.gave_up
        ),
        (4, 3, 1, 1, 1)
    );
    assert_eq!(all.recovery().map(f64::round), Some(67.0));
    let tools: Vec<_> = report
        .tools
        .by(|row| row.broken)
        .into_iter()
        .map(|(name, row)| (name, row.broken))
        .collect();
    assert_eq!(tools, [("login", 2), ("search", 1)]);
    let days: Vec<_> = report.days.rows().map(|(day, _)| day.to_owned()).collect();
    assert_eq!(
        days,
        ["1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"]
    );
    let (rule, row) = report.rules.rows().next().expect("a rule");
    assert_eq!(
        (rule, row.fixes, row.runs, row.succeeded),
        ("number-from-string", 2, 1, 1)
    );
    let (model, row) = report.models.rows().next().expect("a model");
    assert_eq!(model, "small");
    assert_eq!(
        (row.rounds, row.candidates, row.rejected, row.recovered),
        (2, 2, 1, 1)
    );
    assert_eq!((row.input_tokens, row.cost_micros), (600, 2_400_000));
    assert_eq!(
        report.reasons.rows().collect::<Vec<_>>(),
        [("no_candidate", &1)]
    );
    let worst = report.offenders.by(|row| row.times);
    let (name, row) = worst
        .iter()
        .find(|(name, _)| *name == "login: value")
        .expect("an offender");
    assert_eq!((*name, row.times, row.gave_up), ("login: value", 2, 1));
    assert_eq!(
        (row.before.as_str(), row.after.as_str()),
        ("{\"user\":\"an\"}", "{\"user\":\"ann\"}")
    );
}

#[test]
fn open_runs_are_bounded() {
    let mut runs = Runs::new(10, 1 << 20);
    for number in 0..1_000 {
        let lines = run_of(
            number,
            &[json!({"kind": {"failed": {"arguments": "{}", "may_have_run": false}}})],
        );
        assert!(runs.line(lines[0].as_bytes()).is_none());
    }
    assert_eq!(runs.unfinished(), 10);
    assert_eq!(runs.counts().forgotten, 990);
}

#[test]
fn lines_that_are_no_records_are_counted() {
    let mut runs = Runs::default();
    for line in [
        "",
        "  ",
        "{\"v\":1,\"time",
        "[]",
        "{\"v\":2,\"time\":\"t\",\"event\":\"dropped\",\"events\":1,\"terminal\":0}",
        "\u{0}",
    ] {
        assert!(runs.line(line.as_bytes()).is_none());
    }
    assert!(runs.line(b"\xff").is_none());
    assert!(
        runs.line(b"{\"v\":1,\"time\":\"t\",\"event\":\"dropped\",\"events\":3,\"terminal\":1}")
            .is_none()
    );
    let counts = runs.counts();
    assert_eq!(
        (
            counts.lines,
            counts.bad,
            counts.dropped,
            counts.dropped_terminal
        ),
        (6, 5, 3, 1)
    );
}
