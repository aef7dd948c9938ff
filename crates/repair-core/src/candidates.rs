//! Repairs that were not applied, as candidates, rendered when they are read: most callers send
//! the error back and look at none of them.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::arguments::Proposal;
use crate::fix::Fix;
use crate::fixes::{Source, TextFixes};
use crate::json::emit::emit;
use crate::json::{Arena, NodeId};
use crate::rule::Risk;
use crate::verdict::{Candidate, Origin};

/// Candidates, best first. Serialises as a list of them.
#[derive(Clone, Default)]
pub(crate) struct Candidates {
    source: Option<Box<Proposed>>,
    rendered: OnceLock<Vec<Candidate>>,
}

/// A document and what could be done to it.
#[derive(Clone)]
pub(crate) struct Proposed {
    pub(crate) tool: String,
    /// Fixes of the reading and of the name, complete.
    pub(crate) head: Vec<Fix>,
    pub(crate) text: TextFixes,
    /// The document without any of the steps.
    pub(crate) arena: Arena<'static>,
    pub(crate) root: NodeId,
    pub(crate) proposals: Vec<Proposal>,
    /// Generation had been cut off.
    pub(crate) from_cut: bool,
}

impl Candidates {
    pub(crate) fn get(&self) -> &[Candidate] {
        self.rendered.get_or_init(|| match &self.source {
            Some(proposed) => proposed.render(),
            None => Vec::new(),
        })
    }
}

impl From<Proposed> for Candidates {
    fn from(proposed: Proposed) -> Self {
        Self {
            source: Some(Box::new(proposed)),
            rendered: OnceLock::new(),
        }
    }
}

impl From<Vec<Candidate>> for Candidates {
    fn from(candidates: Vec<Candidate>) -> Self {
        Self {
            source: None,
            rendered: OnceLock::from(candidates),
        }
    }
}

impl Proposed {
    fn render(&self) -> Vec<Candidate> {
        self.proposals
            .iter()
            .enumerate()
            .map(|(rank, proposal)| self.candidate(rank, proposal))
            .collect()
    }

    fn candidate(&self, rank: usize, proposal: &Proposal) -> Candidate {
        let mut arena = self.arena.clone();
        for step in &proposal.steps {
            step.edit.apply(&mut arena);
        }
        let arguments = emit(&arena, self.root);
        let source = Source {
            head: self.head.clone(),
            name: None,
            text: self.text.clone(),
            arena,
            root: self.root,
            steps: proposal.steps.clone(),
        };
        let fixes = source.render();
        let risk = fixes
            .iter()
            .map(|fix| fix.risk)
            .max()
            .unwrap_or(Risk::Lossless);
        let sentences: Vec<&str> = fixes.iter().map(|fix| &*fix.sentence).collect();
        Candidate {
            tool: self.tool.clone(),
            confidence: confidence(risk, rank),
            rationale: sentences.join("; "),
            origin: Origin::Rule,
            risk,
            valid: true,
            from_cut: self.from_cut,
            arguments,
            fixes,
        }
    }
}

/// How good a candidate of this risk and rank is beside its rivals.
fn confidence(risk: Risk, rank: usize) -> f64 {
    let start = match risk {
        Risk::Lossless => 0.95,
        Risk::Inferred => 0.8,
        Risk::Guess => 0.5,
    };
    let rank = u32::try_from(rank).map_or(f64::from(u32::MAX), f64::from);
    start / (1.0 + rank / 4.0)
}

impl fmt::Debug for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl PartialEq for Candidates {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Serialize for Candidates {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Candidates {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
