//! Calls as a name and pairs of key and value: `f<arg_key>k</arg_key><arg_value>v</arg_value>`.

mod refused;

pub(crate) use refused::Refused;

use crate::cursor::{Cursor, Look, Stop};
use crate::printed::{Ending, ObjectWriter, Printed, clean_name};
use crate::tools::{Context, MAX_NAME};
use crate::typing::Place;

/// The spelling of the tags.
#[derive(Debug)]
pub(crate) struct Tags {
    pub(crate) key: [&'static str; 2],
    pub(crate) value: [&'static str; 2],
    /// What may stand between name and pairs.
    pub(crate) separators: &'static [&'static str],
    /// What tells a value's type, if the syntax does.
    pub(crate) kind: Option<[&'static str; 2]>,
}

pub(crate) static GLM: Tags = Tags {
    key: ["<arg_key>", "</arg_key>"],
    value: ["<arg_value>", "</arg_value>"],
    separators: &["<tool_sep>", "\\n"],
    kind: None,
};

/// The same with the suffix of newer tokenizers in every tag.
pub(crate) static HUNYUAN: Tags = Tags {
    key: ["<arg_key:opensource>", "</arg_key:opensource>"],
    value: ["<arg_value:opensource>", "</arg_value:opensource>"],
    separators: &["<tool_sep:opensource>", "\\n"],
    kind: None,
};

pub(crate) static IFM: Tags = Tags {
    key: ["<ifm|arg_key>", "</ifm|arg_key>"],
    value: ["<ifm|arg_value>", "</ifm|arg_value>"],
    separators: &[],
    kind: Some(["<ifm|arg_type>", "</ifm|arg_type>"]),
};

/// Reads one call and steps over it.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    tags: &'static Tags,
    open: &[&'static str],
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    let name = name(cursor)?;
    if !context.knows(&name) {
        return Err(Stop::Not);
    }
    let place = Place::arguments(context.schema(&name));
    let mut writer = ObjectWriter::new();
    let mut count = 0;
    loop {
        cursor.skip_space();
        while cursor.eat_any(tags.separators)? {
            cursor.skip_space();
        }
        if cursor.rest().is_empty() {
            cursor.more::<()>().or_else(|stop| match stop {
                Stop::More => Err(Stop::More),
                Stop::Not => Ok(()),
            })?;
            return match count {
                0 => Err(Stop::Not),
                _ => Ok(vec![Printed::new(name, writer.cut()).ending(Ending::Cut)]),
            };
        }
        if cursor.sees_any(close)?.is_some() {
            return Ok(vec![
                Printed::new(name, writer.close()).ending(Ending::Closed),
            ]);
        }
        let Some(key) = key(cursor, tags, open)? else {
            // The next call begins, or the text ends in a tag.
            let is_cut = cursor.sees_any(open)?.is_some()
                || is_part(cursor.rest(), &[tags.key[0]])
                || is_part(cursor.rest(), close);
            return match count {
                1.. if is_cut => Ok(vec![Printed::new(name, writer.cut()).ending(Ending::Cut)]),
                _ => Err(Stop::Not),
            };
        };
        if let Some([opening, closing]) = tags.kind {
            cursor.skip_space();
            if cursor.eat(opening)? {
                cursor.up_to(closing, MAX_NAME)?;
            }
        }
        cursor.skip_space();
        while cursor.eat("\\n")? {
            cursor.skip_space();
        }
        let raw = if cursor.eat(tags.value[0])? {
            value(cursor, tags, open, close)?
        } else if is_part(cursor.rest(), &[tags.value[0]]) {
            None
        } else {
            return Err(Stop::Not);
        };
        let Some(raw) = raw else {
            cursor.at = cursor.text.len();
            return Ok(vec![Printed::new(name, writer.cut()).ending(Ending::Cut)]);
        };
        writer.member(&key, &place.property(&key).json(&raw));
        count += 1;
    }
}

/// Whether one of the words begins with the rest of a text.
fn is_part(rest: &str, words: &[&str]) -> bool {
    words.iter().any(|word| word.starts_with(rest))
}

/// The name: up to a tag, a line's end, or a written `\n`.
fn name(cursor: &mut Cursor<'_>) -> Look<String> {
    let rest = cursor.window(MAX_NAME);
    let end = rest
        .char_indices()
        .find(|(at, c)| {
            matches!(c, '<' | '\n' | '{' | '(' | '[')
                || *c == '\\'
                    && rest
                        .get(at + 1..)
                        .is_some_and(|after| after.starts_with('n'))
        })
        .map(|(at, _)| at);
    match end {
        Some(end) if end <= MAX_NAME => {
            cursor.at += end;
            Ok(clean_name(rest.get(..end).unwrap_or_default()).into_owned())
        }
        None if rest.len() <= MAX_NAME => cursor.more(),
        _ => Err(Stop::Not),
    }
}

/// The key; its opening tag may be another opening one. `None`: there is no key.
fn key(cursor: &mut Cursor<'_>, tags: &Tags, open: &[&'static str]) -> Look<Option<String>> {
    let mut ahead = *cursor;
    if !ahead.eat(tags.key[0])? {
        ahead.eat_any(open)?;
    }
    let rest = ahead.rest();
    let length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ')));
    let Some(length) = length else {
        return if rest.len() > MAX_NAME {
            Ok(None)
        } else {
            ahead.more()
        };
    };
    let key = rest.get(..length).unwrap_or_default().trim().to_owned();
    ahead.at += length;
    // The closing tag may be missing where the value begins.
    let closed = ahead.eat(tags.key[1])?;
    if key.is_empty() || !closed && !ahead.sees(tags.value[0])? {
        return Ok(None);
    }
    *cursor = ahead;
    Ok(Some(key))
}

/// The value; closing tags inside it are content unless what can only follow a value follows.
/// `None`: the text ended inside.
fn value(
    cursor: &mut Cursor<'_>,
    tags: &Tags,
    open: &[&'static str],
    close: &[&'static str],
) -> Look<Option<String>> {
    let rest = cursor.rest();
    let start = cursor.at;
    let mut fallback = None;
    let text = cursor.text;
    // The value before the end of the whole call: its own closing tag is missing.
    let unclosed = |end: usize| {
        let raw = text.get(start..end).unwrap_or_default();
        raw.trim_end().to_owned()
    };
    // Values of calls inside this one: those that are open, and whether there are any.
    let (mut open_inside, mut any_inside) = (0_usize, false);
    // Opening markers inside this value whose closing ones have not come.
    let mut markers = 0_usize;
    // Closing markers in a row are looked at together.
    let mut looked = start;
    for (at, _) in rest.match_indices('<') {
        if start + at < looked {
            continue;
        }
        let mut here = *cursor;
        here.at += at;
        let end = here.at;
        if here.sees(tags.value[0])? && follows_key(rest.get(..at).unwrap_or_default(), tags) {
            open_inside += 1;
            any_inside = true;
        } else if here.eat(tags.value[1])? {
            if open_inside > 0 {
                open_inside -= 1;
                continue;
            }
            if ends_value(here, tags, open, close)? {
                let raw = cursor.text.get(start..end).unwrap_or_default().to_owned();
                *cursor = here;
                return Ok(Some(raw));
            }
        } else if here.eat_any(open)? {
            markers += 1;
        } else if !any_inside && here.eat_any(close)? {
            if markers > 0 {
                markers -= 1;
                continue;
            }
            let mut ahead = here;
            ahead.skip_space();
            while ahead.eat_any(close)? {
                ahead.skip_space();
            }
            looked = ahead.at;
            if ahead.rest().is_empty() && !ahead.is_end {
                return Err(Stop::More);
            }
            if ahead.rest().is_empty() || ahead.sees_any(open)?.is_some() {
                let raw = unclosed(end);
                cursor.at = end;
                return Ok(Some(raw));
            }
            fallback = fallback.or(Some(end));
        }
    }
    if !cursor.is_end {
        return Err(Stop::More);
    }
    let Some(end) = fallback.filter(|_| !any_inside) else {
        return Ok(None);
    };
    let raw = unclosed(end);
    cursor.at = end;
    Ok(Some(raw))
}

/// Whether what can only follow a value stands behind its closing tag.
fn ends_value(
    mut behind: Cursor<'_>,
    tags: &Tags,
    open: &[&'static str],
    close: &[&'static str],
) -> Look<bool> {
    behind.skip_space();
    if behind.rest().is_empty() && !behind.is_end {
        return Err(Stop::More);
    }
    Ok(behind.rest().is_empty()
        || behind.sees(tags.key[0])?
        || behind.sees_any(close)?.is_some()
        || behind.sees_any(open)?.is_some()
        || behind.sees("\\n")?)
}

/// Whether a text ends with a key, so that a value behind it is one of a call.
fn follows_key(before: &str, tags: &Tags) -> bool {
    let before = before.trim_end();
    let closings = [Some(tags.key[1]), tags.kind.map(|kind| kind[1])];
    closings
        .into_iter()
        .flatten()
        .any(|closing| before.ends_with(closing))
}
