//! Strings and literals of Python, written as JSON.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::cursor::Cursor;
use crate::printed::{push_string, string};
use crate::values::{self, Bare, Kind, Values};

/// Whether a text is one strict JSON value.
pub(crate) fn is_strict_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether a text is one value for the lenient reader: a container, or a literal of Python.
pub(crate) fn is_loose_value(text: &str) -> bool {
    if matches!(text, "True" | "False" | "None") {
        return true;
    }
    if !text.starts_with(['{', '[', '(']) {
        return false;
    }
    let mut cursor = Cursor::new(text, true);
    values::read(&mut cursor, Bare::Literals).is_ok() && cursor.rest().is_empty()
}

/// The JSON of a value. Numbers keep their text; what stays unquoted is for the lenient reader.
/// `None` if there is a call in it.
pub(crate) fn to_json(values: &Values<'_>, root: usize) -> Option<String> {
    let end = values.node(root)?.after;
    let mut out = String::new();
    // The containers around: where each ends, its closing bracket, and how many children it has.
    let mut open: Vec<(usize, char, usize)> = Vec::new();
    let mut is_object_value = false;
    for at in root..end {
        let node = values.node(at)?;
        while let Some((after, bracket, _)) = open.last().copied()
            && at >= after
        {
            out.push(bracket);
            open.pop();
        }
        if let Some((_, bracket, count)) = open.last_mut() {
            is_object_value = *bracket == '}' && *count % 2 == 1;
            if is_object_value {
                out.push_str(": ");
            } else if *count > 0 {
                out.push_str(", ");
            }
            *count += 1;
        }
        let is_key = open.last().is_some_and(|(_, bracket, _)| *bracket == '}') && !is_object_value;
        match node.kind {
            Kind::Call | Kind::Keyword => return None,
            Kind::Object => {
                out.push('{');
                open.push((node.after, '}', 0));
            }
            Kind::Array | Kind::Tuple => {
                out.push('[');
                open.push((node.after, ']', 0));
            }
            Kind::String => push_json_string(&mut out, values.source(at)),
            Kind::Strings => push_string(&mut out, &decode_all(values.source(at))),
            Kind::Text => push_string(&mut out, values.source(at)),
            Kind::Word if is_key => push_string(&mut out, values.source(at)),
            Kind::Word => out.push_str(&word_to_json(values.source(at))),
        }
    }
    while let Some((_, bracket, _)) = open.pop() {
        out.push(bracket);
    }
    Some(out)
}

/// The JSON of a word: a literal, a number as it stands, or a string.
fn word_to_json(word: &str) -> String {
    match word {
        "True" | "true" => "true".to_owned(),
        "False" | "false" => "false".to_owned(),
        "None" | "null" | "undefined" => "null".to_owned(),
        word if word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
            && !word.contains([' ', ',', '/', ':']) =>
        {
            if is_strict_json(word) || is_python_number(word) {
                word.to_owned()
            } else {
                string(word)
            }
        }
        word => string(word),
    }
}

/// A number that only Python writes this way.
fn is_python_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits
            .chars()
            .all(|c| c.is_ascii_hexdigit() || matches!(c, '.' | '_' | '+' | '-' | 'x' | 'X'))
        && !digits.get(1..).unwrap_or_default().contains(['+', '-'])
}

/// A printed string as JSON: strict ones as they are.
pub(crate) fn push_json_string(out: &mut String, source: &str) {
    if source.starts_with('"') && is_strict_json(source) {
        out.push_str(source);
    } else {
        push_string(out, &decode(source));
    }
}

/// The content of a printed string, Python's escapes undone.
pub(crate) fn decode(source: &str) -> Cow<'_, str> {
    let quoted = source.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let prefix = source
        .get(..source.len() - quoted.len())
        .unwrap_or_default();
    if !quoted.starts_with(['"', '\'']) {
        return Cow::Borrowed(source);
    }
    let width = if quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''"))
    {
        3
    } else {
        1
    };
    let inside = quoted
        .get(width..quoted.len().saturating_sub(width))
        .unwrap_or_default();
    if prefix.contains(['r', 'R']) || !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some(c) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let (decoded, used) = match c {
            'n' => (Some('\n'), 0),
            't' => (Some('\t'), 0),
            'r' => (Some('\r'), 0),
            'b' => (Some('\u{8}'), 0),
            'f' => (Some('\u{c}'), 0),
            '\\' | '\'' | '"' | '/' => (Some(c), 0),
            'u' => (hex(after, 4), 4),
            'x' => (hex(after, 2), 2),
            _ => (None, 0),
        };
        match decoded {
            Some(decoded) => {
                out.push(decoded);
                rest = after.get(used..).unwrap_or_default();
            }
            // An unknown escape keeps its backslash, as in Python; a line's end is joined.
            None if c == '\n' => rest = after,
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The content of strings in a row.
fn decode_all(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(end) = values::string_end(rest) {
        let (string, behind) = rest.split_at(end);
        out.push_str(&decode(string));
        rest = behind.trim_start();
    }
    out
}

fn hex(text: &str, digits: usize) -> Option<char> {
    let digits = text.get(..digits)?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_json() {
        for (source, json) in [
            (
                "{'a': True, 'b': [None, 1.50]}",
                r#"{"a": true, "b": [null, 1.50]}"#,
            ),
            ("[1, (2, 3), {}]", "[1, [2, 3], {}]"),
            (r#"{"a": "x\u0041"}"#, r#"{"a": "x\u0041"}"#),
            (r"['it\'s', 'C:\dir']", r#"["it's", "C:\\dir"]"#),
            ("['''a\n'b' ''', r'\\d']", r#"["a\n'b' ", "\\d"]"#),
            ("{'say': 'it's fine'}", r#"{"say": "it's fine"}"#),
            ("{a: 1_000, b: .5}", r#"{"a": 1_000, "b": .5}"#),
        ] {
            let mut cursor = Cursor::new(source, true);
            let values = values::read(&mut cursor, Bare::Literals);
            let json_of = values.ok().and_then(|values| to_json(&values, 0));
            assert_eq!(json_of.as_deref(), Some(json), "{source}");
        }
    }
}
