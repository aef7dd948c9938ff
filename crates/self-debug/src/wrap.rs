//! One tool, wrapped.

use std::fmt;

use async_trait::async_trait;
use repair_core::{RawCall, SchemaProblem, ToolSet, ToolSpec};
use serde_json::Value;

use crate::debugger::Debugger;
use crate::driver::{Driver, Held, Parts};
use crate::error::ToolError;
use crate::observers::Subscription;
use crate::options::SelfDebugOptions;
use crate::report::{CallContext, CallReport};
use crate::tool::Tool;

/// Wraps a tool: its calls are repaired, and what fails is corrected by the debugger and tried
/// again within the budget. The wrapped tool is a [`Tool`] again.
///
/// ```
/// use schemars::JsonSchema;
/// use self_debug::{
///     FnTool, HeuristicDebugger, SelfDebugOptions, Tool, ToolError, wrap_with_self_debug,
/// };
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Read {
///     path: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let read = FnTool::new("read", "Reads a note", |read: Read| async move {
///     match read.path.as_str() {
///         "notes.txt" => Ok("buy milk"),
///         path => Err(ToolError::value(format!("no '{path}'; did you mean 'notes.txt'?"))),
///     }
/// });
/// let read = wrap_with_self_debug(read, HeuristicDebugger::new(), SelfDebugOptions::default());
/// assert_eq!(read.call(json!({"path": "note.txt"})).await?, "buy milk");
/// # Ok(())
/// # }
/// ```
///
/// A call must run inside a Tokio runtime whose timer is enabled.
pub fn wrap_with_self_debug<T: Tool, D: Debugger>(
    tool: T,
    debugger: D,
    options: SelfDebugOptions,
) -> SelfDebug<T, D> {
    let (tools, problems) = ToolSet::new([tool.spec().clone()]);
    // A wrapped tool knows no conversation in which a repeated call would be a loop.
    let settings = options.settings.clone().loop_limit(0);
    SelfDebug {
        driver: Driver::new(tools, options.settings(settings)),
        tool,
        debugger,
        problem: problems.into_iter().next(),
    }
}

/// A wrapped tool. Made by [`wrap_with_self_debug`].
pub struct SelfDebug<T, D> {
    tool: T,
    debugger: D,
    driver: Driver,
    problem: Option<SchemaProblem>,
}

impl<T: Tool, D: Debugger> SelfDebug<T, D> {
    /// Calls the tool, and reports everything that the conversation needs.
    pub async fn call_report(&self, arguments: Value) -> CallReport {
        let name = self.tool.spec().name().to_owned();
        let raw = RawCall::from_value(name, &arguments);
        self.call_raw(raw, &CallContext::default()).await
    }

    /// Calls the tool with what a model wrote, and says what surrounds the call.
    pub async fn call_raw(&self, raw: RawCall<'static>, context: &CallContext) -> CallReport {
        self.driver.drive(context.request(raw), self).await
    }

    /// The events of all calls from now on.
    pub fn subscribe(&self) -> Subscription {
        self.driver.observers.subscribe()
    }

    /// Waits until the closures of [`SelfDebugOptions::on_event`] were told everything that
    /// happened so far; for as long as one of them blocks.
    pub async fn flush(&self) {
        self.driver.observers.flush().await;
    }

    /// Why arguments are not validated, if the tool's schema does not compile.
    pub fn schema_problem(&self) -> Option<&SchemaProblem> {
        self.problem.as_ref()
    }

    /// The tool.
    pub fn inner(&self) -> &T {
        &self.tool
    }
}

impl<T: Tool, D: Debugger> Parts for SelfDebug<T, D> {
    fn generation(&self) -> u64 {
        0
    }

    fn tool(&self, _name: &str) -> Option<Held<'_>> {
        Some(Held::Borrowed(&self.tool))
    }

    fn debugger(&self) -> &dyn Debugger {
        &self.debugger
    }
}

#[async_trait]
impl<T: Tool, D: Debugger> Tool for SelfDebug<T, D> {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        self.call_report(arguments).await.result
    }

    async fn call_text(&self, arguments: &str) -> Result<Value, ToolError> {
        let raw = RawCall::new(self.tool.spec().name().to_owned(), arguments.to_owned());
        self.call_raw(raw, &CallContext::default()).await.result
    }
}

impl<T: Tool, D> fmt::Debug for SelfDebug<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfDebug")
            .field("tool", &self.tool.spec().name())
            .finish_non_exhaustive()
    }
}
