//! How much memory a call takes at its peak, beside its text: at most three times the text and 40
//! bytes for each JSON value in it.
//!
//! `cargo bench -p repair-core --bench memory`
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::unwrap_used, reason = "a bench without its subject must stop")]

mod support;

use peak_alloc::PeakAlloc;
use repair_core::{Finish, Policy, RawCall, ToolSet};
use serde_json::Value;
use support::{TOOL, quoted, source, tools, with_content};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The JSON values in a document.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn measure(name: &str, tools: &ToolSet, emitted: &str, valid: &str) {
    let values = count(&serde_json::from_str(valid).unwrap());
    let limit = 3 * emitted.len() + 40 * values;
    let policy = Policy::default();
    let raw = RawCall::new(TOOL, emitted).with_finish(Finish::Complete);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let verdict = tools.repair(&raw, &policy);
    let peak = MEMORY.peak_usage() - before;
    drop(verdict);
    let reached = if peak <= limit { "yes" } else { "NO" };
    println!(
        "{name:<48} {:>11} {values:>11} {peak:>11} {limit:>11} {reached:>8}",
        emitted.len()
    );
}

fn main() {
    let tools = tools();
    println!(
        "{:<48} {:>11} {:>11} {:>11} {:>11} {:>8}",
        "peak memory", "text", "values", "peak", "limit", "reached"
    );
    let big = with_content(&quoted(&source(10_000_000)));
    let raw = with_content(&format!("\"{}\"", source(10_000_000)));
    let list = |count: u32, item: fn(u32) -> String| {
        let items: Vec<String> = (0..count).map(item).collect();
        format!(
            r#"{{"path": "a", "query": "b", "lines": [{}]}}"#,
            items.join(",")
        )
    };
    let numbers = list(1_000_000, |at| (at % 10).to_string());
    let strings = list(100_000, |at| format!("\"{at}\""));
    let unquoted = |text: &str| text.replacen("\"path\"", "path", 1);
    let cut = big.get(..big.len() - 80).unwrap_or_default();
    for (name, emitted, valid) in [
        ("valid, a 10 MB string", &*big, &*big),
        ("a 10 MB string, one breakage", &unquoted(&big), &big),
        ("a 10 MB string, every quote and break raw", &raw, &big),
        ("a 10 MB string, cut", cut, &big),
        ("valid, a million numbers", &numbers, &numbers),
        (
            "a million numbers, one breakage",
            &unquoted(&numbers),
            &numbers,
        ),
        (
            "100,000 stringified numbers",
            &strings,
            &list(100_000, |at| at.to_string()),
        ),
    ] {
        measure(name, &tools, emitted, valid);
    }
}
