//! Strings: where they end, and what follows them.

use super::expression::{self, Sequel};
use super::word::is_plain_name;
use super::{Kind, Reader};
use crate::cursor::{Cursor, Look, Stop};

/// What a quote is, by what stands behind it.
enum Follow {
    End,
    Call,
    Operator,
    Content,
}

impl Reader<'_> {
    /// Steps over a string. A quote inside it is content unless something follows that can only
    /// follow a string. What it is: one string or several, or the name of a call.
    pub(super) fn string(&mut self, quote: char) -> Look<Kind> {
        let quote = if quote == '"' { b'"' } else { b'\'' };
        let bytes = self.cursor.rest().as_bytes();
        if bytes.get(1).is_none_or(|second| *second == quote) {
            let triple = if quote == b'"' { "\"\"\"" } else { "'''" };
            if self.cursor.sees(triple)? {
                return self.triple_quoted(triple);
            }
        }
        let (known, seen) = self.seen;
        let mut at = if known == self.cursor.at {
            seen - known
        } else {
            1
        };
        while let Some(found) = bytes.get(at..).and_then(|rest| find_end(rest, quote)) {
            at += found;
            if bytes.get(at) == Some(&b'\\') {
                at += 2;
                continue;
            }
            // Most strings end like this.
            if matches!(bytes.get(at + 1), Some(b',' | b':' | b'}' | b']')) {
                self.cursor.at += at + 1;
                return Ok(Kind::String);
            }
            self.seen = (self.cursor.at, self.cursor.at + at);
            let mut ahead = self.cursor;
            ahead.at += at + 1;
            match self.may_follow_string(ahead)? {
                Follow::End => {
                    self.cursor.at += at + 1;
                    return Ok(Kind::String);
                }
                Follow::Call => {
                    self.cursor.at += at + 1;
                    return Ok(Kind::Call);
                }
                Follow::Operator => return Err(Stop::Not),
                Follow::Content => {
                    match self.sequel(ahead, quote)? {
                        Sequel::None => {}
                        Sequel::Operand => return Err(Stop::Not),
                        Sequel::Strings(end) => {
                            self.cursor.at = end;
                            return Ok(Kind::Strings);
                        }
                    }
                    self.quoting = self.cursor.at;
                    at += 1;
                }
            }
        }
        self.seen = (self.cursor.at, self.cursor.at + at.max(bytes.len()));
        if self.cursor.is_end {
            self.cursor.at = self.cursor.text.len();
        }
        self.cursor.more()
    }

    /// Whether the first quote in a string of a call, behind which `ahead` stands, ends it after all.
    fn sequel(&self, ahead: Cursor<'_>, quote: u8) -> Look<Sequel> {
        let is_open = |at: &usize| {
            self.nodes
                .get(*at)
                .is_some_and(|node| node.kind == Kind::Call)
        };
        let is_first = self.quoting != self.cursor.at;
        let is_line = || memchr::memchr(b'\n', ahead.since(self.cursor.at).as_bytes()).is_none();
        if is_first && self.open.iter().any(is_open) && is_line() {
            expression::sequel(ahead, quote)
        } else {
            Ok(Sequel::None)
        }
    }

    /// The same of a string in three quotes.
    fn triple_quoted(&mut self, triple: &str) -> Look<Kind> {
        let inside = self.cursor.rest().get(3..).unwrap_or_default();
        let mut from = 0;
        while let Some(found) = inside.get(from..).and_then(|text| text.find(triple)) {
            let end = from + found;
            let slashes = inside.get(..end).unwrap_or_default();
            let slashes = slashes.len() - slashes.trim_end_matches('\\').len();
            if slashes % 2 == 0 {
                self.cursor.at += 3 + end + 3;
                return Ok(Kind::String);
            }
            from = end + 1;
        }
        if self.cursor.is_end {
            self.cursor.at = self.cursor.text.len();
        }
        self.cursor.more()
    }

    fn may_follow_string(&self, mut ahead: Cursor<'_>) -> Look<Follow> {
        let directly = ahead.peek_or_end()?;
        if directly == b'(' && self.top().is_none_or(|top| top == Kind::Array) {
            return Ok(Follow::Call);
        }
        let word = ahead.since(self.cursor.at + 1);
        let word = word.get(..word.len().saturating_sub(1)).unwrap_or_default();
        ahead.skip_space();
        Ok(match ahead.peek_or_end()? {
            b'=' if is_plain_name(word) && self.behind_sign(ahead)?.is_some() => Follow::End,
            b',' | b':' | b'}' | b']' | b')' | b'#' | 0 => Follow::End,
            b'+' | b'%' => Follow::Operator,
            _ => Follow::Content,
        })
    }
}

/// The next quote or backslash.
pub(super) fn find_end(bytes: &[u8], quote: u8) -> Option<usize> {
    /// In most strings it stands so near that a search by blocks does not pay.
    const NEAR: usize = 16;
    let (near, far) = bytes.split_at_checked(NEAR).unwrap_or((bytes, &[]));
    let found = near
        .iter()
        .position(|byte| *byte == quote || *byte == b'\\');
    found.or_else(|| memchr::memchr2(quote, b'\\', far).map(|at| NEAR + at))
}
