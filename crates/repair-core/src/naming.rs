//! The first step of the pipeline: from the emitted name to a permitted tool.

use crate::call::RawCall;
use crate::names::{self, Resolution};
use crate::pipeline::Named;
use crate::policy::Policy;
use crate::spec::{Effect, ToolSpec};
use crate::toolset::{Tool, ToolSet};
use crate::verdict::{Reason, Rejected};

impl ToolSet {
    /// The name of the tool that an emitted name means, permitted or not.
    pub fn resolve_name(&self, emitted: &str) -> Option<&str> {
        let asked = Asked {
            tools: self,
            policy: &Policy::default(),
            raw: None,
        };
        match self.inner.index.find(emitted, &asked)? {
            Resolution::Exact(at) | Resolution::Fixed(at, _) => Some(self.tool(at)?.spec.name()),
            Resolution::Ambiguous(_) | Resolution::Unknown { .. } => None,
        }
    }

    /// The spec of the tool that has exactly this name.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.named(name).map(|tool| &tool.spec)
    }

    /// Whether the arguments of a tool are validated: it has a schema, and the schema compiles.
    pub fn validates(&self, name: &str) -> bool {
        self.named(name).is_some_and(|tool| tool.judge.is_some())
    }

    fn named(&self, name: &str) -> Option<&Tool> {
        self.tool(self.inner.index.exact(name)?)
    }

    fn tool(&self, at: u32) -> Option<&Tool> {
        self.inner.tools.get(at as usize)
    }

    pub(crate) fn resolve_call<'s>(
        &'s self,
        raw: &RawCall<'_>,
        policy: &'s Policy,
    ) -> Result<Named<'s>, Box<Rejected>> {
        let asked = Asked {
            tools: self,
            policy,
            raw: Some(raw),
        };
        let resolution = self.inner.index.resolve(&raw.name, &asked);
        let name_of = |at: &u32| self.tool(*at).map(|tool| tool.spec.name().to_owned());
        let (at, rule) = match &resolution {
            Resolution::Exact(at) => (*at, None),
            Resolution::Fixed(at, fix) if policy.risk_of(fix.rule, fix.rule.risk).is_some() => {
                (*at, Some(fix.rule))
            }
            Resolution::Fixed(at, _) => return Err(self.unknown_tool(raw, name_of(at), &[*at])),
            Resolution::Ambiguous(tools) => {
                let mut rejected = Rejected::new(
                    raw,
                    Reason::AmbiguousTool,
                    "several tools have nearly this name",
                );
                rejected.available_tools = tools.iter().filter_map(name_of).collect();
                rejected.available_tools.sort();
                rejected.tool_count = rejected.available_tools.len();
                return Err(Box::new(rejected));
            }
            Resolution::Unknown { near, nearest } => {
                return Err(self.unknown_tool(raw, near.as_ref().and_then(name_of), nearest));
            }
        };
        let Some(tool) = self.tool(at) else {
            return Err(self.unknown_tool(raw, None, &[]));
        };
        let name = tool.spec.name();
        if !self.permits(name) {
            let mut rejected =
                Rejected::new(raw, Reason::NotPermitted, "the tool is not permitted now");
            rejected.tool = Some(name.to_owned());
            return Err(Box::new(rejected));
        }
        let effect = policy.effect(name, tool.spec.effect());
        Ok(Named {
            tool,
            policy,
            effect,
            rule,
        })
    }

    /// How many tools an error about an unknown one lists.
    const LISTED: usize = 30;

    fn unknown_tool(
        &self,
        raw: &RawCall<'_>,
        near: Option<String>,
        nearest: &[u32],
    ) -> Box<Rejected> {
        let mut rejected = Rejected::new(raw, Reason::UnknownTool, "there is no such tool");
        let permitted: Vec<&str> = self
            .specs()
            .map(ToolSpec::name)
            .filter(|name| self.permits(name))
            .collect();
        rejected.tool_count = permitted.len();
        rejected.did_you_mean = near.filter(|name| self.permits(name));
        // Nearest first: feedback cuts a long inventory from behind.
        let nearest = nearest
            .iter()
            .filter_map(|at| Some(self.tool(*at)?.spec.name()));
        rejected.available_tools = nearest
            .filter(|name| self.permits(name))
            .map(str::to_owned)
            .collect();
        if rejected.available_tools.len() < rejected.tool_count.min(Self::LISTED) {
            rejected.available_tools = permitted
                .into_iter()
                .take(Self::LISTED)
                .map(str::to_owned)
                .collect();
        }
        rejected.available_tools.truncate(Self::LISTED);
        Box::new(rejected)
    }
}

/// What the name resolver may ask about a call and its tools.
struct Asked<'s> {
    tools: &'s ToolSet,
    policy: &'s Policy,
    /// `None` where only a name is asked about; then no arguments fit.
    raw: Option<&'s RawCall<'s>>,
}

impl names::Tools for Asked<'_> {
    fn has_property(&self, tool: u32, key: &str) -> bool {
        self.tools
            .tool(tool)
            .is_some_and(|tool| tool.tree.declares(Some(tool.tree.root()), key))
    }

    fn arguments_fit(&self, tool: u32) -> bool {
        let (Some(tool), Some(raw)) = (self.tools.tool(tool), self.raw) else {
            return false;
        };
        let named = Named {
            tool,
            policy: self.policy,
            effect: Effect::ReadOnly,
            rule: None,
        };
        named.arguments(raw).call().is_some()
    }

    fn is_destructive(&self, tool: u32) -> bool {
        self.tools.tool(tool).is_some_and(|tool| {
            self.policy.effect(tool.spec.name(), tool.spec.effect()) == Effect::Destructive
        })
    }
}
