//! The corrective error as text, and how long its parts are.

use super::error::CorrectiveError;
use crate::verdict::{ArgumentError, ExpectedParameters};

impl CorrectiveError {
    pub(super) fn render(&self, tool: &str) -> String {
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
pub(super) fn quoted_length(name: &str) -> usize {
    length(name) + "'', ".len()
}

/// What a line takes in a list.
pub(super) fn line_length(line: &str) -> usize {
    length(line) + "\n- ".len()
}

pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

pub(super) fn error_line(error: &ArgumentError) -> String {
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
