//! With what a call may begin: markers and names.

use crate::cursor::{Beginning, beginning};
use crate::format::{FORMATS, Format};
use crate::tools::MAX_NAME;
use crate::turns::TURNS;

/// Whether a byte may be the last of a name.
pub(crate) const fn may_end_name(byte: Option<&u8>) -> bool {
    match byte {
        Some(byte) => {
            !byte.is_ascii()
                || byte.is_ascii_alphanumeric()
                || matches!(*byte, b'_' | b'.' | b'-' | b':' | b'/' | b'\\')
        }
        None => false,
    }
}

/// Which formats may begin, by the first three bytes of their markers: a hash, and a bit for each
/// format. The highest bit stands for the tokens of [`TURNS`].
static STARTS: [u64; 1024] = starts();
const TURN: u64 = 1 << 63;

const fn place(first: u8, second: u8, third: u8) -> usize {
    let bytes = u32::from_le_bytes([first, second, third, 0]);
    (bytes.wrapping_mul(0x9E37_79B1) >> 22) as usize
}

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn starts() -> [u64; 1024] {
    assert!(FORMATS.len() < 63, "a bit for each format");
    let mut table = [0; 1024];
    let mut format = 0;
    while format < FORMATS.len() {
        let mut marker = 0;
        while marker < FORMATS[format].open.len() {
            let word = FORMATS[format].open[marker].as_bytes();
            add(&mut table, word, 1 << format);
            marker += 1;
        }
        format += 1;
    }
    let mut turn = 0;
    while turn < TURNS.len() {
        add(&mut table, TURNS[turn].0.as_bytes(), TURN);
        turn += 1;
    }
    table
}

/// Adds a word, and its beginnings for texts that end there.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn add(table: &mut [u64; 1024], word: &[u8], bit: u64) {
    table[place(word[0], 0, 0)] |= bit;
    table[place(word[0], word[1], 0)] |= bit;
    table[place(word[0], word[1], word[2])] |= bit;
}

/// With which bytes markers and tokens begin.
static FIRST: [bool; 256] = first_bytes();

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn first_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut format = 0;
    while format < FORMATS.len() {
        let mut marker = 0;
        while marker < FORMATS[format].open.len() {
            table[FORMATS[format].open[marker].as_bytes()[0] as usize] = true;
            marker += 1;
        }
        format += 1;
    }
    let mut turn = 0;
    while turn < TURNS.len() {
        table[TURNS[turn].0.as_bytes()[0] as usize] = true;
        turn += 1;
    }
    table
}

/// Whether a marker, or a token of [`TURNS`], begins with a byte.
pub(crate) fn starts_with(byte: u8) -> bool {
    FIRST.get(usize::from(byte)) == Some(&true)
}

fn starts_of(text: &[u8]) -> u64 {
    let byte = |at| text.get(at).copied().unwrap_or_default();
    let at = place(byte(0), byte(1), byte(2));
    STARTS.get(at).copied().unwrap_or_default()
}

/// Whether a marker, or a token of [`TURNS`], may stand at the start of a text, by its first bytes.
pub(crate) fn may_start(text: &[u8]) -> bool {
    starts_of(text) != 0
}

/// The formats with a marker that may stand at the start of a text, by its first bytes.
pub(crate) fn formats_at(text: &str) -> impl Iterator<Item = &'static Format> {
    let mut bits = starts_of(text.as_bytes()) & !TURN;
    std::iter::from_fn(move || {
        let format = FORMATS.get(bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(format)
    })
}

/// Whether `text` is the beginning of a marker and could still become one.
pub(crate) fn may_become_marker(text: &str) -> bool {
    formats_at(text)
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
    let bytes = text.as_bytes().iter().rev().take(MAX_NAME);
    let ascii = bytes.take_while(|byte| byte.is_ascii() && may_end_name(Some(byte)));
    let start = text.len() - ascii.count();
    let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    if before.is_none_or(u8::is_ascii) {
        return text.get(start..).unwrap_or_default();
    }
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
