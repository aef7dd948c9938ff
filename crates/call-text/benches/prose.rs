//! How long text without calls takes, as a ratio to one search for a byte that is not in it.
//!
//! `cargo bench -p call-text`
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![allow(clippy::panic, reason = "a bench without its subject must stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use call_text::{CallReader, Mode, Part, ReadOptions};
use repair_core::{ToolSet, ToolSpec};

const PROSE: &str = "The planets with rings are the four outer ones, and the rings of \
    Saturn are the ones that a small telescope shows.\nThe others were found much later, \
    when a star was hidden (for some seconds) by what nobody had seen before.\n\n";
const LIST: &str = "- a point, with `code` in it and [a link](https://example.org/page)\n\
    1. a number\n   continued here, with 5 < 7 and a <b>word</b>\n# A title\nplain words again\n";
const CODE: &str = "fn first<T>(items: &[T]) -> Option<&T> {\n    items.iter().map(|item| item)\
    .next()\n}\nlet map: HashMap<String, Vec<u8>> = HashMap::new();\nif a < b && c[0] > d { run(a, b); }\n";

fn median(rounds: usize, mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(rounds / 2).copied().unwrap_or_default()
}

/// Reads the text in pieces of this many characters; the bytes that came out.
fn read(text: &str, size: usize, mode: Mode, tools: &ToolSet) -> usize {
    let mut reader = CallReader::new(tools.clone(), ReadOptions::default().with_mode(mode));
    let mut bytes = 0;
    let mut take = |part: Part<'_>| match part {
        Part::Text(text) => bytes += text.len(),
        Part::Call(call) => panic!("{call:?}"),
    };
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        reader.feed(piece, &mut take);
        rest = after;
    }
    reader.end(&mut take);
    bytes
}

fn main() {
    let (tools, _) = ToolSet::new(
        (0..20).map(|number| ToolSpec::without_schema(format!("search_number_{number}"))),
    );
    println!(
        "{:<44} {:>11} {:>11} {:>8}",
        "a million bytes", "ours", "one search", "ratio"
    );
    for (name, sample) in [("prose", PROSE), ("a list", LIST), ("code", CODE)] {
        let text = sample.repeat(1_000_000 / sample.len());
        let search = median(21, || {
            black_box(black_box(&text).find('\0'));
        });
        for mode in [Mode::Leaked, Mode::Expected] {
            for (pieces, size) in [("whole", text.len()), ("pieces of 3", 3)] {
                let ours = median(7, || {
                    assert_eq!(read(&text, size, mode, &tools), text.len());
                });
                println!(
                    "{:<44} {:>11} {:>11} {:>8.1}",
                    format!("{name}, {mode:?}, {pieces}"),
                    format!("{ours:.1?}"),
                    format!("{search:.1?}"),
                    ours.as_secs_f64() / search.as_secs_f64()
                );
            }
        }
    }
}
