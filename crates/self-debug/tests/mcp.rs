//! The tools of MCP servers: one written here, in this process, and one from a registry.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

use std::borrow::Cow;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer, RunningService, serve_server};
use self_debug::mcp::{McpError, McpServer, McpTools, answer};
use self_debug::{Effect, ErrorClass, RawCall, ToolBox};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

/// A server with tools that can be exchanged.
#[derive(Clone)]
struct Server {
    tools: Arc<Mutex<Vec<Tool>>>,
}

fn tool(name: &'static str, annotations: Option<ToolAnnotations>) -> Tool {
    let schema = json!({"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}
    }});
    let Value::Object(schema) = schema else {
        panic!("a schema is an object")
    };
    let mut tool = Tool::new(name, "a tool", Arc::new(schema));
    tool.annotations = annotations;
    tool
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .build(),
        )
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::default();
        list.tools.clone_from(&self.tools.lock().expect("tools"));
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments: JsonObject = request.arguments.unwrap_or_default();
        let city = arguments
            .get("city")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let result = match request.name.as_ref() {
            "echo" => CallToolResult::structured(Value::Object(arguments)),
            "weather" if city == "Atlantis" => {
                CallToolResult::error(vec![ContentBlock::text("there is no city 'Atlantis'")])
            }
            "weather" => CallToolResult::success(vec![ContentBlock::text("rain")]),
            "pictures" => {
                CallToolResult::success(vec![ContentBlock::text("a"), ContentBlock::text("b")])
            }
            "refusing" => return Err(ErrorData::invalid_params("city is not known", None)),
            "broken" => return Err(ErrorData::internal_error("the disk is full", None)),
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

fn names(all: &[&'static str]) -> Vec<Tool> {
    all.iter().map(|name| tool(name, None)).collect()
}

/// Starts a server and connects to it. The service keeps it up.
async fn connect(
    servers: &McpTools,
    as_server: McpServer,
    tools: Vec<Tool>,
) -> (Server, RunningService<RoleServer, Server>) {
    let server = Server {
        tools: Arc::new(Mutex::new(tools)),
    };
    let (here, there) = tokio::io::duplex(64 << 10);
    let started = tokio::spawn(serve_server(server.clone(), there));
    servers
        .connect(as_server, here)
        .await
        .expect("a connection");
    (server, started.await.expect("no panic").expect("a server"))
}

fn tool_names(servers: &McpTools) -> Vec<String> {
    servers
        .tools()
        .iter()
        .map(|tool| tool.spec().name().to_owned())
        .collect()
}

#[tokio::test]
async fn several_servers_share_one_tool_box() {
    let servers = McpTools::new();
    let tools = ToolBox::builder().build();
    servers.keep_in(&tools, Vec::new());
    let _one = connect(&servers, McpServer::new("one"), names(&["weather", "echo"])).await;
    let _two = connect(&servers, McpServer::new("two.b"), names(&["weather"])).await;
    let _three = connect(
        &servers,
        McpServer::new("three").prefix("t_"),
        names(&["pictures"]),
    )
    .await;
    assert_eq!(
        tool_names(&servers),
        [
            "mcp__one__weather",
            "mcp__one__echo",
            "mcp__two_b__weather",
            "t_pictures"
        ]
    );
    // A broken call to the echo: what arrives is what the schema wants.
    let raw = RawCall::new("mcp__one__Echo", r#"{"city": "Köln", "days": "3",}"#);
    let report = tools.call_report(raw).await;
    assert_eq!(
        report.result.expect("a result"),
        json!({"city": "Köln", "days": 3})
    );
    assert!(!report.note.is_empty());

    let raw = RawCall::new("mcp__two_b__weather", r#"{"city": "Köln"}"#);
    assert_eq!(tools.call(raw).await.expect("a result"), json!("rain"));
    let raw = RawCall::new("t_pictures", r#"{"city": "Köln"}"#);
    let pictures = tools.call(raw).await.expect("a result");
    assert_eq!(pictures.as_array().map(Vec::len), Some(2));

    let (here, _there) = tokio::io::duplex(64);
    let taken = servers.connect(McpServer::new("one"), here).await;
    assert!(matches!(taken, Err(McpError::NameTaken(name)) if name == "one"));
    let (here, _there) = tokio::io::duplex(64);
    let alike = McpServer::new("four").prefix("t_");
    let taken = servers.connect(alike, here).await;
    assert!(matches!(taken, Err(McpError::PrefixTaken { other, .. }) if other == "three"));
    assert!(format!("{servers:?}").contains("t_pictures"));
}

#[tokio::test]
async fn a_server_that_is_disconnected_while_it_connects_leaves_another_of_its_name_alone() {
    let servers = Arc::new(McpTools::new());
    let (here, there) = tokio::io::duplex(64 << 10);
    let slow = Arc::clone(&servers);
    let slow = tokio::spawn(async move { slow.connect(McpServer::new("one"), here).await });
    // It has asked the server, which has not answered.
    let mut there = BufReader::new(there);
    assert!(!there.fill_buf().await.expect("a question").is_empty());
    servers.disconnect("one");
    let _two = connect(&servers, McpServer::new("one"), names(&["weather"])).await;
    let late = Server {
        tools: Arc::new(Mutex::new(names(&["echo"]))),
    };
    let _late = serve_server(late, there).await;
    let told = slow.await.expect("no panic");
    assert!(
        matches!(&told, Err(McpError::Disconnected(name)) if name == "one"),
        "{told:?}"
    );
    assert_eq!(tool_names(&servers), ["mcp__one__weather"]);
}

#[tokio::test]
async fn annotations_become_effects() {
    let servers = McpTools::new();
    let hints = ToolAnnotations::new();
    let annotated = || {
        vec![
            tool("none", None),
            tool("empty", Some(hints.clone())),
            tool("reads", Some(hints.clone().read_only(true))),
            tool("adds", Some(hints.clone().destructive(false))),
            tool(
                "sets",
                Some(hints.clone().destructive(false).idempotent(true)),
            ),
        ]
    };
    let effects = |servers: &McpTools| -> Vec<Effect> {
        servers
            .tools()
            .iter()
            .map(|tool| tool.spec().effect())
            .collect()
    };
    let _trusted = connect(&servers, McpServer::new("a"), annotated()).await;
    assert_eq!(
        effects(&servers),
        [
            Effect::Unknown,
            Effect::Destructive,
            Effect::ReadOnly,
            Effect::Mutating,
            Effect::Idempotent
        ]
    );
    servers.disconnect("a");
    let _doubted = connect(
        &servers,
        McpServer::new("a").without_annotations(),
        annotated(),
    )
    .await;
    assert_eq!(effects(&servers), [Effect::Unknown; 5]);
}

#[tokio::test]
async fn a_changed_list_swaps_the_tools() {
    let servers = McpTools::new();
    let (server, service) = connect(&servers, McpServer::new("s"), names(&["weather"])).await;
    let tools = ToolBox::builder().build();
    servers.keep_in(&tools, Vec::new());
    assert_eq!(tools.specs().len(), 1);

    *server.tools.lock().expect("tools") = names(&["echo", "pictures"]);
    let peer: Peer<RoleServer> = service.peer().clone();
    peer.notify_tool_list_changed().await.expect("sent");
    // The swap happens in the connection's own task.
    for _ in 0..10_000 {
        if tools.specs().len() == 2 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let mut names: Vec<_> = tools
        .specs()
        .iter()
        .map(|spec| spec.name().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["mcp__s__echo", "mcp__s__pictures"]);
    let raw = RawCall::new("mcp__s__weather", r#"{"city": "Köln"}"#);
    let error = tools.call(raw).await.expect_err("it is gone");
    assert_eq!(error.class(), ErrorClass::UnknownTool);

    servers.disconnect("s");
    assert!(tools.specs().is_empty());
}

#[tokio::test]
async fn errors_keep_their_meaning() {
    let servers = McpTools::new();
    let (_, service) = connect(
        &servers,
        McpServer::new("s"),
        names(&["weather", "refusing", "broken"]),
    )
    .await;
    let tools = servers.tools();
    let call = |at: usize, city: &'static str| {
        let tool = Arc::clone(&tools[at]);
        async move {
            tool.call(json!({"city": city}))
                .await
                .expect_err("it fails")
        }
    };
    let said_no = call(0, "Atlantis").await;
    assert_eq!(said_no.class(), ErrorClass::Value);
    assert_eq!(said_no.message(), "there is no city 'Atlantis'");
    assert!(!said_no.may_have_run());

    let refused = call(1, "Köln").await;
    assert_eq!(
        (refused.class(), refused.may_have_run()),
        (ErrorClass::Arguments, false)
    );
    assert_eq!(refused.message(), "city is not known");

    let broke = call(2, "Köln").await;
    assert_eq!(
        (broke.class(), broke.may_have_run()),
        (ErrorClass::Transient, true)
    );

    service.cancel().await.expect("the server ends");
    let gone = call(0, "Köln").await;
    assert!(gone.may_have_run());
    assert!(matches!(
        gone.class(),
        ErrorClass::Fatal | ErrorClass::Transient
    ));
}

#[tokio::test]
async fn reports_become_answers_of_the_protocol() {
    let servers = McpTools::new();
    let _one = connect(
        &servers,
        McpServer::new("s").prefix(""),
        names(&["weather", "echo"]),
    )
    .await;
    let tools = ToolBox::builder().build();
    servers.keep_in(&tools, Vec::new());

    let report = tools
        .call_report(RawCall::new("Weather", r#"{"city": "Köln"}"#))
        .await;
    let result = answer(&report).expect("a result");
    assert_eq!(result.is_error, Some(false));
    let texts: Vec<Cow<'_, str>> = result
        .content
        .iter()
        .filter_map(|content| Some(content.as_text()?.text.as_str().into()))
        .collect();
    assert_eq!(texts, ["rain", report.note.as_str()]);

    let report = tools
        .call_report(RawCall::new("echo", r#"{"city": "Köln"}"#))
        .await;
    let result = answer(&report).expect("a result");
    assert_eq!(result.structured_content, Some(json!({"city": "Köln"})));

    let report = tools
        .call_report(RawCall::new("echo", r#"{"days": 3}"#))
        .await;
    let result = answer(&report).expect("a failed result");
    assert_eq!(result.is_error, Some(true));
    assert!(
        result.content[0]
            .as_text()
            .expect("a text")
            .text
            .contains("city")
    );

    let report = tools
        .call_report(RawCall::new("fly_to_the_moon", "{}"))
        .await;
    let error = answer(&report).expect_err("an error of the protocol");
    assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS);
}

/// A real server: `pip install mcp-server-time`. Skipped where it is not there.
#[tokio::test]
async fn the_time_server_of_the_reference_servers() {
    let python = std::env::var("MCP_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probe = std::process::Command::new(&python)
        .args(["-c", "import mcp_server_time"])
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!(
            "skipped: {python} has no mcp_server_time (pip install mcp-server-time, or set MCP_TEST_PYTHON)"
        );
        return;
    }
    let mut child = tokio::process::Command::new(&python)
        .args(["-m", "mcp_server_time", "--local-timezone", "UTC"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let pipes = (
        child.stdout.take().expect("a pipe"),
        child.stdin.take().expect("a pipe"),
    );
    let servers = McpTools::new();
    servers
        .connect(McpServer::new("time"), pipes)
        .await
        .expect("a connection");
    let tools = ToolBox::builder().build();
    servers.keep_in(&tools, Vec::new());
    let names = tool_names(&servers);
    assert!(
        names.contains(&"mcp__time__convert_time".to_owned()),
        "{names:?}"
    );

    // The name in the wrong case, a comma too many.
    let raw = RawCall::new(
        "mcp__time__Convert_Time",
        r#"{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo",}"#,
    );
    let result = tools.call(raw).await.expect("a time");
    assert!(result.to_string().contains("21:00"), "{result}");

    let raw = RawCall::new(
        "mcp__time__convert_time",
        r#"{"source_timezone": "Nowhere/City", "time": "12:00", "target_timezone": "UTC"}"#,
    );
    let error = tools.call(raw).await.expect_err("no such zone");
    assert_eq!(error.class(), ErrorClass::Value);
    assert!(error.message().contains("Nowhere/City"), "{error}");
}
