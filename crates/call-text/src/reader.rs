//! The walk over a text: prose goes through, possible calls are held back until they are calls or
//! cannot be any more.

mod look;

use std::collections::BTreeSet;

use repair_core::{Finish, Fix, RawCall, Risk, ToolSet, ToolSpec};

use crate::attempts::Attempts;
use crate::cursor::floor;
use crate::format::Format;
use crate::loops::Loops;
use crate::options::{Mode, ReadOptions};
use crate::pairs::Broken;
use crate::paused::Dull;
use crate::pending::{Condition, Pending};
use crate::printed::{Ending, Printed};
use crate::prose::Prose;
use crate::search::{Place, Search};
use crate::section::Found;
use crate::told::Told;
use crate::tools::{KnownWords, MAX_NAME};
use crate::trigger;
use crate::turns::Turn;
use look::Step;

/// A part of what a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is no call, byte for byte.
    Text(String),
    /// A call, for [`ToolSet::repair`].
    Call(RawCall<'static>),
}

/// A part of what a model wrote, its text borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Text that is no call, byte for byte.
    Text(&'t str),
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
    let mut reading = Reading::default();
    let mut take = |part: Part<'_>| match part {
        Part::Text(text) => reading.content.push_str(text),
        Part::Call(call) => reading.calls.push(call),
    };
    reader.feed(text, &mut take);
    reader.end(&mut take);
    reading
}

/// Reads a text as it arrives.
///
/// Text comes out as soon as it cannot be part of a call; [`Self::finish`] releases the rest.
/// Linear in the text, whatever its pieces.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each says something else of the walk"
)]
pub struct CallReader {
    tools: ToolSet,
    options: ReadOptions,
    /// What has not come out yet.
    held: String,
    /// How much of it has come out all the same.
    gone: usize,
    /// Where its last word begins, as long as nothing is under way.
    word: usize,
    /// How far `held` is known to be text.
    at: usize,
    /// From where on `loops` has not seen that text, nor, between two walks, `prose`.
    unseen: usize,
    prose: Prose,
    /// The format whose calls have just been read.
    section: Option<&'static Format>,
    broken: Broken,
    attempts: Attempts,
    pending: Pending,
    /// Possible calls that the end of the text refused.
    refused: usize,
    /// Places where not even a call of no tool stands, where one might have.
    not_calls: usize,
    told: Told,
    /// Whether the text names its recipients: the marker of one may stand in the middle of a line.
    names_recipients: bool,
    loops: Loops,
    known_words: KnownWords,
    search: Search,
    /// Where the next piece begins, if nothing is under way, so that it is text if nothing begins in
    /// it.
    calm_at: Option<Place>,
    /// Whether the text before holds brackets.
    has_brackets: bool,
    /// Where brackets in `held` open what nothing can close.
    unfinished: BTreeSet<usize>,
    /// What was open where the last value that was looked at broke off, from its place on.
    left_open: Vec<usize>,
    dull: Dull,
}

/// How much of the text before a call without markers is held, beside the name, in bytes.
const LOOK_BACK: usize = 8;

impl CallReader {
    /// A reader for one reply.
    pub fn new(tools: ToolSet, options: ReadOptions) -> Self {
        let names = tools.specs().map(ToolSpec::name);
        Self {
            search: Search::new(names, options.mode == Mode::Expected),
            known_words: KnownWords::default(),
            calm_at: None,
            has_brackets: false,
            unfinished: BTreeSet::new(),
            left_open: Vec::new(),
            dull: Dull::default(),
            tools,
            options,
            held: String::new(),
            gone: 0,
            word: 0,
            at: 0,
            unseen: 0,
            prose: Prose::default(),
            section: None,
            broken: Broken::default(),
            attempts: Attempts::default(),
            pending: Pending::default(),
            refused: 0,
            not_calls: 0,
            told: Told::default(),
            names_recipients: false,
            loops: Loops::default(),
        }
    }

    /// Takes the next piece of the text; returns what is certain.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut out = Vec::new();
        self.feed(text, &mut |part| push_part(&mut out, part));
        out
    }

    /// The text has ended; returns the rest.
    pub fn finish(self) -> Vec<Piece> {
        let mut out = Vec::new();
        self.end(&mut |part| push_part(&mut out, part));
        out
    }

    /// Like [`Self::push`], without an allocation for text: hands each certain part to `out`.
    ///
    /// ```
    /// use call_text::{CallReader, Part, ReadOptions};
    /// use repair_core::ToolSet;
    /// let mut reader = CallReader::new(ToolSet::new([]).0, ReadOptions::default());
    /// let mut text = String::new();
    /// reader.feed("a plain ", &mut |part| {
    ///     if let Part::Text(part) = part {
    ///         text.push_str(part);
    ///     }
    /// });
    /// assert_eq!(text, "a plain ");
    /// ```
    pub fn feed(&mut self, text: &str, out: &mut dyn FnMut(Part<'_>)) {
        let calm = self.calm_at.and_then(|place| {
            self.search
                .look_over(text, &self.held, place, self.told.any)
        });
        let Some(calm) = calm else {
            return self.advance(text, false, out);
        };
        self.calm_at = Some(calm.end);
        if self.options.mode == Mode::Expected {
            return self.hold_word(text, calm.word(text), out);
        }
        if calm.has_line {
            self.prose.see(text);
        } else {
            self.prose.see_calm(text);
        }
        if !text.is_empty() {
            out(Part::Text(text));
        }
    }

    /// Goes on over a piece in which nothing begins. What comes next may make a call of
    /// the last word, which begins here if `word` says where.
    fn hold_word(&mut self, text: &str, word: Option<usize>, out: &mut dyn FnMut(Part<'_>)) {
        /// How much of `held` may have come out before it is taken from it.
        const MAX_GONE: usize = 1024;
        if let Some(start) = word {
            self.word = self.held.len() + start;
        }
        self.held.push_str(text);
        self.at = self.held.len();
        if word.is_none() && self.at - self.word <= MAX_NAME {
            return;
        }
        let certain = if self.at - self.word > MAX_NAME {
            self.certain(&self.held, self.gone)
        } else {
            floor(&self.held, self.word.saturating_sub(LOOK_BACK))
        };
        if certain > self.gone {
            out(Part::Text(
                self.held.get(self.gone..certain).unwrap_or_default(),
            ));
            self.gone = certain;
        }
        if self.gone > MAX_GONE {
            self.drop_gone();
        }
    }

    /// Takes what has come out from the held text.
    fn drop_gone(&mut self) {
        self.see_held();
        self.held.drain(..self.gone);
        self.at -= self.gone;
        self.unseen = self.at;
        self.word -= self.gone.min(self.word);
        self.gone = 0;
    }

    /// Goes on over what [`Self::hold_word`] has added.
    fn see_held(&mut self) {
        if self.unseen == self.at {
            return;
        }
        let text = self.held.get(self.unseen..self.at).unwrap_or_default();
        self.prose.see(text);
        self.loops.see(text);
        self.unseen = self.at;
    }

    /// Shows the text that was stepped over to `loops`.
    fn see_loops(&mut self, held: &str) {
        if self.options.mode == Mode::Expected {
            let text = held.get(self.unseen..self.at).unwrap_or_default();
            self.loops.see(text);
        }
        self.unseen = self.at;
    }

    fn sees_calm(&self) -> bool {
        let is_told = self.options.mode == Mode::Leaked
            || self.told.is_settled()
            || self.prose.in_fence()
            || self.prose.is_reasoning;
        self.at == self.held.len()
            && self.section.is_none()
            && self.pending.is_empty()
            && self.prose.is_calm()
            && !self.names_recipients
            && is_told
    }

    /// Like [`Self::finish`], for [`Self::feed`].
    pub fn end(mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.advance("", true, out);
        self.pending.accept_all(out);
    }

    /// How much text is held back, in bytes: it is, or could still become, part of a call.
    pub fn held(&self) -> usize {
        self.held.len() - self.gone + self.pending.waiting()
    }

    #[inline(never)]
    fn advance(&mut self, text: &str, is_end: bool, out: &mut dyn FnMut(Part<'_>)) {
        self.see_held();
        if self.gone > 0 {
            self.drop_gone();
        }
        let goes_on = self.attempts.length > 0 || !self.held.is_empty();
        if goes_on {
            self.held.push_str(text);
        }
        let at = self.at;
        if self.attempts.length > 0 && !self.attempts.is_due(&self.held, at, text, is_end) {
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        if goes_on {
            let released = self.walk(&held, is_end, out);
            held.drain(..released);
        } else {
            let released = self.walk(text, is_end, out);
            held.push_str(text.get(released..).unwrap_or_default());
        }
        self.held = held;
        self.calm_at = self.sees_calm().then_some(if self.prose.at_line_start {
            Place::LineStart
        } else {
            Place::InLine
        });
        if self.calm_at.is_some() {
            self.word = self.held.len() - trigger::name_before(&self.held).len();
        }
    }

    /// Walks over the held text; how much of it came out.
    fn walk(&mut self, held: &str, is_end: bool, out: &mut dyn FnMut(Part<'_>)) -> usize {
        let mut released = 0;
        while self.at < held.len() || self.section.is_some() {
            match self.step(held, is_end) {
                Step::Wait => {
                    if self.attempts.length == 0 {
                        self.attempts
                            .begin(held.len().saturating_sub(self.at).max(1));
                    }
                    break;
                }
                step => {
                    self.attempts.forget();
                    self.take(step, held, &mut released, out);
                }
            }
        }
        let end = if is_end {
            held.len()
        } else {
            self.certain(held, released)
        };
        self.pending
            .push_text(held.get(released..end).unwrap_or_default(), out);
        let released = end.max(released);
        self.see_loops(held);
        self.at -= released.min(self.at);
        self.unseen = self.at;
        self.search.restart();
        self.dull = Dull::default();
        if !self.unfinished.is_empty() {
            let left = self.unfinished.split_off(&released);
            self.unfinished = left.into_iter().map(|place| place - released).collect();
        }
        released
    }

    /// How far the text that was walked over can be let out.
    fn certain(&self, held: &str, released: usize) -> usize {
        if self.options.mode == Mode::Leaked || self.options.forbidden {
            return self.at;
        }
        let text = held.get(released..self.at).unwrap_or_default();
        let name = trigger::name_before(text);
        let keep = floor(text, text.len() - name.len().min(text.len()));
        released + floor(text, keep.saturating_sub(LOOK_BACK))
    }

    /// Does a step, and lets out what is certain.
    fn take(
        &mut self,
        step: Step,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        if self.told.is_made_up && self.pending.awaits_end() {
            // What another is made to say ends what the model itself said.
            self.flush(held, released, out);
            self.pending.accept_ending(out);
        }
        let text = |length: usize| held.get(self.at..self.at + length).unwrap_or_default();
        match step {
            Step::Wait => {}
            Step::Text(length) => {
                let text = text(length);
                self.pass(text, held, released, out);
                self.prose.see(text);
            }
            Step::Run(length) => {
                let text = text(length);
                self.has_brackets |=
                    text.starts_with(['{', '[']) || self.search.saw_bracket(self.at + length);
                self.step_over(text, held, released, out);
                self.prose.see(text);
            }
            Step::Marks(marks) => {
                let text = text(marks.count);
                self.pass(text, held, released, out);
                self.prose.see_marks(marks);
            }
            Step::BlockQuote => {
                self.pass(">", held, released, out);
                self.prose.see_block_quote();
            }
            Step::Showing(length, close) => {
                let text = text(length);
                self.pass(text, held, released, out);
                self.prose.see_showing(text, close);
            }
            Step::Shown(length) => {
                let text = text(length);
                self.pass(text, held, released, out);
                self.prose.see_shown(text);
            }
            Step::ShownMarker(length, ends) => {
                let text = text(length);
                self.pass(text, held, released, out);
                self.prose.see_shown_marker(text, ends);
            }
            Step::ShownEnd(length) => {
                let text = text(length);
                self.pass(text, held, released, out);
                self.prose.see_shown_end(text);
            }
            Step::Special(length) => {
                self.see_loops(held);
                self.prose.see_special();
                self.at += length;
                self.unseen = self.at;
            }
            Step::Turn(length, turn) => {
                self.see_loops(held);
                self.at += length;
                self.unseen = self.at;
                self.turn(turn, held, released, out);
            }
            Step::ShownTurn(length, turn) => {
                let text = text(length);
                self.pass(text, held, released, out);
                self.prose.see_shown_turn(text, turn);
            }
            Step::Calls(format, found, back) => {
                self.see_loops(held);
                self.calls(format, found, back, held, released, out);
                self.unseen = self.at;
            }
        }
    }

    /// Steps over text that may hold brackets.
    fn pass(
        &mut self,
        text: &str,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        self.has_brackets |= memchr::memchr2(b'{', b'[', text.as_bytes()).is_some();
        self.step_over(text, held, released, out);
    }

    /// Steps over text: a call that must end the text and is followed by more is none.
    fn step_over(
        &mut self,
        text: &str,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        self.see_prose(text);
        if self.pending.awaits_end() && !text.trim_start().is_empty() {
            self.flush(held, released, out);
            self.pending.refuse_ending(out);
        }
        self.at += text.len();
    }

    /// Prose before a call is a lead-in; prose behind one that had none is an explanation.
    fn see_prose(&mut self, text: &str) {
        if self.options.mode == Mode::Leaked || self.prose.in_fence() || self.prose.is_reasoning {
            return;
        }
        if self.told.is_settled() {
            return;
        }
        if self.told.sees_prose(text) {
            if self.told.any {
                self.told.is_over |= !self.told.has_lead_in;
            } else {
                self.told.has_lead_in = true;
            }
            self.told.settled = self.told.calls.len();
        }
    }

    /// Lets the text up to the cursor out.
    fn flush(&mut self, held: &str, released: &mut usize, out: &mut dyn FnMut(Part<'_>)) {
        if !self.pending.is_empty() {
            let text = held.get(*released..self.at).unwrap_or_default();
            self.pending.push_text(text, out);
            *released = self.at.max(*released);
        }
    }

    fn turn(
        &mut self,
        turn: Turn,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        let was_reasoning = self.prose.is_reasoning;
        let is_orphan = self.prose.see_turn(turn);
        match turn {
            Turn::Answer if is_orphan || was_reasoning => {
                self.flush(held, released, out);
                if !self.options.reasoning {
                    self.pending.refuse_reasoning(out);
                }
                // Of what never was reasoning, a made-up turn counts on.
                self.told = Told {
                    is_made_up: self.told.is_made_up && !is_orphan,
                    ..Told::default()
                };
            }
            Turn::Reasoning if !was_reasoning => {
                self.flush(held, released, out);
                self.pending.accept_outside(out);
            }
            _ => {}
        }
    }

    /// Takes calls out of the text.
    fn calls(
        &mut self,
        format: &'static Format,
        found: Found,
        back: usize,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        let start = self.at - back;
        let end = start + found.length;
        let source = held.get(start..end).unwrap_or_default();
        if found.calls.is_empty() {
            // Closing markers behind the calls.
            self.at = end;
            if self.pending.is_empty() {
                *released = end;
            } else {
                self.flush_to(start, held, released, out);
                self.pending.add_source(source);
                *released = end;
            }
            return;
        }
        if self.is_repetition(format, &found.calls) {
            self.prose.see(source);
            self.at = end;
            self.section = None;
            return;
        }
        self.flush_to(start, held, released, out);
        let is_bare = !format.is_marked();
        let condition = Condition {
            must_end: (is_bare || self.prose.is_indented()) && self.options.mode == Mode::Leaked,
            may_be_reasoning: !self.options.reasoning
                && (!self.prose.has_reasoned || self.prose.is_reasoning),
        };
        self.told.any = true;
        if self.options.mode == Mode::Expected && !self.told.is_full() {
            found.calls.iter().for_each(|call| self.told.remember(call));
            self.told.word.clear();
        }
        // The text of a list is that of its first call.
        let mut taken = source;
        for call in found.calls {
            let call = self.raw_call(call, format, source);
            self.pending.push_call(call, taken, condition, out);
            taken = "";
        }
        self.prose.see_calls();
        self.broken = Broken::default();
        self.section = Some(format);
        self.at = end;
        *released = end;
    }

    fn flush_to(
        &mut self,
        start: usize,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        let text = held.get(*released..start).unwrap_or_default();
        self.pending.push_text(text, out);
        *released = start.max(*released);
    }

    /// Whether calls without markers only repeat earlier ones, as explanations do.
    fn is_repetition(&self, format: &Format, calls: &[Printed]) -> bool {
        self.options.mode == Mode::Expected
            && (!format.is_marked() || self.told.is_over)
            && self.section.is_none()
            && calls.iter().all(|call| self.told.has_settled(call))
    }

    fn raw_call(&self, call: Printed, format: &'static Format, written: &str) -> RawCall<'static> {
        let is_sure = format.is_marked() && self.options.mode == Mode::Expected;
        let risk = if is_sure {
            Risk::Lossless
        } else {
            Risk::Inferred
        };
        let fix = Fix::new(&format.rule, "", written, &call.name).with_risk(risk);
        let finish = match call.ending {
            Ending::Closed => Finish::Complete,
            Ending::Own => self.options.finish,
            Ending::Cut => Finish::Cut,
        };
        let raw = match call.arguments {
            Some(arguments) => RawCall::new(call.name, arguments),
            None => RawCall::without_arguments(call.name),
        };
        let raw = raw.with_finish(finish).with_reading(fix);
        match call.id {
            Some(id) => raw.with_id(id),
            None => raw,
        }
    }
}

fn push_part(out: &mut Vec<Piece>, part: Part<'_>) {
    match (out.last_mut(), part) {
        (Some(Piece::Text(known)), Part::Text(text)) => known.push_str(text),
        (_, Part::Text(text)) => out.push(Piece::Text(text.to_owned())),
        (_, Part::Call(call)) => out.push(Piece::Call(call)),
    }
}
