//! Arguments and subcommands.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use toolmend::protocol::{Defaults, Toolkit, answer_json, answer_repair};

use crate::{filter, policy};

/// Repairs the tool calls of LLM agents.
///
/// A filter: one JSON object a line in, one out, in the same order.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = r#"Example:
  echo '{"id": 1, "mode": "native",
         "tools": [{"name": "read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
         "raw": {"name": "Read", "arguments": "{\"path\": \"a.txt\",}"}}' | tr -d '\n' | toolmend repair

  answers with the call that may run:
  {"id":1,"outcome":"repaired","calls":[{"id":null,"name":"read","arguments":{"path": "a.txt"}, …}], …}

Exit status: 0; 1 if a line could not be answered (its answer is {"id","error"}); 2 if nothing could be done."#;

#[derive(Debug, Subcommand)]
enum Command {
    /// Repair tool calls, or refuse them with a message for the model.
    ///
    /// In: {"id", "tools", "mode": "native"|"mcp"|"text"|"stream", "raw"}; optional: "finish_reason",
    /// "tool_choice", "text_calls" ("leaked"|"expected"), "permitted" (names), "effects" (name -> effect).
    /// Out: {"id", "outcome": "unchanged"|"repaired"|"rejected"|"none", "calls", "content", "fixes", "reason",
    /// "feedback", "candidates", "each"}. Only what stands in "calls" may run.
    Repair(RepairArgs),
    /// Repair bare JSON text.
    ///
    /// In: {"id", "input", "schema"?}. Out: {"id", "ok", "value", "text", "truncated", "fixes"}.
    Json(Files),
    /// List every rule: what it does, how sure it is, what it costs.
    Rules,
}

#[derive(Debug, Args)]
struct RepairArgs {
    /// Tools for the lines that bring none: a JSON file with a list of OpenAI or MCP tool objects.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// What may be applied without asking: a TOML file with default_effect, effects, accept,
    /// accept_for, rules, integral_floats, limits.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    #[command(flatten)]
    files: Files,
}

#[derive(Debug, Args)]
struct Files {
    /// Files with one JSON object a line; standard input if there is none, or for `-`.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A failure that stops the command.
type Failure = Box<dyn std::error::Error>;

/// Runs the command; the error is for the user.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    let all_answered = match Cli::parse().command {
        Command::Repair(args) => {
            let defaults = defaults(&args)?;
            filter::run(&args.files.files, |line| answer_repair(line, &defaults))?
        }
        Command::Json(files) => filter::run(&files.files, answer_json)?,
        Command::Rules => list_rules()?,
    };
    Ok(if all_answered {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn defaults(args: &RepairArgs) -> Result<Defaults, Failure> {
    let mut defaults = Defaults::default();
    if let Some(path) = &args.tools {
        let toolkit =
            Toolkit::parse(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        for problem in toolkit.problems.iter() {
            eprintln!("toolmend: warning: {}: {problem}", path.display());
        }
        defaults.tools = Some(toolkit);
    }
    if let Some(path) = &args.policy {
        defaults.policy = policy::parse(&read(path)?, defaults.tools.as_ref())
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(defaults)
}

fn list_rules() -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    for rule in toolmend::rules() {
        let loss = rule
            .loss
            .map_or(String::new(), |loss| format!(" ({loss:?})").to_lowercase());
        let risk = format!("{:?}{loss}", rule.risk);
        let line = format!(
            "{:24} {:20} {:>4}  {}",
            rule.id,
            risk.to_lowercase(),
            rule.cost,
            rule.summary
        );
        if let Err(error) = writeln!(out, "{line}") {
            return if error.kind() == std::io::ErrorKind::BrokenPipe {
                Ok(true)
            } else {
                Err(error.into())
            };
        }
    }
    Ok(true)
}
