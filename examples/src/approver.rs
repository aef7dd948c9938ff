//! An approver that asks the person at the terminal.

use std::fmt::Write;
use std::io::BufRead;
use std::sync::atomic::{AtomicU64, Ordering};

use self_debug::{Approval, ApprovalRequest, Approver, async_trait};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

/// Shows what would run and why that needs consent, and reads the answer: `yes 3` allows question
/// 3, `no 3` forbids it, `3 {"path": "a.md"}` wants other arguments. Parallel calls are asked about
/// one after the other, and a line that answers another question is not taken for this one, so a
/// late answer to a question that timed out allows nothing.
#[derive(Debug)]
pub struct TerminalApprover {
    lines: Mutex<Receiver<String>>,
    asked: AtomicU64,
}

impl TerminalApprover {
    /// Reads the answers from standard input.
    pub fn new() -> Self {
        Self::reading(std::io::BufReader::new(std::io::stdin()))
    }

    /// Reads the answers from elsewhere. After its end every answer is no.
    pub fn reading(answers: impl BufRead + Send + 'static) -> Self {
        let (sender, lines) = channel(1);
        // Reading blocks, so it has a thread of its own; that ends with the process or the input.
        std::thread::spawn(move || {
            for line in answers.lines().map_while(Result::ok) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            lines: Mutex::new(lines),
            asked: AtomicU64::new(0),
        }
    }
}

impl Default for TerminalApprover {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    #[allow(clippy::print_stderr, reason = "it asks a person")]
    async fn review(&self, request: &ApprovalRequest) -> Approval {
        let mut lines = self.lines.lock().await;
        let number = 1 + self.asked.fetch_add(1, Ordering::Relaxed);
        eprint!("{}", question(number, request));
        while let Some(line) = lines.recv().await {
            match answer(number, &line) {
                Some(approval) => return approval,
                None => eprintln!("that is no answer to question {number}"),
            }
        }
        Approval::Deny {
            because: Some("nobody is at the terminal".to_owned()),
        }
    }
}

/// Whether a character could hide or reorder what stands beside it.
fn is_hiding(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The question. Texts of a model could hold characters that hide what would run.
fn question(number: u64, request: &ApprovalRequest) -> String {
    let mut text = String::new();
    let mut line = |label: &str, content: &str| {
        let visible: String = content
            .chars()
            .map(|letter| {
                if is_hiding(letter) {
                    '\u{fffd}'
                } else {
                    letter
                }
            })
            .collect();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "   {label:9} {visible}");
    };
    line("tool", &format!("{} ({:?})", request.tool, request.effect));
    line("would run", &request.arguments);
    line("failed", &request.failed);
    line("because", &request.error);
    line("why ask", &format!("{:?}", request.reasons));
    if !request.missing.is_empty() {
        line("unknown", &request.missing.join(", "));
    }
    if !request.rationale.is_empty() {
        line("debugger", &request.rationale);
    }
    format!(
        "?? question {number}\n{text}   yes {number}, no {number}, or {number} {{other arguments}}: "
    )
}

/// What a line says about a question; `None` if it is about none or another one.
fn answer(number: u64, line: &str) -> Option<Approval> {
    let (word, rest) = line.trim().split_once(' ')?;
    let number = number.to_string();
    match (word, rest.trim()) {
        ("yes", about) if about == number => Some(Approval::Allow),
        ("no", about) if about == number => Some(Approval::Deny { because: None }),
        (about, arguments) if about == number && arguments.starts_with('{') => {
            Some(Approval::Replace {
                arguments: arguments.to_owned(),
            })
        }
        _ => None,
    }
}
