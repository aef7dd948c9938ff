//! Strings: where they end, and what is noted of their content.

use std::ops::Range;

use super::balance::{self, Balance};
use super::content::{Written, without_half_escape, write, write_escaped};
use super::end::{End, is_broken_off_key};
use super::reader::Reader;
use super::torn::holds_literals;
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
    /// Nothing but control characters may be wrong in its content.
    Escaped,
    Closed,
    /// Its closing quote is missing.
    Unclosed,
    /// The backslash before its closing quote is content.
    Backslash,
    /// There is a quote too many beside one of those around it.
    Doubled,
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

/// A quote that no backslash escapes.
struct Quote {
    place: Range<usize>,
    /// The backslashes before it are those of JSON's short escapes, for certain.
    is_behind_escapes: bool,
}

/// Quotes that were taken for content and could have been ends.
#[derive(Debug, Default)]
struct Passed {
    /// One of them could have ended an item.
    item: bool,
    /// The last one that could have ended a member.
    member: Option<Range<usize>>,
}

/// What was seen of a string whose end is looked for.
pub(super) struct Search {
    start: usize,
    pub(super) content: usize,
    closers: &'static [char],
    /// Raw quotes that were taken for content.
    pub(super) inner: usize,
    /// The only one so far, if it does not look like an opening one.
    lone_quote: Option<Range<usize>>,
    /// Where an item ends if the first raw quote opens the next one.
    pub(super) item_end: Option<usize>,
    /// There are only JSON's short escapes, for certain.
    is_escaped: bool,
    balance: Balance,
    passed: Passed,
}

impl Search {
    fn new(start: usize, quote: char) -> Self {
        let content = start + quote.len_utf8();
        Self {
            start,
            content,
            closers: key::closers_of(quote),
            inner: 0,
            lone_quote: None,
            item_end: None,
            is_escaped: quote == '"',
            balance: Balance::new(content),
            passed: Passed::default(),
        }
    }

    /// The string, with where its content and its token end.
    fn found(&self, ending: Ending, content_end: usize, token_end: usize) -> Found {
        Found {
            token: self.start..token_end,
            content: self.content..content_end,
            ending,
            inner: self.inner,
        }
    }

    /// Takes a quote for content.
    fn pass(&mut self, text: &str, quote: &Range<usize>) {
        let is_lone = self.inner == 0 && !balance::opens(text, quote.start, quote.end);
        self.lone_quote = is_lone.then(|| quote.clone());
        self.inner += 1;
        self.balance.quote(text, quote.start, quote.end);
    }
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
        if let Some(found) = self.find_strict(start, quote) {
            return found;
        }
        let mut search = Search::new(start, quote);
        let mut at = search.content;
        while let Some(found) = self.next_quote(at, search.closers) {
            let quote = found.place;
            at = quote.end;
            search.is_escaped &= found.is_behind_escapes;
            if self.ends_string(&mut search, quote.clone()) {
                return self.ended(&search, quote);
            }
            if search.inner == 0
                && let Some(end) = self.lost_quote(search.content, quote.start)
            {
                if let Some(path_end) = self.path_end(search.content, end) {
                    return search.found(Ending::Backslash, path_end, path_end + 1);
                }
                if search.balance.is_in_braces(self.text, quote.start)
                    || self.is_behind_backslash(search.content, quote.start)
                {
                    // The key may be one of an object inside the content, and an escaped quote the end.
                    self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
                }
                return search.found(Ending::Unclosed, end, end);
            }
            if self.is_torn(&mut search, &quote) || search.inner == 0 && self.is_choice(quote.end) {
                self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
                self.doubts.give_up();
            }
            search.pass(self.text, &quote);
        }
        self.broken_off(&search)
    }

    /// Whether another string is offered behind a string that ends at `after`, as in a type.
    fn is_choice(&self, after: usize) -> bool {
        let other = self.rest(after).trim_start().strip_prefix('|');
        other.is_some_and(|other| other.trim_start().starts_with(['"', '\'']))
    }

    /// The string that ends with this quote, or before it where it lost its own.
    fn ended(&mut self, search: &Search, quote: Range<usize>) -> Found {
        let is_item = |end: &usize| {
            let next = self.text.get(*end..quote.start);
            search.inner == 1 && next.is_some_and(holds_literals)
        };
        if let Some(end) = search.item_end.filter(is_item) {
            return Found {
                inner: 0,
                ..search.found(Ending::Unclosed, end, end)
            };
        }
        if self.is_end(quote.end)
            && let Some(end) = self.before_broken_key(&search.passed)
        {
            return search.found(Ending::Cut, end, self.text.len());
        }
        if search.inner > 0 && search.balance.is_odd() {
            if self.is_end(quote.end) {
                // The text breaks off behind a quote that closes a literal of the content.
                return search.found(Ending::Cut, quote.start, self.text.len());
            }
            self.doubts.inside_literal += 1;
            if self.ends_member(quote.end) {
                let content = search.content..quote.start;
                let balance = self.balance_with_brackets(content, search.closers);
                if self.closes_content(search.content, &balance, quote.end) {
                    return search.found(Ending::Cut, quote.start, self.text.len());
                }
                self.doubts.string(&balance, quote.start);
            }
        }
        if let Some(content) = self.without_surplus_quote(search, quote.start) {
            return Found {
                content,
                inner: 0,
                ..search.found(Ending::Doubled, quote.start, quote.end)
            };
        }
        let ending = if search.is_escaped && search.inner == 0 {
            Ending::Escaped
        } else {
            Ending::Closed
        };
        search.found(ending, quote.start, quote.end)
    }

    /// The string in which the text ends.
    fn broken_off(&self, search: &Search) -> Found {
        let certain = self
            .before_broken_key(&search.passed)
            .unwrap_or_else(|| self.certain_end(search.content));
        if search.inner == 0
            && let Some(end) = self.path_end(search.content, certain)
        {
            return search.found(Ending::Backslash, end, end + 1);
        }
        match &search.lone_quote {
            // The text is whole: the string ends here, and what follows is a remark or an expression.
            Some(quote) if self.holds_remark(quote.end..certain) => Found {
                inner: 0,
                ..search.found(Ending::Closed, quote.start, quote.end)
            },
            _ => search.found(Ending::Cut, certain, self.text.len()),
        }
    }

    /// Where the last quote stands that could have ended a member, if the text breaks off in the key
    /// behind it: of what follows that quote, nothing is certain.
    fn before_broken_key(&self, passed: &Passed) -> Option<usize> {
        let quote = passed.member.as_ref()?;
        let key = self.ends.behind_next_comma(quote.end)?;
        is_broken_off_key(self.rest(key)).then_some(quote.start)
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
        while let Some(Quote { place: quote, .. }) = self.next_quote(at, closers)
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
        self.ends.behind_closers(after) >= self.ends.tail
            || self.rest(self.ends.space(after)).starts_with(',')
    }

    /// Whether the closers up to the end are those of brackets inside a string, which then did not end
    /// before them: they close all that is open in it, or all of it stands in brackets.
    fn closes_content(&self, content: usize, balance: &Balance, after: usize) -> bool {
        let closers = self.text.get(after..self.ends.behind_closers(after));
        let closers = closers.unwrap_or_default();
        // White space may be escaped.
        let closers = closers.trim_start_matches(|c| !matches!(c, '}' | ']'));
        let count = closers.matches(['}', ']']).count();
        let is_bracketed = self.rest(content).trim_start().starts_with(['{', '[']);
        self.ends.behind_closers(after) >= self.ends.tail
            && balance.missing_closer().is_some_and(|(closer, open)| {
                closers.starts_with(closer) && (is_bracketed || open <= count)
            })
    }

    /// Whether between a quote and the closers of all that is open, at the very end of the text, only
    /// a few words stand.
    fn holds_remark(&self, range: Range<usize>) -> bool {
        let has_closers = range.end < self.text.len();
        let words = self.text.get(range).unwrap_or_default();
        let is_short = words.len() <= MAX_REMARK && !words.contains('\n') && !words.contains("\\n");
        has_closers && !words.is_empty() && is_short
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

    /// A string in which nothing is wrong, up to its end or that of the text.
    fn find_strict(&mut self, start: usize, quote: char) -> Option<Found> {
        let content = start + 1;
        let end = (quote == '"').then(|| self.ends.strict_end(start))?;
        let (token, content, ending) = match end {
            StrictEnd::Quote(stop) => {
                let end = self.ends.judge(stop + 1, &self.stack);
                if !matches!(end, End::Certain | End::Item) {
                    // It is the first quote that is asked about again.
                    self.judged = Some((stop + 1, end));
                    return None;
                }
                (start..stop + 1, content..stop, Ending::Strict)
            }
            StrictEnd::Text => {
                let end = self.certain_end(content);
                if self.path_end(content, end).is_some() {
                    return None;
                }
                (start..self.text.len(), content..end, Ending::StrictCut)
            }
            StrictEnd::Broken => return None,
        };
        Some(Found {
            token,
            content,
            ending,
            inner: 0,
        })
    }

    /// Whether the quote at `quote` ends a string. Notes a problem where either answer fits.
    fn ends_string(&mut self, search: &mut Search, quote: Range<usize>) -> bool {
        let end = match self.judged.take() {
            Some((after, end)) if after == quote.end => end,
            _ => self.ends.judge(quote.end, &self.stack),
        };
        let is_escaped = search.inner == 0;
        if is_escaped && matches!(end, End::Certain | End::Item) {
            return true;
        }
        search.balance.read(self.text, quote.start);
        let is_odd = search.balance.is_odd();
        let opens_foreign_key = end == End::Member && !is_escaped && self.opens_foreign_key(&quote);
        let mut certain_follows = || self.ends.certain_follows(quote.clone());
        let (ends, is_ambiguous) = match (end, is_escaped, is_odd) {
            (End::Content, ..) => return false,
            (End::Broken, ..) => return is_escaped || !is_odd,
            (End::Member, ..) if opens_foreign_key => return false,
            (End::Faint | End::Last, false, _) | (End::Member, false, true) => (false, false),
            (End::Member, true, true) | (End::Member, false, false) => (true, certain_follows()),
            (End::Faint, true, true) | (End::Last, true, _) => (!certain_follows(), false),
            // A text without raw quotes was escaped as it should be.
            (_, true, _) | (End::Item | End::Certain, _, false) => (true, false),
            // A literal inside the content ends here.
            (End::Item, false, true) => {
                search.passed.item = true;
                (false, false)
            }
            (End::Certain, false, true) => {
                let repeats = self.ends.separator_repeats(quote.clone());
                (true, repeats || search.passed.item)
            }
        };
        let schema_tells = self.schema_tells(end, quote.end);
        if is_ambiguous && !(schema_tells && self.doubts.is_trial()) {
            self.problem = self.problem.or(Some(Problem::Ambiguous(search.start)));
            self.doubts.give_up();
        }
        let has_separator = self
            .rest(self.ends.space(quote.end))
            .starts_with([',', '}', ']']);
        let is_doubtful = match end {
            End::Certain => !is_escaped && (is_odd || !has_separator),
            End::Item => !is_escaped,
            _ => true,
        };
        if is_doubtful {
            self.doubts.doubtful = self.doubts.doubtful.or(Some(search.start));
        }
        let ends = if is_doubtful && schema_tells {
            self.doubts.answer(ends)
        } else {
            ends
        };
        if !ends && end == End::Member {
            search.passed.member = Some(quote);
        }
        ends
    }

    /// Whether a quote opens a literal of code, before a key that can be no member because the schema
    /// rules out what it does not declare.
    fn opens_foreign_key(&self, quote: &Range<usize>) -> bool {
        if !balance::is_behind_opener(self.text, quote.start) {
            return false;
        }
        let behind_comma = || self.ends.next_key(quote.end, &self.stack);
        let at_once = || {
            let at = scan::skip_space(self.text.as_bytes(), quote.end);
            Some((self.stack.last()?, self.ends.key_at(at)?.name))
        };
        behind_comma().or_else(at_once).is_some_and(|(frame, key)| {
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
    fn next_quote(&self, from: usize, closers: &[char]) -> Option<Quote> {
        if closers == ['"'] {
            let bytes = self.text.as_bytes();
            let mut is_behind_escapes = true;
            let mut at = from;
            loop {
                at = scan::quote_or_backslash(bytes, at);
                if *bytes.get(at)? == b'"' {
                    return Some(Quote {
                        place: at..at + 1,
                        is_behind_escapes,
                    });
                }
                is_behind_escapes &= matches!(
                    bytes.get(at + 1),
                    Some(b'n' | b'"' | b'\\' | b't' | b'/' | b'r' | b'b' | b'f')
                );
                at += 2;
            }
        }
        let (at, closer) = key::closing_quote(self.rest(from), closers)?;
        Some(Quote {
            place: from + at..from + at + closer.len_utf8(),
            is_behind_escapes: false,
        })
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
        let written = if found.ending == Ending::Escaped {
            write_escaped(content, &mut self.out)
        } else {
            write(content, &mut self.out)
        };
        self.out.push("\"");
        let before = found.token.clone();
        let mut note = |rule, risk| self.out.note(rule, risk, before.clone(), from);
        if quote != '"' || found.token.start + 2 < found.content.start {
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
        match found.ending {
            Ending::Unclosed => note(&rules::MISSING_QUOTE, Risk::Inferred),
            Ending::Doubled => note(&rules::QUOTES, Risk::Inferred),
            Ending::Backslash => note(&rules::ESCAPE, Risk::Inferred),
            _ => {}
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
