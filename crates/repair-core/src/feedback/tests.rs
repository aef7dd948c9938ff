//! Corrective errors, of constructed verdicts and of real ones.

use serde_json::{Value, json as schema};

use super::fixtures::{CASE_OF_NAME, candidate, hostile, number_as_text, rejected};
use super::text::length;
use crate::fix::Fix;
use crate::verdict::{ArgumentError, ExpectedParameters, Reason, Rejected};
use crate::{CorrectiveError, Policy, RawCall, ToolSet, ToolSpec, Verdict};

const ALL: [Reason; 9] = [
    Reason::UnknownTool,
    Reason::AmbiguousTool,
    Reason::NotPermitted,
    Reason::Syntax,
    Reason::Truncated,
    Reason::Ambiguous,
    Reason::Arguments,
    Reason::NeedsApproval,
    Reason::Limit,
];

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn wrong(path: &str, expected: &str, got: &str, closest: Option<&str>) -> ArgumentError {
    ArgumentError {
        path: path.to_owned(),
        expected: expected.to_owned(),
        got: got.to_owned(),
        closest: closest.map(str::to_owned),
    }
}

/// A call of `search` that was rejected in its arguments.
fn search(reason: Reason, detail: &str) -> Rejected {
    Rejected {
        tool: Some("search".to_owned()),
        detail: detail.to_owned(),
        expected: Some(ExpectedParameters {
            required: strings(&["query"]),
            optional: strings(&["limit", "order"]),
        }),
        ..rejected(reason, "Search")
    }
}

fn json(rejected: &Rejected) -> String {
    serde_json::to_string(&rejected.error()).unwrap()
}

#[test]
fn an_unknown_tool_gets_the_suggestion_and_the_sorted_tools() {
    let unknown = Rejected {
        did_you_mean: Some("web_search".to_owned()),
        available_tools: strings(&["web_search", "web_fetch", "calc"]),
        tool_count: 3,
        ..rejected(Reason::UnknownTool, "web_serch_tool")
    };
    insta::assert_snapshot!(unknown.feedback(), @r"
    Tool 'web_serch_tool' does not exist. Did you mean 'web_search'?
    Available tools: ['calc', 'web_fetch', 'web_search']
    ");
    insta::assert_snapshot!(json(&unknown), @r#"{"error":"Tool 'web_serch_tool' does not exist.","available_tools":["calc","web_fetch","web_search"],"did_you_mean":"web_search"}"#);
    let nothing_near = Rejected {
        did_you_mean: None,
        ..unknown
    };
    insta::assert_snapshot!(nothing_near.feedback(), @r"
    Tool 'web_serch_tool' does not exist.
    Available tools: ['calc', 'web_fetch', 'web_search']
    ");
    let no_tools = rejected(Reason::UnknownTool, "search");
    insta::assert_snapshot!(no_tools.feedback(), @"Tool 'search' does not exist.");
}

#[test]
fn a_long_inventory_is_cut_to_the_nearest_and_a_count() {
    let unknown = Rejected {
        did_you_mean: Some("zoo".to_owned()),
        available_tools: (0..300).map(|n| format!("tool_number_{n:03}")).collect(),
        tool_count: 700,
        ..rejected(Reason::UnknownTool, "zoo_")
    };
    let text = unknown.feedback();
    assert!(
        text.contains("(the nearest 79 of 700): ['tool_number_000', "),
        "{text}"
    );
    assert!(text.ends_with("'tool_number_077', 'zoo']"), "{text}");
}

#[test]
fn a_name_that_is_ambiguous_or_not_permitted() {
    let ambiguous = Rejected {
        available_tools: strings(&["readFile", "read_file"]),
        tool_count: 2,
        ..rejected(Reason::AmbiguousTool, "readfile")
    };
    insta::assert_snapshot!(ambiguous.feedback(), @r"
    The tool name 'readfile' fits several tools. Send the call again with the exact name of one of them.
    Available tools: ['readFile', 'read_file']
    ");
    let refused = Rejected {
        tool: Some("delete_file".to_owned()),
        ..rejected(Reason::NotPermitted, "DeleteFile")
    };
    insta::assert_snapshot!(refused.feedback(), @"Tool 'delete_file' is not permitted now. It was not run; go on without it.");
    insta::assert_snapshot!(json(&refused), @r#"{"error":"Tool 'delete_file' is not permitted now. It was not run; go on without it.","available_tools":[]}"#);
}

#[test]
fn arguments_that_do_not_bind_get_the_hint_and_each_error() {
    let mut misfit = search(Reason::Arguments, "");
    misfit.errors = vec![
        wrong("/query", "string", "nothing", None),
        wrong(
            "/order",
            "one of \"asc\", \"desc\"",
            "\"ascending\"",
            Some("\"asc\""),
        ),
        wrong("", "at most 2 properties", "3 properties", None),
    ];
    insta::assert_snapshot!(misfit.feedback(), @r#"
    The arguments of 'search' do not fit its parameters. The call was not run; correct the arguments and send it again.
    Expected parameters for 'search' — required: ['query'], optional: ['limit', 'order'].
    - /query: expected string, got nothing
    - /order: expected one of "asc", "desc", got "ascending"; closest correct form: "asc"
    - arguments: expected at most 2 properties, got 3 properties
    "#);
    insta::assert_snapshot!(json(&misfit), @r#"{"error":"The arguments of 'search' do not fit its parameters. The call was not run; correct the arguments and send it again.","expected_parameters":{"required":["query"],"optional":["limit","order"]},"errors":[{"path":"/query","expected":"string","got":"nothing"},{"path":"/order","expected":"one of \"asc\", \"desc\"","got":"\"ascending\"","closest":"\"asc\""},{"path":"","expected":"at most 2 properties","got":"3 properties"}]}"#);
}

#[test]
fn no_schema_no_hint() {
    for expected in [None, Some(ExpectedParameters::default())] {
        let misfit = Rejected {
            expected,
            ..search(Reason::Syntax, "there is no JSON in it")
        };
        assert!(!misfit.feedback().contains("Expected parameters"));
        assert!(!json(&misfit).contains("expected_parameters"));
    }
}

#[test]
fn text_that_cannot_be_read() {
    insta::assert_snapshot!(
        search(Reason::Syntax, "expected a value at byte 17.").feedback(), @r"
    The arguments of 'search' cannot be read as JSON: expected a value at byte 17. Send the call again with one complete JSON object as its arguments.
    Expected parameters for 'search' — required: ['query'], optional: ['limit', 'order'].
    ");
    insta::assert_snapshot!(search(Reason::Truncated, "").feedback(), @"The call of 'search' was cut off before its end and was not run. Send it again, smaller: with shorter values, or as several calls.");
    insta::assert_snapshot!(json(&search(Reason::Truncated, "")), @r#"{"error":"The call of 'search' was cut off before its end and was not run. Send it again, smaller: with shorter values, or as several calls.","errors":[]}"#);
    insta::assert_snapshot!(
        search(Reason::Limit, "nested deeper than 128 levels").feedback(), @"The call of 'search' is over a limit and was not run: nested deeper than 128 levels. Send it again, smaller and less deeply nested.");
}

#[test]
fn a_tie_shows_its_readings() {
    let mut tie = search(Reason::Ambiguous, "two ends of a string fit equally well");
    tie.candidates = ["{\"query\":\"a\"}", "{\"query\":\"a\\\"\"}", "{}", "{}"]
        .map(|arguments| candidate("search", arguments, vec![]))
        .to_vec()
        .into();
    insta::assert_snapshot!(tie.feedback(), @r#"
    The arguments of 'search' can be read in more than one way: two ends of a string fit equally well. The call was not run; send it again in the form that is meant.
    Expected parameters for 'search' — required: ['query'], optional: ['limit', 'order'].
    - one reading: {"query":"a"}
    - one reading: {"query":"a\""}
    - one reading: {}
    - and 1 more
    "#);
}

#[test]
fn a_correction_that_needs_approval_is_shown() {
    let mut waiting = search(Reason::NeedsApproval, "");
    let fixes = vec![
        Fix::new(&CASE_OF_NAME, "", "Search", "search"),
        number_as_text(),
    ];
    waiting.candidates = vec![candidate("search", "{\"limit\":5}", fixes)].into();
    insta::assert_snapshot!(waiting.feedback(), @r#"
    The call of 'search' needs a correction that is not made without asking. It was not run; if the corrected form below is what is meant, send the call again in that form.
    - corrected arguments: {"limit":5}
    - tool name: the name was spelled differently; write `search`, not `Search`
    - /limit: a number was written as text; write `5`, not `"5"`
    "#);
    insta::assert_snapshot!(json(&waiting), @r#"{"error":"The call of 'search' needs a correction that is not made without asking. It was not run; if the corrected form below is what is meant, send the call again in that form.","errors":[],"considered":["corrected arguments: {\"limit\":5}","tool name: the name was spelled differently; write `search`, not `Search`","/limit: a number was written as text; write `5`, not `\"5\"`"]}"#);
}

#[test]
fn the_structured_form_can_be_read_back() {
    for reason in ALL {
        let mut sample = search(reason, "detail");
        sample.available_tools = strings(&["search"]);
        sample.errors = vec![wrong("/a", "string", "1", None)];
        let read: CorrectiveError = serde_json::from_str(&json(&sample)).unwrap();
        assert_eq!(read, sample.error(), "{reason:?}");
    }
}

#[test]
fn every_message_is_bounded_names_no_emitted_name_and_has_no_id() {
    for (text, reason) in hostile()
        .iter()
        .flat_map(|text| ALL.map(|reason| (text, reason)))
    {
        let error = wrong(text, text, text, Some(text));
        let fix = Fix {
            path: text.clone(),
            sentence: text.clone().into(),
            before: text.clone(),
            after: text.clone(),
            ..number_as_text()
        };
        let names = vec![text.clone(); 100];
        let sample = Rejected {
            id: Some("call_id".to_owned()),
            tool: Some(text.clone()),
            detail: text.clone(),
            did_you_mean: Some(text.clone()),
            available_tools: names.clone(),
            tool_count: usize::MAX,
            expected: Some(ExpectedParameters {
                required: names.clone(),
                optional: names,
            }),
            errors: vec![error; 50],
            candidates: vec![candidate(text, text, vec![fix; 50]); 5].into(),
            ..rejected(reason, "EmittedName")
        };
        let feedback = sample.feedback();
        assert!(
            length(&feedback) <= 4_000,
            "{reason:?} {}",
            length(&feedback)
        );
        assert!(length(&json(&sample)) <= 10_000, "{reason:?}");
        for absent in ["call_id", "EmittedName", "\u{0}", "\r"] {
            assert!(!feedback.contains(absent), "{reason:?} {feedback}");
        }
    }
}

/// What a real call of a tool with this schema is told.
fn told(schema: Value, name: &str, arguments: &str) -> String {
    let (tools, problems) = ToolSet::new([ToolSpec::new("edit", schema)]);
    assert!(problems.is_empty(), "{problems:?}");
    let raw = RawCall::new(name, arguments);
    match tools.repair(&raw, &Policy::default()) {
        Verdict::Rejected(rejected) => rejected.feedback(),
        verdict => panic!("{verdict:?}"),
    }
}

fn edit_schema() -> Value {
    schema!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "mode": {"enum": ["append", "replace"]},
            "edits": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Edit"}}
        },
        "required": ["path", "edits"],
        "additionalProperties": false,
        "$defs": {"Edit": {"oneOf": [
            {"type": "object", "properties": {"op": {"const": "insert"}, "line": {"type": "integer", "minimum": 1}, "text": {"type": "string"}}, "required": ["op", "line", "text"], "additionalProperties": false},
            {"type": "object", "properties": {"op": {"const": "delete"}, "line": {"type": "integer", "minimum": 1}}, "required": ["op", "line"], "additionalProperties": false}
        ]}}
    })
}

#[test]
fn each_error_of_nested_arguments_has_its_path() {
    insta::assert_snapshot!(told(edit_schema(), "edit", r#"{"path": "", "mode": "replase", "edits": [{"op": "insert", "line": 0}, {"op": "delete", "line": "x"}, {"op": "move", "line": 1}, 5]}"#), @r#"
    The arguments of 'edit' do not fit its parameters. The call was not run; correct the arguments and send it again.
    Expected parameters for 'edit' — required: ['path', 'edits'], optional: ['mode'].
    - /path: expected minLength 1, got ""
    - /mode: expected one of "append", "replace", got "replase"; closest correct form: "replace"
    - /edits/0/text: expected string (required), got nothing
    - /edits/0/line: expected minimum 1, got 0
    - /edits/1/line: expected integer, got "x"
    - /edits/2/op: expected one of "insert", "delete", got "move"
    - /edits/3: expected object, got 5
    "#);
    insta::assert_snapshot!(told(edit_schema(), "edit", r#"{"file": "a", "filename": "b", "edits": [], "colour": "red"}"#), @r#"
    The arguments of 'edit' do not fit its parameters. The call was not run; correct the arguments and send it again.
    Expected parameters for 'edit' — required: ['path', 'edits'], optional: ['mode'].
    - /path: expected string (required), got nothing
    - /file: expected no such property, got "a"
    - /filename: expected no such property, got "b"
    - /edits: expected minItems 1, got []
    - /colour: expected no such property, got "red"
    "#);
}

#[test]
fn what_only_the_whole_schema_says_is_told_too() {
    let schema = schema!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "dependentRequired": {"a": ["b"]},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]
    });
    insta::assert_snapshot!(told(schema.clone(), "edit", r#"{"a": 1}"#), @r#"
    The arguments of 'edit' do not fit its parameters. The call was not run; correct the arguments and send it again.
    Expected parameters for 'edit' — required: [], optional: ['a', 'b'].
    - arguments: expected dependentRequired {"a":["b"]}, got {"a": 1}
    "#);
    insta::assert_snapshot!(told(schema, "edit", r#"{"a": 1, "b": 2}"#), @r#"
    The arguments of 'edit' do not fit its parameters. The call was not run; correct the arguments and send it again.
    Expected parameters for 'edit' — required: [], optional: ['a', 'b'].
    - arguments: expected what the schema says about the arguments as a whole, got {"a": 1, "b": 2}
    "#);
}

#[test]
fn a_missing_property_is_told_beside_the_one_that_may_be_meant() {
    let schema = schema!({
        "type": "object",
        "properties": {"start": {"type": "string"}, "end": {"type": "string"}},
        "required": ["start", "end"]
    });
    insta::assert_snapshot!(told(schema, "edit", r#"{"strat": "11:00", "sart": 1, "note": "x"}"#), @r#"
    The arguments of 'edit' do not fit its parameters. The call was not run; correct the arguments and send it again.
    Expected parameters for 'edit' — required: ['start', 'end'], optional: [].
    - /start: expected string (required), got nothing (there is an unknown 'sart')
    - /end: expected string (required), got nothing
    "#);
}

#[test]
fn names_texts_cuts_and_guesses() {
    insta::assert_snapshot!(told(edit_schema(), "edti", "{}"), @r#"
    Tool 'edti' does not exist. Did you mean 'edit'?
    Available tools: ['edit']
    "#);
    insta::assert_snapshot!(told(edit_schema(), "edit", r#"{"path": "a", "edits": [{"op": "delete""#), @"The call of 'edit' was cut off before its end and was not run. Send it again, smaller: with shorter values, or as several calls.");
    insta::assert_snapshot!(told(edit_schema(), "edit", "I will edit the file."), @r#"
    The arguments of 'edit' cannot be read as JSON: there is no JSON in the text. Send the call again with one complete JSON object as its arguments.
    Expected parameters for 'edit' — required: ['path', 'edits'], optional: ['mode'].
    "#);
    insta::assert_snapshot!(told(edit_schema(), "edit", r#"{"path": "a", "edits": {"op": "delete", "line": 1}, "why": "typo"}"#), @r#"
    The call of 'edit' needs a correction that is not made without asking. It was not run; if the corrected form below is what is meant, send the call again in that form.
    - /edits: expected array, got {"op": "delete", "line": 1}
    - /why: expected no such property, got "typo"
    - corrected arguments: {"path": "a", "edits": [{"op": "delete", "line": 1}]}
    - /edits: a single object was sent for an array; send an array; write `[{"op": "delete", "line": 1}]`, not `{"op": "delete", "line": 1}`
    - /why: an unknown property was sent; leave it out; leave out `"why": "typo"`
    "#);
}
