//! Loops of Python around calls: a call that takes the variable of a loop is code.

use crate::cursor::{Beginning, beginning, floor};
use crate::printed::Printed;

/// Longest head of a loop, in bytes.
pub(crate) const MAX_HEAD: usize = 96;

/// The variables of a loop that a line begins, or that stands behind a call: `for x, y in …`.
pub(crate) fn variables(text: &str) -> Option<impl Iterator<Item = &str>> {
    let text = text.strip_prefix("async ").unwrap_or(text);
    let (names, _) = text.strip_prefix("for ")?.split_once(" in ")?;
    let names = names.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    Some(names.filter(|name| !name.is_empty()))
}

/// The loops around the place of a walk.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    /// The beginning of the line.
    line: String,
    /// How far the outermost loop is indented, and the variables of all.
    open: Option<(usize, Vec<String>)>,
}

impl Loops {
    /// Goes on over text.
    pub(crate) fn see(&mut self, text: &str) {
        let Some(end) = memchr::memrchr(b'\n', text.as_bytes()) else {
            return self.see_part(text);
        };
        let (lines, last) = text.split_at_checked(end + 1).unwrap_or((text, ""));
        let lines = match last_outer_line(text) {
            // It ends every loop before it.
            Some(line) => {
                self.line.clear();
                self.open = None;
                lines.get(line..).unwrap_or_default()
            }
            None => lines,
        };
        for line in lines.split_inclusive('\n') {
            self.see_part(line);
            self.end_line();
        }
        self.see_part(last);
    }

    /// Goes on over a part of a line.
    fn see_part(&mut self, part: &str) {
        if may_be_head(&self.line) {
            let room = MAX_HEAD - self.line.len().min(MAX_HEAD);
            self.line
                .push_str(part.get(..floor(part, room)).unwrap_or_default());
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Some((indent, head)) = indented(&line) else {
            return;
        };
        self.open.take_if(|(outer, _)| indent <= *outer);
        if let Some(names) = variables(head) {
            let (_, open) = self.open.get_or_insert((indent, Vec::new()));
            open.extend(names.map(str::to_owned));
        }
    }

    /// Whether one of the calls takes a variable of the loops around it.
    pub(crate) fn bind(&self, calls: &[Printed]) -> bool {
        let indent = self.line.len() - self.line.trim_start().len();
        let around = self.open.as_ref().filter(|(outer, _)| indent > *outer);
        let around = around.into_iter().flat_map(|(_, names)| names);
        let here = variables(self.line.trim_start());
        let mut names = around.map(String::as_str).chain(here.into_iter().flatten());
        names.any(|name| takes(calls, name))
    }
}

/// Where the last line begins that begins in a text and is not indented.
fn last_outer_line(text: &str) -> Option<usize> {
    let mut before = text;
    while let Some(end) = memchr::memrchr(b'\n', before.as_bytes()) {
        let line = text.get(end + 1..)?;
        if line.starts_with(|c: char| !c.is_whitespace()) {
            return Some(end + 1);
        }
        before = text.get(..end)?;
    }
    None
}

/// Whether a line that begins like this may turn out to begin a loop.
fn may_be_head(line: &str) -> bool {
    let inside = line.trim_start();
    let is_other = |word| beginning(inside, word) == Beginning::Other;
    !(is_other("for ") && is_other("async "))
}

/// How far a line is indented, and what stands in it; `None` if it is blank.
fn indented(line: &str) -> Option<(usize, &str)> {
    let inside = line.trim();
    let indent = line.len() - line.trim_start().len();
    (!inside.is_empty()).then_some((indent, inside))
}

/// Whether one of the calls takes a variable.
pub(crate) fn takes(calls: &[Printed], name: &str) -> bool {
    let mut variables = calls.iter().flat_map(|call| &call.variables);
    variables.any(|variable| variable == name)
}
