//! Tool sets from JSON.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use repair_core::{SchemaProblem, ToolSet, ToolSpec};
use serde_json::Value;

/// Tools that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The text is not JSON.
    #[error("the tools are not JSON: {0}")]
    Json(String),
    /// It is not a list.
    #[error(
        "the tools must be a JSON array of OpenAI or MCP tool objects (or an object with it under `tools`)"
    )]
    NotAList,
    /// One of them is no tool.
    #[error("tool {0} of the list (the first is 0): {1}")]
    Tool(usize, String),
}

/// A compiled tool set, with the schemas that did not compile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Toolkit {
    /// The tools.
    pub set: ToolSet,
    /// Schemas that did not compile. Calls of their tools pass unvalidated.
    pub problems: Arc<Vec<SchemaProblem>>,
}

impl Toolkit {
    /// Reads a JSON array of OpenAI or MCP tool objects, or an object that has it under `tools`.
    pub fn parse(text: &str) -> Result<Self, ToolsError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ToolsError::Json(error.to_string()))?;
        let list = value
            .as_array()
            .or_else(|| value.get("tools")?.as_array())
            .ok_or(ToolsError::NotAList)?;
        let mut specs = Vec::with_capacity(list.len());
        for (at, tool) in list.iter().enumerate() {
            specs.push(
                ToolSpec::from_json(tool)
                    .map_err(|error| ToolsError::Tool(at, error.to_string()))?,
            );
        }
        let (set, problems) = ToolSet::new(specs);
        Ok(Self {
            set,
            problems: Arc::new(problems),
        })
    }
}

/// How many different tool lists of lines are kept compiled, and how long one of them may be, in
/// bytes: what is kept must not grow with the input.
const KEPT: usize = 32;
const KEPT_BYTES: usize = 1 << 20;

/// Compiled tool lists by their text: lines of one agent bring the same list again and again.
static CACHE: Mutex<VecDeque<(Box<str>, Toolkit)>> = Mutex::new(VecDeque::new());

/// [`Toolkit::parse`], remembering the last few texts.
pub(super) fn parse_cached(text: &str) -> Result<Toolkit, ToolsError> {
    // A poisoned cache is still a cache.
    let lock = || {
        CACHE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    };
    if let Some((_, known)) = lock().iter().find(|(known, _)| **known == *text) {
        return Ok(known.clone());
    }
    let toolkit = Toolkit::parse(text)?;
    if text.len() <= KEPT_BYTES {
        let mut cache = lock();
        if cache.len() >= KEPT {
            cache.pop_front();
        }
        cache.push_back((text.into(), toolkit.clone()));
    }
    Ok(toolkit)
}
