//! Calls in Python's syntax: `name(1, key='value')`.

use crate::cursor::{Cursor, Look, Stop, floor};
use crate::literal;
use crate::loops::{self, MAX_HEAD};
use crate::printed::{Ending, ObjectWriter, Printed, clean_name};
use crate::tools::{Context, MAX_NAME};
use crate::trigger;
use crate::values::{self, Bare, Broken, Kind, Values};

/// Functions that print what their only argument gives.
const PRINTING: &[&str] = &["print"];

/// Reads a call, or a list of calls, and steps over it.
fn read_with(cursor: &mut Cursor<'_>, bare: Bare, context: Context<'_>) -> Look<Vec<Printed>> {
    let start = cursor.at;
    match values::read(cursor, bare) {
        Ok(values) => {
            let calls = calls(&values, 0, context).ok_or(Stop::Not)?;
            if goes_on_in_string(start, *cursor)? || is_comprehension(&calls, *cursor)? {
                return Err(Stop::Not);
            }
            Ok(calls)
        }
        Err(Broken::More) => Err(Stop::More),
        Err(Broken::Not) => broken_call(cursor, context),
        Err(Broken::Cut(values)) => {
            let calls = cut_calls(&values, context);
            if calls.is_empty() {
                return Err(Stop::Not);
            }
            cursor.at = cursor.text.len();
            Ok(calls)
        }
    }
}

/// Whether a quote like those of the call stands directly behind it, and a closer of the call behind
/// that: then its brackets were balanced within a string, whose own quotes are not escaped.
fn goes_on_in_string(start: usize, mut behind: Cursor<'_>) -> Look<bool> {
    let quote = char::from(behind.peek_or_end()?);
    if !matches!(quote, '"' | '\'') || !behind.since(start).contains(quote) {
        return Ok(false);
    }
    behind.at += 1;
    Ok(matches!(behind.peek_or_end()?, b')' | b'}'))
}

/// Whether a loop stands behind the calls whose variable they take.
fn is_comprehension(calls: &[Printed], mut behind: Cursor<'_>) -> Look<bool> {
    if calls.iter().all(|call| call.variables.is_empty()) {
        return Ok(false);
    }
    behind.skip_space();
    if !behind.sees("for ")? {
        return Ok(false);
    }
    let window = behind.window(MAX_HEAD);
    match loops::variables(window) {
        Some(mut names) => Ok(names.any(|name| loops::takes(calls, name))),
        None if window.len() < MAX_HEAD && !behind.is_end => Err(Stop::More),
        None => Ok(false),
    }
}

/// Whether a word without quotes may name a variable.
fn is_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !matches!(word, "True" | "False" | "None" | "true" | "false" | "null")
}

/// Reads `name({…})` whose object is broken: what stands in the parentheses is the arguments, to be
/// repaired or rejected, and no call in it is another one.
fn broken_call(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
    let rest = cursor.rest();
    let head = rest.get(..floor(rest, MAX_NAME + 1)).unwrap_or_default();
    let Some((name, inside)) = trigger::name_at(head)
        .filter(|at| {
            rest.get(*at..)
                .is_some_and(|behind| behind.starts_with('('))
        })
        .and_then(|at| Some((rest.get(..at)?, rest.get(at + 1..)?)))
        .map(|(name, inside)| (clean_name(name), inside.trim_start()))
        .filter(|(name, inside)| inside.starts_with('{') && context.knows(name))
    else {
        return Err(Stop::Not);
    };
    let start = rest.len() - inside.len();
    if let Some(end) = closing_parenthesis(inside) {
        cursor.at += start + end + 1;
        let arguments = inside.get(..end).unwrap_or_default();
        return Ok(vec![Printed::new(name, arguments)]);
    }
    if !cursor.is_end {
        return Err(Stop::More);
    }
    // Where it ends cannot be told.
    cursor.at = cursor.text.len();
    Ok(vec![Printed::new(name, inside).ending(Ending::Cut)])
}

/// Where the parenthesis is that closes a call, at the start of whose arguments the text begins. As
/// quotes tell nothing in a broken text, brackets are counted.
fn closing_parenthesis(text: &str) -> Option<usize> {
    let (mut depth, mut quotes) = (0_usize, 0_usize);
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quotes += 1,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b')' if depth == 0 && quotes.is_multiple_of(2) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Calls one after another, separated by commas, semicolons or lines.
pub(crate) fn read_many(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
    read_many_with(cursor, context.bare(), context)
}

/// The calls in the content of a string, if it holds nothing else.
pub(crate) fn read_quoted(text: &str, context: Context<'_>) -> Option<Vec<Printed>> {
    let mut cursor = Cursor::new(text, true);
    let calls = read_many_with(&mut cursor, Bare::Text, context).ok()?;
    cursor.skip_space();
    (cursor.rest().is_empty() && calls.iter().all(|call| call.ending == Ending::Own))
        .then_some(calls)
}

fn read_many_with(cursor: &mut Cursor<'_>, bare: Bare, context: Context<'_>) -> Look<Vec<Printed>> {
    let mut all = read_with(cursor, bare, context)?;
    loop {
        let mut ahead = *cursor;
        ahead.skip_space();
        while matches!(ahead.peek_or_end()?, b',' | b';') {
            ahead.at += 1;
            ahead.skip_space();
        }
        match read_with(&mut ahead, bare, context) {
            Ok(more) => all.extend(more),
            Err(Stop::More) => return Err(Stop::More),
            Err(Stop::Not) => return Ok(all),
        }
        *cursor = ahead;
    }
}

/// The calls of a value that is a call or a list of calls; `None` if it is anything else.
pub(crate) fn calls(
    values: &Values<'_>,
    root: usize,
    context: Context<'_>,
) -> Option<Vec<Printed>> {
    let node = values.node(root)?;
    match node.kind {
        Kind::Call if PRINTING.contains(&values.name(root)) => {
            let inner = values.children(root).next()?;
            calls(values, inner, context)
        }
        Kind::Call => Some(vec![call(values, root, context)?]),
        Kind::Array | Kind::Tuple => {
            let calls: Option<Vec<Printed>> = values
                .children(root)
                .map(|child| match values.node(child)?.kind {
                    Kind::Call => call(values, child, context),
                    _ => None,
                })
                .collect();
            calls.filter(|calls| !calls.is_empty())
        }
        _ => None,
    }
}

/// The call at a node.
pub(crate) fn call(values: &Values<'_>, at: usize, context: Context<'_>) -> Option<Printed> {
    let name = clean_name(values.name(at));
    if !context.knows(&name) {
        return None;
    }
    if values.name(at).contains("\\_") {
        return unescaped(values, at, context);
    }
    with_arguments(values, at, &name, context)
}

fn with_arguments(
    values: &Values<'_>,
    at: usize,
    name: &str,
    context: Context<'_>,
) -> Option<Printed> {
    let arguments = arguments(values, at, name, context)?;
    let inside = at..values.node(at)?.after;
    let words = inside
        .filter(|at| values.is_word(*at))
        .map(|at| values.source(at));
    Some(Printed {
        variables: words
            .filter(|word| is_variable(word))
            .map(str::to_owned)
            .collect(),
        ..Printed::new(name, arguments)
    })
}

/// A call in Markdown, where every underscore is escaped.
fn unescaped(values: &Values<'_>, at: usize, context: Context<'_>) -> Option<Printed> {
    let text = values.source(at).replace("\\_", "_");
    let mut cursor = Cursor::new(&text, true);
    let values = values::read(&mut cursor, context.bare()).ok()?;
    with_arguments(&values, 0, values.name(0), context)
}

fn arguments(values: &Values<'_>, at: usize, name: &str, context: Context<'_>) -> Option<String> {
    let children: Vec<usize> = values.children(at).collect();
    if let [only] = children.as_slice()
        && values.node(*only)?.kind == Kind::Object
        && holds_arguments(values, *only, name, context)
    {
        return literal::to_json(values, *only);
    }
    let mut writer = ObjectWriter::new();
    write_arguments(values, &children, name, context, &mut writer)?;
    Some(writer.close())
}

/// Whether a dictionary holds the arguments themselves rather than one of them.
fn holds_arguments(values: &Values<'_>, at: usize, name: &str, context: Context<'_>) -> bool {
    let parameters = context.parameters(name);
    let mut keys = values.children(at).step_by(2).peekable();
    keys.peek().is_none()
        || parameters.is_empty()
        || keys.any(|key| parameters.contains(&&*literal::decode(values.source(key))))
}

fn write_arguments(
    values: &Values<'_>,
    children: &[usize],
    name: &str,
    context: Context<'_>,
    writer: &mut ObjectWriter,
) -> Option<()> {
    let is_keyword = |child: &usize| {
        values
            .node(*child)
            .is_some_and(|node| node.kind == Kind::Keyword)
    };
    let given: Vec<_> = children
        .iter()
        .filter(|child| is_keyword(child))
        .map(|child| clean_name(values.name(*child)))
        .collect();
    let mut free = context
        .parameters(name)
        .into_iter()
        .filter(|parameter| !given.iter().any(|key| key == parameter));
    for child in children {
        if is_keyword(child) {
            let key = clean_name(values.name(*child));
            let value = values.children(*child).next()?;
            // A variable of the same name, in an example of code.
            if values.node(value)?.kind == Kind::Word && values.source(value) == key {
                return None;
            }
            writer.member(&key, &literal::to_json(values, value)?);
        } else {
            if values.is_word(*child) && is_variable(values.source(*child)) {
                return None;
            }
            writer.member(free.next()?, &literal::to_json(values, *child)?);
        }
    }
    Some(())
}

/// The calls of a text that ended inside one of them.
fn cut_calls(values: &Values<'_>, context: Context<'_>) -> Vec<Printed> {
    let mut calls = Vec::new();
    let roots = match values.node(0).map(|node| node.kind) {
        Some(Kind::Call) => vec![0],
        // Of a list that is not closed, everything up to the end is inside.
        Some(Kind::Array) => top_level(values),
        _ => Vec::new(),
    };
    for at in roots {
        let Some(node) = values.node(at) else { break };
        let is_whole = node.end > node.start;
        if node.kind != Kind::Call {
            return Vec::new();
        }
        if is_whole {
            match call(values, at, context) {
                Some(call) => calls.push(call),
                None => return Vec::new(),
            }
            continue;
        }
        let name = clean_name(values.name(at));
        if !context.knows(&name) {
            return Vec::new();
        }
        let mut writer = ObjectWriter::new();
        let whole: Vec<usize> = open_children(values, at);
        let _ = write_arguments(values, &whole, &name, context, &mut writer);
        calls.push(Printed::new(name, writer.cut()).ending(Ending::Cut));
    }
    calls
}

/// The children of an open list: nodes that are not inside an earlier one.
fn top_level(values: &Values<'_>) -> Vec<usize> {
    let mut children = Vec::new();
    let mut at = 1;
    while let Some(node) = values.node(at) {
        children.push(at);
        if node.end <= node.start {
            break;
        }
        at = node.after;
    }
    children
}

/// The whole arguments of an open call.
fn open_children(values: &Values<'_>, call: usize) -> Vec<usize> {
    let mut children = Vec::new();
    let mut at = call + 1;
    while let Some(node) = values.node(at).filter(|node| node.end > node.start) {
        children.push(at);
        at = node.after;
    }
    // The last one may go on behind the cut.
    children.pop();
    children
}
