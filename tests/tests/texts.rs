//! Calls printed as text.

mod cases;
mod cutting;
mod harm;

use proptest::prelude::*;
use serde_json::Value;
use toolmend::{CallReader, Mode, Piece, RawCall, ReadOptions, ToolSet, ToolSpec};
use toolmend_tests::cases;

/// The case files of `tests/cases/text`, one for each family of formats.
const FAMILIES: &[&str] = &[
    "json_in_markers",
    "tags",
    "pairs",
    "name_and_json",
    "marked_values",
    "python",
    "bare_json",
    "not_a_call",
];

/// Sizes of pieces, in characters, that every text is cut into.
const SIZES: &[usize] = &[1, 2, 3, 7];

type Read = (Vec<RawCall<'static>>, String);

fn read(pieces: &[&str], tools: &ToolSet, options: ReadOptions) -> Read {
    let mut reader = CallReader::new(tools.clone(), options);
    let mut out: Vec<Piece> = pieces.iter().flat_map(|piece| reader.push(piece)).collect();
    out.extend(reader.finish());
    let (mut calls, mut text) = (Vec::new(), String::new());
    for piece in out {
        match piece {
            Piece::Call(call) => calls.push(call),
            Piece::Text(part) => text.push_str(&part),
        }
    }
    (calls, text)
}

fn pieces(text: &str, size: usize) -> Vec<&str> {
    cut(text, std::iter::repeat(size))
}

/// A text in pieces of so many characters.
fn cut(text: &str, mut sizes: impl Iterator<Item = usize>) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(1).max(1);
        let end = rest
            .char_indices()
            .nth(size)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Reads a text whole and in pieces, and makes sure that it is the same.
fn read_all_ways(text: &str, tools: &ToolSet, options: ReadOptions) -> Read {
    let whole = read(&[text], tools, options);
    for size in SIZES {
        let cut = read(&pieces(text, *size), tools, options);
        assert_eq!(cut, whole, "by {size}: {text}");
    }
    let uneven = [5, 1, 13, 2, 1, 40].into_iter().cycle();
    assert_eq!(
        read(&cut(text, uneven), tools, options),
        whole,
        "unevenly: {text}"
    );
    whole
}

fn tools_of<'r>(rows: impl IntoIterator<Item = &'r Value>) -> ToolSet {
    let specs = rows
        .into_iter()
        .map(|tool| ToolSpec::from_json(tool).unwrap());
    ToolSet::new(specs).0
}

fn case_tools() -> ToolSet {
    tools_of(&cases("text_tools.jsonl"))
}

fn options_of(row: &Value) -> ReadOptions {
    let mode = match row["mode"].as_str() {
        Some("expected") => Mode::Expected,
        _ => Mode::Leaked,
    };
    ReadOptions::default()
        .with_mode(mode)
        .with_tool_choice_none(row["tool_choice"] == "none")
}

/// Fragments of which texts are made that look like calls and are not, or are.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "<tool_call>",
        "</tool_call>",
        "<function=ping>",
        "</function>",
        "<parameter=city>",
        "</parameter>",
        "{\"name\": \"ping\", \"arguments\": {}}",
        "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"a\"}}",
        "[",
        "]",
        "{",
        "}",
        "```",
        "```json\n",
        "`",
        "\n",
        " ",
        "ping()",
        "get_weather(city=\"a\")",
        "ping",
        "(",
        ")",
        "[TOOL_CALLS]",
        "ping[ARGS]{}",
        "<|tool_call_begin|>",
        "functions.ping:0",
        "<|tool_call_argument_begin|>",
        "<think>",
        "</think>",
        "text",
        ", ",
        "\"",
        "'",
        "\\",
        "=",
        "<|im_end|>",
        "<|channel|>",
        "to=functions.ping",
        "<|message|>",
        "<|call|>",
        "<|start|>assistant",
        "<invoke name=\"ping\">",
        "</invoke>",
        "<|tool_call>",
        "call:ping{",
        "<|\"|>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<tool_call>get_weather<arg_key>city</arg_key>",
        "<arg_value>a</arg_value>",
        "<longcat_tool_call>ping<arg_key>a</arg_key>",
        "</longcat_tool_call>",
        "<ifm|tool_call>ping<ifm|arg_key>a</ifm|arg_key>",
        "<ifm|arg_value>",
        "Action: ping\n",
        "Action Input: {}",
        "é",
        "### Instruction",
        "# ",
        "<|open|>tools<|sep|>",
        "]<]minimax[>[",
        "<ping>",
        "</ping>",
        "~~~\n",
        "````",
        "> ",
        "<code>",
        "</code>",
        "<!--",
        "-->",
        "    ",
        "\t",
        "\r\n",
        "\u{3000}",
        "◁think▷",
        "◁/think▷",
        "<reasoning>",
        "User: ok\n",
        "<|im_start|>",
        "{\"a\":",
    ])
}
