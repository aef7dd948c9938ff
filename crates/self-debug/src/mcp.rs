//! The tools of MCP servers as tools.
//!
//! [`McpTools`] connects to servers and gives their tools as [`Tool`]s: named
//! `mcp__server__tool` (or with a prefix of the host's), with effects from the server's
//! annotations. It keeps a [`ToolBox`] up to date when a server's list changes. In the other
//! direction, [`answer`] turns the report of a call into what a server has to answer.
//!
//! The transport is the host's: a child process, HTTP, or any reader and writer that `rmcp` takes.

mod tool;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, RoleClient, RunningService, ServiceError,
    serve_client,
};
use rmcp::transport::IntoTransport;
use serde_json::Value;

use crate::toolbox::Talk;
use crate::{CallReport, ErrorClass, Tool, ToolBox};

use tool::McpTool;

/// How the tools of one server are taken in.
#[derive(Clone, Debug)]
pub struct McpServer {
    name: String,
    prefix: String,
    trusts_annotations: bool,
}

impl McpServer {
    /// A server by a name of the host's. Its tools are called `mcp__name__tool`; characters of the
    /// name that providers do not take in a tool's name become `_`.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let safe = name.replace(
            |letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')),
            "_",
        );
        Self {
            prefix: format!("mcp__{safe}__"),
            name,
            trusts_annotations: true,
        }
    }

    /// Sets what stands before the names of its tools; empty for nothing.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Does not believe what the server says about the effects of its tools: they are
    /// [`crate::Effect::Unknown`].
    pub fn without_annotations(mut self) -> Self {
        self.trusts_annotations = false;
        self
    }
}

/// A server could not be taken in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// A server of this name is connected already.
    #[error("an MCP server named '{0}' is connected already; give each its own name")]
    NameTaken(String),
    /// A server that is connected already has the same prefix: their tools could not be told apart.
    #[error(
        "the MCP server '{server}' would name its tools like '{other}'; give it another prefix"
    )]
    PrefixTaken {
        /// The server.
        server: String,
        /// The one that is connected.
        other: String,
    },
    /// It was disconnected before it was connected.
    #[error("the MCP server '{0}' was disconnected while it was being connected")]
    Disconnected(String),
    /// The connection could not be set up.
    #[error("the MCP server '{server}' cannot be reached")]
    Connect {
        /// The server.
        server: String,
        /// Why.
        source: Box<ClientInitializeError>,
    },
    /// The server does not tell its tools.
    #[error("the MCP server '{server}' does not list its tools")]
    List {
        /// The server.
        server: String,
        /// Why.
        source: Box<ServiceError>,
    },
    /// A tool of the server cannot be described.
    #[error("a tool of the MCP server '{server}' cannot be read")]
    Spec {
        /// The server.
        server: String,
        /// Why.
        source: repair_core::SpecError,
    },
}

/// The tools of several MCP servers. Cheap to clone; clones are the same servers. When the last
/// clone goes, the connections end.
///
/// ```no_run
/// use self_debug::ToolBox;
/// use self_debug::mcp::{McpServer, McpTools};
///
/// # async fn example(pipe: tokio::io::DuplexStream) -> Result<(), self_debug::mcp::McpError> {
/// let servers = McpTools::new();
/// servers.connect(McpServer::new("time"), pipe).await?;
/// let tools = ToolBox::builder().build();
/// servers.keep_in(&tools, Vec::new());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct McpTools {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    servers: Vec<Connected>,
    boxes: Vec<Kept>,
}

struct Connected {
    server: Arc<McpServer>,
    tools: Vec<Arc<dyn Tool>>,
    /// Keeps the connection up; none while it is being set up.
    service: Option<RunningService<RoleClient, Listener>>,
}

/// A tool box that gets the tools, beside its own.
struct Kept {
    tools: Weak<Talk>,
    own: Vec<Arc<dyn Tool>>,
}

impl McpTools {
    /// No servers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects to a server and takes its tools in. Dropped or failing on the way, it leaves
    /// nothing of the server behind.
    pub async fn connect<T, E, A>(&self, server: McpServer, transport: T) -> Result<(), McpError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let server = Arc::new(server);
        let place = Place::reserve(&self.inner, Arc::clone(&server))?;
        self.set_up(server, transport).await?;
        place.keep();
        Ok(())
    }

    async fn set_up<T, E, A>(&self, server: Arc<McpServer>, transport: T) -> Result<(), McpError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let listener = Listener {
            server: Arc::clone(&server),
            tools: Arc::downgrade(&self.inner),
            order: Arc::default(),
        };
        let name = server.name.clone();
        let service = serve_client(listener.clone(), transport)
            .await
            .map_err(|source| McpError::Connect {
                server: name.clone(),
                source: Box::new(source),
            })?;
        let peer = service.peer().clone();
        match self.inner.lock().connected(&server) {
            Some(connected) => connected.service = Some(service),
            None => return Err(McpError::Disconnected(name)),
        }
        listener.refresh(&peer).await
    }

    /// Ends the connection to a server and takes its tools away. Calls under way fail.
    pub fn disconnect(&self, server: &str) {
        let mut state = self.inner.lock();
        state
            .servers
            .retain(|connected| connected.server.name != server);
        state.swap();
    }

    /// The tools of all servers, in the order in which they were connected.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.inner.lock().tools()
    }

    /// Puts the tools into a tool box, beside tools of the host's, now and whenever a server's list
    /// changes, for as long as the box is there. A box for another conversation is another box.
    pub fn keep_in(&self, tools: &ToolBox, own: Vec<Arc<dyn Tool>>) {
        let mut state = self.inner.lock();
        state.boxes.push(Kept {
            tools: tools.downgrade(),
            own,
        });
        state.swap();
    }
}

/// The place of a server while it is being connected: given up again unless it is kept.
struct Place<'a> {
    inner: &'a Inner,
    server: Option<Arc<McpServer>>,
}

impl<'a> Place<'a> {
    fn reserve(inner: &'a Inner, server: Arc<McpServer>) -> Result<Self, McpError> {
        inner.reserve(&server)?;
        Ok(Self {
            inner,
            server: Some(server),
        })
    }

    fn keep(mut self) {
        self.server = None;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            let mut state = self.inner.lock();
            // By itself, not by its name: another one may have taken that.
            state
                .servers
                .retain(|connected| !Arc::ptr_eq(&connected.server, server));
            state.swap();
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(&self, server: &Arc<McpServer>) -> Result<(), McpError> {
        let mut state = self.lock();
        for Connected { server: other, .. } in &state.servers {
            if other.name == server.name {
                return Err(McpError::NameTaken(server.name.clone()));
            }
            if other.prefix == server.prefix && !server.prefix.is_empty() {
                return Err(McpError::PrefixTaken {
                    server: server.name.clone(),
                    other: other.name.clone(),
                });
            }
        }
        state.servers.push(Connected {
            server: Arc::clone(server),
            tools: Vec::new(),
            service: None,
        });
        Ok(())
    }
}

impl State {
    fn connected(&mut self, server: &Arc<McpServer>) -> Option<&mut Connected> {
        let mut servers = self.servers.iter_mut();
        servers.find(|connected| Arc::ptr_eq(&connected.server, server))
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.servers.iter().flat_map(|server| &server.tools);
        tools.cloned().collect()
    }

    /// Gives every tool box the tools as they are now.
    fn swap(&mut self) {
        self.boxes.retain(|kept| kept.tools.strong_count() > 0);
        for kept in &self.boxes {
            let Some(tool_box) = ToolBox::upgrade(&kept.tools) else {
                continue;
            };
            // Of two tools with one name the later counts: the host's own.
            let tools = self.tools().into_iter().chain(kept.own.iter().cloned());
            tool_box.replace_tools(tools.collect());
            for problem in tool_box.schema_problems() {
                tracing::warn!(%problem, "a schema of an MCP server does not compile");
            }
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_map()
            .entries(state.servers.iter().map(|server| {
                let names = server
                    .tools
                    .iter()
                    .map(|tool| tool.spec().name().to_owned());
                (&server.server.name, names.collect::<Vec<_>>())
            }))
            .finish()
    }
}

/// The host's side of a connection: hears when the list of tools changes.
#[derive(Clone)]
struct Listener {
    server: Arc<McpServer>,
    tools: Weak<Inner>,
    /// One list after the other, or an old one could overwrite a newer one.
    order: Arc<tokio::sync::Mutex<()>>,
}

impl Listener {
    /// Reads the server's tools and puts them in the place of those that were there.
    async fn refresh(&self, peer: &Peer<RoleClient>) -> Result<(), McpError> {
        let _turn = self.order.lock().await;
        let server = || self.server.name.clone();
        let listed = peer
            .list_all_tools()
            .await
            .map_err(|source| McpError::List {
                server: server(),
                source: Box::new(source),
            })?;
        let tools = listed
            .into_iter()
            .map(|tool| {
                let tool = McpTool::new(&self.server, tool, peer.clone());
                tool.map(|tool| Arc::new(tool) as Arc<dyn Tool>)
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| McpError::Spec {
                server: server(),
                source,
            })?;
        if let Some(inner) = self.tools.upgrade() {
            let mut state = inner.lock();
            if let Some(connected) = state.connected(&self.server) {
                connected.tools = tools;
                state.swap();
            }
        }
        Ok(())
    }
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        if let Err(error) = self.refresh(&context.peer).await {
            let server = self.server.name.as_str();
            tracing::warn!(%error, server, "the changed tools of an MCP server are not known");
        }
    }
}

/// What an MCP server answers to `tools/call` after a tool box ran it: a result for the model, a
/// failed one with `isError`, or the protocol's own error for a name that no tool has.
///
/// The repair note goes into a text of its own beside the result.
pub fn answer(report: &CallReport) -> Result<CallToolResult, ErrorData> {
    match &report.result {
        Ok(Value::String(text)) => Ok(with_note(
            CallToolResult::success(vec![text_block(text)]),
            report,
        )),
        Ok(value @ Value::Object(_)) => {
            let mut result = CallToolResult::success(vec![text_block(&value.to_string())]);
            result.structured_content = Some(value.clone());
            Ok(with_note(result, report))
        }
        Ok(value) => Ok(with_note(
            CallToolResult::success(vec![text_block(&value.to_string())]),
            report,
        )),
        Err(error) if error.class() == ErrorClass::UnknownTool => {
            Err(ErrorData::invalid_params(error.message().to_owned(), None))
        }
        Err(error) => Ok(CallToolResult::error(vec![text_block(error.message())])),
    }
}

fn with_note(mut result: CallToolResult, report: &CallReport) -> CallToolResult {
    if !report.note.is_empty() {
        result.content.push(text_block(&report.note));
    }
    result
}

fn text_block(text: &str) -> ContentBlock {
    ContentBlock::text(text.to_owned())
}
