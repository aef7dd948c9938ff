//! The compiled tools of one agent.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::arguments::Target;
use crate::names::Index;
use crate::schema::{self, Judge, Tree};
use crate::spec::ToolSpec;

/// A schema that did not compile. Its tool still works: any strict JSON object passes, flagged as
/// unvalidated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error(
    "tool '{tool}': its schema does not compile, so its arguments are not validated: {problem}"
)]
#[non_exhaustive]
pub struct SchemaProblem {
    /// The tool's name.
    pub tool: String,
    /// What the validator says.
    pub problem: String,
}

/// The tools of one agent, compiled: a name index, a validator for each, and the names permitted
/// now. Cheap to clone; replaced as a whole when the tools change.
///
/// ```
/// use repair_core::{Policy, RawCall, ToolSet, ToolSpec, Verdict};
/// use serde_json::json;
/// let search = ToolSpec::new("search", json!({
///     "type": "object",
///     "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
///     "required": ["query"]
/// }));
/// let (tools, problems) = ToolSet::new([search]);
/// assert!(problems.is_empty());
/// let raw = RawCall::new("search", r#"{"query": "planets"}"#);
/// assert!(matches!(tools.repair(&raw, &Policy::default()), Verdict::Valid(_)));
/// ```
#[derive(Clone, Debug)]
pub struct ToolSet {
    pub(crate) inner: Arc<Inner>,
    permitted: Option<Arc<HashSet<String>>>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) tools: Vec<Tool>,
    pub(crate) index: Index,
}

/// One compiled tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) spec: ToolSpec,
    /// The spec's name, for every call of the tool.
    pub(crate) name: Arc<str>,
    pub(crate) tree: Tree,
    /// `None` for a tool without a schema, and for one whose schema does not compile.
    pub(crate) judge: Option<Judge>,
    pub(crate) is_broken: bool,
}

impl ToolSet {
    /// Compiles the tools. Of two tools with the same name the later one counts. Schemas that do
    /// not compile are reported and disable nothing else.
    pub fn new(specs: impl IntoIterator<Item = ToolSpec>) -> (Self, Vec<SchemaProblem>) {
        let mut problems = Vec::new();
        let mut tools: Vec<Tool> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for spec in specs {
            let tool = Tool::compile(spec, &mut problems);
            let place = *places
                .entry(tool.spec.name().to_owned())
                .or_insert(tools.len());
            match tools.get_mut(place) {
                Some(known) => *known = tool,
                None => tools.push(tool),
            }
        }
        let index = Index::new(
            tools
                .iter()
                .map(|tool| (tool.spec.name(), tool.spec.server())),
        );
        (
            Self {
                inner: Arc::new(Inner { tools, index }),
                permitted: None,
            },
            problems,
        )
    }

    /// The same tools, of which only the named ones are permitted now.
    pub fn with_permitted<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.permitted = Some(Arc::new(names.into_iter().map(Into::into).collect()));
        self
    }

    /// The same tools, of which those are permitted that `other` permits, unless it was said of
    /// them already: what replaces a tool set permits nothing new by itself.
    pub fn with_permission_of(mut self, other: &Self) -> Self {
        if self.permitted.is_none() {
            self.permitted.clone_from(&other.permitted);
        }
        self
    }

    /// The specs, in the order given.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.inner.tools.iter().map(|tool| &tool.spec)
    }

    /// Whether a tool is permitted now.
    pub fn permits(&self, tool: &str) -> bool {
        self.permitted
            .as_ref()
            .is_none_or(|names| names.contains(tool))
    }
}

impl Tool {
    /// What the arguments must satisfy.
    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            tree: &self.tree,
            judge: self.judge.as_ref(),
            is_arguments: true,
        }
    }

    fn compile(spec: ToolSpec, problems: &mut Vec<SchemaProblem>) -> Self {
        let Some(schema) = spec.schema() else {
            return Self::accepting_anything(spec, false);
        };
        match schema::compiled(schema) {
            Ok((tree, judge)) => Self {
                name: spec.name().into(),
                tree: tree.with_object_root(),
                spec,
                judge: Some(judge),
                is_broken: false,
            },
            Err(problem) => {
                problems.push(SchemaProblem {
                    tool: spec.name().to_owned(),
                    problem,
                });
                Self::accepting_anything(spec, true)
            }
        }
    }

    fn accepting_anything(spec: ToolSpec, is_broken: bool) -> Self {
        Self {
            name: spec.name().into(),
            spec,
            tree: Tree::any_object(),
            judge: None,
            is_broken,
        }
    }
}
