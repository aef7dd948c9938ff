//! How long a call takes, as a ratio to what a host pays anyway: `serde_json::from_str::<Value>`
//! and `jsonschema`'s `is_valid` on the valid text of the same call. Both are measured in turns, so
//! that a ratio means the same on any machine.
//!
//! `cargo bench -p repair-core --bench speed [-- PART-OF-A-CASE]`
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench without its subject must stop"
)]

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use repair_core::{Finish, Policy, RawCall, Reason, ToolSet, Verdict};
use serde_json::Value;
use support::{TOOL, names, quoted, source, tools, with_content};

/// 200 bytes of arguments that fit.
const VALID: &str = r#"{"path": "crates/repair-core/src", "query": "fn finish", "mode": "regex", "limit": 50, "recursive": true, "include": ["*.rs"], "threshold": 0.75, "context": {"before": 2, "after": 4}, "lines": [1, 20]}"#;

/// What must come of the call, so that nothing else is measured by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Valid,
    Repaired,
    Rejected(Reason),
}

/// One row of the table.
struct Case {
    name: &'static str,
    limit: f64,
    tool: &'static str,
    /// What the model wrote.
    emitted: String,
    /// The same call as it should have been.
    valid: String,
    outcome: Outcome,
}

impl Case {
    fn new(name: &'static str, limit: f64, outcome: Outcome, emitted: &str, valid: &str) -> Self {
        assert!(name.len() < 48, "{name}");
        Self {
            name,
            limit,
            tool: TOOL,
            emitted: emitted.to_owned(),
            valid: valid.to_owned(),
            outcome,
        }
    }

    fn called(self, tool: &'static str) -> Self {
        Self { tool, ..self }
    }
}

/// `VALID` with some parts written in another way.
fn broken(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(VALID.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

fn cases() -> Vec<Case> {
    use Outcome::{Rejected, Repaired, Valid};
    let number = (r#""limit": 50"#, r#""limit": "50""#);
    let null = (r#""threshold": 0.75"#, r#""threshold": null"#);
    let scalar = (r#""include": ["*.rs"]"#, r#""include": "*.rs""#);
    let choice = (r#""mode": "regex""#, r#""mode": "Regex""#);
    let key = (r#""path":"#, r#""filePath":"#);
    let file = with_content(&quoted(&source(100_000)));
    let raw_file = with_content(&format!("\"{}\"", source(100_000)));
    let page = with_content(&quoted(&source(900)));
    let broken_page = page
        .replacen("\\n", "\n", 1)
        .replacen("\"path\"", "path", 1)
        .replacen("\"literal\"}", "\"literal\",}", 1);
    let big = with_content(&quoted(&source(10_000_000)));
    let broken_big = big.replacen("\"literal\"}", "\"literal\",}", 1);
    let cut = file.get(..file.len() - 80).unwrap_or_default();
    let list = |item: fn(u32) -> String| {
        let items: Vec<String> = (1000..2000).map(item).collect();
        broken(&[("[1, 20]", &format!("[{}]", items.join(", ")))])
    };
    let numbers = list(|number| number.to_string());
    let strings = list(|number| format!("\"{number}\""));
    vec![
        Case::new("valid call", 0.5, Valid, VALID, VALID),
        Case::new("valid call, 100 KB content", 0.6, Valid, &file, &file),
        Case::new("name in the wrong case", 0.6, Repaired, VALID, VALID)
            .called("searchWorkspaceFiles"),
        Case::new("one wrong type", 1.0, Repaired, &broken(&[number]), VALID),
        Case::new("one illegal null", 1.0, Repaired, &broken(&[null]), VALID),
        Case::new(
            "one scalar for an array",
            1.0,
            Repaired,
            &broken(&[scalar]),
            VALID,
        ),
        Case::new(
            "five faults of different kinds",
            2.0,
            Repaired,
            &broken(&[number, null, scalar, choice, key]),
            VALID,
        ),
        Case::new(
            "broken text, 1 KB, three breakages",
            1.2,
            Repaired,
            &broken_page,
            &page,
        ),
        Case::new(
            "cut file argument, 100 KB",
            1.3,
            Rejected(Reason::Truncated),
            cut,
            &file,
        ),
        Case::new(
            "100 KB, every quote and line break raw",
            1.6,
            Repaired,
            &raw_file,
            &file,
        ),
        Case::new(
            "10 MB string, one breakage",
            1.4,
            Repaired,
            &broken_big,
            &big,
        ),
        Case::new(
            "1,000 stringified numbers in an array",
            2.5,
            Repaired,
            &strings,
            &numbers,
        ),
    ]
}

/// The time for one run of `work`, of `times` runs.
fn time(times: u32, work: &mut dyn FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed() / times
}

fn median<T: Copy>(values: &mut [T], order: fn(&T, &T) -> std::cmp::Ordering) -> T {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, order).1
}

/// Medians of both and of their ratio, measured in turns.
fn compare(ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> (Duration, Duration, f64) {
    let once = time(3, ours)
        .max(time(3, theirs))
        .max(Duration::from_nanos(1));
    let times = u32::try_from(Duration::from_millis(2).as_nanos() / once.as_nanos())
        .unwrap_or(1)
        .max(1);
    let rounds = (Duration::from_millis(1500).as_nanos()
        / (2 * u128::from(times) * once.as_nanos()))
    .clamp(11, 301);
    let mut pairs: Vec<(Duration, Duration)> = (0..rounds)
        .map(|_| (time(times, ours), time(times, theirs)))
        .collect();
    let mut ratios: Vec<f64> = pairs
        .iter()
        .map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64())
        .collect();
    let ratio = median(&mut ratios, f64::total_cmp);
    let ours = median(&mut pairs, |a, b| a.0.cmp(&b.0)).0;
    let theirs = median(&mut pairs, |a, b| a.1.cmp(&b.1)).1;
    (ours, theirs, ratio)
}

fn print_row(name: &str, limit: f64, (ours, theirs, ratio): (Duration, Duration, f64)) {
    let reached = if ratio <= limit { "yes" } else { "NO" };
    println!(
        "{name:<48} {:>11} {:>11} {ratio:>6.2} {limit:>6.2} {reached:>8}",
        format!("{ours:.1?}"),
        format!("{theirs:.1?}")
    );
}

fn outcome(verdict: &Verdict<'_>) -> Outcome {
    match verdict {
        Verdict::Valid(_) => Outcome::Valid,
        Verdict::Repaired(_) => Outcome::Repaired,
        Verdict::Rejected(rejected) => Outcome::Rejected(rejected.reason()),
    }
}

fn measure(case: &Case, tools: &ToolSet, validator: &jsonschema::Validator) {
    let policy = Policy::default();
    let raw = RawCall::new(case.tool, case.emitted.as_str()).with_finish(Finish::Complete);
    let verdict = tools.repair(&raw, &policy);
    assert_eq!(
        outcome(&verdict),
        case.outcome,
        "{}: {verdict:?}",
        case.name
    );
    let figures = compare(
        &mut || drop(black_box(tools.repair(black_box(&raw), &policy))),
        &mut || {
            let value: Value = serde_json::from_str(black_box(&case.valid)).unwrap();
            assert!(validator.is_valid(&value), "{}", case.name);
            drop(black_box(value));
        },
    );
    print_row(case.name, case.limit, figures);
}

/// An unknown name among five hundred, beside the plain loop over their folds.
fn measure_suggestion(tools: &ToolSet) {
    let policy = Policy::default();
    let folds: Vec<String> = names().iter().map(|name| name.replace('_', "")).collect();
    let raw = RawCall::new("inspect_pull_requests", VALID);
    let verdict = tools.repair(&raw, &policy);
    assert_eq!(outcome(&verdict), Outcome::Rejected(Reason::UnknownTool));
    let figures = compare(
        &mut || drop(black_box(tools.repair(black_box(&raw), &policy))),
        &mut || {
            let emitted = black_box("inspectpullrequests");
            let distances = folds.iter().map(|fold| strsim::osa_distance(emitted, fold));
            black_box(distances.min());
        },
    );
    print_row(
        "unknown name among 500 tools, with suggestion",
        0.5,
        figures,
    );
}

fn main() {
    // Cargo passes `--bench`; a word after `--` picks cases.
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_wanted = |name: &str| {
        wanted
            .as_ref()
            .is_none_or(|part| name.contains(part.as_str()))
    };
    let tools = tools();
    let validator = jsonschema::validator_for(&support::schema()).unwrap();
    println!(
        "{:<48} {:>11} {:>11} {:>6} {:>6} {:>8}",
        "case", "ours", "baseline", "ratio", "limit", "reached"
    );
    for case in cases().iter().filter(|case| is_wanted(case.name)) {
        measure(case, &tools, &validator);
    }
    if is_wanted("unknown name") {
        measure_suggestion(&tools);
    }
}
