//! One tool of an MCP server.

use repair_core::{SpecError, ToolSpec};
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorCode};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use super::McpServer;
use crate::{ErrorClass, Tool, ToolError, async_trait};

/// A tool that runs on a server.
#[derive(Debug)]
pub(super) struct McpTool {
    spec: ToolSpec,
    /// Its name on the server.
    name: String,
    peer: Peer<RoleClient>,
}

impl McpTool {
    pub(super) fn new(
        server: &McpServer,
        tool: rmcp::model::Tool,
        peer: Peer<RoleClient>,
    ) -> Result<Self, SpecError> {
        let name = tool.name.clone().into_owned();
        let mut tool = serde_json::to_value(tool).unwrap_or_default();
        if let Some(tool) = tool.as_object_mut() {
            tool.insert("name".to_owned(), format!("{}{name}", server.prefix).into());
            if !server.trusts_annotations {
                tool.shift_remove("annotations");
            }
        }
        Ok(Self {
            spec: ToolSpec::from_json(&tool)?,
            name,
            peer,
        })
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        let mut params = CallToolRequestParams::new(self.name.clone());
        if let Value::Object(arguments) = arguments {
            params = params.with_arguments(arguments);
        }
        match self.peer.call_tool(params).await {
            Ok(result) => output(result),
            Err(error) => Err(failure(error)),
        }
    }
}

/// The result for the model: the structured one if there is one, a single text as it is, else the
/// list of contents.
fn output(result: CallToolResult) -> Result<Value, ToolError> {
    if result.is_error == Some(true) {
        return Err(ToolError::value(texts(&result)));
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    if let [content] = result.content.as_slice()
        && let Some(text) = content.as_text()
    {
        return Ok(Value::String(text.text.clone()));
    }
    Ok(serde_json::to_value(result.content).unwrap_or_default())
}

/// What a failed tool says.
fn texts(result: &CallToolResult) -> String {
    let texts = result
        .content
        .iter()
        .filter_map(|content| content.as_text());
    let texts: Vec<&str> = texts.map(|text| text.text.as_str()).collect();
    match &result.structured_content {
        Some(structured) if texts.is_empty() => structured.to_string(),
        _ => texts.join("\n"),
    }
}

/// The error of a call that had no result. What the server refused by the protocol never ran.
fn failure(error: ServiceError) -> ToolError {
    let class = match &error {
        ServiceError::McpError(error) => match error.code {
            ErrorCode::INVALID_PARAMS => ErrorClass::Arguments,
            ErrorCode::METHOD_NOT_FOUND => ErrorClass::UnknownTool,
            ErrorCode::PARSE_ERROR | ErrorCode::INVALID_REQUEST => ErrorClass::Fatal,
            _ => ErrorClass::Transient,
        },
        ServiceError::TransportSend(_) | ServiceError::Timeout { .. } => ErrorClass::Transient,
        _ => ErrorClass::Fatal,
    };
    let message = match &error {
        ServiceError::McpError(error) => error.message.to_string(),
        ServiceError::Timeout { .. } => "the tool's server did not answer in time".to_owned(),
        // What the transport says may hold an address with a key: it is kept as the source only.
        _ => "the tool's server cannot be reached".to_owned(),
    };
    let never_ran = matches!(&error, ServiceError::McpError(_)) && class != ErrorClass::Transient;
    let failed = ToolError::new(class, message).with_source(error);
    if never_ran {
        failed
    } else {
        failed.with_effect_possible()
    }
}
