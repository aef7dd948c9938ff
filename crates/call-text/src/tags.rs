//! Calls in tags: a name, and one tag for each parameter.
//!
//! `<function=f><parameter=k>v</parameter></function>`, `<invoke name="f"><parameter name="k">`,
//! `<function name="f"><param name="k">`, with or without a prefix in the tags. One reader for all
//! of them: what differs is spelling.

mod tag;

pub(crate) use tag::{any_tag, ends_other, tag};

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

use crate::body::{self, Around, Mark};
use crate::cursor::{Beginning, Cursor, Look, Stop, beginning};
use crate::literal;
use crate::paused::Paused;
use crate::printed::{Ending, ObjectWriter, Printed, clean_name, string};
use crate::tools::Context;
use crate::typing::Place;
use crate::values::{self, Bare, Broken};

/// Words of the tag around a call.
const CALL_WORDS: &[&str] = &["function", "invoke"];
/// Words of the tag around a parameter.
const PARAMETER_WORDS: &[&str] = &["parameter", "param"];
/// Longest tag, in bytes.
pub(crate) const MAX_TAG: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Call,
    Parameter,
    List,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag<'t> {
    pub(crate) role: Role,
    pub(crate) is_closing: bool,
    is_empty: bool,
    /// What stands behind its first word.
    attributes: &'t str,
    pub(crate) length: usize,
}

/// Whether a tag around a call may begin at the start of a text: by its first letters, unless it
/// has a prefix.
pub(crate) fn may_open_call(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('<') else {
        return false;
    };
    let first = inside.bytes().next();
    if first.is_none_or(|byte| !byte.is_ascii() || byte == b'|') {
        return true;
    }
    if CALL_WORDS
        .iter()
        .any(|word| beginning(inside, word) != Beginning::Other)
    {
        return true;
    }
    let prefix = inside
        .bytes()
        .take(MAX_TAG)
        .take_while(u8::is_ascii_alphanumeric);
    matches!(inside.as_bytes().get(prefix.count()), None | Some(b':'))
}

/// Reads one call and steps over it.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let open = tag(cursor)?;
    if open.role != Role::Call || open.is_closing || open.name().is_empty() {
        return Err(Stop::Not);
    }
    let name = clean_name(open.name()).into_owned();
    if !context.knows(&name) {
        return Err(Stop::Not);
    }
    cursor.at += open.length;
    if open.is_empty {
        return Ok(vec![Printed::new(name, "{}").ending(Ending::Closed)]);
    }
    let mut body = *cursor;
    body.skip_space();
    if body.peek_or_end()? == b'{' || body::encoded(body)?.is_some() {
        return json_body(cursor, body, name, close, context);
    }
    let place = Place::arguments(context.schema(&name));
    let mut parameters = Parameters {
        writer: ObjectWriter::new(),
        seen: BTreeSet::new(),
        count: 0,
        whole: None,
        next: Cell::new(None),
    };
    let ending = read_parameters(cursor, &mut parameters, close, place)
        .inspect_err(|_| cursor.pause(|| Paused::Tags(PARAMETER_WORDS)))?;
    Ok(vec![parameters.into_call(name, ending)])
}

/// Words for the arguments as a whole.
const WHOLE_WORDS: &[&str] = &[
    "arguments",
    "args",
    "input",
    "parameters",
    "params",
    "properties",
    "kwargs",
];

/// The parameters of a call so far.
struct Parameters<'t> {
    writer: ObjectWriter,
    seen: BTreeSet<&'t str>,
    count: usize,
    /// The value of an undeclared parameter that holds the arguments as a whole.
    whole: Option<String>,
    /// The tag behind the end of the last value, and its place.
    next: Cell<Option<(usize, Tag<'t>)>>,
}

impl<'t> Parameters<'t> {
    fn add(&mut self, key: &'t str, raw: &str, is_string: Option<bool>, place: Place<'_>) {
        let place = place.property(key);
        let is_whole = WHOLE_WORDS.contains(&key)
            && !place.is_known()
            && raw.trim_start().starts_with('{')
            && literal::is_loose_value(raw.trim());
        if is_whole {
            self.whole = Some(raw.trim().to_owned());
        }
        let json = match is_string {
            Some(true) => Cow::Owned(string(raw)),
            _ => place.json(raw),
        };
        self.writer.member(key, &json);
        self.seen.insert(key);
        self.count += 1;
    }

    fn into_call(self, name: String, ending: Ending) -> Printed {
        let arguments = match (self.whole, self.count, ending) {
            (Some(whole), 1, _) => whole,
            (_, _, Ending::Cut) => self.writer.cut(),
            _ => self.writer.close(),
        };
        Printed::new(name, arguments).ending(ending)
    }
}

/// Reads parameters up to the end of the call and steps over it.
fn read_parameters<'t>(
    cursor: &mut Cursor<'t>,
    parameters: &mut Parameters<'t>,
    close: &[&'static str],
    place: Place<'_>,
) -> Look<Ending> {
    loop {
        cursor.skip_space();
        if cursor.rest().is_empty() {
            return if cursor.is_end {
                Ok(Ending::Cut)
            } else {
                Err(Stop::More)
            };
        }
        let known = parameters.next.take().filter(|(at, _)| *at == cursor.at);
        let next = match known {
            Some((_, tag)) => Some(tag),
            None => any_tag(cursor)?,
        };
        let is_parameter = next.is_some_and(|next| next.role == Role::Parameter);
        if !is_parameter && cursor.sees_any(close)?.is_some() {
            return Ok(Ending::Closed);
        }
        match next {
            Some(next) if next.role == Role::Call && next.is_closing => {
                cursor.at += next.length;
                return Ok(Ending::Closed);
            }
            Some(next) if next.role == Role::Parameter && !next.is_closing => {
                cursor.at += next.length;
                let key = next.name();
                let value = Value {
                    key,
                    seen: &parameters.seen,
                    next: &parameters.next,
                    close,
                    place,
                    is_verbatim: next.is_string() == Some(true),
                };
                let Some(raw) = value.read(cursor)? else {
                    cursor.at = cursor.text.len();
                    return Ok(Ending::Cut);
                };
                parameters.add(key, raw, next.is_string(), place);
            }
            // A stray closing tag.
            Some(next) if next.role == Role::Parameter => cursor.at += next.length,
            Some(next) if next.role == Role::List || next.role == Role::Call => {
                return Ok(Ending::Closed);
            }
            _ if parameters.seen.is_empty() => return Err(Stop::Not),
            _ => return Ok(Ending::Cut),
        }
    }
}

/// `<function=f>{…}</function>`.
fn json_body(
    cursor: &mut Cursor<'_>,
    mut body: Cursor<'_>,
    name: String,
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let start = body.at;
    let read = match body::encoded(body)? {
        Some(text) => {
            body.at += text.len();
            Ok(())
        }
        None if body::is_elided(body)? => return Err(Stop::Not),
        None => values::read(&mut body, Bare::Literals).map(|_| ()),
    };
    match read {
        Ok(()) => {
            let ending = match json_end(start, body, close, context)? {
                None => Ending::Own,
                Some((end, ending)) => {
                    body.at = end;
                    ending
                }
            };
            let arguments = body.since(start).to_owned();
            let mut after = body;
            after.skip_space();
            match tag(&after) {
                Ok(tag) if tag.role == Role::Call && tag.is_closing => after.at += tag.length,
                Err(Stop::More) => return Err(Stop::More),
                _ => after = body,
            }
            cursor.at = after.at;
            return Ok(vec![Printed::new(name, arguments).ending(ending)]);
        }
        Err(Broken::More) => return Err(Stop::More),
        Err(_) => {}
    }
    // Broken JSON ends at a closing tag.
    let rest = body.rest();
    for (at, _) in rest.match_indices('<') {
        let mut here = body;
        here.at += at;
        let closes = match tag(&here) {
            Ok(tag) => tag.is_closing && tag.role != Role::Parameter,
            Err(Stop::More) => return Err(Stop::More),
            Err(Stop::Not) => here.sees_any(close)?.is_some(),
        };
        if closes {
            let arguments = here.since(start).trim_end().to_owned();
            if let Ok(tag) = tag(&here)
                && tag.role == Role::Call
            {
                here.at += tag.length;
            }
            cursor.at = here.at;
            return Ok(vec![Printed::new(name, arguments).ending(Ending::Closed)]);
        }
    }
    if !body.is_end {
        return Err(Stop::More);
    }
    cursor.at = cursor.text.len();
    Ok(vec![
        Printed::new(name, rest.trim_end()).ending(Ending::Cut),
    ])
}

/// Where the JSON in a tag ends whose brackets are balanced at `behind`, if that is not its end.
fn json_end(
    start: usize,
    behind: Cursor<'_>,
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Option<(usize, Ending)>> {
    let mark = |here: Cursor<'_>| {
        if !here.rest().is_empty() && !here.rest().starts_with('<') {
            return Ok(None);
        }
        match tag(&here) {
            Ok(tag) if tag.is_closing && tag.role != Role::Parameter => Ok(Some(Mark::Close)),
            Ok(tag) if tag.role == Role::Call && context.knows(&clean_name(tag.name())) => {
                Ok(begins_call(here, tag, tag.role)?.then_some(Mark::Open))
            }
            Err(Stop::More) => Err(Stop::More),
            _ => Ok(here.sees_any(close)?.map(|_| Mark::Close)),
        }
    };
    let around = Around {
        is_closed: true,
        look: usize::MAX,
        mark: &mark,
        follows: &|here| match tag(&here) {
            Err(Stop::More) => Err(Stop::More),
            tag => Ok(tag.is_ok() || here.sees_any(close)?.is_some()),
        },
    };
    body::goes_on(start, behind, &around)
}

/// A parameter's value being read.
struct Value<'v, 't, 's> {
    key: &'t str,
    seen: &'v BTreeSet<&'t str>,
    /// The tag behind an end of the value, and its place.
    next: &'v Cell<Option<(usize, Tag<'t>)>>,
    close: &'v [&'static str],
    place: Place<'s>,
    /// Whether the syntax adds no line breaks.
    is_verbatim: bool,
}

impl<'t> Value<'_, 't, '_> {
    /// The text of the value, without the line breaks that the syntax adds; steps over its end.
    /// `None`: the text ended inside.
    fn read(&self, cursor: &mut Cursor<'t>) -> Look<Option<&'t str>> {
        const CDATA: &str = "<![CDATA[";
        let mut ahead = *cursor;
        ahead.skip_space();
        if ahead.eat(CDATA)? {
            let rest = ahead.rest();
            if let Some(end) = rest.find("]]>") {
                ahead.at += end + 3;
                *cursor = ahead;
                cursor.skip_space();
                let text = rest.get(..end).unwrap_or_default();
                if let Some(tag) = any_tag(cursor)?
                    && tag.is_closing
                    && tag.role == Role::Parameter
                {
                    cursor.at += tag.length;
                }
                return Ok(Some(text));
            }
            return cursor.more().or_else(|stop| match stop {
                Stop::Not => Ok(None),
                Stop::More => Err(Stop::More),
            });
        }
        let start = cursor.at;
        let mut at = start;
        let mut nested = Nested::default();
        loop {
            let rest = cursor.text.get(at..).unwrap_or_default();
            let Some(next) = rest.find('<') else {
                return if cursor.is_end {
                    Ok(None)
                } else {
                    Err(Stop::More)
                };
            };
            let mut here = *cursor;
            here.at = at + next;
            let tag = any_tag(&here)?;
            let is_inner = match tag {
                Some(tag) => nested.see(here, tag)?,
                None => false,
            };
            let mut end = if is_inner {
                None
            } else {
                self.end_at(here, tag)?
            };
            if let Some(after) = end
                && self.is_content(after, here.since(start), tag, here)?
            {
                end = None;
            }
            if nested.is_doubtful || end.is_some() && !nested.may_end(tag) {
                // What of the rest is the value, and what a call, cannot be known.
                return if cursor.is_end {
                    Ok(None)
                } else {
                    Err(Stop::More)
                };
            }
            if let Some(after) = end {
                let raw = here.since(start);
                cursor.at = after;
                return Ok(Some(if self.is_verbatim {
                    raw
                } else {
                    without_added_breaks(raw)
                }));
            }
            at = here.at + 1;
        }
    }

    /// Whether what seems to end the value is content: the tags that would close the call are
    /// followed by another one that closes a parameter.
    fn is_content(
        &self,
        after: usize,
        raw: &str,
        tag: Option<Tag<'_>>,
        here: Cursor<'_>,
    ) -> Look<bool> {
        /// How many closing tags are looked behind.
        const MAX_CLOSING: usize = 4;
        let is_own = tag.is_some_and(|tag| tag.is_closing && tag.role == Role::Parameter);
        if is_own && !raw.contains('<') || tag.is_some_and(|tag| !tag.is_closing) {
            return Ok(false);
        }
        let mut ahead = Cursor { at: after, ..here };
        for closed in 0..MAX_CLOSING {
            ahead.skip_space();
            if ahead.rest().is_empty() {
                return if ahead.is_end {
                    Ok(false)
                } else {
                    Err(Stop::More)
                };
            }
            let next = any_tag(&ahead)?.filter(|tag| tag.is_closing);
            if next.is_some_and(|tag| tag.role == Role::Parameter) {
                return Ok(closed > 0);
            }
            ahead.at += match next {
                Some(tag) => tag.length,
                None => match ahead.sees_any(self.close)? {
                    Some(marker) => marker.len(),
                    None => return Ok(false),
                },
            };
        }
        Ok(false)
    }

    /// If the value ends at `here`, where this tag stands: where its end ends.
    fn end_at(&self, here: Cursor<'t>, tag: Option<Tag<'_>>) -> Look<Option<usize>> {
        let Some(tag) = tag else {
            return self.end_without_tag(here);
        };
        let mut ahead = here;
        ahead.at += tag.length;
        match (tag.role, tag.is_closing) {
            (Role::Parameter, true) => Ok(self.goes_on_behind(ahead)?.then_some(ahead.at)),
            // The closing tag is missing: the next parameter begins on its own line.
            (Role::Parameter, false) => {
                let name = tag.name();
                let is_new = !name.is_empty()
                    && name != self.key
                    && here
                        .text
                        .get(..here.at)
                        .is_some_and(|before| before.ends_with('\n'))
                    && !self.seen.contains(name)
                    && self.place.property(name).is_known();
                Ok(is_new.then_some(here.at))
            }
            (Role::Call | Role::List, true) => Ok(self.goes_on_outside(ahead)?.then_some(here.at)),
            _ => Ok(None),
        }
    }

    /// The same where no tag stands: `</key>` in place of `</parameter>`, or a closing marker.
    fn end_without_tag(&self, here: Cursor<'t>) -> Look<Option<usize>> {
        let mut ahead = here;
        let is_mismatch = ahead.eat("</")? && !self.key.is_empty() && {
            let rest = ahead.rest();
            if rest.len() <= self.key.len() && !ahead.is_end && self.key.starts_with(rest) {
                return Err(Stop::More);
            }
            rest.strip_prefix(self.key)
                .is_some_and(|rest| rest.starts_with('>'))
        };
        if !is_mismatch {
            let Some(close) = here.sees_any(self.close)? else {
                return Ok(None);
            };
            ahead.at = here.at + close.len();
            return Ok(self.goes_on_outside(ahead)?.then_some(here.at));
        }
        ahead.at += self.key.len() + 1;
        Ok(self.goes_on_behind(ahead)?.then_some(ahead.at))
    }

    /// Whether what follows an end of the value can follow one; `fits` judges a tag.
    fn next_fits(&self, mut ahead: Cursor<'t>, fits: impl Fn(Tag<'_>) -> bool) -> Look<bool> {
        ahead.skip_space();
        if ahead.rest().is_empty() {
            return if ahead.is_end {
                Ok(true)
            } else {
                Err(Stop::More)
            };
        }
        match any_tag(&ahead)? {
            Some(tag) if fits(tag) => {
                self.next.set(Some((ahead.at, tag)));
                Ok(true)
            }
            _ => Ok(ahead.sees_any(self.close)?.is_some()),
        }
    }

    /// The same behind a closing parameter tag.
    fn goes_on_behind(&self, ahead: Cursor<'t>) -> Look<bool> {
        self.next_fits(ahead, |tag| tag.role != Role::Parameter || !tag.is_closing)
    }

    /// The same behind the end of the whole call, which would be missing a closing parameter tag.
    fn goes_on_outside(&self, ahead: Cursor<'t>) -> Look<bool> {
        let mut next = ahead;
        next.skip_space();
        if let Some(tag) = any_tag(&next)?
            && !tag.is_closing
            && tag.role != Role::Parameter
        {
            return begins_call(next, tag, tag.role);
        }
        self.next_fits(ahead, |tag| tag.role != Role::Parameter)
    }
}

/// The calls that are written inside a value.
#[derive(Debug, Default)]
struct Nested {
    /// The tags in them that are open.
    open: Vec<Role>,
    /// Opening tags of calls and of lists that are only mentioned, as far as nothing closed them.
    mentioned: [usize; 2],
    any: bool,
    /// A tag ends what encloses the value while one inside is open.
    is_doubtful: bool,
}

impl Nested {
    /// Whether the tag that stands here belongs to a call inside the value.
    fn see(&mut self, here: Cursor<'_>, tag: Tag<'_>) -> Look<bool> {
        if tag.is_closing {
            let opened = self.open.iter().rposition(|role| *role == tag.role);
            if let Some(opened) = opened {
                self.open.truncate(opened);
                return Ok(true);
            }
            if let Some(count) = self.mentioned(tag.role).filter(|count| **count > 0) {
                *count -= 1;
                return Ok(true);
            }
            self.is_doubtful |= !self.open.is_empty();
            return Ok(false);
        }
        let begins = match tag.role {
            Role::Parameter => !self.open.is_empty(),
            role => begins_call(here, tag, role)?,
        };
        if begins {
            self.any = true;
            self.open.push(tag.role);
        } else if !tag.is_empty
            && let Some(count) = self.mentioned(tag.role)
        {
            *count += 1;
        }
        Ok(begins)
    }

    fn mentioned(&mut self, role: Role) -> Option<&mut usize> {
        let [calls, lists] = &mut self.mentioned;
        match role {
            Role::Call => Some(calls),
            Role::List => Some(lists),
            Role::Parameter => None,
        }
    }

    /// Whether a value with such calls may end with this tag: with nothing but its own.
    fn may_end(&self, tag: Option<Tag<'_>>) -> bool {
        !self.any || tag.is_some_and(|tag| tag.is_closing && tag.role == Role::Parameter)
    }
}

/// Whether an opening tag begins a call or a list, and is not only mentioned.
fn begins_call(here: Cursor<'_>, tag: Tag<'_>, role: Role) -> Look<bool> {
    if tag.is_empty || role == Role::Call && tag.name().is_empty() {
        return Ok(false);
    }
    let mut inner = here;
    inner.at += tag.length;
    inner.skip_space();
    if inner.peek_or_end()? == b'{' {
        return Ok(true);
    }
    Ok(any_tag(&inner)?.is_some_and(|next| match role {
        Role::List => next.role == Role::Call && !next.is_closing,
        _ => match next.role {
            Role::Parameter => !next.is_closing,
            role => role == Role::Call && next.is_closing,
        },
    }))
}

/// A value without the line breaks that the syntax adds: one at each end, or none.
pub(crate) fn without_added_breaks(raw: &str) -> &str {
    let inner = raw.strip_prefix("\r\n").or_else(|| raw.strip_prefix('\n'));
    let inner = inner.and_then(|inner| {
        let shorter = inner.strip_suffix("\r\n");
        shorter.or_else(|| inner.strip_suffix('\n'))
    });
    inner.unwrap_or(raw)
}
