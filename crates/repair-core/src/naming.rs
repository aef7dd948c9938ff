//! The first step of the pipeline: from the emitted name to a permitted tool.

use std::collections::HashSet;

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

    pub(crate) fn named(&self, name: &str) -> Option<&Tool> {
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
            .filter_map(|at| Some(self.tool(*at)?.spec.name()))
            .filter(|name| self.permits(name));
        let mut listed = HashSet::new();
        rejected.available_tools = nearest
            .chain(permitted)
            .filter(|name| listed.insert(*name))
            .take(names::NEAREST)
            .map(str::to_owned)
            .collect();
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::ToolSpec;
    use crate::verdict::Verdict;

    const WANTED: &str = "search_files_in_repo";

    /// Sixty tools of a host, and one that is near what the model writes.
    fn tools() -> ToolSet {
        let others = (0..60).map(|n| format!("aaa_tool_{n:03}"));
        let names = others.chain([WANTED.to_owned(), "zzz_last".to_owned()]);
        ToolSet::new(names.map(|name| ToolSpec::new(name, json!({"type": "object"})))).0
    }

    fn listed(tools: &ToolSet) -> Vec<String> {
        let raw = RawCall::new("search_repo_file_list", "{}");
        match tools.repair(&raw, &Policy::default()) {
            Verdict::Rejected(rejected) => rejected.available_tools,
            verdict => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn the_nearest_of_many_tools_are_listed() {
        let listed = listed(&tools());
        assert_eq!(listed.len(), names::NEAREST);
        assert_eq!(listed.first().map(String::as_str), Some(WANTED));
    }

    #[test]
    fn tools_that_are_not_near_fill_the_list() {
        let tools = tools();
        let permitted: Vec<String> = tools
            .specs()
            .map(|spec| spec.name().to_owned())
            .filter(|name| name.ends_with('9') || !name.starts_with("aaa"))
            .collect();
        let mut listed = listed(&tools.with_permitted(permitted.clone()));
        assert_eq!(listed.first().map(String::as_str), Some(WANTED));
        listed.sort();
        assert_eq!(listed, permitted);
    }
}
