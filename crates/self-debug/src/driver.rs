//! Takes the steps of the retry machine, does them, and answers.
//!
//! The machine decides; here are the clock, the time-outs, and the walls against panics. Nothing
//! is spawned: dropping a call drops what it was doing, and ends its run.

use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use harness::{
    Answer, ApprovalRequest, CallError, CallRun, Conversation, End, ErrorClass, Event, Failure,
    Outcome, Request, ResultDigest, Step, Ticket, Usage,
};
use repair_core::{Call, ToolSet};
use serde_json::Value;
use tokio::time::Instant;

use crate::approver::{Approval, Approver};
use crate::debugger::Debugger;
use crate::error::ToolError;
use crate::observers::Observers;
use crate::options::SelfDebugOptions;
use crate::report::{CallReport, correction};
use crate::tool::Tool;
use crate::trace;

/// A conversation, and what its runs share on this side of the machine.
#[derive(Clone)]
pub(crate) struct Driver {
    pub(crate) conversation: Conversation,
    pub(crate) observers: Observers,
    epoch: Instant,
    approver: Option<Arc<dyn Approver>>,
    approval_timeout: Option<Duration>,
}

/// A tool, however it is held.
pub(crate) enum Held<'a> {
    Borrowed(&'a dyn Tool),
    /// With the generation of tools that it is of.
    Shared(Arc<dyn Tool>, u64),
}

impl Held<'_> {
    fn generation(&self) -> u64 {
        match self {
            Self::Borrowed(_) => 0,
            Self::Shared(_, generation) => *generation,
        }
    }
}

impl<'a> Deref for Held<'a> {
    type Target = dyn Tool + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Borrowed(tool) => *tool,
            Self::Shared(tool, _) => &**tool,
        }
    }
}

/// What a run calls: its tools by name, as far as they may run now, and its debugger.
pub(crate) trait Parts: Sync {
    /// How often the tools were replaced. Read before a call is checked, it tells afterwards
    /// whether the tool that is found is still the one that it was checked for.
    fn generation(&self) -> u64;
    fn tool(&self, name: &str) -> Option<Held<'_>>;
    fn debugger(&self) -> &dyn Debugger;
}

impl Driver {
    pub(crate) fn new(tools: ToolSet, options: SelfDebugOptions) -> Self {
        let mut settings = options.settings.has_approver(options.approver.is_some());
        if settings.id.is_empty() {
            settings = settings.id(unique_id());
        }
        Self {
            conversation: Conversation::new(tools, options.policy, settings),
            observers: options.observers,
            epoch: Instant::now(),
            approver: options.approver,
            approval_timeout: options.approval_timeout,
        }
    }

    /// Runs a call to its end.
    pub(crate) async fn drive(&self, request: Request, parts: &impl Parts) -> CallReport {
        let mut generation = parts.generation();
        let mut live = Live::start(self, request);
        loop {
            let (ticket, answer) = match live.run.step() {
                Step::Run {
                    ticket,
                    call,
                    deadline,
                } => {
                    let tool = checked_tool(parts, call.tool(), generation);
                    (ticket, self.run(&mut live, call, deadline, tool).await)
                }
                Step::Propose {
                    ticket,
                    failure,
                    deadline,
                    max_tokens,
                } => {
                    let debugger = parts.debugger();
                    let answer = self.propose(debugger, &failure, deadline, max_tokens);
                    (ticket, answer.await)
                }
                Step::Wait { ticket, until } => {
                    self.wait(until).await;
                    (ticket, Answer::Woke)
                }
                Step::Approve { ticket, request } => (ticket, self.approve(&request).await),
                Step::Done(outcome) => return live.report(&outcome),
            };
            generation = parts.generation();
            live.answer(ticket, answer);
        }
    }

    async fn run(
        &self,
        live: &mut Live<'_>,
        call: Arc<Call<'static>>,
        deadline: Option<Duration>,
        tool: Result<Held<'_>, ToolError>,
    ) -> Answer {
        let tool = match tool {
            Ok(tool) => tool,
            Err(error) => return failed(&error),
        };
        let attempt = live.count(&call);
        let span = trace::ToolSpan::open(call.tool(), call.id(), attempt);
        let running = async { tool.call_text(call.arguments().text()).await };
        let running = pin!(AssertUnwindSafe(running).catch_unwind());
        let running = trace::InSpan {
            span: &span,
            future: running,
        };
        let result = match self.within(deadline, running).await {
            None => return Answer::TimedOut,
            Some(Ok(result)) => result,
            Some(Err(_panic)) => Err(ToolError::fatal(format!(
                "the tool '{}' panicked",
                call.tool()
            ))
            .with_effect_possible()),
        };
        match result {
            Ok(value) => {
                let digest = digest(&value);
                live.result = Some(value);
                Answer::Ran { digest }
            }
            Err(error) => {
                span.failed(error.class());
                let answer = failed(&error);
                live.keep(error);
                answer
            }
        }
    }

    async fn propose(
        &self,
        debugger: &dyn Debugger,
        failure: &Arc<Failure>,
        deadline: Option<Duration>,
        max_tokens: u64,
    ) -> Answer {
        let asking = async { debugger.propose_within(failure, max_tokens).await };
        let asking = AssertUnwindSafe(asking).catch_unwind();
        match self.within(deadline, asking).await {
            None => Answer::TimedOut,
            Some(Ok(Ok(proposed))) => Answer::Proposed {
                proposal: proposed.proposal,
                usage: proposed.usage,
            },
            Some(Ok(Err(error))) => Answer::ProposeFailed {
                message: error.message().to_owned(),
                usage: error.usage().clone(),
            },
            Some(Err(_panic)) => Answer::ProposeFailed {
                message: "it panicked".to_owned(),
                usage: Usage::default(),
            },
        }
    }

    async fn approve(&self, request: &Arc<ApprovalRequest>) -> Answer {
        let denied = |because: &str| Answer::Denied {
            because: Some(because.to_owned()),
        };
        let Some(approver) = &self.approver else {
            return denied("no approver is set");
        };
        let asking = async { approver.review(request).await };
        let asking = AssertUnwindSafe(asking).catch_unwind();
        let deadline = self
            .approval_timeout
            .map(|timeout| self.now().saturating_add(timeout));
        match self.within(deadline, asking).await {
            None => Answer::TimedOut,
            Some(Ok(Approval::Allow)) => Answer::Approved,
            Some(Ok(Approval::Deny { because })) => Answer::Denied { because },
            Some(Ok(Approval::Replace { arguments })) => Answer::Replaced { arguments },
            Some(Err(_panic)) => denied("the approver panicked"),
        }
    }

    async fn wait(&self, until: Duration) {
        match self.epoch.checked_add(until) {
            Some(until) => tokio::time::sleep_until(until).await,
            // Beyond the end of time.
            None => std::future::pending().await,
        }
    }

    /// The output, unless the deadline comes first.
    async fn within<F: Future>(&self, deadline: Option<Duration>, work: F) -> Option<F::Output> {
        match deadline.and_then(|deadline| self.epoch.checked_add(deadline)) {
            Some(deadline) => tokio::time::timeout_at(deadline, work).await.ok(),
            None => Some(work.await),
        }
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }
}

/// The tool for a call that was checked when the tools were of this generation.
fn checked_tool<'p>(
    parts: &'p impl Parts,
    name: &str,
    generation: u64,
) -> Result<Held<'p>, ToolError> {
    match parts.tool(name) {
        None => {
            let message = format!("Tool '{name}' is not permitted now");
            Err(ToolError::new(ErrorClass::NotPermitted, message))
        }
        // Checked again before it is tried again.
        Some(tool) if tool.generation() != generation => {
            Err(ToolError::transient("the tools were replaced meanwhile"))
        }
        Some(tool) => Ok(tool),
    }
}

fn failed(error: &ToolError) -> Answer {
    // A loop inside has done what can be done: a second one around it would only repeat that.
    let class = match error.gave_up() {
        Some(_) => ErrorClass::Fatal,
        None => error.class(),
    };
    Answer::Failed {
        class,
        message: error.message().to_owned(),
        may_have_run: error.may_have_run(),
        retry_after: error.retry_after(),
    }
}

/// A name for a conversation that the host did not name: its own in every log that it is written to.
fn unique_id() -> String {
    static START: OnceLock<u128> = OnceLock::new();
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let start = START.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos())
    });
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{start:x}-{}-{number}", std::process::id())
}

/// The notes that say something, with an empty line between them.
fn joined(notes: [&str; 2]) -> String {
    let said: Vec<&str> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    said.join("\n\n")
}

fn digest(result: &Value) -> ResultDigest {
    // Values always serialise; the empty digest of the impossible case is a digest too.
    ResultDigest::of(&serde_json::to_vec(result).unwrap_or_default())
}

/// A run under way. Dropped before its end, it ends as cancelled.
struct Live<'a> {
    driver: &'a Driver,
    run: CallRun,
    result: Option<Value>,
    /// What the tool said the first and the last time.
    errors: [Option<ToolError>; 2],
    executed: Option<Arc<Call<'static>>>,
    runs: usize,
    terminal: Option<Arc<Event>>,
}

impl<'a> Live<'a> {
    fn start(driver: &'a Driver, request: Request) -> Self {
        let run = driver.conversation.start(request, driver.now());
        let mut live = Self {
            driver,
            run,
            result: None,
            errors: [None, None],
            executed: None,
            runs: 0,
            terminal: None,
        };
        live.tell();
        live
    }

    /// Notes that a call is about to run; says which run it is, from 0.
    fn count(&mut self, call: &Arc<Call<'static>>) -> usize {
        self.executed = Some(Arc::clone(call));
        let number = self.runs;
        self.runs += 1;
        number
    }

    /// Keeps the tool's own error: the first one, and the last.
    fn keep(&mut self, error: ToolError) {
        let [first, last] = &mut self.errors;
        let place = if first.is_none() { first } else { last };
        *place = Some(error);
    }

    fn answer(&mut self, ticket: Ticket, answer: Answer) {
        let now = self.driver.now();
        if let Err(problem) = self.run.answer(ticket, answer, now) {
            tracing::error!(target: "self_debug", %problem, "a step was answered wrongly");
            self.run.cancel(now);
        }
        self.tell();
    }

    /// Hands the new events to whoever looks at them; the last is kept for the caller.
    fn tell(&mut self) {
        let observers = &self.driver.observers;
        let is_watched = observers.is_watched();
        for event in self.run.take_events() {
            let is_terminal = event.kind.is_terminal();
            if is_watched || is_terminal {
                let event = Arc::new(event);
                if is_watched {
                    observers.tell(&event);
                }
                if is_terminal {
                    self.terminal = Some(event);
                }
            }
        }
    }

    #[allow(
        clippy::expect_used,
        reason = "the machine ends every run with a terminal event, and no input changes that"
    )]
    fn report(mut self, outcome: &Outcome) -> CallReport {
        let result = match (&outcome.end, outcome.error()) {
            (End::GaveUp { reason, .. }, Some(error)) => Err(self
                .own(error)
                .with_history(outcome.failures.clone(), reason.clone())),
            _ => Ok(self.result.take().unwrap_or_default()),
        };
        let executed = self.executed.take();
        let correction = match &result {
            Ok(_) => correction(&outcome.failures, executed.as_deref()),
            Err(_) => String::new(),
        };
        let notes = [correction.as_str(), outcome.note.as_str()];
        CallReport {
            result,
            executed,
            history: outcome.history.clone(),
            fixes: Arc::clone(&outcome.fixes),
            note: joined(notes),
            attempts: outcome.failures.clone(),
            refused: outcome.refused.clone(),
            spent: outcome.spent,
            terminal: self
                .terminal
                .take()
                .expect("every run has a terminal event"),
        }
    }

    /// The tool's own error, with its source, if the tool made this one.
    fn own(&mut self, told: &CallError) -> ToolError {
        let is_told = |error: &ToolError| {
            error.message() == &*told.message && error.may_have_run() == told.may_have_run
        };
        let own = self
            .errors
            .iter_mut()
            .filter_map(Option::take)
            .find(is_told);
        own.unwrap_or_else(|| {
            let error = ToolError::new(told.class, &*told.message);
            if told.may_have_run {
                error.with_effect_possible()
            } else {
                error
            }
        })
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if self.terminal.is_none() {
            self.run.cancel(self.driver.now());
            self.tell();
        }
    }
}
