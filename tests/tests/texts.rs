//! Calls printed as text: every format has its cases, and any cutting of a text reads the same.

use proptest::prelude::*;
use serde_json::Value;
use toolmend::call_text::{self, Part};
use toolmend::{
    CallReader, Effect, Finish, Mode, Piece, Policy, RawCall, ReadOptions, Risk, ToolSet, ToolSpec,
};
use toolmend_tests::{cases, same};

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

#[test]
fn every_case_reads_as_it_should_in_any_cutting() {
    let tools = case_tools();
    for row in FAMILIES
        .iter()
        .flat_map(|family| cases(&format!("text/{family}.jsonl")))
    {
        let id = row["id"].as_str().unwrap();
        let (raws, content) =
            read_all_ways(row["text"].as_str().unwrap(), &tools, options_of(&row));
        if let Some(wanted) = row["content"].as_str() {
            assert_eq!(content, wanted, "{id}");
        }
        let verdicts: Vec<_> = raws
            .iter()
            .flat_map(|raw| tools.repair_all(raw, &Policy::default()))
            .collect();
        let calls: Vec<_> = verdicts
            .iter()
            .filter_map(|verdict| verdict.call())
            .collect();
        let wanted = row["calls"].as_array().unwrap();
        assert_eq!(calls.len(), wanted.len(), "{id}: {verdicts:?}");
        for (call, wanted) in calls.iter().zip(wanted) {
            assert_eq!(call.tool(), wanted["name"].as_str().unwrap(), "{id}");
            let arguments = call.arguments().value();
            assert!(same(arguments, &wanted["arguments"]), "{id}: {arguments}");
        }
        if row.get("rejected").is_some() {
            assert!(
                !verdicts.is_empty(),
                "{id}: a call that cannot run is reported"
            );
        } else if let Some(format) = row["format"].as_str() {
            let named = |raw: &RawCall<'_>| {
                serde_json::to_value(raw).unwrap()["readings"][0]["rule"] == format
            };
            assert!(
                raws.iter().any(named),
                "{id} was not read by {format}: {raws:?}"
            );
        }
    }
}

#[test]
fn every_format_has_a_case() {
    let rows: Vec<Value> = FAMILIES
        .iter()
        .flat_map(|family| cases(&format!("text/{family}.jsonl")))
        .collect();
    for rule in call_text::rules() {
        assert!(
            rows.iter().any(|row| row["format"] == rule.id),
            "{} has no case in tests/cases/text",
            rule.id
        );
    }
}

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
fn small_models_get_no_call_that_they_did_not_write() {
    for row in cases("local/smollm_prompt.jsonl") {
        let tools = tools_of(row["tools"].as_array().unwrap());
        let text = row["raw"].as_str().unwrap();
        let options = ReadOptions::default().with_mode(Mode::Expected);
        for raw in read(&[text], &tools, options).0 {
            assert!(
                text.contains(raw.name()),
                "{} is not in: {text}",
                raw.name()
            );
            let verdict = tools.repair(&raw, &Policy::default());
            let Some(call) = verdict.call() else { continue };
            for scalar in scalars(call.arguments().value()) {
                assert!(text.contains(&scalar), "{scalar} is not in: {text}");
            }
        }
    }
}

/// The texts of all scalars in a value.
fn scalars(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(scalars).collect(),
        Value::Object(members) => members.values().flat_map(scalars).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(_) | Value::Null => Vec::new(),
    }
}

#[test]
fn destructive_tools_never_run_from_leaked_text() {
    let spec = |tool: &Value| {
        ToolSpec::from_json(tool)
            .unwrap()
            .with_effect(Effect::Destructive)
    };
    let (tools, _) = ToolSet::new(cases("text_tools.jsonl").iter().map(spec));
    for row in FAMILIES
        .iter()
        .flat_map(|family| cases(&format!("text/{family}.jsonl")))
    {
        let options = options_of(&row);
        for raw in read(&[row["text"].as_str().unwrap()], &tools, options).0 {
            let verdict = tools.repair(&raw, &Policy::default());
            let is_unmarked = row["format"].as_str().is_none_or(|format| {
                matches!(
                    format,
                    "call_bare_json" | "call_bare_python" | "call_bare_named" | "call_fenced"
                )
            });
            if row["mode"] == "leaked" || is_unmarked {
                assert!(verdict.call().is_none(), "{}", row["text"]);
            }
        }
    }
}

#[test]
fn a_marked_call_is_sure_only_where_calls_are_expected() {
    let tools = case_tools();
    let text = r#"<tool_call>{"name": "ping", "arguments": {}}</tool_call>"#;
    for (mode, risk) in [
        (Mode::Leaked, Risk::Inferred),
        (Mode::Expected, Risk::Lossless),
    ] {
        let (calls, _) = read(&[text], &tools, ReadOptions::default().with_mode(mode));
        let reading = &serde_json::to_value(&calls[0]).unwrap()["readings"][0];
        assert_eq!(reading["risk"], serde_json::to_value(risk).unwrap());
        // What is shown is what the model wrote.
        let before = reading["before"].as_str().unwrap();
        assert!(
            before.contains("\"ping\"") && text.contains(before),
            "{before}"
        );
    }
}

#[test]
fn the_next_call_ends_a_broken_one() {
    let broken = r#"{"city": "Oslo", "days": 3"#;
    let whole = r#"<tool_call>{"name": "ping", "arguments": {}}</tool_call>"#;
    for (close, finish) in [("</tool_call>", Finish::Complete), ("", Finish::Cut)] {
        let text = format!(
            "<tool_call>{{\"name\": \"get_weather\", \"arguments\": {broken}{close}\n{whole}"
        );
        let (calls, content) = read_all_ways(&text, &case_tools(), ReadOptions::default());
        let [first, second] = calls.as_slice() else {
            panic!("{text}: {calls:?}");
        };
        let arguments = first.arguments().unwrap_or_default();
        assert_eq!((arguments.trim_end(), first.finish()), (broken, finish));
        assert_eq!((second.name(), second.arguments()), ("ping", Some("{}")));
        assert_eq!(content, "");
    }
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

/// Texts around calls printed as JSON or as `name({…})`, the call's place marked `@`.
const JSON_WRAPPERS: &[&str] = &[
    "<tool_call>\n@\n</tool_call>",
    "<tool_call>@",
    "[TOOL_CALLS][@]",
    "<TOOLCALL>[@]</TOOLCALL>",
    "<tool_calls>[@, @]</tool_calls>",
    "<|tool_call|>[@]",
    "<|tool_call_start|>[@]<|tool_call_end|>",
    "<|START_ACTION|>[@]<|END_ACTION|>",
    "<function_call>@</function_call>",
    "functools[@]",
    "<|python_tag|>@<|eom_id|>",
    "```json\n@\n```",
    "@",
    "[@]",
    "{\"tool_calls\": [@]}",
    "I look.\n@",
];

/// A text with an unescaped call of another tool in it.
fn text_with_a_call() -> impl Strategy<Value = String> {
    let around = || {
        let fragment = prop::sample::select(vec![
            "see ", "x", ", ", "; ", "\n", "\\n", "[", "]", "{", "}", "}}", "(", ")", "é", ": ",
        ]);
        prop::collection::vec(fragment, 0..5).prop_map(|parts| parts.concat())
    };
    let inner = prop::sample::select(vec![
        r#"{"name": "get_weather", "arguments": {"city": "inner"}}"#,
        r#"{"name": "ping", "arguments": {}}"#,
        r#"{"arguments": {"city": "inner"}, "name": "get_weather"}"#,
        r#"get_weather({"city": "inner"})"#,
    ]);
    (around(), inner, around()).prop_map(|(before, inner, after)| before + inner + &after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_call_inside_an_argument_is_never_read(
        wrapper in prop::sample::select(JSON_WRAPPERS),
        content in text_with_a_call(),
        shape in 0..3,
        is_expected in any::<bool>(),
    ) {
        let arguments = format!("{{\"path\": \"p\", \"content\": \"{content}\"}}");
        let call = match shape {
            0 => format!("{{\"name\": \"write_file\", \"arguments\": {arguments}}}"),
            1 => format!("{{\"arguments\": {arguments}, \"name\": \"write_file\"}}"),
            _ => format!("write_file({arguments})"),
        };
        let mode = if is_expected { Mode::Expected } else { Mode::Leaked };
        let text = wrapper.replace('@', &call);
        let options = ReadOptions::default().with_mode(mode);
        let tools = case_tools();
        for raw in read_all_ways(&text, &tools, options).0 {
            for verdict in tools.repair_all(&raw, &Policy::default()) {
                let name = verdict.call().map_or("write_file", |call| call.tool());
                prop_assert_eq!(name, "write_file", "{}", text);
            }
        }
    }

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

    #[test]
    fn no_call_behind_a_made_up_turn_is_read(
        parts in prop::collection::vec(fragment(), 0..12),
        call in call(),
        turn in made_up_turn(),
        sizes in prop::collection::vec(1_usize..9, 1..40),
        expected in any::<bool>(),
    ) {
        let tools = case_tools();
        let mode = if expected { Mode::Expected } else { Mode::Leaked };
        let options = ReadOptions::default().with_mode(mode);
        // What the model is made to say there may end a reasoning that never began.
        let behind = parts.concat().replace("/think", "");
        let before = format!("{call}\n");
        let text = format!("{before}{turn}\n{behind}");
        let alone = read(&[&before], &tools, options);
        prop_assert_eq!(alone.0.len(), 1);
        let whole = read(&[&text], &tools, options);
        prop_assert_eq!(&whole.0, &alone.0, "{}", text);
        prop_assert_eq!(&read(&cut(&text, sizes.into_iter().cycle()), &tools, options), &whole);
        prop_assert_eq!(&read(&pieces(&text, 1), &tools, options), &whole);
    }

    #[test]
    fn no_leaked_call_that_is_only_shown_is_read(
        call in call(),
        (open, close) in shown(),
        parts in prop::collection::vec(prop::sample::select(vec!["words ", "\n", "x < y ", "[1]", "{"]), 0..6),
        sizes in prop::collection::vec(1_usize..9, 1..40),
    ) {
        let tools = case_tools();
        let text = format!("So:\n\n{open}{call}{close}\nThat is all. {}", parts.concat());
        let whole = read(&[&text], &tools, ReadOptions::default());
        prop_assert_eq!(&whole, &(Vec::new(), text.clone()));
        prop_assert_eq!(&read(&cut(&text, sizes.into_iter().cycle()), &tools, ReadOptions::default()), &whole);
    }
}

fn call() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>",
        "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"a\"}}",
        "<function=ping>\n</function>",
        "get_weather(city=\"a\")",
        "[TOOL_CALLS]ping[ARGS]{}",
        "<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    ])
}

fn made_up_turn() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "User: ok",
        "Observation: 3",
        "### Instruction",
        "<tool_response>\n3\n</tool_response>",
        "<|im_start|>user\nok<|im_end|>",
        "<|start_header_id|>user<|end_header_id|>",
        "[INST] ok [/INST]",
    ])
}

fn shown() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("~~~\n", "\n~~~"),
        ("```json\n", "\n```"),
        ("`````\n```\n", "\n```\n`````"),
        ("``", "``"),
        ("> ", ""),
        ("    ", ""),
        ("\t", ""),
        ("<code>", "</code>"),
        ("<PRE class=\"a\">\n", "\n</PRE>"),
        ("<!-- -", "-->"),
        ("<reasoning>", "</reasoning>"),
        ("◁think▷", "◁/think▷"),
    ])
}
