//! Spellings of arguments that are not Python's: `f(a: 1)`, `f("a"=1)`, `f(a=“x”)`.

use super::word::{is_literal, is_plain_name};
use super::{Bare, Expect, Kind, Reader};
use crate::cursor::{Cursor, Look, Stop};

impl Reader<'_> {
    /// Where the value begins behind the sign that makes a keyword of the word or string before it:
    /// `=`, or a colon before a value that is no bare word, as the type of a parameter is one.
    pub(super) fn behind_sign(&self, mut ahead: Cursor<'_>) -> Look<Option<usize>> {
        if self.bare != Bare::Words || self.top() != Some(Kind::Call) {
            return Ok(None);
        }
        ahead.skip_space();
        let sign = ahead.peek_or_end()?;
        if !matches!(sign, b'=' | b':') {
            return Ok(None);
        }
        ahead.at += 1;
        let value = ahead.at;
        ahead.skip_space();
        let next = ahead.peek_or_end()?;
        let is_value = match sign {
            b'=' => next != b'=',
            _ if matches!(next, b'"' | b'\'' | b'[' | b'{' | b'-') => true,
            _ if next.is_ascii_digit() || ahead.rest().starts_with(['“', '‘']) => true,
            _ => {
                let rest = ahead.rest();
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
                match end {
                    None if !ahead.is_end => return ahead.more(),
                    end => is_literal(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()),
                }
            }
        };
        Ok(is_value.then_some(value))
    }

    /// A name before a colon: where it ends, and where its value begins.
    pub(super) fn name_before_colon(&self) -> Look<Option<(usize, usize)>> {
        if self.bare != Bare::Words || self.top() != Some(Kind::Call) {
            return Ok(None);
        }
        let length = self.run_of(|c| c.is_alphanumeric() || c == '_')?;
        let word = self.cursor.rest().get(..length).unwrap_or_default();
        let mut behind = self.cursor;
        behind.at += length;
        behind.skip_space();
        if !is_plain_name(word) || behind.peek_or_end()? != b':' {
            return Ok(None);
        }
        let value = self.behind_sign(behind)?;
        Ok(value.map(|value| (self.cursor.at + length, value)))
    }

    /// A string between typographic quotes: up to the closing one that the end of an item follows.
    pub(super) fn smart_string(&mut self, quote: char) -> Look<()> {
        self.smart(quote, b",)]}")?;
        self.ended();
        Ok(())
    }

    /// A key between typographic quotes.
    pub(super) fn smart_key(&mut self, quote: char) -> Look<()> {
        self.smart(quote, b":")?;
        self.expect = Expect::Colon;
        Ok(())
    }

    fn smart(&mut self, quote: char, ends: &[u8]) -> Look<()> {
        let closing = if quote == '“' { '”' } else { '’' };
        let start = self.cursor.at + quote.len_utf8();
        let mut ahead = Cursor {
            at: start,
            ..self.cursor
        };
        loop {
            let Some(length) = ahead.rest().find(closing) else {
                return self.cursor.more();
            };
            // `“a” | “b”`
            if ahead
                .rest()
                .get(..length)
                .is_some_and(|text| text.contains(quote))
            {
                return Err(Stop::Not);
            }
            let end = ahead.at + length;
            ahead.at = end + closing.len_utf8();
            let behind = ahead.at;
            ahead.skip_space();
            if ends.contains(&ahead.peek_or_end()?) {
                self.push(Kind::Text, start, end, start);
                self.cursor.at = behind;
                return Ok(());
            }
        }
    }
}
