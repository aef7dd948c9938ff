//! Where a string ends: what follows a quote decides.
//!
//! A quote inside a string is content unless what follows can only be the end of the value. The
//! position of the last certain end of the text, found once from behind, tells whether a doubtful
//! one may be passed over.

use std::collections::{HashMap, HashSet};

use super::key::{self, Key};
use super::reader::Frame;
use crate::json::scan;
use crate::schema::Tree;

/// What a quote is, by what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Only the end of the value.
    Certain,
    /// Well-formed JSON follows, but the schema does not vouch for it.
    Weak,
    /// Only an end if the text holds no certain one further on.
    Faint,
    /// Not an end.
    Content,
}

/// Longest comment that look-ahead steps over, in bytes.
const MAX_COMMENT: usize = 1000;

/// The look-ahead of the reader.
pub(super) struct Ends<'t> {
    text: &'t str,
    tree: &'t Tree,
    /// From here on there is only frame.
    tail: usize,
    /// All keys that the schema declares anywhere.
    declared: Option<HashSet<&'t str>>,
    /// The last certain end for each kind of closing quote.
    last_certain: HashMap<char, usize>,
}

impl<'t> Ends<'t> {
    pub(super) fn new(text: &'t str, tree: &'t Tree, tail: usize) -> Self {
        Self {
            text,
            tree,
            tail,
            declared: None,
            last_certain: HashMap::new(),
        }
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    fn space(&self, at: usize) -> usize {
        scan::skip_space(self.text.as_bytes(), at)
    }

    /// White space and comments.
    fn trivia(&self, at: usize) -> usize {
        let mut at = self.space(at);
        while let Some(length) = self.comment_length(at) {
            at = self.space(at + length);
        }
        at
    }

    /// The length of the comment at `at`, if it is one and not a long one.
    fn comment_length(&self, at: usize) -> Option<usize> {
        let rest = self.rest(at);
        let end = if rest.starts_with("/*") {
            "*/"
        } else if rest.starts_with("//") || rest.starts_with("# ") {
            "\n"
        } else {
            return None;
        };
        let window = rest.as_bytes().get(..rest.len().min(MAX_COMMENT))?;
        let found = window
            .windows(end.len())
            .skip(2)
            .position(|bytes| bytes == end.as_bytes())?;
        Some(found + 2 + end.len())
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.rest(at).chars().next()
    }

    /// What a quote is that ends at `after`, as the end of a value in the innermost frame.
    pub(super) fn judge(&self, after: usize, stack: &[Frame<'t>]) -> End {
        let at = self.space(after);
        if at >= self.tail {
            return End::Certain;
        }
        let Some((frame, _)) = stack.split_last() else {
            return End::Faint;
        };
        match self.char_at(at) {
            Some(',' | '，' | ';') => self.after_comma(at, stack),
            Some('}' | ']' | '｝' | '］' | ')') => self.closers(at, stack),
            Some('"' | '\'' | '“') if at > after => self.without_comma(at, frame),
            Some('+') => match self.char_at(self.space(at + 1)) {
                Some('"' | '\'') => End::Weak,
                _ => End::Content,
            },
            Some('/' | '#') if at > after && self.is_comment(at) => End::Weak,
            _ => End::Content,
        }
    }

    fn is_comment(&self, at: usize) -> bool {
        ["//", "/*", "# "]
            .iter()
            .any(|start| self.rest(at).starts_with(start))
    }

    /// A key or an item directly after the value.
    fn without_comma(&self, at: usize, frame: &Frame<'t>) -> End {
        if !frame.is_object {
            return End::Weak;
        }
        match key::quoted(self.rest(at)) {
            Some(key) => self.before_key(at, key, frame),
            None => End::Content,
        }
    }

    fn after_comma(&self, comma: usize, stack: &[Frame<'t>]) -> End {
        let comma_length = self.char_at(comma).map_or(1, char::len_utf8);
        let mut at = self.trivia(comma + comma_length);
        // Doubled commas are one.
        while self.rest(at).starts_with(',') {
            at = self.trivia(at + 1);
        }
        if at >= self.tail {
            return End::Weak;
        }
        let Some((frame, _)) = stack.split_last() else {
            return End::Faint;
        };
        let rest = self.rest(at);
        match rest.chars().next() {
            Some('}' | ']' | '｝' | '］') => self.closers(at, stack),
            Some(_) if frame.is_object => match key::any(rest) {
                Some(key) => self.before_key(at, key, frame),
                // A key that the text breaks off in.
                None if is_broken_off_key(rest) => End::Weak,
                None => End::Content,
            },
            Some(next) if starts_value(next, rest) => End::Weak,
            _ => End::Content,
        }
    }

    /// Whether a key can only be the next member of `frame`.
    fn before_key(&self, at: usize, key: Key<'t>, frame: &Frame<'t>) -> End {
        let is_new = !frame.keys.contains(key.name);
        let is_known = self.tree.declares(frame.place, key.name);
        if is_new && (is_known || (key.is_quoted && self.takes_any_key(frame))) {
            return End::Certain;
        }
        let value = self.space(at + key.colon + 1);
        let has_value = value >= self.tail
            || self
                .char_at(value)
                .is_some_and(|next| starts_value(next, self.rest(value)));
        match (has_value, key.is_quoted) {
            (true, true) => End::Weak,
            (true, false) => End::Faint,
            (false, _) => End::Content,
        }
    }

    fn takes_any_key(&self, frame: &Frame<'t>) -> bool {
        self.tree.is_open(frame.place) && !self.tree.declares_any(frame.place)
    }

    /// A run of closers, against the stack.
    fn closers(&self, from: usize, stack: &[Frame<'t>]) -> End {
        let mut at = from;
        let mut open = stack;
        let mut fits = true;
        while at < self.tail {
            let Some(next) = self.char_at(at) else { break };
            let closes_object = match next {
                '}' | '｝' => true,
                ']' | '］' | ')' => false,
                _ => break,
            };
            let found = open
                .iter()
                .rposition(|frame| frame.is_object == closes_object);
            fits &= found.is_some_and(|found| found + 1 == open.len());
            open = open.get(..found.unwrap_or(open.len())).unwrap_or_default();
            at = self.space(at + next.len_utf8());
        }
        if at >= self.tail {
            return if fits { End::Certain } else { End::Weak };
        }
        let end = match (open.split_last(), self.char_at(at)) {
            (Some(_), Some(',')) => self.after_comma(at, open),
            (Some((frame, _)), Some('"')) => self.without_comma(at, frame),
            // Another document follows.
            (None, Some('{' | '[')) => End::Weak,
            (None, _) => End::Faint,
            _ => End::Content,
        };
        if fits || end == End::Content {
            end
        } else {
            End::Faint
        }
    }

    /// Whether the text holds a certain end behind `at`.
    pub(super) fn certain_follows(&mut self, at: usize, quote: char) -> bool {
        if let Some(last) = self.last_certain.get(&quote) {
            return *last > at;
        }
        let last = self.find_last_certain(quote);
        self.last_certain.insert(quote, last);
        last > at
    }

    /// The one backward pass.
    fn find_last_certain(&mut self, quote: char) -> usize {
        let body = self.text.get(..self.tail).unwrap_or_default();
        let inner = body
            .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '}' | ']' | ',' | ')'));
        if inner.len() < body.len() && inner.ends_with(quote) {
            return inner.len() - quote.len_utf8();
        }
        let tree = self.tree;
        let declared = self.declared.get_or_insert_with(|| tree.declared_keys());
        let found = inner.rmatch_indices(quote).find(|(at, _)| {
            let after = scan::skip_space(self.text.as_bytes(), at + quote.len_utf8());
            let Some(rest) = self
                .text
                .get(after..)
                .and_then(|rest| rest.strip_prefix(','))
            else {
                return false;
            };
            key::quoted(rest.trim_start_matches([' ', '\n', '\r', '\t']))
                .is_some_and(|key| declared.is_empty() || declared.contains(key.name))
        });
        found.map_or(0, |(at, _)| at)
    }

    /// Whether a quote at `at` opens a key that proves that the string before it lost its own.
    pub(super) fn opens_known_key(&self, at: usize, frame: &Frame<'t>) -> bool {
        frame.is_object
            && key::quoted(self.rest(at))
                .is_some_and(|key| self.before_key(at, key, frame) == End::Certain)
    }
}

/// Whether the text ends in or directly behind a quoted key.
pub(super) fn is_broken_off_key(rest: &str) -> bool {
    let Some(quote @ ('"' | '\'')) = rest.chars().next() else {
        return false;
    };
    rest.get(1..)
        .is_some_and(|inside| match key::closing_quote(inside, &[quote]) {
            None => true,
            Some((end, _)) => inside
                .get(end + 1..)
                .is_some_and(|after| after.trim_start().is_empty()),
        })
}

/// Longest literal, in bytes.
const MAX_LITERAL: usize = "False".len();

/// Whether a value can start with this character. A literal may be broken off at the end of the
/// text.
pub(super) fn starts_value(next: char, rest: &str) -> bool {
    matches!(next, '"' | '\'' | '{' | '[' | '-' | '0'..='9' | '“' | '`')
        || ["true", "false", "null", "True", "False", "None"]
            .iter()
            .any(|word| {
                rest.starts_with(word)
                    || (rest.len() <= MAX_LITERAL && !rest.is_empty() && word.starts_with(rest))
            })
}
