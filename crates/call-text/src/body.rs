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
/// How far to look behind a call that seems to stand in a string, for what shows that it does not.
pub(crate) const LONG_LOOK: usize = 8 * 1024;

/// Where the body ends that begins at `start` and whose brackets are balanced at `behind`; `None` if
/// it ends there.
pub(crate) fn goes_on(
    start: usize,
    behind: Cursor<'_>,
    around: &Around<'_>,
) -> Look<Option<(usize, Ending)>> {
    let balanced = Balanced::new(start, behind, around);
    if balanced.is_whole()? {
        return Ok(None);
    }
    balanced.end()
}

/// A body up to where its brackets are balanced, and what stands behind it.
struct Balanced<'t, 'a> {
    start: usize,
    behind: Cursor<'t>,
    around: &'a Around<'a>,
    object: &'t str,
    rest: &'t str,
}

impl<'t, 'a> Balanced<'t, 'a> {
    fn new(start: usize, behind: Cursor<'t>, around: &'a Around<'a>) -> Self {
        Self {
            start,
            behind,
            around,
            object: behind.since(start),
            rest: behind.rest(),
        }
    }

    /// Whether it is strict JSON and nothing else stands on its last line.
    fn is_line(&self) -> bool {
        begins_on_next_line(self.rest) && is_strict_json(self.object)
    }

    /// Whether what stands directly behind it says that it is all.
    fn is_whole(&self) -> Look<bool> {
        if !self.around.is_closed && self.is_line() || may_follow(self.behind, self.around)? {
            return Ok(true);
        }
        let has_closer = self.rest.trim_start().starts_with(['}', ']']);
        Ok(!has_closer && !has_quotes(self.object))
    }

    /// The first place behind it where it can end; `None` if nothing there belongs to it.
    fn end(&self) -> Look<Option<(usize, Ending)>> {
        // The first call that seems to stand in a string, and whether it surely does.
        let mut inner: Option<usize> = None;
        let mut is_inside = false;
        for (at, _) in self.rest.char_indices() {
            if at > self.around.look {
                return self.unbounded(at);
            }
            if !is_inside && inner.is_some_and(|inner| at - inner > LONG_LOOK) {
                if self.is_over(at, Ending::Own) {
                    return Ok(None);
                }
                is_inside = true;
            }
            let ending = match self.mark(at)? {
                None => continue,
                Some(Mark::Close) => Ending::Closed,
                Some(Mark::Open) if ends_in_closer(self.tail(at)) => Ending::Own,
                Some(Mark::Open) if inner.is_none() && self.is_over(at, Ending::Own) => {
                    return Ok(None);
                }
                Some(Mark::Open) => {
                    inner = inner.or(Some(at));
                    continue;
                }
            };
            let goes_on = is_inside || !self.is_over(at, ending);
            return Ok(goes_on.then(|| (self.end_of(at), ending)));
        }
        if !self.behind.is_end {
            return Err(Stop::More);
        }
        let all = self.rest.len();
        let goes_on = is_inside || !self.is_over(all, Ending::Own);
        Ok(goes_on.then(|| (self.end_of(all), Ending::Own)))
    }

    /// The end where none was found as far as is looked: all that follows may belong to it.
    fn unbounded(&self, at: usize) -> Look<Option<(usize, Ending)>> {
        let goes_on = !self.is_over(at, Ending::Own);
        if goes_on && !self.behind.is_end {
            return Err(Stop::More);
        }
        Ok(goes_on.then_some((self.behind.text.trim_end().len(), Ending::Own)))
    }

    /// What ends a body `at` bytes behind it.
    fn mark(&self, at: usize) -> Look<Option<Mark>> {
        let here = Cursor {
            at: self.behind.at + at,
            ..self.behind
        };
        match (self.around.mark)(here)? {
            None if is_token(here)? => Ok(Some(Mark::Open)),
            mark => Ok(mark),
        }
    }

    /// The first `at` bytes behind it.
    fn tail(&self, at: usize) -> &'t str {
        self.rest.get(..at).unwrap_or_default()
    }

    /// Where the body ends if the first `at` bytes behind it belong to it.
    fn end_of(&self, at: usize) -> usize {
        self.behind.at + without_fence(self.tail(at)).len()
    }

    /// Whether the first `at` bytes behind it are no part of it.
    fn is_over(&self, at: usize, ending: Ending) -> bool {
        let tail = without_fence(self.tail(at));
        if tail.trim_start().is_empty() {
            return true;
        }
        if is_only_closers(tail) {
            return false;
        }
        let may_be_prose = !(self.around.is_closed && ending == Ending::Closed);
        let whole = self.behind.text.get(self.start..self.end_of(at));
        !(has_quotes(self.object) && has_quotes(tail))
            || may_be_prose && (self.is_line() || is_apart(tail) && is_strict_json(self.object))
            || reads_alike(whole.unwrap_or_default(), self.object)
    }
}

fn ends_in_closer(text: &str) -> bool {
    text.trim_end().ends_with(['}', ']'])
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
