//! What came out of the walk, until it is certain.
//!
//! A call may have to end the text, or turn out to be part of reasoning whose beginning the
//! server cut off. Until that is known, it and everything behind it waits.

use repair_core::RawCall;

use crate::reader::Part;

/// How much text may wait behind a call that could still turn out to be reasoning, in bytes.
const MAX_WAITING: usize = 64 * 1024;

/// What a call still depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Condition {
    /// Nothing but white space and special tokens may follow.
    pub(crate) must_end: bool,
    /// No orphaned end of reasoning may follow.
    pub(crate) may_be_reasoning: bool,
}

impl Condition {
    fn is_settled(self) -> bool {
        !self.must_end && !self.may_be_reasoning
    }
}

/// A part of the text that waits.
#[derive(Debug)]
struct Item {
    /// How long it is.
    length: usize,
    /// The call that comes out in its place. That of all but the first call of a list is empty.
    call: Option<(RawCall<'static>, Condition)>,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    items: Vec<Item>,
    /// What waits, one item after another.
    text: String,
    awaits_end: bool,
}

impl Pending {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether a call must be the end of the text.
    pub(crate) fn awaits_end(&self) -> bool {
        self.awaits_end
    }

    /// Bytes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn push_call(
        &mut self,
        call: RawCall<'static>,
        source: &str,
        condition: Condition,
        out: &mut dyn FnMut(Part<'_>),
    ) {
        if self.items.is_empty() && condition.is_settled() {
            out(Part::Call(call));
            return;
        }
        self.text.push_str(source);
        self.awaits_end |= condition.must_end;
        self.items.push(Item {
            length: source.len(),
            call: Some((call, condition)),
        });
    }

    pub(crate) fn push_text(&mut self, text: &str, out: &mut dyn FnMut(Part<'_>)) {
        if text.is_empty() {
            return;
        }
        if self.items.is_empty() {
            out(Part::Text(text));
            return;
        }
        self.text.push_str(text);
        match self.items.last_mut() {
            Some(Item { length, call: None }) => *length += text.len(),
            _ => self.items.push(Item {
                length: text.len(),
                call: None,
            }),
        }
        if self.text.len() > MAX_WAITING {
            self.settle(|condition| condition.may_be_reasoning = false);
            self.release(out);
        }
    }

    /// Closing markers behind the last call: they belong to it.
    pub(crate) fn add_source(&mut self, text: &str) {
        if let Some(Item {
            length,
            call: Some(_),
        }) = self.items.last_mut()
        {
            self.text.push_str(text);
            *length += text.len();
        }
    }

    /// Nothing that follows is the model's: calls that must end the text do.
    pub(crate) fn accept_ending(&mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.settle(|condition| condition.must_end = false);
        self.awaits_end = false;
        self.release(out);
    }

    /// Text that is not blank follows: calls that must end the text are none.
    pub(crate) fn refuse_ending(&mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.refuse(|condition| condition.must_end);
        self.awaits_end = false;
        self.release(out);
    }

    /// An orphaned end of reasoning follows: calls before it are none.
    pub(crate) fn refuse_reasoning(&mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.refuse(|condition| condition.may_be_reasoning);
        self.release(out);
    }

    /// Reasoning begins with its token: nothing before it was reasoning.
    pub(crate) fn accept_outside(&mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.settle(|condition| condition.may_be_reasoning = false);
        self.release(out);
    }

    /// The text has ended.
    pub(crate) fn accept_all(&mut self, out: &mut dyn FnMut(Part<'_>)) {
        self.settle(|condition| *condition = Condition::default());
        self.release(out);
    }

    fn settle(&mut self, change: impl Fn(&mut Condition)) {
        let calls = self.items.iter_mut().filter_map(|item| item.call.as_mut());
        calls.for_each(|(_, condition)| change(condition));
    }

    /// Makes text of calls again.
    fn refuse(&mut self, is_refused: impl Fn(&Condition) -> bool) {
        for item in &mut self.items {
            item.call.take_if(|(_, condition)| is_refused(condition));
        }
    }

    /// Lets out everything before the first call that is not settled.
    fn release(&mut self, out: &mut dyn FnMut(Part<'_>)) {
        let is_held = |item: &Item| {
            let call = item.call.as_ref();
            call.is_some_and(|(_, condition)| !condition.is_settled())
        };
        let end = self.items.iter().position(is_held);
        let mut at = 0;
        for item in self.items.drain(..end.unwrap_or(self.items.len())) {
            let text = self.text.get(at..at + item.length).unwrap_or_default();
            at += item.length;
            match item.call {
                Some((call, _)) => out(Part::Call(call)),
                None if text.is_empty() => {}
                None => out(Part::Text(text)),
            }
        }
        self.text.drain(..at);
    }
}
