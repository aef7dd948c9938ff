//! Who is asked before arguments run that need consent.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use harness::ApprovalRequest;

/// What an approver says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Exactly these arguments may run: once with its effect, and again only where a try failed
    /// without one.
    Allow,
    /// They must not run, and nothing else is tried.
    Deny {
        /// Why, if there is something to say.
        because: Option<String>,
    },
    /// Other arguments, as the text of a JSON object. They are validated and shown again.
    Replace {
        /// The text.
        arguments: String,
    },
}

/// Decides about arguments that do not run without consent: a person, or a policy of the host.
/// Without one, and where one says nothing in time or panics, the answer is no.
///
/// [`approver_fn`] makes one from an async closure.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Decides.
    async fn review(&self, request: &ApprovalRequest) -> Approval;
}

/// An approver made from an async closure.
///
/// ```
/// use std::sync::Arc;
/// use self_debug::{Approval, ApprovalRequest, approver_fn};
/// let approver = approver_fn(|request: Arc<ApprovalRequest>| async move {
///     if request.confidence > 0.9 { Approval::Allow } else { Approval::Deny { because: None } }
/// });
/// # let _ = approver;
/// ```
pub fn approver_fn<F, Fut>(closure: F) -> FnApprover<F>
where
    F: Fn(Arc<ApprovalRequest>) -> Fut + Send + Sync,
    Fut: Future<Output = Approval> + Send,
{
    FnApprover(closure)
}

/// An approver made by [`approver_fn`].
#[derive(Clone)]
pub struct FnApprover<F>(F);

impl<F> fmt::Debug for FnApprover<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnApprover").finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, Fut> Approver for FnApprover<F>
where
    F: Fn(Arc<ApprovalRequest>) -> Fut + Send + Sync,
    Fut: Future<Output = Approval> + Send,
{
    async fn review(&self, request: &ApprovalRequest) -> Approval {
        (self.0)(Arc::new(request.clone())).await
    }
}
