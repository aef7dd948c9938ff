//! What the runs of one conversation share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use repair_core::{Policy, Teacher, ToolSet};

use crate::budget::{Left, Spent};
use crate::circuit::Circuits;
use crate::ledger::Account;
use crate::loops::Loops;
use crate::run::{CallRun, ResumeError, SavedRun};
use crate::settings::{Request, Settings};

/// What the runs of one conversation share: tools, policy, budget, loop counts, circuits, the
/// teacher, event numbers. Clones are the same conversation.
///
/// It reads no clock. Every `now` is the time since an instant that the caller chose for the
/// conversation, its epoch; a `now` before an earlier one counts as that.
#[derive(Clone, Debug)]
pub struct Conversation {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) policy: Policy,
    pub(crate) settings: Settings,
    tools: Mutex<ToolSet>,
    pub(crate) teacher: Mutex<Teacher>,
    pub(crate) account: Arc<Account>,
    pub(crate) loops: Loops,
    pub(crate) tool_circuits: Arc<Circuits>,
    pub(crate) endpoint_circuits: Arc<Circuits>,
    runs: AtomicU64,
    events: AtomicU64,
}

impl Conversation {
    /// A conversation in which nothing has happened.
    pub fn new(tools: ToolSet, policy: Policy, settings: Settings) -> Self {
        let account = Account::new(settings.shared_budget.clone(), Spent::default());
        Self {
            shared: Arc::new(Shared {
                account,
                loops: Loops::new(settings.loop_limit),
                tool_circuits: Circuits::new(settings.circuit),
                endpoint_circuits: Circuits::new(settings.circuit),
                policy,
                settings,
                tools: Mutex::new(tools),
                teacher: Mutex::default(),
                runs: AtomicU64::new(0),
                events: AtomicU64::new(0),
            }),
        }
    }

    /// Starts a run: repairs the call and says what to do next.
    pub fn start(&self, request: impl Into<Request>, now: Duration) -> CallRun {
        CallRun::start(Arc::clone(&self.shared), request.into(), now)
    }

    /// Takes up a run that was saved. It keeps its number and the ticket of a pending approval, so
    /// that a consent given in the meantime still counts. A tool that was running when the run was
    /// saved counts as interrupted: it may have had its effect.
    pub fn resume(&self, saved: SavedRun, now: Duration) -> Result<CallRun, ResumeError> {
        self.shared
            .runs
            .fetch_max(saved.number().saturating_add(1), Ordering::Relaxed);
        CallRun::resume(Arc::clone(&self.shared), saved, now)
    }

    /// What is left of the shared budget.
    pub fn left(&self) -> Left {
        self.shared.account.left()
    }

    /// What all runs have spent.
    pub fn spent(&self) -> Spent {
        self.shared.account.spent()
    }

    /// The tools that every decision from now on sees.
    pub fn tools(&self) -> ToolSet {
        self.shared.tools()
    }

    /// Replaces the tools, for runs under way too: what is no longer permitted is not run again.
    /// Unless the new set says what is permitted, that stays as it is: a list that changed permits
    /// nothing by itself.
    pub fn replace_tools(&self, tools: ToolSet) {
        let mut present = lock(&self.shared.tools);
        *present = tools.with_permission_of(&present);
    }

    /// Permits only these tools from now on, for runs under way too: what is no longer permitted is
    /// not run again.
    pub fn permit<S: Into<String>>(&self, names: impl IntoIterator<Item = S>) {
        let mut present = lock(&self.shared.tools);
        *present = present.clone().with_permitted(names);
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }
}

impl Shared {
    pub(crate) fn tools(&self) -> ToolSet {
        lock(&self.tools).clone()
    }

    pub(crate) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn next_event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::Relaxed)
    }
}

/// The lock, even if a holder panicked: every holder leaves a consistent state behind.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
