//! Strings: their end, then their content.

use std::ops::Range;

use super::balance::{self, Balance};
use super::end::End;
use super::output::Output;
use super::reader::Reader;
use super::{Cut, Problem, key, rules};
use crate::json::scan;
use crate::json::string::{self, StrictEnd};
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

impl Reader<'_, '_> {
    /// Reads the string value at the cursor.
    pub(super) fn string_value(&mut self, quote: char) {
        let found = self.find_string(self.at, quote);
        let quote_at = self.out.len();
        self.out.push("\"");
        self.write_content(&found, quote, quote_at);
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
        let mut balance = Balance::default();
        // A quote was passed that could have ended an item.
        let mut passed_item = false;
        // Where an item ends if the first raw quote opens the next one.
        let mut item_end = None;
        while let Some((stop, character)) = self.next_stop(at, closers) {
            let after = stop + character.len_utf8();
            if character == '\\' {
                at = balance.escape(self.text, stop);
                continue;
            }
            if !closers.contains(&character) {
                if character == '\n' {
                    balance.line_break();
                }
                at = after;
                continue;
            }
            if self.ends_string(start, stop..after, inner, &balance, &mut passed_item) {
                if let Some(end) = item_end.filter(|_| inner == 1) {
                    return Found {
                        token: start..end,
                        content: content..end,
                        ending: Ending::Unclosed,
                        inner: 0,
                    };
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
                return Found {
                    token: start..end,
                    content: content..end,
                    ending: Ending::Unclosed,
                    inner,
                };
            }
            if inner == 0 {
                item_end = self.end_before_comma(content, stop);
                if self.is_torn(stop..after) {
                    self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
                    self.doubts.give_up();
                }
            }
            lone_quote =
                (inner == 0 && !balance::opens(self.text, stop, after)).then_some(stop..after);
            inner += 1;
            balance.quote(self.text, stop, after);
            at = after;
        }
        let end = self.text.len();
        let certain = self.certain_end(content);
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
    fn is_torn(&self, quote: Range<usize>) -> bool {
        let next = self.rest(quote.end).trim_start().chars().next();
        match self.stack.last() {
            Some(frame) if !frame.is_object => next == Some(':'),
            Some(_) => {
                next == Some(',') && self.ends.knows_no_keys(&self.stack) && {
                    let before = self.text.get(..quote.start).unwrap_or_default();
                    before.ends_with(|c: char| c.is_alphanumeric())
                }
            }
            None => false,
        }
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
        let end = before.trim_end().strip_suffix(',')?;
        Some(content + end.len())
    }

    /// A string in which nothing is wrong, up to its end or that of the text.
    fn find_strict(&self, start: usize, quote: char) -> Option<Found> {
        let content = start + 1;
        let end = (quote == '"').then(|| string::strict_end(self.text, content))?;
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
        balance: &Balance,
        passed_item: &mut bool,
    ) -> bool {
        let end = self.ends.judge(quote.end, &self.stack);
        let is_escaped = inner == 0;
        let mut certain_follows = || self.ends.certain_follows(quote.clone());
        let (ends, is_ambiguous) = match (end, is_escaped, balance.is_odd()) {
            (End::Content, ..)
            | (End::Faint | End::Last, false, _)
            | (End::Member, false, true) => (false, false),
            (End::Member, true, true) | (End::Member, false, false) => (true, certain_follows()),
            (End::Faint, true, true) | (End::Last, true, _) => (!certain_follows(), false),
            // A text without raw quotes was escaped as it should be.
            (_, true, _) | (End::Item | End::Certain, false, false) => (true, false),
            // A literal inside the content ends here.
            (End::Item, false, true) => {
                *passed_item = true;
                (false, false)
            }
            (End::Certain, false, true) => {
                let repeats = self.ends.separator_repeats(quote.clone());
                (true, repeats || *passed_item)
            }
        };
        let has_rivals = !self.lets_in_unknown_key(end, quote.end);
        if is_ambiguous && !(has_rivals && self.doubts.is_trial()) {
            self.problem = self.problem.or(Some(Problem::Ambiguous(start)));
            self.doubts.give_up();
        }
        let has_separator = self
            .rest(quote.end)
            .trim_start()
            .starts_with([',', '}', ']']);
        let is_doubtful = match end {
            End::Content => false,
            End::Certain => inner > 0 && (balance.is_odd() || !has_separator),
            End::Item => inner > 0,
            End::Member | End::Faint | End::Last => true,
        };
        if is_doubtful && has_rivals {
            self.doubts.answer(ends)
        } else {
            ends
        }
    }

    /// Whether any key is welcome in the innermost object, or a comma and an undeclared key stand behind a quote, written like any other member:
    /// the model may well have meant one.
    fn lets_in_unknown_key(&self, end: End, after: usize) -> bool {
        if self.ends.knows_no_keys(&self.stack) {
            return true;
        }
        let Some(frame) = self.stack.last().filter(|_| end == End::Member) else {
            return false;
        };
        self.rest(after)
            .strip_prefix(',')
            .and_then(|rest| key::quoted(rest.trim_start()))
            .is_some_and(|key| !self.tree.declares(frame.place, key.name))
    }

    /// The next quote, backslash or line break.
    fn next_stop(&self, at: usize, closers: &[char]) -> Option<(usize, char)> {
        if closers == ['"'] {
            let stop = scan::string_stop(self.text.as_bytes(), at);
            return self
                .rest(stop)
                .chars()
                .next()
                .map(|character| (stop, character));
        }
        let found = self
            .rest(at)
            .find(|c: char| matches!(c, '\\' | '\n') || closers.contains(&c))?;
        self.rest(at + found)
            .chars()
            .next()
            .map(|character| (at + found, character))
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
            note(&rules::QUOTES, Risk::Lossless);
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

/// A cut string without the escape that it ends in the middle of.
fn without_half_escape(content: &str) -> &str {
    let window = content.len().saturating_sub(12);
    let window = (window..=content.len())
        .find(|at| content.is_char_boundary(*at))
        .unwrap_or(0);
    let tail = content.get(window..).unwrap_or_default();
    // Backslashes from the first of a run on: an even run is a run of escaped ones.
    let run_start = |at: usize| {
        content
            .get(..at)
            .map_or(0, |before| before.trim_end_matches('\\').len())
    };
    for (offset, _) in tail.match_indices('\\') {
        let at = window + offset;
        let is_escape = (at - run_start(at)) % 2 == 0;
        let rest = content.get(at..).unwrap_or_default();
        let is_half = match rest.as_bytes() {
            [_] => true,
            [_, b'u', digits @ ..] => {
                let hex = digits
                    .iter()
                    .take_while(|byte| byte.is_ascii_hexdigit())
                    .count();
                let high = rest
                    .get(2..)
                    .and_then(string::hex4)
                    .is_some_and(|unit| (0xD800..0xDC00).contains(&unit));
                let low = rest.get(6..).unwrap_or_default();
                (digits.len() < 4 && hex == digits.len())
                    || (high
                        && (low.is_empty()
                            || low == "\\"
                            || (low.starts_with("\\u") && low.len() < 6)))
            }
            _ => false,
        };
        if is_escape && is_half {
            return content.get(..at).unwrap_or_default();
        }
    }
    content
}

/// What had to be changed in a string's content.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) control: bool,
    /// An illegal escape, and how sure its reading is.
    pub(super) escape: Option<Risk>,
    pub(super) surrogate: bool,
    pub(super) damage: Option<usize>,
}

impl Written {
    /// Notes an escape of another language that means one character: a change like any other.
    fn decoded(&mut self) {
        self.escape = self.escape.or(Some(Risk::Lossless));
    }
}

/// Writes the inside of a string as strict JSON; legal escapes keep their spelling.
pub(super) fn write(content: &str, out: &mut Output) -> Written {
    let reading = Reading::of(content);
    let mut written = Written {
        escape: reading.risk(),
        ..Written::default()
    };
    let bytes = content.as_bytes();
    // What was read and not yet written.
    let mut from = 0;
    let mut at = 0;
    loop {
        let stop = scan::string_stop(bytes, at);
        let Some(byte) = bytes.get(stop) else { break };
        if *byte == b'\\'
            && let Some(length) = kept_escape(content, stop, &reading)
        {
            at = stop + length;
            continue;
        }
        out.push(content.get(from..stop).unwrap_or_default());
        at = stop
            + if *byte == b'\\' {
                write_escape(content, stop, out, &mut written)
            } else {
                written.control |= *byte < 0x20;
                string::encode_special(*byte, &mut out.text);
                1
            };
        from = at;
    }
    out.push(content.get(from..).unwrap_or_default());
    written
}

/// The length of the escape at `at`, if it stays as it stands.
fn kept_escape(content: &str, at: usize, reading: &Reading) -> Option<usize> {
    match content.as_bytes().get(at + 1)? {
        b'"' | b'\\' | b'/' => Some(2),
        b'b' | b'f' => (!reading.is_unescaped).then_some(2),
        b'n' | b't' | b'r' => (!(reading.is_unescaped && reading.is_drive)).then_some(2),
        b'u' => match unicode(content.get(at..)?) {
            Unicode::Whole(length) => Some(length),
            _ => None,
        },
        _ => None,
    }
}

/// Writes the escape at `at`, which cannot stay; returns its length in the input.
fn write_escape(content: &str, at: usize, out: &mut Output, written: &mut Written) -> usize {
    let rest = content.get(at..).unwrap_or_default();
    let doubled = |out: &mut Output| {
        out.push("\\\\");
        1
    };
    match rest.as_bytes().get(1) {
        Some(b'\'' | b'`') => {
            written.decoded();
            out.push(rest.get(1..2).unwrap_or_default());
            2
        }
        Some(b'u') => match unicode(rest) {
            Unicode::Lone => {
                written.surrogate = true;
                out.push("\\ufffd");
                6
            }
            Unicode::Damaged => {
                written.damage = written.damage.or(Some(at));
                doubled(out)
            }
            Unicode::Whole(_) | Unicode::None => doubled(out),
        },
        Some(b'x') => match control_code(rest) {
            Some(code) => {
                written.decoded();
                string::encode_special(code, &mut out.text);
                4
            }
            None => doubled(out),
        },
        _ => doubled(out),
    }
}

/// What a `\u` escape is.
enum Unicode {
    /// A character, or a pair, of this length.
    Whole(usize),
    /// Half a pair.
    Lone,
    /// One to three digits.
    Damaged,
    /// No digit: not an escape.
    None,
}

fn unicode(rest: &str) -> Unicode {
    let digits = rest.get(2..).unwrap_or_default();
    let Some(unit) = string::hex4(digits) else {
        let is_damaged = digits.starts_with(|c: char| c.is_ascii_hexdigit());
        return if is_damaged {
            Unicode::Damaged
        } else {
            Unicode::None
        };
    };
    let low = rest
        .get(6..)
        .and_then(|rest| rest.strip_prefix("\\u"))
        .and_then(string::hex4);
    match (unit, low) {
        (0xD800..=0xDBFF, Some(0xDC00..=0xDFFF)) => Unicode::Whole(12),
        (0xD800..=0xDFFF, _) => Unicode::Lone,
        _ => Unicode::Whole(6),
    }
}

/// The control character of `\xNN`, the only characters for which that is decoded.
fn control_code(rest: &str) -> Option<u8> {
    let digits = rest
        .get(2..4)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16)
        .ok()
        .filter(u8::is_ascii_control)
}

/// How the backslashes of a string are to be read. An illegal escape shows that the model did not
/// escape this string at all.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four independent observations"
)]
struct Reading {
    is_unescaped: bool,
    /// It begins like a Windows path, whose `\n`, `\t` and `\r` are names.
    is_drive: bool,
    /// It holds `\b`, `\f`, `\n`, `\r` or `\t`, which could have been meant either way.
    has_ambiguous: bool,
    /// It looks like LaTeX, where `\n` and `\t` begin commands.
    is_latex: bool,
}

impl Reading {
    fn of(content: &str) -> Self {
        let bytes = content.as_bytes();
        let mut reading = Self {
            is_drive: is_drive(bytes),
            ..Self::default()
        };
        let (mut long_word, mut word_after_space) = (false, false);
        let mut at = 0;
        loop {
            let stop = scan::backslash(bytes, at);
            if stop >= bytes.len() {
                break;
            }
            let rest = content.get(stop..).unwrap_or_default();
            let letters = |from: usize| {
                bytes
                    .get(stop + from..)
                    .unwrap_or_default()
                    .iter()
                    .take(2)
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count()
            };
            at = stop + 2;
            match bytes.get(stop + 1) {
                Some(b'"' | b'\\' | b'/' | b'\'' | b'`') => {}
                Some(b'b' | b'f') => reading.has_ambiguous = true,
                Some(b'n' | b't' | b'r') => {
                    reading.has_ambiguous = true;
                    word_after_space |= letters(2) > 0;
                }
                Some(b'u') if !matches!(unicode(rest), Unicode::None) => {}
                // Not JSON's escape, but an escape.
                Some(b'x') if control_code(rest).is_some() => {}
                _ => {
                    reading.is_unescaped = true;
                    long_word |= letters(1) == 2;
                    at = stop + 1;
                }
            }
        }
        reading.is_latex = long_word && word_after_space && !reading.is_drive;
        reading
    }

    /// How sure the reading is, if the string has illegal escapes.
    fn risk(&self) -> Option<Risk> {
        self.is_unescaped
            .then_some(match (self.is_latex, self.has_ambiguous) {
                (true, _) => Risk::Guess,
                (false, true) => Risk::Inferred,
                (false, false) => Risk::Lossless,
            })
    }
}

/// A drive letter, a colon and a single backslash.
fn is_drive(bytes: &[u8]) -> bool {
    matches!(bytes, [letter, b':', b'\\', next, ..] if letter.is_ascii_alphabetic() && *next != b'\\')
}
