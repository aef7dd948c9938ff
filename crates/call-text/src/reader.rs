//! The walk over a text: prose goes through, possible calls are held back until they are calls or
//! cannot be any more.

use repair_core::{Finish, Fix, RawCall, Risk, ToolSet, ToolSpec};

use crate::attempts::Attempts;
use crate::cursor::{Look, Stop, floor};
use crate::format::{self, FORMATS, Format};
use crate::options::{Mode, ReadOptions};
use crate::pending::{Condition, Pending};
use crate::printed::{Ending, Printed};
use crate::prose::{self, Prose, Turn};
use crate::section::{self, Found, Next};
use crate::told::Told;
use crate::tools::{Context, MAX_NAME};
use crate::trigger;

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
pub struct CallReader {
    tools: ToolSet,
    options: ReadOptions,
    /// What has not come out yet.
    held: String,
    /// How far `held` is known to be text.
    at: usize,
    prose: Prose,
    /// The format whose calls have just been read.
    section: Option<&'static Format>,
    attempts: Attempts,
    pending: Pending,
    /// Possible calls that the end of the text refused.
    refused: usize,
    told: Told,
}

/// How many possible calls may turn out at the end of the text to be none.
const MAX_REFUSED: usize = 64;
/// How much of the text before a call without markers is held, beside the name, in bytes.
const LOOK_BACK: usize = 8;

/// What the walk does next.
enum Step {
    Wait,
    /// So many bytes are text.
    Text(usize),
    /// So many bytes are a special token: text, but no prose.
    Special(usize),
    Turn(usize, Turn),
    Fence(usize),
    Calls(&'static Format, Found, usize),
}

impl CallReader {
    /// A reader for one reply.
    pub fn new(tools: ToolSet, options: ReadOptions) -> Self {
        Self {
            tools,
            options,
            held: String::new(),
            at: 0,
            prose: Prose::default(),
            section: None,
            attempts: Attempts::default(),
            pending: Pending::default(),
            refused: 0,
            told: Told::default(),
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
        self.advance(text, false, out);
    }

    /// Like [`Self::finish`], for [`Self::feed`].
    pub fn end(mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.advance("", true, out);
        self.pending.accept_all(out);
    }

    /// How much text is held back, in bytes: it is, or could still become, part of a call.
    pub fn held(&self) -> usize {
        self.held.len() + self.pending.waiting()
    }

    fn advance(&mut self, text: &str, is_end: bool, out: &mut dyn FnMut(Part<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        if held.is_empty() {
            let released = self.walk(text, text, is_end, out);
            held.push_str(text.get(released..).unwrap_or_default());
        } else {
            held.push_str(text);
            let released = self.walk(&held, text, is_end, out);
            held.drain(..released);
        }
        self.held = held;
    }

    /// Walks over the held text, to which `new` was added; how much of it came out.
    fn walk(
        &mut self,
        held: &str,
        new: &str,
        is_end: bool,
        out: &mut dyn FnMut(Part<'_>),
    ) -> usize {
        let mut released = 0;
        let mut new = new;
        while self.at < held.len() || self.section.is_some() {
            let rest = held.get(self.at..).unwrap_or_default();
            if self.attempts.length > 0 && !self.attempts.is_due(rest.len(), new, is_end) {
                break;
            }
            match self.step(held, is_end) {
                Step::Wait => {
                    if self.attempts.length == 0 {
                        self.attempts.is_due(rest.len().max(1), "", true);
                    }
                    break;
                }
                step => {
                    self.attempts = Attempts::default();
                    new = "";
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
        self.at -= released.min(self.at);
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

    fn context(&self) -> Context<'_> {
        Context {
            tools: &self.tools,
            mode: self.options.mode,
        }
    }

    /// What stands at the cursor.
    fn step(&mut self, held: &str, is_end: bool) -> Step {
        let rest = held.get(self.at..).unwrap_or_default();
        if let Some(format) = self.section {
            match section::go_on(format, rest, is_end, self.context()) {
                Err(Stop::More) => return Step::Wait,
                Ok(Next::Calls(found)) => return Step::Calls(format, found, 0),
                Ok(Next::Over(length)) => {
                    self.section = None;
                    return Step::Calls(
                        format,
                        Found {
                            calls: Vec::new(),
                            length,
                        },
                        0,
                    );
                }
                Err(Stop::Not) => self.section = None,
            }
        }
        if self.options.forbidden {
            return Step::Text(rest.len());
        }
        if rest.is_empty() {
            return Step::Wait;
        }
        match self.look(held, rest, is_end) {
            Ok(step) => step,
            Err(Stop::More) => Step::Wait,
            Err(Stop::Not) => Step::Text(rest.chars().next().map_or(1, char::len_utf8)),
        }
    }

    fn look(&mut self, held: &str, rest: &str, is_end: bool) -> Look<Step> {
        let more = if is_end { Stop::Not } else { Stop::More };
        let first = rest.bytes().next().unwrap_or_default();
        let is_word = first.is_ascii_alphanumeric() || matches!(first, b'_' | b'#');
        match first {
            b'`' => return self.at_backtick(rest, is_end),
            b'<' | b'[' | b']' | b'>' | b'{' => {}
            b'(' if self.options.mode == Mode::Expected => {
                return self.at_parenthesis(held, is_end);
            }
            _ if is_word && self.prose.at_line_start => {}
            b' ' | b'\n' | b'\t' if self.prose.at_line_start => {
                let blank = rest.len() - rest.trim_start().len();
                return Ok(Step::Text(blank.max(1)));
            }
            _ => return Ok(Step::Text(self.run(rest))),
        }
        if self.told.any && self.prose.at_line_start {
            match prose::is_continuation(rest) {
                Ok(true) => {
                    self.told.is_over = true;
                    self.told.is_made_up = true;
                }
                Err(()) if !is_end => return Err(Stop::More),
                _ => {}
            }
        }
        let may_start = trigger::may_start(rest);
        if may_start && let Some(step) = self.at_marker(rest, is_end)? {
            return Ok(step);
        }
        if let Some(step) = self.at_tag(rest, is_end)? {
            return Ok(step);
        }
        if may_start && let Some((length, turn)) = prose::turn_at(rest) {
            if !is_end && prose::may_become_turn(rest) {
                return Err(Stop::More);
            }
            return Ok(Step::Turn(length, turn));
        }
        let may_grow = may_start && !is_end;
        if may_grow && (prose::may_become_turn(rest) || trigger::may_become_marker(rest)) {
            return Err(Stop::More);
        }
        match first {
            b'<' => match prose::special_at(rest) {
                Ok(Some(length)) => return Ok(Step::Special(length)),
                Ok(None) => {}
                Err(()) => return Err(more),
            },
            b'{' | b'[' => {
                if let Some(step) = self.at_bracket(rest, is_end)? {
                    return Ok(step);
                }
            }
            _ if is_word => return self.at_word(rest, is_end),
            _ => {}
        }
        Err(Stop::Not)
    }

    /// How far prose goes on without anything that could begin a call.
    fn run(&self, rest: &str) -> usize {
        let expected = self.options.mode == Mode::Expected;
        match trigger::find(rest.as_bytes(), expected) {
            // A line's end belongs to the line.
            Some(at) if rest.as_bytes().get(at) == Some(&b'\n') => at + 1,
            Some(at) => at.max(rest.chars().next().map_or(1, char::len_utf8)),
            None => rest.len(),
        }
    }

    fn at_marker(&mut self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        for format in FORMATS {
            let opens = format.open.iter().any(|marker| rest.starts_with(marker));
            if opens
                && self.reads(format)
                && let Some(step) = self.begin(format, rest, is_end)?
            {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Calls in tags without a marker before them.
    fn at_tag(&mut self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        if !rest.starts_with(['<', ']']) {
            return Ok(None);
        }
        for format in [
            &format::BARE_TAGS,
            &format::BARE_ELEMENTS,
            &format::TOOL_TAG,
        ] {
            if self.reads(format)
                && let Some(step) = self.begin(format, rest, is_end)?
            {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Whether calls of a format with markers are read here: not in code, in reasoning, as a
    /// quotation, or behind a result that the model made up.
    fn reads(&self, format: &Format) -> bool {
        if self.told.is_made_up
            || self.prose.is_reasoning && !self.options.reasoning && !format.ends_reasoning
        {
            return false;
        }
        let is_quoted = matches!(self.prose.before, '"' | '\'' | '`' | '“' | '‘' | '«');
        self.options.mode == Mode::Expected
            || !(self.prose.in_fence || self.prose.in_code || self.prose.is_message || is_quoted)
    }

    /// Whether calls of a format without markers are read here.
    fn reads_bare(&self, format: &Format) -> bool {
        let is_marked = self.prose.after_special && self.prose.at_line_start;
        let place = self.options.mode == Mode::Expected && (!self.told.is_over || is_marked)
            || self.options.mode == Mode::Leaked && self.prose.at_line_start;
        place && self.reads(format)
    }

    fn begin(&mut self, format: &'static Format, rest: &str, is_end: bool) -> Look<Option<Step>> {
        if self.refused >= MAX_REFUSED {
            return Ok(None);
        }
        match section::begin(format, rest, is_end, self.context()) {
            Ok(found) => Ok(Some(Step::Calls(format, found, 0))),
            Err(Stop::More) => Err(Stop::More),
            Err(Stop::Not) => {
                self.refused += usize::from(is_end);
                Ok(None)
            }
        }
    }

    fn at_backtick(&mut self, rest: &str, is_end: bool) -> Look<Step> {
        const FENCE: &str = "```";
        if !rest.starts_with(FENCE) {
            let grows = !is_end && FENCE.starts_with(rest);
            return if grows {
                Err(Stop::More)
            } else {
                Ok(Step::Text(1))
            };
        }
        let reads = !self.prose.in_fence
            && match self.options.mode {
                Mode::Leaked => self.prose.at_start,
                Mode::Expected => !self.told.is_over,
            };
        if reads
            && self.reads(&format::FENCED)
            && let Some(step) = self.begin(&format::FENCED, rest, is_end)?
        {
            return Ok(step);
        }
        Ok(Step::Fence(FENCE.len()))
    }

    fn at_bracket(&mut self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        // No call begins with so many brackets; looking behind them each time would be slow.
        const MAX_BRACKETS: usize = 8;
        let brackets = rest.bytes().take_while(|byte| matches!(byte, b'[' | b'{'));
        if brackets.take(MAX_BRACKETS + 1).count() > MAX_BRACKETS {
            return Ok(None);
        }
        for format in [&format::BARE_JSON, &format::BARE_PYTHON] {
            if self.reads_bare(format)
                && let Some(step) = self.begin(format, rest, is_end)?
            {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// A word at the start of a line: it may be a tool's name.
    fn at_word(&mut self, rest: &str, is_end: bool) -> Look<Step> {
        let text = Ok(Step::Text(self.run(rest)));
        if !self.reads_bare(&format::BARE_NAMED) {
            return text;
        }
        let length = match trigger::name_at(rest) {
            Some(length) => length,
            None if is_end || rest.len() > MAX_NAME => return text,
            None if trigger::may_become_name(rest, self.tools.specs().map(ToolSpec::name)) => {
                return Err(Stop::More);
            }
            None => return text,
        };
        let word = rest.get(..length).unwrap_or_default();
        if !self.context().declares(word) {
            return text;
        }
        for format in [&format::BARE_NAMED, &format::BARE_PYTHON] {
            if let Some(step) = self.begin(format, rest, is_end)? {
                return Ok(step);
            }
        }
        text
    }

    /// A parenthesis, where calls are expected: the name stands before it.
    fn at_parenthesis(&mut self, held: &str, is_end: bool) -> Look<Step> {
        let before = held.get(..self.at).unwrap_or_default();
        let name = trigger::name_before(before);
        let lead = before.get(..before.len() - name.len()).unwrap_or_default();
        let cleaned = crate::printed::clean_name(name);
        let is_definition = lead.ends_with("def ") || lead.ends_with("class ");
        if name.is_empty()
            || is_definition
            || !self.reads_bare(&format::BARE_PYTHON)
            || !self.context().knows(&cleaned)
        {
            return Err(Stop::Not);
        }
        let start = self.at - name.len();
        let text = held.get(start..).unwrap_or_default();
        match self.begin(&format::BARE_PYTHON, text, is_end)? {
            Some(Step::Calls(format, found, _)) => Ok(Step::Calls(format, found, name.len())),
            _ => Err(Stop::Not),
        }
    }

    /// Does a step, and lets out what is certain.
    fn take(
        &mut self,
        step: Step,
        held: &str,
        released: &mut usize,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        let text = |length: usize| held.get(self.at..self.at + length).unwrap_or_default();
        match step {
            Step::Wait => {}
            Step::Text(length) => {
                let text = text(length);
                self.see_prose(text);
                if self.pending.awaits_end() && !text.trim_start().is_empty() {
                    self.flush(held, released, out);
                    self.pending.refuse_ending(out);
                }
                self.prose.see(text);
                self.at += length;
            }
            Step::Fence(length) => {
                if self.pending.awaits_end() {
                    self.flush(held, released, out);
                    self.pending.refuse_ending(out);
                }
                self.prose.see_fence();
                self.at += length;
            }
            Step::Special(length) => {
                self.prose.after_special = true;
                self.at += length;
            }
            Step::Turn(length, turn) => {
                self.at += length;
                self.turn(turn, held, released, out);
            }
            Step::Calls(format, found, back) => {
                self.calls(format, &found, back, held, released, out);
            }
        }
    }

    /// Prose before a call is a lead-in; prose behind one that had none is an explanation.
    fn see_prose(&mut self, text: &str) {
        if self.options.mode == Mode::Leaked || self.prose.in_fence || self.prose.is_reasoning {
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
                self.told = Told::default();
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
        found: &Found,
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
            must_end: is_bare && self.options.mode == Mode::Leaked,
            may_be_reasoning: !self.options.reasoning
                && (!self.prose.has_reasoned || self.prose.is_reasoning),
        };
        for (at, call) in found.calls.iter().enumerate() {
            let source = if at == 0 { source } else { "" };
            let call = self.raw_call(call, format);
            self.pending.push_call(call, source, condition, out);
        }
        self.told.any = true;
        if self.options.mode == Mode::Expected && !self.told.is_full() {
            self.told.calls.extend(found.calls.iter().map(Told::key));
            self.told.word.clear();
        }
        self.prose.see_calls();
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
            && calls.iter().all(|call| {
                let key = Told::key(call);
                self.told
                    .calls
                    .iter()
                    .take(self.told.settled)
                    .any(|known| *known == key)
            })
    }

    fn raw_call(&self, call: &Printed, format: &'static Format) -> RawCall<'static> {
        let raw = match &call.arguments {
            Some(arguments) => RawCall::new(call.name.clone(), arguments.clone()),
            None => RawCall::without_arguments(call.name.clone()),
        };
        let is_sure = format.is_marked() && self.options.mode == Mode::Expected;
        let risk = if is_sure {
            Risk::Lossless
        } else {
            Risk::Inferred
        };
        let fix = Fix::new(&format.rule, "", format.rule.id, &call.name).with_risk(risk);
        let finish = match call.ending {
            Ending::Closed => Finish::Complete,
            Ending::Own => self.options.finish,
            Ending::Cut => Finish::Cut,
        };
        let raw = raw.with_finish(finish).with_reading(fix);
        match &call.id {
            Some(id) => raw.with_id(id.clone()),
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
