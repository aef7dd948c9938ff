//! How far a call goes whose JSON is broken.

use super::{ARGUMENT_KEYS, ID_KEYS, NAME_KEYS, OTHER_KEYS, Place, WRAPPER_KEYS};
use crate::cursor::{Beginnings, Cursor, Look, Stop};
use crate::paused::{Dull, Memo};
use crate::printed::Ending;
use crate::tools::Context;
use crate::values::{self, Broken};

/// Keys of calls.
const KEYS: &[&[&str]] = &[NAME_KEYS, ARGUMENT_KEYS, ID_KEYS, OTHER_KEYS, WRAPPER_KEYS];
static BEGINNINGS: Beginnings = Beginnings::of(KEYS);

/// Whether a text that is no JSON can be a call all the same: its first key is one of a call.
pub(crate) fn begins_as_call(mut cursor: Cursor<'_>) -> Look<bool> {
    // No call begins with so many brackets; looking behind them each time would be slow.
    const MAX_BRACKETS: usize = 8;
    let mut brackets = 0;
    loop {
        cursor.skip_space();
        if !matches!(cursor.peek()?, '[' | '{' | '(' | '"' | '\'') {
            break;
        }
        cursor.at += 1;
        brackets += 1;
        if brackets > MAX_BRACKETS {
            return Ok(false);
        }
    }
    if !BEGINNINGS.may_begin(cursor.rest()) {
        return Ok(false);
    }
    for keys in KEYS {
        if cursor.sees_any(keys)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a call may begin with the bracket at the cursor: behind most brackets of prose and code
/// stands a word that is no key of an object and no name of a call in a list.
pub(crate) fn may_hold_call(cursor: Cursor<'_>) -> Look<bool> {
    let is_blank = |c| matches!(c, ' ' | '\t'..='\r');
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let rest = cursor.rest();
    let inside = rest.get(1..).unwrap_or_default();
    let inside = inside.trim_start_matches(is_blank);
    let behind = inside.trim_start_matches(belongs);
    let has_word = behind.len() < inside.len();
    let wanted: &[u8] = match (rest.starts_with('{'), has_word) {
        (true, true) => b":#",
        (true, false) => b"\"'#/",
        (false, true) => b"(\"':+/\\#",
        (false, false) => b"({[\"'\\#/",
    };
    let may_go_on = match behind.trim_start_matches(is_blank).bytes().next() {
        Some(next) => !next.is_ascii() || wanted.contains(&next),
        None if cursor.is_end => true,
        None => return Err(Stop::More),
    };
    Ok(may_go_on || begins_as_call(cursor) != Ok(false))
}

/// How far to look for a better end of a broken call than its first closing marker, in bytes.
const LOOK: usize = 16 * 1024;

/// Whether a closing marker before which a text looks whole stands behind the first one, which stands
/// `first` bytes behind the cursor. What is found out is remembered: one broken call stands beside
/// another.
fn has_whole_close(cursor: Cursor<'_>, first: usize, close: &[&'static str]) -> bool {
    let rest = cursor.rest();
    let before_end = |at: usize| rest.len().saturating_sub(at);
    let marker = close.first().copied().unwrap_or_default();
    let known = cursor.memo.map(Memo::dull).unwrap_or_default();
    let is_known = known.marker == marker && (known.to..=known.from).contains(&before_end(first));
    let (from, start) = if is_known {
        (known.from, before_end(known.to))
    } else {
        (before_end(first), first + 1)
    };
    let begins = first_bytes([close]);
    let end = rest.len().min(first + LOOK + 1);
    let bytes = rest.as_bytes().get(start..end).unwrap_or_default();
    for (at, byte) in bytes.iter().enumerate() {
        let (before, here) = match begins.get(usize::from(*byte)) {
            Some(true) => rest.split_at_checked(start + at).unwrap_or_default(),
            _ => continue,
        };
        if close.iter().any(|marker| here.starts_with(marker))
            && before.trim_end().ends_with(['}', ']'])
        {
            return true;
        }
    }
    if let Some(memo) = cursor.memo {
        let to = before_end(start + bytes.len());
        memo.leave_dull(Dull { marker, from, to });
    }
    false
}

/// How far a text goes that cannot be read as JSON: to the first closing marker before which it
/// looks whole and its brackets are closed, else to the first before which it looks whole, else to
/// the first one. The next call ends the search, unless it stands in a string:
/// there it is content, up to its own closing marker. Without any closing marker, to the end of the
/// paragraph or the text.
pub(super) fn extent(cursor: Cursor<'_>, place: Place<'_>, is_cut: bool) -> Look<(usize, Ending)> {
    // How far to look for a better end than the first one before which it looks whole, but for open
    // brackets, and than any other.
    const LOOK_BEHIND_WHOLE: usize = 4 * 1024;
    const PARAGRAPH_ENDS: &[&str] = &["\n\n", "\n```", "<|"];
    let rest = cursor.rest();
    if cursor.is_end
        && !is_cut
        && place.close.is_empty()
        && let Some(end) = balanced(rest)
    {
        return Ok((end, Ending::Own));
    }
    let begins = first_bytes([place.close, place.open, PARAGRAPH_ENDS]);
    let mut first_close = None;
    let mut paragraph = None;
    // The first closing marker before which it looks whole, were it not for brackets left open.
    let mut open_close = None;
    let mut depth = 0_isize;
    // Behind the last object of a list whose bracket may be missing.
    let mut item_end = None;
    let mut strings = Strings::default();
    // Calls inside a string whose closing marker has not come yet.
    let mut inner = 0_usize;
    // The last character that is not blank tells whether the text looks whole.
    let mut last = ' ';
    for (at, c) in rest.char_indices() {
        let is_late = |close: Option<usize>, look| close.is_some_and(|close| at - close > look);
        if let Some(close) = open_close.or(first_close)
            && (is_late(open_close, LOOK_BEHIND_WHOLE) || is_late(first_close, LOOK))
        {
            return Ok((close, Ending::Closed));
        }
        let looks_whole = matches!(last, '}' | ']');
        let here = rest.get(at..).unwrap_or_default();
        let begins_any = |words: &[&str]| {
            let is_first = |byte: &u8| begins.get(usize::from(*byte)) == Some(&true);
            here.as_bytes().first().is_some_and(is_first)
                && words.iter().any(|word| here.starts_with(word))
        };
        if begins_any(place.close) && !is_inner_fence(rest, at, looks_whole) {
            if inner > 0 {
                inner -= 1;
            } else if looks_whole && depth <= 0 {
                return Ok((at, Ending::Closed));
            } else if looks_whole {
                open_close = open_close.or(Some(at));
            } else if first_close.is_none() {
                first_close = Some(at);
                let ends_here = place.open.is_empty() && !has_whole_close(cursor, at, place.close);
                if ends_here {
                    break;
                }
            }
        } else if begins_any(place.open) && begins_marked_call(cursor, at, place.open)? {
            if open_close.or(first_close).is_none() && strings.may_hold(rest, at) {
                inner += 1;
                last = c;
                continue;
            }
            return Ok(match open_close.or(first_close) {
                Some(close) => (close, Ending::Closed),
                None if looks_whole => (at, Ending::Own),
                None => (at, Ending::Cut),
            });
        }
        if looks_whole
            && paragraph.is_none()
            && begins_any(PARAGRAPH_ENDS)
            && !strings.may_hold(rest, at)
        {
            paragraph = Some(at);
            if cursor.is_end && !is_cut && place.is_bare() {
                // Nothing further on can end it.
                break;
            }
        }
        strings.see(at, c);
        depth += match c {
            '{' | '[' => 1,
            '}' | ']' => -1,
            _ => 0,
        };
        if c == '}' && depth == 1 {
            item_end = Some(at + 1);
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    let last_at = rest.char_indices().next_back().map_or(0, |(at, _)| at);
    match (open_close.or(first_close), paragraph) {
        (Some(at), _) if last_at - at > LOOK => Ok((at, Ending::Closed)),
        _ if !cursor.is_end => Err(Stop::More),
        (Some(at), _) => Ok((at, Ending::Closed)),
        _ if is_cut => Ok((rest.len(), Ending::Own)),
        (None, Some(at)) => Ok((at, Ending::Own)),
        _ if matches!(last, '}' | ']') => Ok((rest.trim_end().len(), Ending::Own)),
        _ => last_item(rest, item_end.filter(|_| place.is_bare())),
    }
}

/// Behind the last object of a list that lacks its bracket, if no other one was to follow.
fn last_item(list: &str, end: Option<usize>) -> Look<(usize, Ending)> {
    let is_last = |end: &usize| {
        let behind = list.get(*end..).unwrap_or_default();
        list.starts_with('[') && !behind.trim_start().starts_with(',')
    };
    let end = end.filter(is_last).ok_or(Stop::Not)?;
    Ok((end, Ending::Own))
}

/// Whether the marks of a fence stand in a string: they end a fence at the start of a line, or behind
/// what looks whole.
fn is_inner_fence(text: &str, at: usize, looks_whole: bool) -> bool {
    let (before, here) = text.split_at_checked(at).unwrap_or_default();
    here.starts_with("```") && !looks_whole && !before.trim_end_matches(' ').ends_with('\n')
}

/// The bytes with which the words of some lists begin.
fn first_bytes<const N: usize>(lists: [&[&str]; N]) -> [bool; 256] {
    let mut first = [false; 256];
    for word in lists.into_iter().flatten() {
        let byte = word.as_bytes().first().map(|byte| usize::from(*byte));
        if let Some(known) = byte.and_then(|byte| first.get_mut(byte)) {
            *known = true;
        }
    }
    first
}

/// Whether a place may be inside a string whose inner quotes are not escaped.
#[derive(Default)]
pub(crate) struct Strings {
    is_open: bool,
    is_escaped: bool,
    /// Behind the last quote.
    behind_quote: usize,
}

impl Strings {
    pub(crate) fn see(&mut self, at: usize, c: char) {
        if c == '"' && !self.is_escaped {
            self.is_open = !self.is_open;
            self.behind_quote = at + 1;
        }
        self.is_escaped = c == '\\' && !self.is_escaped;
    }

    /// Whether a string holds the place `at`: a quote is open, or words stand behind the last one.
    pub(crate) fn may_hold(&self, text: &str, at: usize) -> bool {
        /// Most bytes that are looked at.
        const BEFORE: usize = 64;
        let from = self.behind_quote.max(at.saturating_sub(BEFORE));
        let from = (from..=at).find(|from| text.is_char_boundary(*from));
        let before = from.and_then(|from| text.get(from..at)).unwrap_or_default();
        let is_structure = |word: &str| {
            matches!(word, "" | "true" | "false" | "null")
                || word
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' | b'.'))
        };
        let mut words = before.split(|c: char| c.is_whitespace() || "{}[],:".contains(c));
        self.is_open || !words.all(is_structure)
    }
}

/// Whether a call begins behind the opening marker that stands `at` bytes behind the cursor.
fn begins_marked_call(mut cursor: Cursor<'_>, at: usize, open: &[&'static str]) -> Look<bool> {
    cursor.at += at;
    cursor.eat_any(open)?;
    begins_as_call(cursor)
}

/// Where the brackets and quotes of a broken text are balanced first, if nothing that could belong
/// to it follows.
pub(crate) fn balanced(text: &str) -> Option<usize> {
    // Looking through all that follows, for every broken call, would be slow.
    const MAX_LOOK: usize = 16 * 1024;
    let mut open = Vec::new();
    let mut quotes = 0_usize;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().take(MAX_LOOK) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quotes += 1,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    return None;
                }
                if open.is_empty() && quotes.is_multiple_of(2) {
                    let behind = text.get(at + 1..)?;
                    let follows =
                        behind.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
                    return (!follows.starts_with(['}', ']', '"', '\''])).then_some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the first paragraph of a broken text ends, unless a string goes on there.
fn paragraph_end(text: &str) -> Option<usize> {
    let mut strings = Strings::default();
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '\n' && text.get(at..)?.starts_with("\n\n");
        if ends && !strings.may_hold(text, at) {
            return Some(at);
        }
        strings.see(at, c);
        None
    })
}

/// How long a broken text is that begins as a call and is none: what stands in it is no call either.
pub(crate) fn broken_length(cursor: Cursor<'_>, context: Context<'_>) -> Option<usize> {
    let is_broken = begins_as_call(cursor) == Ok(true)
        && matches!(
            values::read(&mut { cursor }, context.bare()),
            Err(Broken::Not)
        );
    let rest = cursor.rest();
    let end = || {
        balanced(rest)
            .or_else(|| paragraph_end(rest))
            .unwrap_or(rest.len())
    };
    is_broken.then(end)
}
