//! The tools of one conversation.

use std::collections::HashMap;
use std::fmt;
#[cfg(feature = "mcp")]
use std::sync::Weak;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

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
    /// How often the tools were replaced before.
    generation: u64,
}

impl Tools {
    fn compile(tools: Vec<Arc<dyn Tool>>) -> (Self, ToolSet) {
        let (set, problems) = ToolSet::new(tools.iter().map(|tool| tool.spec().clone()));
        let by_name = tools
            .into_iter()
            .map(|tool| (tool.spec().name().to_owned(), tool))
            .collect();
        let tools = Self {
            by_name,
            problems,
            generation: 0,
        };
        (tools, set)
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
    talk: Arc<Talk>,
}

/// One conversation.
pub(crate) struct Talk {
    common: Arc<Common>,
    tools: RwLock<Arc<Tools>>,
    driver: Driver,
}

/// What all conversations share.
struct Common {
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
        let driver = Driver::new(set, self.options.clone());
        let common = Common {
            debugger: self.debugger,
            options: self.options,
        };
        ToolBox::new(Arc::new(common), Arc::new(tools), driver)
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

    fn new(common: Arc<Common>, tools: Arc<Tools>, driver: Driver) -> Self {
        Self {
            talk: Arc::new(Talk {
                common,
                tools: RwLock::new(tools),
                driver,
            }),
        }
    }

    /// The same tools and options for another conversation: nothing is spent, nothing has
    /// happened. Observers stay. What keeps this box up to date does not keep the new one.
    pub fn new_conversation(&self) -> Self {
        let common = Arc::clone(&self.talk.common);
        // The tools and the set that describes them must not be replaced in between.
        let tools = self.read();
        let driver = Driver::new(self.tool_set(), common.options.clone());
        Self::new(common, Arc::clone(&tools), driver)
    }

    /// A reference that keeps nothing alive.
    #[cfg(feature = "mcp")]
    pub(crate) fn downgrade(&self) -> Weak<Talk> {
        Arc::downgrade(&self.talk)
    }

    /// The box behind a reference, if anybody still has it.
    #[cfg(feature = "mcp")]
    pub(crate) fn upgrade(talk: &Weak<Talk>) -> Option<Self> {
        Some(Self {
            talk: talk.upgrade()?,
        })
    }

    /// The specs, in the order given: what to offer to the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tool_set().specs().cloned().collect()
    }

    /// The compiled tools of this conversation, with what is permitted now.
    pub fn tool_set(&self) -> ToolSet {
        self.talk.driver.conversation.tools()
    }

    /// The schemas that do not compile; arguments of their tools are not validated.
    pub fn schema_problems(&self) -> Vec<SchemaProblem> {
        self.read().problems.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Arc<Tools>> {
        let tools = &self.talk.tools;
        tools.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits only these tools from now on, in this conversation. Calls under way see it before
    /// they next run something.
    pub fn permit<S: Into<String>>(&self, names: impl IntoIterator<Item = S>) {
        self.talk.driver.conversation.permit(names);
    }

    /// Replaces all tools, as an MCP server does when its list changes. What is permitted stays as
    /// it is: a new tool may run only if its name was permitted, or nothing was ever withheld. Calls
    /// under way keep the schemas they began with; [`ToolBox::schema_problems`] tells those of the new
    /// ones that do not compile.
    pub fn replace_tools(&self, tools: Vec<Arc<dyn Tool>>) {
        let (mut tools, set) = Tools::compile(tools);
        // Both under one lock: whoever reads the generation knows which set checked a call.
        let present = self.talk.tools.write();
        let mut present = present.unwrap_or_else(PoisonError::into_inner);
        tools.generation = present.generation + 1;
        self.talk.driver.conversation.replace_tools(set);
        *present = Arc::new(tools);
    }

    /// The events of all calls from now on.
    pub fn subscribe(&self) -> Subscription {
        self.talk.driver.observers.subscribe()
    }

    /// Waits until the closures of [`SelfDebugOptions::on_event`] were told everything that
    /// happened so far; for as long as one of them blocks.
    pub async fn flush(&self) {
        self.talk.driver.observers.flush().await;
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
        self.talk.driver.drive(context.request(raw), self).await
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
        let policy = self.talk.driver.conversation.policy();
        let single = calls.into_iter().flat_map(|raw| tools.split(&raw, policy));
        join_all(single.map(|raw| self.call_report_in(raw, context))).await
    }
}

impl Parts for ToolBox {
    fn generation(&self) -> u64 {
        self.read().generation
    }

    fn tool(&self, name: &str) -> Option<Held<'_>> {
        let tools = self.read();
        if !self.tool_set().permits(name) {
            return None;
        }
        let tool = tools.by_name.get(name).cloned()?;
        Some(Held::Shared(tool, tools.generation))
    }

    fn debugger(&self) -> &dyn Debugger {
        &*self.talk.common.debugger
    }
}

impl fmt::Debug for ToolBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBox")
            .field("conversation", &self.talk.driver.conversation)
            .finish_non_exhaustive()
    }
}
