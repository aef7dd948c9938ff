//! What stands around JSON: fences, tags, special tokens, prose, copies.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::doubt::Doubts;
use super::end::{Ends, starts_value};
use super::output::Output;
use super::reader::Reader;
use super::{Cut, Input, Lenient, Problem, rules};
use crate::json::attempt::Attempt;
use crate::json::strict::attempt_value;
use crate::json::{Arena, Kind, MAX_DEPTH, equal, string};
use crate::rule::Rule;
use crate::schema::{Place, Tree};

/// Reads every value of a text.
pub(super) fn read(input: Input<'_>, doubts: &mut Doubts) -> Lenient {
    let Input {
        text,
        attempt,
        tree,
        place,
        max_depth,
    } = input;
    let mut out = Output::for_input(text.len());
    let mut lenient = Lenient::default();
    let mut at = 0;
    let tail = Tail::new(text);
    let mut ends = Ends::new(text, tree, tail.start);
    let mut strict = Strict {
        text,
        attempt,
        last_quote: text.get(..tail.start).and_then(|body| body.rfind('"')),
        steps: 0,
    };
    while let Some(start) = next_value(text, at, tree, place, lenient.values.is_empty()) {
        if let Some(rule) = skipped(text, at, start) {
            let before = text.get(at..start).unwrap_or_default();
            if rule.id == rules::PROSE.id && begins_inside(before) {
                lenient.cut = Some(Cut::Beginning);
            }
            out.fix(rule, at..start, "");
        }
        if !lenient.values.is_empty() {
            out.push("\n");
        }
        let value_start = out.len();
        ends.attempt = strict.attempt(start, max_depth);
        ends.has_escaped_space = text.get(start..).is_some_and(begins_with_escaped_space);
        if let Some(end) = strict.end_of_value(&ends.attempt) {
            let value = text.get(start..end).unwrap_or_default();
            out.push_strict(value, ends.attempt.strings_from(start));
            lenient.values.push(value_start..out.len());
            at = surplus_closers(text, end, &mut out);
            continue;
        }
        let mut reader = Reader::new(start, place, max_depth, out, &mut ends, doubts);
        reader.value();
        lenient.cut = lenient.cut.or(reader.cut);
        lenient.problem = lenient.problem.or(reader.problem);
        at = reader.at;
        out = reader.out;
        if out.len() > value_start {
            lenient.values.push(value_start..out.len());
        }
        if doubts.is_hopeless()
            || lenient.cut.is_some()
            || lenient
                .problem
                .is_some_and(|problem| !matches!(problem, Problem::NonFinite(_)))
        {
            break;
        }
        let end = ends.space(at);
        if text.get(at..end).is_some_and(|space| space.contains('\\')) {
            out.fix(&rules::ESCAPED_SPACE, at..end, "");
            at = end;
        }
        at = surplus_closers(text, at, &mut out);
    }
    if lenient.values.is_empty() && lenient.problem.is_none() {
        lenient.problem = Some(Problem::NoValue);
    } else if lenient.cut.is_none()
        && let Some(rule) = skipped(text, at, text.len())
    {
        let is_scalar = !lenient
            .values
            .last()
            .and_then(|value| out.text.get(value.clone()))
            .is_some_and(|value| value.starts_with(['{', '[', '"']));
        let is_torn = is_scalar && rule.id == rules::PROSE.id;
        let after = text.get(at..).unwrap_or_default();
        // The rest of a string that was ended too early is no prose.
        let is_rest = doubts.doubtful.is_some() && after.contains('"');
        if is_torn || is_rest || ends_inside(after) {
            lenient.problem = lenient.problem.or(Some(Problem::Unreadable(at)));
        }
        out.fix(rule, at..text.len(), "");
    }
    lenient.text = out.text;
    lenient.fixes = out.fixes;
    lenient.strings = out.strings;
    lenient
}

/// Whether the first thing behind an opening bracket is an escaped line break: then the whole text
/// was written so.
fn begins_with_escaped_space(value: &str) -> bool {
    value
        .strip_prefix(['{', '['])
        .map(str::trim_start)
        .is_some_and(|inside| inside.starts_with("\\n") || inside.starts_with("\\r\\n"))
}

/// Looks for values that are strict JSON: in them nothing is broken, whatever stands around.
struct Strict<'t> {
    text: &'t str,
    /// The one that failed before.
    attempt: Option<&'t Attempt>,
    last_quote: Option<usize>,
    /// Bytes read so far. A text with more than a few of such values is left to the lenient reader.
    steps: usize,
}

impl<'t> Strict<'t> {
    /// Reads the value at `start`, if it is a container and not too much was read so far.
    fn attempt(&mut self, start: usize, max_depth: usize) -> Cow<'t, Attempt> {
        if let Some(attempt) = self.attempt.filter(|attempt| attempt.start == start) {
            return Cow::Borrowed(attempt);
        }
        let rest = self.text.get(start..).unwrap_or_default();
        if !rest.starts_with(['{', '[']) || self.steps > 4 * self.text.len() {
            return Cow::default();
        }
        let attempt = attempt_value(self.text, start, max_depth);
        self.steps += attempt.read - start;
        Cow::Owned(attempt)
    }

    /// Where a strict container ends, if what follows is no part of it.
    fn end_of_value(&self, attempt: &Attempt) -> Option<usize> {
        let end = attempt.end?;
        let is_container = self
            .text
            .get(attempt.start..)
            .is_some_and(|rest| rest.starts_with(['{', '[']));
        let rest = self.text.get(end..)?.trim_start();
        let is_over =
            rest.starts_with(['{', '[', '<', '`']) || self.last_quote.is_none_or(|last| last < end);
        (is_container && is_over).then_some(end)
    }
}

/// The text with one level of escaping undone, if the whole of it is JSON in escaped form.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let inner = text.trim_start().strip_prefix(['{', '['])?;
    let inner = inner.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '[' | '{'));
    let inner = inner.strip_prefix("\\n").map_or(inner, str::trim_start);
    inner.strip_prefix("\\\"")?;
    // A quote without a backslash before it is no quote of escaped JSON.
    let bytes = text.as_bytes();
    let all_escaped = text
        .match_indices('"')
        .all(|(at, _)| at > 0 && bytes.get(at - 1) == Some(&b'\\'));
    all_escaped.then(|| string::decode(text).into_owned())
}

/// Copies of a value are one, and an empty object before others is nothing.
/// Only the whole text, of `emitted` bytes, shows what was left out.
pub(super) fn merge_copies(lenient: &mut Lenient, emitted: usize) {
    if lenient.values.len() < 2 || lenient.problem.is_some() {
        return;
    }
    let mut kept = Vec::new();
    let mut known = HashSet::new();
    for value in &lenient.values {
        let slice = lenient.text.get(value.clone()).unwrap_or_default();
        let Ok((arena, root)) = Arena::read(Cow::Borrowed(slice), MAX_DEPTH) else {
            continue;
        };
        let form = equal::canonical(&arena, root);
        let is_empty = arena.node(root).kind == Kind::Object && arena.node(root).len == 0;
        if !is_empty && known.insert(form) {
            kept.push(value.clone());
        }
    }
    if kept.is_empty() {
        kept.extend(lenient.values.first().cloned());
    }
    if kept.len() == lenient.values.len() {
        return;
    }
    let mut text = String::with_capacity(lenient.text.len());
    let mut values: Vec<Range<usize>> = Vec::new();
    for value in &kept {
        if !text.is_empty() {
            text.push('\n');
        }
        let start = text.len();
        text.push_str(lenient.text.get(value.clone()).unwrap_or_default());
        values.push(start..text.len());
    }
    let end = text.len();
    for fix in &mut lenient.fixes {
        let at = kept.partition_point(|value| value.end < fix.after.end);
        let moved = kept.get(at).zip(values.get(at));
        let moved = moved.filter(|(old, _)| old.start <= fix.after.start);
        fix.after = moved.map_or(end..end, |(old, new)| {
            new.start + (fix.after.start - old.start)..new.start + (fix.after.end - old.start)
        });
    }
    lenient.fixes.push(super::TextFix {
        rule: &rules::REPEATED_VALUE,
        risk: rules::REPEATED_VALUE.risk,
        before: 0..emitted,
        after: 0..end,
    });
    lenient.text = text;
    lenient.values = values;
    lenient.strings.clear();
}

/// Where the next value starts, from `at` on. `first`: no value was read yet, so that a scalar and
/// a missing brace count too.
fn next_value(text: &str, at: usize, tree: &Tree, place: Place, first: bool) -> Option<usize> {
    let start = skip_frame(text, at);
    let rest = text.get(start..)?;
    let next = rest.chars().next()?;
    if first && (starts_scalar(rest, next) || super::key::starts_member(rest, tree, place)) {
        return Some(start);
    }
    // An array of anything, where only a comma stands before it.
    let after_comma = rest.strip_prefix(',').map_or(rest, str::trim_start);
    if !first && after_comma.starts_with('[') {
        return Some(text.len() - after_comma.len());
    }
    if is_opener(rest) || (first && matches!(next, '{' | '[' | '｛' | '［')) && could_open(rest) {
        return Some(start);
    }
    let tail = start + next.len_utf8();
    text.get(tail..)?
        .match_indices(['{', '[', '｛', '［'])
        .map(|(offset, _)| tail + offset)
        .find(|found| text.get(*found..).is_some_and(is_opener))
}

/// Whether a text that is or begins with a scalar starts here.
fn starts_scalar(rest: &str, next: char) -> bool {
    let is_number = match next {
        '-' | '+' | '.' => rest
            .get(1..)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')),
        _ => next.is_ascii_digit(),
    };
    let whole = rest
        .get(..rest.len().min(MAX_WORD))
        .unwrap_or_default()
        .trim_end();
    let is_tuple = next == '('
        && rest.trim_end().ends_with(')')
        && rest
            .trim_start_matches('(')
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '{' | '['));
    is_number
        || is_tuple
        || !super::key::closers_of(next).is_empty()
        || (rest.len() <= MAX_WORD && super::token::is_literal(whole))
}

/// Longest literal that is a whole text, with white space around it, in bytes.
const MAX_WORD: usize = 32;

/// Whether a bracket in the middle of a text opens JSON, not a remark or a placeholder.
fn is_opener(rest: &str) -> bool {
    let mut chars = rest.chars();
    let is_object = match chars.next() {
        Some('{' | '｛') => true,
        Some('[' | '［') => false,
        _ => return false,
    };
    let inside = chars.as_str().trim_start();
    let Some(next) = inside.chars().next() else {
        return false;
    };
    if is_object {
        let is_quote =
            matches!(next, '"' | '\'' | '“' | '‘' | '`' | '}' | '\\') && !inside.starts_with("```");
        is_quote
            || matches!(inside.get(..2), Some("//" | "/*"))
            || super::key::bare(inside).is_some()
    } else {
        matches!(next, '{' | '[' | '"' | ']' | '｛' | '［')
    }
}

/// Whether a bracket at the very start of a text can open JSON. Nothing stands before it, so less
/// evidence is needed.
fn could_open(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next();
    let inside = chars.as_str().trim_start();
    (rest.starts_with(['[', '［']) && !inside.starts_with("```"))
        || inside.is_empty()
        || is_opener(rest)
        || inside.starts_with(['{', ',', '#', '…'])
        || inside.starts_with("...")
}

/// The rule for what was skipped between `from` and `to`; `None` for white space alone.
fn skipped(text: &str, from: usize, to: usize) -> Option<&'static Rule> {
    let skipped = text.get(from..to)?;
    if skipped
        .bytes()
        .all(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
    {
        return None;
    }
    let is_frame = skip_frame(text, from) >= to || Tail::new(skipped).start == 0;
    Some(if is_frame {
        &rules::FRAME
    } else if from > 0 && skipped.trim() == "," {
        &rules::SURPLUS_COMMA
    } else {
        &rules::PROSE
    })
}

/// Whether what stands before a value is the middle of a document: the beginning is lost.
fn begins_inside(before: &str) -> bool {
    let end = before.trim_end();
    end.ends_with([',', '[']) || holds_key(before)
}

fn holds_key(text: &str) -> bool {
    text.contains("\":") || text.contains("\" :")
}

/// Whether what stands after a value belongs to a document around it.
fn ends_inside(after: &str) -> bool {
    let start = after.trim_start();
    let goes_on = start.strip_prefix([',', ':']).is_some_and(|rest| {
        let rest = rest.trim_start();
        rest.starts_with(|next| starts_value(next, rest))
    });
    let words = start.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '}' | ']'));
    let is_closed = words.len() < start.trim_end().len()
        && !words.contains(['{', '['])
        && skip_frame(words, 0) < words.len();
    goes_on || is_closed || holds_key(after)
}

/// Steps over closing brackets that close nothing.
fn surplus_closers(text: &str, at: usize, out: &mut Output) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest
        .find(|c: char| !(c.is_whitespace() || matches!(c, '}' | ']')))
        .unwrap_or(rest.len());
    let closers = rest.get(..length).unwrap_or_default().trim_end();
    if closers.contains(['}', ']']) {
        out.fix(&rules::SURPLUS_CLOSER, at..at + closers.len(), "");
        return at + closers.len();
    }
    at
}

/// Steps over white space, a byte order mark, NULs, fences, tags and special tokens.
pub(super) fn skip_frame(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(rest) = text.get(at..) {
        let step = frame_step(rest);
        if step == 0 {
            break;
        }
        at += step;
    }
    at
}

fn frame_step(rest: &str) -> usize {
    let Some(next) = rest.chars().next() else {
        return 0;
    };
    match next {
        '\u{feff}' | '\0' | ';' => next.len_utf8(),
        c if c.is_whitespace() => c.len_utf8(),
        '`' if rest.starts_with("```") => fence_length(rest),
        '<' => tag_length(rest),
        _ => 0,
    }
}

/// Longest name of a language behind a fence, in bytes.
const MAX_LANGUAGE: usize = 40;

/// The length of a fence with its language, and of its line where nothing else stands there.
fn fence_length(rest: &str) -> usize {
    let mark = rest.bytes().take_while(|byte| *byte == b'`').count();
    let word = rest
        .bytes()
        .skip(mark)
        .take(MAX_LANGUAGE)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'));
    mark + word.count()
}

/// Longest tag or special token, in bytes.
const MAX_TAG: usize = 64;

/// The length of `<tool_call>`, `</x>`, `<|im_end|>`, `<｜…｜>` at the start of a text; 0 if it is none.
fn tag_length(rest: &str) -> usize {
    let Some(end) = rest.bytes().take(MAX_TAG).position(|byte| byte == b'>') else {
        return 0;
    };
    let inside = rest.get(1..end).unwrap_or_default();
    let is_tag = !inside.is_empty()
        && inside.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '/' | '|' | '_' | '-' | '｜' | '▁' | ':' | '=')
        });
    if is_tag { end + 1 } else { 0 }
}

/// From where on a text holds nothing but frame: after a last value only that may follow.
pub(super) struct Tail {
    pub(super) start: usize,
}

impl Tail {
    pub(super) fn new(text: &str) -> Self {
        let mut rest = text;
        loop {
            let trimmed =
                rest.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | ';'));
            let fence = trimmed.strip_suffix("```");
            let fence = fence.map(|rest| rest.trim_end_matches('`'));
            let shorter = fence.or_else(|| {
                let open = trimmed.ends_with('>').then(|| {
                    let from = trimmed.len().saturating_sub(MAX_TAG);
                    trimmed
                        .as_bytes()
                        .get(from..)?
                        .iter()
                        .rposition(|byte| *byte == b'<')
                        .map(|at| from + at)
                })??;
                let tag = trimmed.get(open..)?;
                (tag_length(tag) == tag.len()).then(|| trimmed.get(..open))?
            });
            match shorter {
                Some(shorter) => rest = shorter,
                None => {
                    return Self {
                        start: trimmed.len(),
                    };
                }
            }
        }
    }
}
