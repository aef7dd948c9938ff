//! What the caller knows about a text.

use repair_core::Finish;

/// How much of a text is read as calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The tools were offered natively, so text is normally text: only calls that cannot be meant
    /// otherwise are read.
    #[default]
    Leaked,
    /// The model was told to print its calls: they are read wherever they stand.
    Expected,
}

/// Options of a reader.
///
/// ```
/// use call_text::{Mode, ReadOptions};
/// let options = ReadOptions::default().with_mode(Mode::Expected).with_reasoning(true);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    pub(crate) mode: Mode,
    pub(crate) reasoning: bool,
    pub(crate) forbidden: bool,
    pub(crate) finish: Finish,
}

impl ReadOptions {
    /// How much is read; [`Mode::Leaked`] by default.
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Whether calls inside reasoning (`<think>`) are read. Off by default.
    pub fn with_reasoning(mut self, on: bool) -> Self {
        self.reasoning = on;
        self
    }

    /// Whether `tool_choice` is `none`: then nothing is a call. Off by default.
    pub fn with_tool_choice_none(mut self, on: bool) -> Self {
        self.forbidden = on;
        self
    }

    /// How generation ended. Counts for a call without a closing marker of its own.
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }
}
