//! The unattended loop for a long while, with faults on every side: tools, debugger, approver,
//! observers and callers fail in every way that they can.
//!
//! ```sh
//! cargo run --release -p toolmend-tests --bin soak -- 1200 100    # seconds, runs a second
//! ```
//!
//! First come bursts of 10,000 concurrent runs, then the steady load. Once a minute (and after each
//! burst) a line tells the memory that the process holds. It ends with an error if a run ended
//! without its terminal event, if an event is neither in the audit log nor counted as dropped, or
//! if a tool that changes something ran twice for one call.
#![allow(clippy::print_stdout, reason = "it prints its table")]
#![allow(
    clippy::panic,
    reason = "panics of tools and observers are part of the load"
)]
#![allow(
    clippy::indexing_slicing,
    reason = "a JSON value gives null where there is nothing"
)]

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use toolmend::self_debug::audit::{AuditLog, AuditOptions, LineCounts, Runs};
use toolmend::self_debug::{
    Approval, ApprovalRequest, Budget, Candidate, DebuggerError, Failure, Proposed, approver_fn,
    async_trait, debugger_fn,
};
use toolmend::{Effect, RawCall, SelfDebugOptions, Tool, ToolBox, ToolError, ToolSpec};

/// Concurrent runs of a burst.
const CROWD: u64 = 10_000;
/// Runs of one conversation of the steady load.
const CONVERSATION: u64 = 50;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(60), |text| text.parse())?;
    let rate: u64 = arguments.next().map_or(Ok(100), |text| text.parse())?;
    // The panics are part of the load.
    std::panic::set_hook(Box::new(|_| {}));

    let directory = std::env::temp_dir().join(format!("toolmend-soak-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let options = AuditOptions::default()
        .queue(256, 64)
        .rotation(8 << 20, 4_096);
    let log = AuditLog::open(directory.join("audit.jsonl"), options)?;
    let (release, blocked) = mpsc::channel();
    let soak = Arc::new(Soak::new(&log, blocked));

    println!("| after | runs | ended | dropped by their callers | memory, MiB |");
    println!("|---|--:|--:|--:|--:|");
    for burst in 0..3 {
        soak.burst(burst * CROWD).await;
        soak.print_row(&format!("burst {}", burst + 1));
    }
    soak.steady(3 * CROWD, Duration::from_secs(seconds), rate)
        .await;
    drop(release);

    tokio::task::spawn_blocking({
        let log = log.clone();
        move || log.flush()
    })
    .await??;
    let read = read_log(&directory)?;
    let problems = soak.problems(&log, &read);
    fs::remove_dir_all(&directory)?;
    if problems.is_empty() {
        println!("no run, no event and no drop is missing");
        return Ok(());
    }
    Err(problems.join("; ").into())
}

/// What the load is made of, and what it counts.
struct Soak {
    tools: ToolBox,
    effects: Arc<Mutex<HashMap<u64, u32>>>,
    started: AtomicU64,
    ended: AtomicU64,
    cancelled: AtomicU64,
    /// Runs in which a tool that changes something had its effect more than once.
    twice: AtomicU64,
}

impl Soak {
    fn new(log: &AuditLog, blocked: mpsc::Receiver<()>) -> Self {
        let effects = Arc::new(Mutex::new(HashMap::new()));
        let tool = |name: &str, effect| Faulty {
            spec: ToolSpec::new(name, schema()).with_effect(effect),
            effects: Arc::clone(&effects),
        };
        let budget = Budget::default()
            .time(Duration::from_secs(2))
            .attempt_timeout(Duration::from_millis(50))
            .round_timeout(Duration::from_millis(50));
        let approver = approver_fn(|request: Arc<ApprovalRequest>| async move {
            match number(&request.arguments) % 5 {
                0 => Approval::Allow,
                1 => Approval::Deny { because: None },
                2 => Approval::Replace {
                    arguments: request.arguments.to_string(),
                },
                3 => panic!("the approver"),
                _ => std::future::pending().await,
            }
        });
        let options = SelfDebugOptions::default()
            .budget(budget)
            .approver(approver)
            .approval_timeout(Duration::from_millis(50))
            .audit(log)
            .on_event(|_| panic!("an observer"))
            .on_event(move |_| {
                let _ = blocked.recv();
            });
        let tools = ToolBox::builder()
            .tool(tool("read_item", Effect::ReadOnly))
            .tool(tool("write_item", Effect::Mutating))
            .tool(tool("delete_item", Effect::Destructive))
            .debugger(debugger_fn(debug))
            .options(options)
            .build();
        Self {
            tools,
            effects,
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            twice: AtomicU64::new(0),
        }
    }

    /// Many runs at once.
    async fn burst(self: &Arc<Self>, first: u64) {
        let tools = self.tools.new_conversation();
        let runs: Vec<_> = (first..first + CROWD)
            .map(|number| tokio::spawn(Arc::clone(self).run(tools.clone(), number)))
            .collect();
        for run in runs {
            let _ = run.await;
        }
    }

    /// So many runs a second, for so long; then waits for the last ones.
    async fn steady(self: &Arc<Self>, first: u64, length: Duration, rate: u64) {
        let begin = Instant::now();
        let mut ticks = interval(Duration::from_secs(1) / u32::try_from(rate).unwrap_or(1).max(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut tools = self.tools.new_conversation();
        // Never read: it lags for the whole time.
        let mut _lagging = tools.subscribe();
        let mut minute = 1;
        let mut number = first;
        while begin.elapsed() < length {
            ticks.tick().await;
            if number.is_multiple_of(CONVERSATION) {
                tools = self.tools.new_conversation();
                _lagging = tools.subscribe();
            }
            tokio::spawn(Arc::clone(self).run(tools.clone(), number));
            number += 1;
            if begin.elapsed() >= Duration::from_mins(minute) {
                self.print_row(&format!("minute {minute}"));
                minute += 1;
            }
        }
        while self.ended.load(Ordering::SeqCst) + self.cancelled.load(Ordering::SeqCst)
            < self.started.load(Ordering::SeqCst)
        {
            sleep(Duration::from_millis(10)).await;
        }
        self.print_row("the end");
    }

    /// One run. Some callers lose patience in its middle.
    async fn run(self: Arc<Self>, tools: ToolBox, number: u64) {
        self.started.fetch_add(1, Ordering::SeqCst);
        let call = tools.call_report(raw_call(number));
        let patience = match number % 16 {
            0 => Duration::from_millis(5),
            _ => Duration::from_mins(5),
        };
        let counter = match timeout(patience, call).await {
            Ok(report) if report.terminal.kind.is_terminal() => Some(&self.ended),
            Ok(_) => None,
            Err(_) => Some(&self.cancelled),
        };
        let effects = self
            .effects
            .lock()
            .map_or(None, |mut effects| effects.remove(&number));
        if effects.is_some_and(|effects| effects > 1) {
            self.twice.fetch_add(1, Ordering::SeqCst);
        }
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn print_row(&self, after: &str) {
        let [runs, ended, cancelled] = self.counts();
        let memory = resident_mebibytes().map_or_else(|| "?".to_owned(), |size| size.to_string());
        println!("| {after} | {runs} | {ended} | {cancelled} | {memory} |");
    }

    fn counts(&self) -> [u64; 3] {
        [&self.started, &self.ended, &self.cancelled].map(|count| count.load(Ordering::SeqCst))
    }

    /// What is missing.
    fn problems(&self, log: &AuditLog, read: &Read) -> Vec<String> {
        let [runs, ended, cancelled] = self.counts();
        let counted = log.counts();
        println!(
            "audit log: {} lines, {} events dropped ({} of them terminal), {} terminal events read",
            read.counts.lines, counted.dropped, counted.dropped_terminal, read.terminal
        );
        let expectations = [
            ("runs without a terminal event", runs, ended + cancelled),
            (
                "terminal events",
                runs,
                read.terminal + counted.dropped_terminal,
            ),
            (
                "drops that the log tells of",
                counted.dropped,
                read.counts.dropped,
            ),
            ("unreadable lines", 0, read.counts.bad),
            (
                "effects that happened twice",
                0,
                self.twice.load(Ordering::SeqCst),
            ),
        ];
        expectations
            .into_iter()
            .filter(|(_, expected, found)| expected != found)
            .map(|(what, expected, found)| format!("{what}: {found} instead of {expected}"))
            .collect()
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "mode": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["number", "mode"],
        "additionalProperties": false,
    })
}

/// What goes wrong in the tool of a call.
const MODES: [&str; 8] = [
    "good", "value", "again", "panic", "hang", "fatal", "slow", "empty",
];

/// The call of a number: of every tool, with every fault of tool and model in turn.
fn raw_call(number: u64) -> RawCall<'static> {
    let tool = pick(
        &[
            "read_item",
            "write_item",
            "delete_item",
            "WriteItem",
            "no_such_tool",
        ],
        number,
    );
    let mode = pick(&MODES, number / 5);
    let text = match number / 40 % 6 {
        0 => format!(r#"{{"number": {number}, "mode": "{mode}"}}"#),
        1 => format!(r#"{{"number": "{number}", "mode": "{mode}", "tags": null}}"#),
        2 => format!(r#"{{"number": {number}, "mode": "{mode}", "tags": "[\"a\"]",}}"#),
        3 => format!(r#"{{"number": {number}, "mood": "{mode}", "tags": 7}}"#),
        4 => format!(r#"{{"number": {number}, "mode": "{mode}", "tags": ["a"#),
        _ => format!("number {number}, mode {mode}"),
    };
    RawCall::new(tool.to_owned(), text)
}

fn pick<'a>(list: &[&'a str], number: u64) -> &'a str {
    let length = list.len().max(1) as u64;
    let at = usize::try_from(number % length).unwrap_or(0);
    list.get(at).copied().unwrap_or("good")
}

/// The first number in a text.
fn number(text: &str) -> u64 {
    let mut digits = text.split(|letter: char| !letter.is_ascii_digit());
    digits.find_map(|digits| digits.parse().ok()).unwrap_or(0)
}

/// A tool that fails as its arguments say, and counts its effects.
struct Faulty {
    spec: ToolSpec,
    effects: Arc<Mutex<HashMap<u64, u32>>>,
}

#[async_trait]
impl Tool for Faulty {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        let number = arguments["number"].as_u64().unwrap_or(0);
        let refused = match arguments["mode"].as_str() {
            Some("value") => Some(ToolError::value("no such mode; did you mean 'good'?")),
            Some("again") => {
                Some(ToolError::transient("busy").with_retry_after(Duration::from_millis(5)))
            }
            Some("fatal") => Some(ToolError::fatal("broken")),
            Some("empty") => Some(ToolError::value("")),
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(refused);
        }
        // From here on the effect has happened.
        if self.spec.effect() != Effect::ReadOnly
            && let Ok(mut effects) = self.effects.lock()
        {
            *effects.entry(number).or_insert(0) += 1;
        }
        match arguments["mode"].as_str() {
            Some("panic") => panic!("the tool"),
            Some("hang") => std::future::pending().await,
            Some("slow") => sleep(Duration::from_millis(20)).await,
            _ => {}
        }
        Ok(arguments)
    }
}

/// A debugger that fails in every way, and sometimes helps.
async fn debug(failure: Arc<Failure>) -> Result<Proposed, DebuggerError> {
    let number = number(&failure.call.arguments);
    let good = format!(r#"{{"number": {number}, "mode": "good"}}"#);
    match number % 7 {
        0 => panic!("the debugger"),
        1 => Err(DebuggerError::new("no answer")),
        2 => Ok(Proposed::give_up("no idea")),
        3 => std::future::pending().await,
        4 => Ok(Proposed::from(vec![
            Candidate::new(r#"{"mode": 7}"#, 0.9),
            Candidate::new(failure.call.arguments.as_ref(), 0.8),
            Candidate::new(good, 0.7),
        ])),
        _ => Ok(Proposed::from(Candidate::new(good, 0.9))),
    }
}

/// What the files of the log hold.
#[derive(Default)]
struct Read {
    counts: LineCounts,
    terminal: u64,
}

fn read_log(directory: &Path) -> Result<Read, Box<dyn Error>> {
    let mut files: Vec<_> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    // The oldest file has the highest number; the present one has none.
    files.sort_by_key(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        std::cmp::Reverse(
            extension
                .and_then(|text| text.parse::<u32>().ok())
                .unwrap_or(0),
        )
    });
    let mut runs = Runs::default();
    let mut terminal = 0;
    for file in files {
        for line in BufReader::new(File::open(file)?).split(b'\n') {
            terminal += u64::from(runs.line(&line?).is_some());
        }
    }
    Ok(Read {
        counts: runs.counts(),
        terminal,
    })
}

/// What the process holds in memory, where the system tells it.
fn resident_mebibytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(number(line) / 1_024)
}
