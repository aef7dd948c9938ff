//! Lines in, answers out: in order, on all cores, in bounded memory.
//!
//! One thread reads, some answer, the caller's writes. The reader puts every batch of lines into
//! two queues: one that the answering threads share, and one in which the writer finds the batches
//! in order, each with the place where its answers will arrive. Lines between reader and writer are
//! paid for from one budget of bytes, and answers that wait for the writer from another, because an
//! answer may be far longer than its line. When the first is spent, the reader waits; when the
//! second is, no further batch is begun. What was begun is always finished, so that the writer never
//! waits for a batch that waits for it.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use toolmend::protocol::{Answer, refuse};

use crate::lines::{Line, Lines};

/// What the lines between reader and writer may take together, in bytes. One batch may always be
/// there, however large.
const IN_FLIGHT_BYTES: usize = 64 << 20;
/// What the answers that wait for the writer may take together before no batch is begun any more.
const ANSWERED_BYTES: usize = 64 << 20;
/// What a line costs beside its bytes.
const LINE_BYTES: usize = 256;
/// Stack of an answering thread: validators recurse, though not deeper than the limit on nesting.
const STACK_BYTES: usize = 16 << 20;

/// How lines are answered.
pub(crate) type AnswerLine = dyn Fn(&str) -> Answer + Send + Sync;

/// An input with the name that its errors bear.
pub(crate) type Input = (String, Box<dyn Read + Send>);

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// How many threads answer.
    pub(crate) threads: usize,
    /// The longest line, in bytes.
    pub(crate) line_bytes: usize,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) lines: u64,
    /// Lines that could not be answered.
    pub(crate) bad: u64,
}

/// Lines to answer, and where their answers go.
struct Batch {
    lines: Vec<Line>,
    answers: Sender<Answers>,
    permit: Permit,
}

/// The answers of a batch, each with its line break.
struct Answers {
    text: String,
    count: Count,
    /// Given back when the answers are written.
    _permits: [Permit; 2],
}

/// What the answering threads share.
struct Work {
    batches: Mutex<Receiver<Batch>>,
    answered: Arc<Budget>,
}

impl Work {
    /// The next batch, once the writer has kept up; `None` at the end. One thread at a time waits.
    fn next(&self) -> Option<Batch> {
        let batches = locked(&self.batches);
        self.answered.wait();
        batches.recv().ok()
    }
}

/// Answers every line of the inputs on `out`, and tells `progress` how many were written. Ends
/// early, without an error, when nobody reads `out` any more.
pub(crate) fn run(
    inputs: Vec<Input>,
    out: &mut impl Write,
    answer: &Arc<AnswerLine>,
    bounds: Bounds,
    progress: impl Fn(u64),
) -> io::Result<Count> {
    let (batches, shared) = channel();
    let (places, in_order) = channel();
    let work = Arc::new(Work {
        batches: Mutex::new(shared),
        answered: Arc::new(Budget::new(ANSWERED_BYTES)),
    });
    // No thread is joined: the reader may wait for a line that never comes.
    for _ in 0..bounds.threads.max(1) {
        let (work, answer) = (Arc::clone(&work), Arc::clone(answer));
        thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || answer_batches(&work, &*answer, bounds.line_bytes))?;
    }
    thread::Builder::new()
        .spawn(move || read_inputs(inputs, bounds.line_bytes, &batches, &places))?;
    write_in_order(&in_order, out, progress)
}

fn write_in_order(
    in_order: &Receiver<io::Result<Receiver<Answers>>>,
    out: &mut impl Write,
    progress: impl Fn(u64),
) -> io::Result<Count> {
    let mut total = Count::default();
    for place in in_order {
        let lost = |_| io::Error::other("an answering thread died");
        let answers = place?.recv().map_err(lost)?;
        match out
            .write_all(answers.text.as_bytes())
            .and_then(|()| out.flush())
        {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            Err(error) => return Err(error),
        }
        total.lines += answers.count.lines;
        total.bad += answers.count.bad;
        progress(answers.count.lines);
    }
    Ok(total)
}

// ---- the reader ----

fn read_inputs(
    inputs: Vec<Input>,
    line_bytes: usize,
    batches: &Sender<Batch>,
    places: &Sender<io::Result<Receiver<Answers>>>,
) {
    let budget = Arc::new(Budget::new(IN_FLIGHT_BYTES));
    for (name, input) in inputs {
        let mut lines = Lines::new(input, line_bytes);
        loop {
            let lines = match lines.next_batch() {
                Ok(Some(lines)) => lines,
                Ok(None) => break,
                Err(error) => {
                    let error = io::Error::new(error.kind(), format!("{name}: {error}"));
                    // If nobody waits for it, nobody needs it.
                    let _ = places.send(Err(error));
                    return;
                }
            };
            let bytes = lines
                .iter()
                .map(|line| line.bytes().len() + LINE_BYTES)
                .sum();
            let permit = Budget::take(&budget, bytes);
            let (answers, place) = channel();
            let batch = Batch {
                lines,
                answers,
                permit,
            };
            // The queues are closed when the run has ended.
            if places.send(Ok(place)).is_err() || batches.send(batch).is_err() {
                return;
            }
        }
    }
}

// ---- the answering threads ----

fn answer_batches(work: &Work, answer: &AnswerLine, limit: usize) {
    while let Some(batch) = work.next() {
        let mut text = String::new();
        let mut count = Count::default();
        for line in &batch.lines {
            let answer = answer_line(line, answer, limit);
            count.lines += 1;
            count.bad += u64::from(answer.is_error);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", answer.line);
        }
        let permits = [batch.permit, Budget::pay(&work.answered, text.len())];
        // A writer that is gone needs no answers.
        let _ = batch.answers.send(Answers {
            text,
            count,
            _permits: permits,
        });
    }
}

fn answer_line(line: &Line, answer: &AnswerLine, limit: usize) -> Answer {
    let text = String::from_utf8_lossy(line.bytes());
    match (line, std::str::from_utf8(line.bytes())) {
        (Line::TooLong(_), _) => refuse(
            &text,
            &format!(
                "the line is longer than {limit} bytes: shorten it, or raise --max-line-bytes"
            ),
        ),
        (Line::Whole(_), Err(error)) => refuse(
            &text,
            &format!("the line is not UTF-8 (byte {})", error.valid_up_to()),
        ),
        // A fault of ours in one line must not take the others with it.
        (Line::Whole(_), Ok(text)) => catch_unwind(AssertUnwindSafe(|| answer(text)))
            .unwrap_or_else(|_| refuse(text, "this line made toolmend fail: please report it")),
    }
}

// ---- the budget ----

/// Bytes that may be somewhere at once.
#[derive(Debug)]
struct Budget {
    limit: usize,
    taken: Mutex<usize>,
    given_back: Condvar,
}

/// A part of the budget, given back on drop.
#[derive(Debug)]
struct Permit {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            taken: Mutex::new(0),
            given_back: Condvar::new(),
        }
    }

    /// Waits until `bytes` are there, or until all of it is: more than all is given then.
    fn take(budget: &Arc<Self>, bytes: usize) -> Permit {
        let bytes = bytes.min(budget.limit);
        budget.wait_for(bytes);
        Self::pay(budget, bytes)
    }

    /// Waits until no more than all of it is taken.
    fn wait(&self) {
        self.wait_for(0);
    }

    fn wait_for(&self, bytes: usize) {
        let mut taken = locked(&self.taken);
        while *taken > self.limit - bytes {
            taken = self
                .given_back
                .wait(taken)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes `bytes`, whether they are there or not.
    fn pay(budget: &Arc<Self>, bytes: usize) -> Permit {
        *locked(&budget.taken) += bytes;
        Permit {
            budget: Arc::clone(budget),
            bytes,
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *locked(&self.budget.taken) -= self.bytes;
        self.budget.given_back.notify_one();
    }
}

/// What is locked here stays whole even if a thread dies.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
