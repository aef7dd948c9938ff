//! Strings: where they end, and what is noted of their content.

use std::ops::Range;

use super::balance::{self, Balance};
use super::content::{Written, without_half_escape, write};
use super::end::{End, is_broken_off_key};
use super::reader::{Frame, Reader};
use super::{Cut, Problem, key, rules};
use crate::json::scan;
use crate::json::string::StrictEnd;
use crate::rule::Risk;

/// Longest remark between a string and the closers that end the text, in bytes.
const MAX_REMARK: usize = 64;

/// A string of the input.
#[derive(Debug)]
pub(super) struct Found {
    /// The whole token.
    token: Range<usize>,
    /// What is between the quotes.
    content: Range<usize>,
    ending: Ending,
    /// Quotes that are content.
    inner: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Its content is strict.
    Strict,
    Closed,
    /// Its closing quote is missing.
    Unclosed,
    /// The text ended.
    Cut,
    /// The same, and its content is strict.
    StrictCut,
}

impl Ending {
    fn is_cut(self) -> bool {
        matches!(self, Self::Cut | Self::StrictCut)
    }

    fn is_strict(self) -> bool {
        matches!(self, Self::Strict | Self::StrictCut)
    }
}

/// Quotes that were taken for content and could have been ends.
#[derive(Debug, Default)]
struct Passed {
    /// One of them could have ended an item.
    item: bool,
    /// The last one that could have ended a member.
    member: Option<usize>,
}

impl Reader<'_, '_> {
    /// Reads the string value at the cursor.
    pub(super) fn string_value(&mut self, quote: char) {
        let found = self.find_string(self.at, quote);
        let quote_at = self.out.len();
        self.out.push("\"");
        self.write_content(&found, quote, quote_at);
        self.out.remember_string(quote_at);
        self.finish_string(&found);
    }

    /// Reads another part of the string value that was just written.
    pub(super) fn string_continuation(&mut self, quote: char) {
        let found = self.find_string(self.at, quote);
        // From the closing quote of the part before.
        let from = self.value_read.saturating_sub(1);
        self.out.truncate(self.value_end.saturating_sub(1));
        let start = self.out.len();
        self.write_content(&found, quote, start);
        let before = from..found.token.end;
        self.out
            .note(&rules::CONCATENATION, Risk::Lossless, before, start);
        self.finish_string(&found);
    }

    fn finish_string(&mut self, found: &Found) {
        self.at = found.token.end;
        self.value_is_done(true);
        if found.ending.is_cut() {
            self.cut_off(Cut::Inside);
        }
    }

    /// Finds the end of the string that starts at `start`.
    fn find_string(&mut self, start: usize, quote: char) -> Found {
        if let Some(found) = self.find_triple(start, quote) {
            return found;
        }
        let closers = key::closers_of(quote);
        let content = start + quote.len_utf8();
        if let Some(found) = self.find_strict(start, quote) {
            return found;
        }
        let mut at = content;
        let mut inner = 0;
        // The only raw quote so far, if it does not look like an opening one.
        let mut lone_quote = None;
        let mut balance = Balance::new(content);
        let mut passed = Passed::default();
        // Where an item ends if the first raw quote opens the next one.
        let mut item_end = None;
        while let Some(Range {
            start: stop,
            end: after,
        }) = self.next_quote(at, closers)
        {
            if self.ends_string(start, stop..after, inner, &mut balance, &mut passed) {
                if let Some(end) = item_end.filter(|_| inner == 1) {
                    return Found {
                        token: start..end,
                        content: content..end,
                        ending: Ending::Unclosed,
                        inner: 0,
                    };
                }
                if let Some(end) = self
                    .before_broken_key(&passed)
                    .filter(|_| self.is_end(after))
                {
                    return Found {
                        token: start..self.text.len(),
                        content: content..end,
                        ending: Ending::Cut,
                        inner,
                    };
                }
                if inner > 0 && balance.is_odd() {
                    self.doubts.inside_literal += 1;
                    if self.ends_member(after) {
                        let balance = self.balance_with_brackets(content..stop, closers);
                        self.doubts.string(&balance, stop);
                    }
                }
                return Found {
                    token: start..after,
                    content: content..stop,
                    ending: Ending::Closed,
                    inner,
                };
            }
            if let Some(end) = (inner == 0)
                .then(|| self.lost_quote(content, stop))
                .flatten()
            {
                if balance.is_in_braces(self.text, stop) {
                    // The key may be one of an object inside the content.
                    self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
                }
                return Found {
                    token: start..end,
                    content: content..end,
                    ending: Ending::Unclosed,
                    inner,
                };
            }
            let is_torn = match inner {
                0 => {
                    item_end = self.end_before_comma(content, stop);
                    self.is_torn(&(stop..after))
                        || (item_end.is_none() && self.opens_next(content, stop))
                }
                // What looked like the next item is none.
                1 => item_end.is_some(),
                _ => false,
            };
            if is_torn {
                self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
                self.doubts.give_up();
            }
            lone_quote =
                (inner == 0 && !balance::opens(self.text, stop, after)).then_some(stop..after);
            inner += 1;
            balance.quote(self.text, stop, after);
            at = after;
        }
        let end = self.text.len();
        let certain = self
            .before_broken_key(&passed)
            .unwrap_or_else(|| self.certain_end(content));
        if let Some(quote) = lone_quote.filter(|quote| self.holds_remark(quote.end..certain)) {
            // The text is whole: the string ends here, and what follows is a remark or an expression.
            return Found {
                token: start..quote.end,
                content: content..quote.start,
                ending: Ending::Closed,
                inner: 0,
            };
        }
        Found {
            token: start..end,
            content: content..certain,
            ending: Ending::Cut,
            inner,
        }
    }

    /// Where the last quote stands that could have ended a member, if the text breaks off in the key
    /// behind it: of what follows that quote, nothing is certain.
    fn before_broken_key(&self, passed: &Passed) -> Option<usize> {
        let quote = passed.member?;
        let key = self.ends.behind_next_comma(quote + 1)?;
        is_broken_off_key(self.rest(key)).then_some(quote)
    }

    /// Whether nothing but frame follows.
    fn is_end(&self, after: usize) -> bool {
        !self.stack.is_empty()
            && self.rest(after).trim_start().len() <= self.text.len() - self.ends.tail
    }

    /// The balance of a string's content, whose raw quotes are all in it.
    fn balance_with_brackets(&self, content: Range<usize>, closers: &[char]) -> Balance {
        let mut balance = Balance::with_brackets(content.start);
        let mut at = content.start;
        while let Some(quote) = self.next_quote(at, closers)
            && quote.start < content.end
        {
            at = quote.end;
            balance.read(self.text, quote.start);
            balance.quote(self.text, quote.start, at);
        }
        balance.read(self.text, content.end);
        balance
    }

    /// Whether behind a string a comma stands, or nothing but closers up to the end.
    fn ends_member(&self, after: usize) -> bool {
        let rest = self.text.get(after..self.ends.tail).unwrap_or_default();
        let next = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '}' | ']'));
        next.is_empty() || rest.trim_start().starts_with(',')
    }

    /// Whether between a quote and the closers of all that is open, at the very end of the text, only
    /// a few words stand.
    fn holds_remark(&self, range: Range<usize>) -> bool {
        let has_closers = range.end < self.text.len();
        let words = self.text.get(range).unwrap_or_default();
        let is_short = words.len() <= MAX_REMARK && !words.contains('\n') && !words.contains("\\n");
        has_closers && !words.is_empty() && is_short
    }

    /// Whether the first raw quote of a string looks like its end, but what follows does not fit and
    /// no schema says that the quote is content.
    fn is_torn(&self, quote: &Range<usize>) -> bool {
        let Some(frame) = self.stack.last() else {
            return false;
        };
        let next = self.rest(quote.end).trim_start().chars().next();
        match next {
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

    /// Up to where the text is content of an unclosed string for certain: closers of all that is
    /// open, at the very end, may be what they look like.
    fn certain_end(&self, content: usize) -> usize {
        let mut rest = self.text.get(content..self.ends.tail).unwrap_or_default();
        for frame in &self.stack {
            let closer = if frame.is_object { '}' } else { ']' };
            match rest.trim_end().strip_suffix(closer) {
                Some(shorter) => rest = shorter,
                None => return self.text.len(),
            }
        }
        content + rest.trim_end().len()
    }

    /// Where the item that starts at `content` ends if the quote at `quote` opens the next one.
    fn end_before_comma(&self, content: usize, quote: usize) -> Option<usize> {
        let in_array = self.stack.last().is_some_and(|frame| !frame.is_object);
        let before = self.text.get(content..quote).filter(|_| in_array)?;
        let item = before.trim_end().strip_suffix(',')?;
        // Behind a closer of its own it is no item: the array ends there, or an inner one.
        let holds = |opener, closer| item.matches(opener).count() >= item.matches(closer).count();
        (holds('[', ']') && holds('{', '}')).then_some(content + item.len())
    }

    /// A string in which nothing is wrong, up to its end or that of the text.
    fn find_strict(&self, start: usize, quote: char) -> Option<Found> {
        let content = start + 1;
        let end = (quote == '"').then(|| self.ends.strict_end(start))?;
        let (token, content, ending) = match end {
            StrictEnd::Quote(stop) => {
                let end = self.ends.judge(stop + 1, &self.stack);
                if !matches!(end, End::Certain | End::Item) {
                    return None;
                }
                (start..stop + 1, content..stop, Ending::Strict)
            }
            StrictEnd::Text => (
                start..self.text.len(),
                content..self.certain_end(content),
                Ending::StrictCut,
            ),
            StrictEnd::Broken => return None,
        };
        Some(Found {
            token,
            content,
            ending,
            inner: 0,
        })
    }

    /// Whether the quote at `quote` ends the string that starts at `start` and holds `inner` raw
    /// quotes up to there. Notes a problem where either answer fits.
    fn ends_string(
        &mut self,
        start: usize,
        quote: Range<usize>,
        inner: usize,
        balance: &mut Balance,
        passed: &mut Passed,
    ) -> bool {
        let end = self.ends.judge(quote.end, &self.stack);
        let is_escaped = inner == 0;
        if is_escaped && matches!(end, End::Certain | End::Item) {
            return true;
        }
        balance.read(self.text, quote.start);
        if end == End::Content {
            return false;
        }
        if end == End::Member
            && !is_escaped
            && balance::is_behind_opener(self.text, quote.start)
            && self.is_foreign(quote.end)
        {
            return false;
        }
        if end == End::Broken {
            return is_escaped || !balance.is_odd();
        }
        let mut certain_follows = || self.ends.certain_follows(quote.clone());
        let (ends, is_ambiguous) = match (end, is_escaped, balance.is_odd()) {
            (End::Content | End::Broken, ..)
            | (End::Faint | End::Last, false, _)
            | (End::Member, false, true) => (false, false),
            (End::Member, true, true) | (End::Member, false, false) => (true, certain_follows()),
            (End::Faint, true, true) | (End::Last, true, _) => (!certain_follows(), false),
            // A text without raw quotes was escaped as it should be.
            (_, true, _) | (End::Item | End::Certain, _, false) => (true, false),
            // A literal inside the content ends here.
            (End::Item, false, true) => {
                passed.item = true;
                (false, false)
            }
            (End::Certain, false, true) => {
                let repeats = self.ends.separator_repeats(quote.clone());
                (true, repeats || passed.item)
            }
        };
        let schema_tells = self.schema_tells(end, quote.end);
        if is_ambiguous && !(schema_tells && self.doubts.is_trial()) {
            self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
            self.doubts.give_up();
        }
        let has_separator = self
            .rest(quote.end)
            .trim_start()
            .starts_with([',', '}', ']']);
        let is_doubtful = match end {
            End::Content | End::Broken => false,
            End::Certain => inner > 0 && (balance.is_odd() || !has_separator),
            End::Item => inner > 0,
            End::Member | End::Faint | End::Last => true,
        };
        if is_doubtful {
            self.doubts.doubtful = self.doubts.doubtful.or(Some(start));
        }
        let ends = if is_doubtful && schema_tells {
            self.doubts.answer(ends)
        } else {
            ends
        };
        if !ends && end == End::Member {
            passed.member = Some(quote.start);
        }
        ends
    }

    /// Whether the key behind a quote can be no member, because the schema rules out what it does not
    /// declare.
    fn is_foreign(&self, after: usize) -> bool {
        let next = self.ends.next_key(after, &self.stack);
        next.is_some_and(|(frame, key)| {
            !self.tree.is_open(frame.place) && !self.tree.declares(frame.place, &key::decoded(key))
        })
    }

    /// Whether the schema can tell if a quote ends its string: not where any key is welcome in the
    /// innermost object, and not before an undeclared one, which the model may well have meant.
    fn schema_tells(&self, end: End, after: usize) -> bool {
        if self.ends.knows_no_keys(&self.stack) {
            return false;
        }
        let next = || self.ends.next_key(after, &self.stack);
        end != End::Member
            || next().is_none_or(|(frame, key)| self.tree.declares(frame.place, &key::decoded(key)))
    }

    /// The next closing quote that no backslash escapes.
    fn next_quote(&self, from: usize, closers: &[char]) -> Option<Range<usize>> {
        if closers == ['"'] {
            let bytes = self.text.as_bytes();
            let mut at = from;
            loop {
                at = scan::quote_or_backslash(bytes, at);
                match bytes.get(at)? {
                    b'\\' => at += 2,
                    _ => return Some(at..at + 1),
                }
            }
        }
        let (at, closer) = key::closing_quote(self.rest(from), closers)?;
        Some(from + at..from + at + closer.len_utf8())
    }

    /// Where a string ends whose closing quote is missing before the key at `quote_at`.
    fn lost_quote(&self, content: usize, quote_at: usize) -> Option<usize> {
        let frame = self.stack.last()?;
        let before = self.text.get(content..quote_at)?.trim_end();
        let end = before.strip_suffix(',')?;
        self.ends
            .opens_known_key(quote_at, frame)
            .then_some(content + end.len())
    }

    /// A string in triple quotes, as Python writes it.
    fn find_triple(&self, start: usize, quote: char) -> Option<Found> {
        let mark = match quote {
            '"' => "\"\"\"",
            '\'' => "'''",
            _ => return None,
        };
        let inside = self.rest(start).strip_prefix(mark)?;
        let content = start + mark.len();
        let end = content + inside.find(mark)?;
        let after = end + mark.len();
        matches!(
            self.ends.judge(after, &self.stack),
            End::Certain | End::Item
        )
        .then_some(Found {
            token: start..after,
            content: content..end,
            ending: Ending::Closed,
            inner: 0,
        })
    }

    fn write_content(&mut self, found: &Found, quote: char, from: usize) {
        let content = self.text.get(found.content.clone()).unwrap_or_default();
        if found.ending.is_strict() {
            self.out.push(content);
            return self.out.push("\"");
        }
        let is_cut = found.ending.is_cut();
        let content = if is_cut {
            without_half_escape(content)
        } else {
            content
        };
        let written = write(content, &mut self.out);
        self.out.push("\"");
        let before = found.token.clone();
        let mut note = |rule, risk| self.out.note(rule, risk, before.clone(), from);
        if quote != '"' || (found.token.start + 1 < found.content.start) {
            // Nothing but quotes may be quotes that are content.
            let is_bare = content.is_empty() && found.token.len() > 2 * quote.len_utf8();
            let risk = if is_bare {
                Risk::Inferred
            } else {
                Risk::Lossless
            };
            note(&rules::QUOTES, risk);
        }
        if found.inner > 0 {
            note(&rules::INNER_QUOTE, Risk::Inferred);
        }
        if found.ending == Ending::Unclosed {
            note(&rules::MISSING_QUOTE, Risk::Inferred);
        }
        self.note_written(&written, &before, from);
        if let Some(at) = written.damage.filter(|_| !is_cut) {
            let at = found.content.start + at;
            self.problem = self.problem.or(Some(Problem::DamagedEscape(at)));
        }
    }

    /// Notes what had to be changed in the content of a string or key.
    pub(super) fn note_written(&mut self, written: &Written, before: &Range<usize>, from: usize) {
        let changes = [
            (
                &rules::RAW_CONTROL,
                written.control.then_some(Risk::Lossless),
            ),
            (&rules::ESCAPE, written.escape),
            (
                &rules::LONE_SURROGATE,
                written.surrogate.then_some(Risk::Guess),
            ),
        ];
        for (rule, risk) in changes {
            if let Some(risk) = risk {
                self.out.note(rule, risk, before.clone(), from);
            }
        }
    }
}
