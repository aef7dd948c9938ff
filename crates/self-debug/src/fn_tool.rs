//! A tool made from an async closure.

use std::fmt;
use std::pin::Pin;

use async_trait::async_trait;
use harness::ErrorClass;
use repair_core::{Effect, ToolSpec};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::ToolError;
use crate::tool::Tool;

type Answer = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>>;
type Run = dyn Fn(&str) -> Answer + Send + Sync;

/// A tool made from an async closure. Its schema is that of the closure's argument type.
///
/// ```
/// use schemars::JsonSchema;
/// use self_debug::{Effect, FnTool, Tool, ToolError};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search {
///     /// What to look for.
///     query: String,
///     limit: Option<u32>,
/// }
///
/// let search = FnTool::new("search", "Searches the notes", |search: Search| async move {
///     Ok::<_, ToolError>(format!("nothing about {}", search.query))
/// })
/// .with_effect(Effect::ReadOnly);
/// assert_eq!(search.spec().name(), "search");
/// ```
pub struct FnTool {
    spec: ToolSpec,
    run: Box<Run>,
}

impl FnTool {
    /// A tool that runs `closure`.
    pub fn new<A, R, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        closure: F,
    ) -> Self
    where
        A: JsonSchema + DeserializeOwned,
        R: Serialize,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let spec = ToolSpec::new(name, schema_of::<A>()).with_description(description);
        let run = move |text: &str| -> Answer {
            match serde_json::from_str(text) {
                Ok(arguments) => {
                    let answer = closure(arguments);
                    Box::pin(async move { to_value(answer.await?) })
                }
                Err(error) => {
                    let error = ToolError::new(ErrorClass::Arguments, error.to_string());
                    Box::pin(std::future::ready(Err(error)))
                }
            }
        };
        Self {
            spec,
            run: Box::new(run),
        }
    }

    /// Sets what running the tool does.
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.spec = self.spec.with_effect(effect);
        self
    }

    /// Sets the spec, where a hand-written schema says more than the type.
    pub fn with_spec(mut self, spec: ToolSpec) -> Self {
        self.spec = spec;
        self
    }
}

#[async_trait]
impl Tool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        (self.run)(&arguments.to_string()).await
    }

    async fn call_text(&self, arguments: &str) -> Result<Value, ToolError> {
        (self.run)(arguments).await
    }
}

impl fmt::Debug for FnTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

/// The schema of a type, without what only documents the Rust side.
fn schema_of<A: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(A).to_value();
    if let Value::Object(object) = &mut schema {
        object.shift_remove("$schema");
        object.shift_remove("title");
    }
    schema
}

/// The result as a value. The tool has run by then.
fn to_value(result: impl Serialize) -> Result<Value, ToolError> {
    serde_json::to_value(result).map_err(|error| {
        ToolError::fatal(format!("the result is not JSON: {error}")).with_effect_possible()
    })
}
