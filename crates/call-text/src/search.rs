//! The search for places where something may begin: one pass over blocks of 64 bytes.

use crate::trigger::{may_end_name, may_start, name_before, starts_with};

/// The second byte of `◁`, the only token that begins with a character outside ASCII.
const TOKEN_BYTE: u8 = 0x97;
const TOKEN: &[u8] = "◁".as_bytes();

const BLOCK: usize = 64;

/// What a byte means in the middle of a line, as bits.
static CLASSES: [u8; 256] = classes();
/// Something may begin with it.
const BEGINS: u8 = 1;
/// The same where calls are expected, behind a name.
const PARENTHESIS: u8 = 2;
/// It may be part of a name.
const NAME: u8 = 4;
/// It is part of a character outside ASCII.
const NOT_ASCII: u8 = 8;
/// It ends a line.
const LINE_END: u8 = 16;

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

#[allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'<' | b'[' | b']' | b'{' | b'`' => BEGINS,
            b'(' => PARENTHESIS,
            b'\n' => LINE_END,
            TOKEN_BYTE => BEGINS | NOT_ASCII,
            byte if !byte.is_ascii() => NOT_ASCII,
            byte if may_end_name(Some(&byte)) => NAME,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

/// Where a piece of text begins or ends on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Behind nothing but blanks.
    LineStart,
    InLine,
}

/// A short piece of text in which nothing can begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calm {
    classes: u8,
    /// Whether a line begins in it.
    pub(crate) has_line: bool,
    pub(crate) end: Place,
}

impl Calm {
    /// Where the last word of the piece begins; `None` if the piece does not begin one.
    pub(crate) fn word(self, piece: &str) -> Option<usize> {
        let start = if self.classes & NOT_ASCII == 0 {
            let last = piece.bytes().rposition(|byte| class(byte) & NAME == 0);
            last.map_or(0, |at| at + 1)
        } else {
            piece.len() - name_before(piece).len()
        };
        (start > 0).then_some(start)
    }
}

/// The search for places where something may begin.
#[derive(Debug)]
pub(crate) struct Search {
    starts: LineStarts,
    expected: bool,
    /// Where the last block begins that was looked at, and its bytes that may matter as bits.
    block: usize,
    bits: u64,
    /// The first bracket that the last search came by.
    bracket: usize,
}

impl Search {
    /// A search in texts where these names may stand at starts of lines. `expected`: also for what
    /// only matters where calls are expected.
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>, expected: bool) -> Self {
        Self {
            starts: LineStarts::new(names),
            expected,
            block: usize::MAX,
            bits: 0,
            bracket: usize::MAX,
        }
    }

    /// Whether the last search came by a bracket before this place.
    pub(crate) fn saw_bracket(&self, before: usize) -> bool {
        self.bracket < before
    }

    /// Forgets a text.
    pub(crate) fn restart(&mut self) {
        self.block = usize::MAX;
    }

    /// Whether one of the names may stand at the start of a text.
    pub(crate) fn may_start_name(&self, text: &str) -> bool {
        self.starts.may_start_name(text.as_bytes())
    }

    /// Whether a line may matter that begins like this. `any_word`: all words do.
    pub(crate) fn may_start_line(&self, line: &str, any_word: bool) -> bool {
        self.starts.matter(line.as_bytes(), any_word)
    }

    /// Looks over a piece that begins at this place behind a text; `None` where something may begin
    /// or end in it, or it is not short: then it is searched faster.
    #[inline]
    pub(crate) fn look_over(
        &self,
        piece: &str,
        before: &str,
        place: Place,
        any_word: bool,
    ) -> Option<Calm> {
        if piece.len() > BLOCK {
            return None;
        }
        let classes = piece.bytes().fold(0, |classes, byte| classes | class(byte));
        let may_begin = classes & BEGINS != 0
            || self.expected && classes & PARENTHESIS != 0 && calls(before, piece);
        if may_begin {
            return None;
        }
        let has_line = place == Place::LineStart || classes & LINE_END != 0;
        let end = if has_line {
            self.pass_lines(piece, place, any_word)?
        } else {
            place
        };
        Some(Calm {
            classes,
            has_line,
            end,
        })
    }

    /// Where a piece ends that begins at this place; `None` if one of the lines that begin in it may
    /// matter.
    fn pass_lines(&self, piece: &str, mut place: Place, any_word: bool) -> Option<Place> {
        for byte in piece.bytes() {
            match byte {
                b'\n' => place = Place::LineStart,
                b' ' | b'\t' | b'\r' => {}
                byte if place == Place::LineStart => {
                    if self.starts.may_matter(byte, any_word) {
                        return None;
                    }
                    place = Place::InLine;
                }
                _ => {}
            }
        }
        Some(place)
    }

    /// The first place from `from` on where something may begin; a line begins behind its blanks.
    /// What may follow behind the end of the text counts too.
    pub(crate) fn next(&mut self, bytes: &[u8], from: usize, any_word: bool) -> Option<usize> {
        self.bracket = usize::MAX;
        let mut at = from;
        while at < bytes.len() {
            let block = at - at % BLOCK;
            if self.block != block {
                self.block = block;
                self.bits = bits(bytes.get(block..).unwrap_or_default(), self.expected);
            }
            let mut bits = self.bits & u64::MAX << (at - block);
            while bits != 0 {
                let hit = block + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if let Some(found) = self.place(bytes, hit, any_word) {
                    return Some(found.max(from));
                }
                if matches!(bytes.get(hit), Some(b'[' | b'{')) {
                    self.bracket = self.bracket.min(hit);
                }
            }
            at = block + BLOCK;
        }
        // More may follow the first half of `]<`.
        let last = bytes.len().checked_sub(1)?;
        (last >= from && bytes.get(last) == Some(&b']')).then_some(last)
    }

    /// Where that begins to which a byte belongs, if it matters.
    fn place(&self, bytes: &[u8], at: usize, any_word: bool) -> Option<usize> {
        if bytes.get(at) != Some(&b'\n') {
            return trigger_at(bytes, at, self.expected);
        }
        // Most lines are done with here.
        if !self.starts.may_matter(*bytes.get(at + 1)?, any_word) {
            return None;
        }
        let mut line = bytes.get(at + 1..)?;
        while let [b' ' | b'\t' | b'\r', rest @ ..] = line {
            line = rest;
        }
        (self.starts.matter(line, any_word)).then_some(bytes.len() - line.len())
    }
}

/// Whether a parenthesis stands behind a name in a piece of text.
fn calls(before: &str, piece: &str) -> bool {
    let mut last = before.as_bytes().last();
    piece.as_bytes().iter().any(|byte| {
        let last = last.replace(byte);
        *byte == b'(' && may_end_name(last)
    })
}

/// Which of the first 64 bytes may matter, as bits.
fn bits(bytes: &[u8], expected: bool) -> u64 {
    // With this bit the brackets are one.
    let is_bracket = |byte: u8| byte | 0x20 == b'{';
    let matters = |byte: u8| is_bracket(byte) | matches!(byte, b'<' | b'`' | b'\n' | TOKEN_BYTE);
    let matters_more = |byte: u8| matters(byte) | matches!(byte, b'(');
    match (bytes.first_chunk(), expected) {
        (Some(block), false) => bits_where(block, matters),
        (Some(block), true) => bits_where(block, matters_more),
        (None, _) => bytes.iter().enumerate().fold(0, |bits, (at, byte)| {
            bits | u64::from(matters(*byte) || expected && *byte == b'(') << at
        }),
    }
}

fn bits_where(block: &[u8; BLOCK], is_hit: impl Fn(u8) -> bool) -> u64 {
    // Loops of this form the compiler makes comparisons of many bytes at once.
    let mut hits = [0_u8; BLOCK];
    for ((hit, byte), bit) in hits.iter_mut().zip(block).zip(&BITS) {
        *hit = if is_hit(*byte) { *bit } else { 0 };
    }
    let rows = hits.as_chunks().0.iter();
    let columns = rows.fold(0, |columns, row| columns | u64::from_le_bytes(*row));
    if columns == 0 { 0 } else { transposed(columns) }
}

/// The bit of a byte in a block: that of its row of eight.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
static BITS: [u8; BLOCK] = {
    let mut bits = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        bits[at] = 1 << (at / 8);
        at += 1;
    }
    bits
};

/// Eight rows of eight bits as columns: bit 8 x + y of the result is bit 8 y + x.
fn transposed(bits: u64) -> u64 {
    let steps = [
        (7, 0x00AA_00AA_00AA_00AA),
        (14, 0x0000_CCCC_0000_CCCC),
        (28, 0x0000_0000_F0F0_F0F0),
    ];
    steps.into_iter().fold(bits, |bits, (distance, mask)| {
        let differ = (bits ^ (bits >> distance)) & mask;
        bits ^ differ ^ (differ << distance)
    })
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
        // No marker begins with a brace.
        b'{' => expected,
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

/// With which bytes lines may begin that matter.
#[derive(Debug)]
struct LineStarts {
    /// By the first byte, as bits.
    first: [u8; 256],
    /// The first two bytes of the names, as bits of a hash.
    names: [u64; 16],
}

/// The line matters.
const ALWAYS: u8 = 1;
/// It matters where any word does.
const WORD: u8 = 2;
/// More of its bytes tell.
const PERHAPS: u8 = 4;
/// What stands behind the blank tells.
const BLANK: u8 = 8;

impl LineStarts {
    /// Of the markers, and of these names.
    fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut starts = Self {
            first: [0; 256],
            names: [0; 16],
        };
        for byte in 0..=u8::MAX {
            let class = match byte {
                // The last ones perhaps begin white space.
                b'{' | b'[' | b'>' | b'~' | 0xC2 | 0xE1..=0xE3 => ALWAYS,
                b'#' | b'*' => WORD,
                b' ' | b'\t' | b'\r' => BLANK,
                _ if byte == b'_' || byte.is_ascii_alphanumeric() => {
                    WORD | if starts_with(byte) { PERHAPS } else { 0 }
                }
                _ => 0,
            };
            starts.set(byte, class);
        }
        for name in names {
            match *name.as_bytes() {
                [first, second, ..] => starts.add(first, second),
                [first] => (0..=u8::MAX).for_each(|second| starts.add(first, second)),
                [] => {}
            }
        }
        starts
    }

    fn set(&mut self, byte: u8, class: u8) {
        if let Some(known) = self.first.get_mut(usize::from(byte)) {
            *known |= class;
        }
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        let hash = usize::from(first) * 37 + usize::from(second);
        (hash / 64 % 16, 1 << (hash % 64))
    }

    fn add(&mut self, first: u8, second: u8) {
        if first == b'_' || first.is_ascii_alphanumeric() {
            self.set(first, PERHAPS);
        }
        let (word, bit) = Self::place(first, second);
        if let Some(bits) = self.names.get_mut(word) {
            *bits |= bit;
        }
    }

    /// Whether one of the names may stand at the start of a text, by its first bytes.
    fn may_start_name(&self, text: &[u8]) -> bool {
        let [first, second, ..] = text else {
            return true;
        };
        let (word, bit) = Self::place(*first, *second);
        self.names.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn class(&self, first: u8) -> u8 {
        let class = self.first.get(usize::from(first));
        class.copied().unwrap_or_default()
    }

    /// Whether a line may matter that begins with this byte.
    fn may_matter(&self, first: u8, any_word: bool) -> bool {
        let word = if any_word { WORD } else { 0 };
        self.class(first) & (ALWAYS | PERHAPS | BLANK | word) != 0
    }

    /// Whether a line that begins with these bytes, blanks aside, may matter. `any_word`: all words
    /// do.
    fn matter(&self, line: &[u8], any_word: bool) -> bool {
        let Some(first) = line.first() else {
            return false;
        };
        let class = self.class(*first);
        class & ALWAYS != 0
            || any_word && class & WORD != 0
            || class & PERHAPS != 0 && (self.may_start_name(line) || may_start(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::indexing_slicing, reason = "a test")]
    fn each_byte_of_a_block_has_its_bit() {
        for at in 0..BLOCK {
            let mut block = [b'.'; BLOCK];
            block[at] = b'<';
            assert_eq!(bits(&block, false), 1 << at);
            assert_eq!(bits(&block[..at], true), 0);
            assert_eq!(bits(&block[..=at], true), 1 << at);
        }
    }
}
