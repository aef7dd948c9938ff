//! The lenient reader: from almost-JSON to strict JSON text, with a report of every change.
//!
//! It is a text-to-text step: what it writes is read by the strict reader like any other text.
//! A reading is one forward pass with an explicit stack and bounded look-ahead. Where the rules
//! alone do not tell which quotes end a string, and a schema can, several readings are tried (see
//! `doubt`); their number and their cost are bounded.

mod balance;
mod bare;
mod close;
mod content;
mod doubt;
mod end;
mod frame;
mod key;
mod output;
mod reader;
mod rules;
mod string;
mod token;
mod torn;

use std::ops::Range;

use crate::json::attempt::{Attempt, StrictString};
use crate::rule::{Risk, Rule};
use crate::schema::{Place, Tree};

pub(crate) use rules::RULES;

/// One change of the text.
#[derive(Clone, Debug)]
pub(crate) struct TextFix {
    pub(crate) rule: &'static Rule,
    /// The rule's risk, or a higher one.
    pub(crate) risk: Risk,
    /// The bytes of the emitted text that were changed; empty where something was put in.
    pub(crate) before: Range<usize>,
    /// The bytes of the strict text that stand there now.
    pub(crate) after: Range<usize>,
}

impl TextFix {
    /// Whether it wrote a number or literal in another way than the model did.
    pub(crate) fn is_respelling(&self) -> bool {
        [rules::NUMBER_FORM.id, rules::LITERAL.id].contains(&self.rule.id)
    }
}

/// Where and how a text was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// After a complete last value: only closers are missing.
    Unclosed,
    /// Inside a string, number, literal or key, or after a colon or comma.
    Inside,
    /// The beginning is lost.
    Beginning,
}

/// What makes a text unusable as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// There is no JSON in it.
    #[error("there is no JSON in the text")]
    NoValue,
    /// Something that is no JSON, by no rule; byte offset.
    #[error("the text is not JSON (byte {0})")]
    Unreadable(usize),
    /// Two splits into strings fit equally well; byte offset of the string.
    #[error("it is not clear where the string at byte {0} ends: escape its quotes")]
    Ambiguous(usize),
    /// NaN or an infinity; byte offset.
    #[error("NaN and infinities are no JSON (byte {0})")]
    NonFinite(usize),
    /// A `\u` escape with one to three digits; byte offset.
    #[error("a \\u escape needs four digits (byte {0})")]
    DamagedEscape(usize),
    /// Nested deeper than allowed.
    #[error("the text nests too deep")]
    TooDeep,
}

/// What the reader made of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lenient {
    /// Strict JSON: one value, or several with a line break between them.
    pub(crate) text: String,
    /// Where the values stand in `text`. Equal copies are one; empty if there is none.
    pub(crate) values: Vec<Range<usize>>,
    /// Its long strings, in order.
    pub(crate) strings: Vec<StrictString>,
    pub(crate) fixes: Vec<TextFix>,
    pub(crate) cut: Option<Cut>,
    /// The first problem. What was read is strict JSON all the same (null for a non-finite
    /// number).
    pub(crate) problem: Option<Problem>,
}

impl Lenient {
    /// Whether words around the value were left out.
    pub(crate) fn is_in_prose(&self) -> bool {
        self.fixes.iter().any(|fix| fix.rule.id == rules::PROSE.id)
    }
}

/// Reads a text that is not strict JSON; `place` is where its value stands in the schema, `attempt`
/// what a strict reading found out about it. Linear in the text: all readings of it together are of
/// at most eight times its length and 1 MiB.
pub(crate) fn read(
    text: &str,
    attempt: Option<&Attempt>,
    tree: &Tree,
    place: Place,
    max_depth: usize,
) -> Lenient {
    let input = Input {
        text,
        attempt,
        tree,
        place,
        max_depth,
    };
    if let Some(plain) = frame::unescaped(text) {
        let mut read = read_plain(input.of(&plain));
        let whole = TextFix {
            rule: &rules::ESCAPED_JSON,
            risk: rules::ESCAPED_JSON.risk,
            before: 0..text.len(),
            after: 0..read.text.len(),
        };
        // Offsets in the unescaped text would point nowhere: every fix is about the whole.
        for fix in &mut read.fixes {
            fix.before = 0..text.len();
        }
        read.fixes.insert(0, whole);
        return read;
    }
    read_plain(input)
}

/// What the readers are given.
#[derive(Clone, Copy)]
struct Input<'t> {
    text: &'t str,
    /// What a strict reading found out about the text.
    attempt: Option<&'t Attempt>,
    tree: &'t Tree,
    /// Where the value stands in the schema.
    place: Place,
    max_depth: usize,
}

impl<'t> Input<'t> {
    /// The same for another text.
    fn of(self, text: &'t str) -> Self {
        Self {
            text,
            attempt: None,
            ..self
        }
    }
}

fn read_plain(input: Input<'_>) -> Lenient {
    let mut lenient = doubt::read(input);
    frame::merge_copies(&mut lenient, input.text.len());
    let has = |rule: &Rule| lenient.fixes.iter().any(|fix| fix.rule.id == rule.id);
    if has(&rules::MISSING_OPENER) && has(&rules::SURPLUS_CLOSER) {
        // More than the outermost brace is missing: what is left was deeper inside.
        lenient.cut = lenient.cut.or(Some(Cut::Beginning));
    }
    lenient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::MAX_DEPTH;

    /// The parts of a text that no range covers.
    fn outside(text: &str, mut ranges: Vec<Range<usize>>) -> String {
        ranges.sort_by_key(|range| range.start);
        let mut out = String::new();
        let mut at = 0;
        for range in ranges {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            at = at.max(range.end);
        }
        out + &text[at..]
    }

    #[test]
    fn every_byte_outside_a_fix_is_kept() {
        let tree = Tree::any_object();
        let (mut checked, mut lost) = (0, Vec::new());
        let collections = [
            include_str!("../../../../../tests/cases/json/own.jsonl"),
            include_str!("../../../../../tests/cases/json/onefix.jsonl"),
            include_str!("../../../../../tests/cases/json/reader.jsonl"),
            // Strict texts: whatever the lenient reader makes of them, it says so.
            include_str!("../../../../../tests/cases/json/valid.jsonl"),
        ];
        for line in collections.iter().flat_map(|rows| rows.lines()) {
            let row: serde_json::Value = match serde_json::from_str(line) {
                Ok(row) => row,
                Err(error) => {
                    assert!(error.to_string().contains("out of range"), "{line}");
                    continue;
                }
            };
            let input = row["input"].as_str().unwrap_or_default();
            let read = read(input, None, &tree, None, MAX_DEPTH);
            if read.cut.is_some() || read.problem.is_some() || read.values.len() != 1 {
                continue;
            }
            checked += 1;
            let before = read.fixes.iter().map(|fix| fix.before.clone()).collect();
            let after = read.fixes.iter().map(|fix| fix.after.clone()).collect();
            if outside(input, before) != outside(&read.text, after) {
                let fixes: Vec<_> = read
                    .fixes
                    .iter()
                    .map(|fix| (fix.rule.id, &fix.before, &fix.after))
                    .collect();
                lost.push(format!("{input}\n{}\n{fixes:?}", read.text));
            }
        }
        assert!(lost.is_empty(), "{}", lost.join("\n"));
        assert!(checked > 500, "only {checked} texts were read");
    }

    /// A value with `depth` containers inside one another; of objects where `kinds` has a bit.
    fn nested(depth: u32, kinds: u32) -> String {
        if depth == 0 {
            return "1".to_owned();
        }
        let inner = nested(depth - 1, kinds >> 1);
        if kinds & 1 == 1 {
            format!(r#"{{"a": "x", "b": {inner}, "c": [true], "d": {{}}}}"#)
        } else {
            format!(r#"[0, {inner}, "y"]"#)
        }
    }

    #[test]
    fn a_text_that_begins_deeper_inside_is_cut() {
        let tree = Tree::any_object();
        let mut checked = 0;
        for kinds in 0..1 << 5 {
            // The outermost one is an object.
            let text = nested(5, kinds << 1 | 1);
            for (start, _) in text.match_indices(['"', '{', '[']) {
                let before = &text[..start];
                let open = before.matches(['{', '[']).count() - before.matches(['}', ']']).count();
                let rest = &text[start..];
                if open < 2 || key::quoted(rest).is_none() {
                    continue;
                }
                checked += 1;
                let read = read(rest, None, &tree, None, MAX_DEPTH);
                let is_refused = read.problem.is_some() || read.values.len() != 1;
                assert!(read.cut == Some(Cut::Beginning) || is_refused, "{rest}");
            }
        }
        assert!(checked > 100, "only {checked} texts were read");
    }
}
