//! One pass over a text that finds every secret in it.

use std::cell::Cell;
use std::ops::Range;

use super::keys::{Place, is_secret, takes_line};
use super::pairs::{self, Binding, Bound, Found, Text};
use super::tables::{SECRET_ADDRESSES, is_word};
use super::{MARK, shapes};

/// Least length of a user name in a URL that must be a token, because no password is beside it.
const TOKEN_AS_USER: usize = 16;

/// A part of the text that is replaced.
#[derive(Clone, Debug)]
struct Cut {
    range: Range<usize>,
    /// What stands on both sides of the mark.
    quote: String,
}

/// The text without secrets; none if there are none. `found` hears every secret that stood under a
/// key.
pub(super) fn redact(
    text: &str,
    own_keys: &[String],
    found: &mut dyn FnMut(&str),
) -> Option<String> {
    let tag = Cell::new(0);
    let mut scanner = Scanner {
        text: Text::new(text, &tag),
        own_keys,
        cuts: Vec::new(),
        before: 0..0,
        diagnosis_end: 0,
        last_at: 0..0,
        found,
    };
    scanner.run();
    let cuts = scanner.cuts;
    if cuts.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for Cut { range, quote } in cuts {
        out.push_str(text.get(kept..range.start).unwrap_or_default());
        out.push_str(&quote);
        out.push_str(MARK);
        out.push_str(&quote);
        kept = range.end;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Some(out)
}

struct Scanner<'t, 'f> {
    text: Text<'t>,
    own_keys: &'t [String],
    cuts: Vec<Cut>,
    /// The word before the present one.
    before: Range<usize>,
    /// Up to where quotations belong to a diagnosis about a secret.
    diagnosis_end: usize,
    /// The stretch without white space that was searched for its last `@`, and that place.
    last_at: Range<usize>,
    found: &'f mut dyn FnMut(&str),
}

impl Scanner<'_, '_> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(byte) = self.text.byte(at) {
            at = if is_word(byte) {
                self.word(at)
            } else if self.text.starts_with(at, "://") {
                self.address(at + 3)
            } else if at < self.diagnosis_end {
                self.quotation(at)
            } else {
                at + 1
            };
        }
    }

    fn cut(&mut self, range: Range<usize>, quote: String) -> usize {
        let end = range.end;
        self.cuts.push(Cut { range, quote });
        end
    }

    /// What begins with this word; where to go on.
    fn word(&mut self, at: usize) -> usize {
        let word = at..self.text.skip(at, is_word);
        let starts = self.starts(at);
        let text = self.text.text;
        if let Some(key) = shapes::private_key(text, &word)
            .or_else(|| shapes::in_word(text, word.clone(), &starts))
            .or_else(|| shapes::after_scheme(text, &word))
        {
            return self.cut(key, String::new());
        }
        let next = self.pair(&word, &starts);
        self.before = word.clone();
        next.unwrap_or(word.end)
    }

    /// Where the word may begin when an escape stands before it: `\nsecret`, `\u0020secret`,
    /// `%20secret`.
    fn starts(&self, at: usize) -> [usize; 2] {
        let before = at.checked_sub(1).and_then(|before| self.text.byte(before));
        match (before, self.text.byte(at)) {
            (Some(b'\\'), Some(b'u')) => [at + 5, at + 1],
            (Some(b'\\'), _) => [at + 1, at],
            (Some(b'%'), _) => [at + 2, at],
            _ => [at, at],
        }
    }

    /// The value that the word is the key of; where to go on.
    fn pair(&mut self, word: &Range<usize>, starts: &[usize; 2]) -> Option<usize> {
        let bound = pairs::bound(self.text, word)?;
        let key = self.key(word, starts, bound)?;
        let found = pairs::value(self.text, bound, takes_line(key))?;
        match found {
            Found::Plain { start, end } => {
                self.keep(start..end);
                Some(self.cut(start..end, String::new()))
            }
            Found::Unquoted { start, end } => {
                self.keep(start..end);
                let quote = pairs::quote_of(self.text, bound, word.end);
                Some(self.cut(start..end, quote))
            }
            Found::Diagnosis { at } => {
                if at >= self.diagnosis_end {
                    self.diagnosis_end = pairs::diagnosis_end(self.text, at);
                }
                None
            }
        }
    }

    fn keep(&mut self, range: Range<usize>) {
        (self.found)(self.text.slice(range));
    }

    /// The word as a secret's key, if it is one: alone, or with the word before it (`api key:`).
    fn key(&self, word: &Range<usize>, starts: &[usize; 2], bound: Bound) -> Option<&str> {
        let before = word.start.checked_sub(1).and_then(|at| self.text.byte(at));
        let place = match bound.binding {
            Binding::Equals if matches!(before, Some(b'?' | b'&' | b'#')) => Place::Query,
            Binding::Colon { quoted: false } => Place::Prose,
            _ => Place::Key,
        };
        let alone = self.text.slice(word.clone());
        if self.before.end + 1 == word.start && before == Some(b' ') {
            let phrase = self.text.slice(self.before.start..word.end);
            return is_secret(phrase, place, self.own_keys).then_some(alone);
        }
        let from = |start: &usize| self.text.slice(*start..word.end);
        std::iter::once(alone)
            .chain(starts.iter().map(from))
            .find(|key| is_secret(key, place, self.own_keys))
    }

    /// What a diagnosis about a secret quotes; where to go on.
    fn quotation(&mut self, at: usize) -> usize {
        match pairs::quotation(self.text, at) {
            None => self.text.skip(at + 1, |byte| byte == b'\\'),
            Some((None, next)) => {
                self.diagnosis_end = self.diagnosis_end.min(next);
                next
            }
            Some((Some(secret), next)) => {
                self.keep(secret.clone());
                self.cut(secret, String::new());
                next
            }
        }
    }

    /// The secrets of an address after `://`: user and password, or a path that is the secret.
    fn address(&mut self, at: usize) -> usize {
        for address in SECRET_ADDRESSES {
            if self.text.starts_with(at, address) {
                let start = at + address.len();
                let end = self.text.skip(start, is_address);
                if end > start {
                    return self.cut(start..end, String::new());
                }
            }
        }
        self.user(at)
            .map_or(at, |user| self.cut(user, String::new()))
    }

    /// The user part of an address, if it holds a secret.
    fn user(&mut self, at: usize) -> Option<Range<usize>> {
        let authority_end = self.text.skip(at, |byte| {
            is_address(byte) && !matches!(byte, b'/' | b'?' | b'#')
        });
        let authority = self.text.slice(at..authority_end);
        if let Some(length) = authority.rfind('@') {
            let user = self.text.slice(at..at + length);
            let secret = user.contains(':') || length >= TOKEN_AS_USER;
            return (secret && user != MARK).then_some(at..at + length);
        }
        // A password with a slash in it: what looks like a port is none, and an `@` follows.
        let (_, port) = authority.split_once(':')?;
        if port.bytes().all(|byte| byte.is_ascii_digit()) || port.contains(']') {
            return None;
        }
        let end = self.last_at_sign(authority_end)?;
        Some(at..end)
    }

    /// The last `@` of the stretch without white space around a place, if it is behind it.
    fn last_at_sign(&mut self, at: usize) -> Option<usize> {
        if at >= self.last_at.end {
            let end = self.text.skip(at, is_address);
            let sign = self.text.slice(at..end).rfind('@');
            self.last_at = sign.map_or(at, |sign| at + sign)..end.max(at + 1);
        }
        let sign = self.last_at.start;
        (sign > at && self.text.byte(sign) == Some(b'@')).then_some(sign)
    }
}

/// Whether a byte can stand in an address that is part of a text.
fn is_address(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}
