//! When a held text is worth another look.

/// How often the held text was looked at: never more than a fixed number of times its length.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) length: usize,
    work: usize,
}

impl Attempts {
    /// Whether to look again at a text of this length, to which `new` was added.
    pub(crate) fn is_due(&mut self, length: usize, new: &str, is_end: bool) -> bool {
        let has_grown = length >= self.length.saturating_mul(2);
        let may_end = self.work <= length.saturating_mul(16)
            && new.bytes().any(|byte| !byte.is_ascii_alphanumeric());
        let is_due = is_end || has_grown || may_end;
        if is_due {
            self.work += length;
            self.length = length;
        }
        is_due
    }
}
