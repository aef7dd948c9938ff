//! What a host chooses for wrapped tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use harness::{Budget, Event, EventKind, Settings};
use repair_core::Policy;

use crate::approver::Approver;
use crate::audit::AuditLog;
use crate::observers::Observers;

/// What a host chooses for a wrapped tool or a [`crate::ToolBox`].
///
/// Clones share their closures and subscriptions: what is told of the calls of one tool is told to
/// all of them. Give each tool options of its own to hear it alone.
///
/// ```
/// use std::time::Duration;
/// use self_debug::{Budget, SelfDebugOptions};
/// let options = SelfDebugOptions::default()
///     .max_retries(2)
///     .budget(Budget::default().attempt_timeout(Duration::from_secs(10)))
///     .on_retry(|event| eprintln!("{event}"))
///     .on_give_up(|event| eprintln!("{event}"));
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct SelfDebugOptions {
    pub(crate) policy: Policy,
    pub(crate) settings: Settings,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) approval_timeout: Option<Duration>,
    pub(crate) observers: Observers,
}

impl Default for SelfDebugOptions {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            settings: Settings::default(),
            approver: None,
            approval_timeout: Some(Duration::from_mins(5)),
            observers: Observers::new(),
        }
    }
}

impl SelfDebugOptions {
    /// Allows so many attempts beyond the first (2).
    pub fn max_retries(mut self, retries: u32) -> Self {
        let budget = self.settings.run_budget.clone().max_retries(retries);
        self.settings.run_budget = budget;
        self
    }

    /// Sets what each call may spend.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.run_budget = budget;
        self
    }

    /// Sets everything that the retry machine can be told, budgets included.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets what may be repaired without asking.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets who is asked before arguments run that need consent. Without one they do not run.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets how long the approver may take (5 minutes); after that the answer is no. `None` waits
    /// for ever.
    pub fn approval_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.approval_timeout = timeout.into();
        self
    }

    /// Writes every event into an audit log.
    pub fn audit(mut self, log: &AuditLog) -> Self {
        self.observers.audit = Some(log.clone());
        self
    }

    /// Tells a closure every event, in order, on a thread of its own. Whatever it does, calls are
    /// not touched by it; if it falls more than 1,024 events behind, it misses the oldest.
    ///
    /// What was not told yet when the program ends is lost, unless it waits for
    /// [`crate::SelfDebug::flush`] or [`crate::ToolBox::flush`].
    pub fn on_event(self, closure: impl FnMut(&Event) + Send + 'static) -> Self {
        self.observers.watch(closure);
        self
    }

    /// The same for [`EventKind::Succeeded`] alone.
    pub fn on_success(self, closure: impl FnMut(&Event) + Send + 'static) -> Self {
        self.on(|kind| matches!(kind, EventKind::Succeeded { .. }), closure)
    }

    /// The same for [`EventKind::Retrying`] alone.
    pub fn on_retry(self, closure: impl FnMut(&Event) + Send + 'static) -> Self {
        self.on(|kind| matches!(kind, EventKind::Retrying { .. }), closure)
    }

    /// The same for [`EventKind::GaveUp`] alone.
    pub fn on_give_up(self, closure: impl FnMut(&Event) + Send + 'static) -> Self {
        self.on(|kind| matches!(kind, EventKind::GaveUp { .. }), closure)
    }

    fn on(
        self,
        is_meant: fn(&EventKind) -> bool,
        mut closure: impl FnMut(&Event) + Send + 'static,
    ) -> Self {
        self.on_event(move |event| {
            if is_meant(&event.kind) {
                closure(event);
            }
        })
    }
}

impl fmt::Debug for SelfDebugOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfDebugOptions")
            .field("policy", &self.policy)
            .field("settings", &self.settings)
            .field("has_approver", &self.approver.is_some())
            .field("approval_timeout", &self.approval_timeout)
            .field("observers", &self.observers)
            .finish()
    }
}
