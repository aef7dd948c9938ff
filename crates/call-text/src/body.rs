//! How far the JSON of a call goes. A string whose own quotes are not escaped lets its brackets
//! balance too early: what stands behind them tells.

use repair_core::repair_json;

use crate::cursor::{Cursor, Look, Stop};
use crate::literal::is_strict_json;
use crate::printed::Ending;
use crate::section::skip_between;
use crate::turns;

/// What stands at a place behind a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The format's own end of a call.
    Close,
    /// The next call.
    Open,
}

/// What a format has around its bodies.
pub(crate) struct Around<'f> {
    /// Whether the format ends each call. Where it does not, prose may follow on the next line.
    pub(crate) is_closed: bool,
    /// How far to look for what ends a body, in bytes: without markers nothing bounds it.
    pub(crate) look: usize,
    /// What ends a body at a place.
    pub(crate) mark: &'f dyn Fn(Cursor<'_>) -> Look<Option<Mark>>,
    /// Whether something stands at a place that may follow a whole body directly.
    pub(crate) follows: &'f dyn Fn(Cursor<'_>) -> Look<bool>,
}

/// How far to look where no marker ends a body.
pub(crate) const SHORT_LOOK: usize = 256;

/// Where the body ends that begins at `start` and whose brackets are balanced at `behind`; `None` if
/// it ends there.
pub(crate) fn goes_on(
    start: usize,
    behind: Cursor<'_>,
    around: &Around<'_>,
) -> Look<Option<(usize, Ending)>> {
    let object = behind.since(start);
    let rest = behind.rest();
    let is_line = || begins_on_next_line(rest) && is_strict_json(object);
    if !around.is_closed && is_line() {
        return Ok(None);
    }
    if may_follow(behind, around)? {
        return Ok(None);
    }
    if !has_quotes(object) && !rest.trim_start().starts_with(['}', ']']) {
        return Ok(None);
    }
    let is_line = around.is_closed && is_line();
    let end_at = |at: usize, ending| {
        let tail = without_fence(rest.get(..at).unwrap_or_default());
        let body = behind.text.get(start..behind.at + tail.len());
        let is_sure = around.is_closed && ending == Ending::Closed;
        let is_over = tail.trim_start().is_empty()
            || !is_only_closers(tail)
                && (!(has_quotes(object) && has_quotes(tail))
                    || !is_sure && (is_line || is_apart(tail) && is_strict_json(object))
                    || reads_alike(body.unwrap_or_default(), object));
        (!is_over).then_some((behind.at + tail.len(), ending))
    };
    let mut is_first = true;
    for (at, _) in rest.char_indices() {
        if at > around.look {
            // All that follows may belong to it.
            let goes_on = end_at(at, Ending::Own).is_some();
            if goes_on && !behind.is_end {
                return Err(Stop::More);
            }
            return Ok(goes_on.then_some((behind.text.trim_end().len(), Ending::Own)));
        }
        let here = Cursor {
            at: behind.at + at,
            ..behind
        };
        let mark = match (around.mark)(here)? {
            None if is_token(here)? => Some(Mark::Open),
            mark => mark,
        };
        match mark {
            None => {}
            Some(Mark::Close) => return Ok(end_at(at, Ending::Closed)),
            Some(Mark::Open) => {
                let before = rest.get(..at).unwrap_or_default().trim_end();
                if before.ends_with(['}', ']']) {
                    return Ok(end_at(at, Ending::Own));
                }
                if is_first && end_at(at, Ending::Own).is_none() {
                    return Ok(None);
                }
                // It is content of a string.
                is_first = false;
            }
        }
    }
    if behind.is_end {
        Ok(end_at(rest.len(), Ending::Own))
    } else {
        Err(Stop::More)
    }
}

/// The JSON string at the cursor, if it holds an object: arguments that were encoded twice.
pub(crate) fn encoded(cursor: Cursor<'_>) -> Look<Option<&str>> {
    if cursor.peek_or_end()? != b'"' {
        return Ok(None);
    }
    let mut inside = cursor;
    inside.at += 1;
    inside.skip_space();
    if inside.peek_or_end()? != b'{' {
        return Ok(None);
    }
    let rest = cursor.rest();
    let mut at = 1;
    while let Some(found) = rest
        .as_bytes()
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += found;
        if rest.as_bytes().get(at) == Some(&b'"') {
            let text = rest.get(..=at).unwrap_or_default();
            let holds_object = |text: String| text.trim_end().ends_with('}');
            let is_object = serde_json::from_str(text).is_ok_and(holds_object);
            return Ok(is_object.then_some(text));
        }
        at += 2;
    }
    if cursor.is_end {
        Ok(None)
    } else {
        Err(Stop::More)
    }
}

/// Whether nothing but blanks follows on the same line.
fn begins_on_next_line(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// Whether what comes next can follow a whole body: the end of the text, a mark of the format,
/// another call, a special token.
fn may_follow(behind: Cursor<'_>, around: &Around<'_>) -> Look<bool> {
    if (around.mark)(behind)?.is_some() {
        return Ok(true);
    }
    let mut next = behind;
    skip_between(&mut next)?;
    let rest = next.rest();
    if rest.is_empty() || (around.follows)(next)? || is_token(next)? {
        return Ok(true);
    }
    match turns::is_continuation(rest, true) {
        Ok(is_continuation) => Ok(is_continuation),
        Err(()) if next.is_end => Ok(false),
        Err(()) => Err(Stop::More),
    }
}

/// Whether a special token stands at a place: no string is likely to hold one.
fn is_token(here: Cursor<'_>) -> Look<bool> {
    let rest = here.rest();
    if !rest.starts_with(['<', '[']) {
        return Ok(false);
    }
    let is_barred = rest.starts_with("<|") || rest.starts_with("<｜");
    let special = turns::special_at(rest);
    if turns::turn_at(rest).is_some() || is_barred && matches!(special, Ok(Some(_))) {
        return Ok(true);
    }
    let may_become = special.is_err() || turns::may_become_turn(rest);
    if may_become && !here.is_end {
        return Err(Stop::More);
    }
    Ok(false)
}

/// A text without blanks and the end of a fence behind it.
pub(crate) fn without_fence(text: &str) -> &str {
    let text = text.trim_end();
    text.strip_suffix("```").map_or(text, str::trim_end)
}

/// Whether a text holds quotes: without any behind it, no string goes on.
fn has_quotes(text: &str) -> bool {
    memchr::memchr2(b'"', b'\'', text.as_bytes()).is_some()
}

/// Whether a text is made of surplus closing brackets.
pub(crate) fn is_only_closers(text: &str) -> bool {
    text.chars()
        .all(|c| matches!(c, '}' | ']') || c.is_whitespace())
}

/// Whether a text stands apart from what is before it: behind a blank, its quotes and brackets in
/// pairs, and JSON in those at its end.
fn is_apart(text: &str) -> bool {
    let (mut depth, mut quotes) = (0_usize, 0_usize);
    let mut last = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quotes += 1,
            b'{' | b'[' => {
                if depth == 0 {
                    last = at;
                }
                depth += 1;
            }
            b'}' | b']' if depth == 0 => return false,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    text.starts_with(char::is_whitespace)
        && depth == 0
        && quotes.is_multiple_of(2)
        && (!text.ends_with(['}', ']']) || text.get(last..).is_some_and(is_strict_json))
}

/// Whether the lenient reader finds nothing in a text but the object at its start.
fn reads_alike(body: &str, object: &str) -> bool {
    let value = |text| {
        let read = repair_json(text, None).ok()?;
        (read.ok && !read.truncated).then_some(read.text)
    };
    value(body).is_some_and(|read| value(object) == Some(read))
}

/// Whether dots stand for an object at the cursor, as in `{...}`.
pub(crate) fn is_elided(mut cursor: Cursor<'_>) -> Look<bool> {
    if cursor.peek_or_end()? != b'{' {
        return Ok(false);
    }
    cursor.at += 1;
    cursor.skip_space();
    Ok(cursor.peek_or_end()? != 0 && matches!(cursor.peek()?, '.' | '…'))
}
