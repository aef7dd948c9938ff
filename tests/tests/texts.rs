//! Whole text and stream are one: any cutting of a text gives the same calls and the same rest.

use serde_json::Value;
use toolmend::{CallReader, Mode, Piece, RawCall, ReadOptions, ToolSet, ToolSpec};
use toolmend_tests::cases;

fn read(pieces: &[&str], tools: &ToolSet, options: ReadOptions) -> (Vec<RawCall<'static>>, String) {
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
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .step_by(size)
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end])
        .collect()
}

fn tools_of(row: &Value) -> ToolSet {
    let specs = row["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| ToolSpec::from_json(tool).unwrap());
    ToolSet::new(specs).0
}

#[test]
fn any_cutting_of_a_text_reads_the_same() {
    let rows = [
        "field.jsonl",
        "local/qwen05_native.jsonl",
        "local/qwen05_prompt.jsonl",
        "local/smollm_prompt.jsonl",
    ]
    .into_iter()
    .flat_map(cases)
    .filter(|row| row["mode"] == "text");
    let mut with_calls = 0;
    for row in rows {
        let tools = tools_of(&row);
        let text = row["raw"].as_str().unwrap();
        for mode in [Mode::Leaked, Mode::Expected] {
            let options = ReadOptions::default().with_mode(mode);
            let whole = read(&[text], &tools, options);
            with_calls += whole.0.len();
            for size in [1, 2, 3, 7] {
                assert_eq!(
                    read(&pieces(text, size), &tools, options),
                    whole,
                    "{mode:?} by {size}: {text}"
                );
            }
        }
    }
    assert!(with_calls > 100, "only {with_calls} calls were read");
}

#[test]
fn what_is_no_call_comes_out_byte_for_byte() {
    let (tools, _) = ToolSet::new([ToolSpec::without_schema("search")]);
    for text in [
        "",
        "Done.",
        "a < b and `<tool_call>` in code",
        "```\n<tool_call>{\"name\": \"search\"}</tool_call>\n```\nis an example",
        "<tool_call>{\"name\": \"unknown\", \"arguments\": {}}</tool_call>",
        "<think><tool_call>{\"name\": \"search\"}</tool_call></think>ok",
        "{\"answer\": 42}",
        "{\"name\": \"search\", \"arguments\": {}} is how it looks",
        "<tool_call>",
        "<tool_ca",
        "```json",
        "{{{{[[[[",
        "thinking <tool_call>{\"name\": \"search\"}</tool_call></think>ok",
    ] {
        for size in [1, 3, 1000] {
            let (calls, rest) = read(&pieces(text, size), &tools, ReadOptions::default());
            assert_eq!((calls.len(), rest.as_str()), (0, text), "by {size}");
        }
    }
}

#[test]
fn nothing_is_a_call_where_calls_are_forbidden() {
    let (tools, _) = ToolSet::new([ToolSpec::without_schema("search")]);
    let text = "<tool_call>{\"name\": \"search\", \"arguments\": {}}</tool_call>";
    let (calls, rest) = read(
        &[text],
        &tools,
        ReadOptions::default().with_tool_choice_none(true),
    );
    assert_eq!((calls.len(), rest.as_str()), (0, text));
}
