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

/// 200 bytes of arguments that fit.
pub(crate) const VALID: &str = r#"{"path": "crates/repair-core/src", "query": "fn finish", "mode": "regex", "limit": 50, "recursive": true, "include": ["*.rs"], "threshold": 0.75, "context": {"before": 2, "after": 4}, "lines": [1, 20]}"#;

/// Arguments with `content`, a JSON string.
pub(crate) fn with_content(content: &str) -> String {
    format!(
        r#"{{"path": "src/lib.rs", "query": "x", "content": {content}, "limit": 50, "mode": "literal"}}"#
    )
}

/// Source code of about `bytes` bytes once it is a JSON string.
pub(crate) fn source(bytes: usize) -> String {
    let unit = include_str!("../../src/pipeline.rs");
    let mut text = String::new();
    // Line breaks and quotes take two bytes in JSON: one for each sixteen or so.
    for line in unit.lines().cycle() {
        if text.len() * 16 / 15 >= bytes {
            return text;
        }
        text.push_str(line);
        text.push('\n');
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
