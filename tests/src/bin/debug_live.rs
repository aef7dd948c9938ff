//! Failing calls of ten kinds with a real model as the debugger: how many come out right.
//!
//! `tests/live/run.sh` starts the model. `OPENAI_BASE_URL` and `OPENAI_MODEL` name another one:
//!
//! ```sh
//! cargo run --release -p toolmend-tests --bin debug_live -- tests/live/failures.jsonl
//! ```
#![allow(clippy::print_stdout, reason = "it prints its table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use toolmend::self_debug::{
    Approval, ApprovalRequest, Message, OpenAiOptions, approver_fn, async_trait,
};
use toolmend::{
    Budget, CallContext, CallReport, Effect, LlmDebugger, OpenAiModel, RawCall, SelfDebugOptions,
    Tool, ToolBox, ToolError, ToolSpec,
};

/// One failing call, and what the user meant.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    id: String,
    kind: String,
    tool: Described,
    /// What the user said.
    context: String,
    /// What the model wrote.
    arguments: Value,
    /// Arguments that are right.
    want: Vec<Value>,
    /// What the tool itself refuses.
    refuses: Option<Refusal>,
}

#[derive(Clone, Debug, Deserialize)]
struct Described {
    name: String,
    description: String,
    effect: Effect,
    parameters: Value,
}

#[derive(Clone, Debug, Deserialize)]
struct Refusal {
    /// A JSON Pointer.
    at: String,
    unless: Vec<Value>,
    message: String,
}

/// A tool that gives its arguments back, and refuses values that it does not know.
struct Echo {
    spec: ToolSpec,
    refuses: Option<Refusal>,
}

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        if let Some(refusal) = &self.refuses {
            let value = arguments.pointer(&refusal.at).unwrap_or(&Value::Null);
            if !refusal.unless.contains(value) {
                return Err(ToolError::value(refusal.message.as_str()));
            }
        }
        Ok(arguments)
    }
}

/// What came of the calls of one kind.
#[derive(Debug, Default)]
struct Tally {
    cases: u32,
    right: u32,
    wrong: u32,
    wrong_destructive: u32,
    rounds: u32,
    tokens: u64,
    time: Duration,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: debug_live CASES")?;
    let text = std::fs::read_to_string(&path)?;
    let cases: Vec<Case> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let options = OpenAiOptions::from_env().with_timeout(Duration::from_mins(5));
    let model = Arc::new(OpenAiModel::new(options)?);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for case in cases {
        let started = Instant::now();
        let report = play(&case, Arc::clone(&model)).await;
        let tally = tallies.entry(case.kind.clone()).or_default();
        count(tally, &case, &report, started.elapsed());
        eprint_progress(&case, &report);
    }
    print_table(&tallies);
    Ok(())
}

async fn play(case: &Case, model: Arc<OpenAiModel>) -> CallReport {
    let spec = ToolSpec::new(case.tool.name.as_str(), case.tool.parameters.clone())
        .with_description(case.tool.description.as_str())
        .with_effect(case.tool.effect);
    let tool = Echo {
        spec,
        refuses: case.refuses.clone(),
    };
    // The user, who knows what was meant: asked wherever consent is needed.
    let want = case.want.clone();
    let user = approver_fn(move |request: Arc<ApprovalRequest>| {
        let is_meant = serde_json::from_str(&request.arguments)
            .is_ok_and(|arguments: Value| want.contains(&arguments));
        async move {
            if is_meant {
                Approval::Allow
            } else {
                Approval::Deny { because: None }
            }
        }
    });
    let tools = ToolBox::builder()
        .tool(tool)
        .debugger(LlmDebugger::new(model))
        .options(SelfDebugOptions::default().budget(patient()).approver(user))
        .build();
    let context = CallContext::new([Message::new("user", case.context.as_str())]);
    let raw = RawCall::from_value(case.tool.name.clone(), &case.arguments);
    tools.call_report_in(raw, &context).await
}

/// A small machine may take minutes for an answer.
fn patient() -> Budget {
    Budget::default()
        .time(None)
        .round_timeout(Duration::from_mins(5))
}

fn count(tally: &mut Tally, case: &Case, report: &CallReport, time: Duration) {
    tally.cases += 1;
    tally.rounds += report.spent.rounds;
    tally.tokens += report.spent.tokens;
    tally.time += time;
    match &report.result {
        Ok(arguments) if case.want.contains(arguments) => tally.right += 1,
        Ok(_) => {
            tally.wrong += 1;
            tally.wrong_destructive += u32::from(case.tool.effect == Effect::Destructive);
        }
        Err(_) => {}
    }
}

#[allow(clippy::print_stderr, reason = "progress of a slow program")]
fn eprint_progress(case: &Case, report: &CallReport) {
    let ran = report
        .result
        .as_ref()
        .map_or_else(|_| json!("gave up"), Clone::clone);
    eprintln!("{:12} {ran}", case.id);
}

fn print_table(tallies: &BTreeMap<String, Tally>) {
    println!(
        "| kind | calls | right | wrong but valid | on a destructive tool | rounds | tokens | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut all = Tally::default();
    for (kind, tally) in tallies {
        print_row(kind, tally);
        all.cases += tally.cases;
        all.right += tally.right;
        all.wrong += tally.wrong;
        all.wrong_destructive += tally.wrong_destructive;
        all.rounds += tally.rounds;
        all.tokens += tally.tokens;
        all.time += tally.time;
    }
    print_row("all", &all);
}

fn print_row(kind: &str, tally: &Tally) {
    println!(
        "| {kind} | {} | {} | {} | {} | {} | {} | {} |",
        tally.cases,
        tally.right,
        tally.wrong,
        tally.wrong_destructive,
        tally.rounds,
        tally.tokens,
        tally.time.as_secs()
    );
}
