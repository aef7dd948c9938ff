//! How an error is classed, and what a class means.

use serde::{Deserialize, Serialize};

/// What kind of failure an error is. The class decides the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// No tool has the emitted name.
    UnknownTool,
    /// The arguments text is not JSON.
    Syntax,
    /// The arguments do not fit the schema.
    Arguments,
    /// The tool ran and refused a value.
    Value,
    /// The same call may succeed later.
    Transient,
    /// The tool is not permitted now.
    NotPermitted,
    /// An approver said no.
    Denied,
    /// Nothing helps.
    Fatal,
}

/// What is done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// Deterministic repair, then a debugger.
    Repair,
    /// A debugger: the form was right, the value was not.
    Debug,
    /// The same arguments again, after a back-off.
    Retry,
    /// The run ends.
    GiveUp,
}

impl ErrorClass {
    /// What is done about it.
    ///
    /// ```
    /// use harness::{ErrorClass, Strategy};
    /// assert_eq!(ErrorClass::Value.strategy(), Strategy::Debug);
    /// ```
    pub fn strategy(self) -> Strategy {
        match self {
            Self::UnknownTool | Self::Syntax | Self::Arguments => Strategy::Repair,
            Self::Value => Strategy::Debug,
            Self::Transient => Strategy::Retry,
            Self::NotPermitted | Self::Denied | Self::Fatal => Strategy::GiveUp,
        }
    }
}

impl From<repair_core::Reason> for ErrorClass {
    fn from(reason: repair_core::Reason) -> Self {
        use repair_core::Reason;
        match reason {
            Reason::UnknownTool | Reason::AmbiguousTool => Self::UnknownTool,
            Reason::NotPermitted => Self::NotPermitted,
            Reason::Syntax | Reason::Truncated => Self::Syntax,
            _ => Self::Arguments,
        }
    }
}
