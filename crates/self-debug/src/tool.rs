//! What a tool is.

use std::sync::Arc;

use async_trait::async_trait;
use repair_core::{Arguments, ToolSpec};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::Value;

use crate::debugger::Debugger;
use crate::error::ToolError;
use crate::options::SelfDebugOptions;
use crate::wrap::{SelfDebug, wrap_with_self_debug};

/// An async tool: what the model is told about it, and how it is called.
///
/// [`crate::FnTool`] makes one from an async closure. A tool is called in the caller's task:
/// dropping the call drops it, and one that blocks should move its work to
/// `tokio::task::spawn_blocking`.
///
/// ```
/// use self_debug::{Tool, ToolError, ToolSpec, async_trait};
/// use serde_json::{Value, json};
///
/// struct Clock(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Clock {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///     async fn call(&self, _arguments: Value) -> Result<Value, ToolError> {
///         Ok(json!("noon"))
///     }
/// }
/// ```
#[async_trait]
pub trait Tool: Send + Sync {
    /// Name, description, schema and effect.
    fn spec(&self) -> &ToolSpec;

    /// Runs the tool. The arguments are an object that satisfies the schema.
    async fn call(&self, arguments: Value) -> Result<Value, ToolError>;

    /// Runs the tool on the exact text of its arguments, for tools that care about the spelling of
    /// numbers or read the text into types of their own. By default the text is parsed for
    /// [`Tool::call`].
    async fn call_text(&self, arguments: &str) -> Result<Value, ToolError> {
        self.call(parse(arguments)?).await
    }
}

/// Methods of every [`Tool`].
pub trait ToolExt: Tool + Sized {
    /// Wraps the tool with a debugger: [`wrap_with_self_debug`] as a method.
    fn self_debug<D: Debugger>(self, debugger: D, options: SelfDebugOptions) -> SelfDebug<Self, D> {
        wrap_with_self_debug(self, debugger, options)
    }
}

impl<T: Tool> ToolExt for T {}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        (**self).call(arguments).await
    }

    async fn call_text(&self, arguments: &str) -> Result<Value, ToolError> {
        (**self).call_text(arguments).await
    }
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Box<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        (**self).call(arguments).await
    }

    async fn call_text(&self, arguments: &str) -> Result<Value, ToolError> {
        (**self).call_text(arguments).await
    }
}

/// The arguments as a value. Only numbers beyond the range of `serde_json` take the slow way.
pub(crate) fn parse(arguments: &str) -> Result<Value, ToolError> {
    if let Ok(value) = serde_json::from_str(arguments) {
        return Ok(value);
    }
    let text: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        arguments.into_deserializer();
    match <Arguments<'static> as Deserialize>::deserialize(text) {
        Ok(arguments) => Ok(arguments.into_value()),
        Err(error) => Err(ToolError::new(
            harness::ErrorClass::Syntax,
            error.to_string(),
        )),
    }
}
