//! Loops of Python around calls: a call that takes the variable of a loop is code.

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
        for part in text.split_inclusive('\n') {
            // Of most lines nothing has to be known.
            let is_plain = !part.starts_with([' ', '\t', 'f', 'a']) && part.ends_with('\n');
            if is_plain && self.line.is_empty() && self.open.is_none() {
                continue;
            }
            if self.line.len() < MAX_HEAD {
                self.line.push_str(
                    part.get(..crate::cursor::floor(part, MAX_HEAD))
                        .unwrap_or(part),
                );
            }
            if part.ends_with('\n') {
                self.end_line();
            }
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
