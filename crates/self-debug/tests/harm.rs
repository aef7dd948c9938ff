//! Defects of other loops, shown to be absent. `docs/defects.md` says which test is for which.

use std::sync::Arc;

use self_debug::{
    Approval, ApprovalRequest, CallContext, Candidate, ChatReply, ChatRequest, DebuggerError,
    Effect, ErrorClass, Failure, GiveUpReason, LlmDebugger, Message, ModelError, NoDebugger,
    Proposed, RawCall, SelfDebugOptions, Tool, ToolBox, ToolError, ToolSpec, approver_fn,
    async_trait, chat_model_fn, debugger_fn, wrap_with_self_debug,
};
use serde_json::{Value, json};

use crate::support::{Counter, Recorder, names};

/// A tool box with `web_search(query, limit, safe)`, `create_file`, `delete_file`, and the number
/// of their runs.
fn office() -> (ToolBox, Counter) {
    let runs = Counter::default();
    let search = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"}, "limit": {"type": "integer"}, "safe": {"type": "boolean"},
        },
        "required": ["query"],
    });
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = |name: &str, schema: &Value, effect| Echo {
        spec: ToolSpec::new(name, schema.clone()).with_effect(effect),
        runs: runs.clone(),
    };
    let tools = ToolBox::builder()
        .tool(tool("web_search", &search, Effect::ReadOnly))
        .tool(tool("create_file", &path, Effect::Mutating))
        .tool(tool("delete_file", &path, Effect::Destructive))
        .build();
    (tools, runs)
}

/// A tool that returns its arguments.
struct Echo {
    spec: ToolSpec,
    runs: Counter,
}

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        self.runs.add();
        Ok(arguments)
    }
}

async fn message(tools: &ToolBox, name: &'static str, arguments: &'static str) -> String {
    tools
        .call_report(RawCall::new(name, arguments))
        .await
        .message()
}

#[tokio::test(start_paused = true)]
async fn a_name_far_from_all_others_gets_no_suggestion() {
    let (tools, _) = office();
    let told = message(&tools, "totally_made_up_tool", "{}").await;
    assert!(!told.contains("Did you mean"), "{told}");
    assert!(
        told.contains("'create_file', 'delete_file', 'web_search'"),
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn near_names_are_compared_in_one_case() {
    let (tools, _) = office();
    let told = message(&tools, "WEB_SERCHES", r#"{"query": "x"}"#).await;
    assert!(told.contains("Did you mean 'web_search'?"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn the_hint_about_parameters_quotes_the_resolved_name() {
    let (tools, _) = office();
    let told = message(&tools, "WebSearch", r#"{"limit": 3}"#).await;
    assert!(
        told.contains("Expected parameters for 'web_search'"),
        "{told}"
    );
    assert!(!told.contains("'WebSearch'"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_near_name_never_runs_in_place_of_another() {
    let (tools, runs) = office();
    for name in [
        "remove_file",
        "erase_file",
        "update_file",
        "destroy_file",
        "read_file",
    ] {
        let report = tools
            .call_report(RawCall::new(name, r#"{"path": "a"}"#))
            .await;
        let error = report.result.unwrap_err();
        assert_eq!(error.class(), ErrorClass::UnknownTool, "{name}");
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_value_is_cast_with_loss() {
    let (tools, runs) = office();
    for arguments in [
        r#"{"query": "x", "limit": "3.9"}"#,
        r#"{"query": "x", "limit": 3.9}"#,
        r#"{"query": "x", "safe": "maybe"}"#,
        r#"{"query": "x", "safe": "definitely"}"#,
    ] {
        let report = tools
            .call_report(RawCall::new("web_search", arguments))
            .await;
        assert_eq!(
            report.result.unwrap_err().class(),
            ErrorClass::Arguments,
            "{arguments}"
        );
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_same_failure_has_the_same_text() {
    let (tools, _) = office();
    let (again, _) = office();
    for arguments in ["{\"limit\": 3}", "{", "nothing"] {
        let first = message(&tools, "web_search", arguments).await;
        assert_eq!(first, message(&again, "web_search", arguments).await);
    }
}

#[tokio::test(start_paused = true)]
async fn an_inventory_is_bounded_and_repairs_are_told() {
    let mut builder = ToolBox::builder();
    for number in 0..500 {
        let spec = ToolSpec::without_schema(format!("server_tool_number_{number}"));
        builder = builder.tool(Echo {
            spec,
            runs: Counter::default(),
        });
    }
    let told = message(&builder.build(), "nothing_like_that", "{}").await;
    assert!(told.len() < 3_000, "{}", told.len());
    let (tools, _) = office();
    let report = tools
        .call_report(RawCall::new("WebSearch", r#"{"query": "x", "limit": "3"}"#))
        .await;
    assert!(
        report.note.contains("web_search") && report.note.contains("/limit"),
        "{}",
        report.note
    );
}

#[tokio::test(start_paused = true)]
async fn unreadable_arguments_are_no_empty_object() {
    let (tools, runs) = office();
    for arguments in ["not json", "[1]", "\"text\"", "{\"path\": \"a", "42"] {
        for name in ["create_file", "delete_file"] {
            let report = tools.call_report(RawCall::new(name, arguments)).await;
            assert!(report.result.is_err(), "{name} {arguments}");
        }
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_time_out_is_no_success_after_a_rename_either() {
    struct Slow(ToolSpec);
    #[async_trait]
    impl Tool for Slow {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        async fn call(&self, _: Value) -> Result<Value, ToolError> {
            std::future::pending().await
        }
    }
    let slow = Slow(ToolSpec::without_schema("slow_tool").with_effect(Effect::Mutating));
    let tools = ToolBox::builder().tool(slow).build();
    let error = tools
        .call(RawCall::new("SlowTool", "{}"))
        .await
        .unwrap_err();
    assert!(error.may_have_run());
}

/// The outcome of `read(a.txt)`, which fails, with a model that answers this.
async fn asked(answer: &'static str) -> (Result<Value, ToolError>, Vec<Value>) {
    let model =
        chat_model_fn(
            move |_: ChatRequest| async move { Ok::<_, ModelError>(ChatReply::new(answer)) },
        );
    let (tool, runs) = Recorder::only("b.txt");
    let tool = wrap_with_self_debug(tool, LlmDebugger::new(model), SelfDebugOptions::default());
    let context = CallContext::new([Message::new("user", "b.txt or c.txt")]);
    let raw = RawCall::new("read", r#"{"path": "a.txt"}"#);
    (tool.call_raw(raw, &context).await.result, runs.list())
}

#[tokio::test(start_paused = true)]
async fn words_of_the_answer_do_not_leak_into_arguments() {
    for answer in [
        r#"{"candidates": [{"arguments": {"path": "b.txt"}, "confidence": 0.9}], "give_up": false, "giveUp": false}"#,
        r#"{"candidates": [{"arguments": {"path": "b.txt"}, "confidence": 0.9}], "give_up": "no"}"#,
        r#"{"arguments": {"path": "b.txt"}, "confidence": 0.9, "give_up": false}"#,
        r#"{"candidates": [{"arguments": {"args": {"path": "b.txt"}}, "confidence": 0.9}]}"#,
    ] {
        let (result, runs) = asked(answer).await;
        assert!(result.is_ok(), "{answer}");
        assert_eq!(runs[1], json!({"path": "b.txt"}));
    }
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_does_not_validate_never_runs() {
    for answer in [
        r#"{"candidates": [{"arguments": {"path": ["b.txt", "c.txt"]}, "confidence": 1}]}"#,
        r#"{"candidates": [{"arguments": {"path": "b.txt", "giveUp": false}, "confidence": 1}]}"#,
        r#"{"candidates": [{"arguments": [1, 2], "confidence": 1}]}"#,
        r#"{"candidates": [{"arguments": {}, "confidence": 1}]}"#,
        r#"{"candidates": [{"arguments": {"path": "a.txt"}, "confidence": 1}]}"#,
        r#"{"candidates": [{"arguments": {"path": "b.txt"}, "confidence": 0.1}]}"#,
    ] {
        let (result, runs) = asked(answer).await;
        assert_eq!(
            result.unwrap_err().message(),
            r#"there is no "a.txt""#,
            "{answer}"
        );
        assert_eq!(runs, [json!({"path": "a.txt"})], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn equal_candidates_count_once() {
    let answer = r#"{"candidates": [
        {"arguments": {"path": "c.txt"}, "confidence": 0.9},
        {"arguments": { "path" : "c.txt" }, "confidence": 0.9},
        {"arguments": {"path": "b.txt"}, "confidence": 0.8}]}"#;
    let (result, runs) = asked(answer).await;
    assert!(result.is_ok() || runs.len() <= 3);
    let c = json!({"path": "c.txt"});
    assert_eq!(runs.iter().filter(|run| **run == c).count(), 1, "{runs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_null_for_a_value_that_nobody_knows_is_a_question_to_the_approver() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let missing = Arc::clone(&seen);
    let approver = approver_fn(move |request: Arc<ApprovalRequest>| {
        missing.lock().unwrap().extend(request.missing.clone());
        async { Approval::Deny { because: None } }
    });
    let model = chat_model_fn(|_: ChatRequest| async {
        let answer = r#"{"candidates": [{"arguments": {"path": null}, "confidence": 0.9}]}"#;
        Ok::<_, ModelError>(ChatReply::new(answer))
    });
    let (tool, runs) = Recorder::only("b.txt");
    let options = SelfDebugOptions::default().approver(approver);
    let tool = wrap_with_self_debug(tool, LlmDebugger::new(model), options);
    assert!(tool.call(json!({"path": "a.txt"})).await.is_err());
    assert_eq!(runs.count(), 1);
    assert_eq!(*seen.lock().unwrap(), ["/path"]);
}

#[tokio::test(start_paused = true)]
async fn only_errors_that_other_arguments_can_mend_reach_the_debugger() {
    for (error, expected) in [
        (ToolError::fatal("disk full"), 0),
        (ToolError::transient("busy"), 0),
        (ToolError::new(ErrorClass::NotPermitted, "not yours"), 0),
        (ToolError::new(ErrorClass::Denied, "no"), 0),
        (ToolError::value(""), 0),
        (ToolError::value("no such file"), 1),
    ] {
        let asked = Counter::default();
        let count = asked.clone();
        let debugger = debugger_fn(move |_: Arc<Failure>| {
            count.add();
            async { Ok::<_, DebuggerError>(Proposed::give_up("no")) }
        });
        let (tool, _) = {
            let error = error.clone();
            Recorder::new(move |_, _| Err(error.clone()))
        };
        let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
        assert!(tool.call(json!({"path": "a"})).await.is_err());
        assert_eq!(asked.get(), expected, "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_schema_asks_no_model() {
    let asked = Counter::default();
    let count = asked.clone();
    let debugger = debugger_fn(move |_: Arc<Failure>| {
        count.add();
        async { Ok::<_, DebuggerError>(Candidate::new("{}", 1.0)) }
    });
    struct Refusing(ToolSpec);
    #[async_trait]
    impl Tool for Refusing {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        async fn call(&self, _: Value) -> Result<Value, ToolError> {
            Err(ToolError::value("no"))
        }
    }
    let tool = Refusing(ToolSpec::without_schema("bare"));
    let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
    let error = tool.call(json!({"x": 1})).await.unwrap_err();
    assert_eq!(error.gave_up(), Some(&GiveUpReason::NoSchema));
    assert_eq!(asked.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn corrected_arguments_are_confirmed_again() {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let approver = approver_fn(move |request: Arc<ApprovalRequest>| {
        log.lock().unwrap().push(request.arguments.to_string());
        async { Approval::Allow }
    });
    let (tool, runs) = Recorder::named(
        "remove",
        Effect::Destructive,
        |_, arguments| match arguments["path"].as_str() {
            Some("c.txt") => Ok(json!("removed")),
            _ => Err(ToolError::value("only c.txt and b.txt can be removed")),
        },
    );
    let debugger = debugger_fn(|failure: Arc<Failure>| async move {
        let next = if failure.attempt == 0 {
            "b.txt"
        } else {
            "c.txt"
        };
        Ok::<_, DebuggerError>(Candidate::new(json!({"path": next}).to_string(), 0.9))
    });
    let options = SelfDebugOptions::default().approver(approver);
    let tool = wrap_with_self_debug(tool, debugger, options);
    let context = CallContext::new([Message::new("user", "Remove one")]);
    let raw = RawCall::new("remove", r#"{"path": "a.txt"}"#);
    assert!(tool.call_raw(raw, &context).await.result.is_ok());
    assert_eq!(runs.count(), 3);
    assert_eq!(
        *asked.lock().unwrap(),
        [r#"{"path":"b.txt"}"#, r#"{"path":"c.txt"}"#]
    );
}

#[tokio::test(start_paused = true)]
async fn success_is_told_after_the_tool_has_ended() {
    let (tool, _) = Recorder::only("a.txt");
    let tool = wrap_with_self_debug(tool, NoDebugger, SelfDebugOptions::default());
    let mut subscription = tool.subscribe();
    let mut call = Box::pin(tool.call(json!({"path": "a.txt"})));
    assert!(futures_util::poll!(&mut call).is_pending());
    assert_eq!(names(&mut subscription), Vec::<&str>::new());
    assert!(call.await.is_ok());
    assert_eq!(names(&mut subscription), ["succeeded"]);
}
