//! What the calls so far say about those to come, where calls are expected.

use crate::printed::Printed;
use crate::trigger;

/// What the calls so far say about those to come, where calls are expected.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts about one text"
)]
pub(crate) struct Told {
    /// Prose stands before the first call.
    pub(crate) has_lead_in: bool,
    /// The model has said what it was to say: what follows is explanation or made up.
    pub(crate) is_over: bool,
    /// The model went on with a result or a turn that is not its own: the calls behind it rest on
    /// what it made up.
    pub(crate) is_made_up: bool,
    /// A marker of calls was followed by none that can be read.
    pub(crate) is_broken: bool,
    /// Name and arguments of the calls so far.
    pub(crate) calls: Vec<(String, String)>,
    /// How many of them stand before the last prose.
    pub(crate) settled: usize,
    pub(crate) any: bool,
    /// The beginning of the word at which the walk stands: it may be the name of a call.
    pub(crate) word: String,
}

/// How many calls are remembered, to know repetitions by.
const MAX_CALLS: usize = 64;

impl Told {
    /// Whether no more calls are remembered.
    pub(crate) fn is_full(&self) -> bool {
        self.calls.len() >= MAX_CALLS
    }

    /// Whether more prose says nothing new before the next call.
    pub(crate) fn is_settled(&self) -> bool {
        let is_known = self.has_lead_in || (self.any && self.is_over);
        is_known && self.settled == self.calls.len() && !self.is_full()
    }

    /// Whether a run of text shows that words were written that are no name of a call. A word at
    /// its end is judged by what follows.
    pub(crate) fn sees_prose(&mut self, text: &str) -> bool {
        const MAX_WORD: usize = 16;
        let goes_on = trigger::name_at(text);
        let word = text
            .get(..goes_on.unwrap_or(text.len()))
            .unwrap_or_default();
        if self.word.len() < MAX_WORD {
            self.word.push_str(word);
        }
        let Some(end) = goes_on else {
            return false;
        };
        let is_word = |word: &str| {
            word.contains(char::is_alphabetic)
                && !matches!(word, "print" | "await" | "and" | "or" | "then")
        };
        let rest = text.get(end..).unwrap_or_default();
        let last = trigger::name_before(rest);
        let between = rest.get(..rest.len() - last.len()).unwrap_or_default();
        let sees = is_word(&self.word) || between.split_whitespace().any(is_word);
        last.clone_into(&mut self.word);
        sees
    }

    /// Takes a call down.
    pub(crate) fn remember(&mut self, call: &Printed) {
        let arguments = call.arguments.clone().unwrap_or_default();
        self.calls.push((call.name.clone(), arguments));
    }

    /// Whether a call was there before the last prose, white space in its arguments aside.
    pub(crate) fn has_settled(&self, call: &Printed) -> bool {
        let arguments = call.arguments.as_deref().unwrap_or_default();
        let mut settled = self.calls.iter().take(self.settled);
        settled.any(|(name, known)| *name == call.name && visible(known).eq(visible(arguments)))
    }
}

/// A text without white space.
fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace())
}
