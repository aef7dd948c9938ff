//! Eight kinds of broken calls, and what comes of each: `cargo run -p toolmend-examples`.
//!
//! No key and no network. With `OPENAI_BASE_URL` (and `OPENAI_MODEL`, `OPENAI_API_KEY` where the
//! endpoint wants them) the debugger is the model behind it, alone, so that its work is seen.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use self_debug::{Debugger, HeuristicDebugger, LlmDebugger, OpenAiModel};
use toolmend_examples::quickstart::{cases, play, tools};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    let tools = tools(debugger()?);
    for (number, case) in cases().into_iter().enumerate() {
        print!("{}. {}", number + 1, play(&tools, case).await);
        println!();
    }
    Ok(())
}

fn debugger() -> Result<Box<dyn Debugger>, String> {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return Ok(Box::new(HeuristicDebugger::new()));
    }
    let model = OpenAiModel::from_env().map_err(|error| error.to_string())?;
    Ok(Box::new(LlmDebugger::new(model)))
}
