//! How long reading takes, beside what a host does with the same text anyway: one search for a byte
//! that is not in it, appending it to a string, repairing the same calls natively.
//!
//! `cargo bench -p call-text --bench prose`, also with some of `-- whole pieces calls hostile`; any
//! other words choose the rows that hold one of them.
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use call_text::{CallReader, Mode, Part, ReadOptions};
use repair_core::{Policy, RawCall, ToolSet, ToolSpec};
use serde_json::json;

const PROSE: &str = "The planets with rings are the four outer ones, and the rings of \
    Saturn are the ones that a small telescope shows.\nThe others were found much later, \
    when a star was hidden (for some seconds) by what nobody had seen before.\n\n";
const LIST: &str = "- a point, with `code` in it and [a link](https://example.org/page)\n\
    1. a number\n   continued here, with 5 < 7 and a <b>word</b>\n# A title\nplain words again\n";
const CODE: &str = "fn first<T>(items: &[T]) -> Option<&T> {\n    items.iter().map(|item| item)\
    .next()\n}\nlet map: HashMap<String, Vec<u8>> = HashMap::new();\nif a < b && c[0] > d { run(a, b); }\n";
/// Beginnings of what never comes.
const HOSTILE: &[&str] = &[
    "<",
    "[",
    "`",
    "(",
    "\n",
    "<tool_call",
    "<tool_call>",
    "[TOOL_CALLS]",
    "<function=search_number_1>",
    "search_number_1(",
    "{\"a\":",
    "\n{\"a\": [",
    "{\"name\": \"search_number_1\", ",
    "~~~\n",
    "\n> ",
];
const CALL: &str = r#"{"query": "rings of the outer planets", "limit": 20, "deep": true, "tags": ["a", "b"], "page": {"first": 1, "last": 9}}"#;

type Group = fn(&ToolSet);

const GROUPS: &[(&str, Group)] = &[
    ("whole", whole),
    ("pieces", pieces_of_three),
    ("calls", calls),
    ("hostile", hostile),
];

/// What is asked for: groups if they are names of groups, else rows.
fn wanted(groups: bool) -> Vec<String> {
    let is_group = |word: &String| GROUPS.iter().any(|(name, _)| name == word);
    std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-') && is_group(word) == groups)
        .collect()
}

/// Prints the least time of the work, and of the baseline, measured in turns: a busy machine only
/// adds.
fn row(name: &str, limit: &str, rounds: usize, mut work: impl FnMut(), mut baseline: impl FnMut()) {
    let wanted = wanted(false);
    if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word)) {
        return;
    }
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let mut least = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        least.0 = least.0.min(time(&mut work));
        least.1 = least.1.min(time(&mut baseline));
    }
    let (ours, baseline) = least;
    println!(
        "{name:<44} {:>11} {:>11} {:>8.1} {limit:>6}",
        format!("{ours:.1?}"),
        format!("{baseline:.1?}"),
        ours.as_secs_f64() / baseline.as_secs_f64()
    );
}

/// The text in pieces of this many bytes.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Reads the pieces; how many bytes of text came out, and the calls.
fn read(pieces: &[&str], mode: Mode, tools: &ToolSet) -> (usize, Vec<RawCall<'static>>) {
    let mut reader = CallReader::new(tools.clone(), ReadOptions::default().with_mode(mode));
    let (mut bytes, mut calls) = (0, Vec::new());
    let mut take = |part: Part<'_>| match part {
        Part::Text(text) => bytes += text.len(),
        Part::Call(call) => calls.push(call),
    };
    for piece in pieces {
        reader.feed(piece, &mut take);
    }
    reader.end(&mut take);
    (bytes, calls)
}

fn head(what: &str, baseline: &str) {
    println!(
        "\n{what:<44} {:>11} {baseline:>11} {:>8} {:>6}",
        "ours", "ratio", "limit"
    );
}

fn whole(tools: &ToolSet) {
    head("a million bytes, whole", "one search");
    prose(tools, usize::MAX, |pieces| {
        for piece in pieces {
            black_box(memchr::memchr(0, black_box(piece.as_bytes())));
        }
    });
}

fn pieces_of_three(tools: &ToolSet) {
    head("a million bytes, in pieces of 3", "appending");
    prose(tools, 3, |pieces| {
        let mut whole = String::new();
        for piece in black_box(pieces) {
            whole.push_str(piece);
        }
        black_box(whole);
    });
}

fn prose(tools: &ToolSet, size: usize, baseline: fn(&[&str])) {
    for (name, sample) in [("prose", PROSE), ("a list", LIST), ("code", CODE)] {
        let text = sample.repeat(1_000_000 / sample.len());
        let pieces = pieces(&text, size);
        for mode in [Mode::Leaked, Mode::Expected] {
            row(
                &format!("{name}, {mode:?}"),
                "3",
                21,
                || assert_eq!(read(&pieces, mode, tools), (text.len(), Vec::new())),
                || baseline(&pieces),
            );
        }
    }
}

fn calls(tools: &ToolSet) {
    head("a reply with two hundred calls", "native");
    let tags = CALL_IN_TAGS;
    for (name, before, after) in [
        (
            "JSON in tags",
            "<tool_call>\n{\"name\": \"NAME\", \"arguments\": ",
            "}\n</tool_call>\n",
        ),
        ("name and JSON", "[TOOL_CALLS]NAME[ARGS]", ""),
        ("tags", "", ""),
    ] {
        let mut text = String::from("I look it up.\n");
        let native: Vec<RawCall<'_>> = (0..200)
            .map(|number| {
                let name = format!("search_number_{}", number % 20);
                if before.is_empty() {
                    text.push_str(&tags.replace("NAME", &name));
                } else {
                    let _ = write!(text, "{}{CALL}{after}", before.replace("NAME", &name));
                }
                RawCall::new(name, CALL)
            })
            .collect();
        let policy = Policy::default();
        let repair = |calls: &[RawCall<'_>]| {
            for call in calls {
                assert!(black_box(tools.repair(call, &policy)).call().is_some());
            }
        };
        for mode in [Mode::Leaked, Mode::Expected] {
            for (cut, size) in [("whole", usize::MAX), ("pieces of 3", 3)] {
                let pieces = pieces(&text, size);
                row(
                    &format!("{name}, {mode:?}, {cut}"),
                    "2",
                    31,
                    || {
                        let (_, calls) = read(&pieces, mode, tools);
                        assert_eq!(calls.len(), native.len());
                        repair(&calls);
                    },
                    || repair(&native),
                );
            }
        }
    }
}

const CALL_IN_TAGS: &str = "<tool_call>\n<function=NAME>\n<parameter=query>\nrings of the outer planets\n</parameter>\n\
    <parameter=limit>\n20\n</parameter>\n<parameter=deep>\ntrue\n</parameter>\n<parameter=tags>\n[\"a\", \"b\"]\n\
    </parameter>\n<parameter=page>\n{\"first\": 1, \"last\": 9}\n</parameter>\n</function>\n</tool_call>\n";

/// The time of a million bytes beside that of a quarter of them: 4 is linear.
fn hostile(tools: &ToolSet) {
    head("a million bytes of", "a quarter");
    for unit in HOSTILE {
        for mode in [Mode::Leaked, Mode::Expected] {
            for (cut, size) in [("whole", usize::MAX), ("pieces of 997", 997)] {
                let text = unit.repeat(1_000_000 / unit.len());
                let quarter = unit.repeat(250_000 / unit.len());
                let (text, quarter) = (pieces(&text, size), pieces(&quarter, size));
                row(
                    &format!("{unit:?}, {mode:?}, {cut}"),
                    "4",
                    3,
                    || drop(black_box(read(&text, mode, tools))),
                    || drop(black_box(read(&quarter, mode, tools))),
                );
            }
        }
    }
}

fn main() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "page": {"type": "object", "properties": {"first": {"type": "integer"}, "last": {"type": "integer"}}},
        },
        "required": ["query"],
    });
    let specs =
        (0..20).map(|number| ToolSpec::new(format!("search_number_{number}"), schema.clone()));
    let (tools, _) = ToolSet::new(specs);
    let wanted = wanted(true);
    for (name, group) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            group(&tools);
        }
    }
}
