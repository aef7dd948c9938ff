//! What wrapping costs a call that succeeds, with nobody watching.
//!
//! The last lines are ratios, measured in this run.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use self_debug::{
    Effect, NoDebugger, SelfDebug, SelfDebugOptions, Tool, ToolError, ToolSpec, async_trait,
    wrap_with_self_debug,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

fn main() {
    divan::main();
    for work in [Duration::ZERO, Duration::from_micros(20)] {
        let (bare, wrapped) = (measure(&tool(work)), measure(&wrapped(work)));
        println!(
            "a tool of {work:?}: bare {bare:?}, wrapped {wrapped:?}: adds {:?}, {:.2} x",
            wrapped.saturating_sub(bare),
            wrapped.as_secs_f64() / bare.as_secs_f64()
        );
    }
}

/// A tool that takes a while, and answers with a short text.
struct Busy {
    spec: ToolSpec,
    work: Duration,
}

#[async_trait]
impl Tool for Busy {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        let begin = Instant::now();
        while begin.elapsed() < self.work {
            std::hint::spin_loop();
        }
        Ok(black_box(arguments)["query"].clone())
    }
}

fn tool(work: Duration) -> Busy {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"}, "limit": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}}, "fuzzy": {"type": "boolean"},
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    let spec = ToolSpec::new("search", schema).with_effect(Effect::ReadOnly);
    Busy { spec, work }
}

fn wrapped(work: Duration) -> SelfDebug<Busy, NoDebugger> {
    wrap_with_self_debug(tool(work), NoDebugger, SelfDebugOptions::default())
}

const TEXT: &str = r#"{"query": "planets", "limit": 5, "tags": ["space", "near"], "fuzzy": true}"#;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

/// The median of one call.
fn measure(tool: &impl Tool) -> Duration {
    const CALLS: u32 = 500;
    runtime().block_on(async {
        let mut samples = Vec::new();
        for _ in 0..200 {
            let begin = Instant::now();
            for _ in 0..CALLS {
                black_box(tool.call_text(black_box(TEXT)).await.unwrap());
            }
            samples.push(begin.elapsed() / CALLS);
        }
        samples.sort_unstable();
        samples.get(samples.len() / 2).copied().unwrap_or_default()
    })
}

#[divan::bench(args = [0, 20])]
fn bare(bencher: divan::Bencher<'_, '_>, microseconds: u64) {
    let (runtime, tool) = (runtime(), tool(Duration::from_micros(microseconds)));
    bencher.bench_local(|| runtime.block_on(tool.call_text(black_box(TEXT))).unwrap());
}

#[divan::bench(args = [0, 20])]
fn in_self_debug(bencher: divan::Bencher<'_, '_>, microseconds: u64) {
    let (runtime, tool) = (runtime(), wrapped(Duration::from_micros(microseconds)));
    bencher.bench_local(|| runtime.block_on(tool.call_text(black_box(TEXT))).unwrap());
}
