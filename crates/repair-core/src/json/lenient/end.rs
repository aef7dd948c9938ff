//! Where a string ends: what follows a quote decides.
//!
//! A quote inside a string is content unless what follows can only be the end of the value. The
//! position of the last certain end of the text, found once from behind, tells whether a doubtful
//! one may be passed over.

mod broken;
mod last;
mod value;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use super::balance;
use super::key::{self, Key};
use super::reader::Frame;
use crate::json::attempt::Attempt;
use crate::json::scan;
use crate::json::string::{self, StrictEnd};
use crate::schema::tree::Kinds;
use crate::schema::{Place, Tree};

pub(super) use broken::is_broken_off_key;
pub(super) use value::starts_value;

/// What a quote is, by what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Only the end of the value.
    Certain,
    /// A member follows that the schema does not know, or the object has already.
    Member,
    /// An item of an array follows, or a key where any is welcome.
    Item,
    /// Something follows that the text may mean as content: an end only without raw quotes before.
    Faint,
    /// The closers of the whole value and then no JSON: an end if no certain one follows.
    Last,
    /// Structure follows that is broken: a key without its colon or a quote, or an item where a key
    /// belongs. An end wherever no literal of the content is open.
    Broken,
    /// Not an end.
    Content,
}

impl End {
    /// This, but nothing surer than `limit`.
    fn at_most(self, limit: Self) -> Self {
        match self {
            Self::Content | Self::Broken | Self::Faint | Self::Last => self,
            _ => limit,
        }
    }
}

/// Longest key that is taken for one where raw quotes stand before it, in bytes.
const MAX_PLAIN_KEY: usize = 64;

/// Longest comment that look-ahead steps over, in bytes.
const MAX_COMMENT: usize = 200;

/// The look-ahead of the reader.
pub(super) struct Ends<'t> {
    pub(super) text: &'t str,
    pub(super) tree: &'t Tree,
    /// From here on there is only frame.
    pub(super) tail: usize,
    /// Line breaks between its tokens are written as escapes.
    pub(super) has_escaped_space: bool,
    /// What a strict reading of the value found out.
    pub(super) attempt: Cow<'t, Attempt>,
    /// The key that was found last, and where.
    last_key: Cell<Option<(usize, Key<'t>)>>,
    /// For each kind of closing quote.
    last: HashMap<char, last::LastEnds>,
}

impl<'t> Ends<'t> {
    pub(super) fn new(text: &'t str, tree: &'t Tree, tail: usize) -> Self {
        Self {
            text,
            tree,
            tail,
            has_escaped_space: false,
            attempt: Cow::default(),
            last_key: Cell::new(None),
            last: HashMap::new(),
        }
    }

    /// Any key at `at`. The one that ends a string is read next.
    pub(super) fn key_at(&self, at: usize) -> Option<Key<'t>> {
        if let Some((known, key)) = self.last_key.get()
            && known == at
        {
            return Some(key);
        }
        let key = key::any(self.rest(at))?;
        self.last_key.set(Some((at, key)));
        Some(key)
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Behind the white space at `at`.
    pub(super) fn space(&self, at: usize) -> usize {
        let mut at = scan::skip_space(self.text.as_bytes(), at);
        while self.is_escaped_space(at) {
            at = scan::skip_space(self.text.as_bytes(), at + 2);
        }
        at
    }

    /// Whether an escaped line break or tab stands at `at`, in a text that has such ones between all
    /// its tokens.
    pub(super) fn is_escaped_space(&self, at: usize) -> bool {
        self.has_escaped_space
            && ["\\n", "\\t", "\\r"].contains(&self.text.get(at..at + 2).unwrap_or_default())
    }

    /// Behind the closers and the white space at `at`.
    pub(super) fn behind_closers(&self, at: usize) -> usize {
        let mut at = self.space(at);
        while at < self.tail && self.rest(at).starts_with(['}', ']']) {
            at = self.space(at + 1);
        }
        at
    }

    /// White space and comments.
    fn trivia(&self, at: usize) -> usize {
        let mut at = self.space(at);
        let quotes_end = at + MAX_COMMENT;
        while let Some(length) = self.comment_length(at, quotes_end) {
            at = self.space(at + length);
        }
        at
    }

    /// The length of the comment at `at`, if it is one, not long, and without quotes behind
    /// `quotes_end`: but for so much, look-ahead never passes the next quote, so that all of it
    /// together reads the text once.
    fn comment_length(&self, at: usize, quotes_end: usize) -> Option<usize> {
        let rest = self.rest(at);
        if !rest.starts_with(['/', '#']) {
            return None;
        }
        let end = if rest.starts_with("/*") {
            "*/"
        } else if rest.starts_with("//") || rest.starts_with("# ") {
            "\n"
        } else {
            return None;
        };
        let window = rest.as_bytes().get(..rest.len().min(MAX_COMMENT))?;
        let found = window
            .windows(end.len())
            .skip(2)
            .position(|bytes| bytes == end.as_bytes())?;
        let length = found + 2 + end.len();
        let holds_quote = window.get(..length)?.contains(&b'"');
        (!holds_quote || at + length <= quotes_end).then_some(length)
    }

    /// How far the string is strict that opens at `start`.
    pub(super) fn strict_end(&self, start: usize) -> StrictEnd {
        match self.attempt.string_at(start) {
            Some(string) => StrictEnd::Quote(string.end - 1),
            None if self.attempt.open == Some(start) => StrictEnd::Text,
            None => string::strict_end(self.text, start + 1),
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.rest(at).chars().next()
    }

    /// What a quote is that ends at `after`, as the end of a value in the innermost frame.
    pub(super) fn judge(&self, after: usize, stack: &[Frame<'t>]) -> End {
        let at = self.space(after);
        if at >= self.tail {
            return End::Certain;
        }
        let Some((frame, _)) = stack.split_last() else {
            return match self.char_at(at) {
                Some('+') => self.before_plus(at, at),
                _ => self.before_rest(after),
            };
        };
        match self.char_at(at) {
            Some(',' | '，' | ';') => self.after_comma(at, stack),
            Some(')') if frame.group.is_none() => End::Content,
            Some('}' | ']' | '｝' | '］' | ')') => self.closers(at, stack),
            Some('"' | '\'' | '“') => self.without_comma(after, at, frame),
            Some('+') => self.before_plus(after, at),
            Some('/') if self.rest(at).starts_with("/*") => self.before_comment(at, stack),
            Some('/') if at == after && starts_literal(self.rest(at)) => End::Content,
            Some('/') if self.rest(at).starts_with("//") => self.before_comment(at, stack),
            Some('/' | '#') if at > after => self.before_comment(at, stack),
            Some(next) if at > after => self.before_bare(after, at, next, frame),
            _ => End::Content,
        }
    }

    /// A string that is the whole value ends with the text, if that ends like a string.
    fn before_rest(&self, after: usize) -> End {
        let quote = self
            .text
            .get(..after)
            .and_then(|text| text.chars().next_back());
        let ends_alike = quote.is_some_and(|quote| {
            self.text
                .get(after..self.tail)
                .is_some_and(|rest| rest.ends_with(quote))
        });
        if ends_alike { End::Content } else { End::Faint }
    }

    /// The string goes on in another literal.
    fn before_plus(&self, after: usize, plus: usize) -> End {
        let next = self.space(plus + 1);
        let has_space = plus > after || next > plus + 1;
        let mut literal = self.rest(next).chars();
        let opens = matches!(literal.next(), Some('"' | '\''));
        // Behind a closing quote the code goes on.
        let closes = matches!(literal.next(), Some(',' | ')' | ']' | '}' | ';'));
        if opens && has_space && !closes {
            End::Member
        } else {
            End::Content
        }
    }

    /// A comment, and behind it what may follow a value.
    fn before_comment(&self, comment: usize, stack: &[Frame<'t>]) -> End {
        let at = self.trivia(comment);
        if at == comment {
            return End::Content;
        }
        let end = match self.char_at(at) {
            _ if at >= self.tail => End::Member,
            Some(',') => self.after_comma(at, stack),
            Some('}' | ']') => self.closers(at, stack),
            Some('"') => stack
                .last()
                .map_or(End::Content, |frame| self.without_comma(comment, at, frame)),
            _ => End::Content,
        };
        end.at_most(End::Member)
    }

    /// A quoted key or item without a comma before it.
    fn without_comma(&self, after: usize, at: usize, frame: &Frame<'t>) -> End {
        let end = match key::quoted(self.rest(at)) {
            Some(key) if frame.is_object => self.before_key(at, key, frame),
            _ if !frame.is_object => End::Item,
            _ => End::Content,
        };
        match end {
            // Two quotes side by side are an empty literal, if not before a known key.
            End::Certain if at > after || !balance::may_open(self.text, after - 1) => End::Certain,
            _ if at == after => End::Content,
            other => other,
        }
    }

    /// A bare key on a line of its own, or a number or container as the next item.
    fn before_bare(&self, after: usize, at: usize, next: char, frame: &Frame<'t>) -> End {
        let rest = self.rest(at);
        if !frame.is_object {
            return if starts_value(next, rest) {
                End::Item
            } else {
                End::Content
            };
        }
        let is_on_new_line = self
            .text
            .get(after..at)
            .is_some_and(|space| space.contains('\n'));
        match key::bare(rest) {
            Some(key) if is_on_new_line => self.before_key(at, key, frame),
            _ => End::Content,
        }
    }

    fn after_comma(&self, comma: usize, stack: &[Frame<'t>]) -> End {
        let (at, has_comment) = self.behind_comma(comma);
        if at >= self.tail {
            return End::Member;
        }
        let Some((frame, _)) = stack.split_last() else {
            return End::Faint;
        };
        let rest = self.rest(at);
        let end = match rest.chars().next() {
            Some('}' | ']' | '｝' | '］') => self.closers(at, stack),
            Some('.' | '…') => match self.behind_ellipsis(at) {
                Some(closer) => self.closers(closer, stack).at_most(End::Member),
                None => End::Content,
            },
            Some(_) if frame.is_object => match self.key_at(at) {
                Some(key) => self.before_key(at, key, frame),
                // A key that the text breaks off in.
                None if is_broken_off_key(rest) => End::Member,
                None => self.before_broken_member(rest, frame),
            },
            Some('{') => self.before_object(at, frame),
            Some(next) if starts_value(next, rest) => End::Item,
            Some(_) if key::ends_item(rest) || self.is_bare_item(at) => End::Broken,
            _ => End::Content,
        };
        if has_comment {
            end.at_most(End::Member)
        } else {
            end
        }
    }

    /// Behind a comma and its likes (doubled ones are one), and whether comments stand there.
    fn behind_comma(&self, comma: usize) -> (usize, bool) {
        let length = self.char_at(comma).map_or(1, char::len_utf8);
        let first = self.space(comma + length);
        let mut at = self.trivia(first);
        let has_comment = at > first;
        while self.rest(at).starts_with(',') {
            at = self.trivia(at + 1);
        }
        (at, has_comment)
    }

    /// What stands behind a value that ends at `after`, and its comma.
    pub(super) fn behind_next_comma(&self, after: usize) -> Option<usize> {
        let comma = self.space(after);
        let is_comma = matches!(self.char_at(comma), Some(',' | '，' | ';'));
        is_comma.then(|| self.behind_comma(comma).0)
    }

    /// The quoted key there, and the object that it is one of, where closers may stand before the
    /// comma.
    pub(super) fn next_key<'s>(
        &self,
        after: usize,
        stack: &'s [Frame<'t>],
    ) -> Option<(&'s Frame<'t>, &'t str)> {
        let mut at = self.space(after);
        let mut open = stack;
        while let Some(closer) = self.closer_at(at) {
            let found = closer.position_in(open).unwrap_or(open.len());
            open = open.get(..found)?;
            at = self.space(at + closer.length);
        }
        let key = self.behind_next_comma(at)?;
        let key = self.key_at(key)?;
        Some((open.last().or(stack.first())?, key.name))
    }

    /// An object as the next item of an array.
    fn before_object(&self, brace: usize, array: &Frame<'t>) -> End {
        let item = self.tree.item(array.place, array.len);
        let is_known = key::quoted(self.rest(self.space(brace + 1)))
            .is_some_and(|key| self.tree.declares(item, &key::decoded(key.name)));
        if is_known { End::Certain } else { End::Item }
    }

    /// Whether a key can only be the next member of `frame`.
    fn before_key(&self, at: usize, key: Key<'t>, frame: &Frame<'t>) -> End {
        let colon = at + key.colon;
        let separator = if self.rest(colon).starts_with("=>") {
            2
        } else {
            self.char_at(colon).map_or(1, char::len_utf8)
        };
        let value = self.space(colon + separator);
        let next = self.char_at(value).filter(|_| value < self.tail);
        let name = key::decoded(key.name);
        let is_new = !frame.keys.contains(&name);
        let is_like_others = frame.keys.is_empty() || frame.key_quote == key.quote;
        let is_known = self.tree.declares(frame.place, &name);
        if is_new && is_like_others && is_known && self.may_begin(next, frame.place, &name) {
            return End::Certain;
        }
        let has_value = next.is_none_or(|next| {
            starts_value(next, self.rest(value))
                && (self.tree.is_open(frame.place) || self.is_value(value))
        });
        // Code between two quotes, with a colon behind them, looks like a long key.
        let is_plain = key.name.len() <= MAX_PLAIN_KEY && !key.name.contains(['{', '}']);
        let takes_any = self.takes_any_key(frame);
        if !is_plain && has_value {
            // No key holds a line break, but code between two literals does.
            let is_code = key.name.contains("\\n") && !takes_any;
            return if is_code { End::Last } else { End::Faint };
        }
        let is_item = is_new && is_like_others && takes_any;
        let is_equation = self.rest(colon).starts_with('=') && separator == 1;
        match (has_value, key.is_quoted) {
            // An argument of code.
            (true, true) if is_equation => End::Faint,
            (true, _) if is_item => End::Item,
            (true, true) => End::Member,
            // Named arguments of code look like this, members beside quoted keys do not.
            (_, false) if !is_like_others && self.rest(colon).starts_with('=') => End::Content,
            (false, false) if !is_like_others => End::Content,
            (_, false) => End::Faint,
            (false, true) => End::Content,
        }
    }

    /// Whether a property's value may begin with this character: a container stands only where
    /// one is declared.
    fn may_begin(&self, next: Option<char>, place: Place, key: &str) -> bool {
        match next {
            Some('{' | '[') => {
                let kinds = self.tree.kinds_at(self.tree.member(place, key));
                kinds.meets(Kinds::CONTAINERS)
            }
            _ => true,
        }
    }

    /// Whether the schema says nothing about the keys of the innermost object.
    pub(super) fn knows_no_keys(&self, stack: &[Frame<'t>]) -> bool {
        stack
            .last()
            .is_some_and(|frame| frame.is_object && self.takes_any_key(frame))
    }

    fn takes_any_key(&self, frame: &Frame<'t>) -> bool {
        self.tree.is_open(frame.place) && !self.tree.declares_any(frame.place)
    }

    /// A run of closers, against the stack. What follows it is looked at with a shorter stack, or
    /// holds no closers: no text makes this go deeper than it nests.
    fn closers(&self, from: usize, stack: &[Frame<'t>]) -> End {
        let start = self.last_closers(from, stack);
        let end = self.closers_at(start, stack);
        if start > from {
            end.at_most(End::Faint)
        } else {
            end
        }
    }

    /// The last of several runs of closers with commas between them, of which all before it close
    /// nothing.
    fn last_closers(&self, from: usize, stack: &[Frame<'t>]) -> usize {
        let mut at = from;
        loop {
            let mut comma = at;
            let surplus = |closer: &Closer| closer.position_in(stack).is_none();
            while let Some(closer) = self.closer_at(comma).filter(surplus) {
                comma = self.space(comma + closer.length);
            }
            if comma == at || self.char_at(comma) != Some(',') {
                return at;
            }
            let (next, _) = self.behind_comma(comma);
            let next = self.behind_ellipsis(next).unwrap_or(next);
            if next >= self.tail || self.closer_at(next).is_none() {
                return at;
            }
            at = next;
        }
    }

    fn closer_at(&self, at: usize) -> Option<Closer> {
        let closer = self.char_at(at).filter(|_| at < self.tail)?;
        let ends_object = match closer {
            '}' | '｝' => true,
            ']' | '］' | ')' => false,
            _ => return None,
        };
        Some(Closer {
            ends_object,
            length: closer.len_utf8(),
        })
    }

    fn closers_at(&self, from: usize, stack: &[Frame<'t>]) -> End {
        let mut at = from;
        // Behind the last closer.
        let mut last = from;
        let mut open = stack;
        let mut fits = true;
        while let Some(closer) = self.closer_at(at) {
            let found = closer.position_in(open);
            fits &= found.is_some_and(|found| found + 1 == open.len());
            open = open.get(..found.unwrap_or(open.len())).unwrap_or_default();
            last = at + closer.length;
            at = self.space(last);
            if !open.is_empty() {
                let behind = self.trivia(at);
                fits &= behind == at;
                at = behind;
            }
        }
        if at >= self.tail {
            return if fits { End::Certain } else { End::Member };
        }
        let end = match (open.split_last(), self.char_at(at)) {
            (Some(_), Some(',' | '，' | ';')) => self.after_comma(at, open),
            (Some((frame, _)), Some('"')) => self.without_comma(last, at, frame),
            (Some((array, _)), Some('{')) if !array.is_object => End::Item,
            (None, _) => self.after_root(at, stack),
            _ => End::Content,
        };
        if fits { end } else { end.at_most(End::Faint) }
    }

    /// Behind the closers of the whole value: another document, a member behind a closer too many,
    /// or no JSON.
    fn after_root(&self, at: usize, stack: &[Frame<'t>]) -> End {
        let next = if self.rest(at).starts_with(',') {
            self.space(at + 1)
        } else {
            at
        };
        let rest = self.rest(next);
        let is_object = stack.first().is_some_and(|root| root.is_object);
        let is_member = next > at && is_object && rest.starts_with('"');
        let inside = rest.strip_prefix(['{', '[']).map(|_| self.space(next + 1));
        let is_document = inside.is_some_and(|inside| {
            matches!(self.char_at(inside), Some('"' | '\'' | '{' | '}' | ']'))
        });
        let is_alike = is_object
            && rest.starts_with('{')
            && inside.and_then(|key| self.key_at(key)).is_some_and(|key| {
                let root = stack.first().and_then(|root| root.place);
                self.tree.declares(root, &key::decoded(key.name))
            });
        if is_alike {
            End::Member
        } else if is_member || is_document {
            End::Faint
        } else {
            End::Last
        }
    }

    /// Whether a quote at `at` opens a key that proves that the string before it lost its own.
    pub(super) fn opens_known_key(&self, at: usize, frame: &Frame<'t>) -> bool {
        frame.is_object
            && key::quoted(self.rest(at)).is_some_and(|key| {
                let is_new = !frame.keys.contains(&key::decoded(key.name));
                (is_new && self.takes_any_key(frame))
                    || self.before_key(at, key, frame) == End::Certain
            })
    }
}

/// A closing bracket of the text.
struct Closer {
    ends_object: bool,
    /// In bytes.
    length: usize,
}

impl Closer {
    /// The innermost container that it can close.
    fn position_in(&self, stack: &[Frame<'_>]) -> Option<usize> {
        stack
            .iter()
            .rposition(|frame| frame.is_object == self.ends_object)
    }
}

/// Whether text directly behind a quote is the beginning of a literal in code: on its line another
/// quote stands before what follows a literal.
fn starts_literal(rest: &str) -> bool {
    let window = rest.as_bytes().get(..rest.len().min(MAX_COMMENT));
    let line = window
        .unwrap_or_default()
        .split(|byte| *byte == b'\n')
        .next();
    line.unwrap_or_default()
        .windows(2)
        .any(|pair| matches!(pair, [b'"', b',' | b')' | b']' | b'}' | b';' | b':']))
}
