//! Eight kinds of calls that real models get wrong, and what comes of each.

use std::fmt;
use std::sync::Arc;

use self_debug::{CallContext, CallReport, Debugger, Event, Finish, Message, RawCall, ToolBox};
use toolmend::{Fix, Policy, Verdict};

use crate::notebook::Notebook;

/// One broken call.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is wrong with it.
    pub title: &'static str,
    /// The call as the model wrote it.
    pub raw: RawCall<'static>,
}

/// The calls.
pub fn cases() -> Vec<Case> {
    let case = |title, name: &'static str, arguments: &'static str| Case {
        title,
        raw: RawCall::new(name, arguments).with_finish(Finish::Complete),
    };
    let mut cases = vec![
        case(
            "the name in the wrong case",
            "SearchNotes",
            r#"{"query": "planets"}"#,
        ),
        case(
            "a list written as a string",
            "search_notes",
            r##"{"query": "planets", "tags": "[\"#space\", \"#sky\"]"}"##,
        ),
        case(
            "null for a value that is optional",
            "search_notes",
            r#"{"query": "milk", "limit": null}"#,
        ),
        case(
            "quotes that are not escaped",
            "write_note",
            r#"{"path": "greeting.md", "content": "Say "hello" to Ann."}"#,
        ),
        case(
            "a misspelt key",
            "write_note",
            r#"{"path": "todo.md", "contnet": "Buy milk and bread. #home"}"#,
        ),
        case(
            "a value that the tool itself refuses",
            "read_note",
            r#"{"path": "notes/monday.md"}"#,
        ),
        case(
            "a write that was cut off",
            "write_note",
            r#"{"path": "plan.md", "content": "1. Buy milk 2. Call the pl"#,
        ),
        case(
            "a tool that is withheld",
            "DeleteNote",
            r#"{"path": "todo.md"}"#,
        ),
    ];
    if let Some(cut) = cases.get_mut(6) {
        cut.raw = cut.raw.clone().with_finish(Finish::Cut);
    }
    cases
}

/// The notebook's tools with a debugger. `delete_note` exists and is not permitted.
pub fn tools(debugger: impl Debugger + 'static) -> ToolBox {
    let notebook = Notebook::with_examples();
    ToolBox::builder()
        .tool(notebook.search())
        .tool(notebook.read())
        .tool(notebook.write())
        .tool(notebook.delete())
        .permit(["search_notes", "read_note", "write_note"])
        .debugger(debugger)
        .build()
}

/// What came of a case.
#[derive(Debug)]
pub struct Played {
    /// The case.
    pub case: Case,
    /// What the rules alone say to the call.
    pub verdict: Verdict<'static>,
    /// What the tool box made of it.
    pub report: CallReport,
    /// What happened, in order.
    pub events: Vec<Arc<Event>>,
}

/// Sends a call to the tools.
pub async fn play(tools: &ToolBox, case: Case) -> Played {
    let mut subscription = tools.subscribe();
    let context = CallContext::new([Message::new(
        "user",
        "Look into my notes: what was on Monday, and what do I know about planets?",
    )]);
    let verdict = tools
        .tool_set()
        .repair(&case.raw, &Policy::default())
        .into_owned();
    let report = tools.call_report_in(case.raw.clone(), &context).await;
    let events = std::iter::from_fn(|| subscription.try_next())
        .filter_map(|notice| notice.event().cloned())
        .collect();
    Played {
        case,
        verdict,
        report,
        events,
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.case.title)?;
        let raw = &self.case.raw;
        let arguments = raw.arguments().unwrap_or_default();
        writeln!(f, "  in       {} {arguments}", raw.name())?;
        match &self.verdict {
            Verdict::Valid(_) => writeln!(f, "  verdict  valid")?,
            Verdict::Repaired(_) => writeln!(f, "  verdict  repaired")?,
            Verdict::Rejected(rejected) => writeln!(f, "  verdict  {:?}", rejected.reason())?,
        }
        for fix in self.report.fixes.iter() {
            writeln!(f, "  fix      {}", line(fix))?;
        }
        for event in &self.events {
            writeln!(f, "  event    {event}")?;
        }
        match &self.report.executed {
            Some(call) => writeln!(f, "  ran      {} {}", call.tool(), call.arguments().text())?,
            None => writeln!(f, "  ran      nothing")?,
        }
        for (number, line) in self.report.message().lines().enumerate() {
            let label = if number == 0 { "model" } else { "" };
            writeln!(f, "{}", format!("  {label:8} {line}").trim_end())?;
        }
        Ok(())
    }
}

fn line(fix: &Fix) -> String {
    let place = if fix.path.is_empty() {
        fix.offset
            .map_or(String::new(), |at| format!("byte {at}: "))
    } else {
        format!("{}: ", fix.path)
    };
    format!("{place}{} ({}, {:?})", fix.sentence, fix.rule, fix.risk)
}
