//! Where a call may begin: single bytes, starts of lines, markers, names.

use crate::cursor::{Beginning, beginning};
use crate::format::FORMATS;
use crate::tools::MAX_NAME;
use crate::turns::TURNS;

/// The second byte of `◁`, the only token that begins with a character outside ASCII.
const TOKEN_BYTE: u8 = 0x97;
const TOKEN: &[u8] = "◁".as_bytes();

/// Whether something may begin with a byte in the middle of a line. Among others, these have
/// bits in common: `[`, `]`, `{` (and `\\`, `^`, `_`, `|`, `}`, `~`, DEL, which begin nothing).
fn may_be_trigger(byte: u8, opening: u8) -> bool {
    let is_bracket = (byte & 0b1101_1111).cast_signed() > b'Z'.cast_signed();
    is_bracket | (byte == b'<') | (byte == b'`') | (byte == TOKEN_BYTE) | (byte == opening)
}

/// The byte before a name's arguments, where calls are expected.
fn opening(expected: bool) -> u8 {
    if expected { b'(' } else { b'<' }
}

/// Whether nothing can begin or end in a piece of a line.
pub(crate) fn is_calm(piece: &str, expected: bool) -> bool {
    let opening = opening(expected);
    !piece
        .bytes()
        .any(|byte| may_be_trigger(byte, opening) || byte == b'\n')
}

/// The first place, from `from` on, where something may begin in the middle of a line. What may
/// follow behind the end of the text counts too.
pub(crate) fn find(bytes: &[u8], from: usize, expected: bool) -> Option<usize> {
    const BLOCK: usize = 64;
    const PART: usize = 16;
    let opening = opening(expected);
    // Without a branch for each byte: the compiler makes vector instructions of it.
    let hits = |block: &[u8]| {
        let mut hits = 0_u8;
        for byte in block {
            hits |= u8::from(may_be_trigger(*byte, opening));
        }
        hits != 0
    };
    let mut start = from;
    for block in bytes.get(from..)?.chunks(BLOCK) {
        let mut at = start;
        start += block.len();
        if !hits(block) {
            continue;
        }
        for part in block.chunks(PART) {
            if hits(part) {
                let found = (at..at + part.len()).find_map(|at| trigger_at(bytes, at, expected));
                if found.is_some() {
                    return found;
                }
            }
            at += part.len();
        }
    }
    None
}

/// Where the trigger begins to which a byte belongs.
fn trigger_at(bytes: &[u8], at: usize, expected: bool) -> Option<usize> {
    let byte = *bytes.get(at)?;
    if !may_be_trigger(byte, opening(expected)) {
        return None;
    }
    let next = bytes.get(at + 1);
    let is_trigger = match byte {
        b'`' => true,
        b'<' => next.is_none_or(|next| {
            next.is_ascii_alphanumeric()
                || !next.is_ascii()
                || matches!(next, b'/' | b'|' | b'!' | b'_')
        }),
        b']' => next.is_none_or(|next| *next == b'<'),
        b'[' | b'{' => expected || may_start(bytes.get(at..)?),
        b'(' => {
            expected
                && at
                    .checked_sub(1)
                    .is_some_and(|before| may_end_name(bytes.get(before)))
        }
        TOKEN_BYTE => {
            let start = at.checked_sub(1)?;
            return bytes.get(start..)?.starts_with(TOKEN).then_some(start);
        }
        _ => false,
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
            b'#' => any_word,
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
