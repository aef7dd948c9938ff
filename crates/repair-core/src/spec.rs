//! What the host says about a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What running a tool does to the world. Decides which fixes are applied without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Only looks.
    ReadOnly,
    /// Changes something, and twice is the same as once.
    Idempotent,
    /// Changes something; a second run changes it again.
    Mutating,
    /// May destroy something.
    Destructive,
    /// Nothing is known. Treated as [`Effect::Mutating`].
    #[default]
    Unknown,
}

/// A tool as the model knows it: name, description, JSON Schema of its arguments, effect.
///
/// ```
/// use repair_core::{Effect, ToolSpec};
/// use serde_json::json;
/// let spec = ToolSpec::new("read_file", json!({"type": "object", "properties": {"path": {"type": "string"}}}))
///     .with_effect(Effect::ReadOnly);
/// assert_eq!(spec.name(), "read_file");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<Value>,
    #[serde(default)]
    effect: Effect,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
}

/// A tool object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpecError {
    /// The tool is not a JSON object.
    #[error("a tool must be a JSON object, got {0}")]
    NotAnObject(&'static str),
    /// The tool has no name, or the name is not a string.
    #[error("a tool needs a non-empty string under `name`{0}")]
    NoName(&'static str),
    /// The schema is neither an object, a boolean nor null.
    #[error("tool '{tool}': its schema must be an object, got {got}")]
    Schema {
        /// The tool's name.
        tool: String,
        /// The JSON type of what stands there.
        got: &'static str,
    },
}

impl ToolSpec {
    /// A tool with the JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            description: None,
            schema: Some(schema),
            effect: Effect::Unknown,
            server: None,
        }
    }

    /// A tool without a schema: it accepts any object.
    pub fn without_schema(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: None,
            schema: None,
            effect: Effect::Unknown,
            server: None,
        }
    }

    /// Sets the description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the effect.
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Says which MCP server the tool comes from. Models write the server before the tool's name
    /// (`mcp__github__create_issue`, `github.create_issue`): such a prefix is taken off if it
    /// names the tool's own server, and never if it names another one.
    ///
    /// ```
    /// use repair_core::{ToolSet, ToolSpec};
    /// let issue = ToolSpec::without_schema("create_issue").with_server("github");
    /// let (tools, _) = ToolSet::new([issue]);
    /// assert_eq!(tools.resolve_name("mcp__github__create_issue"), Some("create_issue"));
    /// assert_eq!(tools.resolve_name("mcp__gitlab__create_issue"), None);
    /// ```
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Reads a tool object: `OpenAI`'s (`{"type":"function","function":{…}}` or the bare function),
    /// Anthropic's (`input_schema`), or MCP's (`inputSchema`, `annotations`).
    pub fn from_json(tool: &Value) -> Result<Self, SpecError> {
        let object = tool
            .as_object()
            .ok_or_else(|| SpecError::NotAnObject(type_name(tool)))?;
        let body = match object.get("function") {
            Some(Value::Object(function)) => function,
            _ => object,
        };
        let name = match body.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            Some(_) => return Err(SpecError::NoName(", and it is not a usable one")),
            None => return Err(SpecError::NoName("")),
        };
        let schema = ["parameters", "inputSchema", "input_schema"]
            .iter()
            .find_map(|key| body.get(*key))
            .filter(|schema| !schema.is_null());
        if let Some(other) = schema
            && !(other.is_object() || other.is_boolean())
        {
            return Err(SpecError::Schema {
                tool: name,
                got: type_name(other),
            });
        }
        let description = body
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let effect = body
            .get("annotations")
            .map_or(Effect::Unknown, effect_of_annotations);
        Ok(Self {
            name,
            description,
            schema: schema.cloned(),
            effect,
            server: None,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description, if there is one.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The JSON Schema of the arguments, if there is one.
    pub fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// The MCP server that the tool comes from, if the host said so.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// What running the tool does.
    pub fn effect(&self) -> Effect {
        self.effect
    }
}

/// Effects of MCP annotations. The protocol's own defaults count where a hint is absent, but an
/// absent annotations object says nothing.
fn effect_of_annotations(annotations: &Value) -> Effect {
    let Some(hints) = annotations.as_object() else {
        return Effect::Unknown;
    };
    let hint = |name: &str| hints.get(name).and_then(Value::as_bool);
    match (
        hint("readOnlyHint"),
        hint("destructiveHint"),
        hint("idempotentHint"),
    ) {
        (Some(true), _, _) => Effect::ReadOnly,
        (_, Some(false), Some(true)) => Effect::Idempotent,
        (_, Some(false), _) => Effect::Mutating,
        _ => Effect::Destructive,
    }
}

/// The JSON type of a value, as a word for messages.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
