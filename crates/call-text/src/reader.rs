//! The walk over a text: prose goes through, possible calls are held back until they are calls or
//! cannot be any more.

mod look;
mod take;

use std::collections::BTreeSet;

use repair_core::{RawCall, ToolSet, ToolSpec};

use crate::attempts::Attempts;
use crate::cursor::floor;
use crate::format::Format;
use crate::loops::Loops;
use crate::options::{Mode, ReadOptions};
use crate::pairs::Refused;
use crate::paused::Dull;
use crate::pending::Pending;
use crate::prose::Prose;
use crate::search::{Place, Search};
use crate::told::Told;
use crate::tools::{KnownWords, MAX_NAME};
use crate::trigger;
use look::Step;
use take::Sink;

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
    refused_pairs: Refused,
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
            refused_pairs: Refused::default(),
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
        let mut sink = Sink {
            held,
            released: 0,
            out,
        };
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
                    self.take(step, &mut sink);
                }
            }
        }
        let end = if is_end {
            held.len()
        } else {
            self.certain(held, sink.released)
        };
        self.let_out(end, &mut sink);
        let released = sink.released;
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
}

fn push_part(out: &mut Vec<Piece>, part: Part<'_>) {
    match (out.last_mut(), part) {
        (Some(Piece::Text(known)), Part::Text(text)) => known.push_str(text),
        (_, Part::Text(text)) => out.push(Piece::Text(text.to_owned())),
        (_, Part::Call(call)) => out.push(Piece::Call(call)),
    }
}
