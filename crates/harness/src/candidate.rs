//! Proposed arguments, and the debugger's answer that holds them.

use std::borrow::Cow;

use repair_core::{Fix, Origin, Risk};
use serde::{Deserialize, Serialize};

use crate::patch::Patch;

/// A debugger's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Proposal {
    /// Arguments to try, in any order: the machine ranks them.
    Candidates(Vec<Candidate>),
    /// The debugger knows no way.
    GiveUp {
        /// Why not.
        reason: String,
    },
}

/// The arguments of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// All of them, as the text of a JSON object.
    Complete(String),
    /// A change to the arguments that failed; whatever it does not touch keeps its bytes.
    Patch(Patch),
}

/// Proposed arguments.
///
/// ```
/// use harness::Candidate;
/// let candidate = Candidate::new(r#"{"path": "notes.txt"}"#, 0.8).because("the file has an s");
/// assert_eq!(candidate.confidence, 0.8);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The arguments.
    pub change: Change,
    /// How good it is beside its rivals, from 0 to 1. What lies outside is moved to the border, and
    /// what is not a number is 0.
    pub confidence: f64,
    /// Why it is proposed.
    pub rationale: String,
    /// Where it came from.
    pub origin: Origin,
    /// Which answer of a model it came from, where one was asked several times. Different samples
    /// that agree strengthen each other.
    pub sample: u32,
    /// For a rule: how sure it is.
    pub risk: Risk,
    /// For a rule: what it changed.
    pub fixes: Vec<Fix>,
    /// It was made from a call that was cut off.
    pub from_cut: bool,
    /// Another repair was equally good.
    pub tied: bool,
}

impl Candidate {
    /// Complete arguments, proposed by a model.
    pub fn new(arguments: impl Into<String>, confidence: f64) -> Self {
        Self::of(Change::Complete(arguments.into()), confidence)
    }

    /// A change to the arguments that failed, proposed by a model.
    pub fn patch(patch: Patch, confidence: f64) -> Self {
        Self::of(Change::Patch(patch), confidence)
    }

    fn of(change: Change, confidence: f64) -> Self {
        Self {
            change,
            confidence,
            rationale: String::new(),
            origin: Origin::Model,
            sample: 0,
            risk: Risk::Guess,
            fixes: Vec::new(),
            from_cut: false,
            tied: false,
        }
    }

    /// Sets why it is proposed.
    pub fn because(mut self, rationale: impl Into<String>) -> Self {
        self.rationale = rationale.into();
        self
    }

    /// Says that a deterministic rule made it, and how sure that rule is: it runs without approval
    /// only if the policy accepts this risk for the tool.
    pub fn by_rule(mut self, risk: Risk) -> Self {
        self.origin = Origin::Rule;
        self.risk = risk;
        self
    }

    /// Sets which answer of a model it came from.
    pub fn of_sample(mut self, sample: u32) -> Self {
        self.sample = sample;
        self
    }

    /// The same with a confidence from 0 to 1, whatever it was.
    pub(crate) fn with_sound_confidence(mut self) -> Self {
        let is_number = !self.confidence.is_nan();
        self.confidence = if is_number {
            self.confidence.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self
    }

    /// The proposed text: the arguments, or the patch as JSON.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.change {
            Change::Complete(text) => Cow::Borrowed(text),
            Change::Patch(patch) => Cow::Owned(patch.to_string()),
        }
    }
}

impl From<&repair_core::Candidate> for Candidate {
    fn from(candidate: &repair_core::Candidate) -> Self {
        Self {
            fixes: candidate.fixes.clone(),
            from_cut: candidate.from_cut,
            ..Self::new(candidate.arguments.clone(), candidate.confidence)
                .because(candidate.rationale.clone())
                .by_rule(candidate.risk)
        }
    }
}
