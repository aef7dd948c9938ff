//! The walk over a text: prose goes through, possible calls are held back.

use repair_core::{Finish, Fix, RawCall, Risk, ToolSet};

use crate::active::{Active, Step};
use crate::envelope::Envelope;
use crate::format::{self, Format};
use crate::options::{Mode, ReadOptions};

/// A part of what a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is no call, byte for byte.
    Text(String),
    /// A call, for [`ToolSet::repair`].
    Call(RawCall<'static>),
}

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The calls, in order.
    pub calls: Vec<RawCall<'static>>,
    /// The text without them.
    pub content: String,
}

/// Reads a whole text.
///
/// ```
/// use call_text::{ReadOptions, read_calls};
/// use repair_core::{ToolSet, ToolSpec};
/// let (tools, _) = ToolSet::new([ToolSpec::without_schema("search")]);
/// let text = r#"On it.<tool_call>{"name": "search", "arguments": {"q": "planets"}}</tool_call>"#;
/// let reading = read_calls(text, &tools, &ReadOptions::default());
/// assert_eq!(reading.calls[0].arguments(), Some(r#"{"q": "planets"}"#));
/// assert_eq!(reading.content, "On it.");
/// ```
pub fn read_calls(text: &str, tools: &ToolSet, options: &ReadOptions) -> Reading {
    let mut reader = CallReader::new(tools.clone(), *options);
    let mut pieces = reader.push(text);
    pieces.extend(reader.finish());
    let mut reading = Reading::default();
    for piece in pieces {
        match piece {
            Piece::Text(text) => reading.content.push_str(&text),
            Piece::Call(call) => reading.calls.push(call),
        }
    }
    reading
}

/// Reads a text as it arrives.
///
/// Text comes out as soon as it cannot be part of a call; [`Self::finish`] releases the rest.
/// Linear in the text, whatever its pieces.
#[derive(Debug)]
pub struct CallReader {
    tools: ToolSet,
    options: ReadOptions,
    /// What has not come out yet.
    held: String,
    /// How far `held` is known to be text.
    at: usize,
    prose: Prose,
    active: Option<Active>,
    /// Calls that an orphan `</think>` could still turn into reasoning, with the text behind them.
    pending: Vec<Pending>,
    /// Possible calls that the end of the text refused.
    refused: usize,
}

/// Something that comes out once it is certain.
#[derive(Debug)]
struct Pending {
    piece: Piece,
    /// The text that a call was read from.
    source: String,
}

/// Where the walk stands in the text.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts about one place"
)]
struct Prose {
    in_fence: bool,
    in_code: bool,
    thinking: bool,
    /// Reasoning has ended, or began with its tag: no `</think>` can be an orphan any more.
    thought: bool,
    /// Nothing but white space stands before on this line.
    at_line_start: bool,
    /// Nothing but white space and reasoning stands before in the text.
    at_start: bool,
    before: char,
}

impl Default for Prose {
    fn default() -> Self {
        Self {
            in_fence: false,
            in_code: false,
            thinking: false,
            thought: false,
            at_line_start: true,
            at_start: true,
            before: '\n',
        }
    }
}

const THINK: &str = "<think>";
const END_THINK: &str = "</think>";
const FENCE: &str = "```";
/// How many possible calls may turn out at the end of the text to be none.
const MAX_REFUSED: usize = 64;
/// How much text that came out already is kept before it is given back.
const SLACK: usize = 4096;

impl CallReader {
    /// A reader for one reply.
    pub fn new(tools: ToolSet, options: ReadOptions) -> Self {
        Self {
            tools,
            options,
            held: String::new(),
            at: 0,
            prose: Prose::default(),
            active: None,
            pending: Vec::new(),
            refused: 0,
        }
    }

    /// Takes the next piece of the text; returns what is certain.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.held.push_str(text);
        let mut out = Vec::new();
        self.advance(false, &mut out);
        out
    }

    /// The text has ended; returns the rest.
    pub fn finish(mut self) -> Vec<Piece> {
        let mut out = Vec::new();
        self.advance(true, &mut out);
        self.release_pending(&mut out);
        out
    }

    fn advance(&mut self, is_end: bool, out: &mut Vec<Piece>) {
        let mut released = self.at;
        loop {
            let rest = self.held.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            if let Some(active) = &mut self.active {
                match active.step(rest, is_end) {
                    Step::Wait => break,
                    Step::Text { length } => {
                        self.refused += usize::from(is_end);
                        self.active = None;
                        self.pass(length.clamp(1, rest.len()));
                    }
                    Step::Calls {
                        calls,
                        length,
                        closed,
                    } => {
                        let format = active.format;
                        self.active = None;
                        self.take(&calls, format, length, closed, &mut released, out);
                    }
                }
                continue;
            }
            match self.next(rest, is_end) {
                Next::Wait => break,
                Next::Text(length) => self.pass(length),
                Next::Call(active) => self.active = Some(active),
            }
        }
        self.emit_text(released, out);
        if self.at > SLACK {
            self.held.drain(..self.at);
            self.at = 0;
        }
    }

    /// What stands at the start of `rest`.
    fn next(&self, rest: &str, is_end: bool) -> Next {
        let first = rest.chars().next().unwrap_or_default();
        if self.options.forbidden {
            return Next::Text(rest.len());
        }
        match first {
            '<' => self.at_tag(rest, is_end),
            '`' if !is_end && rest.len() < FENCE.len() && FENCE.starts_with(rest) => Next::Wait,
            '`' => self.at_backtick(rest),
            '{' | '[' if self.may_be_bare(rest) => Next::Call(Active::new(
                &format::BARE_JSON,
                self.options.mode == Mode::Leaked,
            )),
            '{' | '[' | '\n' => Next::Text(1),
            _ => Next::Text(rest.find(['<', '`', '{', '[', '\n']).unwrap_or(rest.len())),
        }
    }

    fn at_tag(&self, rest: &str, is_end: bool) -> Next {
        if let Some(format) = format::marked_at(rest)
            && self.reads_here()
        {
            return Next::Call(Active::new(format, false));
        }
        for tag in [THINK, END_THINK] {
            if rest.starts_with(tag) {
                return Next::Text(tag.len());
            }
        }
        let may_grow = [THINK, END_THINK].iter().any(|tag| tag.starts_with(rest))
            || format::may_become_marker(rest);
        if may_grow && !is_end {
            Next::Wait
        } else {
            Next::Text(1)
        }
    }

    fn at_backtick(&self, rest: &str) -> Next {
        let reads_fence = !self.prose.in_fence
            && match self.options.mode {
                Mode::Leaked => self.prose.at_start,
                Mode::Expected => self.prose.at_line_start,
            };
        if rest.starts_with(FENCE) {
            if reads_fence && self.reads_here() && self.refused < MAX_REFUSED {
                return Next::Call(Active::new(
                    &format::FENCED_JSON,
                    self.options.mode == Mode::Leaked,
                ));
            }
            return Next::Text(FENCE.len());
        }
        Next::Text(1)
    }

    /// Whether marked calls are read here: not in code, in reasoning or as a quotation.
    fn reads_here(&self) -> bool {
        if self.prose.thinking && !self.options.reasoning {
            return false;
        }
        let is_quoted = matches!(self.prose.before, '"' | '\'' | '`' | '“' | '‘');
        self.options.mode == Mode::Expected
            || !(self.prose.in_fence || self.prose.in_code || is_quoted)
    }

    fn may_be_bare(&self, rest: &str) -> bool {
        let place = self.options.mode == Mode::Expected || self.prose.at_line_start;
        place && self.refused < MAX_REFUSED && self.reads_here() && may_hold_keys(rest)
    }

    /// Steps over `length` bytes of text.
    fn pass(&mut self, length: usize) {
        let text = self.held.get(self.at..self.at + length).unwrap_or_default();
        self.prose.see(text);
        self.at += length;
    }

    /// Takes calls out of the text, or passes over them if their names are unknown.
    fn take(
        &mut self,
        calls: &[Envelope],
        format: &'static Format,
        length: usize,
        closed: bool,
        released: &mut usize,
        out: &mut Vec<Piece>,
    ) {
        if !calls
            .iter()
            .all(|call| self.tools.resolve_name(&call.name).is_some())
        {
            return self.pass(length);
        }
        self.emit_text(*released, out);
        let source = self
            .held
            .get(self.at..self.at + length)
            .unwrap_or_default()
            .to_owned();
        for (at, call) in calls.iter().enumerate() {
            let source = if at == 0 {
                source.clone()
            } else {
                String::new()
            };
            let call = self.raw_call(call, format, closed);
            self.pending.push(Pending {
                piece: Piece::Call(call),
                source,
            });
        }
        self.prose.at_start = false;
        self.at += length;
        *released = self.at;
        if self.prose.thought {
            self.release_pending(out);
        }
    }

    fn raw_call(&self, call: &Envelope, format: &'static Format, closed: bool) -> RawCall<'static> {
        let raw = match &call.arguments {
            Some(arguments) => RawCall::new(call.name.clone(), arguments.clone()),
            None => RawCall::without_arguments(call.name.clone()),
        };
        let is_sure = format.is_marked && self.options.mode == Mode::Expected;
        let risk = if is_sure {
            Risk::Lossless
        } else {
            Risk::Inferred
        };
        let fix = Fix::new(&format.rule, "", format.rule.id, &call.name).with_risk(risk);
        let finish = if closed {
            Finish::Complete
        } else {
            self.options.finish
        };
        raw.with_finish(finish).with_reading(fix)
    }

    /// Lets the text from `from` to the cursor out, behind whatever is still uncertain.
    fn emit_text(&mut self, from: usize, out: &mut Vec<Piece>) {
        let text = self.held.get(from..self.at).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        let text = text.to_owned();
        if self.pending.is_empty() {
            push_text(out, text);
            return;
        }
        let orphan = text.contains(END_THINK) && !self.options.reasoning && self.prose.orphaned();
        self.pending.push(Pending {
            piece: Piece::Text(text),
            source: String::new(),
        });
        if orphan {
            // All of it was reasoning: the calls were none.
            for pending in std::mem::take(&mut self.pending) {
                match pending.piece {
                    Piece::Text(text) => push_text(out, text),
                    Piece::Call(_) => push_text(out, pending.source),
                }
            }
        }
    }

    fn release_pending(&mut self, out: &mut Vec<Piece>) {
        for pending in std::mem::take(&mut self.pending) {
            match pending.piece {
                Piece::Text(text) => push_text(out, text),
                call @ Piece::Call(_) => out.push(call),
            }
        }
    }
}

/// What the walk does next.
enum Next {
    Wait,
    Text(usize),
    Call(Active),
}

/// How far the first key of a bare call is looked for, in bytes.
const MAX_LEAD: usize = 64;

/// Whether a bracket can be the beginning of an object with keys.
fn may_hold_keys(rest: &str) -> bool {
    let mut lead = rest.bytes().take(MAX_LEAD);
    let next = lead.find(|byte| !(byte.is_ascii_whitespace() || matches!(byte, b'[' | b'{')));
    match next {
        Some(byte) => matches!(byte, b'"' | b'\''),
        // Nothing else has arrived yet.
        None => rest.len() < MAX_LEAD,
    }
}

fn push_text(out: &mut Vec<Piece>, text: String) {
    match out.last_mut() {
        Some(Piece::Text(known)) => known.push_str(&text),
        _ if text.is_empty() => {}
        _ => out.push(Piece::Text(text)),
    }
}

impl Prose {
    /// Goes on over a run of text that is passed in one step.
    fn see(&mut self, text: &str) {
        if text.starts_with(THINK) {
            self.thinking = true;
            self.thought = true;
        } else if text.starts_with(END_THINK) {
            self.thinking = false;
            self.thought = true;
            self.at_start = true;
            self.at_line_start = true;
            return;
        } else if text.starts_with(FENCE) {
            self.in_fence = !self.in_fence;
            self.in_code = false;
        } else {
            let ticks = text.chars().filter(|c| *c == '`').count();
            self.in_code ^= ticks % 2 == 1;
        }
        if let Some((_, line)) = text.rsplit_once('\n') {
            self.at_line_start = line.trim().is_empty();
            // Inline code does not go over a line's end.
            self.in_code = false;
        } else if !text.trim().is_empty() {
            self.at_line_start = false;
        }
        if !self.thinking && !text.trim().is_empty() {
            self.at_start = false;
        }
        self.before = text.chars().next_back().unwrap_or(self.before);
    }

    /// Whether the `</think>` that was just passed had no opening tag.
    fn orphaned(&self) -> bool {
        !self.thinking
    }
}
