//! What a call says whose JSON is broken.

use super::{ARGUMENT_KEYS, ID_KEYS, NAME_KEYS, OTHER_KEYS, Place, WRAPPER_KEYS};
use crate::cursor::{Cursor, Look, Stop};
use crate::printed::{Ending, Printed};
use crate::tools::{Context, MAX_NAME};

/// Reads an object that is no JSON: the name by its key, the arguments as everything from their
/// key on that does not belong to the envelope. Several objects in a list are taken apart first.
pub(super) fn read(
    text: &str,
    ending: Ending,
    place: Place<'_>,
    context: Context<'_>,
) -> Option<Vec<Printed>> {
    let list = behind_wrappers(text);
    let one = |text| match named_at(text).filter(|(name, _)| place.names(name, context)) {
        Some((name, value)) => Some(Printed::new(name, without_envelope(value))),
        None => forgiving_one(text),
    };
    let Some(parts) = parts(list, place, context) else {
        // Where the first call ends cannot be told: it is reported, and none is run.
        let call = one(list)?.ending(Ending::Cut);
        return context.knows(&call.name).then(|| vec![call]);
    };
    let calls: Vec<Printed> = parts.into_iter().filter_map(one).collect();
    let is_known = calls.iter().all(|call| context.knows(&call.name));
    let calls = calls.into_iter().map(|call| match call.ending {
        Ending::Cut => call,
        _ => call.ending(ending),
    });
    Some(calls.collect()).filter(|calls: &Vec<_>| is_known && !calls.is_empty())
}

/// Whether a list begins whose first object has a tool's name as its key.
pub(super) fn begins_named(
    mut cursor: Cursor<'_>,
    place: Place<'_>,
    context: Context<'_>,
) -> Look<bool> {
    if !place.is_named() {
        return Ok(false);
    }
    cursor.skip_space();
    cursor.eat("[")?;
    cursor.skip_space();
    match named_at(cursor.window(2 * MAX_NAME)) {
        Some((name, _)) => Ok(place.names(name, context)),
        None if cursor.rest().len() < MAX_NAME && !cursor.is_end => Err(Stop::More),
        None => Ok(false),
    }
}

/// The name in `{"f": {…}` at the start of a text, and the text from its value on.
fn named_at(text: &str) -> Option<(&str, &str)> {
    let key = text.strip_prefix('{')?.trim_start();
    let name = quoted(key)?;
    let value = key.get(name.len() + 2..)?.trim_start().strip_prefix(':')?;
    let value = value.trim_start();
    value.starts_with('{').then_some((name, value))
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
fn parts<'t>(text: &'t str, place: Place<'_>, context: Context<'_>) -> Option<Vec<&'t str>> {
    // Whether a call begins at the start of a text, and then whether it names a tool.
    let begins = |text: &str| {
        let (key, value) = key_at(text).filter(|(key, _)| is_call_key(key))?;
        Some(is_known_name(key, value, context))
    };
    let begins_named = |text| named_at(text).filter(|(name, _)| place.names(name, context));
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
                        && let Some(is_known) =
                            begins_named(next).map(|_| true).or_else(|| begins(next))
                    {
                        if depth == 0 && quotes.is_multiple_of(2) {
                            starts.push(at);
                        } else if depth <= 0 || is_known {
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
    let trimmed = text.trim();
    // A comma behind the arguments is not theirs; one in them is a cut.
    let trimmed = if is_open(trimmed) {
        trimmed
    } else {
        trimmed.trim_end_matches(',').trim_end()
    };
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

/// Whether brackets outside of strings are open at the end of a text.
fn is_open(text: &str) -> bool {
    let (mut opened, mut closed) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => opened += 1,
            b'}' | b']' if !in_string => closed += 1,
            _ => {}
        }
    }
    opened > closed
}
