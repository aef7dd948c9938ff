//! The loop: what runs, how often, in which order things happen, what comes back.

use std::sync::Arc;
use std::time::Duration;

use self_debug::{
    Approval, ApprovalRequest, Budget, CallContext, CallReport, Candidate, Debugger, DebuggerError,
    Effect, ErrorClass, EventKind, Failure, GiveUpReason, HeuristicDebugger, Message, NoDebugger,
    Proposed, RawCall, Rejection, Risk, SelfDebugOptions, Settings, Tool, ToolBox, ToolError,
    Usage, approver_fn, async_trait, debugger_fn, wrap_with_self_debug,
};
use serde_json::{Value, json};

use crate::support::{Counter, Recorder, events, names, spec};

fn path(path: &str) -> String {
    json!({ "path": path }).to_string()
}

/// A debugger that proposes these paths.
fn proposing(list: &'static [(&'static str, f64)]) -> impl Debugger {
    debugger_fn(move |_: Arc<Failure>| async move {
        let candidates = list.iter().map(|(to, how)| Candidate::new(path(to), *how));
        Ok::<_, DebuggerError>(candidates.collect::<Vec<_>>())
    })
}

#[tokio::test(start_paused = true)]
async fn a_good_call_runs_once_and_is_reported() {
    let (tool, runs) = Recorder::only("a.txt");
    let tool = wrap_with_self_debug(tool, NoDebugger, SelfDebugOptions::default());
    let mut subscription = tool.subscribe();
    let report = tool.call_report(json!({"path": "a.txt"})).await;
    assert_eq!(report.result.unwrap(), "content");
    assert_eq!(report.note, "");
    assert_eq!(runs.list(), [json!({"path": "a.txt"})]);
    assert_eq!(names(&mut subscription), ["succeeded"]);
    assert_eq!(report.terminal.kind.name(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn every_tool_and_box_is_a_conversation_of_its_own() {
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let (tool, _) = Recorder::only("a.txt");
        let tool = wrap_with_self_debug(tool, NoDebugger, SelfDebugOptions::default());
        let report = tool.call_report(json!({"path": "a.txt"})).await;
        assert!(seen.insert(report.terminal.conversation.to_string()));
    }
}

#[tokio::test(start_paused = true)]
async fn the_best_valid_candidate_that_is_new_runs() {
    let (tool, runs) = Recorder::only("b.txt");
    let debugger = debugger_fn(|failure: Arc<Failure>| async move {
        Ok::<_, DebuggerError>(vec![
            Candidate::new(r#"{"limit": 3}"#, 0.9),
            Candidate::new(path("b.txt"), 0.7),
            Candidate::new(&*failure.call.arguments, 0.8),
        ])
    });
    let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
    let mut subscription = tool.subscribe();
    let context = CallContext::new([Message::new("user", "Read b.txt")]);
    let raw = RawCall::new("read", path("a.txt"));
    let report = tool.call_raw(raw, &context).await;
    assert_eq!(report.result.unwrap(), "content");
    assert_eq!(
        report.note,
        "Your call of 'read' failed: there is no \"a.txt\"\n\
         It was run with these arguments instead: {\"path\":\"b.txt\"}"
    );
    assert_eq!(
        runs.list(),
        [json!({"path": "a.txt"}), json!({"path": "b.txt"})]
    );

    let events = events(&mut subscription);
    let order: Vec<&str> = events.iter().map(|event| event.kind.name()).collect();
    assert_eq!(
        order,
        [
            "failed",
            "proposed",
            "candidate_rejected",
            "candidate_rejected",
            "retrying",
            "succeeded"
        ]
    );
    let mut rejected: Vec<(&str, bool)> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::CandidateRejected { arguments, why, .. } => {
                Some((&**arguments, matches!(why, Rejection::AlreadyFailed)))
            }
            _ => None,
        })
        .collect();
    rejected.sort_unstable();
    assert_eq!(
        rejected,
        [(r#"{"limit": 3}"#, false), (r#"{"path":"a.txt"}"#, true)]
    );
    let attempts: Vec<u32> = events.iter().map(|event| event.attempt).collect();
    assert_eq!((attempts[0], attempts[5]), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn after_giving_up_the_first_error_comes_back_with_all_attempts() {
    let (tool, runs) = Recorder::new(|number, _| {
        Err(ToolError::value(format!("error {number}"))
            .with_source(std::io::Error::other("the cause")))
    });
    let debugger = debugger_fn(|failure: Arc<Failure>| async move {
        let next = format!("{}.txt", failure.attempt + 1);
        Ok::<_, DebuggerError>(Candidate::new(path(&next), 0.9))
    });
    let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default().max_retries(2));
    let error = tool.call(json!({"path": "0.txt"})).await.unwrap_err();
    assert_eq!(error.message(), "error 0");
    assert_eq!(error.class(), ErrorClass::Value);
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(runs.count(), 3);
    let messages: Vec<&str> = error
        .attempts()
        .iter()
        .map(|attempt| &*attempt.error.message)
        .collect();
    assert_eq!(messages, ["error 0", "error 1", "error 2"]);
    assert!(matches!(error.gave_up(), Some(GiveUpReason::Budget { .. })));
}

/// Who reads only the first refusal would write again.
#[tokio::test(start_paused = true)]
async fn a_last_try_that_may_have_had_its_effect_is_told() {
    let (tool, runs) = Recorder::named("write", Effect::Mutating, |number, _| {
        Err(if number == 0 {
            ToolError::value("there is only b.txt")
        } else {
            ToolError::transient("the connection broke")
                .with_effect_possible()
                .with_source(std::io::Error::other("the cause"))
        })
    });
    let debugger = debugger_fn(|_: Arc<Failure>| async {
        Ok::<_, DebuggerError>(Candidate::new(path("b.txt"), 0.9))
    });
    let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
    let report = tool.call_report(json!({"path": "a.txt"})).await;
    let error = report.result.unwrap_err();
    assert_eq!(error.message(), "the connection broke");
    assert!(error.may_have_run());
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(runs.count(), 2);
    assert_eq!(error.attempts().len(), 2);
    assert!(report.history.arguments.contains("b.txt"));
}

/// What a loop inside has given up is not tried again by one around it.
#[tokio::test(start_paused = true)]
async fn a_loop_inside_a_loop_is_not_repeated() {
    let (tool, runs) = Recorder::new(|_, _| Err(ToolError::transient("busy")));
    let alone = wrap_with_self_debug(tool, NoDebugger, SelfDebugOptions::default());
    let twice = wrap_with_self_debug(alone, NoDebugger, SelfDebugOptions::default());
    let error = twice.call(json!({"path": "a.txt"})).await.unwrap_err();
    assert_eq!(error.message(), "busy");
    // The first try and two more.
    assert_eq!(runs.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_debugger_that_fails_never_hides_the_error() {
    async fn outcome<D: Debugger>(debugger: D) -> (String, &'static str, usize) {
        let (tool, runs) = Recorder::new(|_, _| Err(ToolError::value("the original")));
        let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
        let report = tool.call_report(json!({"path": "a"})).await;
        let message = report.result.unwrap_err().message().to_owned();
        (message, report.terminal.kind.name(), runs.count())
    }
    let expected = ("the original".to_owned(), "gave_up", 1);
    let fails =
        debugger_fn(|_: Arc<Failure>| async { Err::<Proposed, _>(DebuggerError::new("no model")) });
    assert_eq!(outcome(fails).await, expected);
    let panics = debugger_fn(|_: Arc<Failure>| async {
        assert_eq!(1, 2, "a bug of the debugger");
        Ok::<_, DebuggerError>(Proposed::give_up("never"))
    });
    assert_eq!(outcome(panics).await, expected);
    let hangs = debugger_fn(|_: Arc<Failure>| std::future::pending::<Result<Proposed, _>>());
    assert_eq!(outcome(hangs).await, expected);
    let gives_up =
        debugger_fn(|_: Arc<Failure>| async { Ok::<_, DebuggerError>(Proposed::give_up("no")) });
    assert_eq!(outcome(gives_up).await, expected);
}

#[tokio::test(start_paused = true)]
async fn what_may_succeed_later_is_tried_again_without_a_debugger() {
    let asked = Counter::default();
    let count = asked.clone();
    let debugger = debugger_fn(move |_: Arc<Failure>| {
        count.add();
        async { Ok::<_, DebuggerError>(Proposed::give_up("no")) }
    });
    let (tool, runs) = Recorder::new(|number, _| match number {
        0 => Err(ToolError::transient("busy").with_retry_after(Duration::from_secs(20))),
        _ => Ok(json!("done")),
    });
    let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
    let begin = tokio::time::Instant::now();
    assert_eq!(tool.call(json!({"path": "a"})).await.unwrap(), "done");
    assert!(
        begin.elapsed() >= Duration::from_secs(20),
        "the tool asked for a pause"
    );
    assert_eq!(runs.list(), [json!({"path": "a"}), json!({"path": "a"})]);
    assert_eq!(asked.get(), 0);
}

/// A tool that never answers.
struct Hanging(self_debug::ToolSpec, Counter);

#[async_trait]
impl Tool for Hanging {
    fn spec(&self) -> &self_debug::ToolSpec {
        &self.0
    }

    async fn call(&self, _: Value) -> Result<Value, ToolError> {
        self.1.add();
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_may_have_had_its_effect_does_not_run_again() {
    for (effect, at_least, at_most) in [(Effect::Mutating, 1, 1), (Effect::ReadOnly, 2, 3)] {
        let runs = Counter::default();
        let tool = Hanging(spec("write").with_effect(effect), runs.clone());
        let tool = wrap_with_self_debug(tool, NoDebugger, SelfDebugOptions::default());
        let error = tool.call(json!({"path": "a"})).await.unwrap_err();
        assert!(error.may_have_run(), "{effect:?}");
        assert!(
            (at_least..=at_most).contains(&runs.get()),
            "{effect:?}: {}",
            runs.get()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_at_any_point_ends_it() {
    // Each poll is one point at which the caller may lose interest.
    for polls in 0..12 {
        let (tool, runs) = Recorder::only("b.txt");
        let debugger = debugger_fn(|_: Arc<Failure>| async {
            tokio::task::yield_now().await;
            Ok::<_, DebuggerError>(Candidate::new(path("b.txt"), 0.9))
        });
        let tool = wrap_with_self_debug(tool, debugger, SelfDebugOptions::default());
        let mut subscription = tool.subscribe();
        let context = CallContext::new([Message::new("user", "b.txt")]);
        let ended = {
            let raw = RawCall::new("read", path("a.txt"));
            let mut call = Box::pin(tool.call_raw(raw, &context));
            let mut ended = false;
            for _ in 0..polls {
                ended = ended || futures_util::poll!(&mut call).is_ready();
                if ended {
                    break;
                }
            }
            ended
        };
        let before = runs.count();
        tokio::time::sleep(Duration::from_hours(1)).await;
        assert_eq!(runs.count(), before, "nothing runs after the drop");
        assert!(before <= 2);
        let names = names(&mut subscription);
        let terminal = names
            .iter()
            .filter(|name| matches!(**name, "succeeded" | "gave_up"))
            .count();
        assert_eq!(terminal, usize::from(polls > 0), "{polls}: {names:?}");
        if polls > 0 {
            let last = *names.last().unwrap();
            assert_eq!(last, if ended { "succeeded" } else { "gave_up" });
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sibling_that_fails_or_panics_takes_no_other_with_it() {
    let (good, _) = Recorder::named("good", Effect::ReadOnly, |_, _| Ok(json!("fine")));
    let (bad, _) = Recorder::named("bad", Effect::ReadOnly, |_, _| panic!("secret of the tool"));
    let tools = ToolBox::builder().tool(good).tool(bad).build();
    let call = |name: &'static str| RawCall::new(name, path("a"));
    let calls = [call("bad"), call("good"), call("nothing"), call("good")];
    let reports = tools.call_all(calls, &CallContext::default()).await;
    let told: Vec<String> = reports.iter().map(CallReport::message).collect();
    assert_eq!(told[1], "fine");
    assert_eq!(told[3], "fine");
    let panicked = reports[0].result.as_ref().unwrap_err();
    assert!(panicked.may_have_run());
    assert!(!told[0].contains("secret"));
    assert_eq!(
        reports[2].result.as_ref().unwrap_err().class(),
        ErrorClass::UnknownTool
    );
}

#[tokio::test(start_paused = true)]
async fn one_text_with_several_calls_gives_a_report_for_each() {
    let (tool, runs) = Recorder::new(|_, _| Ok(json!("fine")));
    let tools = ToolBox::builder().tool(tool).build();
    let raw = RawCall::new("read", r#"{"path": "a"}{"path": "b"}"#);
    let reports = tools.call_all([raw], &CallContext::default()).await;
    assert_eq!(reports.len(), 2);
    assert_eq!(runs.list(), [json!({"path": "a"}), json!({"path": "b"})]);
}

#[tokio::test(start_paused = true)]
async fn of_several_calls_in_one_text_none_runs_if_one_cannot() {
    let (tool, runs) = Recorder::new(|_, _| Ok(json!("fine")));
    let tools = ToolBox::builder().tool(tool).build();
    let raw = RawCall::new("read", r#"{"path": "a"}{"path": ["b", "c"], "x": 1}"#);
    let reports = tools.call_all([raw], &CallContext::default()).await;
    assert_eq!(reports.len(), 1);
    assert!(reports[0].result.is_err());
    assert_eq!(runs.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_tools_that_changes_permits_nothing_new() {
    let (read, _) = Recorder::only("a");
    let tools = ToolBox::builder().tool(read).permit(["read"]).build();
    let (read, _) = Recorder::only("a");
    let (delete, runs) = Recorder::named("delete_file", Effect::ReadOnly, |_, _| Ok(json!("gone")));
    tools.replace_tools(vec![Arc::new(read), Arc::new(delete)]);
    let refused = tools.call(RawCall::new("delete_file", path("a"))).await;
    assert_eq!(refused.unwrap_err().class(), ErrorClass::NotPermitted);
    assert_eq!(runs.count(), 0);
    tools.call(RawCall::new("read", path("a"))).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn permission_counts_for_the_resolved_name_at_every_run() {
    let (tool, runs) = Recorder::named("delete_file", Effect::ReadOnly, |_, _| Ok(json!("gone")));
    let (read, _) = Recorder::only("a");
    let tools = ToolBox::builder()
        .tool(tool)
        .tool(read)
        .permit(["read"])
        .build();
    for name in [
        "delete_file",
        "DeleteFile",
        "functions.delete_file",
        "delete-file:0",
    ] {
        let report = tools.call_report(RawCall::new(name, path(name))).await;
        let error = report.result.unwrap_err();
        assert_eq!(error.class(), ErrorClass::NotPermitted, "{name}");
        assert_eq!(&*report.terminal.tool, "delete_file");
    }
    assert_eq!(runs.count(), 0);
    tools.permit(["delete_file"]);
    assert_eq!(
        tools
            .call(RawCall::new("DeleteFile", path("a")))
            .await
            .unwrap(),
        "gone"
    );
}

#[tokio::test(start_paused = true)]
async fn candidates_of_a_destructive_tool_wait_for_consent() {
    async fn with(options: SelfDebugOptions) -> (Result<Value, ToolError>, Vec<Value>) {
        let (tool, runs) = Recorder::named("remove", Effect::Destructive, |_, arguments| {
            if arguments["path"] == "a.txt" {
                Err(ToolError::value("there is no a.txt, only b.txt and c.txt"))
            } else {
                Ok(json!("removed"))
            }
        });
        let tool = wrap_with_self_debug(tool, proposing(&[("b.txt", 0.9)]), options);
        let result = tool.call(json!({"path": "a.txt"})).await;
        (result, runs.list())
    }
    let says = |approval: Approval| {
        let approver = approver_fn(move |request: Arc<ApprovalRequest>| {
            // An approver's own arguments are shown again, and then allowed.
            let approval = match &approval {
                Approval::Replace { .. } if request.origin.is_none() => Approval::Allow,
                other => other.clone(),
            };
            async move { approval }
        });
        SelfDebugOptions::default().approver(approver)
    };
    let tried = json!({"path": "a.txt"});
    let never = approver_fn(|_: Arc<ApprovalRequest>| std::future::pending());
    let panics = approver_fn(|_: Arc<ApprovalRequest>| async {
        assert_eq!(1, 2, "a bug of the approver");
        Approval::Allow
    });
    let (result, runs) = with(SelfDebugOptions::default()).await;
    let error = result.unwrap_err();
    assert_eq!(error.message(), "there is no a.txt, only b.txt and c.txt");
    assert_eq!(runs, std::slice::from_ref(&tried), "nobody can be asked");
    for options in [
        says(Approval::Deny {
            because: Some("no".to_owned()),
        }),
        SelfDebugOptions::default().approver(never),
        SelfDebugOptions::default().approver(panics),
    ] {
        let (result, runs) = with(options).await;
        let error = result.unwrap_err();
        assert_eq!(error.message(), "there is no a.txt, only b.txt and c.txt");
        assert_eq!(runs, std::slice::from_ref(&tried));
        assert!(
            matches!(error.gave_up(), Some(GiveUpReason::Denied { .. })),
            "{error:?}"
        );
    }
    let (result, runs) = with(says(Approval::Allow)).await;
    assert_eq!(
        (result.unwrap(), &runs[1]),
        (json!("removed"), &json!({"path": "b.txt"}))
    );
    let replaced = Approval::Replace {
        arguments: path("c.txt"),
    };
    let (result, runs) = with(says(replaced)).await;
    assert_eq!(
        (result.unwrap(), &runs[1]),
        (json!("removed"), &json!({"path": "c.txt"}))
    );
    assert_eq!(runs.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn debuggers_are_asked_in_turn() {
    let asked = Counter::default();
    let count = asked.clone();
    let second = debugger_fn(move |failure: Arc<Failure>| {
        count.add();
        let known = failure.refused.len() + failure.earlier.len();
        async move {
            let _ = known;
            Ok::<_, DebuggerError>(
                Proposed::from(Candidate::new(path("b.txt"), 0.9)).with_usage(Usage {
                    input_tokens: 7,
                    ..Usage::default()
                }),
            )
        }
    });
    let rules = HeuristicDebugger::new().rule("extension", Risk::Inferred, |_, arguments| {
        let path = arguments["path"].as_str()?;
        (!path.contains('.')).then(|| json!({"path": format!("{path}.txt")}))
    });
    let (tool, runs) = Recorder::new(|_, arguments| match arguments["path"].as_str() {
        Some("b.txt" | "c.txt") => Ok(json!("content")),
        _ => Err(ToolError::value("nothing there; there are b.txt and c.txt")),
    });
    let tool = wrap_with_self_debug(tool, rules.or(second), SelfDebugOptions::default());
    assert!(tool.call(json!({"path": "c"})).await.is_ok());
    assert_eq!((runs.count(), asked.get()), (2, 0), "the rule was enough");
    let report = tool.call_report(json!({"path": "x.y"})).await;
    assert!(report.result.is_ok());
    assert_eq!((runs.count(), asked.get()), (4, 1), "the rule knew no way");
    assert_eq!(report.spent.tokens, 7);
}

#[tokio::test(start_paused = true)]
async fn the_suggestion_of_a_tool_is_taken() {
    let (tool, runs) = Recorder::new(|_, arguments| match arguments["path"].as_str() {
        Some("notes.txt") => Ok(json!("content")),
        Some(path) => Err(ToolError::value(format!(
            "there is no '{path}'. Did you mean 'notes.txt'?"
        ))),
        None => Err(ToolError::fatal("no path")),
    });
    let tool = wrap_with_self_debug(tool, HeuristicDebugger::new(), SelfDebugOptions::default());
    assert!(
        tool.call(json!({"path": "note.txt", "limit": 3}))
            .await
            .is_ok()
    );
    assert_eq!(runs.list()[1], json!({"path": "notes.txt", "limit": 3}));
}

#[tokio::test(start_paused = true)]
async fn budgets_hold() {
    let always = || Recorder::new(|number, _| Err(ToolError::value(format!("error {number}"))));
    let debugger = || {
        debugger_fn(|failure: Arc<Failure>| async move {
            let next = format!("{}.txt", failure.attempt + 1);
            Ok::<_, DebuggerError>(Candidate::new(path(&next), 0.9))
        })
    };
    for retries in 0..3 {
        let (tool, runs) = always();
        let options = SelfDebugOptions::default().max_retries(retries);
        let tool = wrap_with_self_debug(tool, debugger(), options);
        assert!(tool.call(json!({"path": "x"})).await.is_err());
        assert_eq!(runs.count(), 1 + retries as usize);
    }
    // A budget of the conversation is shared by its calls.
    let (tool, runs) = always();
    let settings = Settings::default().shared_budget(Budget::unlimited().attempts(5));
    let options = SelfDebugOptions::default().settings(settings);
    let tools = ToolBox::builder()
        .tool(tool)
        .debugger(debugger())
        .options(options)
        .build();
    let calls = (0..10).map(|number| RawCall::new("read", path(&format!("call {number}"))));
    let reports = tools.call_all(calls, &CallContext::default()).await;
    assert_eq!(reports.len(), 10);
    assert!(
        reports
            .iter()
            .all(|report| report.terminal.kind.name() == "gave_up")
    );
    assert_eq!(runs.count(), 5);
}

#[tokio::test(start_paused = true)]
async fn exact_numbers_reach_a_tool_that_asks_for_the_text() {
    struct Exact(self_debug::ToolSpec);
    #[async_trait]
    impl Tool for Exact {
        fn spec(&self) -> &self_debug::ToolSpec {
            &self.0
        }
        async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
            Ok(arguments)
        }
        async fn call_text(&self, arguments: &str) -> Result<Value, ToolError> {
            Ok(arguments.into())
        }
    }
    let text = r#"{"n": 12345678901234567890123,  "e": 1e400}"#;
    let tools = ToolBox::builder()
        .tool(Exact(self_debug::ToolSpec::without_schema("t")))
        .build();
    assert_eq!(tools.call(RawCall::new("t", text)).await.unwrap(), text);
}

#[test]
fn public_types_go_across_threads() {
    fn check<T: Send + Sync>() {}
    check::<ToolBox>();
    check::<ToolError>();
    check::<SelfDebugOptions>();
    check::<CallReport>();
    check::<self_debug::SelfDebug<Arc<dyn Tool>, Box<dyn Debugger>>>();
    check::<self_debug::LlmDebugger<Arc<dyn self_debug::ChatModel>>>();
}
