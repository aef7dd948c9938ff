//! Strings that lost a quote, or whose quotes have none of the places that quotes have.

use std::ops::Range;

use super::content::begins_like_path;
use super::reader::{Frame, Reader};
use super::string::Search;
use super::{Problem, balance, key};

impl Reader<'_, '_> {
    /// Whether a quote that was taken for content shows that the string ended at or before it, where
    /// no schema says otherwise.
    pub(super) fn is_torn(&self, search: &mut Search, quote: &Range<usize>) -> bool {
        match search.inner {
            0 => {
                search.item_end = self.end_before_comma(search.content, quote.start);
                self.looks_like_end(quote)
                    || self.is_behind_backslash(search.content, quote.start)
                    || self.opens_doubled_key(quote.start)
                    || self.opens_doubled_key(self.ends.space(quote.end))
                    || (search.item_end.is_none() && self.opens_next(search.content, quote.start))
            }
            // What looked like the next item is none.
            1 => search.item_end.is_some(),
            _ => false,
        }
    }

    /// Whether a quote opens a known key that has a quote too many: before it, only the end of the
    /// string makes sense.
    fn opens_doubled_key(&self, quote: usize) -> bool {
        self.stack
            .last()
            .is_some_and(|frame| self.ends.is_doubled_key(self.rest(quote), frame))
    }

    /// Whether a first raw quote opens what looks like a key, behind a quote with a backslash that
    /// may have ended the string.
    pub(super) fn is_behind_backslash(&self, content: usize, quote: usize) -> bool {
        let before = self.text.get(content..quote).unwrap_or_default();
        let item = before.trim_end().strip_suffix(',');
        item.is_some_and(|item| without_escaped_end(item).is_some())
            && key::quoted(self.rest(quote)).is_some()
    }

    /// The content of a string without its only raw quote, if that stands beside one that delimits
    /// the string and the rest is plainly a word or a path. Beside other content it may as well belong
    /// to code from the middle of a line: then nobody can tell.
    pub(super) fn without_surplus_quote(
        &mut self,
        search: &Search,
        end: usize,
    ) -> Option<Range<usize>> {
        let start = search.content;
        let before = self.text.get(..start)?.chars().next_back();
        let quote = before.filter(|quote| matches!(quote, '"' | '\''))?;
        let content = self.text.get(start..end)?;
        if search.inner != 1 || content.matches(quote).count() % 2 == 0 {
            return None;
        }
        let (inside, place) = match content.strip_prefix(quote) {
            Some(inside) => (inside, start + 1..end),
            None => (content.strip_suffix(quote)?, start..end - 1),
        };
        if inside.chars().all(is_path_part) && inside.contains(char::is_alphabetic) {
            return Some(place);
        }
        let is_likely = if place.start > start {
            inside.starts_with(char::is_alphanumeric)
        } else {
            // Neither inches nor the beginning of a literal.
            !inside.ends_with(|c: char| c.is_ascii_digit() || " ([{=,:\\".contains(c))
        };
        if is_likely && !inside.is_empty() {
            let problem = Problem::Ambiguous(start - 1);
            self.problem = self.problem.or(Some(problem));
            self.doubts.is_undecidable = true;
        }
        None
    }

    /// Where a path ends whose last backslash stands before the quote that ends the string.
    pub(super) fn path_end(&self, content: usize, end: usize) -> Option<usize> {
        let is_closed = end < self.text.len();
        let text = self.text.get(content..end).filter(|_| is_closed)?;
        let path = without_escaped_end(text.trim_end())?;
        (begins_like_path(path) && !path.contains(['"', '\n'])).then_some(content + path.len())
    }

    /// Whether a first raw quote does not look like an opening one, and structure follows.
    fn looks_like_end(&self, quote: &Range<usize>) -> bool {
        let Some(frame) = self.stack.last() else {
            return false;
        };
        match self.rest(quote.end).trim_start().chars().next() {
            Some(':') if !frame.is_object => true,
            Some(',' | '}' | ']' | ':' | '"' | '{' | '[') => {
                self.takes_undeclared(frame) && !balance::may_open(self.text, quote.start)
            }
            _ => false,
        }
    }

    /// Whether the schema does not rule out what it does not declare: in arrays and open objects.
    fn takes_undeclared(&self, frame: &Frame<'_>) -> bool {
        !frame.is_object || self.tree.is_open(frame.place)
    }

    /// Whether the first raw quote of a string stands behind a comma and opens what looks like a key
    /// or item: the string may have lost its closing quote before it.
    fn opens_next(&self, content: usize, quote: usize) -> bool {
        let Some(frame) = self
            .stack
            .last()
            .filter(|frame| self.takes_undeclared(frame))
        else {
            return false;
        };
        let before = self.text.get(content..quote).unwrap_or_default();
        let before = before.trim_end_matches(|c: char| {
            c.is_whitespace() || (!frame.is_object && matches!(c, '[' | '{'))
        });
        before.ends_with(',')
            && (!frame.is_object
                || key::quoted(self.rest(quote)).is_some_and(|key| key::is_word(key.name)))
    }

    /// Where the item that starts at `content` ends if the quote at `quote` opens the next one.
    pub(super) fn end_before_comma(&self, content: usize, quote: usize) -> Option<usize> {
        let in_array = self.stack.last().is_some_and(|frame| !frame.is_object);
        let before = self.text.get(content..quote).filter(|_| in_array)?;
        let item = before.trim_end().strip_suffix(',')?;
        // Behind a closer of its own it is no item: the array ends there, or an inner one.
        let holds = |opener, closer| item.matches(opener).count() >= item.matches(closer).count();
        let is_item = holds('[', ']') && holds('{', '}') && holds_literals(item);
        is_item.then_some(content + item.len())
    }

    /// Where a string ends whose closing quote is missing before the key at `quote_at`.
    pub(super) fn lost_quote(&self, content: usize, quote_at: usize) -> Option<usize> {
        let frame = self.stack.last()?;
        let before = self.text.get(content..quote_at)?.trim_end();
        let end = match before.strip_suffix(',') {
            Some(end) => self.ends.opens_known_key(quote_at, frame).then_some(end)?,
            None => self.before_next_item(before, quote_at)?,
        };
        Some(content + end.len())
    }

    /// What stands before the end of an item and the beginning of the next one, whose first key is a
    /// known one.
    fn before_next_item<'s>(&self, before: &'s str, quote_at: usize) -> Option<&'s str> {
        let [.., array, item] = self.stack.as_slice() else {
            return None;
        };
        let end = before.strip_suffix('{')?.trim_end().strip_suffix(',')?;
        let end = end.trim_end().strip_suffix('}')?;
        let key = key::quoted(self.rest(quote_at))?;
        let is_known = self.tree.declares(item.place, &key::decoded(key.name));
        (!array.is_object && item.is_object && is_known).then(|| end.trim_end())
    }
}

/// Whether the escaped quotes of a text are in pairs: else a literal goes on behind it.
pub(super) fn holds_literals(text: &str) -> bool {
    text.matches("\\\"").count().is_multiple_of(2)
}

fn is_path_part(c: char) -> bool {
    key::is_word_part(c) || matches!(c, '/' | ':')
}

/// A text without the quote at its end, if a backslash stands before that and it is the only such
/// quote, so that it ends no literal of the text.
fn without_escaped_end(text: &str) -> Option<&str> {
    let before = text.strip_suffix('"')?;
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    let is_lone = text.matches("\\\"").count() % 2 == 1;
    (backslashes % 2 == 1 && is_lone).then_some(before)
}
