//! What a rule is: its name, its risk, its published cost.

use serde::{Deserialize, Serialize};

/// How sure a fix is. Ordered: a policy accepts everything up to a level. Exhaustive on purpose: a
/// fourth level would silently be accepted or refused by policies that do not know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// The same call, spelled properly; no other reading exists.
    Lossless,
    /// One reading is clearly the intended one.
    Inferred,
    /// Plausible, but another reading exists.
    Guess,
}

/// What a rule takes from the call or adds to it. Calls with side effects accept none of these
/// without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Loss {
    /// Supplies the end of a call that was cut off.
    Completes,
    /// Makes several calls of one.
    Splits,
    /// Leaves a value out (null and empty are no values).
    Drops,
}

/// The step of the pipeline a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// The tool's name.
    Name,
    /// The JSON text of the arguments.
    Text,
    /// The arguments against the schema.
    Arguments,
    /// The reading of a call that a model printed as text.
    Call,
}

/// One kind of repair. All rules are static entries of published tables; see [`crate::rules`].
#[derive(Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// Stable identifier in `snake_case`, used in policies, fixes and statistics.
    pub id: &'static str,
    /// The step it belongs to.
    pub stage: Stage,
    /// How sure the rule is. A single fix may be riskier than its rule, never safer.
    pub risk: Risk,
    /// Added up over a call to rank its possible repairs: 1 to 9 for [`Risk::Lossless`], 10 to 99
    /// for [`Risk::Inferred`], from 100 for [`Risk::Guess`].
    pub cost: u32,
    /// What the rule takes or adds beyond spelling, if anything.
    pub loss: Option<Loss>,
    /// What the model did wrong and what is right, in one clause without a full stop.
    pub summary: &'static str,
}

impl Rule {
    /// A rule that neither completes, splits nor drops.
    pub const fn new(
        id: &'static str,
        stage: Stage,
        risk: Risk,
        cost: u32,
        summary: &'static str,
    ) -> Self {
        Self {
            id,
            stage,
            risk,
            cost,
            loss: None,
            summary,
        }
    }

    /// The same rule with what it takes or adds.
    pub const fn with_loss(mut self, loss: Loss) -> Self {
        self.loss = Some(loss);
        self
    }
}
