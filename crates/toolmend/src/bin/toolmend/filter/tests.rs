use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const BOUNDS: Bounds = Bounds {
    threads: 4,
    line_bytes: 1 << 20,
};

fn echo(line: &str) -> Answer {
    Answer {
        line: line.to_owned(),
        is_error: line.contains("bad"),
    }
}

fn answering(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Arc<AnswerLine> {
    Arc::new(answer)
}

fn input(text: impl Into<Vec<u8>>) -> Input {
    ("input".to_owned(), Box::new(io::Cursor::new(text.into())))
}

/// Lines as long as their count says, and how far reading and writing have come.
struct Endless {
    line: Vec<u8>,
    left: usize,
    read: Arc<AtomicUsize>,
    written: Arc<AtomicUsize>,
    most_ahead: Arc<AtomicUsize>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.left.min(buffer.len() / self.line.len());
        for place in buffer.chunks_exact_mut(self.line.len()).take(count) {
            place.copy_from_slice(&self.line);
        }
        self.left -= count;
        let read = self.read.fetch_add(count, Ordering::SeqCst) + count;
        let ahead = read - self.written.load(Ordering::SeqCst);
        self.most_ahead.fetch_max(ahead, Ordering::SeqCst);
        Ok(count * self.line.len())
    }
}

/// Counts lines and forgets them.
struct Counting(Arc<AtomicUsize>);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = bytes.split(|byte| *byte == b'\n').count() - 1;
        self.0.fetch_add(lines, Ordering::SeqCst);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_hundred_thousand_lines_never_pile_up() {
    let lines = 100_000;
    let line = [vec![b'x'; 1023], vec![b'\n']].concat();
    let in_flight = IN_FLIGHT_BYTES / (line.len() - 1 + LINE_BYTES);
    let (read, written, most_ahead) =
        <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let endless = Endless {
        line,
        left: lines,
        read: Arc::clone(&read),
        written: Arc::clone(&written),
        most_ahead: Arc::clone(&most_ahead),
    };
    // The first line is answered only when the reader has gone as far ahead as it may.
    let answered = AtomicUsize::new(0);
    let (first, ahead) = (AtomicUsize::new(0), Arc::clone(&read));
    let answer = move |line: &str| {
        if first.fetch_add(1, Ordering::SeqCst) == 0 {
            while ahead.load(Ordering::SeqCst) < in_flight {
                thread::yield_now();
            }
        }
        answered.fetch_add(1, Ordering::SeqCst);
        echo(&line[..1])
    };
    let count = run(
        vec![("endless".to_owned(), Box::new(endless))],
        &mut Counting(Arc::clone(&written)),
        &answering(answer),
        BOUNDS,
        |_| {},
    );
    assert_eq!(count.unwrap().lines, lines as u64);
    // Beside what is paid for, one read and one batch may wait at the till.
    let most_ahead = most_ahead.load(Ordering::SeqCst);
    assert!(
        (in_flight..in_flight + 256).contains(&most_ahead),
        "{most_ahead}"
    );
}

/// An answer may be far longer than its line, and the writer far slower than the answering threads.
#[test]
fn long_answers_never_pile_up() {
    const ANSWER: usize = 1 << 20;
    let lines = 600;
    let (answered, written) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let most_ahead = Arc::new(AtomicUsize::new(0));
    let (count, done, ahead) = (
        Arc::clone(&answered),
        Arc::clone(&written),
        Arc::clone(&most_ahead),
    );
    let answer = move |_: &str| {
        let now = 1 + count.fetch_add(1, Ordering::SeqCst);
        ahead.fetch_max(now - done.load(Ordering::SeqCst), Ordering::SeqCst);
        Answer {
            line: "x".repeat(ANSWER),
            is_error: false,
        }
    };
    let mut out = Counting(Arc::clone(&written));
    let count = run(
        vec![input("{}\n".repeat(lines))],
        &mut out,
        &answering(answer),
        BOUNDS,
        |_| {},
    );
    assert_eq!(count.unwrap().lines, 600);
    // What may wait, and a batch of sixteen lines that each thread has begun.
    let bound = ANSWERED_BYTES / ANSWER + BOUNDS.threads * 16 + 16;
    let most_ahead = most_ahead.load(Ordering::SeqCst);
    assert!(most_ahead <= bound, "{most_ahead} answers, not {bound}");
}

#[test]
fn order_is_kept_however_long_a_line_takes() {
    let lines: Vec<String> = (0..5000).map(|at| format!("{at}\n")).collect();
    let text = lines.concat();
    let slow_first = |line: &str| {
        let turns = if line.ends_with('0') { 20_000 } else { 1 };
        let spun: u64 = (0..turns).map(std::hint::black_box).sum();
        assert!(spun < u64::MAX);
        echo(line)
    };
    let mut out = Vec::new();
    let count = run(
        vec![input(text.clone())],
        &mut out,
        &answering(slow_first),
        BOUNDS,
        |_| {},
    );
    assert_eq!(
        count.unwrap(),
        Count {
            lines: 5000,
            bad: 0
        }
    );
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn inputs_follow_each_other_and_bad_lines_are_counted() {
    let inputs = vec![input("a\nbad"), input(""), input("c\n\nbad\n")];
    let mut out = Vec::new();
    let seen = AtomicUsize::new(0);
    let count = run(inputs, &mut out, &answering(echo), BOUNDS, |lines| {
        seen.fetch_add(usize::try_from(lines).unwrap(), Ordering::SeqCst);
    });
    assert_eq!(count.unwrap(), Count { lines: 4, bad: 2 });
    assert_eq!(out, b"a\nbad\nc\nbad\n");
    assert_eq!(seen.load(Ordering::SeqCst), 4);
}

#[test]
fn a_panic_costs_one_line() {
    let answer = |line: &str| {
        assert_ne!(line, r#"{"id": 2}"#);
        echo(line)
    };
    let mut out = Vec::new();
    let text = "{\"id\": 1}\n{\"id\": 2}\n{\"id\": 3}\n";
    let count = run(
        vec![input(text)],
        &mut out,
        &answering(answer),
        BOUNDS,
        |_| {},
    );
    assert_eq!(count.unwrap(), Count { lines: 3, bad: 1 });
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines[0], lines[2]), ("{\"id\": 1}", "{\"id\": 3}"));
    assert!(lines[1].starts_with("{\"id\":2,\"error\":"), "{out}");
}

#[test]
fn an_error_of_the_input_ends_the_run_and_names_it() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("on fire"))
        }
    }
    let inputs = vec![
        input("a\n"),
        ("disk".to_owned(), Box::new(Broken) as Box<dyn Read + Send>),
    ];
    let mut out = Vec::new();
    let error = run(inputs, &mut out, &answering(echo), BOUNDS, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "disk: on fire");
    assert_eq!(out, b"a\n");
}

#[test]
fn a_closed_output_ends_the_run_quietly() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    // The input never ends.
    let endless = (
        "endless".to_owned(),
        Box::new(io::repeat(b'\n')) as Box<dyn Read + Send>,
    );
    let count = run(
        vec![input("a\n"), endless],
        &mut Closed,
        &answering(echo),
        BOUNDS,
        |_| {},
    );
    assert_eq!(count.unwrap(), Count::default());
}
