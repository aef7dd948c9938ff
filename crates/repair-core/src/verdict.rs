//! What came of a call.

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::candidates::Candidates;
use crate::fix::Fix;
use crate::fixes::Fixes;
use crate::rule::Risk;

/// The outcome of [`crate::ToolSet::repair`].
///
/// As data it is an object with `verdict` (`valid`, `repaired`, `rejected`) beside the parts.
///
/// Exhaustive on purpose: a host that overlooks a verdict runs what it must not.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "a verdict is read at once, and a box would cost the repair more"
)]
pub enum Verdict<'a> {
    /// The call was right; its text is byte for byte what the model wrote.
    Valid(Call<'a>),
    /// The call was made right.
    Repaired(Repaired<'a>),
    /// The call must not run.
    Rejected(Box<Rejected>),
}

impl Verdict<'_> {
    /// The call that may run.
    pub fn call(&self) -> Option<&Call<'_>> {
        match self {
            Self::Valid(call) => Some(call),
            Self::Repaired(repaired) => Some(&repaired.call),
            Self::Rejected(_) => None,
        }
    }

    /// The same verdict with owned texts.
    pub fn into_owned(self) -> Verdict<'static> {
        match self {
            Self::Valid(call) => Verdict::Valid(call.into_owned()),
            Self::Repaired(repaired) => Verdict::Repaired(repaired.into_owned()),
            Self::Rejected(rejected) => Verdict::Rejected(rejected),
        }
    }
}

/// A call that was made right, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Repaired<'a> {
    pub(crate) call: Call<'a>,
    pub(crate) fixes: Fixes<'a>,
}

impl Repaired<'_> {
    /// The repaired call: the one to run and to put into the history.
    pub fn call(&self) -> &Call<'_> {
        &self.call
    }

    /// What was changed. At least one fix.
    pub fn fixes(&self) -> &Fixes<'_> {
        &self.fixes
    }

    /// The same with owned texts.
    pub fn into_owned(self) -> Repaired<'static> {
        Repaired {
            call: self.call.into_owned(),
            fixes: self.fixes.into_owned(),
        }
    }
}

/// Why a call must not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// No tool has this name, or clearly means it.
    UnknownTool,
    /// Several tools could be meant.
    AmbiguousTool,
    /// The tool exists and is not permitted now.
    NotPermitted,
    /// The arguments text cannot be read as JSON.
    Syntax,
    /// The arguments text was cut off.
    Truncated,
    /// Two readings are equally good.
    Ambiguous,
    /// The arguments do not fit the schema, and no repair makes them fit.
    Arguments,
    /// A repair exists, but the policy does not accept its risk for this tool.
    NeedsApproval,
    /// A limit on bytes, depth or steps was reached.
    Limit,
}

/// Where a candidate came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A deterministic rule.
    Rule,
    /// A model.
    Model,
}

/// A complete proposed call, not applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The tool.
    pub tool: String,
    /// The arguments, as the text of a JSON object.
    pub arguments: String,
    /// How good it is beside its rivals, from 0 to 1.
    pub confidence: f64,
    /// Why it is proposed.
    pub rationale: String,
    /// Where it came from.
    pub origin: Origin,
    /// The risk of its riskiest fix.
    pub risk: Risk,
    /// Whether the arguments satisfy the schema. A candidate from a cut text may not.
    pub valid: bool,
    /// Whether it was made from a text that was cut off.
    pub from_cut: bool,
    /// What it would change.
    pub fixes: Vec<Fix>,
}

/// One thing that is wrong with the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArgumentError {
    /// Where: a JSON Pointer into the arguments; empty for the whole.
    pub path: String,
    /// What the schema wants there.
    pub expected: String,
    /// What stands there, at most 120 characters; `nothing` for a missing property.
    pub got: String,
    /// The closest correct form, if one can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<String>,
}

/// The parameters of a tool, for the hint in a corrective error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExpectedParameters {
    /// The required ones, in the order of the schema.
    pub required: Vec<String>,
    /// The optional ones, in the order of the schema.
    pub optional: Vec<String>,
}

/// A call that must not run, with what the model needs to correct itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    pub(crate) id: Option<String>,
    pub(crate) emitted_name: String,
    pub(crate) emitted_arguments: Option<String>,
    /// The resolved tool, where the name resolves.
    pub(crate) tool: Option<String>,
    pub(crate) reason: Reason,
    /// What was wrong in one clause: for a syntax error where, for a limit which.
    pub(crate) detail: String,
    /// Unknown or ambiguous names: the nearest tool, the tools to choose from (nearest ones only
    /// where there are many), and how many there are.
    pub(crate) did_you_mean: Option<String>,
    pub(crate) available_tools: Vec<String>,
    pub(crate) tool_count: usize,
    pub(crate) expected: Option<ExpectedParameters>,
    pub(crate) errors: Vec<ArgumentError>,
    pub(crate) candidates: Candidates,
}

impl Rejected {
    /// The provider's id of the call, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// What was wrong, in one clause.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The tool, where the name resolves.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The name that the model wrote.
    pub fn emitted_name(&self) -> &str {
        &self.emitted_name
    }

    /// The arguments text that the model wrote.
    pub fn emitted_arguments(&self) -> Option<&str> {
        self.emitted_arguments.as_deref()
    }

    /// What is wrong with the arguments, the most important first.
    pub fn errors(&self) -> &[ArgumentError] {
        &self.errors
    }

    /// Proposals, best first. None of them may run without the harness's or a person's consent.
    pub fn candidates(&self) -> &[Candidate] {
        self.candidates.get()
    }
}
