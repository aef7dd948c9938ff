//! Lines in, answers out: in order, on all cores, in bounded memory.
//!
//! A reader thread cuts the input into batches and never waits for a batch to fill while it has
//! lines and none follows at once: a dialogue gets each answer before its next line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use toolmend::protocol::Answer;

/// Most lines of a batch.
const BATCH_LINES: usize = 4096;
/// Most bytes of a batch, but at least one line.
const BATCH_BYTES: usize = 8 << 20;
/// Lines that the reader may be ahead.
const AHEAD: usize = 1024;

/// What the reader thread sends.
type Line = io::Result<Vec<u8>>;

/// Answers every line of the files; false if a line could not be answered.
pub(crate) fn run(files: &[PathBuf], answer: impl Fn(&str) -> Answer + Sync) -> io::Result<bool> {
    let (sender, lines) = sync_channel(AHEAD);
    let inputs = open_all(files)?;
    // The thread ends with the input, or when nobody receives any more. It is not joined: it may
    // wait for a line that never comes.
    std::thread::spawn(move || read_lines(inputs, &sender));
    let progress = progress_bar();
    let mut out = io::stdout().lock();
    let mut all_answered = true;
    while let Some(batch) = next_batch(&lines)? {
        let answers: Vec<Answer> = batch
            .par_iter()
            .map(|line| answer_line(line, &answer))
            .collect();
        progress.inc(answers.len() as u64);
        all_answered &= !answers.iter().any(|answer| answer.is_error);
        if !write_answers(&mut out, &answers)? {
            break;
        }
    }
    progress.finish_and_clear();
    Ok(all_answered)
}

/// Opens every input before the first line is read, so that a bad name is told at once.
fn open_all(files: &[PathBuf]) -> io::Result<Vec<Box<dyn BufRead + Send>>> {
    if files.is_empty() {
        return Ok(vec![Box::new(BufReader::new(io::stdin()))]);
    }
    files.iter().map(|path| open(path)).collect()
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

fn read_lines(inputs: Vec<Box<dyn BufRead + Send>>, sender: &SyncSender<Line>) {
    for mut input in inputs {
        loop {
            let mut line = Vec::new();
            let sent = match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => sender.send(Ok(line)),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => sender.send(Err(error)),
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// The next lines: at least one, and more as far as they are there already. Empty lines are none.
fn next_batch(lines: &Receiver<Line>) -> io::Result<Option<Vec<Vec<u8>>>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH_LINES && bytes < BATCH_BYTES {
        let received = if batch.is_empty() {
            lines.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            // The reader needs a moment between two lines; a pipe that is full is never "empty".
            lines
                .recv_timeout(Duration::from_micros(200))
                .map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                })
        };
        match received {
            Ok(line) => {
                let line = line?;
                if !line.iter().all(u8::is_ascii_whitespace) {
                    bytes += line.len();
                    batch.push(line);
                }
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    Ok((!batch.is_empty()).then_some(batch))
}

fn answer_line(line: &[u8], answer: &(impl Fn(&str) -> Answer + Sync)) -> Answer {
    match std::str::from_utf8(line) {
        Ok(line) => answer(line.trim_end_matches(['\n', '\r'])),
        Err(error) => Answer {
            line: format!(
                "{{\"id\":null,\"error\":\"the line is not UTF-8 (byte {})\"}}",
                error.valid_up_to()
            ),
            is_error: true,
        },
    }
}

/// Writes and flushes a batch; false if nobody reads any more.
fn write_answers(out: &mut impl Write, answers: &[Answer]) -> io::Result<bool> {
    let mut text = String::with_capacity(answers.iter().map(|answer| answer.line.len() + 1).sum());
    for answer in answers {
        text.push_str(&answer.line);
        text.push('\n');
    }
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// A line of progress, where the user would not see the answers pass by.
fn progress_bar() -> ProgressBar {
    if !io::stderr().is_terminal() || io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} {human_pos} lines, {per_sec}, {elapsed}")
    {
        bar.set_style(style);
    }
    bar
}
