//! What was changed, and how it is shown.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::rule::{Loss, Risk, Rule, Stage};

/// One change that was made to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fix {
    /// The rule's identifier.
    pub rule: Cow<'static, str>,
    /// The step it belongs to.
    pub stage: Stage,
    /// Where: a JSON Pointer into the repaired arguments; empty for the whole, and for names.
    pub path: String,
    /// Where in the emitted arguments text, in bytes; for fixes of the text only.
    pub offset: Option<usize>,
    /// What stood there, at most 120 characters.
    pub before: String,
    /// What stands there now, at most 120 characters.
    pub after: String,
    /// How sure it is.
    pub risk: Risk,
    /// What it took or added, if anything.
    pub loss: Option<Loss>,
    /// What was wrong and what is right, in one sentence.
    pub sentence: Cow<'static, str>,
}

impl Fix {
    /// A fix of `rule` with excerpts of what stood there and what stands there now.
    pub fn new(rule: &Rule, path: impl Into<String>, before: &str, after: &str) -> Self {
        Self {
            rule: Cow::Borrowed(rule.id),
            stage: rule.stage,
            path: path.into(),
            offset: None,
            before: excerpt(before),
            after: excerpt(after),
            risk: rule.risk,
            loss: rule.loss,
            sentence: Cow::Borrowed(rule.summary),
        }
    }

    /// The same fix at a byte offset of the emitted text.
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The same fix with another risk.
    pub fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = risk;
        self
    }
}

/// Longest excerpt in a fix or a message, in characters.
pub(crate) const EXCERPT: usize = 120;

/// `text`, or its two ends around an ellipsis where it is longer than [`EXCERPT`].
pub(crate) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    push_excerpt(text, &mut out);
    out
}

/// Appends the excerpt of `text`.
pub(crate) fn push_excerpt(text: &str, out: &mut String) {
    const TAIL: usize = 20;
    const HEAD: usize = EXCERPT - TAIL - 1;
    let head = match nth_char(text, EXCERPT) {
        None => return out.push_str(text),
        // Up to there every character is one byte.
        Some(EXCERPT) => Some(HEAD),
        Some(_) => nth_char(text, HEAD),
    };
    let last = text.get(text.len() - TAIL..);
    let tail = last.filter(|last| last.is_ascii()).or_else(|| {
        let start = text.char_indices().rev().nth(TAIL - 1);
        start.and_then(|(at, _)| text.get(at..))
    });
    out.reserve(EXCERPT + '…'.len_utf8());
    out.push_str(head.and_then(|at| text.get(..at)).unwrap_or_default());
    out.push('…');
    out.push_str(tail.unwrap_or_default());
}

/// Where the character stands that has `index` others before it.
fn nth_char(text: &str, index: usize) -> Option<usize> {
    let head = text.as_bytes().get(..=index)?;
    if head.is_ascii() {
        return Some(index);
    }
    text.char_indices().nth(index).map(|(at, _)| at)
}
