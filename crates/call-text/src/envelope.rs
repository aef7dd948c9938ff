//! Name and arguments in the JSON, or the Python literals, of a printed call.

mod broken;
mod extent;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::body::{self, Around, Mark};
use crate::cursor::{Cursor, Look, Stop};
use crate::literal;
use crate::paused::Paused;
use crate::printed::{Ending, ObjectWriter, Printed, clean_name};
use crate::python;
use crate::tools::Context;
use crate::values::{self, Broken, Kind, PausedValue, Values};

use extent::extent;
pub(crate) use extent::{Strings, balanced, begins_as_call, broken_length, may_hold_call};

/// Keys under which the name stands.
const NAME_KEYS: &[&str] = &[
    "name",
    "tool",
    "tool_name",
    "function",
    "function_name",
    "tool_call",
];
/// Further ones, where calls are expected.
const MORE_NAME_KEYS: &[&str] = &[
    "func",
    "action",
    "api",
    "api_name",
    "recipient_name",
    "toolName",
    "functionName",
    "method",
    "call",
    "function_call",
];
/// Keys under which the arguments stand.
const ARGUMENT_KEYS: &[&str] = &["arguments", "parameters", "args", "input", "params"];
/// Further ones, where calls are expected.
const MORE_ARGUMENT_KEYS: &[&str] = &[
    "kwargs",
    "tool_input",
    "action_input",
    "tool_arguments",
    "function_args",
    "arguments_json",
    "parameter",
    "argument",
    "param",
    "toolArguments",
    "inputs",
    "tool_args",
];
/// Keys under which an id stands.
const ID_KEYS: &[&str] = &["id", "call_id", "tool_call_id", "tool_use_id"];
/// Keys that may stand beside them.
const OTHER_KEYS: &[&str] = &[
    "type",
    "index",
    "status",
    "reason",
    "thought",
    "explanation",
];
/// Keys under which a call, or a list of them, stands.
const WRAPPER_KEYS: &[&str] = &[
    "tool_calls",
    "function",
    "function_call",
    "tool_call",
    "function_calls",
    "calls",
    "tool_use",
];

/// What a reader of envelopes is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'f> {
    /// The markers of the next call.
    pub(crate) open: &'f [&'static str],
    /// The markers that may end a text which cannot be read otherwise.
    pub(crate) close: &'f [&'static str],
    /// Whether the tool's name may be the key: `{"f": {…}}`.
    pub(crate) name_is_key: bool,
}

impl Place<'_> {
    /// Whether no marker stands around.
    fn is_bare(self) -> bool {
        self.open.is_empty() && self.close.is_empty()
    }

    /// Whether the tool's name is always the key.
    fn is_named(self) -> bool {
        self.name_is_key && !self.open.is_empty()
    }

    /// Whether a key is the name of a tool.
    fn names(self, key: &str, context: Context<'_>) -> bool {
        self.is_named() && context.declares(key)
    }
}

/// Reads the JSON at the cursor as calls and steps over it. Where it is no JSON, the first closing
/// marker, or the end of the text, ends it.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    place: Place<'_>,
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    if !matches!(cursor.peek()?, '{' | '[') {
        return Err(Stop::Not);
    }
    let start = *cursor;
    match values::read(cursor, context.bare()) {
        Ok(values) => {
            let reader = Envelopes {
                values: &values,
                place,
                context,
            };
            let calls = reader.all(0).ok_or(Stop::Not)?;
            let end = cursor.at;
            let calls = with_end(calls, cursor, start, place, context);
            if matches!(calls, Err(Stop::More)) {
                start.pause(|| Paused::Value(PausedValue::whole(values, end, context.bare())));
            }
            calls
        }
        Err(Broken::More) => Err(Stop::More),
        Err(why) => {
            if !begins_as_call(start)? && !broken::begins_named(start, place, context)? {
                return Err(Stop::Not);
            }
            let is_cut = matches!(why, Broken::Cut(_));
            read_broken(cursor, start, is_cut, place, context)
        }
    }
}

/// The calls of the JSON that begins at `start` and whose brackets are balanced at the cursor; steps
/// over what else belongs to it.
fn with_end(
    calls: Vec<Printed>,
    cursor: &mut Cursor<'_>,
    start: Cursor<'_>,
    place: Place<'_>,
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    if place.is_bare() {
        // Brackets before may be what the text behind closes.
        if context.may_be_inside {
            return Ok(calls);
        }
        skip_closers(cursor)?;
        if breaks_off(start.at, *cursor, place)? {
            return read_broken(cursor, start, false, place, context);
        }
        return Ok(calls);
    }
    let balanced = cursor.at;
    let Some((end, ending)) = goes_on(start.at, *cursor, place)? else {
        return Ok(calls);
    };
    cursor.at = end;
    if body::is_only_closers(cursor.since(balanced)) {
        return Ok(calls);
    }
    broken::read(cursor.since(start.at), ending, place, context).ok_or(Stop::Not)
}

/// Reads what begins as a call at `start` and is no JSON, and steps over it.
fn read_broken(
    cursor: &mut Cursor<'_>,
    start: Cursor<'_>,
    is_cut: bool,
    place: Place<'_>,
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let (length, ending) = extent(start, place, is_cut)?;
    cursor.at = start.at + length;
    broken::read(cursor.since(start.at), ending, place, context).ok_or(Stop::Not)
}

/// Where the JSON ends whose brackets are balanced at `behind`, if that is not its end.
fn goes_on(start: usize, behind: Cursor<'_>, place: Place<'_>) -> Look<Option<(usize, Ending)>> {
    let mark = |mut here: Cursor<'_>| {
        if here.sees_any(place.close)?.is_some() {
            return Ok(Some(Mark::Close));
        }
        let is_open = here.eat_any(place.open)? && begins_as_call(here)?;
        Ok(is_open.then_some(Mark::Open))
    };
    let follows = |here: Cursor<'_>| {
        let is_value = matches!(here.peek_or_end()?, b'{' | b'[');
        Ok(is_value
            || here.sees_any(place.close)?.is_some()
            || here.sees_any(place.open)?.is_some())
    };
    let around = Around {
        // Models forget other markers.
        is_closed: place.close.iter().any(|marker| marker.starts_with("</")),
        look: if place.is_bare() {
            body::SHORT_LOOK
        } else {
            usize::MAX
        },
        mark: &mark,
        follows: &follows,
    };
    body::goes_on(start, behind, &around)
}

/// Whether JSON without markers goes on behind its balanced brackets: directly, and with no mark
/// that ends it in a list, in a sentence or in quotes of prose.
fn breaks_off(start: usize, behind: Cursor<'_>, place: Place<'_>) -> Look<bool> {
    let next = behind.peek_or_end()?;
    let ends =
        next.is_ascii_whitespace() || matches!(next, 0 | b',' | b'}' | b']' | b'.' | b'`' | b'\'');
    Ok(!ends && goes_on(start, behind, place)?.is_some())
}

/// Steps over surplus closing brackets.
fn skip_closers(cursor: &mut Cursor<'_>) -> Look<()> {
    let mut ahead = *cursor;
    loop {
        ahead.skip_space();
        if !matches!(ahead.peek_or_end()?, b'}' | b']') {
            return Ok(());
        }
        ahead.at += 1;
        *cursor = ahead;
    }
}

struct Envelopes<'v, 'f> {
    values: &'v Values<'v>,
    place: Place<'f>,
    context: Context<'v>,
}

impl<'v> Envelopes<'v, '_> {
    /// The calls of a value; `None` if it is not made of calls.
    fn all(&self, root: usize) -> Option<Vec<Printed>> {
        let mut calls = Vec::new();
        // Lists in lists are read in the order of the text.
        let mut waiting = Vec::new();
        let mut next = Some(root);
        while let Some(at) = next.take().or_else(|| waiting.pop()) {
            match self.values.node(at)?.kind {
                Kind::Object => {
                    let members = self.members(at);
                    match self.wrapped(&members) {
                        Some(inner) => next = Some(inner),
                        None => self.object(&members, &mut calls)?,
                    }
                }
                Kind::Array | Kind::Tuple => {
                    if let Some(pairs) = self.pairs(at) {
                        calls.extend(pairs);
                    } else {
                        let children: Vec<usize> = self.values.children(at).collect();
                        waiting.extend(children.into_iter().rev());
                    }
                }
                Kind::Call => calls.push(python::call(self.values, at, self.context)?),
                Kind::String if self.context.is_expected() => calls.extend(self.quoted(at)?),
                _ => return None,
            }
        }
        (!calls.is_empty()).then_some(calls)
    }

    fn key(&self, at: usize) -> Cow<'v, str> {
        literal::decode(self.values.source(at))
    }

    /// The members of an object.
    fn members(&self, at: usize) -> Vec<(Cow<'v, str>, usize)> {
        let mut children = self.values.children(at);
        let pairs = std::iter::from_fn(|| Some((children.next()?, children.next()?)));
        pairs.map(|(key, value)| (self.key(key), value)).collect()
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.values.node(at).map(|node| node.kind)
    }

    /// `{"tool_calls": […]}`, `{"type": "function", "function": {…}}`.
    fn wrapped(&self, members: &[(Cow<'v, str>, usize)]) -> Option<usize> {
        let is_container = |at: usize| {
            matches!(
                self.kind(at),
                Some(Kind::Object | Kind::Array | Kind::Tuple)
            )
        };
        let (_, inner) = members
            .iter()
            .find(|(key, value)| WRAPPER_KEYS.contains(&&**key) && is_container(*value))?;
        let has_name = members
            .iter()
            .any(|(key, value)| NAME_KEYS.contains(&&**key) && !is_container(*value));
        (!has_name).then_some(*inner)
    }

    fn object(&self, members: &[(Cow<'v, str>, usize)], calls: &mut Vec<Printed>) -> Option<()> {
        let expected = self.context.is_expected();
        let find = |keys: &[&str], more: &[&str]| {
            let more = if expected { more } else { &[] };
            keys.iter().chain(more).find_map(|wanted| {
                members
                    .iter()
                    .find(|(key, _)| key == wanted)
                    .map(|(_, at)| *at)
            })
        };
        let name = find(NAME_KEYS, MORE_NAME_KEYS)
            .filter(|at| matches!(self.kind(*at), Some(Kind::String | Kind::Word)))
            .map(|at| clean_name(&self.key(at)).into_owned());
        let Some(name) = name.filter(|name| self.context.knows(name)) else {
            calls.extend(self.named_by_key(members)?);
            return Some(());
        };
        let arguments = find(ARGUMENT_KEYS, MORE_ARGUMENT_KEYS);
        let is_envelope_key = |key: &str| {
            [NAME_KEYS, ARGUMENT_KEYS, ID_KEYS, OTHER_KEYS]
                .iter()
                .any(|keys| keys.contains(&key))
                || expected
                    && [MORE_NAME_KEYS, MORE_ARGUMENT_KEYS]
                        .iter()
                        .any(|keys| keys.contains(&key))
        };
        let beside = members.iter().any(|(key, _)| !is_envelope_key(key));
        let arguments = match arguments {
            Some(at) if beside && expected => {
                Some(self.merged(members, at, &name, &is_envelope_key)?)
            }
            Some(_) if beside => return None,
            Some(at) => Some(self.text_of(at)?),
            None if expected => match self.inline(members, &name)? {
                (_, 0) => None,
                (arguments, _) => Some(arguments),
            },
            None if beside => return None,
            None => None,
        };
        let id = ID_KEYS
            .iter()
            .find_map(|wanted| members.iter().find(|(key, _)| key == wanted))
            .map(|(_, at)| self.key(*at).into_owned())
            .filter(|id| !id.is_empty() && id.len() < 128);
        calls.push(Printed {
            name,
            arguments,
            id,
            ..Printed::default()
        });
        Some(())
    }

    /// The text of arguments: a container as it stands, or the content of a string.
    fn text_of(&self, at: usize) -> Option<String> {
        let source = self.values.source(at);
        Some(match self.kind(at)? {
            Kind::String => literal_text(source),
            Kind::Object | Kind::Word | Kind::Array | Kind::Tuple => source.to_owned(),
            Kind::Call | Kind::Keyword | Kind::Strings | Kind::Text => return None,
        })
    }

    /// `{"name": "f", "arguments": {"a": 5}, "b": 6}`.
    fn merged(
        &self,
        members: &[(Cow<'_, str>, usize)],
        arguments: usize,
        name: &str,
        is_envelope_key: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        if self.kind(arguments)? != Kind::Object {
            return None;
        }
        let parameters = self.context.parameters(name);
        let inside = self.members(arguments);
        let known: HashSet<&str> = inside.iter().map(|(key, _)| &**key).collect();
        let mut writer = ObjectWriter::new();
        for (key, at) in &inside {
            writer.member(key, &literal::to_json(self.values, *at)?);
        }
        for (key, at) in members.iter().filter(|(key, _)| !is_envelope_key(key)) {
            if !parameters.contains(&&**key) || known.contains(&**key) {
                return None;
            }
            writer.member(key, &literal::to_json(self.values, *at)?);
        }
        Some(writer.close())
    }

    /// `{"name": "f", "a": 5}`.
    ///
    /// The arguments, and how many there are; `None` if there is a key that is none.
    fn inline(&self, members: &[(Cow<'_, str>, usize)], name: &str) -> Option<(String, usize)> {
        let parameters = self.context.parameters(name);
        let mut writer = ObjectWriter::new();
        let mut count = 0;
        for (key, at) in members {
            let key = &**key;
            if parameters.contains(&key) && clean_name(&self.key(*at)) != name {
                writer.member(key, &literal::to_json(self.values, *at)?);
                count += 1;
            } else if ![NAME_KEYS, MORE_NAME_KEYS, ID_KEYS, OTHER_KEYS]
                .iter()
                .any(|keys| keys.contains(&key))
            {
                return None;
            }
        }
        Some((writer.close(), count))
    }

    /// `{"f": {…}}`, and several of them in one object.
    fn named_by_key(&self, members: &[(Cow<'_, str>, usize)]) -> Option<Vec<Printed>> {
        if !self.place.name_is_key && !self.context.is_expected() {
            return None;
        }
        let calls: Option<Vec<Printed>> = members
            .iter()
            .map(|(key, at)| {
                let name = clean_name(key);
                let is_known = self.place.names(&name, self.context)
                    || self.context.has_tool(&name)
                    || self.context.is_expected() && self.context.resolves(&name);
                let takes = is_known && self.kind(*at)? == Kind::Object;
                let inner = self.members(*at);
                // {"f": {"arguments": {…}}}
                let arguments = match inner.as_slice() {
                    [(key, value)]
                        if ARGUMENT_KEYS.contains(&&**key)
                            && self.kind(*value)? == Kind::Object
                            && !self.context.parameters(&name).contains(&&**key) =>
                    {
                        *value
                    }
                    _ => *at,
                };
                takes.then(|| Printed::new(name, self.values.source(arguments)))
            })
            .collect();
        calls.filter(|calls| !calls.is_empty())
    }

    /// `["f", {…}]`, `("f", {…})`, also several in a row.
    fn pairs(&self, at: usize) -> Option<Vec<Printed>> {
        let children: Vec<usize> = self.values.children(at).collect();
        if !self.context.is_expected() || children.is_empty() || children.len() % 2 == 1 {
            return None;
        }
        children
            .chunks_exact(2)
            .map(|pair| {
                let (name, arguments) = (*pair.first()?, *pair.last()?);
                let is_pair =
                    self.kind(name)? == Kind::String && self.kind(arguments)? == Kind::Object;
                let name = is_pair.then(|| self.key(name))?;
                let name = clean_name(&name);
                self.context
                    .knows(&name)
                    .then(|| Printed::new(name, self.values.source(arguments)))
            })
            .collect()
    }

    /// `"f(a=1)"`, also several calls in one string.
    fn quoted(&self, at: usize) -> Option<Vec<Printed>> {
        python::read_quoted(&self.key(at), self.context)
    }
}

/// The content of a string that holds the text of the arguments.
fn literal_text(source: &str) -> String {
    if source.starts_with('"')
        && let Ok(text) = serde_json::from_str(source)
    {
        return text;
    }
    literal::decode(source).into_owned()
}
