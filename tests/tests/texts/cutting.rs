//! Any cutting of a text reads the same, and what is no call comes out whole and at once.

use proptest::prelude::*;
use toolmend::call_text::Part;
use toolmend::{CallReader, Mode, ReadOptions, ToolSet};
use toolmend_tests::cases;

use super::{case_tools, cut, fragment, pieces, read, read_all_ways, tools_of};

#[test]
fn real_replies_read_the_same_in_any_cutting() {
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
        let tools = tools_of(row["tools"].as_array().unwrap());
        for mode in [Mode::Leaked, Mode::Expected] {
            let options = ReadOptions::default().with_mode(mode);
            with_calls += read_all_ways(row["raw"].as_str().unwrap(), &tools, options)
                .0
                .len();
        }
    }
    assert!(with_calls > 100, "only {with_calls} calls were read");
}

#[test]
fn prose_is_let_out_at_once() {
    let tools = case_tools();
    let mut reader = CallReader::new(tools, ReadOptions::default());
    let text =
        "Plain words, a < b, a list [1, 2], {braces}, `code` and a (half) <tag>.\nNext line, ";
    for piece in pieces(&text.repeat(50), 3) {
        let mut let_out = 0;
        reader.feed(piece, &mut |part| {
            if let Part::Text(text) = part {
                let_out += text.len();
            }
        });
        assert!(
            reader.held() <= 64,
            "{} bytes are held at {piece:?}",
            reader.held()
        );
    }
}

#[test]
fn hostile_texts_come_out_whole() {
    let tools = case_tools();
    let hostile = [
        "<",
        "[",
        "{",
        "`",
        "<tool_call>",
        "<tool_call",
        "[TOOL_CALLS]",
        "<function=ping>",
        "ping(",
        "[ping(",
        "<invoke name=\"ping\"><parameter name=\"x\">",
        "{\"name\": \"ping\", ",
        "<|channel|>",
        "]<]minimax[>[<tool_call>",
        "<think>",
        "</think>",
        "\n",
        "\"",
        "'",
        "<|tool_call>call:ping{",
        "<arg_key>",
        "```\n",
        "~~~\n",
        "\n> ",
        "<!--",
        "<code>",
        "{\"a\":",
        "[ ",
        "{\"a\": [1, \"[",
        "\n{\"name\": \"ping\"} x",
    ];
    for unit in hostile {
        let text = unit.repeat(40_000 / unit.len());
        for mode in [Mode::Leaked, Mode::Expected] {
            let options = ReadOptions::default().with_mode(mode);
            let whole = read(&[&text], &tools, options);
            assert_eq!(
                read(&pieces(&text, 997), &tools, options),
                whole,
                "{unit:?}"
            );
            if whole.0.is_empty() {
                assert_eq!(whole.1, text, "{unit:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_reads_the_same_in_any_cutting(
        parts in prop::collection::vec(fragment(), 0..24),
        sizes in prop::collection::vec(1_usize..9, 1..40),
        expected in any::<bool>(),
    ) {
        let tools = case_tools();
        let mode = if expected { Mode::Expected } else { Mode::Leaked };
        let options = ReadOptions::default().with_mode(mode);
        let text = parts.concat();
        let whole = read(&[&text], &tools, options);
        let in_pieces = read(&cut(&text, sizes.into_iter().cycle()), &tools, options);
        prop_assert_eq!(&in_pieces, &whole);
        prop_assert_eq!(&read(&pieces(&text, 1), &tools, options), &whole);
        if whole.0.is_empty() {
            prop_assert_eq!(&whole.1, &text);
        }
    }

    #[test]
    fn without_tools_every_text_comes_out(parts in prop::collection::vec(fragment(), 0..24)) {
        let text = parts.concat();
        for mode in [Mode::Leaked, Mode::Expected] {
            let (calls, content) = read(&pieces(&text, 2), &ToolSet::new([]).0, ReadOptions::default().with_mode(mode));
            prop_assert!(calls.is_empty());
            prop_assert_eq!(&content, &text);
        }
    }
}
