//! The command as a filter among others: order, pipes, interrupts.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Command;
use std::thread;

use serde_json::Value;

use super::{command, feed, file, request, run, tools_file};

#[test]
fn order_is_kept_whatever_the_lines_cost() {
    let mut input = String::new();
    for id in 0..600 {
        let items = if id % 60 == 0 {
            "{'a': [1, 2,]}, ".repeat(3000)
        } else {
            String::new()
        };
        let arguments = Value::from(format!("{{'path': 'a', 'x': [{items}]}}"));
        let rest = format!(
            r#""id": {id}, "mode": "native", "raw": {{"name": "read", "arguments": {arguments}}}"#
        );
        writeln!(input, "{}", request(&rest)).unwrap();
    }
    let many = run(&["repair", "--threads", "8"], input.as_bytes());
    let ids: Vec<u64> = many
        .lines
        .iter()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(ids, (0..600).collect::<Vec<_>>());
    assert_eq!(many.lines, run(&["repair", "--threads", "1"], input).lines);
    assert_eq!((many.status, &*many.errors), (0, ""));
}

#[test]
fn a_dialogue_gets_each_answer_before_its_next_line() {
    let tools = tools_file();
    let mut child = command(&["repair", "--tools", &tools]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for id in 0..5 {
        let question =
            format!("{{\"id\": {id}, \"mode\": \"native\", \"raw\": {{\"name\": \"now\"}}}}\n");
        stdin.write_all(question.as_bytes()).unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("{{\"id\":{id},")), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_follow_each_other() {
    let line = |id: &str| format!(r#"{{"id": "{id}", "input": "1"}}"#);
    let first = file(
        "first.jsonl",
        &format!("\u{FEFF}{}\n\n{}", line("a"), line("b")),
    );
    let last = file("last.jsonl", &line("d"));
    let run = run(&["json", &first, "-", &last], line("c"));
    let ids: Vec<&str> = run.lines.iter().map(|line| &line[7..8]).collect();
    assert_eq!((ids, run.status), (vec!["a", "b", "c", "d"], 0));
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let mut child = command(&["json"]).spawn().unwrap();
    // More than the pipes hold.
    feed(
        &mut child,
        "{\"id\": 1, \"input\": \"1\"}\n".repeat(100_000),
    );
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    let mut errors = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*errors), (Some(0), ""));
}

#[test]
fn an_interrupt_leaves_whole_lines() {
    for signal in ["INT", "TERM"] {
        let mut child = command(&["json"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = thread::spawn(move || {
            let line = format!("{{\"id\": 1, \"input\": \"['{}',]\"}}\n", "x".repeat(1000));
            // More than the pipes hold; the end of the input never comes.
            for _ in 0..2000 {
                if stdin.write_all(line.as_bytes()).is_err() {
                    break;
                }
            }
            stdin
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert!(
            rest.is_empty() || rest.ends_with('\n'),
            "the last line is not whole"
        );
        for line in first.lines().chain(rest.lines()) {
            assert!(
                line.starts_with("{\"id\":1,") && line.ends_with('}'),
                "{line}"
            );
        }
        let code = if signal == "INT" { 130 } else { 143 };
        assert_eq!(child.wait().unwrap().code(), Some(code));
        drop(writer.join());
    }
}

#[test]
fn no_progress_is_shown_to_a_pipe() {
    let run = run(&["json"], "{\"id\": 1, \"input\": \"1\"}\n".repeat(5000));
    assert_eq!((run.lines.len(), &*run.errors), (5000, ""));
}
