//! Other Rust repairers beside ours, on the same inputs: what is recovered, what is harmed, how
//! long it takes. Recovery and harm are counted on `tests/cases`, whose calls real agents saw.
//!
//! `cargo run --release --manifest-path benchmarks/Cargo.toml`

mod peers;

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use peers::{Call, Emitted, Peer, Tool, all, tools_of};
use repair_core::{Effect, Finish};
use serde_json::{Value, json};

fn rows(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/cases")
        .join(file);
    let text = std::fs::read_to_string(&path).expect("the case files are beside this crate");
    // Rows with numbers beyond the doubles are compared as text elsewhere.
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// JSON equality: numbers by value, key order without meaning.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// `count` of `total`, as a share.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    count: usize,
    total: usize,
}

impl Share {
    fn add(&mut self, counts: bool) {
        self.total += 1;
        self.count += usize::from(counts);
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100.0 * self.count as f64 / self.total.max(1) as f64;
        f.pad(&format!("{percent:.1} %"))
    }
}

/// What came of all cases with one repairer.
#[derive(Default)]
struct Score {
    /// Broken calls that became right.
    recovered: Share,
    /// Valid calls that did not come back as they were.
    changed: Share,
    /// Calls that must not run, or not like this, and would have.
    wrong: Share,
    texts_recovered: Share,
    texts_changed: Share,
    /// Cut texts that were presented as whole.
    cut_as_whole: Share,
    panics: usize,
}

impl Score {
    fn of(peer: &dyn Peer) -> Self {
        let mut score = Self::default();
        for row in rows("field.jsonl") {
            score.count_call(peer, &row);
        }
        for file in ["json/own.jsonl", "json/onefix.jsonl"] {
            for row in rows(file) {
                let got = score.text(peer, &row);
                if row.get("error").is_none() {
                    let accepted = row["accept"].as_array().into_iter().flatten();
                    let mut wanted = std::iter::once(&row["expected"]).chain(accepted);
                    let is_right =
                        got.is_some_and(|(value, _)| wanted.any(|wanted| same(&value, wanted)));
                    score.texts_recovered.add(is_right);
                }
            }
        }
        for row in rows("json/valid.jsonl") {
            let got = score.text(peer, &row);
            let is_same = got.is_some_and(|(value, _)| same(&value, &row["expected"]));
            score.texts_changed.add(!is_same);
        }
        for row in rows("json/trunc.jsonl") {
            let got = score.text(peer, &row);
            let is_whole =
                got.is_some_and(|(value, is_cut)| !is_cut && !same(&value, &row["truth"]));
            score.cut_as_whole.add(is_whole);
        }
        score
    }

    fn text(&mut self, peer: &dyn Peer, row: &Value) -> Option<(Value, bool)> {
        let input = row["input"].as_str().unwrap_or_default();
        self.guarded(|| peer.text(input))
    }

    fn guarded<T>(&mut self, work: impl FnOnce() -> Option<T>) -> Option<T> {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            self.panics += 1;
            None
        })
    }

    /// Native calls with an arguments text; printed and streamed ones are for other crates.
    fn count_call(&mut self, peer: &dyn Peer, row: &Value) {
        let raw = &row["raw"];
        let (Some(name), Some(arguments)) = (raw["name"].as_str(), raw["arguments"].as_str())
        else {
            return;
        };
        if row["mode"] != "native" || raw.get("repeat").is_some() {
            return;
        }
        let reason = row["finish_reason"].as_str();
        let emitted = Emitted {
            name,
            arguments,
            finish: reason.map_or(Finish::Unknown, Finish::from_reason),
        };
        let tools = tools_of(row);
        let permitted = row["permitted"].as_array();
        let may_run = |name: &str| {
            permitted.is_none_or(|names| names.iter().any(|permitted| permitted == name))
        };
        // Permission is the host's check on the name that comes back.
        let got: Option<Call> = self
            .guarded(|| peer.prepare(&tools)(emitted))
            .filter(|(name, _)| may_run(name));
        let expected = &row["expected"];
        if let Some(wanted) = expected["calls"].get(0) {
            let is_right = got.as_ref().is_some_and(|(name, arguments)| {
                wanted["name"] == **name && same(arguments, &wanted["arguments"])
            });
            self.recovered.add(is_right);
            self.wrong.add(got.is_some() && !is_right);
        } else if expected.get("refuse").is_some() {
            self.wrong.add(got.is_some());
        } else {
            let as_emitted: Option<Value> = serde_json::from_str(arguments).ok();
            let is_same = match (&got, &as_emitted) {
                (Some((got, value)), Some(emitted)) => got == name && same(value, emitted),
                // Numbers that serde_json does not hold are compared as text elsewhere.
                (_, None) => return,
                (None, _) => false,
            };
            self.changed.add(!is_same);
        }
    }
}

/// The median time of one run.
fn time(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    let once = start.elapsed().max(Duration::from_nanos(100));
    let times = u32::try_from(Duration::from_millis(2).as_nanos() / once.as_nanos())
        .unwrap_or(1)
        .max(1);
    let mut rounds: Vec<Duration> = (0..101)
        .map(|_| {
            let start = Instant::now();
            (0..times).for_each(|_| work());
            start.elapsed() / times
        })
        .collect();
    rounds.sort();
    rounds[rounds.len() / 2]
}

/// Texts whose repair is timed, all for one tool.
fn timed() -> (Tool, Vec<(&'static str, String)>) {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"}, "query": {"type": "string"},
            "mode": {"enum": ["literal", "regex", "glob"]}, "limit": {"type": "integer"},
            "recursive": {"type": "boolean"}, "threshold": {"type": "number"},
            "include": {"type": "array", "items": {"type": "string"}},
            "context": {"type": "object", "properties": {"before": {"type": "integer"}}},
            "content": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}
        },
        "required": ["path", "query"]
    });
    let object = json!({"name": "search", "parameters": schema});
    let tool = Tool {
        name: "search".to_owned(),
        schema,
        effect: Effect::ReadOnly,
        object,
    };
    let valid = r#"{"path": "crates/repair-core/src", "query": "fn finish", "mode": "regex", "limit": 50, "recursive": true, "include": ["*.rs"], "threshold": 0.75, "context": {"before": 2}, "lines": [1, 20]}"#;
    let source = include_str!("../../crates/repair-core/src/pipeline.rs");
    let file = |bytes: usize| {
        let content: String = source.chars().cycle().take(bytes).collect();
        json!({"path": "a.rs", "query": "x", "content": content}).to_string()
    };
    let page = file(1000)
        .replacen("\\n", "\n", 1)
        .replacen("\"path\"", "path", 1)
        .replacen("\"}", "\",}", 1);
    let cases = vec![
        ("valid, 200 B", valid.to_owned()),
        ("valid, 100 KB", file(100_000)),
        ("wrong type", valid.replace("50", "\"50\"")),
        ("broken, 1 KB", page),
    ];
    (tool, cases)
}

fn print_times(peers: &[Box<dyn Peer>]) {
    let (tool, cases) = timed();
    let heads: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
    println!(
        "\n| time for one call (— : refused) | {} |",
        heads.join(" | ")
    );
    println!("|---|{}", "--:|".repeat(heads.len()));
    for peer in peers {
        let handle = peer.prepare(std::slice::from_ref(&tool));
        let cells: Vec<String> = cases
            .iter()
            .map(|(_, arguments)| {
                let emitted = Emitted {
                    name: &tool.name,
                    arguments,
                    finish: Finish::Complete,
                };
                match handle(emitted) {
                    Some(_) => format!(
                        "{:.1?}",
                        time(|| drop(black_box(handle(black_box(emitted)))))
                    ),
                    None => "—".to_owned(),
                }
            })
            .collect();
        println!("| {} | {} |", peer.name(), cells.join(" | "));
    }
}

fn main() {
    // A peer's panic is counted, not shown.
    std::panic::set_hook(Box::new(|_| {}));
    let peers = all();
    println!(
        "| repairer | calls recovered | valid calls changed | wrong calls run | texts recovered \
         | valid texts changed | cut texts passed as whole | panics |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    );
    for peer in &peers {
        let score = Score::of(peer.as_ref());
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            peer.name(),
            score.recovered,
            score.changed,
            score.wrong,
            score.texts_recovered,
            score.texts_changed,
            score.cut_as_whole,
            score.panics
        );
    }
    print_times(&peers);
}
