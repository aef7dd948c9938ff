//! The approver at the terminal: an answer counts only for its own question.
#![allow(missing_docs)]

use std::io::Cursor;
use std::sync::Arc;

use self_debug::{
    Candidate, DebuggerError, Effect, Failure, FnTool, SelfDebugOptions, Tool, ToolError,
    debugger_fn, wrap_with_self_debug,
};
use serde_json::json;
use toolmend_examples::approver::TerminalApprover;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Delete {
    path: String,
}

/// What ran when a model's call failed, a debugger proposed `a.md`, and a person typed `lines`.
async fn ran(lines: &'static str) -> Result<serde_json::Value, ToolError> {
    let delete = FnTool::new("delete", "Deletes a note", |delete: Delete| async move {
        match delete.path.as_str() {
            "a.md" | "b.md" => Ok(delete.path),
            _ => Err(ToolError::value("no such note; there are a.md and b.md")),
        }
    });
    let debugger = debugger_fn(|_: Arc<Failure>| async {
        Ok::<_, DebuggerError>(Candidate::new(r#"{"path": "a.md"}"#, 0.9))
    });
    let options =
        SelfDebugOptions::default().approver(TerminalApprover::reading(Cursor::new(lines)));
    let delete = wrap_with_self_debug(delete.with_effect(Effect::Destructive), debugger, options);
    delete.call(json!({"path": "a"})).await
}

#[tokio::test]
async fn only_an_answer_to_the_question_counts() {
    for (lines, expected) in [
        ("yes 1\n", Some("a.md")),
        ("perhaps\nyes 2\n  yes 1 \n", Some("a.md")),
        ("no 1\nyes 1\n", None),
        ("yes\ny\n\n", None),
        ("yes 11\n", None),
        ("", None),
        ("1 {\"path\": \"b.md\"}\nyes 2\n", Some("b.md")),
        ("1 {\"path\": \"b.md\"}\nno 2\n", None),
        // Other arguments that are no valid call: the question is the first one again.
        ("1 {\"path\": 7}\nyes 2\n", Some("a.md")),
        ("1 {\"path\": 7}\nyes 1\nno 2\n", None),
    ] {
        let result = ran(lines).await.ok();
        assert_eq!(result, expected.map(|path| json!(path)), "{lines:?}");
    }
}
