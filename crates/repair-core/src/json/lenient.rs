//! The lenient reader: from almost-JSON to strict JSON text, with a report of every change.
//!
//! It is a text-to-text step: what it writes is read by the strict reader like any other text.

use std::ops::Range;

use crate::rule::{Risk, Rule};
use crate::schema::{Place, Tree};

/// One change of the text.
#[derive(Clone, Debug)]
pub(crate) struct TextFix {
    pub(crate) rule: &'static Rule,
    /// The rule's risk, or a higher one.
    pub(crate) risk: Risk,
    /// The bytes of the emitted text that were changed; empty where something was put in.
    pub(crate) before: Range<usize>,
    /// The bytes of the strict text that stand there now.
    pub(crate) after: Range<usize>,
}

/// Where and how a text was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// After a complete last value: only closers are missing.
    Unclosed,
    /// Inside a string, number, literal or key, or after a colon or comma.
    Inside,
    /// The beginning is lost.
    Beginning,
}

/// What makes a text unusable as a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// There is no JSON in it.
    NoValue,
    /// Two splits into strings fit equally well; byte offset of the string.
    Ambiguous(usize),
    /// NaN or an infinity; byte offset.
    NonFinite(usize),
    /// A `\u` escape with one to three digits; byte offset.
    DamagedEscape(usize),
    /// Nested deeper than allowed.
    TooDeep,
}

/// What the reader made of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lenient {
    /// Strict JSON: one value, or several with a line break between them.
    pub(crate) text: String,
    /// Where the values stand in `text`. Equal copies are one; empty if there is none.
    pub(crate) values: Vec<Range<usize>>,
    pub(crate) fixes: Vec<TextFix>,
    pub(crate) cut: Option<Cut>,
    /// The first problem. The text is strict JSON all the same (null for a non-finite number).
    pub(crate) problem: Option<Problem>,
}

/// Reads a text that is not strict JSON. Linear in the text.
pub(crate) fn read(text: &str, tree: &Tree, place: Place, max_depth: usize) -> Lenient {
    let _ = (text, tree, place, max_depth);
    Lenient {
        problem: Some(Problem::NoValue),
        ..Lenient::default()
    }
}
pub(crate) static RULES: &[&Rule] = &[];
