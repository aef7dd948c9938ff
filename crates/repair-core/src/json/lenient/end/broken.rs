//! Structure that is broken: where a key or a closer belongs stands something else.

use super::{End, Ends, starts_value};
use crate::json::lenient::key;
use crate::json::lenient::reader::Frame;

impl<'t> Ends<'t> {
    /// What a quote is before a comma and what is no key.
    pub(super) fn before_broken_member(&self, rest: &str, frame: &Frame<'t>) -> End {
        let is_doubled = key::doubled(rest)
            .is_some_and(|key| !frame.keys.contains(key.name) && self.tree.is_open(frame.place));
        if self.is_doubled_key(rest, frame) {
            End::Certain
        } else if is_doubled || self.is_broken_member(rest, frame) {
            End::Broken
        } else {
            End::Content
        }
    }

    /// Whether a key with a quote too many can only be the next member of `frame`.
    pub(in crate::json::lenient) fn is_doubled_key(&self, rest: &str, frame: &Frame<'t>) -> bool {
        key::doubled(rest).is_some_and(|key| {
            self.tree.declares(frame.place, key.name) && !frame.keys.contains(key.name)
        })
    }

    /// Whether what stands where a key belongs is an object, or a key that lacks its colon or its
    /// closing quote: one that the schema knows, or one before a value.
    fn is_broken_member(&self, rest: &str, frame: &Frame<'t>) -> bool {
        if rest.starts_with('{') {
            let brace = self.text.len() - rest.len();
            return self.is_value(brace) && !self.is_placeholder(brace);
        }
        let is_new = |name: &str| !frame.keys.contains(name);
        if let Some(key) = rest.strip_prefix('"').and_then(key::bare)
            && !key.is_quoted
        {
            let value = rest.get(key.colon + 2..).unwrap_or_default().trim_start();
            return is_new(key.name) && value.starts_with(|next| starts_value(next, value));
        }
        key::without_colon(rest).is_some_and(|(name, after)| {
            let value = after.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
            let is_value =
                value.len() < after.len() && value.starts_with(|next| starts_value(next, value));
            is_new(name) && (is_value || self.tree.declares(frame.place, name))
        })
    }

    /// Whether a brace opens an empty pair and a comma without a key follows it, as in what code prints.
    fn is_placeholder(&self, brace: usize) -> bool {
        let closer = self.space(brace + 1);
        self.char_at(closer) == Some('}')
            && self
                .behind_next_comma(closer + 1)
                .is_some_and(|next| self.key_at(next).is_none())
    }

    /// Whether a word stands at `at`, in an array, as an item or as the next key of the object around.
    pub(super) fn is_bare_item(&self, at: usize, stack: &[Frame<'t>]) -> bool {
        let rest = self.rest(at);
        let is_key = || match stack {
            [.., object, _] if object.is_object => key::bare(rest).is_some_and(|key| {
                self.tree.declares(object.place, key.name) && !object.keys.contains(key.name)
            }),
            _ => false,
        };
        let word = key::word_length(rest);
        let next = self.char_at(self.space(at + word));
        word > 0 && (matches!(next, Some(',' | ']')) || is_key())
    }

    /// The closer behind dots for what is left out.
    pub(super) fn behind_ellipsis(&self, at: usize) -> Option<usize> {
        let rest = self.rest(at);
        let behind = rest
            .strip_prefix("...")
            .or_else(|| rest.strip_prefix('…'))?;
        let closer = self.space(self.text.len() - behind.len());
        matches!(self.char_at(closer)?, '}' | ']').then_some(closer)
    }
}

/// Whether the text ends in or directly behind a quoted key.
pub(in crate::json::lenient) fn is_broken_off_key(rest: &str) -> bool {
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
