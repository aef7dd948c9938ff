//! Hostile texts that are read for calls. What takes linear time ends at once; for what does not, the
//! longest texts are long enough to wait for.

use toolmend::{CallReader, Mode, Piece, ReadOptions, ToolSet, ToolSpec};
use toolmend_tests::adversarial::PATTERNS;

/// Beginnings of calls, and what may stand in one.
const BEGINNINGS: &[&str] = &[
    "<tool_call>{\"name\": \"w\", \"arguments\": ",
    "<tool_call>{\"name\": w bad",
    "<tool_call>",
    "[TOOL_CALLS]",
    "[TOOL_CALLS]w[ARGS]{x",
    "<｜tool▁call▁begin｜>w{x",
    "<tool_call>w<arg_key>a</arg_key><arg_value>",
    "<|tool_call>call:w{a:<|\"|>",
    "<|open|>call tool=\"w\"<|sep|><|open|>argument key=\"a\"<|sep|>",
    "]<]minimax[>[<invoke name=\"w\">]<]minimax[>[<a>",
    "Action: w\nAction Input: {",
    "<|channel|>to=w<|message|>{",
    "<function=w>{",
    "<function=w><parameter=a>",
    "<w><a>",
    "w(a=",
    "\n{\"name\": \"w\", \"arguments\": ",
    ">>>",
];
/// What is repeated behind a beginning.
const REPEATED: &[&str] = &[
    "{",
    "}",
    "\n",
    " ",
    "x",
    ",",
    "`",
    "```\n",
    "\"",
    "'",
    "(",
    ")",
    "<",
    "\\n",
    "<parameter=a>\n",
    "</parameter>",
    "</function>",
    "</tool_call>",
    "</arg_value>",
    "<|tool_call_end|>",
    "<｜tool▁call▁end｜>",
    "<|close|>argument<|sep|>",
    "<|call|>",
];

const STACK: usize = 512 * 1024;
/// Bytes of a text of one unit, and of one of a beginning and a unit: there are many.
const SIZE: usize = 100_000;
const PAIR_SIZE: usize = 10_000;
/// Bytes of a text that quadratic readers need minutes for.
const LONG: usize = 2_000_000;

fn read(pieces: &[&str], mode: Mode) -> (usize, String) {
    let spec = serde_json::json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let (tools, _) = ToolSet::new([ToolSpec::new("w", spec)]);
    let mut reader = CallReader::new(tools, ReadOptions::default().with_mode(mode));
    let mut out: Vec<Piece> = pieces.iter().flat_map(|piece| reader.push(piece)).collect();
    out.extend(reader.finish());
    let mut text = String::new();
    let mut calls = 0;
    for piece in out {
        match piece {
            Piece::Call(_) => calls += 1,
            Piece::Text(part) => text.push_str(&part),
        }
    }
    (calls, text)
}

fn ends_whole(text: &str) {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().nth(2) {
        let (piece, after) = rest.split_at(at + c.len_utf8());
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    for (pieces, mode) in [
        (vec![text], Mode::Leaked),
        (vec![text], Mode::Expected),
        (pieces, Mode::Leaked),
    ] {
        let (calls, content) = read(&pieces, mode);
        let beginning: String = text.chars().take(60).collect();
        assert!(calls > 0 || content == text, "{mode:?}: {beginning}");
    }
}

fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.unwrap().join().unwrap();
}

#[test]
fn hostile_texts_are_read_to_their_end() {
    on_a_small_stack(|| {
        let units = PATTERNS.iter().map(|(_, unit)| *unit);
        for unit in units.chain(BEGINNINGS.iter().chain(REPEATED).copied()) {
            let text = unit.repeat(SIZE / unit.len());
            ends_whole(&text);
            ends_whole(&format!("{text}%\n"));
        }
    });
}

#[test]
fn hostile_texts_behind_the_beginning_of_a_call_are_read_to_their_end() {
    on_a_small_stack(|| {
        for beginning in BEGINNINGS {
            for unit in REPEATED {
                let text = format!("{beginning}{}", unit.repeat(PAIR_SIZE / unit.len()));
                ends_whole(&text);
                let unit = format!("{beginning}{unit}");
                let text = unit.repeat(PAIR_SIZE / unit.len());
                ends_whole(&text);
                ends_whole(&format!("{text}}}</tool_call>"));
            }
        }
    });
}

#[test]
fn long_texts_of_broken_calls_are_read_to_their_end() {
    on_a_small_stack(|| {
        for (beginning, unit, end) in [
            ("<tool_call>{\"name\": \"w\", \"arguments\": ", "{", ""),
            ("<tool_call>{\"name\": w bad", "\n", ""),
            (
                "",
                "<tool_call>{\"name\": \"w\", \"arguments\": x</tool_call>",
                "",
            ),
            ("", "<tool_call>{\"name\": x ", "}</tool_call>"),
            ("", "<｜tool▁call▁begin｜>w{x<｜tool▁call▁end｜>", ""),
            (
                "<tool_call>w<arg_key>a</arg_key><arg_value>",
                "</tool_call>",
                "x",
            ),
            ("", "<tool_call>", "x"),
            ("", ">>>", "x"),
        ] {
            let text = format!("{beginning}{}{end}", unit.repeat(LONG / unit.len()));
            for mode in [Mode::Leaked, Mode::Expected] {
                let (calls, content) = read(&[&text], mode);
                assert!(calls > 0 || content == text, "{mode:?}: {beginning}{unit}");
            }
        }
    });
}

#[test]
fn no_broken_call_is_searched_to_the_end_for_its_own() {
    for unit in [
        "[TOOL_CALLS]w[ARGS]{x}\n",
        "[TOOL_CALLS]w[ARGS]{x \"y\n",
        "Action: w\nAction Input: {x}\n",
        "```json\n{\"name\": \"w\", \"arguments\": {\"a\": x\n```\n",
        "```json\nlike {\"name\": \"w\", \"arguments\": {\"a\": 1}\n```\n",
        "<tool_call>{\"name\": \"w\", \"arguments\": {\"a\": \"]\"}} \"\": [ ",
    ] {
        let text = format!("{}x", unit.repeat(SIZE / unit.len()));
        for mode in [Mode::Leaked, Mode::Expected] {
            let (calls, content) = read(&[&text], mode);
            assert!(calls > 0 || content == text, "{mode:?}: {unit}");
        }
    }
}

#[test]
fn parameters_in_the_value_of_one_of_many_are_looked_up() {
    let numbered =
        |member: fn(usize) -> String| (0..50_000).map(member).collect::<Vec<_>>().concat();
    let given = numbered(|n| format!("<parameter=k{n}>1</parameter>\n"));
    let shown = "\n<parameter=x>".repeat(50_000);
    let text = format!("<function=w>{given}<parameter=a>{shown}</parameter></function>");
    assert_eq!(read(&[&text], Mode::Leaked), (1, String::new()));

    let inside = numbered(|n| format!("\"k{n}\": 1, "));
    let beside = ", \"a\": 1".repeat(50_000);
    let arguments = format!("{{{inside}\"k\": 1}}");
    let text = format!("{{\"name\": \"w\", \"arguments\": {arguments}{beside}}}");
    assert_eq!(read(&[&text], Mode::Expected), (1, String::new()));
}
