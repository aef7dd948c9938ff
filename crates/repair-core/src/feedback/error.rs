//! The corrective error: what the model is told in place of a result, so that its next call is
//! right.

use serde::{Deserialize, Serialize};

use super::note::Selection;
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
        match clause(self.detail()) {
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

fn error_line(error: &ArgumentError) -> String {
    let place = match error.path.as_str() {
        "" => "arguments",
        path => path,
    };
    let closest = match &error.closest {
        Some(closest) => format!("; closest correct form: {closest}"),
        None => String::new(),
    };
    format!(
        "{place}: expected {}, got {}{closest}",
        error.expected, error.got
    )
}

impl CorrectiveError {
    /// What is wrong, and what to do.
    pub fn message(&self) -> &str {
        match self {
            Self::Tool { error, .. } | Self::Arguments { error, .. } => error,
        }
    }

    fn render(&self, tool: &str) -> String {
        match self {
            Self::Tool {
                error,
                available_tools,
                more_tools,
                did_you_mean,
            } => {
                let near = match did_you_mean {
                    Some(near) => format!(" Did you mean '{near}'?"),
                    None => String::new(),
                };
                format!("{error}{near}{}", tools_line(available_tools, *more_tools))
            }
            Self::Arguments {
                error,
                expected_parameters,
                more_parameters,
                errors,
                more_errors,
                considered,
            } => {
                let hint = match expected_parameters {
                    Some(expected) => parameters_line(tool, expected, *more_parameters),
                    None => String::new(),
                };
                let lines: String = errors
                    .iter()
                    .map(|error| format!("\n- {}", error_line(error)))
                    .chain([and_more("\n- ", *more_errors)])
                    .chain(considered.iter().map(|line| format!("\n- {line}")))
                    .collect();
                format!("{error}{hint}{lines}")
            }
        }
    }
}

fn tools_line(tools: &[String], more: usize) -> String {
    match (tools.len(), more) {
        (0, _) => String::new(),
        (_, 0) => format!("\nAvailable tools: {}", quoted(tools)),
        (count, more) => format!(
            "\nAvailable tools (the nearest {count} of {}): {}",
            count + more,
            quoted(tools)
        ),
    }
}

fn parameters_line(tool: &str, expected: &ExpectedParameters, more: usize) -> String {
    format!(
        "\nExpected parameters for '{tool}' — required: {}, optional: {}{}.",
        quoted(&expected.required),
        quoted(&expected.optional),
        and_more(", ", more)
    )
}

fn and_more(separator: &str, count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!("{separator}and {count} more"),
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", names.join(", "))
}

/// What a name takes in a list.
fn quoted_length(name: &str) -> usize {
    length(name) + "'', ".len()
}

/// What a line takes in a list.
fn line_length(line: &str) -> usize {
    length(line) + "\n- ".len()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{CASE_OF_NAME, candidate, hostile, number_as_text, rejected};
    use super::*;
    use crate::fix::Fix;

    const ALL: [Reason; 9] = [
        Reason::UnknownTool,
        Reason::AmbiguousTool,
        Reason::NotPermitted,
        Reason::Syntax,
        Reason::Truncated,
        Reason::Ambiguous,
        Reason::Arguments,
        Reason::NeedsApproval,
        Reason::Limit,
    ];

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn wrong(path: &str, expected: &str, got: &str, closest: Option<&str>) -> ArgumentError {
        ArgumentError {
            path: path.to_owned(),
            expected: expected.to_owned(),
            got: got.to_owned(),
            closest: closest.map(str::to_owned),
        }
    }

    /// A call of `search` that was rejected in its arguments.
    fn search(reason: Reason, detail: &str) -> Rejected {
        Rejected {
            tool: Some("search".to_owned()),
            detail: detail.to_owned(),
            expected: Some(ExpectedParameters {
                required: strings(&["query"]),
                optional: strings(&["limit", "order"]),
            }),
            ..rejected(reason, "Search")
        }
    }

    fn json(rejected: &Rejected) -> String {
        serde_json::to_string(&rejected.error()).unwrap()
    }

    #[test]
    fn an_unknown_tool_gets_the_suggestion_and_the_sorted_tools() {
        let unknown = Rejected {
            did_you_mean: Some("web_search".to_owned()),
            available_tools: strings(&["web_search", "web_fetch", "calc"]),
            tool_count: 3,
            ..rejected(Reason::UnknownTool, "web_serch_tool")
        };
        insta::assert_snapshot!(unknown.feedback(), @r"
        Tool 'web_serch_tool' does not exist. Did you mean 'web_search'?
        Available tools: ['calc', 'web_fetch', 'web_search']
        ");
        insta::assert_snapshot!(json(&unknown), @r#"{"error":"Tool 'web_serch_tool' does not exist.","available_tools":["calc","web_fetch","web_search"],"did_you_mean":"web_search"}"#);
        let nothing_near = Rejected {
            did_you_mean: None,
            ..unknown
        };
        insta::assert_snapshot!(nothing_near.feedback(), @r"
        Tool 'web_serch_tool' does not exist.
        Available tools: ['calc', 'web_fetch', 'web_search']
        ");
        let no_tools = rejected(Reason::UnknownTool, "search");
        insta::assert_snapshot!(no_tools.feedback(), @"Tool 'search' does not exist.");
    }

    #[test]
    fn a_long_inventory_is_cut_to_the_nearest_and_a_count() {
        let unknown = Rejected {
            did_you_mean: Some("zoo".to_owned()),
            available_tools: (0..300).map(|n| format!("tool_number_{n:03}")).collect(),
            tool_count: 700,
            ..rejected(Reason::UnknownTool, "zoo_")
        };
        let text = unknown.feedback();
        assert!(
            text.contains("(the nearest 79 of 700): ['tool_number_000', "),
            "{text}"
        );
        assert!(text.ends_with("'tool_number_077', 'zoo']"), "{text}");
    }

    #[test]
    fn a_name_that_is_ambiguous_or_not_permitted() {
        let ambiguous = Rejected {
            available_tools: strings(&["readFile", "read_file"]),
            tool_count: 2,
            ..rejected(Reason::AmbiguousTool, "readfile")
        };
        insta::assert_snapshot!(ambiguous.feedback(), @r"
        The tool name 'readfile' fits several tools. Send the call again with the exact name of one of them.
        Available tools: ['readFile', 'read_file']
        ");
        let refused = Rejected {
            tool: Some("delete_file".to_owned()),
            ..rejected(Reason::NotPermitted, "DeleteFile")
        };
        insta::assert_snapshot!(refused.feedback(), @"Tool 'delete_file' is not permitted now. It was not run; go on without it.");
        insta::assert_snapshot!(json(&refused), @r#"{"error":"Tool 'delete_file' is not permitted now. It was not run; go on without it.","available_tools":[]}"#);
    }

    #[test]
    fn arguments_that_do_not_bind_get_the_hint_and_each_error() {
        let mut misfit = search(Reason::Arguments, "2 errors");
        misfit.errors = vec![
            wrong("/query", "string", "nothing", None),
            wrong(
                "/order",
                "one of \"asc\", \"desc\"",
                "\"ascending\"",
                Some("\"asc\""),
            ),
            wrong("", "at most 2 properties", "3 properties", None),
        ];
        insta::assert_snapshot!(misfit.feedback(), @r#"
        The arguments of 'search' do not fit its parameters: 2 errors. The call was not run; correct the arguments and send it again.
        Expected parameters for 'search' — required: ['query'], optional: ['limit', 'order'].
        - /query: expected string, got nothing
        - /order: expected one of "asc", "desc", got "ascending"; closest correct form: "asc"
        - arguments: expected at most 2 properties, got 3 properties
        "#);
        insta::assert_snapshot!(json(&misfit), @r#"{"error":"The arguments of 'search' do not fit its parameters: 2 errors. The call was not run; correct the arguments and send it again.","expected_parameters":{"required":["query"],"optional":["limit","order"]},"errors":[{"path":"/query","expected":"string","got":"nothing"},{"path":"/order","expected":"one of \"asc\", \"desc\"","got":"\"ascending\"","closest":"\"asc\""},{"path":"","expected":"at most 2 properties","got":"3 properties"}]}"#);
    }

    #[test]
    fn no_schema_no_hint() {
        for expected in [None, Some(ExpectedParameters::default())] {
            let misfit = Rejected {
                expected,
                ..search(Reason::Syntax, "there is no JSON in it")
            };
            assert!(!misfit.feedback().contains("Expected parameters"));
            assert!(!json(&misfit).contains("expected_parameters"));
        }
    }

    #[test]
    fn text_that_cannot_be_read() {
        insta::assert_snapshot!(
            search(Reason::Syntax, "expected a value at byte 17.").feedback(), @r"
        The arguments of 'search' cannot be read as JSON: expected a value at byte 17. Send the call again with one complete JSON object as its arguments.
        Expected parameters for 'search' — required: ['query'], optional: ['limit', 'order'].
        ");
        insta::assert_snapshot!(search(Reason::Truncated, "").feedback(), @"The call of 'search' was cut off before its end and was not run. Send it again, smaller: with shorter values, or as several calls.");
        insta::assert_snapshot!(json(&search(Reason::Truncated, "")), @r#"{"error":"The call of 'search' was cut off before its end and was not run. Send it again, smaller: with shorter values, or as several calls.","errors":[]}"#);
        insta::assert_snapshot!(
            search(Reason::Limit, "nested deeper than 128 levels").feedback(), @"The call of 'search' is over a limit and was not run: nested deeper than 128 levels. Send it again, smaller and less deeply nested.");
    }

    #[test]
    fn a_tie_shows_its_readings() {
        let mut tie = search(Reason::Ambiguous, "two ends of a string fit equally well");
        tie.candidates = ["{\"query\":\"a\"}", "{\"query\":\"a\\\"\"}", "{}", "{}"]
            .map(|arguments| candidate("search", arguments, vec![]))
            .into();
        insta::assert_snapshot!(tie.feedback(), @r#"
        The arguments of 'search' can be read in more than one way: two ends of a string fit equally well. The call was not run; send it again in the form that is meant.
        Expected parameters for 'search' — required: ['query'], optional: ['limit', 'order'].
        - one reading: {"query":"a"}
        - one reading: {"query":"a\""}
        - one reading: {}
        - and 1 more
        "#);
    }

    #[test]
    fn a_correction_that_needs_approval_is_shown() {
        let mut waiting = search(Reason::NeedsApproval, "");
        let fixes = vec![
            Fix::new(&CASE_OF_NAME, "", "Search", "search"),
            number_as_text(),
        ];
        waiting.candidates = vec![candidate("search", "{\"limit\":5}", fixes)];
        insta::assert_snapshot!(waiting.feedback(), @r#"
        The call of 'search' needs a correction that is not made without asking. It was not run; if the corrected form below is what is meant, send the call again in that form.
        - corrected arguments: {"limit":5}
        - tool name: the name was spelled differently; write `search`, not `Search`
        - /limit: a number was written as text; write `5`, not `"5"`
        "#);
        insta::assert_snapshot!(json(&waiting), @r#"{"error":"The call of 'search' needs a correction that is not made without asking. It was not run; if the corrected form below is what is meant, send the call again in that form.","errors":[],"considered":["corrected arguments: {\"limit\":5}","tool name: the name was spelled differently; write `search`, not `Search`","/limit: a number was written as text; write `5`, not `\"5\"`"]}"#);
    }

    #[test]
    fn the_structured_form_can_be_read_back() {
        for reason in ALL {
            let mut sample = search(reason, "detail");
            sample.available_tools = strings(&["search"]);
            sample.errors = vec![wrong("/a", "string", "1", None)];
            let read: CorrectiveError = serde_json::from_str(&json(&sample)).unwrap();
            assert_eq!(read, sample.error(), "{reason:?}");
        }
    }

    #[test]
    fn every_message_is_bounded_names_no_emitted_name_and_has_no_id() {
        for (text, reason) in hostile()
            .iter()
            .flat_map(|text| ALL.map(|reason| (text, reason)))
        {
            let error = wrong(text, text, text, Some(text));
            let fix = Fix {
                path: text.clone(),
                sentence: text.clone(),
                before: text.clone(),
                after: text.clone(),
                ..number_as_text()
            };
            let names = vec![text.clone(); 100];
            let sample = Rejected {
                id: Some("call_id".to_owned()),
                tool: Some(text.clone()),
                detail: text.clone(),
                did_you_mean: Some(text.clone()),
                available_tools: names.clone(),
                tool_count: usize::MAX,
                expected: Some(ExpectedParameters {
                    required: names.clone(),
                    optional: names,
                }),
                errors: vec![error; 50],
                candidates: vec![candidate(text, text, vec![fix; 50]); 5],
                ..rejected(reason, "EmittedName")
            };
            let feedback = sample.feedback();
            assert!(
                length(&feedback) <= 4_000,
                "{reason:?} {}",
                length(&feedback)
            );
            assert!(length(&json(&sample)) <= 10_000, "{reason:?}");
            for absent in ["call_id", "EmittedName", "\u{0}", "\r"] {
                assert!(!feedback.contains(absent), "{reason:?} {feedback}");
            }
        }
    }
}
