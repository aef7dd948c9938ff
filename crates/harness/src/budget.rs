//! What a run, and all runs of a conversation together, may spend.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The most that may be spent. Zero means none; `None` means unlimited, and has to be said:
/// every field of [`Budget::default`] is finite but the cost, which nobody can know without
/// prices.
///
/// A run has one, and a conversation has one that its runs share; the tighter counts. All but time
/// is reserved before it is spent, so that parallel runs cannot overspend by more than what is
/// already under way.
///
/// ```
/// use std::time::Duration;
/// use harness::Budget;
/// let budget = Budget::default().max_retries(4).time(Duration::from_secs(20)).tokens(None);
/// assert_eq!(budget.attempts, Some(5));
/// assert_eq!(Budget::unlimited().rounds, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Budget {
    /// How often tools run, the first try included (3: two retries).
    pub attempts: Option<u32>,
    /// How often a debugger is asked (3).
    pub rounds: Option<u32>,
    /// Time that runs spend in tools, debuggers and back-offs (5 minutes). Waiting for an approver
    /// is free.
    pub time: Option<Duration>,
    /// Time of a single attempt (1 minute).
    pub attempt_timeout: Option<Duration>,
    /// Time of a single round with a debugger (1 minute).
    pub round_timeout: Option<Duration>,
    /// Tokens of debugger models, in and out (100,000).
    pub tokens: Option<u64>,
    /// Cost of debugger models in millionths of the host's currency unit (unlimited).
    pub cost_micros: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            attempts: Some(3),
            rounds: Some(3),
            time: Some(Duration::from_mins(5)),
            attempt_timeout: Some(Duration::from_mins(1)),
            round_timeout: Some(Duration::from_mins(1)),
            tokens: Some(100_000),
            cost_micros: None,
        }
    }
}

impl Budget {
    /// No limit at all.
    pub fn unlimited() -> Self {
        Self {
            attempts: None,
            rounds: None,
            time: None,
            attempt_timeout: None,
            round_timeout: None,
            tokens: None,
            cost_micros: None,
        }
    }

    /// Allows `retries` attempts beyond the first.
    pub fn max_retries(self, retries: u32) -> Self {
        self.attempts(retries.saturating_add(1))
    }

    /// Sets how often tools may run, the first try included.
    pub fn attempts(mut self, attempts: impl Into<Option<u32>>) -> Self {
        self.attempts = attempts.into();
        self
    }

    /// Sets how often a debugger may be asked.
    pub fn rounds(mut self, rounds: impl Into<Option<u32>>) -> Self {
        self.rounds = rounds.into();
        self
    }

    /// Sets the time spent in tools, debuggers and back-offs.
    pub fn time(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.time = time.into();
        self
    }

    /// Sets the time of a single attempt.
    pub fn attempt_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.attempt_timeout = time.into();
        self
    }

    /// Sets the time of a single round with a debugger.
    pub fn round_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.round_timeout = time.into();
        self
    }

    /// Sets the tokens of debugger models.
    pub fn tokens(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.tokens = tokens.into();
        self
    }

    /// Sets the cost of debugger models, in millionths of a currency unit.
    pub fn cost_micros(mut self, cost: impl Into<Option<u64>>) -> Self {
        self.cost_micros = cost.into();
        self
    }
}

/// One of the amounts that a [`Budget`] limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resource {
    /// Runs of a tool.
    Attempts,
    /// Rounds with a debugger.
    Rounds,
    /// Time.
    Time,
    /// Tokens of a debugger's model.
    Tokens,
    /// Cost of a debugger's model.
    Cost,
}

/// Amounts that were spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// Runs of a tool.
    pub attempts: u32,
    /// Rounds with a debugger.
    pub rounds: u32,
    /// Time in tools, debuggers and back-offs.
    pub time: Duration,
    /// Tokens, in and out.
    pub tokens: u64,
    /// Cost in millionths of a currency unit.
    pub cost_micros: u64,
}

/// What is left of a budget; `None` where it is unlimited. What is reserved counts as spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Left {
    /// Runs of a tool.
    pub attempts: Option<u32>,
    /// Rounds with a debugger.
    pub rounds: Option<u32>,
    /// Time in tools, debuggers and back-offs.
    pub time: Option<Duration>,
    /// Tokens, in and out.
    pub tokens: Option<u64>,
    /// Cost in millionths of a currency unit.
    pub cost_micros: Option<u64>,
}

/// What a debugger used for one proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The model that answered, if one did.
    pub model: Option<String>,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Cost in millionths of a currency unit; 0 where prices are unknown.
    pub cost_micros: u64,
}
