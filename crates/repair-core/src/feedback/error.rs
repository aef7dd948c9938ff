//! The corrective error: what the model is told in place of a result, so that its next call is
//! right.

use serde::{Deserialize, Serialize};

use super::note::Selection;
use super::text::{error_line, length, line_length, quoted_length};
use super::{clause, short, within};
use crate::fix::EXCERPT;
use crate::verdict::{ArgumentError, Candidate, ExpectedParameters, Reason, Rejected};

// Budgets in characters. Beside them a message has its first sentences (at most 800 characters);
// together they stay below 4,000.
/// For the names of the available tools.
const TOOLS: usize = 1_500;
/// For the names of the expected parameters, the required ones first.
const PARAMETERS: usize = 800;
/// For what is wrong with the arguments.
const ERRORS: usize = 1_200;
/// For the repairs that were considered.
const CONSIDERED: usize = 900;
/// Most readings shown of an ambiguous text.
const READINGS: usize = 3;

/// A corrective error as data; [`Rejected::feedback`] is the same as text.
///
/// ```
/// use repair_core::CorrectiveError;
/// let error: CorrectiveError = serde_json::from_str(
///     r#"{"error": "Tool 'serch' does not exist.", "available_tools": ["search"], "did_you_mean": "search"}"#,
/// )?;
/// assert!(matches!(error, CorrectiveError::Tool { .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CorrectiveError {
    /// The name does not lead to a tool that may be called.
    #[non_exhaustive]
    Tool {
        /// What is wrong, and what to do.
        error: String,
        /// Tools that may be called, sorted; of many only the nearest.
        available_tools: Vec<String>,
        /// How many more there are.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_tools: usize,
        /// The tool that was probably meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        did_you_mean: Option<String>,
    },
    /// The arguments cannot be used.
    #[non_exhaustive]
    Arguments {
        /// What is wrong, and what to do.
        error: String,
        /// The parameters of the tool, where the tool declares some and the hint helps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_parameters: Option<ExpectedParameters>,
        /// How many more parameters there are.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_parameters: usize,
        /// What is wrong with the arguments, the most important first.
        errors: Vec<ArgumentError>,
        /// How many more errors there are.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_errors: usize,
        /// Corrections or readings that were found and not applied, in one line each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        considered: Vec<String>,
    },
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Rejected {
    /// The corrective error as text for the model, in place of a result; at most 4,000 characters.
    pub fn feedback(&self) -> String {
        self.error().render(&self.name_shown())
    }

    /// The corrective error as data.
    pub fn error(&self) -> CorrectiveError {
        match self.reason() {
            Reason::UnknownTool | Reason::AmbiguousTool | Reason::NotPermitted => self.tool_error(),
            Reason::Syntax
            | Reason::Truncated
            | Reason::Ambiguous
            | Reason::Arguments
            | Reason::NeedsApproval
            | Reason::Limit => self.arguments_error(),
        }
    }

    /// The resolved name: the emitted one must not be taught.
    fn name_shown(&self) -> String {
        short(self.tool().unwrap_or(self.emitted_name()))
    }

    /// What is wrong, why, and what to do.
    fn message(&self) -> String {
        let name = self.name_shown();
        let (problem, request) = match self.reason() {
            // The lists that follow say the rest.
            Reason::UnknownTool => return format!("Tool '{name}' does not exist."),
            Reason::AmbiguousTool => {
                return format!(
                    "The tool name '{name}' fits several tools. Send the call again with the \
                     exact name of one of them."
                );
            }
            Reason::NotPermitted => (
                format!("Tool '{name}' is not permitted now"),
                "It was not run; go on without it.",
            ),
            Reason::Syntax => (
                format!("The arguments of '{name}' cannot be read as JSON"),
                "Send the call again with one complete JSON object as its arguments.",
            ),
            Reason::Truncated => (
                format!("The call of '{name}' was cut off before its end and was not run"),
                "Send it again, smaller: with shorter values, or as several calls.",
            ),
            Reason::Ambiguous => (
                format!("The arguments of '{name}' can be read in more than one way"),
                "The call was not run; send it again in the form that is meant.",
            ),
            Reason::Arguments => (
                format!("The arguments of '{name}' do not fit its parameters"),
                "The call was not run; correct the arguments and send it again.",
            ),
            Reason::NeedsApproval => (
                format!("The call of '{name}' needs a correction that is not made without asking"),
                "It was not run; if the corrected form below is what is meant, send the call \
                 again in that form.",
            ),
            Reason::Limit => (
                format!("The call of '{name}' is over a limit and was not run"),
                "Send it again, smaller and less deeply nested.",
            ),
        };
        // Of these reasons the detail says no more than the problem.
        let detail = match self.reason() {
            Reason::NotPermitted
            | Reason::Arguments
            | Reason::NeedsApproval
            | Reason::Truncated => "",
            _ => self.detail(),
        };
        match clause(detail) {
            detail if detail.is_empty() => format!("{problem}. {request}"),
            detail => format!("{problem}: {detail}. {request}"),
        }
    }

    fn tool_error(&self) -> CorrectiveError {
        // Nearest first, so that the budget keeps the nearest.
        let mut names: Vec<String> = self
            .did_you_mean
            .iter()
            .chain(&self.available_tools)
            .map(|name| short(name))
            .collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let count = self.tool_count.max(names.len());
        let (mut available_tools, _) = within(TOOLS, names, |name| quoted_length(name));
        available_tools.sort();
        CorrectiveError::Tool {
            error: self.message(),
            more_tools: count - available_tools.len(),
            available_tools,
            did_you_mean: self.did_you_mean.as_deref().map(short),
        }
    }

    fn arguments_error(&self) -> CorrectiveError {
        let (expected_parameters, more_parameters) = self.hint();
        let errors = self.errors().iter().map(shown_error).collect();
        let (errors, more_errors) = within(ERRORS, errors, |error| line_length(&error_line(error)));
        CorrectiveError::Arguments {
            error: self.message(),
            expected_parameters,
            more_parameters,
            errors,
            more_errors,
            considered: self.considered(),
        }
    }

    /// The parameters, where the arguments must be written anew; and how many are left out.
    fn hint(&self) -> (Option<ExpectedParameters>, usize) {
        let helps = matches!(
            self.reason(),
            Reason::Arguments | Reason::Syntax | Reason::Ambiguous
        );
        let Some(expected) = self.expected.as_ref().filter(|_| helps) else {
            return (None, 0);
        };
        let names = |list: &[String]| list.iter().map(|name| short(name)).collect::<Vec<_>>();
        let (required, more_required) = within(PARAMETERS, names(&expected.required), |name| {
            quoted_length(name)
        });
        let used: usize = required.iter().map(|name| quoted_length(name)).sum();
        let (optional, more_optional) =
            within(PARAMETERS - used, names(&expected.optional), |name| {
                quoted_length(name)
            });
        let declares_any = !(required.is_empty() && optional.is_empty());
        (
            declares_any.then_some(ExpectedParameters { required, optional }),
            more_required + more_optional,
        )
    }

    /// What was found and not applied, where the model is to choose or to confirm it.
    fn considered(&self) -> Vec<String> {
        let (lines, hidden) = match (self.reason(), self.candidates()) {
            (Reason::NeedsApproval, [best, ..]) => correction(best),
            (Reason::Ambiguous, candidates) => readings(candidates),
            _ => (Vec::new(), 0),
        };
        let (mut lines, left_out) = within(CONSIDERED, lines, |line| line_length(line));
        if left_out + hidden > 0 {
            lines.push(format!("and {} more", left_out + hidden));
        }
        lines
    }
}

/// The whole arguments of a candidate where they are short, and its fixes; and how many fixes are
/// left out.
fn correction(candidate: &Candidate) -> (Vec<String>, usize) {
    let fixes = Selection::of(candidate.fixes.iter());
    let whole = (length(&candidate.arguments) <= EXCERPT)
        .then(|| format!("corrected arguments: {}", short(&candidate.arguments)));
    let lines = whole.into_iter().chain(fixes.lines()).collect();
    (lines, fixes.left_out)
}

/// The arguments of the best candidates, and how many candidates are left out.
fn readings(candidates: &[Candidate]) -> (Vec<String>, usize) {
    let lines: Vec<String> = candidates
        .iter()
        .take(READINGS)
        .map(|candidate| format!("one reading: {}", short(&candidate.arguments)))
        .collect();
    let left_out = candidates.len() - lines.len();
    (lines, left_out)
}

fn shown_error(error: &ArgumentError) -> ArgumentError {
    ArgumentError {
        path: short(&error.path),
        expected: clause(&error.expected),
        got: short(&error.got),
        closest: error.closest.as_deref().map(short),
    }
}

impl CorrectiveError {
    /// What is wrong, and what to do.
    pub fn message(&self) -> &str {
        match self {
            Self::Tool { error, .. } | Self::Arguments { error, .. } => error,
        }
    }
}
