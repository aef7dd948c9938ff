//! A small agent: asks a model, repairs and runs its calls, tells it the results, asks again. What
//! needs consent is asked at the terminal.
//!
//! ```sh
//! OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_MODEL=qwen \
//!     cargo run -p toolmend-examples --bin agent_loop -- "What do my notes say about planets?"
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what it does")]
#![allow(
    clippy::indexing_slicing,
    reason = "a JSON value gives null where there is nothing"
)]

use std::error::Error;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use self_debug::{
    CallContext, CallReport, LlmDebugger, Message, OpenAiModel, RawCall, SelfDebugOptions, ToolBox,
};
use serde_json::{Value, json};
use toolmend::{Finish, ReadOptions, read_calls};
use toolmend_examples::approver::TerminalApprover;
use toolmend_examples::notebook::Notebook;

/// The most turns of a conversation.
const TURNS: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let question = if words.is_empty() {
        "What do my notes say about planets?".to_owned()
    } else {
        words.join(" ")
    };
    let model = OpenAiModel::from_env().map_err(|error| error.to_string())?;
    let name = model.name().to_owned();
    let notebook = Notebook::with_examples();
    let tools = ToolBox::builder()
        .tool(notebook.search())
        .tool(notebook.read())
        .tool(notebook.write())
        .tool(notebook.delete())
        .options(SelfDebugOptions::default().approver(TerminalApprover::new()))
        .debugger(LlmDebugger::new(model))
        .build();
    // The configuration reads OPENAI_BASE_URL and OPENAI_API_KEY by itself.
    let client = Client::with_config(OpenAIConfig::default());
    let mut messages = vec![json!({"role": "user", "content": question})];
    for _ in 0..TURNS {
        let request = json!({"model": name, "messages": messages, "tools": offered(&tools)});
        // The answer is taken as it is: servers differ, and broken calls are what we are for.
        let answer: Value = client.chat().create_byot(&request).await?;
        let (calls, text) = read(&answer, &tools);
        if calls.is_empty() {
            println!("{text}");
            return Ok(());
        }
        let context = CallContext::new([Message::new("user", question.as_str())]);
        let reports = tools.call_all(calls, &context).await;
        let turn = transcript(messages.len(), &text, &reports);
        messages.extend(turn);
    }
    println!("no answer after {TURNS} turns");
    Ok(())
}

/// The tools as the model is told about them.
fn offered(tools: &ToolBox) -> Vec<Value> {
    let offer = |spec: &self_debug::ToolSpec| {
        json!({"type": "function", "function": {
            "name": spec.name(), "description": spec.description(), "parameters": spec.schema(),
        }})
    };
    tools.specs().iter().map(offer).collect()
}

/// The calls of an answer, native ones and such as the model printed as text; and its text.
fn read(answer: &Value, tools: &ToolBox) -> (Vec<RawCall<'static>>, String) {
    let choice = &answer["choices"][0];
    let finish = Finish::from_reason(choice["finish_reason"].as_str().unwrap_or_default());
    let text = choice["message"]["content"].as_str().unwrap_or_default();
    let native = choice["message"]["tool_calls"].as_array();
    if let Some(calls) = native.filter(|calls| !calls.is_empty()) {
        let read = |call: &Value| {
            let name = call["function"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let raw = match &call["function"]["arguments"] {
                Value::Null => RawCall::without_arguments(name),
                Value::String(text) => RawCall::new(name, text.clone()),
                value => RawCall::from_value(name, value),
            };
            let raw = raw.with_finish(finish);
            match call["id"].as_str() {
                Some(id) => raw.with_id(id),
                None => raw,
            }
        };
        return (calls.iter().map(read).collect(), text.to_owned());
    }
    let options = ReadOptions::default().with_finish(finish);
    let reading = read_calls(text, &tools.tool_set(), &options);
    (reading.calls, reading.content)
}

/// The turn for the history: the calls that ran, and what came of them.
fn transcript(turn: usize, text: &str, reports: &[CallReport]) -> Vec<Value> {
    let id = |number: usize, report: &CallReport| {
        let own = report.history.id.clone();
        own.unwrap_or_else(|| format!("call_{turn}_{number}"))
    };
    let calls: Vec<Value> = reports
        .iter()
        .enumerate()
        .map(|(number, report)| {
            let call = &report.history;
            json!({"id": id(number, report), "type": "function", "function": {
                "name": call.name, "arguments": call.arguments,
            }})
        })
        .collect();
    let mut turn = vec![json!({"role": "assistant", "content": text, "tool_calls": calls})];
    for (number, report) in reports.iter().enumerate() {
        println!("-- {} {}", report.history.name, report.history.arguments);
        println!("   {}", report.message().replace('\n', "\n   "));
        turn.push(json!({
            "role": "tool", "tool_call_id": id(number, report), "content": report.message(),
        }));
    }
    turn
}
