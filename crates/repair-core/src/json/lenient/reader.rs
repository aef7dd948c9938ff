//! The forward pass over one value: containers on an explicit stack.

use std::ops::Range;

use super::content::write;
use super::doubt::Doubts;
use super::end::{End, Ends, starts_value};
use super::output::Output;
use super::{Cut, Problem, key, rules, token};
use crate::json::scan;
use crate::json::string::{self, StrictEnd};
use crate::rule::Risk;
use crate::schema::{Place, Tree};

/// An open container.
#[derive(Debug)]
pub(super) struct Frame<'t> {
    pub(super) is_object: bool,
    pub(super) place: Place,
    /// The keys read so far.
    pub(super) keys: key::Seen<'t>,
    /// The quote of the last key; none if it was bare.
    pub(super) key_quote: Option<char>,
    /// Where the value that is read next stands.
    pub(super) value_place: Place,
    /// Members or items read so far.
    pub(super) len: usize,
    /// Where the output goes back to if the current member turns out to have no value.
    pub(super) member_start: usize,
    /// Where the last comma was written, while nothing follows it.
    pub(super) comma: Option<usize>,
    /// The bytes of the text that it stands for.
    pub(super) comma_read: Range<usize>,
    /// Where the bracket for an opening parenthesis was written.
    pub(super) group: Option<usize>,
}

/// What is read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Value,
    Key,
    After,
    Done,
}

/// The state of the pass.
pub(super) struct Reader<'t, 'f> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: Output,
    pub(super) stack: Vec<Frame<'t>>,
    pub(super) ends: &'f mut Ends<'t>,
    pub(super) doubts: &'f mut Doubts,
    pub(super) cut: Option<Cut>,
    pub(super) problem: Option<Problem>,
    /// Where the last value ends in the output.
    pub(super) value_end: usize,
    /// Where it ends in the text.
    pub(super) value_read: usize,
    /// The last value was a string.
    after_string: bool,
    pub(super) tree: &'t Tree,
    pub(super) place: Place,
    max_depth: usize,
    /// Where the last key starts.
    key_at: usize,
    /// Behind which quote a strict string could end that is looked at more closely, and what it is.
    pub(super) judged: Option<(usize, End)>,
    pub(super) state: State,
}

impl<'t, 'f> Reader<'t, 'f> {
    pub(super) fn new(
        at: usize,
        place: Place,
        max_depth: usize,
        out: Output,
        ends: &'f mut Ends<'t>,
        doubts: &'f mut Doubts,
    ) -> Self {
        Self {
            text: ends.text,
            at,
            out,
            stack: Vec::new(),
            doubts,
            cut: None,
            problem: None,
            value_end: 0,
            value_read: 0,
            after_string: false,
            tree: ends.tree,
            ends,
            place,
            max_depth,
            key_at: at,
            judged: None,
            state: State::Value,
        }
    }

    /// Reads the value at the cursor.
    pub(super) fn value(&mut self) {
        if !self.rest(self.at).starts_with(['{', '[', '｛', '［'])
            && key::starts_member(self.rest(self.at), self.tree, self.place)
        {
            self.out.fix(&rules::MISSING_OPENER, self.at..self.at, "{");
            self.push_frame(true);
        }
        while self.state != State::Done {
            if self.doubts.is_hopeless() {
                return self.fail();
            }
            match self.state {
                State::Value => self.read_value(),
                State::Key => self.read_key(),
                State::After => self.read_after(),
                State::Done => {}
            }
        }
    }

    pub(super) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest(self.at).chars().next()
    }

    /// Whether nothing but frame is left.
    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
            || (self.at >= self.ends.tail && self.rest(self.at).starts_with(['`', '<', ';']))
    }

    // ---- between tokens ----

    /// Copies white space; leaves comments and the like out.
    fn trivia(&mut self) {
        loop {
            let bytes = self.text.as_bytes();
            let end = scan::skip_space(bytes, self.at);
            if end > self.at {
                self.out
                    .push(self.text.get(self.at..end).unwrap_or_default());
                self.at = end;
            }
            // What most values and separators begin with.
            let next = bytes.get(end);
            let may_be_odd =
                |byte: &u8| !byte.is_ascii_graphic() || matches!(byte, b'/' | b'#' | b'\\');
            if next.is_some_and(|byte| !may_be_odd(byte)) {
                return;
            }
            let Some((length, rule)) = self.oddity() else {
                return;
            };
            self.out.fix(rule, self.at..self.at + length, "");
            self.at += length;
        }
    }

    /// What stands between tokens and is no white space of JSON.
    fn oddity(&self) -> Option<(usize, &'static crate::rule::Rule)> {
        let rest = self.rest(self.at);
        let next = rest.chars().next()?;
        let line = || rest.find('\n').unwrap_or(rest.len());
        match next {
            '/' if rest.starts_with("//") => Some((line(), &rules::COMMENT)),
            '/' if rest.starts_with("/*") => {
                let end = rest.get(2..)?.find("*/").map_or(rest.len(), |end| end + 4);
                Some((end, &rules::COMMENT))
            }
            '#' if rest.starts_with("# ") || self.starts_line() => Some((line(), &rules::COMMENT)),
            '\\' if matches!(rest.as_bytes().get(1), Some(b'n' | b't' | b'r')) => {
                Some((2, &rules::ESCAPED_SPACE))
            }
            '\0' | '\u{feff}' | '\u{200b}' | '\u{180e}' => {
                Some((next.len_utf8(), &rules::ODD_SPACE))
            }
            c if c.is_whitespace() => Some((c.len_utf8(), &rules::ODD_SPACE)),
            _ => None,
        }
    }

    fn starts_line(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        before.trim_end_matches([' ', '\t']).ends_with('\n')
    }

    // ---- values ----

    fn read_value(&mut self) {
        self.trivia();
        if self.is_at_end() {
            return self.cut_off(Cut::Inside);
        }
        let Some(next) = self.peek() else {
            return self.cut_off(Cut::Inside);
        };
        let in_array = self.stack.last().is_some_and(|frame| !frame.is_object);
        match next {
            '{' | '｛' => self.open(next, true),
            '[' | '［' | '(' => self.open(next, false),
            '}' | ']' | ')' | '｝' | '］' if in_array => self.close(next),
            ',' | '，' if in_array => self.drop_comma(next),
            '}' | ']' | '｝' | '］' | ',' | '，' | ':' => self.fail(),
            _ if in_array && self.close_array() => {}
            quote if !key::closers_of(quote).is_empty() => self.string_value(quote),
            _ => match token::python_string(self.rest(self.at)) {
                Some(prefix) => self.prefixed_string(prefix),
                None => self.bare_value(),
            },
        }
    }

    /// A string of Python with a letter before it. Only `u` and `b` leave its content alone.
    fn prefixed_string(&mut self, prefix: &str) {
        if !matches!(prefix, "u" | "U" | "b" | "B") {
            return self.fail();
        }
        let end = self.at + prefix.len();
        self.out.fix(&rules::QUOTES, self.at..end, "");
        self.at = end;
        self.string_value('\'');
    }

    fn open(&mut self, opener: char, is_object: bool) {
        if self.stack.len() >= self.max_depth {
            self.problem = self.problem.or(Some(Problem::TooDeep));
            return self.give_up();
        }
        let strict = if is_object { "{" } else { "[" };
        let start = self.out.len();
        self.write_token(opener, strict, &rules::BRACKET);
        self.push_frame(is_object);
        if let Some(frame) = self.stack.last_mut().filter(|_| opener == '(') {
            frame.group = Some(start);
        }
    }

    fn push_frame(&mut self, is_object: bool) {
        let place = self
            .stack
            .last()
            .map_or(self.place, |frame| frame.value_place);
        let value_place = if is_object {
            None
        } else {
            self.tree.item(place, 0)
        };
        self.stack.push(Frame {
            is_object,
            place,
            keys: key::Seen::default(),
            key_quote: None,
            value_place,
            len: 0,
            member_start: self.out.len(),
            comma: None,
            comma_read: 0..0,
            group: None,
        });
        self.state = if is_object { State::Key } else { State::Value };
    }

    /// Writes `strict` for a token of one character.
    pub(super) fn write_token(
        &mut self,
        given: char,
        strict: &str,
        rule: &'static crate::rule::Rule,
    ) {
        let end = self.at + given.len_utf8();
        if strict.starts_with(given) {
            self.out.push(strict);
        } else {
            self.out.fix(rule, self.at..end, strict);
        }
        self.at = end;
    }

    fn drop_comma(&mut self, comma: char) {
        let end = self.at + comma.len_utf8();
        self.out.fix(&rules::SURPLUS_COMMA, self.at..end, "");
        self.at = end;
    }

    /// Notes that a value is complete.
    pub(super) fn value_is_done(&mut self, is_string: bool) {
        self.value_end = self.out.len();
        self.value_read = self.at;
        self.after_string = is_string;
        if let Some(frame) = self.stack.last_mut() {
            frame.len += 1;
            frame.comma = None;
        }
        self.state = if self.stack.is_empty() {
            State::Done
        } else {
            State::After
        };
        if self.stack.is_empty() && is_string && self.rest(self.at).trim_start().starts_with('+') {
            self.state = State::After;
        }
    }

    // ---- keys ----

    fn read_key(&mut self) {
        self.trivia();
        let Some(next) = self.peek().filter(|_| !self.is_at_end()) else {
            return self.cut_off(Cut::Inside);
        };
        match next {
            '}' | ']' | ')' | '｝' | '］' => return self.close(next),
            ',' | '，' => return self.drop_comma(next),
            '.' | '…' => return self.skip_ellipsis(),
            _ => {}
        }
        if next == '{' && self.close_item() {
            return;
        }
        let rest = self.rest(self.at);
        match self
            .ends
            .key_at(self.at)
            .or_else(|| long_key(rest))
            .or_else(|| key::unclosed(rest))
            .or_else(|| key::doubled(rest))
        {
            Some(key) => self.write_key(key),
            None => self.key_without_colon(next),
        }
    }

    fn write_key(&mut self, key: key::Key<'t>) {
        self.key_at = self.at;
        let token = self.rest(self.at).get(..key.length).unwrap_or_default();
        let before = self.at..self.at + key.length;
        if token.starts_with('"') && string_is_strict(token) {
            self.out.push(token);
        } else {
            self.rewrite_key(&key, &before);
        }
        let colon = self.at + key.colon;
        self.note_separators(self.at, before.end);
        self.at = before.end;
        self.trivia();
        self.at = colon;
        if self.rest(colon).starts_with("=>") {
            self.out.fix(&rules::SEPARATOR, colon..colon + 2, ":");
            self.at = colon + 2;
        } else {
            self.write_token(self.peek().unwrap_or(':'), ":", &rules::SEPARATOR);
        }
        self.expect_value(key.name, key.quote);
    }

    /// Notes the spelling of the separators around a key.
    fn note_separators(&mut self, key_start: usize, key_end: usize) {
        if !self.doubts.is_trial() {
            return;
        }
        let has_comma = self.stack.last().is_some_and(|frame| frame.len > 0);
        let comma = self.text.get(self.value_read..key_start);
        if let Some(comma) = comma.filter(|_| has_comma) {
            self.doubts.separator(comma);
        }
        let rest = self.rest(key_end);
        let value = rest.find(|c: char| !c.is_whitespace() && c != ':');
        self.doubts
            .separator(rest.get(..value.unwrap_or(0)).unwrap_or_default());
    }

    /// Writes a key that is not strict JSON as one that is.
    fn rewrite_key(&mut self, key: &key::Key<'t>, before: &Range<usize>) {
        let from = self.out.len();
        self.out.push("\"");
        let written = write(key.name, &mut self.out);
        self.out.push("\"");
        let opens_quoted = !key::closers_of(self.peek().unwrap_or(' ')).is_empty();
        let rule = match (key.is_quoted, opens_quoted && key.quote.is_some()) {
            (true, false) => Some(&rules::MISSING_QUOTE),
            (false, _) => Some(&rules::UNQUOTED_KEY),
            (true, true) => (key.quote != Some('"')).then_some(&rules::QUOTES),
        };
        if let Some(rule) = rule {
            self.out.note(rule, rule.risk, before.clone(), from);
        }
        if key.is_doubled() {
            let risk = Risk::Inferred;
            self.out.note(&rules::QUOTES, risk, before.clone(), from);
        }
        self.note_written(&written, before, from);
        if written.damage.is_some() {
            self.problem = self.problem.or(Some(Problem::DamagedEscape(before.start)));
        }
    }

    fn expect_value(&mut self, name: &'t str, quote: Option<char>) {
        let tree = self.tree;
        let is_root = self.stack.len() == 1;
        let key_at = self.key_at;
        if let Some(frame) = self.stack.last_mut() {
            let name = key::decoded(name);
            let (place, is_declared) = tree.find_member(frame.place, &name);
            let is_surplus = !is_declared && !tree.is_open(frame.place);
            let told = (is_declared, is_surplus);
            self.doubts.key(frame, is_root, told, &name, key_at);
            frame.key_quote = quote;
            frame.value_place = place;
            frame.keys.insert(name);
        }
        self.state = State::Value;
    }

    /// A quoted key whose colon is missing, or that the text breaks off in.
    fn key_without_colon(&mut self, next: char) {
        let rest = self.rest(self.at);
        let closers = key::closers_of(next);
        let inside = rest.get(next.len_utf8()..).unwrap_or_default();
        let end = key::closing_quote(inside, closers).map(|(end, _)| end);
        let is_word = next.is_alphanumeric() || next == '_';
        match end {
            None if !closers.is_empty() => return self.cut_off(Cut::Inside),
            None if is_word && rest.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                return self.cut_off(Cut::Inside);
            }
            None => return self.fail(),
            Some(_) => {}
        }
        let end = next.len_utf8() + end.unwrap_or(0);
        let closer = rest
            .get(end..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
        let name = rest.get(next.len_utf8()..end).unwrap_or_default();
        let after = rest.get(end + closer..).unwrap_or_default();
        let value = after.trim_start();
        if value.is_empty() {
            return self.cut_off(Cut::Inside);
        }
        if name.len() > 64
            || name.contains(['\n', ':', '{', '['])
            || value.starts_with("- ")
            || !value.starts_with(|c: char| starts_value(c, value))
        {
            return self.fail();
        }
        let mut strict = String::new();
        string::encode(name, &mut strict);
        self.out.push(&strict);
        self.at += end + closer;
        self.out.fix(&rules::MISSING_COLON, self.at..self.at, ":");
        self.expect_value(name, Some(next));
    }

    pub(super) fn skip_ellipsis(&mut self) {
        let rest = self.rest(self.at);
        let length = rest.len() - rest.trim_start_matches(['.', '…']).len();
        if matches!(rest.get(..length), Some("..." | "…")) {
            self.out
                .fix(&rules::ELLIPSIS, self.at..self.at + length, "");
            self.at += length;
        } else {
            self.fail();
        }
    }

    // ---- after a value ----

    fn read_after(&mut self) {
        self.trivia();
        let Some(next) = self.peek().filter(|_| !self.is_at_end()) else {
            return self.cut_off(Cut::Unclosed);
        };
        let rest = self.rest(self.at);
        let is_object = self.stack.last().is_some_and(|frame| frame.is_object);
        let is_quote = !key::closers_of(next).is_empty();
        match next {
            ',' | '，' | ';' | '；' => self.comma(next),
            '}' | ']' | ')' | '｝' | '］' => self.close(next),
            '+' if self.after_string => self.concatenate(),
            _ if is_object && key::any(rest).is_some() => self.missing_comma(),
            _ if is_quote && is_object && self.after_string => self.string_continuation(next),
            '{' if is_object && self.close_item() => {}
            _ if !is_object && self.close_array() => {}
            _ if !is_object && next.is_alphanumeric() && self.starts_line() => self.missing_comma(),
            _ if !is_object && (starts_value(next, rest) || next == '(') => self.missing_comma(),
            '.' | '…' if !is_object => self.skip_ellipsis(),
            _ => self.fail(),
        }
    }

    fn comma(&mut self, given: char) {
        let (comma, read) = (self.out.len(), self.at);
        self.write_token(given, ",", &rules::SEPARATOR);
        self.begin_next(comma, read..self.at);
    }

    pub(super) fn missing_comma(&mut self) {
        let comma = self.value_end;
        self.out.insert(comma, ',');
        let here = self.at..self.at;
        let risk = Risk::Lossless;
        self.out
            .note_range(&rules::MISSING_COMMA, risk, here.clone(), comma..comma + 1);
        self.begin_next(comma, here);
    }

    /// Behind a comma, which was written at `comma` for the bytes `read`.
    pub(super) fn begin_next(&mut self, comma: usize, read: Range<usize>) {
        let tree = self.tree;
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        frame.comma = Some(comma);
        frame.comma_read = read;
        frame.member_start = comma;
        if frame.is_object {
            self.state = State::Key;
        } else {
            frame.value_place = tree.item(frame.place, frame.len);
            self.state = State::Value;
        }
    }

    fn concatenate(&mut self) {
        let plus = self.at;
        let rest = self.rest(plus + 1);
        let space = rest.len() - rest.trim_start().len();
        match rest.trim_start().chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => {
                self.at = plus + 1 + space;
                self.string_continuation(quote);
            }
            _ => self.fail(),
        }
    }
}

/// A quoted key that is too long for the look-ahead.
fn long_key(rest: &str) -> Option<key::Key<'_>> {
    let inside = rest.strip_prefix('"')?;
    let (end, _) = key::closing_quote(inside, &['"'])?;
    let length = end + 2;
    let after = rest.get(length..)?;
    let colon = length + (after.len() - after.trim_start().len());
    rest.get(colon..)?.starts_with(':').then_some(key::Key {
        name: inside.get(..end)?,
        length,
        colon,
        is_quoted: true,
        quote: Some('"'),
    })
}

fn string_is_strict(token: &str) -> bool {
    string::strict_end(token, 1) == StrictEnd::Quote(token.len().saturating_sub(1))
}
