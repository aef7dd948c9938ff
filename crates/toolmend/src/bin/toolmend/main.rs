//! The `toolmend` command: a filter over lines of JSON.
#![allow(clippy::doc_markdown, reason = "the help text is not Markdown")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the command talks to its user"
)]

mod audit;
mod cli;
mod filter;
mod interrupt;
mod lines;
mod policy;
mod progress;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|error| {
        eprintln!("toolmend: {error}");
        ExitCode::from(2)
    })
}
