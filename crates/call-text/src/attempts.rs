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
        let brings = |what: fn(u8) -> bool| new.bytes().any(what);
        let is_within = |times: usize| self.work <= length.saturating_mul(times);
        // What ends a call is worth more than what shows that there is none.
        let may_end = is_within(16) && brings(|byte| matches!(byte, b'}' | b']' | b'>' | b')'));
        let may_fail = is_within(4) && brings(|byte| !byte.is_ascii_alphanumeric());
        let is_due = is_end || has_grown || may_end || may_fail;
        if is_due {
            self.work += length;
            self.length = length;
        }
        is_due
    }
}
