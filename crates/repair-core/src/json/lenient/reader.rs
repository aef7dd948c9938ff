//! The forward pass over one value: containers on an explicit stack.

use std::collections::HashSet;

use super::end::{Ends, starts_value};
use super::output::Output;
use super::{Cut, Problem, key, rules};
use crate::json::string;
use crate::rule::Risk;
use crate::schema::{Place, Tree};

/// An open container.
#[derive(Debug)]
pub(super) struct Frame<'t> {
    pub(super) is_object: bool,
    pub(super) place: Place,
    /// The keys read so far.
    pub(super) keys: HashSet<&'t str>,
    /// The quote of the last key; none if it was bare.
    pub(super) key_quote: Option<char>,
    /// Where the value that is read next stands.
    pub(super) value_place: Place,
    /// Members or items read so far.
    pub(super) len: usize,
    /// Where the output goes back to if the current member turns out to have no value.
    member_start: usize,
    /// Where the last comma was written, while nothing follows it.
    comma: Option<usize>,
}

/// What is read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
    pub(super) cut: Option<Cut>,
    pub(super) problem: Option<Problem>,
    /// Where the last value ends in the output.
    pub(super) value_end: usize,
    /// The last value was a string.
    after_string: bool,
    pub(super) tree: &'t Tree,
    pub(super) place: Place,
    max_depth: usize,
    state: State,
}

impl<'t, 'f> Reader<'t, 'f> {
    pub(super) fn new(
        text: &'t str,
        at: usize,
        tree: &'t Tree,
        place: Place,
        max_depth: usize,
        out: Output,
        ends: &'f mut Ends<'t>,
    ) -> Self {
        Self {
            text,
            at,
            out,
            stack: Vec::new(),
            ends,
            cut: None,
            problem: None,
            value_end: 0,
            after_string: false,
            tree,
            place,
            max_depth,
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
            let rest = self.rest(self.at);
            let space = rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t']).len();
            self.out.push(rest.get(..space).unwrap_or_default());
            self.at += space;
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
            '\0' | '\u{feff}' | '\u{200b}' => Some((next.len_utf8(), &rules::ODD_SPACE)),
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
            quote if !key::closers_of(quote).is_empty() => self.string_value(quote),
            _ => self.bare_value(),
        }
    }

    fn open(&mut self, opener: char, is_object: bool) {
        if self.stack.len() >= self.max_depth {
            self.problem = self.problem.or(Some(Problem::TooDeep));
            return self.give_up();
        }
        let strict = if is_object { "{" } else { "[" };
        self.write_token(opener, strict, &rules::BRACKET);
        self.push_frame(is_object);
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
            keys: HashSet::new(),
            key_quote: None,
            value_place,
            len: 0,
            member_start: self.out.len(),
            comma: None,
        });
        self.state = if is_object { State::Key } else { State::Value };
    }

    /// Writes `strict` for a token of one character.
    fn write_token(&mut self, given: char, strict: &str, rule: &'static crate::rule::Rule) {
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
        let rest = self.rest(self.at);
        match key::any(rest).or_else(|| long_key(rest)) {
            Some(key) => self.write_key(key),
            None => self.key_without_colon(next),
        }
    }

    fn write_key(&mut self, key: key::Key<'t>) {
        let token = self.rest(self.at).get(..key.length).unwrap_or_default();
        let before = self.at..self.at + key.length;
        if token.starts_with('"') && string_is_strict(token) {
            self.out.push(token);
        } else {
            let rule = match (
                token
                    .chars()
                    .next()
                    .is_some_and(|c| key::closers_of(c).is_empty()),
                key.is_quoted,
            ) {
                (true, true) => &rules::MISSING_QUOTE,
                (true, false) => &rules::UNQUOTED_KEY,
                (false, _) => &rules::QUOTES,
            };
            let mut strict = String::with_capacity(key.name.len() + 2);
            string::encode(
                &key.name.replace("\\'", "'").replace("\\\"", "\""),
                &mut strict,
            );
            self.out.fix(rule, before.clone(), &strict);
        }
        let colon = self.at + key.colon;
        self.out
            .push(self.text.get(before.end..colon).unwrap_or_default());
        self.at = colon;
        let given = self.peek().unwrap_or(':');
        self.write_token(given, ":", &rules::SEPARATOR);
        if given == '=' && self.peek() == Some('>') {
            self.at += 1;
        }
        self.expect_value(key.name, key.quote);
    }

    fn expect_value(&mut self, name: &'t str, quote: Option<char>) {
        let tree = self.tree;
        if let Some(frame) = self.stack.last_mut() {
            frame.keys.insert(name);
            frame.key_quote = quote;
            frame.value_place = tree.member(frame.place, name);
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
            || name.contains('\n')
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
            _ if !is_object && (starts_value(next, rest) || next == '(') => self.missing_comma(),
            '.' | '…' if !is_object => self.skip_ellipsis(),
            _ => self.fail(),
        }
    }

    fn comma(&mut self, given: char) {
        let comma = self.out.len();
        self.write_token(given, ",", &rules::SEPARATOR);
        self.begin_next(comma);
    }

    fn missing_comma(&mut self) {
        let comma = self.value_end;
        self.out.text.insert(comma, ',');
        self.out.note(
            &rules::MISSING_COMMA,
            Risk::Lossless,
            self.at..self.at,
            comma,
        );
        self.begin_next(comma);
    }

    fn begin_next(&mut self, comma: usize) {
        let tree = self.tree;
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        frame.comma = Some(comma);
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

    // ---- closing ----

    fn close(&mut self, closer: char) {
        let closes_object = matches!(closer, '}' | '｝');
        let Some(depth) = self
            .stack
            .iter()
            .rposition(|frame| frame.is_object == closes_object)
        else {
            let end = self.at + closer.len_utf8();
            self.out.fix(&rules::SURPLUS_CLOSER, self.at..end, "");
            self.at = end;
            return;
        };
        self.remove_trailing_comma();
        while self.stack.len() > depth + 1 {
            let inner = self.stack.pop().is_some_and(|frame| frame.is_object);
            self.out.fix(
                &rules::MISSING_CLOSER,
                self.at..self.at,
                if inner { "}" } else { "]" },
            );
        }
        self.stack.pop();
        self.write_token(
            closer,
            if closes_object { "}" } else { "]" },
            &rules::BRACKET,
        );
        self.value_is_done(false);
    }

    fn remove_trailing_comma(&mut self) {
        let comma = self.stack.last_mut().and_then(|frame| frame.comma.take());
        if let Some(comma) = comma {
            self.out.remove_comma(comma);
            let now = self.out.len();
            self.out
                .note(&rules::SURPLUS_COMMA, Risk::Lossless, self.at..self.at, now);
        }
    }

    /// The text ended before the value did: what is certain is kept.
    pub(super) fn cut_off(&mut self, cut: Cut) {
        if self.cut.is_none() && !(self.stack.is_empty() && self.state == State::Done) {
            self.cut = Some(cut);
        }
        self.give_up();
    }

    pub(super) fn fail(&mut self) {
        self.problem = self.problem.or(Some(Problem::Unreadable(self.at)));
        self.give_up();
    }

    /// Ends the value here: a key without a value goes, open containers are closed.
    fn give_up(&mut self) {
        let is_dangling = self.state != State::After;
        if let Some(frame) = self.stack.last()
            && is_dangling
        {
            self.out.truncate(
                frame
                    .comma
                    .map_or(frame.member_start, |comma| comma.min(frame.member_start)),
            );
        } else if self.stack.is_empty() && self.state == State::Value {
            self.problem = self.problem.or(Some(Problem::NoValue));
            self.out.push("null");
        } else {
            self.out.truncate(self.value_end);
        }
        let end = self.text.len();
        while let Some(frame) = self.stack.pop() {
            self.out.fix(
                &rules::CUT_COMPLETED,
                end..end,
                if frame.is_object { "}" } else { "]" },
            );
        }
        self.at = end;
        self.state = State::Done;
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
    serde_json::from_str::<String>(token).is_ok()
}
