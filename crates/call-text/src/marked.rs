//! Calls whose values say themselves what they are: Gemma's and Kimi K3's.

use std::borrow::Cow;

use crate::cursor::{Cursor, Look, Stop};
use crate::literal;
use crate::printed::{Ending, ObjectWriter, Printed, push_string, string};
use crate::tools::{Context, MAX_NAME};
use crate::typing::Place;
use crate::values::{self, Bare};

/// Marks around a text that is taken as it is.
const TEXT_MARKS: &[&str] = &["<|\"|>", "<escape>"];
/// Deeper nesting is not read.
const MAX_DEPTH: usize = 100;

/// `call:f{k:<|"|>text<|"|>,n:42}`; reads one call and steps over it.
pub(crate) fn read_gemma(
    cursor: &mut Cursor<'_>,
    close: &[&'static str],
    context: Context<'_>,
) -> Look<Vec<Printed>> {
    cursor.eat("call")?;
    cursor.need(":")?;
    let window = cursor.window(MAX_NAME);
    let Some(length) = window.find(['{', '<']) else {
        return if window.len() > MAX_NAME {
            Err(Stop::Not)
        } else {
            cursor.more()
        };
    };
    let name = window.get(..length).unwrap_or_default().trim();
    if !context.knows(name) {
        return Err(Stop::Not);
    }
    cursor.at += length;
    if cursor.sees_any(close)?.is_some() {
        return Ok(vec![Printed {
            name: name.to_owned(),
            ending: Ending::Closed,
            ..Printed::default()
        }]);
    }
    if cursor.peek()? != '{' {
        return Err(Stop::Not);
    }
    let mut writer = Marked {
        cursor: *cursor,
        close,
        out: String::new(),
        open: Vec::new(),
    };
    let ending = match writer.run() {
        Err(Stop::Not) if context.any_name => {
            cursor.at = unreadable_end(*cursor, close)?;
            return Ok(vec![Printed::new(name, "").ending(Ending::Cut)]);
        }
        ending => ending?,
    };
    cursor.at = writer.cursor.at;
    Ok(vec![Printed::new(name, writer.out).ending(ending)])
}

/// Where a call of Gemma's ends that cannot be read: at its closing marker, calls inside it counted,
/// or with the text.
fn unreadable_end(mut cursor: Cursor<'_>, close: &[&'static str]) -> Look<usize> {
    const OPEN: &[&str] = &["<|tool_call>", "<start_function_call>"];
    let mut inside = 0_usize;
    loop {
        let Some(next) = cursor.rest().find('<') else {
            return if cursor.is_end {
                Ok(cursor.text.len())
            } else {
                Err(Stop::More)
            };
        };
        cursor.at += next;
        if cursor.sees_any(OPEN)?.is_some() {
            inside += 1;
        } else if cursor.sees_any(close)?.is_some() {
            match inside.checked_sub(1) {
                Some(fewer) => inside = fewer,
                None => return Ok(cursor.at),
            }
        }
        cursor.at += 1;
    }
}

struct Marked<'t, 'f> {
    cursor: Cursor<'t>,
    close: &'f [&'static str],
    out: String,
    /// The closing brackets of what is open.
    open: Vec<char>,
}

impl Marked<'_, '_> {
    fn run(&mut self) -> Look<Ending> {
        loop {
            self.cursor.skip_space();
            if self.cursor.rest().is_empty() && self.cursor.is_end {
                return Ok(Ending::Cut);
            }
            let c = self.cursor.peek()?;
            match c {
                '{' | '[' if self.open.len() < MAX_DEPTH => {
                    self.cursor.at += 1;
                    self.out.push(c);
                    self.open.push(if c == '{' { '}' } else { ']' });
                    if c == '[' {
                        continue;
                    }
                }
                '}' | ']' => {
                    self.cursor.at += 1;
                    if self.open.pop() != Some(c) {
                        return Err(Stop::Not);
                    }
                    self.drop_comma();
                    self.out.push(c);
                    if self.open.is_empty() {
                        return Ok(Ending::Own);
                    }
                }
                ',' => {
                    self.cursor.at += 1;
                    self.out.push(',');
                }
                _ if self.cursor.sees_any(self.close)?.is_some() => {
                    // The closing brackets are missing.
                    return Ok(Ending::Closed);
                }
                _ => {
                    if !self.value()? {
                        return Ok(Ending::Cut);
                    }
                    continue;
                }
            }
            if self.open.last() == Some(&'}') && matches!(c, '{' | ',') && !self.key()? {
                return Ok(Ending::Cut);
            }
        }
    }

    fn drop_comma(&mut self) {
        let length = self.out.trim_end().trim_end_matches(',').len();
        if self.out.ends_with(',') {
            self.out.truncate(length);
        }
    }

    /// A key and its colon; `false`: the text ended inside.
    fn key(&mut self) -> Look<bool> {
        self.cursor.skip_space();
        if matches!(self.cursor.peek_or_end()?, b'}' | b',') {
            return Ok(true);
        }
        for mark in TEXT_MARKS {
            if self.cursor.eat(mark)? {
                let Ok(key) = self.cursor.up_to(mark, MAX_NAME) else {
                    return self.cut();
                };
                push_string(&mut self.out, key);
                self.cursor.skip_space();
                self.cursor.need(":")?;
                self.out.push(':');
                return Ok(true);
            }
        }
        let window = self.cursor.window(MAX_NAME);
        let is_no_key = |c: char| ":{}[](),<>\n".contains(c);
        match window.find(is_no_key) {
            Some(end) if end > 0 && window.get(end..).is_some_and(|rest| rest.starts_with(':')) => {
                let key = window.get(..end).unwrap_or_default();
                push_string(&mut self.out, key.trim().trim_matches(['"', '\'']));
                self.out.push(':');
                self.cursor.at += end + 1;
                Ok(true)
            }
            None if window.len() <= MAX_NAME => self.cut(),
            _ => Err(Stop::Not),
        }
    }

    fn cut(&mut self) -> Look<bool> {
        self.cursor.more().or_else(|stop| match stop {
            Stop::More => Err(Stop::More),
            Stop::Not => {
                self.cursor.at = self.cursor.text.len();
                Ok(false)
            }
        })
    }

    /// A value; `false`: the text ended inside.
    fn value(&mut self) -> Look<bool> {
        // A mark inside a text looked like its end, and the text goes on.
        if !self.out.ends_with([':', '[', ',']) {
            return Err(Stop::Not);
        }
        for mark in TEXT_MARKS {
            if self.cursor.eat(mark)? {
                let rest = self.cursor.rest();
                let Some(end) = rest.find(mark) else {
                    if self.cursor.is_end {
                        push_string(&mut self.out, rest);
                        self.out.pop();
                    }
                    return self.cut();
                };
                push_string(&mut self.out, rest.get(..end).unwrap_or_default());
                self.cursor.at += end + mark.len();
                return Ok(true);
            }
        }
        if matches!(self.cursor.peek()?, '"' | '\'') {
            return self.quoted();
        }
        let rest = self.cursor.rest();
        let Some(end) = rest.find([',', '}', ']', '\n']) else {
            return self.cut();
        };
        let raw = rest.get(..end).unwrap_or_default().trim();
        if TEXT_MARKS.iter().any(|mark| raw.contains(mark)) {
            return Err(Stop::Not);
        }
        self.cursor.at += end;
        match raw {
            "True" => self.out.push_str("true"),
            "False" => self.out.push_str("false"),
            "None" => self.out.push_str("null"),
            raw if literal::is_strict_json(raw) => self.out.push_str(raw),
            raw => push_string(&mut self.out, raw),
        }
        Ok(true)
    }

    /// A string in ordinary quotes: read as the only item of a list, which ends it.
    fn quoted(&mut self) -> Look<bool> {
        let rest = self.cursor.rest();
        let quote = rest.chars().next().unwrap_or('"');
        let inside = rest.get(1..).unwrap_or_default();
        let mut escaped = false;
        let mut end = None;
        for (at, c) in inside.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => {
                    let after = inside.get(at + 1..).unwrap_or_default().trim_start();
                    if after.is_empty() && !self.cursor.is_end {
                        return Err(Stop::More);
                    }
                    if after.is_empty() || after.starts_with([',', '}', ']']) {
                        end = Some(at);
                        break;
                    }
                }
                _ => {}
            }
        }
        let Some(end) = end else {
            self.out.push('"');
            return self.cut();
        };
        literal::push_json_string(&mut self.out, rest.get(..end + 2).unwrap_or_default());
        self.cursor.at += end + 2;
        Ok(true)
    }
}

/// `<|open|>call tool="f" index="1"<|sep|>…`; reads one call and steps over it.
pub(crate) fn read_kimi(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
    let head = tag(cursor, true, "call")?;
    let name = attribute(head, "tool").ok_or(Stop::Not)?;
    if !context.knows(&name) {
        return Err(Stop::Not);
    }
    let place = Place::arguments(context.schema(&name));
    let mut writer = ObjectWriter::new();
    loop {
        cursor.skip_space();
        if cursor.rest().is_empty() && cursor.is_end {
            return Ok(vec![Printed::new(name, writer.cut()).ending(Ending::Cut)]);
        }
        let mut ahead = *cursor;
        match tag(&mut ahead, false, "call") {
            Ok(_) => {
                *cursor = ahead;
                return Ok(vec![
                    Printed::new(name, writer.close()).ending(Ending::Closed),
                ]);
            }
            Err(Stop::More) => return Err(Stop::More),
            Err(Stop::Not) => {}
        }
        let head = tag(cursor, true, "argument")?;
        let key = attribute(head, "key").ok_or(Stop::Not)?;
        let kind = attribute(head, "type").unwrap_or_default();
        let start = cursor.at;
        let raw = loop {
            let rest = cursor.rest();
            let Some(next) = rest.find("<|close|>") else {
                if !cursor.is_end {
                    return Err(Stop::More);
                }
                cursor.at = cursor.text.len();
                return Ok(vec![Printed::new(name, writer.cut()).ending(Ending::Cut)]);
            };
            cursor.at += next;
            let raw = cursor.since(start);
            match tag(cursor, false, "argument") {
                Ok(_) => break raw,
                Err(Stop::More) => return Err(Stop::More),
                Err(Stop::Not) => cursor.at += 1,
            }
        };
        let json = match kind.as_str() {
            "string" => Cow::Owned(string(raw)),
            "" => place.property(&key).json(raw),
            _ if literal::is_strict_json(raw.trim()) => Cow::Borrowed(raw.trim()),
            _ => place.property(&key).json(raw),
        };
        writer.member(&key, &json);
    }
}

/// Steps over `<|open|>WORD …<|sep|>` or `<|close|>WORD<|sep|>`; the attributes in it.
fn tag<'t>(cursor: &mut Cursor<'t>, opens: bool, word: &str) -> Look<&'t str> {
    let mut ahead = *cursor;
    ahead.need(if opens { "<|open|>" } else { "<|close|>" })?;
    ahead.skip_space();
    ahead.need(word)?;
    let attributes = ahead.up_to("<|sep|>", 512)?;
    if attributes.contains("<|") {
        return Err(Stop::Not);
    }
    *cursor = ahead;
    Ok(attributes)
}

fn attribute(attributes: &str, key: &str) -> Option<String> {
    let (_, after) = attributes.split_once(&format!(" {key}=\""))?;
    let value = after.split('"').next()?;
    Some(
        value
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&"),
    )
}

/// `<f><k>v</k></f>`: the tool's name is the tag, and so is each parameter's.
pub(crate) fn read_tool_tag(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
    cursor.need("<")?;
    let name = cursor.up_to(">", MAX_NAME)?;
    if !context.declares(name) {
        return Err(Stop::Not);
    }
    let close = format!("</{name}>");
    let parameters = context.parameters(name);
    let place = Place::arguments(context.schema(name));
    let mut writer = ObjectWriter::new();
    loop {
        cursor.skip_space();
        if cursor.eat(&close)? {
            return Ok(vec![
                Printed::new(name, writer.close()).ending(Ending::Closed),
            ]);
        }
        if cursor.peek()? == '{' {
            let start = cursor.at;
            values::read(cursor, Bare::Literals).map_err(|broken| match broken {
                values::Broken::More => Stop::More,
                _ => Stop::Not,
            })?;
            let arguments = cursor.since(start).to_owned();
            cursor.skip_space();
            cursor.need(&close)?;
            return Ok(vec![Printed::new(name, arguments).ending(Ending::Closed)]);
        }
        cursor.need("<")?;
        let key = cursor.up_to(">", MAX_NAME)?;
        if !parameters.contains(&key) {
            return Err(Stop::Not);
        }
        let end = format!("</{key}>");
        let start = cursor.at;
        // The calls of the same tool that are open inside the value.
        let mut open_inside = 0_usize;
        // The closing tag that a parameter or the end of the call follows.
        let raw = loop {
            let Some(next) = cursor.rest().find(&end) else {
                if open_inside > 0 && cursor.is_end {
                    cursor.at = cursor.text.len();
                    return Ok(vec![Printed::new(name, writer.cut()).ending(Ending::Cut)]);
                }
                return cursor.more();
            };
            let piece = cursor.rest().get(..next).unwrap_or_default();
            let closed = piece.matches(&close).count();
            open_inside = (open_inside + calls_in(piece, name)).saturating_sub(closed);
            cursor.at += next;
            let raw = cursor.since(start);
            cursor.at += end.len();
            if open_inside > 0 {
                continue;
            }
            let mut ahead = *cursor;
            ahead.skip_space();
            let follows = ahead.sees(&close)?
                || ahead.eat("<")?
                    && parameters.iter().any(|key| {
                        ahead
                            .rest()
                            .strip_prefix(key)
                            .is_some_and(|rest| rest.starts_with('>'))
                    });
            if follows {
                break raw;
            }
            if ahead.rest().len() <= MAX_NAME && !ahead.is_end {
                return Err(Stop::More);
            }
        };
        writer.member(
            key,
            &place
                .property(key)
                .json(crate::tags::without_added_breaks(raw)),
        );
    }
}

/// How many calls of a tool begin in a text, rather than mention its tag.
fn calls_in(text: &str, name: &str) -> usize {
    let tag = format!("<{name}>");
    text.match_indices(&tag)
        .filter(|(at, tag)| {
            let inside = text.get(at + tag.len()..).unwrap_or_default();
            inside.trim_start().starts_with('<')
        })
        .count()
}
