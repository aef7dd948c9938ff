//! What follows a string in a call of Python: another string, which is joined to it, or the rest
//! of an expression, whose value nobody knows.

use super::word::string_prefix;
use crate::cursor::{Cursor, Look, Stop};

/// What a string in a call is, by what follows the quote that would end it in Python.
pub(super) enum Sequel {
    /// No Python: the quote is content.
    None,
    /// Part of an expression, or of what may be one.
    Operand,
    /// The first of several strings, the last of which ends here.
    Strings(usize),
}

/// Words and signs between the operands of an expression.
const WORDS: &[&str] = &["if", "or", "and", "in", "not", "is", "for"];
const SIGNS: &[&str] = &[
    "*", "/", "-", "|", "&", "^", "@", "<", ">", "//", "**", "<=", ">=", "<<", ">>",
];

/// What stands behind a quote of this kind.
pub(super) fn sequel(behind: Cursor<'_>, quote: u8) -> Look<Sequel> {
    let mut ahead = behind;
    ahead.skip_space();
    let is_direct = ahead.at == behind.at;
    let rest = ahead.window(8);
    let letters = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    if letters == rest.len() && letters < 8 && !ahead.is_end {
        return Err(Stop::More);
    }
    let (word, after) = rest.split_at(letters);
    if after.starts_with(['"', '\'']) && (word.is_empty() || string_prefix(word).is_some()) {
        return Ok(match strings(ahead)? {
            // Two quotes in a row may as well stand for one in the string.
            Some(_) if is_direct && after.as_bytes().first() == Some(&quote) => Sequel::Operand,
            Some(end) => Sequel::Strings(end),
            None => Sequel::None,
        });
    }
    let continues_word = |c: char| c.is_alphanumeric() || c == '_';
    if WORDS.contains(&word) && !after.starts_with(continues_word) {
        return Ok(Sequel::Operand);
    }
    if !word.is_empty() {
        return Ok(Sequel::None);
    }
    if is_direct && after.starts_with('[') || ahead.sees("==")? || ahead.sees("!=")? {
        return Ok(Sequel::Operand);
    }
    if is_direct && after.starts_with('.') {
        return is_method(ahead).map(|is| if is { Sequel::Operand } else { Sequel::None });
    }
    let length = after
        .find(|c: char| !"*/-|&^@<>=".contains(c))
        .unwrap_or(after.len());
    if length == after.len() && length < 8 && !ahead.is_end {
        return Err(Stop::More);
    }
    let (sign, operand) = after.split_at(length);
    let is_sign = SIGNS.contains(&sign) && operand.starts_with([' ', '"', '\'']);
    Ok(if is_sign {
        Sequel::Operand
    } else {
        Sequel::None
    })
}

/// Whether a method is called: `.upper(`.
fn is_method(mut cursor: Cursor<'_>) -> Look<bool> {
    const MAX_NAME: usize = 64;
    cursor.at += 1;
    let rest = cursor.window(MAX_NAME);
    match rest.find(|c: char| !(c.is_alphanumeric() || c == '_')) {
        Some(end) => Ok(end > 0 && rest.get(end..).is_some_and(|rest| rest.starts_with('('))),
        None if rest.len() <= MAX_NAME && !cursor.is_end => Err(Stop::More),
        None => Ok(false),
    }
}

/// Where strings in a row end behind which an argument ends; `None` if it does not.
fn strings(mut cursor: Cursor<'_>) -> Look<Option<usize>> {
    loop {
        let Some(end) = string_end(cursor.rest()) else {
            return if cursor.is_end || is_broken(cursor.rest()) {
                Ok(None)
            } else {
                Err(Stop::More)
            };
        };
        cursor.at += end;
        let end = cursor.at;
        cursor.skip_space();
        match cursor.peek_or_end()? {
            b',' | b')' | b']' | b'}' | b'#' => return Ok(Some(end)),
            b'"' | b'\'' => {}
            _ => return Ok(None),
        }
    }
}

/// Where the string at the start of a text ends, its prefix counted; `None` if it does not end on
/// its line, or holds expressions.
pub(crate) fn string_end(text: &str) -> Option<usize> {
    let prefix = text.find(['"', '\''])?;
    let is_format = string_prefix(text.get(..prefix)?)?;
    let bytes = text.as_bytes();
    let quote = *bytes.get(prefix)?;
    let mut at = prefix + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 1,
            b'\n' => return None,
            b'{' if is_format => return None,
            byte if byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

/// Whether a text that begins with a string and does not end it never will.
fn is_broken(text: &str) -> bool {
    text.contains('\n') || text.starts_with(['f', 'F']) && text.contains('{')
}
