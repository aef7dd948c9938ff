//! What a debugger is, and how debuggers are combined.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use harness::{Candidate, Failure, Proposal, Usage};

/// Proposes other arguments for a call that failed. It only proposes: the machine ranks, validates
/// and, where a person has to agree, asks.
///
/// [`debugger_fn`] makes one from an async closure; [`crate::HeuristicDebugger`] and
/// [`crate::LlmDebugger`] are ready-made; [`Debugger::or`] chains two.
///
/// An error, a panic or a time-out of a debugger never hides the error of the tool.
#[async_trait]
pub trait Debugger: Send + Sync {
    /// Proposes arguments.
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError>;

    /// The same within a budget: `max_tokens` is the most that an answer of a model may have. By
    /// default the budget is not looked at.
    async fn propose_within(
        &self,
        failure: &Failure,
        max_tokens: u64,
    ) -> Result<Proposed, DebuggerError> {
        let _ = max_tokens;
        self.propose(failure).await
    }

    /// Asks `other` where this one fails, gives up, or proposes nothing that is new.
    fn or<D: Debugger>(self, other: D) -> Or<Self, D>
    where
        Self: Sized,
    {
        Or(self, other)
    }
}

/// What a debugger answered, and what that took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proposed {
    /// The answer.
    pub proposal: Proposal,
    /// What was used for it.
    pub usage: Usage,
}

impl Proposed {
    /// The debugger knows no way.
    pub fn give_up(reason: impl Into<String>) -> Self {
        Self::from(Proposal::GiveUp {
            reason: reason.into(),
        })
    }

    /// Sets what was used.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

impl From<Proposal> for Proposed {
    fn from(proposal: Proposal) -> Self {
        Self {
            proposal,
            usage: Usage::default(),
        }
    }
}

impl From<Vec<Candidate>> for Proposed {
    fn from(candidates: Vec<Candidate>) -> Self {
        Self::from(Proposal::Candidates(candidates))
    }
}

/// Nothing proposed is giving up: behind [`Debugger::or`], the next one is asked.
impl From<Option<Candidate>> for Proposed {
    fn from(candidate: Option<Candidate>) -> Self {
        candidate.map_or_else(|| Self::give_up("nothing to propose"), Self::from)
    }
}

impl From<Candidate> for Proposed {
    fn from(candidate: Candidate) -> Self {
        Self::from(vec![candidate])
    }
}

/// Why a debugger has no answer.
#[derive(Clone, Debug)]
pub struct DebuggerError {
    message: String,
    usage: Usage,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl DebuggerError {
    /// A failure. Keep keys and prompts out of the message: it stands in events.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            usage: Usage::default(),
            source: None,
        }
    }

    /// Sets what was used before it failed.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Keeps the error behind this one.
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was used before it failed.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }
}

impl fmt::Display for DebuggerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DebuggerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// A debugger made from an async closure. It answers with a [`Candidate`], several, none (behind
/// [`Debugger::or`] the next one is asked), or a whole [`Proposed`].
///
/// ```
/// use self_debug::{Candidate, NoDebugger, Debugger, debugger_fn};
/// let debugger = debugger_fn(|failure| async move {
///     let arguments = failure.call.arguments.replace("a.txt", "b.txt");
///     Ok(Candidate::new(arguments, 0.9).because("a.txt was renamed"))
/// });
/// let sometimes = debugger_fn(|failure| async move {
///     let is_mine = failure.error.message.contains("no such room");
///     Ok(is_mine.then(|| Candidate::new(r#"{"room": "Ada"}"#, 0.8)))
/// });
/// # let _ = sometimes.or(debugger).or(NoDebugger);
/// ```
pub fn debugger_fn<F, Fut, P>(closure: F) -> FnDebugger<F>
where
    F: Fn(Arc<Failure>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<P, DebuggerError>> + Send,
    P: Into<Proposed>,
{
    FnDebugger(closure)
}

/// A debugger made by [`debugger_fn`].
#[derive(Clone)]
pub struct FnDebugger<F>(F);

impl<F> fmt::Debug for FnDebugger<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnDebugger").finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, Fut, P> Debugger for FnDebugger<F>
where
    F: Fn(Arc<Failure>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<P, DebuggerError>> + Send,
    P: Into<Proposed>,
{
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError> {
        (self.0)(Arc::new(failure.clone())).await.map(Into::into)
    }
}

/// Two debuggers in a row. Made by [`Debugger::or`].
#[derive(Clone, Debug)]
pub struct Or<A, B>(A, B);

#[async_trait]
impl<A: Debugger, B: Debugger> Debugger for Or<A, B> {
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError> {
        self.propose_within(failure, u64::MAX).await
    }

    async fn propose_within(
        &self,
        failure: &Failure,
        max_tokens: u64,
    ) -> Result<Proposed, DebuggerError> {
        let (used, problem) = match self.0.propose_within(failure, max_tokens).await {
            Ok(first) if has_news(&first.proposal, failure) => return Ok(first),
            Ok(first) => (first.usage, None),
            Err(error) => (error.usage, Some(error.message)),
        };
        // Its question was one more than was reserved.
        let spent = used.output_tokens.saturating_add(used.input_tokens);
        let left = max_tokens.saturating_sub(spent);
        let with_problem = |text: &mut String| {
            if let Some(problem) = &problem {
                text.push_str("; the debugger before it failed: ");
                text.push_str(problem);
            }
        };
        match self.1.propose_within(failure, left).await {
            Ok(mut second) => {
                if let Proposal::GiveUp { reason } = &mut second.proposal {
                    with_problem(reason);
                }
                second.usage = total(used, second.usage);
                Ok(second)
            }
            Err(mut error) => {
                with_problem(&mut error.message);
                error.usage = total(used, error.usage);
                Err(error)
            }
        }
    }
}

/// Whether a proposal holds arguments that have neither failed nor been refused.
fn has_news(proposal: &Proposal, failure: &Failure) -> bool {
    let Proposal::Candidates(candidates) = proposal else {
        return false;
    };
    candidates
        .iter()
        .any(|candidate| !is_known(&candidate.text(), failure))
}

/// Whether these arguments have failed or been refused, spelled the same way.
pub(crate) fn is_known(arguments: &str, failure: &Failure) -> bool {
    let failed = failure
        .earlier
        .iter()
        .map(|attempt| &attempt.call.arguments);
    let refused = failure.refused.iter().map(|refused| &refused.arguments);
    std::iter::once(&failure.call.arguments)
        .chain(failed)
        .chain(refused)
        .any(|known| &**known == arguments)
}

/// The sum; the model is that of the later answer.
fn total(first: Usage, second: Usage) -> Usage {
    Usage {
        model: second.model.or(first.model),
        input_tokens: first.input_tokens.saturating_add(second.input_tokens),
        output_tokens: first.output_tokens.saturating_add(second.output_tokens),
        cost_micros: first.cost_micros.saturating_add(second.cost_micros),
    }
}

/// A debugger that never knows a way: only the rules repair.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDebugger;

#[async_trait]
impl Debugger for NoDebugger {
    async fn propose(&self, _failure: &Failure) -> Result<Proposed, DebuggerError> {
        Ok(Proposed::give_up("no debugger is set"))
    }
}

#[async_trait]
impl<D: Debugger + ?Sized> Debugger for Arc<D> {
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError> {
        (**self).propose(failure).await
    }

    async fn propose_within(
        &self,
        failure: &Failure,
        max_tokens: u64,
    ) -> Result<Proposed, DebuggerError> {
        (**self).propose_within(failure, max_tokens).await
    }
}

#[async_trait]
impl<D: Debugger + ?Sized> Debugger for Box<D> {
    async fn propose(&self, failure: &Failure) -> Result<Proposed, DebuggerError> {
        (**self).propose(failure).await
    }

    async fn propose_within(
        &self,
        failure: &Failure,
        max_tokens: u64,
    ) -> Result<Proposed, DebuggerError> {
        (**self).propose_within(failure, max_tokens).await
    }
}
