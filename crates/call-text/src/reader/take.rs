//! What the walk does with what it found: text goes out, calls are taken.

use repair_core::{Finish, Fix, RawCall, Risk};

use super::look::{Passed, Step};
use super::{CallReader, Part};
use crate::format::Format;
use crate::options::Mode;
use crate::pairs::Refused;
use crate::pending::Condition;
use crate::printed::{Ending, Printed};
use crate::section::Found;
use crate::told::Told;
use crate::turns::Turn;

/// The text of a walk, and where it comes out.
pub(super) struct Sink<'h, 'o> {
    pub(super) held: &'h str,
    /// How much of it has come out.
    pub(super) released: usize,
    pub(super) out: &'o mut dyn FnMut(Part<'_>),
}

impl<'h> Sink<'h, '_> {
    fn text(&self, at: usize, length: usize) -> &'h str {
        self.held.get(at..at + length).unwrap_or_default()
    }
}

impl CallReader {
    /// Does a step, and lets out what is certain.
    pub(super) fn take(&mut self, step: Step, sink: &mut Sink<'_, '_>) {
        if self.told.is_made_up && self.pending.awaits_end() {
            // What another is made to say ends what the model itself said.
            self.flush(sink);
            self.pending.accept_ending(sink.out);
        }
        match step {
            Step::Wait => {}
            Step::Pass(length, what) => {
                let text = sink.text(self.at, length);
                self.has_brackets |= memchr::memchr2(b'{', b'[', text.as_bytes()).is_some();
                self.step_over(text, sink);
                self.see(text, what);
            }
            Step::Run(length) => {
                let text = sink.text(self.at, length);
                self.has_brackets |=
                    text.starts_with(['{', '[']) || self.search.saw_bracket(self.at + length);
                self.step_over(text, sink);
                self.prose.see(text);
            }
            Step::Special(length) => {
                self.see_loops(sink.held);
                self.prose.see_special();
                self.at += length;
                self.unseen = self.at;
            }
            Step::Turn(length, turn) => {
                self.see_loops(sink.held);
                self.at += length;
                self.unseen = self.at;
                self.turn(turn, sink);
            }
            Step::Calls(format, found, back) => {
                self.see_loops(sink.held);
                self.calls(format, found, back, sink);
                self.unseen = self.at;
            }
        }
    }

    /// Steps over text: a call that must end the text and is followed by more is none.
    fn step_over(&mut self, text: &str, sink: &mut Sink<'_, '_>) {
        self.see_prose(text);
        if self.pending.awaits_end() && !text.trim_start().is_empty() {
            self.flush(sink);
            self.pending.refuse_ending(sink.out);
        }
        self.at += text.len();
    }

    /// Notes what a text was that was stepped over.
    fn see(&mut self, text: &str, what: Passed) {
        match what {
            Passed::Text => self.prose.see(text),
            Passed::ShownTurn(turn) => self.prose.see_shown_turn(text, turn),
            Passed::Marks(marks) => self.prose.see_marks(marks),
            Passed::BlockQuote => self.prose.see_block_quote(),
            Passed::Showing(close) => self.prose.see_showing(text, close),
            Passed::Shown => self.prose.see_shown(text),
            Passed::ShownMarker(ends) => self.prose.see_shown_marker(text, ends),
            Passed::ShownEnd => self.prose.see_shown_end(text),
        }
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

    /// Lets the text up to a place out, behind what waits.
    pub(super) fn let_out(&mut self, end: usize, sink: &mut Sink<'_, '_>) {
        let text = sink.held.get(sink.released..end).unwrap_or_default();
        self.pending.push_text(text, sink.out);
        sink.released = end.max(sink.released);
    }

    /// The same up to the cursor, if anything waits.
    fn flush(&mut self, sink: &mut Sink<'_, '_>) {
        if !self.pending.is_empty() {
            self.let_out(self.at, sink);
        }
    }

    fn turn(&mut self, turn: Turn, sink: &mut Sink<'_, '_>) {
        let was_reasoning = self.prose.is_reasoning;
        let is_orphan = self.prose.see_turn(turn);
        match turn {
            Turn::Answer if is_orphan || was_reasoning => {
                self.flush(sink);
                if !self.options.reasoning {
                    self.pending.refuse_reasoning(sink.out);
                }
                // Of what never was reasoning, a made-up turn counts on.
                self.told = Told {
                    is_made_up: self.told.is_made_up && !is_orphan,
                    ..Told::default()
                };
            }
            Turn::Reasoning if !was_reasoning => {
                self.flush(sink);
                self.pending.accept_outside(sink.out);
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
        sink: &mut Sink<'_, '_>,
    ) {
        let start = self.at - back;
        let end = start + found.length;
        let source = sink.text(start, found.length);
        if found.calls.is_empty() {
            // Closing markers behind the calls.
            if !self.pending.is_empty() {
                self.let_out(start, sink);
                self.pending.add_source(source);
            }
            self.at = end;
            sink.released = end;
            return;
        }
        if self.is_repetition(format, &found.calls) {
            self.prose.see(source);
            self.at = end;
            self.section = None;
            return;
        }
        self.let_out(start, sink);
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
            self.pending.push_call(call, taken, condition, sink.out);
            taken = "";
        }
        self.prose.see_calls();
        self.refused_pairs = Refused::default();
        self.section = Some(format);
        self.at = end;
        sink.released = end;
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
