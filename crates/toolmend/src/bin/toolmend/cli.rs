//! Arguments and subcommands.

use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use toolmend::protocol::{Defaults, Toolkit, answer_json, answer_repair};

use crate::audit::Audit;
use crate::filter::{self, AnswerLine, Bounds, Count, Input};
use crate::{interrupt, policy, progress};

/// Repairs the tool calls of LLM agents.
///
/// A filter: one JSON object a line in, one JSON object a line out, in the same order. Each command
/// explains its lines, with an example: toolmend repair --help.
#[derive(Debug, Parser)]
// The help is laid out already, and the same whatever features another crate gives clap.
#[command(version, after_help = EXIT_STATUS, term_width = 0)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = r#"Exit status:
  0  every line was answered (a refused call is an answer)
  1  some lines could not be read; each of them got {"id","error"} for an answer
  2  nothing could be done: a bad option, tools file or policy file, or a failed read or write"#;

const REPAIR_HELP: &str = r#"Example:
  echo '{"id":1,"mode":"native","tools":[{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}],"raw":{"name":"Read","arguments":"{\"path\": \"a.txt\",}"}}' | toolmend repair

  The model wrote the tool's name in the wrong case and a comma too many. The answer, shortened:
  {"id":1,"outcome":"repaired","calls":[{"name":"read","arguments":{"path": "a.txt"}}],"fixes":[...]}

A line in:
  id             anything; it comes back in the answer
  mode           how the calls come, and so what raw is:
                   native, mcp  {"name","arguments"} or a list of them; arguments is a text or an object
                   text         the assistant's text, or a list of its pieces
                   stream       a list of chat-completion call deltas
  raw            what the model wrote
  tools          a list of OpenAI or MCP tool objects; not needed with --tools
 optional:
  finish_reason  as the provider gave it; a reply that ended by length was cut in its last call
  tool_choice    "none": nothing is a call
  text_calls     for mode text. leaked (default): tools were offered natively, so only what must be a call
                 is read as one. expected: the model was told to print its calls
  permitted      names of the tools that may be called now
  effects        tool name -> read_only, idempotent, mutating, destructive or unknown; decides how sure a
                 repair must be

A line out:
  outcome        unchanged, repaired, rejected, or none (there was no call); the worst of all calls
  calls          the calls that may run, and no others: id, name, arguments, arguments_text (exact text)
  each           one outcome per call, in order
  content        the text left after the calls were taken out
  fixes          every change: rule, place, before, after, risk, sentence (the first 1000; more_fixes
                 counts the rest)
  reason         why a call was rejected
  feedback       what to tell the model
  candidates     repairs that were too risky to apply without asking

A policy file:
  default_effect = "mutating"         # of tools whose effect is not known
  effects = { delete_file = "destructive", search = "read_only" }
  accept = "inferred"                 # risk that is applied: lossless, inferred or guess
  accept_for = { search = "guess" }
  rules = { name_affix = "off" }      # off, or the risk to count it as; see: toolmend rules
  integral_floats = true              # 5.0 becomes 5 where the schema wants an integer
  limits = { bytes = 1000000, depth = 64, errors = 5, calls = 16 }  # longest arguments, deepest
                                      # nesting, most errors in feedback, most calls in a text"#;

const JSON_HELP: &str = r#"Example:
  echo '{"id":1,"input":"{path: a.txt, lines: [1, 2"}' | toolmend json

  The answer, shortened:
  {"id":1,"ok":true,"value":{"path": "a.txt","lines": [1, 2]},"truncated":true,"fixes":[...]}

A line in:
  id         anything; it comes back in the answer
  input      the text
  schema     optional: a JSON Schema that the value is made to fit, where that is no guess

A line out:
  ok         whether there is a value
  value      the value; several different ones as a list
  text       its exact JSON text
  truncated  the input was cut off: the value is the part of it that is certain
  fixes      every change: rule, place, before, after, risk, sentence (the first 1000; more_fixes counts
             the rest)
  problem    why there is no value"#;

#[derive(Debug, Subcommand)]
enum Command {
    /// Repair tool calls, or refuse them with a message for the model.
    ///
    /// Reads what models wrote as tool calls, one JSON object a line, and answers each with the calls
    /// that may run, every change that was made, and what to tell the model. Calls that were right come
    /// back byte for byte.
    #[command(after_long_help = REPAIR_HELP)]
    Repair(RepairArgs),
    /// Repair bare JSON text.
    ///
    /// Reads almost-JSON, one request a line, and answers each with strict JSON.
    #[command(after_long_help = JSON_HELP)]
    Json(FilterArgs),
    /// Read the audit logs of agents: sum them up, or make a dataset of them.
    #[command(subcommand)]
    Audit(Audit),
    /// List every rule: its name, how sure it is, what it costs, what was wrong.
    ///
    /// The names are those of a policy file and of the fixes in an answer. Costs are added up over a
    /// call: of several repairs the cheapest is taken, and two that cost the same are a refusal.
    Rules,
}

#[derive(Debug, Args)]
struct RepairArgs {
    /// Tools for the lines that bring none: a JSON file with a list of OpenAI or MCP tool objects.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// What may be applied without asking: a TOML file, see below.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
struct FilterArgs {
    /// Files with one JSON object a line; standard input if there is none, or for `-`.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How many lines are worked on at once [default: as many as there are cores].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The longest line; a longer one is answered with an error.
    #[arg(long, value_name = "N", default_value_t = 128 << 20)]
    max_line_bytes: usize,
}

/// A failure that stops the command.
type Failure = Box<dyn std::error::Error>;

/// Runs the command; the error is for the user.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    match Cli::parse().command {
        Command::Repair(args) => {
            let defaults = defaults(&args)?;
            let answer = move |line: &str| answer_repair(line, &defaults);
            filter(&args.filter, &(Arc::new(answer) as Arc<AnswerLine>))
        }
        Command::Json(args) => filter(&args, &(Arc::new(answer_json) as Arc<AnswerLine>)),
        Command::Audit(audit) => Ok(audit.run(open_all(&audit.logs().files)?)?),
        Command::Rules => list_rules(),
    }
}

fn filter(args: &FilterArgs, answer: &Arc<AnswerLine>) -> Result<ExitCode, Failure> {
    let inputs = open_all(&args.files)?;
    interrupt::install()?;
    let cores = std::thread::available_parallelism();
    let bounds = Bounds {
        threads: args.threads.or(cores.ok()).map_or(1, NonZeroUsize::get),
        line_bytes: args.max_line_bytes,
    };
    let bar = progress::bar();
    // Not locked for the whole run: an interrupt waits for the lock.
    let count = filter::run(inputs, &mut io::stdout(), answer, bounds, |lines| {
        bar.inc(lines);
    });
    bar.finish_and_clear();
    let Count { lines, bad } = count?;
    if bad == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "toolmend: {bad} of {lines} lines could not be read: see the `error` in their answers"
    );
    Ok(ExitCode::from(1))
}

/// Opens every input before the first line is read, so that a bad name is told at once.
fn open_all(files: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    if files.is_empty() {
        return Ok(vec![stdin()]);
    }
    files.iter().map(|path| open(path)).collect()
}

fn open(path: &Path) -> Result<Input, Failure> {
    if path.as_os_str() == "-" {
        return Ok(stdin());
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((name, Box::new(file))),
        Err(error) => Err(format!("{name}: {error}").into()),
    }
}

fn stdin() -> Input {
    ("standard input".to_owned(), Box::new(io::stdin()))
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

fn list_rules() -> Result<ExitCode, Failure> {
    let header = format!("{:26} {:21} {:>4}  what was wrong", "rule", "risk", "cost");
    let rows = policy::rules().map(|rule| {
        let loss = rule
            .loss
            .map_or(String::new(), |loss| format!(" ({loss:?})").to_lowercase());
        let risk = format!("{:?}{loss}", rule.risk);
        format!(
            "{:26} {:21} {:>4}  {}",
            rule.id,
            risk.to_lowercase(),
            rule.cost,
            rule.summary
        )
    });
    let mut out = io::stdout().lock();
    for line in std::iter::once(header).chain(rows) {
        if let Err(error) = writeln!(out, "{line}") {
            return if error.kind() == io::ErrorKind::BrokenPipe {
                Ok(ExitCode::SUCCESS)
            } else {
                Err(error.into())
            };
        }
    }
    Ok(ExitCode::SUCCESS)
}
