//! The tools and texts that the benches share.

use repair_core::{Effect, ToolSet, ToolSpec};
use serde_json::{Value, json};

/// The tool that is called: ten properties, closed.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A file or a directory"},
            "query": {"type": "string", "minLength": 1},
            "mode": {"type": "string", "enum": ["literal", "regex", "glob"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100_000},
            "recursive": {"type": "boolean"},
            "include": {"type": "array", "items": {"type": "string"}},
            "threshold": {"type": "number"},
            "context": {
                "type": "object",
                "properties": {"before": {"type": "integer"}, "after": {"type": "integer"}},
                "required": ["before"]
            },
            "content": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "integer"}}
        },
        "required": ["path", "query"],
        "additionalProperties": false
    })
}

/// Its name.
pub(crate) const TOOL: &str = "search_workspace_files";

/// Arguments with `content`, a JSON string.
pub(crate) fn with_content(content: &str) -> String {
    format!(
        r#"{{"path": "src/lib.rs", "query": "x", "content": {content}, "limit": 50, "mode": "literal"}}"#
    )
}

/// Source code of about `bytes` bytes once it is a JSON string.
pub(crate) fn source(bytes: usize) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for line in include_str!("../../src/pipeline.rs")
        .split_inclusive('\n')
        .cycle()
    {
        if length >= bytes {
            break;
        }
        text.push_str(line);
        length += quoted(line).len() - 2;
    }
    text
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Names as agents have them.
pub(crate) fn names() -> Vec<String> {
    let verbs = [
        "read", "write", "list", "create", "delete", "update", "search", "find", "open", "close",
        "move", "copy", "fetch", "send", "get", "set", "run", "stop", "merge", "review",
    ];
    let things = [
        "workspace_files",
        "pull_request",
        "issue",
        "calendar_event",
        "email_message",
        "database_row",
        "user_profile",
        "web_page",
        "image",
        "browser_tab",
        "document",
        "spreadsheet_cell",
        "terminal",
        "container",
        "deployment",
        "secret",
        "branch",
        "commit",
        "comment",
        "label",
        "milestone",
        "project_board",
        "notification",
        "webhook",
        "release",
    ];
    verbs
        .iter()
        .flat_map(|verb| things.iter().map(move |thing| format!("{verb}_{thing}")))
        .collect()
}

/// Five hundred tools.
pub(crate) fn tools() -> ToolSet {
    let specs = names()
        .into_iter()
        .map(|name| ToolSpec::new(name, schema()).with_effect(Effect::ReadOnly));
    let (tools, problems) = ToolSet::new(specs);
    assert!(problems.is_empty(), "{problems:?}");
    tools
}
