//! When a held text is worth another look.

use crate::cursor::{Beginning, beginning};
use crate::paused::Paused;

/// The looks at the held text: what they cost, which is never more than a fixed number of times its
/// length, and where the last one began and stopped.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) length: usize,
    work: usize,
    /// Where the last look stopped, if its reader knows what it waits for.
    pub(crate) paused: Option<Paused>,
    /// The marker, and its place behind that of the look, whose beginning stands at the end of the
    /// text: nothing is known before more of it does.
    pub(crate) awaited: Option<Awaited>,
    /// How many bytes before the place of the look its reader began.
    pub(crate) back: usize,
}

/// A marker of which a text holds the beginning, and where that stands.
pub(crate) type Awaited = (usize, &'static str);

impl Attempts {
    /// Whether to look again at what stands from `at` on in a text, to which `new` was added.
    pub(crate) fn is_due(&mut self, text: &str, at: usize, new: &str, is_end: bool) -> bool {
        let length = text.len().saturating_sub(at);
        // A reader that knows what it waits for is asked without a reason less often.
        let is_whole = self.paused.as_ref().is_none_or(Paused::is_whole);
        let growth = if is_whole { 2 } else { 4 };
        let text = text.get(at.saturating_sub(self.back)..).unwrap_or_default();
        let is_due = is_end
            || length >= self.length.saturating_mul(growth)
            || !self.awaits_marker(text)
                && match &mut self.paused {
                    Some(paused) if !is_whole => {
                        !paused.needs_more(text, text.len().saturating_sub(new.len()))
                            && self.is_within(16, length)
                    }
                    _ => self.may_change(new, length),
                };
        if is_due {
            self.begin(length);
        }
        is_due
    }

    /// Whether the marker that the last look began to see may still come.
    fn awaits_marker(&self, text: &str) -> bool {
        self.awaited.is_some_and(|(at, marker)| {
            let begun = text.get(at..).unwrap_or_default();
            beginning(begun, marker) == Beginning::Part
        })
    }

    /// Forgets the looks: the walk goes on.
    pub(crate) fn forget(&mut self) {
        (self.length, self.work, self.back) = (0, 0, 0);
        self.paused = None;
        self.awaited = None;
    }

    /// Counts a look at a text of this length.
    pub(crate) fn begin(&mut self, length: usize) {
        self.work += length;
        self.length = length;
    }

    /// Whether what was added may say more. What ends a call is worth more than what shows that
    /// there is none.
    fn may_change(&self, new: &str, length: usize) -> bool {
        let brings = |what: fn(u8) -> bool| new.bytes().any(what);
        let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        self.is_within(16, length) && brings(|byte| matches!(byte, b'}' | b']' | b'>' | b')'))
            || self.is_within(4, length) && !new.bytes().all(is_word)
    }

    fn is_within(&self, times: usize, length: usize) -> bool {
        self.work <= length.saturating_mul(times)
    }
}
