//! What a value begins with, and what only looks like one.

use super::Ends;
use crate::json::lenient::{key, token};

impl Ends<'_> {
    /// Whether what stands at `at` is a value rather than code that starts like one: behind a
    /// bracket stands what a container begins with, behind a number or literal a delimiter.
    pub(super) fn is_value(&self, at: usize) -> bool {
        let rest = self.rest(at);
        match rest.as_bytes().first() {
            Some(b'{') => {
                let inside = self.trivia(at + 1);
                match self.char_at(inside) {
                    Some('}') => self.is_delimited(inside + 1),
                    Some('"') | None => true,
                    Some(_) => key::bare(self.rest(inside)).is_some(),
                }
            }
            Some(b'[') => {
                let inside = self.trivia(at + 1);
                match self.char_at(inside) {
                    Some(']') => self.is_delimited(inside + 1),
                    Some(next) => starts_value(next, self.rest(inside)),
                    None => true,
                }
            }
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-');
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                self.is_delimited(at + end)
            }
            _ => true,
        }
    }

    /// Whether at `at` stands what may follow a value.
    fn is_delimited(&self, at: usize) -> bool {
        at >= self.tail
            || self.rest(at).starts_with("\\n")
            || self
                .char_at(at)
                .is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '}' | ']' | '/' | ';'))
    }
}

/// Longest literal, in bytes.
const MAX_LITERAL: usize = "False".len();

/// Whether a value can start with this character. A literal may be broken off at the end of the
/// text.
pub(in crate::json::lenient) fn starts_value(next: char, rest: &str) -> bool {
    matches!(
        next,
        '"' | '\'' | '{' | '[' | '｛' | '［' | '-' | '0'..='9' | '“' | '`'
    ) || token::python_string(rest).is_some()
        || ["true", "false", "null", "True", "False", "None"]
            .iter()
            .any(|word| {
                rest.starts_with(word)
                    || (rest.len() <= MAX_LITERAL && !rest.is_empty() && word.starts_with(rest))
            })
}
