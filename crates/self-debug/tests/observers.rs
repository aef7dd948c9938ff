//! An observer cannot change the outcome.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, mpsc};

use self_debug::{
    CallContext, NoDebugger, Notice, RawCall, SelfDebugOptions, Tool, ToolBox, ToolError,
    wrap_with_self_debug,
};
use serde_json::{Value, json};

use crate::support::{Counter, Recorder, names};

#[tokio::test]
async fn one_that_panics_changes_nothing_and_hears_the_next_event() {
    let (tool, runs) = Recorder::only("a.txt");
    let heard = Counter::default();
    let count = heard.clone();
    let (done, wait) = mpsc::channel();
    let options = SelfDebugOptions::default().on_event(move |_| {
        count.add();
        let _ = done.send(());
        panic!("an observer");
    });
    let tool = wrap_with_self_debug(tool, NoDebugger, options);
    for _ in 0..3 {
        assert!(tool.call(json!({"path": "a.txt"})).await.is_ok());
    }
    assert!(wait.iter().take(3).count() == 3);
    assert_eq!((runs.count(), heard.get()), (3, 3));
}

#[tokio::test]
async fn a_flush_waits_for_what_every_closure_has_to_hear() {
    let (tool, _) = Recorder::only("a.txt");
    let (heard, ends, failures) = (Counter::default(), Counter::default(), Counter::default());
    let (all, successes, given_up) = (heard.clone(), ends.clone(), failures.clone());
    let options = SelfDebugOptions::default()
        .on_event(move |_| {
            std::thread::yield_now();
            all.add();
            assert!(!all.get().is_multiple_of(2), "an observer");
        })
        .on_success(move |_| successes.add())
        .on_give_up(move |_| given_up.add());
    let tool = wrap_with_self_debug(tool, NoDebugger, options);
    tool.flush().await;
    for _ in 0..100 {
        assert!(tool.call(json!({"path": "a.txt"})).await.is_ok());
    }
    assert!(tool.call(json!({"path": "b.txt"})).await.is_err());
    tool.flush().await;
    // The last call: failed, proposed, gave up.
    assert_eq!((heard.get(), ends.get(), failures.get()), (103, 100, 1));
}

#[tokio::test]
async fn one_that_blocks_delays_no_call_and_no_other_observer() {
    let (tool, runs) = Recorder::only("a.txt");
    let (release, blocked) = mpsc::channel::<()>();
    let (told, wait) = mpsc::channel();
    let options = SelfDebugOptions::default()
        .on_event(move |_| {
            let _ = blocked.recv();
        })
        .on_event(move |event| {
            let _ = told.send(event.kind.name());
        });
    let tool = wrap_with_self_debug(tool, NoDebugger, options);
    for _ in 0..3 {
        assert!(tool.call(json!({"path": "a.txt"})).await.is_ok());
    }
    assert_eq!(wait.iter().take(3).collect::<Vec<_>>(), ["succeeded"; 3]);
    assert_eq!(runs.count(), 3);
    drop(release);
}

#[tokio::test]
async fn one_that_lags_is_told_how_much_it_missed() {
    let (tool, _) = Recorder::only("a.txt");
    let tool = wrap_with_self_debug(tool, NoDebugger, SelfDebugOptions::default());
    let mut slow = tool.subscribe();
    for _ in 0..1_500 {
        assert!(tool.call(json!({"path": "a.txt"})).await.is_ok());
    }
    let notices: Vec<Notice> = std::iter::from_fn(|| slow.try_next()).collect();
    let Notice::Missed(missed) = notices[0] else {
        panic!("{:?}", notices[0])
    };
    let heard = notices.iter().filter_map(Notice::event);
    let numbers: Vec<u64> = heard.map(|event| event.number).collect();
    assert_eq!(missed + numbers.len() as u64, 1_500);
    assert_eq!(numbers.last(), Some(&1_499));
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
    drop(tool);
    assert_eq!(slow.next().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_failing_runs_beside_a_blocked_observer_all_end() {
    let (tool, _) = Recorder::new(|_, _| Err(ToolError::value("no")));
    let (release, blocked) = mpsc::channel::<()>();
    let options = SelfDebugOptions::default().on_event(move |_| {
        let _ = blocked.recv();
    });
    let tools = ToolBox::builder().tool(tool).options(options).build();
    let _never_read = tools.subscribe();
    let calls: Vec<_> = (0..10_000)
        .map(|number| {
            let tools = tools.clone();
            tokio::spawn(async move {
                let raw = RawCall::from_value("read", &json!({"path": number.to_string()}));
                tools.call_report_in(raw, &CallContext::default()).await
            })
        })
        .collect();
    let mut terminal = BTreeMap::new();
    for call in calls {
        let report = call.await.unwrap();
        assert!(report.result.is_err());
        *terminal.entry(report.terminal.kind.name()).or_insert(0) += 1;
    }
    assert_eq!(terminal, BTreeMap::from([("gave_up", 10_000)]));
    drop(release);
}

/// A `tracing` subscriber that keeps every name and value as text, and can be made to panic.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    panics: bool,
}

impl Log {
    fn write(&self, line: String) {
        self.lines.lock().unwrap().push(line);
        assert!(!self.panics, "a subscriber of tracing");
    }
}

struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        let mut fields = Fields(format!("span {}", span.metadata().name()));
        span.record(&mut fields);
        self.write(fields.0);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        let mut fields = Fields("record".to_owned());
        values.record(&mut fields);
        self.write(fields.0);
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields("event".to_owned());
        event.record(&mut fields);
        self.write(fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {
        assert!(!self.panics, "a subscriber of tracing");
    }

    fn exit(&self, _: &tracing::span::Id) {
        assert!(!self.panics, "a subscriber of tracing");
    }
}

/// Calls with secrets in every place that a call has.
async fn secret_calls(log: &Log) -> Vec<bool> {
    let _guard = tracing::subscriber::set_default(log.clone());
    let (tool, _) = Recorder::new(|_, arguments| match arguments["path"].as_str() {
        Some("sk-secret-a") => Err(ToolError::value("sk-secret in the error")),
        _ => Ok(json!("sk-secret in the result")),
    });
    let tools = ToolBox::builder().tool(tool).build();
    let mut outcomes = Vec::new();
    for raw in [
        RawCall::new("read", r#"{"path": "sk-secret-a"}"#),
        RawCall::new("Read", r#"{"path": "sk-secret-b", "limit": "7"}"#),
        RawCall::new("sk-secret", r#"{"path": "sk-secret-c"}"#),
        RawCall::new("read", r#"{"sk-secret": "#),
    ] {
        outcomes.push(tools.call(raw).await.is_ok());
    }
    outcomes
}

#[tokio::test]
async fn logs_hold_names_of_opentelemetry_and_no_value() {
    let log = Log::default();
    let outcomes = secret_calls(&log).await;
    assert_eq!(outcomes, [false, true, false, false]);
    // The log has a thread of its own: wait for its last line.
    let terminal = |lines: &[String]| {
        let is_terminal = |line: &&String| line.contains("gave_up") || line.contains("succeeded");
        lines.iter().filter(is_terminal).count()
    };
    while terminal(&log.lines.lock().unwrap()) < 4 {
        tokio::task::yield_now().await;
    }
    let lines = log.lines.lock().unwrap().clone();
    let all = lines.join("\n");
    for name in [
        "span execute_tool",
        "gen_ai.operation.name=\"execute_tool\"",
        "gen_ai.tool.name=\"read\"",
        "error.type=Value",
        "event=\"failed\"",
        "event=\"repaired\"",
    ] {
        assert!(all.contains(name), "{name}\n{all}");
    }
    assert!(!all.contains("secret"), "{all}");
}

#[tokio::test]
async fn a_subscriber_of_tracing_that_panics_changes_nothing() {
    let log = Log {
        panics: true,
        ..Log::default()
    };
    let outcomes = secret_calls(&log).await;
    assert_eq!(outcomes, [false, true, false, false]);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_sees_events_in_order() {
    let (tool, _) = Recorder::only("a.txt");
    let tools = ToolBox::builder().tool(tool).build();
    let mut subscription = tools.subscribe();
    let raw = RawCall::new("READ", r#"{"path": "a.txt", "limit": "5"}"#);
    let report = tools.call_report(raw).await;
    let _: Value = report.result.unwrap();
    assert_eq!(names(&mut subscription), ["repaired", "succeeded"]);
}
