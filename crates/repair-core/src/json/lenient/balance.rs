//! Whether the quotes inside a string's content are balanced.
//!
//! In code a literal ends on its line: an odd number of quotes since the last line break says that
//! one is open, so the next quote closes it and does not end the string around it.

use crate::json::scan;

/// The quotes of a string's content so far, read as code: escapes undone, a quote behind a
/// backslash and the character literal `'"'` not counted. A quote that looks like an opening or
/// a closing one is taken for it, so that a count which went wrong comes right again.
#[derive(Debug, Default)]
pub(super) struct Balance {
    is_odd: bool,
    /// Behind an escaped backslash that no other one escapes.
    backslash_end: Option<usize>,
    /// Brackets are counted, which takes longer than all the rest.
    counts_brackets: bool,
    /// Up to here they are.
    counted: usize,
    /// Up to here the content was read.
    read: usize,
    /// The brackets that are open outside literals.
    open: Vec<Bracket>,
    /// The last literal stands behind a colon.
    is_named: bool,
}

/// An open bracket of code.
#[derive(Debug)]
struct Bracket {
    closer: char,
    /// It holds keys, or literals by name.
    has_names: bool,
}

impl Balance {
    /// That of a string whose content starts at `content`.
    pub(super) fn new(content: usize) -> Self {
        Self {
            counted: content,
            read: content,
            ..Self::default()
        }
    }

    /// The same with its brackets.
    pub(super) fn with_brackets(content: usize) -> Self {
        Self {
            counts_brackets: true,
            ..Self::new(content)
        }
    }

    /// Whether a quote here closes a literal that is a member of an object inside the content, so
    /// that a key behind it is one of that object.
    pub(super) fn is_in_object(&self) -> bool {
        self.is_odd && self.open.last().is_some_and(|open| open.has_names)
    }

    /// What closes the innermost open bracket, if a quote here closes a literal inside it, and how many
    /// are open.
    pub(super) fn missing_closer(&self) -> Option<(char, usize)> {
        let innermost = self.open.last().filter(|_| self.is_odd)?;
        Some((innermost.closer, self.open.len()))
    }

    /// Whether a quote here closes a literal that a name and a colon stand before, so that a key
    /// behind it may be the next name.
    pub(super) fn is_in_member(&self) -> bool {
        self.is_odd && self.is_named
    }

    /// Whether a brace is open before the first quote, which stands at `quote`.
    pub(super) fn is_in_braces(&self, text: &str, quote: usize) -> bool {
        let before = text.get(self.counted..quote).unwrap_or_default();
        before.matches('{').count() > before.matches('}').count()
    }

    /// Whether a literal is open.
    pub(super) fn is_odd(&self) -> bool {
        self.is_odd
    }

    /// Reads the content up to `to`; no raw quote stands before that.
    pub(super) fn read(&mut self, text: &str, to: usize) {
        let bytes = text.as_bytes().get(..to).unwrap_or_default();
        loop {
            // A line break ends an open literal and means nothing else.
            let stop = if self.is_odd {
                scan::string_stop(bytes, self.read)
            } else {
                scan::backslash(bytes, self.read)
            };
            self.read = match bytes.get(stop) {
                Some(b'\\') => self.escape(text, stop),
                Some(byte) => {
                    if *byte == b'\n' {
                        self.line_break(stop + 1);
                    }
                    stop + 1
                }
                None => return,
            };
        }
    }

    /// Notes the escape whose backslash stands at `at`; returns where it ends.
    fn escape(&mut self, text: &str, at: usize) -> usize {
        let escaped = text.get(at + 1..).and_then(|rest| rest.chars().next());
        let end = at + 1 + escaped.map_or(0, char::len_utf8);
        match escaped {
            Some('n' | 'r' | '\n') => self.line_break(end),
            Some('"') => self.quote(text, at, end),
            Some('\\') => {
                let escapes_it = self.backslash_end == Some(at);
                self.backslash_end = (!escapes_it).then_some(end);
            }
            _ => {}
        }
        end
    }

    /// Notes a line break that ends at `end`.
    fn line_break(&mut self, end: usize) {
        if self.is_odd {
            self.counted = end;
        }
        self.is_odd = false;
    }

    /// Notes a quote that is content and stands at `start..end`, with its backslash if it has one.
    pub(super) fn quote(&mut self, text: &str, start: usize, end: usize) {
        self.read = end;
        if self.backslash_end == Some(start) {
            return;
        }
        let between = text.get(self.counted..start).unwrap_or_default();
        if self.counts_brackets && !self.is_odd {
            self.count_brackets(between);
        }
        self.counted = end;
        let before = Side::before(text, start);
        let after = Side::after(text, end);
        self.is_odd = match (before, after) {
            (Side::Apostrophe, Side::Apostrophe) => self.is_odd,
            // It's.
            (Side::Word, Side::Word) if text.get(start..end) == Some("'") => self.is_odd,
            (Side::Space | Side::Opener, Side::Word) => true,
            (Side::Word, Side::Space | Side::Closer) => false,
            _ => !self.is_odd,
        };
        if self.counts_brackets && self.is_odd {
            self.note_name(between);
        }
    }

    fn count_brackets(&mut self, code: &str) {
        for byte in code.bytes() {
            let closer = match byte {
                b'{' => '}',
                b'[' => ']',
                b'(' => ')',
                b'}' | b']' | b')' => {
                    self.open.pop();
                    continue;
                }
                _ => continue,
            };
            self.open.push(Bracket {
                closer,
                has_names: false,
            });
        }
    }

    /// Notes whether the literal behind this code is a key or stands behind one.
    fn note_name(&mut self, code: &str) {
        let code = without_space(code);
        self.is_named = code.ends_with(':') || code.ends_with("=>");
        let is_first = code.ends_with('{');
        if let Some(open) = self.open.last_mut() {
            open.has_names |= self.is_named || is_first;
        }
    }
}

/// Code without the white space at its end, escaped or not.
fn without_space(mut code: &str) -> &str {
    loop {
        let shorter = code.trim_end();
        let escaped = ["\\n", "\\t", "\\r"];
        let shorter = escaped
            .iter()
            .find_map(|space| shorter.strip_suffix(space))
            .unwrap_or(shorter);
        if shorter.len() == code.len() {
            return code;
        }
        code = shorter;
    }
}

/// Whether a quote looks like one that opens a literal.
pub(super) fn opens(text: &str, start: usize, end: usize) -> bool {
    let before = Side::before(text, start);
    let after = Side::after(text, end);
    matches!(before, Side::Space | Side::Opener) || !matches!(after, Side::Space | Side::Closer)
}

/// Whether a text ends with what opens a raw literal of Rust, up to its quote.
fn ends_raw_mark(before: &str) -> bool {
    let word = before.trim_end_matches('#');
    word.strip_suffix('r').is_some_and(|before| {
        let before = before.strip_suffix(['b', 'c']).unwrap_or(before);
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || before.ends_with("\\n")
    })
}

/// Whether a literal may open at a quote, by what stands before it.
pub(super) fn may_open(text: &str, quote: usize) -> bool {
    matches!(Side::before(text, quote), Side::Space | Side::Opener)
}

/// Whether a quote stands directly behind what opens a literal in code.
pub(super) fn is_behind_opener(text: &str, quote: usize) -> bool {
    let before = text.get(..quote).unwrap_or_default();
    before.ends_with(['(', '[', '{', '=']) || ends_raw_mark(before)
}

/// What stands beside a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Space,
    /// What a literal stands behind.
    Opener,
    /// What a literal stands before.
    Closer,
    Word,
    Apostrophe,
    Other,
}

impl Side {
    fn before(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or_default();
        if ["\\n", "\\t", "\\r"]
            .iter()
            .any(|space| before.ends_with(space))
        {
            return Self::Space;
        }
        match before.chars().next_back() {
            None => Self::Space,
            Some('(' | '[' | '{' | '=' | ',' | ':') => Self::Opener,
            Some('#') if ends_raw_mark(before) => Self::Opener,
            Some(other) => Self::of(other),
        }
    }

    fn after(text: &str, at: usize) -> Self {
        let after = text.get(at..).unwrap_or_default();
        if ["\\n", "\\t", "\\r"]
            .iter()
            .any(|space| after.starts_with(space))
        {
            return Self::Space;
        }
        match after.chars().next() {
            None => Self::Space,
            Some(')' | ']' | '}' | ',' | ':' | ';' | '.') => Self::Closer,
            Some(other) => Self::of(other),
        }
    }

    fn of(other: char) -> Self {
        match other {
            '\'' => Self::Apostrophe,
            c if c.is_whitespace() => Self::Space,
            c if c.is_alphanumeric() || c == '_' => Self::Word,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_odd(text: &str) -> bool {
        let mut balance = Balance::default();
        while let Some(quote) = text[balance.read..].find('"') {
            let quote = balance.read + quote;
            balance.read(text, quote);
            // Unless it was escaped.
            if balance.read <= quote {
                balance.quote(text, quote, quote + 1);
            }
        }
        balance.read(text, text.len());
        balance.is_odd()
    }

    #[test]
    fn counts_the_quotes_of_code() {
        for (text, want) in [
            ("", false),
            ("say \"hi", true),
            ("say \"hi\"", false),
            ("say \"hi\n", false),
            ("say \"hi\\n", false),
            ("say \\\"hi", true),
            ("say \"a \\\\\" b", true),
            ("say \"a \\\\\\\\\" b", false),
            ("e\": \"x\", \"n", true),
            ("e\": \"x\", \"n\"", false),
            ("r#\"{\"name\": \"f\"", false),
            ("split('\"')", false),
            ("split(b'\\\"')", false),
        ] {
            assert_eq!(is_odd(text), want, "{text}");
        }
    }
}
