//! Looking at a text that may still grow.
//!
//! Whatever a reader decides on a beginning of a text, it would decide on the whole text: where the
//! answer depends on what has not arrived, it says [`Stop::More`].

use crate::paused::{Memo, Paused};
use crate::values::{Bare, PausedValue};

/// Why a reader stops without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// More text is needed.
    More,
    /// It is not there.
    Not,
}

/// A result, or why there is none.
pub(crate) type Look<T> = Result<T, Stop>;

/// How a text stands to a word that it may begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// It begins with the word.
    Whole,
    /// It is the beginning of the word.
    Part,
    Other,
}

/// How `text` stands to `word`. Most words are another from the second byte on, so bytes are
/// compared one by one.
#[inline]
pub(crate) fn beginning(text: &str, word: &str) -> Beginning {
    let mut text = text.bytes();
    for wanted in word.bytes() {
        match text.next() {
            Some(byte) if byte == wanted => {}
            Some(_) => return Beginning::Other,
            None => return Beginning::Part,
        }
    }
    Beginning::Whole
}

/// With which two bytes some words begin, in either case: for each first byte the second ones, as
/// bits of a hash.
#[derive(Debug)]
pub(crate) struct Beginnings([u64; 256]);

impl Beginnings {
    /// Of words of two bytes or more.
    #[allow(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, which finds an index out of bounds"
    )]
    pub(crate) const fn of(lists: &[&[&str]]) -> Self {
        let mut table = [0; 256];
        let mut list = 0;
        while list < lists.len() {
            let mut at = 0;
            while at < lists[list].len() {
                let word = lists[list][at].as_bytes();
                let second = Self::bit(word[1]) | Self::bit(word[1].to_ascii_uppercase());
                table[word[0] as usize] |= second;
                table[word[0].to_ascii_uppercase() as usize] |= second;
                at += 1;
            }
            list += 1;
        }
        Self(table)
    }

    const fn bit(byte: u8) -> u64 {
        1 << (byte % 64)
    }

    /// Whether one of the words, or of their beginnings, may stand at the start of a text.
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        let mut bytes = text.bytes();
        let Some(first) = bytes.next() else {
            return true;
        };
        let seconds = self.0.get(usize::from(first)).copied();
        seconds.unwrap_or_default() & bytes.next().map_or(u64::MAX, Self::bit) != 0
    }
}

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    /// Whether the text is whole.
    pub(crate) is_end: bool,
    pub(crate) memo: Option<&'t Memo>,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str, is_end: bool) -> Self {
        Self {
            text,
            at: 0,
            is_end,
            memo: None,
        }
    }

    /// The same for readers that are asked again.
    pub(crate) fn with_memo(self, memo: &'t Memo) -> Self {
        Self {
            memo: Some(memo),
            ..self
        }
    }

    /// The value that was read here when there was less text, as far as it was.
    pub(crate) fn resume(&self, bare: Bare) -> Option<PausedValue> {
        self.memo?.resume(self.at, bare)
    }

    /// Leaves word where a reader stopped.
    pub(crate) fn pause(&self, paused: impl FnOnce() -> Paused) {
        if let Some(memo) = self.memo {
            memo.pause(paused());
        }
    }

    /// Leaves word of what is open where a value ends or breaks off.
    pub(crate) fn leave_open(&self, starts: impl FnOnce() -> Vec<usize>) {
        if let Some(memo) = self.memo {
            memo.leave_open(starts);
        }
    }

    /// What follows.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What follows, as far as it tells whether something ends within `limit` bytes.
    pub(crate) fn window(&self, limit: usize) -> &'t str {
        let rest = self.rest();
        // The longest character takes four bytes.
        rest.get(..floor(rest, limit + 4)).unwrap_or(rest)
    }

    /// The text from `start` to here.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// More text is needed, unless there is none.
    pub(crate) fn more<T>(&self) -> Look<T> {
        Err(if self.is_end { Stop::Not } else { Stop::More })
    }

    /// The next character; [`Stop::Not`] at the end of the text.
    #[inline]
    pub(crate) fn peek(&self) -> Look<char> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Ok(char::from(*byte)),
            _ => self.rest().chars().next().map_or_else(|| self.more(), Ok),
        }
    }

    /// The character behind the next byte, which is ASCII; `\0` at the end of the text.
    pub(crate) fn char_behind(&self) -> Look<char> {
        let mut ahead = *self;
        ahead.at += 1;
        Ok(char::from(ahead.peek_or_end()?))
    }

    /// The next byte, 0 at the end of the text.
    #[inline]
    pub(crate) fn peek_or_end(&self) -> Look<u8> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => Ok(*byte),
            None if self.is_end => Ok(0),
            None => Err(Stop::More),
        }
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'!'..=b'~' => return,
                b' ' | b'\t'..=b'\r' => self.at += 1,
                byte if byte.is_ascii() => return,
                _ => {
                    let rest = self.rest();
                    let blank = rest.len() - rest.trim_start().len();
                    if blank == 0 {
                        return;
                    }
                    self.at += blank;
                }
            }
        }
    }

    /// Whether `word` comes next.
    pub(crate) fn sees(&self, word: &str) -> Look<bool> {
        match beginning(self.rest(), word) {
            Beginning::Whole => Ok(true),
            Beginning::Part if !self.is_end => Err(Stop::More),
            _ => Ok(false),
        }
    }

    /// Steps over `word` if it comes next.
    pub(crate) fn eat(&mut self, word: &str) -> Look<bool> {
        let sees = self.sees(word)?;
        if sees {
            self.at += word.len();
        }
        Ok(sees)
    }

    /// The longest of the words that comes next.
    pub(crate) fn sees_any(&self, words: &[&'static str]) -> Look<Option<&'static str>> {
        let mut best: Option<&'static str> = None;
        let third = self.rest().as_bytes().get(2).copied();
        // Most words differ here.
        let may_stand = |word: &str| match (third, word.as_bytes().get(2)) {
            (Some(here), Some(wanted)) => here == *wanted,
            _ => true,
        };
        for word in words.iter().filter(|word| may_stand(word)) {
            let sees = self.sees(word).inspect_err(|_| {
                if let Some(memo) = self.memo {
                    memo.await_marker(self.at, word);
                }
            })?;
            if sees && best.is_none_or(|known| known.len() < word.len()) {
                best = Some(word);
            }
        }
        Ok(best)
    }

    /// Steps over the longest of the words that comes next.
    pub(crate) fn eat_any(&mut self, words: &[&'static str]) -> Look<bool> {
        let found = self.sees_any(words)?;
        self.at += found.map_or(0, str::len);
        Ok(found.is_some())
    }

    /// Steps over `word`, which must come next.
    pub(crate) fn need(&mut self, word: &str) -> Look<()> {
        if self.eat(word)? {
            Ok(())
        } else {
            Err(Stop::Not)
        }
    }

    /// The text before the next `needle`, which must stand within `limit` bytes; steps over both.
    pub(crate) fn up_to(&mut self, needle: &str, limit: usize) -> Look<&'t str> {
        let rest = self.rest();
        let window = rest
            .get(..floor(rest, limit + needle.len()))
            .unwrap_or(rest);
        match window.find(needle) {
            Some(at) => {
                self.at += at + needle.len();
                Ok(rest.get(..at).unwrap_or_default())
            }
            None if window.len() < rest.len() || rest.len() > limit + needle.len() => {
                Err(Stop::Not)
            }
            None => self.more(),
        }
    }
}

/// The largest character boundary of `text` that is not behind `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
