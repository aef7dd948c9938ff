//! Accounts: what a budget allows, what is spent, what is reserved for a step under way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::budget::{Budget, Left, Resource, Spent, Usage};
use crate::conversation::lock;
use crate::outcome::GiveUpReason;

/// Amounts that a step needs, or that it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub(crate) attempts: u32,
    pub(crate) rounds: u32,
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
}

impl Amounts {
    pub(crate) const ATTEMPT: Self = Self {
        attempts: 1,
        rounds: 0,
        tokens: 0,
        cost_micros: 0,
    };

    /// One round with a debugger that used this much.
    pub(crate) fn round(usage: &Usage) -> Self {
        Self {
            attempts: 0,
            rounds: 1,
            tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            cost_micros: usage.cost_micros,
        }
    }
}

impl Spent {
    fn add(&mut self, amounts: Amounts) {
        self.attempts = self.attempts.saturating_add(amounts.attempts);
        self.rounds = self.rounds.saturating_add(amounts.rounds);
        self.tokens = self.tokens.saturating_add(amounts.tokens);
        self.cost_micros = self.cost_micros.saturating_add(amounts.cost_micros);
    }
}

/// One budget and what has gone of it.
#[derive(Debug)]
pub(crate) struct Account {
    budget: Budget,
    sums: Mutex<Sums>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    spent: Spent,
    /// Reserved for steps under way. Never holds time.
    held: Spent,
}

impl Account {
    pub(crate) fn new(budget: Budget, spent: Spent) -> Arc<Self> {
        let sums = Mutex::new(Sums {
            spent,
            held: Spent::default(),
        });
        Arc::new(Self { budget, sums })
    }

    pub(crate) fn spent(&self) -> Spent {
        lock(&self.sums).spent
    }

    pub(crate) fn left(&self) -> Left {
        let sums = lock(&self.sums);
        self.left_of(&sums)
    }

    fn left_of(&self, Sums { spent, held }: &Sums) -> Left {
        let Budget {
            attempts,
            rounds,
            time,
            tokens,
            cost_micros,
            ..
        } = self.budget;
        let small = |limit: Option<u32>, spent: u32, held: u32| {
            limit.map(|limit| limit.saturating_sub(spent.saturating_add(held)))
        };
        let large = |limit: Option<u64>, spent: u64, held: u64| {
            limit.map(|limit| limit.saturating_sub(spent.saturating_add(held)))
        };
        Left {
            attempts: small(attempts, spent.attempts, held.attempts),
            rounds: small(rounds, spent.rounds, held.rounds),
            time: time.map(|limit| limit.saturating_sub(spent.time)),
            tokens: large(tokens, spent.tokens, held.tokens),
            cost_micros: large(cost_micros, spent.cost_micros, held.cost_micros),
        }
    }

    /// Reserves `wanted`: attempts and rounds in full, of tokens and cost what is left, if that is
    /// at least `least_tokens` and any money.
    fn hold(self: &Arc<Self>, wanted: Amounts, least_tokens: u64) -> Result<Hold, Resource> {
        let mut sums = lock(&self.sums);
        let left = self.left_of(&sums);
        let is_round = wanted.rounds > 0;
        let short = [
            (left.time == Some(Duration::ZERO), Resource::Time),
            (
                left.attempts.is_some_and(|left| left < wanted.attempts),
                Resource::Attempts,
            ),
            (
                left.rounds.is_some_and(|left| left < wanted.rounds),
                Resource::Rounds,
            ),
            (
                is_round && left.tokens.is_some_and(|left| left < least_tokens),
                Resource::Tokens,
            ),
            (is_round && left.cost_micros == Some(0), Resource::Cost),
        ];
        if let Some((_, resource)) = short.into_iter().find(|(is_short, _)| *is_short) {
            return Err(resource);
        }
        let amounts = Amounts {
            tokens: left.tokens.unwrap_or(u64::MAX).min(wanted.tokens),
            cost_micros: left.cost_micros.unwrap_or(u64::MAX).min(wanted.cost_micros),
            ..wanted
        };
        sums.held.add(amounts);
        Ok(Hold {
            account: Arc::clone(self),
            amounts,
        })
    }

    fn spend_time(&self, time: Duration) {
        let mut sums = lock(&self.sums);
        sums.spent.time = sums.spent.time.saturating_add(time);
    }
}

/// A reservation. Dropped, it is released; settled, the account is charged with what was used.
#[derive(Debug)]
struct Hold {
    account: Arc<Account>,
    amounts: Amounts,
}

impl Hold {
    fn settle(self, used: Amounts) {
        lock(&self.account.sums).spent.add(used);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let held = &mut lock(&self.account.sums).held;
        held.attempts = held.attempts.saturating_sub(self.amounts.attempts);
        held.rounds = held.rounds.saturating_sub(self.amounts.rounds);
        held.tokens = held.tokens.saturating_sub(self.amounts.tokens);
        held.cost_micros = held.cost_micros.saturating_sub(self.amounts.cost_micros);
    }
}

/// The two accounts of a run: its own and the conversation's.
#[derive(Debug)]
pub(crate) struct Ledger {
    run: Arc<Account>,
    shared: Arc<Account>,
}

/// A reservation on both accounts.
#[derive(Debug)]
pub(crate) struct Reservation {
    run: Hold,
    shared: Hold,
}

impl Ledger {
    pub(crate) fn new(run: Arc<Account>, shared: Arc<Account>) -> Self {
        Self { run, shared }
    }

    /// Reserves a try of the tool.
    pub(crate) fn attempt(&self) -> Result<Reservation, GiveUpReason> {
        self.hold(Amounts::ATTEMPT, 0)
    }

    /// Reserves a round with the debugger: at most `wanted` tokens and at least `least`.
    pub(crate) fn round(
        &self,
        wanted: u64,
        least: u64,
        cost_micros: u64,
    ) -> Result<Reservation, GiveUpReason> {
        let amounts = Amounts {
            attempts: 0,
            rounds: 1,
            tokens: wanted,
            cost_micros,
        };
        self.hold(amounts, least)
    }

    fn hold(&self, wanted: Amounts, least_tokens: u64) -> Result<Reservation, GiveUpReason> {
        let short = |shared| move |resource| GiveUpReason::Budget { resource, shared };
        let run = self.run.hold(wanted, least_tokens).map_err(short(false))?;
        let shared = self
            .shared
            .hold(run.amounts, least_tokens)
            .map_err(short(true))?;
        Ok(Reservation { run, shared })
    }

    /// Charges time to both accounts.
    pub(crate) fn spend_time(&self, time: Duration) {
        self.run.spend_time(time);
        self.shared.spend_time(time);
    }

    /// What the run has spent.
    pub(crate) fn spent(&self) -> Spent {
        self.run.spent()
    }

    /// Whether there is more time left than this.
    pub(crate) fn has_time(&self, time: Duration) -> Result<(), GiveUpReason> {
        for (account, shared) in [(&self.run, false), (&self.shared, true)] {
            if account.left().time.is_some_and(|left| left <= time) {
                let resource = Resource::Time;
                return Err(GiveUpReason::Budget { resource, shared });
            }
        }
        Ok(())
    }

    /// What is left on the account that has less.
    pub(crate) fn left(&self) -> Left {
        let (run, shared) = (self.run.left(), self.shared.left());
        Left {
            attempts: less(run.attempts, shared.attempts),
            rounds: less(run.rounds, shared.rounds),
            time: less(run.time, shared.time),
            tokens: less(run.tokens, shared.tokens),
            cost_micros: less(run.cost_micros, shared.cost_micros),
        }
    }

    /// When a step that starts now must end, if its own time-out is the tighter of what `timeout`
    /// reads from the budgets.
    pub(crate) fn deadline(
        &self,
        now: Duration,
        timeout: impl Fn(&Budget) -> Option<Duration>,
    ) -> Option<Duration> {
        let own = less(timeout(&self.run.budget), timeout(&self.shared.budget));
        less(own, self.left().time).map(|time| now.saturating_add(time))
    }
}

impl Reservation {
    /// The tokens that are reserved on both accounts.
    pub(crate) fn tokens(&self) -> u64 {
        self.run.amounts.tokens.min(self.shared.amounts.tokens)
    }

    /// Charges both accounts with what was used, whatever was reserved.
    pub(crate) fn settle(self, used: Amounts) {
        self.run.settle(used);
        self.shared.settle(used);
    }

    /// Charges both accounts with all that was reserved.
    pub(crate) fn settle_in_full(self) {
        let used = Amounts {
            tokens: self.tokens(),
            ..self.shared.amounts
        };
        self.settle(used);
    }
}

/// The smaller limit; `None` is none.
fn less<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(budget: Budget) -> Arc<Account> {
        Account::new(budget, Spent::default())
    }

    fn ledger(run: Budget, shared: Budget) -> Ledger {
        Ledger::new(account(run), account(shared))
    }

    #[test]
    fn what_is_reserved_counts_until_it_is_settled_or_released() {
        let ledger = ledger(Budget::unlimited().attempts(2), Budget::unlimited());
        let first = ledger.attempt().unwrap();
        let second = ledger.attempt().unwrap();
        assert_eq!(ledger.left().attempts, Some(0));
        let refused = GiveUpReason::Budget {
            resource: Resource::Attempts,
            shared: false,
        };
        assert_eq!(ledger.attempt().unwrap_err(), refused);
        drop(second);
        assert_eq!(ledger.left().attempts, Some(1));
        first.settle(Amounts::ATTEMPT);
        assert_eq!(ledger.left().attempts, Some(1));
        assert_eq!(ledger.spent().attempts, 1);
    }

    #[test]
    fn unused_tokens_are_refunded_and_the_tighter_account_counts() {
        let ledger = ledger(
            Budget::unlimited().tokens(1_000),
            Budget::unlimited().tokens(300),
        );
        let round = ledger.round(500, 100, 0).unwrap();
        assert_eq!(round.tokens(), 300);
        let usage = Usage {
            input_tokens: 150,
            output_tokens: 20,
            ..Usage::default()
        };
        round.settle(Amounts::round(&usage));
        assert_eq!(ledger.left().tokens, Some(130));
        assert_eq!(ledger.spent().tokens, 170);
        ledger.round(500, 130, 0).unwrap().settle_in_full();
        let refused = GiveUpReason::Budget {
            resource: Resource::Tokens,
            shared: true,
        };
        assert_eq!(ledger.round(500, 1, 0).unwrap_err(), refused);
        assert_eq!(ledger.left().tokens, Some(0));
    }

    #[test]
    fn zero_means_none_of_everything() {
        let none = Budget::unlimited();
        for (budget, resource) in [
            (none.clone().attempts(0), Resource::Attempts),
            (none.clone().rounds(0), Resource::Rounds),
            (none.clone().time(Duration::ZERO), Resource::Time),
            (none.clone().tokens(0), Resource::Tokens),
            (none.clone().cost_micros(0), Resource::Cost),
        ] {
            for shared in [false, true] {
                let ledger = if shared {
                    ledger(none.clone(), budget.clone())
                } else {
                    ledger(budget.clone(), none.clone())
                };
                let refused = match resource {
                    Resource::Attempts => ledger.attempt().unwrap_err(),
                    _ => ledger.round(100, 1, 1).unwrap_err(),
                };
                assert_eq!(refused, GiveUpReason::Budget { resource, shared });
            }
        }
    }

    #[test]
    fn the_nearest_of_all_deadlines_counts() {
        let second = Duration::from_secs(1);
        let ledger = ledger(
            Budget::unlimited()
                .time(second * 10)
                .attempt_timeout(second * 4),
            Budget::unlimited().time(second * 5),
        );
        let deadline = |now| ledger.deadline(now, |budget| budget.attempt_timeout);
        assert_eq!(deadline(second), Some(second * 5));
        ledger.spend_time(second * 3);
        assert_eq!(deadline(second), Some(second * 3));
    }
}
