//! What may be applied without asking.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rule::{Loss, Risk, Rule};
use crate::spec::Effect;

/// Bounds on what one call may cost. Every default fits an ordinary agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Longest arguments text, in bytes (64 MiB).
    pub bytes: usize,
    /// Deepest nesting of arrays and objects (128, which is also the maximum).
    pub depth: usize,
    /// Most errors listed in feedback (20).
    pub errors: usize,
    /// Most steps of the search for a repair of the arguments, beside four for each value (20,000).
    pub steps: usize,
    /// Most calls that the arguments of one may be split into (256).
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            depth: crate::json::MAX_DEPTH,
            errors: 20,
            steps: 20_000,
            calls: 256,
        }
    }
}

/// What the host says about one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleSetting {
    /// The rule is never used, not even for candidates.
    Off,
    /// Its fixes count as this sure.
    Lossless,
    /// Its fixes count as this sure.
    Inferred,
    /// Its fixes count as this sure.
    Guess,
}

/// What may be applied without asking: the accepted risk for the tool set and per tool, effects,
/// and rules switched off or moved.
///
/// ```
/// use repair_core::{Effect, Policy, Risk, RuleSetting};
/// let policy = Policy::default()
///     .with_effect("delete_file", Effect::Destructive)
///     .with_accepted_for("search", Risk::Guess)
///     .with_rule("drop_unknown_value", RuleSetting::Off);
/// assert_eq!(policy.effect("delete_file", Effect::Unknown), Effect::Destructive);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    default_effect: Effect,
    effects: BTreeMap<String, Effect>,
    accept: Option<Risk>,
    accept_for: BTreeMap<String, Risk>,
    rules: BTreeMap<String, RuleSetting>,
    integral_floats: bool,
    limits: Limits,
}

impl Policy {
    /// The effect of tools whose effect is unknown.
    pub fn with_default_effect(mut self, effect: Effect) -> Self {
        self.default_effect = effect;
        self
    }

    /// The effect of one tool, whatever its spec says.
    pub fn with_effect(mut self, tool: impl Into<String>, effect: Effect) -> Self {
        self.effects.insert(tool.into(), effect);
        self
    }

    /// Accepts risk up to `risk` for every tool, in place of what follows from its effect. A
    /// destructive tool never gets more by this than it has: name it, with
    /// [`Self::with_accepted_for`].
    pub fn with_accepted(mut self, risk: Risk) -> Self {
        self.accept = Some(risk);
        self
    }

    /// Accepts risk up to `risk` for one tool, in place of what follows from its effect.
    pub fn with_accepted_for(mut self, tool: impl Into<String>, risk: Risk) -> Self {
        self.accept_for.insert(tool.into(), risk);
        self
    }

    /// Switches a rule off, or moves it to another risk.
    pub fn with_rule(mut self, rule: impl Into<String>, setting: RuleSetting) -> Self {
        self.rules.insert(rule.into(), setting);
        self
    }

    /// Rewrites integral floats (`5.0`) as integers where the schema wants an integer. JSON Schema
    /// accepts them as they are; hosts with typed integers may not. Off by default.
    pub fn with_integral_floats(mut self, on: bool) -> Self {
        self.integral_floats = on;
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        Limits {
            depth: self.limits.depth.min(crate::json::MAX_DEPTH),
            ..self.limits
        }
    }

    /// The effect of a tool whose spec says `declared`.
    pub fn effect(&self, tool: &str, declared: Effect) -> Effect {
        match (self.effects.get(tool), declared) {
            (Some(effect), _) => *effect,
            (None, Effect::Unknown) => self.default_effect,
            (None, declared) => declared,
        }
    }

    /// The rules that the policy names, for checking them against [`crate::rules`].
    pub fn rules(&self) -> impl Iterator<Item = (&str, RuleSetting)> {
        self.rules
            .iter()
            .map(|(rule, setting)| (rule.as_str(), *setting))
    }

    /// The tools that the policy names, for checking them against a tool set.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.effects
            .keys()
            .chain(self.accept_for.keys())
            .map(String::as_str)
    }

    pub(crate) fn integral_floats(&self) -> bool {
        self.integral_floats
    }

    /// The risk of a fix under this policy; `None` if its rule is off.
    pub fn risk_of(&self, rule: &Rule, risk: Risk) -> Option<Risk> {
        self.risk_of_named(rule.id, risk)
    }

    /// The same by the rule's id.
    pub(crate) fn risk_of_named(&self, rule: &str, risk: Risk) -> Option<Risk> {
        match self.rules.get(rule) {
            None => Some(risk),
            Some(RuleSetting::Off) => None,
            Some(RuleSetting::Lossless) => Some(Risk::Lossless),
            Some(RuleSetting::Inferred) => Some(Risk::Inferred),
            Some(RuleSetting::Guess) => Some(Risk::Guess),
        }
    }

    /// Whether a fix of this risk and loss is applied to a call of `tool` without asking.
    pub fn accepts(&self, tool: &str, effect: Effect, risk: Risk, loss: Option<Loss>) -> bool {
        let of_all = self.accept.map(|risk| match effect {
            Effect::Destructive => Risk::Lossless,
            _ => risk,
        });
        let asked = self.accept_for.get(tool).copied().or(of_all);
        let (ceiling, lossy) = match effect {
            Effect::ReadOnly | Effect::Idempotent => (Risk::Inferred, true),
            Effect::Unknown | Effect::Mutating => (Risk::Inferred, false),
            Effect::Destructive => (Risk::Lossless, false),
        };
        risk <= asked.unwrap_or(ceiling) && (loss.is_none() || lossy)
    }
}
