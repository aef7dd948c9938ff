//! The tools of one conversation.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;
use repair_core::{RawCall, SchemaProblem, ToolSet, ToolSpec};
use serde_json::Value;

use crate::debugger::{Debugger, NoDebugger};
use crate::driver::{Driver, Held, Parts};
use crate::error::ToolError;
use crate::observers::Subscription;
use crate::options::SelfDebugOptions;
use crate::report::{CallContext, CallReport};
use crate::tool::Tool;

/// The tools by name, and what is wrong with their schemas.
struct Tools {
    by_name: HashMap<String, Arc<dyn Tool>>,
    problems: Vec<SchemaProblem>,
}

impl Tools {
    fn compile(tools: Vec<Arc<dyn Tool>>) -> (Self, ToolSet) {
        let (set, problems) = ToolSet::new(tools.iter().map(|tool| tool.spec().clone()));
        let by_name = tools
            .into_iter()
            .map(|tool| (tool.spec().name().to_owned(), tool))
            .collect();
        (Self { by_name, problems }, set)
    }
}

/// The tools of one conversation: resolves names, repairs, checks permission on the resolved name,
/// runs, and tries again. Cheap to clone; clones are the same conversation.
///
/// ```
/// use self_debug::{Effect, FnTool, RawCall, ToolBox, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search {
///     query: String,
///     tags: Option<Vec<String>>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let search = FnTool::new("search", "Searches", |search: Search| async move {
///     Ok::<_, ToolError>(search.tags)
/// });
/// let tools = ToolBox::builder().tool(search.with_effect(Effect::ReadOnly)).build();
/// let raw = RawCall::new("Search", r#"{"query": "planets", "tags": "[\"space\"]"}"#);
/// let report = tools.call_report(raw).await;
/// assert_eq!(report.result?, serde_json::json!(["space"]));
/// assert!(report.note.contains("search"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolBox {
    inner: Arc<Inner>,
    tools: Arc<RwLock<Arc<Tools>>>,
    driver: Driver,
}

/// What all conversations share.
struct Inner {
    debugger: Arc<dyn Debugger>,
    options: SelfDebugOptions,
}

/// Collects what a [`ToolBox`] is made of.
pub struct ToolBoxBuilder {
    tools: Vec<Arc<dyn Tool>>,
    permitted: Option<Vec<String>>,
    debugger: Arc<dyn Debugger>,
    options: SelfDebugOptions,
}

impl ToolBoxBuilder {
    /// Adds a tool. Of two with the same name the later one counts.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Permits only these tools; the others exist, and calls of them are refused.
    pub fn permit<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.permitted = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the debugger.
    pub fn debugger(mut self, debugger: impl Debugger + 'static) -> Self {
        self.debugger = Arc::new(debugger);
        self
    }

    /// Sets the options.
    pub fn options(mut self, options: SelfDebugOptions) -> Self {
        self.options = options;
        self
    }

    /// Compiles the schemas.
    pub fn build(self) -> ToolBox {
        let (tools, set) = Tools::compile(self.tools);
        let set = match self.permitted {
            Some(names) => set.with_permitted(names),
            None => set,
        };
        ToolBox {
            driver: Driver::new(set, self.options.clone()),
            tools: Arc::new(RwLock::new(Arc::new(tools))),
            inner: Arc::new(Inner {
                debugger: self.debugger,
                options: self.options,
            }),
        }
    }
}

impl fmt::Debug for ToolBoxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools.iter().map(|tool| tool.spec().name());
        f.debug_list().entries(names).finish()
    }
}

impl ToolBox {
    /// Begins a tool box.
    pub fn builder() -> ToolBoxBuilder {
        ToolBoxBuilder {
            tools: Vec::new(),
            permitted: None,
            debugger: Arc::new(NoDebugger),
            options: SelfDebugOptions::default(),
        }
    }

    /// The same tools and options for another conversation: nothing is spent, nothing has
    /// happened. Observers stay.
    pub fn new_conversation(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            tools: Arc::new(RwLock::new(self.tools())),
            driver: Driver::new(self.tool_set(), self.inner.options.clone()),
        }
    }

    /// The specs, in the order given: what to offer to the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tool_set().specs().cloned().collect()
    }

    /// The compiled tools of this conversation, with what is permitted now.
    pub fn tool_set(&self) -> ToolSet {
        self.driver.conversation.tools()
    }

    /// The schemas that do not compile; arguments of their tools are not validated.
    pub fn schema_problems(&self) -> Vec<SchemaProblem> {
        self.tools().problems.clone()
    }

    fn tools(&self) -> Arc<Tools> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Permits only these tools from now on, in this conversation. Calls under way see it before
    /// they next run something.
    pub fn permit<S: Into<String>>(&self, names: impl IntoIterator<Item = S>) {
        self.driver.conversation.permit(names);
    }

    /// Replaces all tools, as an MCP server does when its list changes. What is permitted stays as
    /// it is: a new tool may run only if its name was permitted, or nothing was ever withheld. Calls
    /// under way keep the schemas they began with; [`ToolBox::schema_problems`] tells those of the new
    /// ones that do not compile.
    pub fn replace_tools(&self, tools: Vec<Arc<dyn Tool>>) {
        let (tools, set) = Tools::compile(tools);
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
        self.driver.conversation.replace_tools(set);
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

    /// Runs a call, whatever state it came in.
    pub async fn call(&self, raw: RawCall<'static>) -> Result<Value, ToolError> {
        self.call_report(raw).await.result
    }

    /// The same, and reports everything that the conversation needs.
    pub async fn call_report(&self, raw: RawCall<'static>) -> CallReport {
        self.call_report_in(raw, &CallContext::default()).await
    }

    /// The same, for a call of which the surroundings are known.
    pub async fn call_report_in(&self, raw: RawCall<'static>, context: &CallContext) -> CallReport {
        self.driver.drive(context.request(raw), self).await
    }

    /// Runs the calls of one turn, all at once. The reports come in the order of the calls; a call
    /// whose text holds several gives one report for each. A call that fails or panics takes no
    /// other with it.
    pub async fn call_all(
        &self,
        calls: impl IntoIterator<Item = RawCall<'static>>,
        context: &CallContext,
    ) -> Vec<CallReport> {
        let tools = self.tool_set();
        let policy = self.driver.conversation.policy();
        let single = calls.into_iter().flat_map(|raw| tools.split(&raw, policy));
        join_all(single.map(|raw| self.call_report_in(raw, context))).await
    }
}

impl Parts for ToolBox {
    fn tool(&self, name: &str) -> Option<Held<'_>> {
        if !self.tool_set().permits(name) {
            return None;
        }
        self.tools().by_name.get(name).cloned().map(Held::Shared)
    }

    fn debugger(&self) -> &dyn Debugger {
        &*self.inner.debugger
    }
}

impl fmt::Debug for ToolBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBox")
            .field("conversation", &self.driver.conversation)
            .finish_non_exhaustive()
    }
}
