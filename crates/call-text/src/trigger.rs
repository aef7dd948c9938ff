//! Where a call may begin: single bytes, starts of lines, markers, names.

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
    let opening = opening(expected);
    let mut at = from;
    for block in bytes.get(from..)?.chunks(BLOCK) {
        // Without a branch for each byte: the compiler makes vector instructions of it.
        let mut hits = 0_u8;
        for byte in block {
            hits |= u8::from(may_be_trigger(*byte, opening));
        }
        if hits != 0
            && let Some(found) =
                (at..at + block.len()).find_map(|at| trigger_at(bytes, at, expected))
        {
            return Some(found);
        }
        at += block.len();
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
        b'[' | b'{' => expected || next.is_none_or(|next| starts_with(byte, *next)),
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

    /// Whether a line that begins with these bytes, blanks aside, may matter. `any_word`: all words
    /// do.
    pub(crate) fn matter(&self, line: &[u8], any_word: bool) -> bool {
        let [first, rest @ ..] = line else {
            return false;
        };
        match first {
            b'\n' => false,
            b'{' | b'[' | b'>' | b'~' => true,
            b'#' => any_word,
            b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                any_word
                    || rest.first().is_none_or(|second| {
                        let (word, bit) = Self::place(*first, *second);
                        self.0.get(word).is_some_and(|bits| bits & bit != 0)
                            || starts_with(*first, *second)
                    })
            }
            // Perhaps white space.
            first => !first.is_ascii(),
        }
    }
}

/// For each byte, the bytes that follow it at the start of a marker or of a token of [`TURNS`], as
/// bits.
static STARTS: [[u64; 4]; 256] = starts();

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn starts() -> [[u64; 4]; 256] {
    let mut table = [[0; 4]; 256];
    let mut format = 0;
    while format < FORMATS.len() {
        let mut marker = 0;
        while marker < FORMATS[format].open.len() {
            let word = FORMATS[format].open[marker].as_bytes();
            table[word[0] as usize][(word[1] / 64) as usize] |= 1 << (word[1] % 64);
            marker += 1;
        }
        format += 1;
    }
    let mut turn = 0;
    while turn < TURNS.len() {
        let word = TURNS[turn].0.as_bytes();
        table[word[0] as usize][(word[1] / 64) as usize] |= 1 << (word[1] % 64);
        turn += 1;
    }
    table
}

/// Whether a marker, or a token of [`TURNS`], may stand at the start of `text`, by its first two
/// bytes.
pub(crate) fn may_start(text: &str) -> bool {
    match text.as_bytes() {
        [first, second, ..] => starts_with(*first, *second),
        _ => true,
    }
}

fn starts_with(first: u8, second: u8) -> bool {
    STARTS
        .get(usize::from(first))
        .and_then(|seconds| seconds.get(usize::from(second / 64)))
        .is_some_and(|bits| bits & (1 << (second % 64)) != 0)
}

/// Whether `text` is the beginning of a marker and could still become one.
pub(crate) fn may_become_marker(text: &str) -> bool {
    FORMATS
        .iter()
        .flat_map(|format| format.open)
        .any(|marker| marker.len() > text.len() && marker.starts_with(text))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/' | '\\')
}

/// The name at the end of a text.
pub(crate) fn name_before(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take(MAX_NAME)
        .take_while(|(_, c)| is_name_char(*c))
        .last()
        .map_or(text.len(), |(at, _)| at);
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
