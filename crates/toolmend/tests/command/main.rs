//! The built command, as its users run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod answers;
mod audit;
mod bad_lines;
mod help;
mod process;
mod setup;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

/// Tools of most lines.
const TOOLS: &str = r#"[
    {"name": "read", "parameters": {"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
    {"name": "delete", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
        "annotations": {"destructiveHint": true}}]"#;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
    command.args(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a run gave.
struct Run {
    lines: Vec<String>,
    errors: String,
    status: i32,
}

fn run(args: &[&str], input: impl Into<Vec<u8>>) -> Run {
    let mut child = command(args).spawn().unwrap();
    feed(&mut child, input);
    let output = child.wait_with_output().unwrap();
    Run {
        lines: String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect(),
        errors: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

/// Writes the whole input from a thread; a command that stops reading is not its business.
fn feed(child: &mut Child, input: impl Into<Vec<u8>>) {
    let mut stdin = child.stdin.take().unwrap();
    let input = input.into();
    thread::spawn(move || stdin.write_all(&input));
}

/// A file for the command to read.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn tools_file() -> String {
    file("tools.json", TOOLS)
}

/// A request with the usual tools in one line.
fn request(rest: &str) -> String {
    format!("{{\"tools\": {}, {rest}}}", TOOLS.replace('\n', " "))
}

/// Whether everything that `part` says is so in `whole`. Lists must be as long, texts equal.
fn holds(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| holds(value, whole.get(key).unwrap_or(&Value::Null))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(a, b)| holds(a, b))
        }
        _ => part == whole,
    }
}
