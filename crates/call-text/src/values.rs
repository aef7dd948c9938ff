//! Values as models print them: JSON, Python, and what lies between.
//!
//! One pass with an explicit stack. The result is a flat list of nodes in the order of the text,
//! each with the place behind its last descendant, and with spans into the text.

mod expression;
mod keyword;
mod paused;
mod string;
mod word;

pub(crate) use expression::string_end;
pub(crate) use paused::PausedValue;
use word::{is_attribute, is_literal, is_name, string_prefix};

use crate::cursor::{Cursor, Look, Stop};
use crate::paused::Paused;

/// Deeper nesting than this is not read.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Keys and values in turn.
    Object,
    Array,
    Tuple,
    String,
    /// Strings in a row, which Python joins.
    Strings,
    /// A string without escapes, its quotes left out.
    Text,
    /// A number, a literal, or a bare word.
    Word,
    /// A name with arguments in parentheses.
    Call,
    /// A keyword argument; its value is the only child.
    Keyword,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The first byte; of a call or keyword that of its name.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Where the name of a call or keyword ends.
    pub(crate) name_end: usize,
    /// The place behind the last descendant in the list.
    pub(crate) after: usize,
}

/// A value and everything in it.
#[derive(Clone, Debug)]
pub(crate) struct Values<'t> {
    pub(crate) text: &'t str,
    pub(crate) nodes: Vec<Node>,
}

impl<'t> Values<'t> {
    pub(crate) fn node(&self, at: usize) -> Option<Node> {
        self.nodes.get(at).copied()
    }

    /// The text of a node.
    pub(crate) fn source(&self, at: usize) -> &'t str {
        self.node(at)
            .and_then(|node| self.text.get(node.start..node.end))
            .unwrap_or_default()
    }

    /// Whether a word without quotes stands at a node.
    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.node(at).is_some_and(|node| node.kind == Kind::Word)
    }

    /// The name of a call or a keyword.
    pub(crate) fn name(&self, at: usize) -> &'t str {
        self.node(at)
            .and_then(|node| self.text.get(node.start..node.name_end))
            .unwrap_or_default()
    }

    /// The children of a node.
    pub(crate) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let after = self.node(at).map_or(0, |node| node.after);
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let child = next;
            let node = self.node(child).filter(|_| child < after)?;
            next = node.after;
            Some(child)
        })
    }
}

/// What may stand without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bare {
    /// Numbers and literals.
    Literals,
    /// Words too: strings whose quotes are missing.
    Words,
    /// Any text: the call stands in quotes, which took the inner ones' place.
    Text,
}

/// A read that stopped inside.
#[derive(Debug)]
pub(crate) enum Broken<'t> {
    /// More text is needed.
    More,
    /// The text ended inside the value; what was whole so far.
    Cut(Values<'t>),
    /// It is no value.
    Not,
}

/// Reads the container or call at the cursor and steps over it.
pub(crate) fn read<'t>(cursor: &mut Cursor<'t>, bare: Bare) -> Result<Values<'t>, Broken<'t>> {
    let mut reader = match cursor.resume(bare) {
        Some(paused) => Reader::resume(*cursor, paused),
        None => Reader::new(*cursor, bare),
    };
    let result = reader.run();
    if result == Err(Stop::More) {
        cursor.pause(|| Paused::Value(reader.pause(cursor.at)));
        return Err(Broken::More);
    }
    cursor.leave_open(|| match result {
        Err(_) if !reader.cursor.rest().is_empty() => reader.open_starts(),
        _ => Vec::new(),
    });
    let values = Values {
        text: cursor.text,
        nodes: reader.nodes,
    };
    match result {
        Ok(()) => {
            cursor.at = reader.cursor.at;
            Ok(values)
        }
        Err(Stop::Not) if cursor.is_end && reader.cursor.rest().is_empty() => {
            Err(Broken::Cut(values))
        }
        Err(_) => Err(Broken::Not),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    CommaOrEnd,
    KeyOrEnd,
    Colon,
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    bare: Bare,
    nodes: Vec<Node>,
    /// The places of the open containers, calls and keywords.
    open: Vec<usize>,
    expect: Expect,
    /// A string that begins at the first place does not end before the second.
    seen: (usize, usize),
    /// Where the last string begins that holds quotes.
    quoting: usize,
    work: usize,
}

impl<'t> Reader<'t> {
    fn new(cursor: Cursor<'t>, bare: Bare) -> Self {
        Self {
            cursor,
            bare,
            nodes: Vec::new(),
            open: Vec::new(),
            expect: Expect::Value,
            seen: (usize::MAX, 0),
            quoting: usize::MAX,
            work: 0,
        }
    }

    /// Reads the value. Where more text is needed it stops before the token that is not whole.
    fn run(&mut self) -> Look<()> {
        while !self.is_whole() {
            self.skip_blank()?;
            let token = self.cursor.at;
            let read = self.token();
            if read == Err(Stop::More) {
                self.cursor.at = token;
            }
            read?;
        }
        Ok(())
    }

    /// Where the containers, calls and keywords begin that are open.
    fn open_starts(&self) -> Vec<usize> {
        let open = self.open.iter().filter_map(|at| self.nodes.get(*at));
        open.map(|node| node.start).collect()
    }

    fn is_whole(&self) -> bool {
        self.open.is_empty() && !self.nodes.is_empty()
    }

    fn token(&mut self) -> Look<()> {
        let c = self.cursor.peek()?;
        match self.expect {
            Expect::Colon if c == ':' => {
                self.cursor.at += 1;
                self.expect = Expect::Value;
                Ok(())
            }
            Expect::CommaOrEnd if c == ',' => {
                self.cursor.at += 1;
                self.expect = self.next_item();
                Ok(())
            }
            Expect::CommaOrEnd | Expect::ValueOrEnd | Expect::KeyOrEnd
                if matches!(c, ')' | ']' | '}') =>
            {
                self.end(c)
            }
            Expect::Colon | Expect::CommaOrEnd => Err(Stop::Not),
            Expect::KeyOrEnd => self.key(c),
            Expect::Value | Expect::ValueOrEnd => self.value(c),
        }
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) -> Look<()> {
        let mut is_behind_comment = false;
        loop {
            self.cursor.skip_space();
            let end = match self.cursor.text.as_bytes().get(self.cursor.at) {
                Some(b'#') if !self.open.is_empty() => "\n",
                Some(b'/') if is_behind_comment || self.is_behind_token() => {
                    match self.cursor.char_behind()? {
                        '/' => "\n",
                        '*' => "*/",
                        _ => return Ok(()),
                    }
                }
                _ => return Ok(()),
            };
            is_behind_comment = true;
            match self.cursor.rest().find(end) {
                Some(length) if end == "\n" => self.cursor.at += length,
                Some(length) => self.cursor.at += length + end.len(),
                None if self.cursor.is_end => self.cursor.at = self.cursor.text.len(),
                None => return Err(Stop::More),
            }
        }
    }

    /// Whether a comment of JSON may stand here: not behind a number, which a slash divides.
    fn is_behind_token(&self) -> bool {
        let before = self.cursor.text.get(..self.cursor.at).unwrap_or_default();
        matches!(self.top(), Some(Kind::Object | Kind::Array))
            && before
                .trim_end()
                .ends_with(['{', '[', ',', '}', ']', '"', '\''])
    }

    fn top(&self) -> Option<Kind> {
        self.open
            .last()
            .and_then(|at| self.nodes.get(*at))
            .map(|node| node.kind)
    }

    /// What may follow a comma.
    fn next_item(&self) -> Expect {
        match self.top() {
            Some(Kind::Object) => Expect::KeyOrEnd,
            _ => Expect::ValueOrEnd,
        }
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, name_end: usize) -> usize {
        let at = self.nodes.len();
        if at == 0 {
            // Enough for most calls.
            self.nodes.reserve(24);
        }
        self.nodes.push(Node {
            kind,
            start,
            end,
            name_end,
            after: at + 1,
        });
        at
    }

    fn open(&mut self, kind: Kind, start: usize, name_end: usize) -> Look<()> {
        // A call is no value: only what prints a call holds one.
        let is_value = kind == Kind::Call && self.top() == Some(Kind::Keyword);
        if self.open.len() >= MAX_DEPTH || is_value || kind == Kind::Call && self.open.len() > 8 {
            return Err(Stop::Not);
        }
        let at = self.push(kind, start, start, name_end);
        self.open.push(at);
        self.expect = match kind {
            Kind::Object => Expect::KeyOrEnd,
            Kind::Keyword => Expect::Value,
            _ => Expect::ValueOrEnd,
        };
        Ok(())
    }

    /// A value has ended: so has the keyword it belongs to.
    fn ended(&mut self) {
        while self.top() == Some(Kind::Keyword) {
            self.close();
        }
        self.expect = Expect::CommaOrEnd;
    }

    fn close(&mut self) {
        let (end, after) = (self.cursor.at, self.nodes.len());
        if let Some(node) = self.open.pop().and_then(|at| self.nodes.get_mut(at)) {
            node.end = end;
            node.after = after;
        }
    }

    /// A closing bracket. A call whose own is missing ends at that of the list around it, and a
    /// container whose own is missing at that of the call whose argument it is.
    fn end(&mut self, bracket: char) -> Look<()> {
        let closer = |kind| match kind {
            Some(Kind::Object) => '}',
            Some(Kind::Array) => ']',
            _ => ')',
        };
        if closer(self.top()) != bracket {
            if bracket == ')' && self.is_behind_call() {
                // A surplus one.
                self.cursor.at += 1;
                return Ok(());
            }
            let outer = self
                .open
                .len()
                .checked_sub(2)
                .and_then(|at| self.open.get(at));
            let outer = outer
                .and_then(|at| self.nodes.get(*at))
                .map(|node| node.kind);
            let ends_call = self.top() == Some(Kind::Call)
                && (outer.is_none() || closer(outer) == bracket)
                && self.expect == Expect::CommaOrEnd;
            let ends_argument = bracket == ')'
                && matches!(outer, Some(Kind::Call | Kind::Keyword))
                && self.expect == Expect::CommaOrEnd;
            if !ends_call && !ends_argument {
                return Err(Stop::Not);
            }
            self.close();
            self.ended();
            if outer.is_none() || ends_argument {
                return Ok(());
            }
        }
        self.cursor.at += 1;
        self.close();
        self.ended();
        Ok(())
    }

    /// Whether a call of a list has just ended.
    fn is_behind_call(&self) -> bool {
        let before = self.cursor.text.get(..self.cursor.at).unwrap_or_default();
        self.top() == Some(Kind::Array)
            && self.expect == Expect::CommaOrEnd
            && before.trim_end().ends_with(')')
    }

    fn key(&mut self, c: char) -> Look<()> {
        let start = self.cursor.at;
        if matches!(c, '“' | '‘') {
            return self.smart_key(c);
        }
        if matches!(c, '"' | '\'') {
            if self.string(c)? == Kind::Strings {
                return Err(Stop::Not);
            }
        } else if c.is_alphanumeric() || matches!(c, '_' | '-') {
            let length = self.run_of(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))?;
            self.cursor.at += length;
        } else {
            return Err(Stop::Not);
        }
        self.push(Kind::String, start, self.cursor.at, start);
        self.expect = Expect::Colon;
        Ok(())
    }

    fn value(&mut self, c: char) -> Look<()> {
        let start = self.cursor.at;
        match c {
            '{' | '[' | '(' => {
                let kind = match c {
                    '{' => Kind::Object,
                    '[' => Kind::Array,
                    _ => Kind::Tuple,
                };
                self.open(kind, start, start)?;
                self.cursor.at += 1;
            }
            // f(**{"a": 1})
            '*' if self.top() == Some(Kind::Call) && self.cursor.sees("**{")? => {
                self.cursor.at += 2;
            }
            '“' | '‘' if self.top().is_some_and(|top| top != Kind::Object) => {
                return self.smart_string(c);
            }
            '"' | '\'' => {
                if self.open.is_empty() {
                    return Err(Stop::Not);
                }
                let kind = self.string(c)?;
                if kind == Kind::String
                    && let Some(value) = self.behind_sign(self.cursor)?
                {
                    self.open(Kind::Keyword, start + 1, self.cursor.at - 1)?;
                    self.cursor.at = value;
                    return Ok(());
                }
                // ['name'(a=1)]
                if kind == Kind::Call {
                    self.cursor.at += 1;
                    return self.open(Kind::Call, start, self.cursor.at - 1);
                }
                self.push(kind, start, self.cursor.at, start);
                self.ended();
            }
            _ => self.word(start)?,
        }
        Ok(())
    }

    fn run_of(&self, belongs: impl Fn(char) -> bool) -> Look<usize> {
        let rest = self.cursor.rest();
        let ascii = rest.bytes();
        let ascii = ascii.take_while(|byte| byte.is_ascii() && belongs(char::from(*byte)));
        let ascii = ascii.count();
        if rest.as_bytes().get(ascii).is_some_and(u8::is_ascii) {
            return Ok(ascii);
        }
        match rest.find(|c| !belongs(c)) {
            Some(at) => Ok(at),
            None if self.cursor.is_end => Ok(rest.len()),
            None => Err(Stop::More),
        }
    }

    /// A number, a literal, a keyword, the name of a call, or a bare string.
    fn word(&mut self, start: usize) -> Look<()> {
        if let Some((name_end, value)) = self.name_before_colon()? {
            self.open(Kind::Keyword, start, name_end)?;
            self.cursor.at = value;
            return Ok(());
        }
        let length = self.run_of(|c| {
            c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '\\' | '/' | ':')
        })?;
        let word = self.cursor.rest().get(..length).unwrap_or_default();
        let name_end = start + length;
        let mut ahead = self.cursor;
        ahead.at = name_end;
        ahead.skip_space();
        let next = ahead.peek_or_end()?;
        let ends = matches!(next, b',' | b')' | b']' | b'}' | b'#' | 0);
        if is_literal(word) && ends && !self.open.is_empty() {
            self.cursor.at = name_end;
            self.push(Kind::Word, start, name_end, start);
            self.ended();
            return Ok(());
        }
        let in_call = self.top() == Some(Kind::Call);
        if is_name(word) {
            if next == b'(' && ahead.at == name_end {
                self.cursor.at = name_end + 1;
                return self.open(Kind::Call, start, name_end);
            }
            if next == b'=' && in_call && !word.contains('.') {
                ahead.at += 1;
                if ahead.peek_or_end()? == b'=' {
                    return Err(Stop::Not);
                }
                self.open(Kind::Keyword, start, name_end)?;
                self.cursor.at = ahead.at;
                return Ok(());
            }
            if matches!(next, b'"' | b'\'')
                && ahead.at == name_end
                && let Some(is_format) = string_prefix(word)
            {
                self.cursor.at = name_end;
                let kind = self.string(char::from(next))?;
                if is_format && self.cursor.since(start).contains('{') {
                    return Err(Stop::Not);
                }
                self.push(kind, start, self.cursor.at, start);
                self.ended();
                return Ok(());
            }
        }
        if self.open.is_empty() {
            return Err(Stop::Not);
        }
        let is_plain = ends && self.top() != Some(Kind::Keyword);
        let may_be_text = match self.bare {
            Bare::Literals => false,
            Bare::Words => self.top() == Some(Kind::Keyword),
            Bare::Text => matches!(self.top(), Some(Kind::Keyword | Kind::Array)),
        };
        if length > 0 && is_plain && self.bare != Bare::Literals {
            self.cursor.at = name_end;
        } else if self.bare == Bare::Words && ends && is_attribute(word) {
            return Err(Stop::Not);
        } else if may_be_text {
            self.bare_text(start)?;
        } else {
            return Err(Stop::Not);
        }
        self.push(Kind::Word, start, self.cursor.at, start);
        self.ended();
        Ok(())
    }

    /// A value without quotes: up to the next keyword or item, or the end of what is around it.
    fn bare_text(&mut self, start: usize) -> Look<()> {
        let in_list = self.top() == Some(Kind::Array);
        let mut depth = 0_usize;
        let mut end = start;
        loop {
            let rest = self.cursor.rest();
            let Some(c) = rest.chars().next() else {
                return self.cursor.more();
            };
            match c {
                ')' | ']' if depth == 0 => break,
                ')' | ']' => depth -= 1,
                '(' | '[' if self.bare == Bare::Text => depth += 1,
                ',' if in_list && depth == 0 => break,
                ',' if depth == 0 => {
                    let mut ahead = self.cursor;
                    ahead.at += 1;
                    ahead.skip_space();
                    let name = ahead.rest();
                    let length = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                    match length {
                        None if !ahead.is_end => return Err(Stop::More),
                        Some(0) | None => {}
                        Some(length) => {
                            ahead.at += length;
                            ahead.skip_space();
                            if ahead.peek_or_end()? == b'=' {
                                break;
                            }
                        }
                    }
                }
                '\n' | '"' | '\'' | '`' => return Err(Stop::Not),
                '(' | '[' | '{' | '}' | '*' | '=' | '<' | '>' | '+' if self.bare != Bare::Text => {
                    return Err(Stop::Not);
                }
                _ => {}
            }
            self.cursor.at += c.len_utf8();
            if !c.is_whitespace() {
                end = self.cursor.at;
            }
        }
        if end == start {
            return Err(Stop::Not);
        }
        self.cursor.at = end;
        Ok(())
    }
}
