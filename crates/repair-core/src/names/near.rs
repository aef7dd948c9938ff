//! How near two spellings are.

/// The optimal-string-alignment distance, if it is at most `limit`.
pub(crate) fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.chars().count().abs_diff(b.chars().count()) > limit {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|distance| *distance <= limit)
}

/// Likeness of two folded spellings, from 0 to 1.
pub(crate) fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (super::fold::name(a), super::fold::name(b));
    strsim::normalized_damerau_levenshtein(&a, &b)
}

/// How many letters may be wrong in a word of this many.
pub(crate) fn allowed_slips(letters: usize) -> usize {
    match letters {
        0..=5 => 0,
        6..=13 => 1,
        _ => 2,
    }
}

/// Whether `emitted` is a slip of `key`: one letter in at least six, two in at least fourteen.
pub(crate) fn is_slip(emitted: &str, key: &str) -> bool {
    let (emitted, key) = (super::fold::key(emitted), super::fold::key(key));
    let letters = key.chars().filter(|c| c.is_alphanumeric()).count();
    let limit = allowed_slips(letters);
    limit > 0 && emitted.len() <= key.len() * 4 + 8 && distance(&emitted, &key, limit).is_some()
}

/// How often each letter occurs: two spellings are at least half as far apart as their counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters([u8; 32]);

impl Letters {
    pub(super) fn of(text: &str) -> Self {
        let mut counts = [0u8; 32];
        for byte in text.bytes() {
            if let Some(count) = counts.get_mut(usize::from(byte & 31)) {
                *count = count.saturating_add(1);
            }
        }
        Self(counts)
    }

    /// At most this like, whatever the order of the letters.
    pub(super) fn likeness_bound(&self, other: &Self) -> f64 {
        let (mut differ, mut total_a, mut total_b) = (0u32, 0u32, 0u32);
        for (a, b) in self.0.iter().zip(&other.0) {
            differ += u32::from(a.abs_diff(*b));
            total_a += u32::from(*a);
            total_b += u32::from(*b);
        }
        let longest = f64::from(total_a.max(total_b).max(1));
        // A substitution changes two counts, an insertion one.
        let edits = differ.div_ceil(2).max(total_a.abs_diff(total_b));
        1.0 - f64::from(edits) / longest
    }
}
