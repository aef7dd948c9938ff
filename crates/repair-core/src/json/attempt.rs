//! What one reader found out about a text, so that the next one need not find it out again.

/// A long string of a text that is known to be strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrictString {
    /// Where its opening quote stands.
    pub(crate) start: usize,
    /// Behind its closing quote.
    pub(crate) end: usize,
}

impl StrictString {
    /// Whether it is worth remembering: a shorter one is as soon read again.
    pub(crate) fn is_long(self) -> bool {
        self.end - self.start >= 64
    }
}

/// A strict reading of one value that did not reach the end of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempt {
    /// Where the value starts.
    pub(crate) start: usize,
    /// Where it ends, if it is strict.
    pub(crate) end: Option<usize>,
    /// Up to where the text was read.
    pub(crate) read: usize,
    /// Its long strings, in the order of the text.
    pub(crate) strings: Vec<StrictString>,
    /// Where the string starts that is strict up to the end of the text.
    pub(crate) open: Option<usize>,
}

impl Attempt {
    /// The long string that starts at `start`, if it is one.
    pub(crate) fn string_at(&self, start: usize) -> Option<StrictString> {
        let found = self
            .strings
            .binary_search_by_key(&start, |string| string.start);
        self.strings.get(found.ok()?).copied()
    }

    /// Its strings, as they stand in the text from `start` on.
    pub(crate) fn strings_from(&self, start: usize) -> impl Iterator<Item = StrictString> {
        self.strings.iter().map(move |string| StrictString {
            start: string.start - start,
            end: string.end - start,
        })
    }
}
