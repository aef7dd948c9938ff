//! Resolving an emitted name against the names of a tool set (section "Names" of the docs).

use std::collections::HashMap;

use crate::rule::Rule;

/// The names of a tool set, indexed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    exact: HashMap<Box<str>, u32>,
}

/// A name that was not right as emitted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameFix {
    pub(crate) rule: &'static Rule,
}

/// What an emitted name resolves to. Positions are those of the names given to [`Index::new`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    Exact(u32),
    /// `fits` was asked where a rule needs it.
    Fixed(u32, NameFix),
    /// Several tools fold to the emitted name.
    Ambiguous(Vec<u32>),
    /// `near`: the most similar tool, from 0.5 similarity; `nearest`: all tools by similarity,
    /// best first, at most a bounded number.
    Unknown {
        near: Option<u32>,
        nearest: Vec<u32>,
    },
}

/// What the resolver asks about a tool.
pub(crate) trait Tools {
    /// Whether `key` is a declared property of the tool.
    fn has_property(&self, tool: u32, key: &str) -> bool;
    /// Whether the call's arguments fit the tool.
    fn arguments_fit(&self, tool: u32) -> bool;
    /// Whether running the tool may destroy something.
    fn is_destructive(&self, tool: u32) -> bool;
}

impl Index {
    /// Indexes the names of a tool set; `servers` are its server prefixes (`mcp__github__`).
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = &'n str>, servers: &[String]) -> Self {
        let _ = servers;
        Self {
            exact: names.into_iter().map(Box::from).zip(0..).collect(),
        }
    }

    /// Resolves an emitted name.
    pub(crate) fn resolve(&self, emitted: &str, tools: &dyn Tools) -> Resolution {
        let _ = tools;
        match self.exact.get(emitted) {
            Some(tool) => Resolution::Exact(*tool),
            None => Resolution::Unknown {
                near: None,
                nearest: Vec::new(),
            },
        }
    }
}
