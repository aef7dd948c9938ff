//! No call is read that the model did not make: content, quotations, results that it made up.

use proptest::prelude::*;
use serde_json::Value;
use toolmend::{Effect, Mode, Policy, ReadOptions, ToolSet, ToolSpec};
use toolmend_tests::cases;

use super::{
    FAMILIES, case_tools, cut, fragment, options_of, pieces, read, read_all_ways, tools_of,
};

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

/// Texts around the arguments of a call, their place marked `@`.
const ARGUMENT_WRAPPERS: &[&str] = &[
    "<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>@<|call|>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>@<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>write_file\n```json\n@\n```<｜tool▁call▁end｜>",
    "<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>@<|tool_call_end|>",
    "[TOOL_CALLS]write_file[ARGS]@",
    "<function=write_file>@</function>",
    "<function_calls>\n<invoke name=\"write_file\">\n@\n</invoke>\n</function_calls>",
    ">>>write_file\n@",
    "Action: write_file\nAction Input: @",
    "Action: write_file\nAction Input: @\nObservation: ok",
];

proptest! {
    /// Quotes that are not escaped balance the brackets in the middle of a string.
    #[test]
    fn no_file_is_written_in_half(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "if (a == \"}\") { go(); }", "x = \"}\";", "f(\"})\")", "s = {\"b\"};", "say \"hi\"",
                " or \"y\"", "\\n", "</div>", "call({b: \"x\"});", "\"} else {\"", "[{\"a\"}]", "}", "{", " ", "a\n",
            ]),
            1..6,
        ),
        wrapper in prop::sample::select(ARGUMENT_WRAPPERS.to_vec()),
        expected in any::<bool>(),
    ) {
        let tools = case_tools();
        let content = parts.concat();
        let arguments = format!("{{\"path\": \"p\", \"content\": \"a {content}\"}}");
        let mode = if expected { Mode::Expected } else { Mode::Leaked };
        let options = ReadOptions::default().with_mode(mode);
        let (raws, _) = read_all_ways(&wrapper.replace('@', &arguments), &tools, options);
        for raw in raws {
            let verdict = tools.repair(&raw, &Policy::default());
            let Some(call) = verdict.call() else { continue };
            let written = call.arguments().value()["content"].as_str().unwrap();
            prop_assert_eq!(written, format!("a {}", content.replace("\\n", "\n")));
        }
    }
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

/// Tags of calls in pairs: around a call, a key, a value.
const PAIRS: &[&[&str; 6]] = &[
    &[
        "<tool_call>",
        "</tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
    ],
    &[
        "<longcat_tool_call>",
        "</longcat_tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
    ],
    &[
        "<ifm|tool_call>",
        "</ifm|tool_call>",
        "<ifm|arg_key>",
        "</ifm|arg_key>",
        "<ifm|arg_value>",
        "</ifm|arg_value>",
    ],
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
    fn a_call_inside_a_value_of_pairs_is_never_read(
        tags in prop::sample::select(PAIRS),
        at in 0_usize..8,
        stray in prop::sample::select(vec!["", "x", " x y ", "\n", "\\n", "@", "\nx\n", "<b>", "{", "["]),
        before in prop::sample::select(vec!["", "see ", "\n"]),
        inner in prop::sample::select(vec![
            "{\"name\": \"ping\", \"arguments\": {}}", "ping", "ping\n",
        ]),
        count in 1_usize..3,
        expected in any::<bool>(),
    ) {
        let [open, close, key, key_end, value, value_end] = *tags;
        let inner = format!("{open}{inner}{close}").repeat(count);
        let content = format!("{before}{inner}");
        let mut parts = vec![
            "write_file", key, "path", key_end, value, "a", value_end, key, "content", key_end, value,
            &content, value_end,
        ];
        // Something that does not belong there stands around a tag.
        let place = [1, 3, 4, 7, 8, 9, 10, 13].get(at).copied().unwrap_or(1);
        parts.insert(place, stray);
        let text = format!("{open}{}{close}", parts.concat());
        let mode = if expected { Mode::Expected } else { Mode::Leaked };
        let tools = case_tools();
        let (calls, content) = read_all_ways(&text, &tools, ReadOptions::default().with_mode(mode));
        prop_assert!(calls.iter().all(|call| call.name() != "ping"), "{}", text);
        if calls.is_empty() {
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
