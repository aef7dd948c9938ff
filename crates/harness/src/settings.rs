//! What a host chooses for a conversation, and for a single run.

use std::collections::BTreeSet;
use std::sync::Arc;

use repair_core::RawCall;
use serde::{Deserialize, Serialize};

use crate::backoff::Backoff;
use crate::budget::Budget;
use crate::circuit::CircuitSettings;
use crate::failure::{Context, Message};

/// What a host chooses for a conversation. Every default fits an ordinary agent.
///
/// ```
/// use harness::{Budget, Settings};
/// let settings = Settings::default()
///     .run_budget(Budget::default().max_retries(2))
///     .shared_budget(Budget::unlimited().tokens(1_000_000))
///     .seed(7);
/// assert_eq!(settings.seed, 7);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// The conversation's name in events (empty).
    pub id: Arc<str>,
    /// Where the jitter of back-offs comes from (0). Give each process another one.
    pub seed: u64,
    /// What each run may spend, unless it brings its own budget.
    pub run_budget: Budget,
    /// What all runs together may spend (unlimited: each run has its own bounds).
    pub shared_budget: Budget,
    /// How many candidates a debugger is asked for (3).
    pub wanted_candidates: u32,
    /// Candidates below this confidence are dropped (0.5).
    pub min_confidence: f64,
    /// Candidates below this confidence run only after approval (0: none).
    pub review_below: f64,
    /// No candidate runs without approval, whatever the tool (off; always so for destructive
    /// tools).
    pub fail_closed: bool,
    /// Somebody can be asked for consent (yes). If not, what needs consent is passed over for what
    /// does not, instead of being asked for and denied.
    pub has_approver: bool,
    /// The pauses before the same call is tried again.
    pub backoff: Backoff,
    /// When a tool or an endpoint is left alone.
    pub circuit: CircuitSettings,
    /// The name of the debugger's endpoint, for its circuit (`debugger`).
    pub endpoint: Arc<str>,
    /// The most tokens of a debugger's answer (4,096).
    pub answer_tokens: u64,
    /// What a round with the debugger is expected to cost at most, in millionths of a currency
    /// unit (0): reserved before the round, settled after it.
    pub round_cost_micros: u64,
    /// How often the same call may have the same result (3); then it is blocked. Zero: no limit.
    pub loop_limit: u32,
    /// Tools that are asked the same again on purpose; exempt from the loop limit.
    pub polling: BTreeSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            id: "".into(),
            seed: 0,
            run_budget: Budget::default(),
            shared_budget: Budget::unlimited(),
            wanted_candidates: 3,
            min_confidence: 0.5,
            review_below: 0.0,
            fail_closed: false,
            has_approver: true,
            backoff: Backoff::default(),
            circuit: CircuitSettings::default(),
            endpoint: "debugger".into(),
            answer_tokens: 4_096,
            round_cost_micros: 0,
            loop_limit: 3,
            polling: BTreeSet::new(),
        }
    }
}

impl Settings {
    /// Sets the conversation's name in events.
    pub fn id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets where the jitter of back-offs comes from.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets what each run may spend.
    pub fn run_budget(mut self, budget: Budget) -> Self {
        self.run_budget = budget;
        self
    }

    /// Sets what all runs together may spend.
    pub fn shared_budget(mut self, budget: Budget) -> Self {
        self.shared_budget = budget;
        self
    }

    /// Sets how many candidates a debugger is asked for.
    pub fn wanted_candidates(mut self, wanted: u32) -> Self {
        self.wanted_candidates = wanted;
        self
    }

    /// Sets the confidence below which candidates are dropped.
    pub fn min_confidence(mut self, confidence: f64) -> Self {
        self.min_confidence = confidence;
        self
    }

    /// Sets the confidence below which candidates run only after approval.
    pub fn review_below(mut self, confidence: f64) -> Self {
        self.review_below = confidence;
        self
    }

    /// Lets no candidate run without approval.
    pub fn fail_closed(mut self, on: bool) -> Self {
        self.fail_closed = on;
        self
    }

    /// Says whether somebody can be asked for consent.
    pub fn has_approver(mut self, on: bool) -> Self {
        self.has_approver = on;
        self
    }

    /// Sets the pauses before the same call is tried again.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets when a tool or an endpoint is left alone.
    pub fn circuit(mut self, circuit: CircuitSettings) -> Self {
        self.circuit = circuit;
        self
    }

    /// Names the debugger's endpoint.
    pub fn endpoint(mut self, name: impl Into<Arc<str>>) -> Self {
        self.endpoint = name.into();
        self
    }

    /// Sets the most tokens of a debugger's answer.
    pub fn answer_tokens(mut self, tokens: u64) -> Self {
        self.answer_tokens = tokens;
        self
    }

    /// Sets what a round with the debugger is expected to cost at most.
    pub fn round_cost_micros(mut self, cost: u64) -> Self {
        self.round_cost_micros = cost;
        self
    }

    /// Sets how often the same call may have the same result.
    pub fn loop_limit(mut self, times: u32) -> Self {
        self.loop_limit = times;
        self
    }

    /// Exempts a tool from the loop limit.
    pub fn polling(mut self, tool: impl Into<String>) -> Self {
        self.polling.insert(tool.into());
        self
    }
}

/// A call to start, with what belongs to it alone. A [`RawCall`] becomes one by itself.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) raw: RawCall<'static>,
    pub(crate) context: Context,
    pub(crate) budget: Option<Budget>,
}

impl Request {
    /// A call without context, with the conversation's budget for runs.
    pub fn new(raw: RawCall<'static>) -> Self {
        Self {
            raw,
            context: Context::default(),
            budget: None,
        }
    }

    /// Sets the last messages of the conversation, oldest first.
    pub fn context(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.context = messages.into_iter().collect();
        self
    }

    /// Sets what this run may spend.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }
}

impl From<RawCall<'static>> for Request {
    fn from(raw: RawCall<'static>) -> Self {
        Self::new(raw)
    }
}
