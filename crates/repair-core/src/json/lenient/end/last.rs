//! Where a string certainly ends further on: one backward pass over the text for each kind of quote.

use std::collections::HashSet;
use std::ops::Range;

use super::Ends;
use crate::json::lenient::key;

/// What the backward pass finds.
#[derive(Debug, Default)]
pub(super) struct LastEnds {
    /// The last quote that is certainly an end.
    any: usize,
    /// Quotes before a separator and a key that follow another one too, in the same object.
    repeated: HashSet<usize>,
}

impl<'t> Ends<'t> {
    /// Whether the text holds a certain end behind this quote.
    pub(in crate::json::lenient) fn certain_follows(&mut self, quote: Range<usize>) -> bool {
        self.last_ends(&quote).any > quote.start
    }

    /// Whether the separator and the key behind this quote stand behind another one too, further on
    /// in the same object.
    pub(in crate::json::lenient) fn separator_repeats(&mut self, quote: Range<usize>) -> bool {
        self.last_ends(&quote).repeated.contains(&quote.start)
    }

    fn last_ends(&mut self, quote: &Range<usize>) -> &LastEnds {
        let quote = self.char_at(quote.start).unwrap_or('"');
        if !self.last.contains_key(&quote) {
            let found = self.find_last_ends(quote);
            self.last.insert(quote, found);
        }
        self.last.entry(quote).or_default()
    }

    /// The one backward pass.
    fn find_last_ends(&self, quote: char) -> LastEnds {
        let declared = self.tree.declared_keys();
        let is_known = |key: &str| declared.is_empty() || declared.contains(&*key::decoded(key));
        let mut last = LastEnds::default();
        let body = self.text.get(..self.tail).unwrap_or_default();
        let inner = self.without_closers(body);
        if inner.len() < body.len() && inner.ends_with(quote) {
            last.any = inner.len() - quote.len_utf8();
        }
        let mut ahead = HashSet::new();
        for (at, _) in inner.rmatch_indices(quote) {
            let after = self.space(at + quote.len_utf8());
            if let Some(key) = self.key_after_comma(after).filter(|key| is_known(key)) {
                last.any = last.any.max(at);
                if !ahead.insert(key) {
                    last.repeated.insert(at);
                }
            } else if self.object_after(after).is_some_and(is_known) {
                // A set that is cleared keeps its size, which every clearing walks over.
                ahead = HashSet::new();
            }
        }
        last
    }

    /// A text without the closers, commas and white space at its end.
    fn without_closers<'s>(&self, text: &'s str) -> &'s str {
        let is_closer =
            |c: char| c.is_whitespace() || matches!(c, '}' | ']' | '｝' | '］' | ',' | ')');
        let mut inner = text.trim_end_matches(is_closer);
        while inner.len() >= 2 && self.is_escaped_space(inner.len() - 2) {
            inner = inner.get(..inner.len() - 2).unwrap_or_default();
            inner = inner.trim_end_matches(is_closer);
        }
        inner
    }

    /// The quoted key behind a comma at `comma`.
    fn key_after_comma(&self, comma: usize) -> Option<&'t str> {
        let rest = self.rest(comma);
        let length = rest
            .starts_with([',', '，'])
            .then(|| self.char_at(comma))??
            .len_utf8();
        key::quoted(self.rest(self.space(comma + length))).map(|key| key.name)
    }

    /// The first key of the next item, where an object ends at `brace`.
    fn object_after(&self, brace: usize) -> Option<&'t str> {
        let comma = self
            .rest(brace)
            .strip_prefix('}')
            .map(|_| self.space(brace + 1))?;
        let next = self
            .rest(comma)
            .strip_prefix(',')
            .map(|_| self.space(comma + 1))?;
        let inside = self
            .rest(next)
            .strip_prefix('{')
            .map(|_| self.space(next + 1))?;
        key::quoted(self.rest(inside)).map(|key| key.name)
    }
}
