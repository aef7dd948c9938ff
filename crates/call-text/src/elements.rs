//! Calls as elements: every tag has a prefix, and each argument is an element, objects and lists
//! element by element.

use crate::cursor::{Cursor, Look, Stop};
use crate::printed::{Ending, Printed, string};
use crate::tags::{MAX_TAG, Role, tag};
use crate::tools::Context;
use crate::typing::Place;

/// What stands before every tag of a call in elements.
const ELEMENT_PREFIX: &str = "]<]minimax[>[";

/// A call in elements: every tag has a prefix, and each argument is an element, objects and
/// lists element by element.
pub(crate) fn read(cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
    cursor.eat(ELEMENT_PREFIX)?;
    let open = tag(cursor)?;
    if open.role != Role::Call || open.is_closing || !context.knows(open.name()) {
        return Err(Stop::Not);
    }
    let name = open.name().to_owned();
    cursor.at += open.length;
    let place = Place::arguments(context.schema(&name));
    let mut elements = Elements {
        cursor: *cursor,
        out: String::new(),
        open: vec![Element {
            name: String::new(),
            place,
            kind: Container::Object,
            count: 0,
        }],
    };
    elements.out.push('{');
    let ending = elements.run()?;
    if ending == Ending::Cut {
        elements.cursor.at = elements.cursor.text.len();
    }
    cursor.at = elements.cursor.at;
    Ok(vec![Printed::new(name, elements.out).ending(ending)])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

struct Element<'s> {
    name: String,
    place: Place<'s>,
    kind: Container,
    count: usize,
}

struct Elements<'t, 's> {
    cursor: Cursor<'t>,
    out: String,
    open: Vec<Element<'s>>,
}

/// Deeper nesting of elements is not read.
const MAX_ELEMENTS: usize = 100;

impl Elements<'_, '_> {
    fn run(&mut self) -> Look<Ending> {
        loop {
            self.cursor.skip_space();
            if self.cursor.rest().is_empty() && self.cursor.is_end {
                return Ok(Ending::Cut);
            }
            let mut ahead = self.cursor;
            ahead.eat(ELEMENT_PREFIX)?;
            let Some(top) = self.open.last() else {
                return Ok(Ending::Closed);
            };
            if ahead.eat("</")? {
                let name = ahead.up_to(">", MAX_TAG)?;
                let is_call_end = name == "invoke" || name == "tool_call";
                if self.open.len() == 1 || is_call_end && name != top.name {
                    self.close_all();
                    // The list's own end is not ours.
                    if name == "invoke" {
                        self.cursor = ahead;
                    }
                    return Ok(Ending::Closed);
                }
                if name != top.name {
                    return Err(Stop::Not);
                }
                self.out.push(if top.kind == Container::Object {
                    '}'
                } else {
                    ']'
                });
                self.open.pop();
                self.cursor = ahead;
                continue;
            }
            if !ahead.eat("<")? {
                return Err(Stop::Not);
            }
            let name = ahead.up_to(">", MAX_TAG)?.to_owned();
            self.cursor = ahead;
            if !self.element(name)? {
                return Ok(Ending::Cut);
            }
        }
    }

    fn close_all(&mut self) {
        while let Some(element) = self.open.pop() {
            self.out.push(if element.kind == Container::Object {
                '}'
            } else {
                ']'
            });
        }
    }

    /// Reads an element behind its opening tag; `false`: the text ended inside.
    fn element(&mut self, name: String) -> Look<bool> {
        let Some(top) = self.open.last_mut() else {
            return Err(Stop::Not);
        };
        let place = match top.kind {
            Container::Object => top.place.property(&name),
            Container::Array => top.place.items(),
        };
        if top.count > 0 {
            self.out.push_str(", ");
        }
        top.count += 1;
        if top.kind == Container::Object {
            self.out.push_str(&string(&name));
            self.out.push_str(": ");
        }
        let mut ahead = self.cursor;
        ahead.skip_space();
        let holds_elements = {
            let mut inner = ahead;
            inner.eat(ELEMENT_PREFIX)? && inner.sees("<")? && !inner.sees("</")?
        };
        if holds_elements && !place.allows_text() && self.open.len() < MAX_ELEMENTS {
            ahead.at += ELEMENT_PREFIX.len() + 1;
            let first = ahead.up_to(">", MAX_TAG)?;
            let is_list = first == "item" && !place.property("item").is_known() || place.is_list();
            let kind = if is_list {
                Container::Array
            } else {
                Container::Object
            };
            self.out.push(if is_list { '[' } else { '{' });
            self.open.push(Element {
                name,
                place,
                kind,
                count: 0,
            });
            return Ok(true);
        }
        // The value goes up to its own closing tag, with or without the prefix.
        let rest = self.cursor.rest();
        let close = format!("</{name}>");
        let Some(end) = rest.find(&close) else {
            return if self.cursor.is_end {
                Ok(false)
            } else {
                Err(Stop::More)
            };
        };
        let raw = rest.get(..end).unwrap_or_default();
        let raw = raw.strip_suffix(ELEMENT_PREFIX).unwrap_or(raw);
        if raw.trim().is_empty() && !place.allows_text() && place.is_known() {
            self.out.push_str(if place.is_list() { "[]" } else { "{}" });
        } else {
            self.out.push_str(&place.json(raw));
        }
        self.cursor.at += end + close.len();
        Ok(true)
    }
}
