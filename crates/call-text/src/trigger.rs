//! Where a call may begin: single bytes, starts of lines, markers, names.

use crate::cursor::{Beginning, beginning};
use crate::format::FORMATS;
use crate::tools::MAX_NAME;
use crate::turns::TURNS;

/// The second byte of `◁`, the only token that begins with a character outside ASCII.
const TOKEN_BYTE: u8 = 0x97;
const TOKEN: &[u8] = "◁".as_bytes();

/// Whether nothing can begin or end in a piece of a line.
pub(crate) fn is_calm(piece: &str, expected: bool) -> bool {
    piece.bytes().all(|byte| match byte {
        b'<' | b'[' | b']' | b'{' | b'`' | b'\n' | TOKEN_BYTE => false,
        b'(' => !expected,
        _ => true,
    })
}

/// The search for places where something may begin in the middle of a line: two passes, each as
/// fast as the machine compares bytes.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Where each pass stands: before it there is nothing behind the last place asked for.
    at: [Option<usize>; 2],
}

impl Search {
    /// Forgets a text.
    pub(crate) fn restart(&mut self) {
        self.at = [None; 2];
    }

    /// The first place from `from` on, which never goes back. What may follow behind the end of
    /// the text counts too.
    pub(crate) fn find(&mut self, bytes: &[u8], from: usize, expected: bool) -> Option<usize> {
        let mut from = from;
        loop {
            let rest = bytes.get(from..)?;
            let [first, second] = &mut self.at;
            let first = pass(first, from, bytes, || {
                memchr::memchr3(b'<', b'`', b'[', rest)
            });
            let second = pass(second, from, bytes, || {
                if expected {
                    memchr::memchr3(b'{', b'(', TOKEN_BYTE, rest)
                } else {
                    // No marker begins with a brace.
                    memchr::memchr(TOKEN_BYTE, rest)
                }
            });
            let at = first.min(second);
            if at == bytes.len() {
                // More may follow the first half of `]<`.
                return rest.ends_with(b"]").then(|| bytes.len() - 1);
            }
            if let Some(found) = trigger_at(bytes, at, expected) {
                return Some(found.max(from));
            }
            from = at + 1;
        }
    }
}

/// Where a pass finds its next byte, or the end of the text.
fn pass(
    known: &mut Option<usize>,
    from: usize,
    bytes: &[u8],
    search: impl FnOnce() -> Option<usize>,
) -> usize {
    match *known {
        Some(at) if at >= from => at,
        _ => {
            let at = search().map_or(bytes.len(), |at| from + at);
            *known = Some(at);
            at
        }
    }
}

/// Where the trigger begins to which a byte belongs.
fn trigger_at(bytes: &[u8], at: usize, expected: bool) -> Option<usize> {
    let byte = *bytes.get(at)?;
    let before = at.checked_sub(1);
    let is_trigger = match byte {
        b'<' => {
            if before.is_some_and(|before| bytes.get(before) == Some(&b']')) {
                return before;
            }
            bytes.get(at + 1).is_none_or(|next| {
                next.is_ascii_alphanumeric()
                    || !next.is_ascii()
                    || matches!(next, b'/' | b'|' | b'!' | b'_')
            })
        }
        b'[' => expected || may_start(bytes.get(at..)?),
        b'(' => may_end_name(bytes.get(before?)),
        TOKEN_BYTE => {
            return before.filter(|at| {
                bytes
                    .get(*at..)
                    .is_some_and(|bytes| bytes.starts_with(TOKEN))
            });
        }
        _ => true,
    };
    is_trigger.then_some(at)
}

fn may_end_name(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| {
        !byte.is_ascii()
            || byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b'-' | b':' | b'/' | b'\\')
    })
}

/// The first two bytes of words with which lines may begin that matter, as bits of a hash.
#[derive(Debug)]
pub(crate) struct LineStarts([u64; 16]);

impl LineStarts {
    /// Of the markers, and of these names.
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut starts = Self([0; 16]);
        for name in names {
            match *name.as_bytes() {
                [first, second, ..] => starts.add(first, second),
                [first] => (0..=u8::MAX).for_each(|second| starts.add(first, second)),
                [] => {}
            }
        }
        starts
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        let hash = usize::from(first) * 37 + usize::from(second);
        (hash / 64 % 16, 1 << (hash % 64))
    }

    fn add(&mut self, first: u8, second: u8) {
        let (word, bit) = Self::place(first, second);
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= bit;
        }
    }

    /// Whether one of the names may stand at the start of a text, by its first bytes.
    pub(crate) fn may_start_name(&self, text: &[u8]) -> bool {
        let [first, second, ..] = text else {
            return true;
        };
        let (word, bit) = Self::place(*first, *second);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Whether a line that begins with these bytes, blanks aside, may matter. `any_word`: all words
    /// do.
    pub(crate) fn matter(&self, line: &[u8], any_word: bool) -> bool {
        let Some(first) = line.first() else {
            return false;
        };
        match first {
            b'\n' => false,
            b'{' | b'[' | b'>' | b'~' => true,
            b'#' | b'*' => any_word,
            b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                any_word || self.may_start_name(line) || may_start(line)
            }
            // Perhaps white space.
            first => !first.is_ascii(),
        }
    }
}

/// The first three bytes of the markers and of the tokens of [`TURNS`], as bits of a hash.
static STARTS: [u64; 64] = starts();

#[allow(
    clippy::cast_possible_truncation,
    reason = "the upper bits of a 32-bit product"
)]
const fn place(first: u8, second: u8, third: u8) -> (usize, u64) {
    let bytes = u32::from_le_bytes([first, second, third, 0]);
    let hash = bytes.wrapping_mul(0x9E37_79B1) >> 20;
    ((hash / 64) as usize, 1 << (hash % 64))
}

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn starts() -> [u64; 64] {
    let mut table = [0; 64];
    let mut format = 0;
    while format < FORMATS.len() {
        let mut marker = 0;
        while marker < FORMATS[format].open.len() {
            add(&mut table, FORMATS[format].open[marker].as_bytes());
            marker += 1;
        }
        format += 1;
    }
    let mut turn = 0;
    while turn < TURNS.len() {
        add(&mut table, TURNS[turn].0.as_bytes());
        turn += 1;
    }
    table
}

/// Adds a word, and its beginnings for texts that end there.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn add(table: &mut [u64; 64], word: &[u8]) {
    let beginnings = [
        place(word[0], 0, 0),
        place(word[0], word[1], 0),
        place(word[0], word[1], word[2]),
    ];
    let mut length = 0;
    while length < beginnings.len() {
        let (at, bit) = beginnings[length];
        table[at] |= bit;
        length += 1;
    }
}

/// Whether a marker, or a token of [`TURNS`], may stand at the start of a text, by its first bytes.
pub(crate) fn may_start(text: &[u8]) -> bool {
    let byte = |at| text.get(at).copied().unwrap_or_default();
    let (at, bit) = place(byte(0), byte(1), byte(2));
    STARTS.get(at).is_some_and(|bits| bits & bit != 0)
}

/// Whether `text` is the beginning of a marker and could still become one.
pub(crate) fn may_become_marker(text: &str) -> bool {
    FORMATS
        .iter()
        .flat_map(|format| format.open)
        .any(|marker| beginning(text, marker) == Beginning::Part)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '.' | '-' | ':' | '/' | '\\')
        || !c.is_ascii() && c.is_alphanumeric()
}

/// The name at the end of a text.
pub(crate) fn name_before(text: &str) -> &str {
    let mut rest = text.chars();
    let mut start = text.len();
    for _ in 0..MAX_NAME {
        if !rest.next_back().is_some_and(is_name_char) {
            break;
        }
        start = rest.as_str().len();
    }
    text.get(start..).unwrap_or_default()
}

/// The length of the name at the start of a text; `None` while it may go on.
pub(crate) fn name_at(text: &str) -> Option<usize> {
    text.find(|c: char| !is_name_char(c))
}

/// Whether `text` is the beginning of one of the names, or one of them whole.
pub(crate) fn may_become_name<'n>(text: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    names.any(|name| name.starts_with(text))
}
