//! Calls as a name, something between, and the JSON of the arguments.

use crate::body::{self, Around, Mark};
use crate::cursor::{Cursor, Look, Stop};
use crate::envelope::{Strings, balanced};
use crate::literal;
use crate::paused::Paused;
use crate::printed::{Ending, Printed, clean_name, string};
use crate::tools::{Context, MAX_NAME};
use crate::typing::Place;
use crate::values::{self, Bare, Broken, PausedValue};

/// The shape of such a call.
#[derive(Debug)]
pub(crate) struct Shape {
    /// What may stand before the name.
    pub(crate) before: &'static [&'static str],
    /// What may stand between name and arguments.
    pub(crate) between: &'static [&'static str],
    /// What may stand before an id between them.
    pub(crate) id: Option<&'static str>,
    /// Whether something must stand between name and arguments, or before the name.
    pub(crate) is_bare: bool,
    /// Whether each call has a marker behind it.
    pub(crate) is_closed: bool,
}

/// The markers of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks<'f> {
    pub(crate) open: &'f [&'static str],
    pub(crate) close: &'f [&'static str],
}

pub(crate) static MISTRAL: Shape = Shape {
    before: &[],
    between: &["[ARGS]", "[ARGS"],
    id: Some("[CALL_ID]"),
    is_bare: true,
    is_closed: false,
};

pub(crate) static KIMI: Shape = Shape {
    before: &[],
    between: &["<|tool_call_argument_begin|>"],
    id: None,
    is_bare: true,
    is_closed: true,
};

pub(crate) static DEEPSEEK: Shape = Shape {
    before: &[
        "function<｜tool▁sep｜>",
        "function<|tool_sep|>",
        "function<|tool▁sep|>",
        "function<｜tool_sep｜>",
    ],
    between: &[
        "<｜tool▁sep｜>",
        "<|tool_sep|>",
        "<|tool▁sep|>",
        "<｜tool_sep｜>",
    ],
    id: None,
    is_bare: true,
    is_closed: true,
};

/// `NAME` and JSON, nothing between.
pub(crate) static PLAIN: Shape = Shape {
    before: &[],
    between: &[],
    id: None,
    is_bare: false,
    is_closed: false,
};

/// Reads one call and steps over it.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    shape: &Shape,
    marks: Marks<'_>,
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let mut printed = head(cursor, shape, context)?;
    let fenced = eat_fence(cursor)?;
    if fenced {
        eat_fence_end(cursor)?;
    }
    cursor.skip_space();
    if cursor.sees_any(marks.close)?.is_some() {
        return Ok(vec![printed.ending(Ending::Closed)]);
    }
    // Where no marker ends it, nothing is the whole call only of a tool that takes nothing.
    let takes_nothing = context.parameters(&printed.name).is_empty();
    if takes_nothing && !marks.open.is_empty() && cursor.peek_or_end()? == 0 {
        return Ok(vec![printed]);
    }
    let begins = |mut here: Cursor<'_>| {
        let printed = or_not(head(&mut here, shape, context))?;
        Ok(printed.is_some() && matches!(here.peek_or_end()?, b'{' | b'`'))
    };
    let (arguments, ending) = arguments(cursor, marks, shape.is_closed, &begins)?;
    if fenced {
        eat_fence_end(cursor)?;
    }
    printed.arguments = Some(arguments);
    Ok(vec![printed.ending(ending)])
}

/// Steps over the name of a call, and what may stand around it.
fn head(cursor: &mut Cursor<'_>, shape: &Shape, context: Context<'_>) -> Look<Printed> {
    cursor.skip_space();
    cursor.eat_any(shape.before)?;
    cursor.skip_space();
    let emitted = name(cursor)?;
    let cleaned = clean_name(emitted);
    let is_known = if shape.is_bare {
        context.knows(&cleaned)
    } else {
        context.declares(&cleaned)
    };
    if !is_known {
        return Err(Stop::Not);
    }
    let mut printed = Printed {
        name: cleaned.into_owned(),
        id: is_id(emitted).then(|| emitted.to_owned()),
        ..Printed::default()
    };
    if let Some(marker) = shape.id {
        cursor.skip_space();
        if cursor.eat(marker)? {
            let rest = cursor.rest();
            let Some(end) = rest.find(['[', '{', '<']).filter(|end| *end <= MAX_NAME) else {
                return if rest.len() > MAX_NAME {
                    Err(Stop::Not)
                } else {
                    cursor.more()
                };
            };
            printed.id = Some(rest.get(..end).unwrap_or_default().trim().to_owned());
            cursor.at += end;
        }
    }
    loop {
        cursor.skip_space();
        if !cursor.eat_any(shape.between)? {
            return Ok(printed);
        }
    }
}

/// What is there; `None` if nothing is.
fn or_not<T>(look: Look<T>) -> Look<Option<T>> {
    match look {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Not) => Ok(None),
        Err(Stop::More) => Err(Stop::More),
    }
}

/// Whether a printed name is the model's own id, such as `functions.f:0`.
fn is_id(name: &str) -> bool {
    name.rsplit_once(':')
        .is_some_and(|(_, index)| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()))
}

fn name<'t>(cursor: &mut Cursor<'t>) -> Look<&'t str> {
    let rest = cursor.window(MAX_NAME);
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '{' | '<' | '[' | '`' | '('));
    match end {
        Some(0) => Err(Stop::Not),
        Some(end) if end <= MAX_NAME => {
            cursor.at += end;
            Ok(rest.get(..end).unwrap_or_default())
        }
        None if rest.len() <= MAX_NAME => cursor.more(),
        _ => Err(Stop::Not),
    }
}

/// Steps over the first line of a fence.
pub(crate) fn eat_fence(cursor: &mut Cursor<'_>) -> Look<bool> {
    let mut ahead = *cursor;
    ahead.skip_space();
    if !ahead.sees("`")? || !ahead.eat("```")? {
        return Ok(false);
    }
    let rest = ahead.rest();
    let word = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+')));
    match word {
        Some(end) if end <= 40 => ahead.at += end,
        None if rest.len() <= 40 => return ahead.more(),
        _ => return Ok(false),
    }
    *cursor = ahead;
    Ok(true)
}

/// Steps over the last line of a fence, if it comes next.
fn eat_fence_end(cursor: &mut Cursor<'_>) -> Look<()> {
    let mut ahead = *cursor;
    ahead.skip_space();
    if ahead.eat("```")? {
        *cursor = ahead;
    }
    Ok(())
}

/// The text of the arguments at the cursor, as it stands: an object, or one in a string; steps over
/// it. Where it is broken, a closing marker or the end of the text ends it. `begins`: whether a call
/// begins at a place, its opening marker aside.
fn arguments(
    cursor: &mut Cursor<'_>,
    marks: Marks<'_>,
    is_closed: bool,
    begins: &dyn Fn(Cursor<'_>) -> Look<bool>,
) -> Look<(String, Ending)> {
    let start = *cursor;
    let mark = |mut here: Cursor<'_>| {
        let closer = here.sees_any(marks.close)?;
        // A marker that opens the next call and closes none.
        let is_close = closer.is_some_and(|closer| !marks.open.contains(&closer));
        if is_close {
            return Ok(Some(Mark::Close));
        }
        let is_open = here.eat_any(marks.open)? && {
            here.eat_any(marks.open)?;
            begins(here)?
        };
        Ok(is_open.then_some(Mark::Open))
    };
    let follows = |here: Cursor<'_>| {
        let is_marker = here.sees_any(marks.close)?.or(here.sees_any(marks.open)?);
        Ok(is_marker.is_some() || begins(here)?)
    };
    let is_marked = !marks.open.is_empty() || !marks.close.is_empty();
    let around = Around {
        is_closed,
        look: if is_marked {
            usize::MAX
        } else {
            body::SHORT_LOOK
        },
        mark: &mark,
        follows: &follows,
    };
    if body::is_elided(*cursor)? {
        return Err(Stop::Not);
    }
    let read = if cursor.peek()? == '{' {
        values::read(cursor, Bare::Words).map(Some)
    } else {
        cursor.at += body::encoded(*cursor)?.ok_or(Stop::Not)?.len();
        Ok(None)
    };
    match read {
        Ok(values) => {
            let goes_on = body::goes_on(start.at, *cursor, &around);
            if let (Err(Stop::More), Some(values)) = (goes_on, values) {
                let whole = PausedValue::whole(values, cursor.at, Bare::Words);
                start.pause(|| Paused::Value(whole));
            }
            let (end, ending) = goes_on?.unwrap_or((cursor.at, Ending::Own));
            cursor.at = end;
            Ok((cursor.since(start.at).to_owned(), ending))
        }
        Err(Broken::More) => Err(Stop::More),
        Err(why) => {
            let rest = start.rest();
            match broken_end(start, &mark)? {
                Some((end, ending)) => {
                    cursor.at = start.at + end;
                    let text = rest.get(..end).unwrap_or_default();
                    Ok((body::without_fence(text).to_owned(), ending))
                }
                None if cursor.is_end => {
                    // Where a text ends that seems cut cannot be told, but what stands apart from it
                    // is no part of the call.
                    let apart =
                        balanced(rest.trim_end()).filter(|end| *end < rest.trim_end().len());
                    let apart = apart.map(|end| start.at + end);
                    let apart = match apart {
                        Some(at) => body::goes_on(start.at, Cursor { at, ..start }, &around)?
                            .is_none()
                            .then_some(at),
                        None => None,
                    };
                    let ending = match (apart, why) {
                        (Some(_), Broken::Cut(_)) => Ending::Cut,
                        _ => Ending::Own,
                    };
                    cursor.at = apart.unwrap_or(cursor.text.len());
                    Ok((cursor.since(start.at).trim_end().to_owned(), ending))
                }
                None => Err(Stop::More),
            }
        }
    }
}

/// How long arguments are that are no JSON: up to the closing marker or to the next call, unless
/// that seems to stand in a string.
fn broken_end(
    start: Cursor<'_>,
    mark: &dyn Fn(Cursor<'_>) -> Look<Option<Mark>>,
) -> Look<Option<(usize, Ending)>> {
    let rest = start.rest();
    let mut strings = Strings::default();
    let mut next_call = None;
    for (at, c) in rest.char_indices() {
        if let Some(call) = next_call.filter(|call| at - call > body::LONG_LOOK) {
            return Ok(Some((call, Ending::Cut)));
        }
        let at_mark = mark(Cursor {
            at: start.at + at,
            ..start
        })?;
        match at_mark {
            Some(Mark::Close) => return Ok(Some((at, Ending::Closed))),
            Some(Mark::Open) if !strings.may_hold(rest, at) => {
                return Ok(Some((at, Ending::Cut)));
            }
            Some(Mark::Open) => next_call = next_call.or(Some(at)),
            None => {}
        }
        strings.see(at, c);
    }
    Ok(None)
}

/// `Action: f` and `Action Input: {…}`, as agents that reason and act print it; reads from behind `Action:`.
pub(crate) fn read_react(
    cursor: &mut Cursor<'_>,
    marks: Marks<'_>,
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let name = react_head(cursor, context)?;
    let mut body = *cursor;
    body.skip_space();
    let fenced = eat_fence(&mut body)?;
    body.skip_space();
    let parameters = context.parameters(&name);
    let is_encoded = body::encoded(body)?
        .is_some_and(|text| parameters.iter().any(|parameter| text.contains(parameter)));
    if is_encoded || body.peek_or_end()? == b'{' {
        *cursor = body;
        let begins = |mut here: Cursor<'_>| Ok(or_not(react_head(&mut here, context))?.is_some());
        let (arguments, ending) = arguments(cursor, marks, false, &begins)?;
        if fenced {
            eat_fence_end(cursor)?;
        }
        return Ok(vec![Printed::new(name, arguments).ending(ending)]);
    }
    let rest = cursor.rest();
    let end = match rest.find('\n') {
        Some(end) => end,
        None if cursor.is_end => rest.len(),
        None => return Err(Stop::More),
    };
    let raw = rest.get(..end).unwrap_or_default().trim();
    cursor.at += end;
    if matches!(raw, "" | "None" | "none" | "null") {
        return Ok(vec![without_arguments(&name)]);
    }
    let key = raw_parameter(&name, context).ok_or(Stop::Not)?;
    let place = Place::arguments(context.schema(&name)).property(key);
    let is_quoted = raw.starts_with('"') && literal::is_strict_json(raw);
    let text = if is_quoted {
        literal::decode(raw)
    } else {
        raw.into()
    };
    let arguments = format!("{{{}: {}}}", string(key), place.json(&text));
    Ok(vec![Printed::new(name, arguments)])
}

fn without_arguments(name: &str) -> Printed {
    Printed {
        name: name.to_owned(),
        ..Printed::default()
    }
}

/// The parameter whose value a raw text is: the only one, or, where calls are expected, the only
/// required one, if it may be a text.
fn raw_parameter<'c>(name: &str, context: Context<'c>) -> Option<&'c str> {
    let parameters = context.parameters(name);
    if let [only] = parameters.as_slice() {
        return Some(only);
    }
    let schema = context.schema(name).filter(|_| context.is_expected());
    let [only] = schema?.get("required")?.as_array()?.as_slice() else {
        return None;
    };
    let place = Place::arguments(schema).property(only.as_str()?);
    let mut parameters = parameters.into_iter();
    parameters.find(|key| only == *key && place.allows_text())
}

/// Steps over the name and what stands before the arguments.
fn react_head(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<String> {
    let name = clean_name(cursor.up_to("\n", MAX_NAME)?).into_owned();
    if !context.knows(&name) {
        return Err(Stop::Not);
    }
    cursor.skip_space();
    if !cursor.eat("Action Input:")? {
        cursor.need("Action_Input:")?;
    }
    Ok(name)
}

/// A message of harmony: a header with a recipient, and a body of JSON.
pub(crate) fn read_harmony(
    cursor: &mut Cursor<'_>,
    marks: Marks<'_>,
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let name = harmony_head(cursor, context)?;
    cursor.skip_space();
    if cursor.sees_any(marks.close)?.is_some() {
        return Ok(vec![without_arguments(name).ending(Ending::Closed)]);
    }
    let begins = |mut here: Cursor<'_>| Ok(or_not(harmony_head(&mut here, context))?.is_some());
    let (arguments, ending) = arguments(cursor, marks, true, &begins)?;
    Ok(vec![Printed::new(name, arguments).ending(ending)])
}

/// Steps over the header of a message to a tool; its name.
fn harmony_head<'t>(cursor: &mut Cursor<'t>, context: Context<'_>) -> Look<&'t str> {
    const MAX_HEADER: usize = 256;
    let header = cursor.up_to("<|message|>", MAX_HEADER)?;
    if header.contains("<|end|>") || header.contains('{') {
        return Err(Stop::Not);
    }
    let (_, recipient) = header.split_once("to=").ok_or(Stop::Not)?;
    let name = recipient
        .split(|c: char| c.is_whitespace() || c == '<')
        .next()
        .unwrap_or_default();
    if !context.knows(name) {
        return Err(Stop::Not);
    }
    Ok(name)
}
