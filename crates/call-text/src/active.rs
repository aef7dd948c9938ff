//! A call being read: held back until it is one, or cannot be one any more.

use crate::envelope::{self, Envelope};
use crate::extent::{Extent, Found};
use crate::format::{Format, Opening};

/// What came of looking at the text of a possible call. Lengths count from its first byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More text is needed.
    Wait,
    /// These calls stand in the first `length` bytes.
    Calls {
        calls: Vec<Envelope>,
        length: usize,
        closed: bool,
    },
    /// Nothing here is a call; the first `length` bytes are text.
    Text { length: usize },
}

/// A possible call.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) format: &'static Format,
    /// Only white space may follow the call up to the end of the text.
    must_end_text: bool,
    /// Where the JSON begins, once known.
    body: Option<usize>,
    extent: Extent,
    found: Found,
    /// How far the closer was looked for.
    searched: usize,
}

impl Active {
    pub(crate) fn new(format: &'static Format, must_end_text: bool) -> Self {
        Self {
            format,
            must_end_text,
            body: None,
            extent: Extent::default(),
            found: Found::Open,
            searched: 0,
        }
    }

    /// Looks at the text from the first byte of the possible call.
    pub(crate) fn step(&mut self, text: &str, is_end: bool) -> Step {
        let body = match self.body(text, is_end) {
            Ok(body) => body,
            Err(step) => return step,
        };
        let rest = text.get(body..).unwrap_or_default();
        if self.found == Found::Open {
            if let Some(false) = first_key_fits(rest) {
                return Step::Text { length: body + 1 };
            }
            self.found = self.extent.advance(rest);
        }
        match self.found {
            Found::End(length) => self.complete(text, body, body + length, is_end),
            Found::Broken => self.broken(text, body, is_end),
            Found::Open if is_end => Self::cut(text, body),
            Found::Open => Step::Wait,
        }
    }

    /// Finds the first byte of the JSON.
    fn body(&mut self, text: &str, is_end: bool) -> Result<usize, Step> {
        if let Some(body) = self.body {
            return Ok(body);
        }
        let opening = match self.format.opening {
            Opening::Marker(marker) => marker.len(),
            Opening::Bracket => 0,
            Opening::Fence => match text.find('\n') {
                Some(line) if is_language(text.get(3..line).unwrap_or_default()) => line + 1,
                Some(_) => return Err(Step::Text { length: 3 }),
                None if is_end || text.len() > MAX_LANGUAGE => {
                    return Err(Step::Text {
                        length: 3.min(text.len()),
                    });
                }
                None => return Err(Step::Wait),
            },
        };
        let inside = text.get(opening..).unwrap_or_default();
        let start = opening + (inside.len() - inside.trim_start().len());
        match text.get(start..).and_then(|rest| rest.chars().next()) {
            Some('{' | '[') => {
                self.body = Some(start);
                Ok(start)
            }
            Some(_) => Err(Step::Text {
                length: opening.max(1),
            }),
            None if is_end => Err(Step::Text {
                length: opening.max(1),
            }),
            None => Err(Step::Wait),
        }
    }

    /// The JSON is whole and ends at `end`.
    fn complete(&self, text: &str, body: usize, end: usize, is_end: bool) -> Step {
        let Some(calls) = envelope::read(text.get(body..end).unwrap_or_default()) else {
            return Step::Text { length: end };
        };
        let after = text.get(end..).unwrap_or_default();
        let gap = after.len() - after.trim_start().len();
        let rest = after.trim_start();
        let mut length = end;
        let mut closed = false;
        if let Some(closer) = self.format.closer {
            if rest.starts_with(closer) {
                length = end + gap + closer.len();
                closed = true;
            } else if !is_end && closer.starts_with(rest) {
                return Step::Wait;
            } else if self.must_end_text && !rest.is_empty() {
                return Step::Text { length: end };
            }
        }
        if self.must_end_text {
            match text.get(length..).unwrap_or_default().trim() {
                "" if !is_end => return Step::Wait,
                "" => {}
                _ => return Step::Text { length: end },
            }
        }
        Step::Calls {
            calls,
            length,
            closed,
        }
    }

    /// The JSON is broken: a closing marker, or the end of the text, ends it.
    fn broken(&mut self, text: &str, body: usize, is_end: bool) -> Step {
        if let Some(closer) = self.format.closer {
            let from = self.searched.max(body);
            let mut from = from.min(text.len());
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            if let Some(found) = text.get(from..).and_then(|rest| rest.find(closer)) {
                let end = from + found;
                let calls = envelope::read(text.get(body..end).unwrap_or_default());
                let length = end + closer.len();
                let tail = text.get(length..).unwrap_or_default().trim();
                return match calls {
                    Some(_) if self.must_end_text && tail.is_empty() && !is_end => Step::Wait,
                    Some(calls) if !self.must_end_text || tail.is_empty() => Step::Calls {
                        calls,
                        length,
                        closed: true,
                    },
                    _ => Step::Text { length },
                };
            }
            self.searched = text.len().saturating_sub(closer.len());
        }
        if is_end {
            Self::cut(text, body)
        } else {
            Step::Wait
        }
    }

    /// The text ends inside the call.
    fn cut(text: &str, body: usize) -> Step {
        match envelope::read(text.get(body..).unwrap_or_default()) {
            Some(calls) => Step::Calls {
                calls,
                length: text.len(),
                closed: false,
            },
            None => Step::Text {
                length: body.max(1),
            },
        }
    }
}

/// Longest first line of a fence that is waited for, in bytes.
const MAX_LANGUAGE: usize = 40;

fn is_language(word: &str) -> bool {
    word.trim()
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+'))
}

/// Whether the first key of an object can be one of a printed call; `None` while it is not known.
fn first_key_fits(text: &str) -> Option<bool> {
    let inside = text
        .trim_start_matches('[')
        .trim_start()
        .trim_start_matches(['[', '{'])
        .trim_start();
    let quote = inside.chars().next()?;
    if !matches!(quote, '"' | '\'') {
        return Some(false);
    }
    let key = inside.get(1..)?;
    match key.find(quote) {
        Some(end) => Some(envelope::is_call_key(key.get(..end).unwrap_or_default())),
        None => (key.len() > 20).then_some(false),
    }
}
