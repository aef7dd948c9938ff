//! Calls as a name, something between, and the JSON of the arguments.

use crate::cursor::{Cursor, Look, Stop};
use crate::printed::{Ending, Printed, clean_name, string};
use crate::tools::{Context, MAX_NAME};
use crate::values::{self, Bare, Broken};

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
}

pub(crate) static MISTRAL: Shape = Shape {
    before: &[],
    between: &["[ARGS]", "[ARGS"],
    id: Some("[CALL_ID]"),
    is_bare: true,
};

pub(crate) static KIMI: Shape = Shape {
    before: &[],
    between: &["<|tool_call_argument_begin|>"],
    id: None,
    is_bare: true,
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
};

/// `NAME` and JSON, nothing between.
pub(crate) static PLAIN: Shape = Shape {
    before: &[],
    between: &[],
    id: None,
    is_bare: false,
};

/// Reads one call and steps over it.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    shape: &Shape,
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Vec<Printed>> {
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
            break;
        }
    }
    let fenced = eat_fence(cursor)?;
    cursor.skip_space();
    if cursor.sees_any(close)?.is_some() {
        return Ok(vec![printed.ending(Ending::Closed)]);
    }
    if cursor.peek()? != '{' {
        return Err(Stop::Not);
    }
    let (arguments, ending) = arguments(cursor, close)?;
    if fenced {
        let mut ahead = *cursor;
        ahead.skip_space();
        if ahead.eat("```")? {
            *cursor = ahead;
        }
    }
    printed.arguments = Some(arguments);
    Ok(vec![printed.ending(ending)])
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

/// The text of the arguments' object at the cursor, as it stands; steps over it. Where it is
/// broken, a closing marker or the end of the text ends it.
pub(crate) fn arguments(cursor: &mut Cursor<'_>, close: &[&'static str]) -> Look<(String, Ending)> {
    let start = *cursor;
    match values::read(cursor, Bare::Words) {
        Ok(_) => Ok((cursor.since(start.at).to_owned(), Ending::Own)),
        Err(Broken::More) => Err(Stop::More),
        Err(Broken::Cut(_) | Broken::Not) => {
            let rest = start.rest();
            let begins_any = |at: &usize| {
                let here = rest.get(*at..).unwrap_or_default();
                close.iter().any(|marker| here.starts_with(marker))
            };
            let mut places = rest.char_indices().map(|(at, _)| at);
            let end = places.find(begins_any);
            match end {
                Some(end) => {
                    cursor.at = start.at + end;
                    let text = rest.get(..end).unwrap_or_default().trim_end();
                    let text = text.strip_suffix("```").map_or(text, str::trim_end);
                    Ok((text.to_owned(), Ending::Closed))
                }
                None if cursor.is_end => {
                    cursor.at = cursor.text.len();
                    Ok((rest.trim_end().to_owned(), Ending::Own))
                }
                None => Err(Stop::More),
            }
        }
    }
}

/// `Action: f` and `Action Input: {…}`, as agents that reason and act print it; reads from behind `Action:`.
pub(crate) fn read_react(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
    let name = clean_name(cursor.up_to("\n", MAX_NAME)?).into_owned();
    if !context.knows(&name) {
        return Err(Stop::Not);
    }
    cursor.skip_space();
    if !cursor.eat("Action Input:")? {
        cursor.need("Action_Input:")?;
    }
    let mut body = *cursor;
    body.skip_space();
    let fenced = eat_fence(&mut body)?;
    body.skip_space();
    if body.peek_or_end()? == b'{' {
        *cursor = body;
        let (arguments, ending) = arguments(cursor, &["\nObservation:"])?;
        let mut ahead = *cursor;
        ahead.skip_space();
        if fenced && ahead.eat("```")? {
            *cursor = ahead;
        }
        return Ok(vec![Printed::new(name, arguments).ending(ending)]);
    }
    // A raw text is the value of the only parameter.
    let parameters = context.parameters(&name);
    let [only] = parameters.as_slice() else {
        return Err(Stop::Not);
    };
    let rest = cursor.rest();
    let end = match rest.find('\n') {
        Some(end) => end,
        None if cursor.is_end => rest.len(),
        None => return Err(Stop::More),
    };
    let raw = rest.get(..end).unwrap_or_default().trim();
    cursor.at += end;
    let place = crate::typing::Place::arguments(context.schema(&name)).property(only);
    let arguments = format!(
        "{{{}: {}}}",
        string(only),
        place.json(raw.trim_matches('"'))
    );
    Ok(vec![Printed::new(name, arguments)])
}

/// A message of harmony: a header with a recipient, and a body of JSON.
pub(crate) fn read_harmony(
    cursor: &mut Cursor<'_>,
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Vec<Printed>> {
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
    cursor.skip_space();
    if cursor.peek()? != '{' {
        return Err(Stop::Not);
    }
    let (arguments, ending) = arguments(cursor, close)?;
    Ok(vec![Printed::new(name, arguments).ending(ending)])
}
