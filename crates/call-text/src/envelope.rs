//! Name and arguments in the JSON, or the Python literals, of a printed call.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::cursor::{Cursor, Look, Stop};
use crate::literal;
use crate::printed::{Ending, ObjectWriter, Printed, clean_name};
use crate::python;
use crate::tools::Context;
use crate::values::{self, Broken, Kind, Values};

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
            reader.all(0).ok_or(Stop::Not)
        }
        Err(Broken::More) => Err(Stop::More),
        Err(broken) => {
            if !begins_as_call(start)? {
                return Err(Stop::Not);
            }
            let is_cut = matches!(broken, Broken::Cut(_));
            let (length, ending) = extent(start, place, is_cut)?;
            let text = start.rest().get(..length).unwrap_or_default();
            let calls = forgiving(text, context).ok_or(Stop::Not)?;
            cursor.at = start.at + length;
            let is_cut = |call: &Printed| call.ending == Ending::Cut;
            Ok(calls
                .into_iter()
                .map(|call| {
                    if is_cut(&call) {
                        call
                    } else {
                        call.ending(ending)
                    }
                })
                .collect())
        }
    }
}

/// Whether a text that is no JSON can be a call all the same: its first key is one of a call.
pub(crate) fn begins_as_call(mut cursor: Cursor<'_>) -> Look<bool> {
    // No call begins with so many brackets; looking behind them each time would be slow.
    const MAX_BRACKETS: usize = 8;
    let mut brackets = 0;
    loop {
        cursor.skip_space();
        if !matches!(cursor.peek()?, '[' | '{' | '(' | '"' | '\'') {
            break;
        }
        cursor.at += 1;
        brackets += 1;
        if brackets > MAX_BRACKETS {
            return Ok(false);
        }
    }
    for keys in [NAME_KEYS, ARGUMENT_KEYS, ID_KEYS, OTHER_KEYS, WRAPPER_KEYS] {
        if cursor.sees_any(keys)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How far a text goes that cannot be read as JSON: to the first closing marker before which it
/// looks whole, else to the first one. The next call ends the search, unless it stands in a string:
/// there it is content, up to its own closing marker. Without any closing marker, to the end of the
/// paragraph or the text.
fn extent(cursor: Cursor<'_>, place: Place<'_>, is_cut: bool) -> Look<(usize, Ending)> {
    const PARAGRAPH_ENDS: &[&str] = &["\n\n", "\n```", "<|"];
    let rest = cursor.rest();
    if cursor.is_end
        && !is_cut
        && place.close.is_empty()
        && let Some(end) = balanced(rest)
    {
        return Ok((end, Ending::Own));
    }
    let mut first_close = None;
    let mut paragraph = None;
    let mut strings = Strings::default();
    // Calls inside a string whose closing marker has not come yet.
    let mut inner = 0_usize;
    // The last character that is not blank tells whether the text looks whole.
    let mut last = ' ';
    for (at, c) in rest.char_indices() {
        let here = rest.get(at..).unwrap_or_default();
        let begins_any = |words: &[&str]| words.iter().any(|word| here.starts_with(word));
        let looks_whole = matches!(last, '}' | ']');
        if begins_any(place.close) {
            if inner > 0 {
                inner -= 1;
            } else if looks_whole {
                return Ok((at, Ending::Closed));
            } else {
                first_close = first_close.or(Some(at));
            }
        } else if begins_any(place.open) && begins_marked_call(cursor, at, place.open)? {
            if first_close.is_none() && strings.may_hold(rest, at) {
                inner += 1;
                last = c;
                continue;
            }
            return Ok(match first_close {
                Some(close) => (close, Ending::Closed),
                None if looks_whole => (at, Ending::Own),
                None => (at, Ending::Cut),
            });
        }
        if looks_whole
            && paragraph.is_none()
            && begins_any(PARAGRAPH_ENDS)
            && !strings.may_hold(rest, at)
        {
            paragraph = Some(at);
        }
        strings.see(at, c);
        if !c.is_whitespace() {
            last = c;
        }
    }
    match (first_close, paragraph) {
        _ if !cursor.is_end => Err(Stop::More),
        (Some(at), _) => Ok((at, Ending::Closed)),
        _ if is_cut => Ok((rest.len(), Ending::Own)),
        (None, Some(at)) => Ok((at, Ending::Own)),
        _ if matches!(last, '}' | ']') => Ok((rest.trim_end().len(), Ending::Own)),
        _ => Err(Stop::Not),
    }
}

/// Whether a place may be inside a string whose inner quotes are not escaped.
#[derive(Default)]
struct Strings {
    is_open: bool,
    is_escaped: bool,
    /// Behind the last quote.
    behind_quote: usize,
}

impl Strings {
    fn see(&mut self, at: usize, c: char) {
        if c == '"' && !self.is_escaped {
            self.is_open = !self.is_open;
            self.behind_quote = at + 1;
        }
        self.is_escaped = c == '\\' && !self.is_escaped;
    }

    /// Whether a string holds the place `at`: a quote is open, or words stand behind the last one.
    fn may_hold(&self, text: &str, at: usize) -> bool {
        /// Most bytes that are looked at.
        const BEFORE: usize = 64;
        let from = self.behind_quote.max(at.saturating_sub(BEFORE));
        let from = (from..=at).find(|from| text.is_char_boundary(*from));
        let before = from.and_then(|from| text.get(from..at)).unwrap_or_default();
        let is_structure = |word: &str| {
            matches!(word, "" | "true" | "false" | "null")
                || word
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' | b'.'))
        };
        let mut words = before.split(|c: char| c.is_whitespace() || "{}[],:".contains(c));
        self.is_open || !words.all(is_structure)
    }
}

/// Whether a call begins behind the opening marker that stands `at` bytes behind the cursor.
fn begins_marked_call(mut cursor: Cursor<'_>, at: usize, open: &[&'static str]) -> Look<bool> {
    cursor.at += at;
    cursor.eat_any(open)?;
    begins_as_call(cursor)
}

/// Where the brackets and quotes of a broken text are balanced first, if nothing that could belong
/// to it follows.
fn balanced(text: &str) -> Option<usize> {
    // Looking through all that follows, for every broken call, would be slow.
    const MAX_LOOK: usize = 16 * 1024;
    let mut open = Vec::new();
    let mut quotes = 0_usize;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().take(MAX_LOOK) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quotes += 1,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    return None;
                }
                if open.is_empty() && quotes.is_multiple_of(2) {
                    let behind = text.get(at + 1..)?;
                    let follows =
                        behind.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
                    return (!follows.starts_with(['}', ']', '"', '\''])).then_some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// How long a broken text is that begins as a call and is none: what stands in it is no call either.
pub(crate) fn broken_length(cursor: Cursor<'_>, context: Context<'_>) -> Option<usize> {
    let is_broken = begins_as_call(cursor) == Ok(true)
        && matches!(
            values::read(&mut { cursor }, context.bare()),
            Err(Broken::Not)
        );
    let rest = cursor.rest();
    let end = || {
        balanced(rest)
            .or_else(|| rest.find("\n\n"))
            .unwrap_or(rest.len())
    };
    is_broken.then(end)
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
        let mut waiting = vec![root];
        while let Some(at) = waiting.pop() {
            match self.values.node(at)?.kind {
                Kind::Object => match self.wrapped(at) {
                    Some(inner) => waiting.push(inner),
                    None => calls.extend(self.object(at)?),
                },
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
        let children: Vec<usize> = self.values.children(at).collect();
        children
            .chunks_exact(2)
            .filter_map(|pair| Some((self.key(*pair.first()?), *pair.last()?)))
            .collect()
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.values.node(at).map(|node| node.kind)
    }

    /// `{"tool_calls": […]}`, `{"type": "function", "function": {…}}`.
    fn wrapped(&self, at: usize) -> Option<usize> {
        let members = self.members(at);
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

    fn object(&self, at: usize) -> Option<Vec<Printed>> {
        let members = self.members(at);
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
            return self.named_by_key(&members);
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
                Some(self.merged(&members, at, &name, &is_envelope_key)?)
            }
            Some(_) if beside => return None,
            Some(at) => Some(self.text_of(at)?),
            None if expected => match self.inline(&members, &name)? {
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
        Some(vec![Printed {
            name,
            arguments,
            id,
            ending: Ending::Own,
        }])
    }

    /// The text of arguments: a container as it stands, or the content of a string.
    fn text_of(&self, at: usize) -> Option<String> {
        let source = self.values.source(at);
        Some(match self.kind(at)? {
            Kind::String => literal_text(source),
            Kind::Object | Kind::Word | Kind::Array | Kind::Tuple => source.to_owned(),
            Kind::Call | Kind::Keyword => return None,
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
                let is_known = self.context.declares(&name)
                    || self.context.is_expected() && self.context.knows(&name);
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

/// Reads an object that is no JSON: the name by its key, the arguments as everything from their
/// key on that does not belong to the envelope. Several objects in a list are taken apart first.
fn forgiving(text: &str, context: Context<'_>) -> Option<Vec<Printed>> {
    let list = behind_wrappers(text);
    let Some(parts) = parts(list, context) else {
        // Where the first call ends cannot be told: it is reported, and none is run.
        let call = forgiving_one(list)?.ending(Ending::Cut);
        return context.knows(&call.name).then(|| vec![call]);
    };
    let calls: Vec<Printed> = parts.into_iter().filter_map(forgiving_one).collect();
    let is_known = calls.iter().all(|call| context.knows(&call.name));
    (is_known && !calls.is_empty()).then_some(calls)
}

/// The text behind the brackets of lists, and behind `{"tool_calls": [`.
fn behind_wrappers(text: &str) -> &str {
    let mut inside = text;
    loop {
        inside = inside.trim_start_matches(|c: char| c.is_whitespace() || "[(\"'".contains(c));
        let list = key_at(inside)
            .filter(|(key, _)| WRAPPER_KEYS.contains(key))
            .and_then(|(_, value)| value.strip_prefix('['));
        match list {
            Some(list) => inside = list,
            None => return inside,
        }
    }
}

/// The first key of the object at the start of a text, and the text from its value on.
fn key_at(text: &str) -> Option<(&str, &str)> {
    let key = text.strip_prefix('{')?.trim_start_matches('{').trim_start();
    let key = key.strip_prefix(['"', '\'']).unwrap_or(key);
    let length = key.find(|c: char| !(c.is_ascii_alphabetic() || c == '_'))?;
    let (key, rest) = key.split_at(length);
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let value = rest.trim_start().strip_prefix(':')?;
    Some((key, value.trim_start()))
}

/// The objects of a list of calls. A call begins where the one before it ended, never inside: there
/// it is content. Quotes tell nothing here, so brackets are counted; `None` where they leave in
/// doubt whether a call stands inside another.
fn parts<'t>(text: &'t str, context: Context<'_>) -> Option<Vec<&'t str>> {
    let mut starts: Vec<usize> = Vec::new();
    let (mut depth, mut quotes) = (0_i64, 0_usize);
    // Whether something inside a call looks like the next one.
    let mut seems_inside = false;
    let mut escaped = false;
    // What stands before, white space and separators aside.
    let mut before = '}';
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else {
            match c {
                '\\' => escaped = true,
                '"' => quotes += 1,
                '{' => {
                    let next = text.get(at..).unwrap_or_default();
                    if before == '}'
                        && let Some((key, value)) = key_at(next).filter(|(key, _)| is_call_key(key))
                    {
                        if depth == 0 && quotes.is_multiple_of(2) {
                            starts.push(at);
                        } else if depth <= 0 || is_known_name(key, value, context) {
                            return None;
                        } else {
                            seems_inside = true;
                        }
                    }
                    depth += 1;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        if !(c.is_whitespace() || matches!(c, ',' | ';')) {
            before = c;
        }
    }
    let in_doubt = starts.len() > 1 && depth < 0 || seems_inside && depth > 0;
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let parts = starts.iter().zip(ends);
    (!in_doubt).then(|| {
        parts
            .map(|(start, end)| text.get(*start..end).unwrap_or_default())
            .collect()
    })
}

/// Whether a printed call may begin with a key.
fn is_call_key(key: &str) -> bool {
    [NAME_KEYS, ARGUMENT_KEYS, ID_KEYS, OTHER_KEYS, WRAPPER_KEYS]
        .iter()
        .any(|keys| keys.contains(&key))
}

/// Whether a key and its value name a tool.
fn is_known_name(key: &str, value: &str, context: Context<'_>) -> bool {
    NAME_KEYS.contains(&key) && quoted(value).is_some_and(|name| context.knows(name))
}

fn forgiving_one(text: &str) -> Option<Printed> {
    let inside = text.trim_start().strip_prefix('{')?;
    let first_arguments = ARGUMENT_KEYS
        .iter()
        .filter_map(|key| after_keys(inside, key).next())
        .min();
    let names = NAME_KEYS
        .iter()
        .flat_map(|key| after_keys(inside, key))
        .filter_map(|after| Some((after, quoted(inside.get(after..)?)?)));
    let (before, behind): (Vec<_>, Vec<_>) =
        names.partition(|(at, _)| first_arguments.is_none_or(|arguments| *at < arguments));
    // What stands in the arguments names no call: behind them the last name is the call's own.
    let first = before.into_iter().min_by_key(|(at, _)| *at);
    let (name_at, name) = first.or_else(|| behind.into_iter().max_by_key(|(at, _)| *at))?;
    if let Some(from) = first_arguments.filter(|from| *from < name_at)
        && depth_between(inside, from, name_at) != Some(0)
    {
        let arguments = inside.get(from..).unwrap_or_default();
        return Some(Printed::new(name, arguments).ending(Ending::Cut));
    }
    // {"name": "f": {…}}
    let after_name = inside.get(name_at + name.len() + 2..).unwrap_or_default();
    let value = after_name
        .trim_start()
        .strip_prefix(':')
        .map(str::trim_start);
    let joined = value
        .filter(|value| value.starts_with('{'))
        .map(|value| inside.len() - value.len());
    // Nor are the arguments of a call in a value those of this one.
    let own_arguments = first_arguments.filter(|from| {
        *from < name_at
            || depth_between(inside, name_at, *from)
                .is_some_and(|depth| depth <= isize::from(joined.is_some()))
    });
    if first_arguments.is_some() && own_arguments.or(joined).is_none() {
        return Some(Printed::new(name, after_name).ending(Ending::Cut));
    }
    let arguments = own_arguments.or(joined).map(|from| {
        let to = if from < name_at {
            key_start(inside, name_at)
        } else {
            inside.len()
        };
        without_envelope(inside.get(from..to).unwrap_or_default()).to_owned()
    });
    Some(Printed {
        name: name.to_owned(),
        arguments,
        ..Printed::default()
    })
}

/// How many braces stay open between two places; `None` if a quotation does.
fn depth_between(text: &str, from: usize, to: usize) -> Option<isize> {
    let between = text.get(from..to)?;
    let count = |wanted: char| between.matches(wanted).count();
    let depth = isize::try_from(count('{')).ok()? - isize::try_from(count('}')).ok()?;
    (count('"') % 2 == 0).then_some(depth)
}

/// Where the values of all keys `key` begin.
fn after_keys<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(key).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let mut rest = text.get(at + key.len()..)?;
        let is_quoted = before.is_some_and(|c| matches!(c, '"' | '\''));
        if is_quoted {
            rest = rest.strip_prefix(['"', '\''])?;
        } else if !before.is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '{')) {
            return None;
        }
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        Some(text.len() - value.len())
    })
}

/// Where the key starts whose value begins at `value`.
fn key_start(text: &str, value: usize) -> usize {
    let before = text.get(..value).unwrap_or_default();
    before.rfind(',').unwrap_or(0)
}

/// The content of the quoted string at the start of a text; a name holds no quotes.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = text.get(1..)?;
    let name = inside.get(..inside.find(quote)?)?;
    (!name.is_empty() && !name.contains('\n')).then_some(name)
}

/// The arguments without the closing brackets and commas of the object around them.
fn without_envelope(text: &str) -> &str {
    let trimmed = text.trim().trim_end_matches(',').trim_end();
    let outer = trimmed.strip_suffix(']').map_or(trimmed, str::trim_end);
    let Some(inner) = outer.strip_suffix('}') else {
        return trimmed;
    };
    let inner = inner.trim_end().trim_end_matches(',').trim_end();
    if inner.ends_with('}') || !text.starts_with('{') {
        inner
    } else {
        outer
    }
}
