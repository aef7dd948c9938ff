//! How near two texts are.
//!
//! The distance is the optimal string alignment distance: insertions, deletions, substitutions
//! and swaps of neighbours, each one edit, and no part edited twice. The shorter text is held as
//! bits of one machine word, so that a comparison costs a few operations for each letter of the
//! longer one.

use super::fold;

/// Longest text, in characters, that is compared with others. Providers allow names of 64.
pub(crate) const LONGEST: usize = 128;

/// The distance of two texts if it is at most `limit`, else `None`. Texts whose differing parts
/// are both longer than 64 and one longer than [`LONGEST`] characters are near nothing.
pub(crate) fn damerau(a: &str, b: &str, limit: usize) -> Option<usize> {
    // A character has at most four bytes, and each edit adds or takes one.
    let widest = if a.is_ascii() && b.is_ascii() { 1 } else { 4 };
    if a.len().abs_diff(b.len()) > limit.saturating_mul(widest) {
        return None;
    }
    let (a, b) = differing_parts(a, b);
    // What is left begins and ends with different characters: one edit mends one of them, or two
    // neighbours that are swapped.
    if limit == 1 && a.is_ascii() && b.is_ascii() {
        return match (a.as_bytes(), b.as_bytes()) {
            ([], []) => Some(0),
            ([] | [_], [] | [_]) => Some(1),
            ([a, b], [c, d]) if (a, b) == (d, c) => Some(1),
            _ => None,
        };
    }
    let (mut short, mut long) = (a, b);
    let (mut least, mut most) = (a.chars().count(), b.chars().count());
    if least > most {
        (short, long) = (b, a);
        (least, most) = (most, least);
    }
    if most - least > limit {
        return None;
    }
    let distance = match Pattern::new(short) {
        _ if least == 0 => most,
        Some(pattern) => pattern.distance(long),
        None if most <= LONGEST => strsim::osa_distance(short, long),
        None => return None,
    };
    (distance <= limit).then_some(distance)
}

/// The similarity of two names by their folds, from 0 (nothing in common) to 1 (equal).
pub(crate) fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (fold::name(a), fold::name(b));
    let longer = a.chars().count().max(b.chars().count());
    match damerau(&a, &b, longer) {
        Some(distance) => share(distance, longer),
        None => 0.0,
    }
}

/// `1 - distance / longer`.
pub(crate) fn share(distance: usize, longer: usize) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    if longer == 0 {
        1.0
    } else {
        1.0 - count(distance) / count(longer)
    }
}

/// Whether `written` is a slip of `known`, both folded: distance 1 if that has at least 6 letters,
/// 2 if at least 14. Only letters slip: `item1` is not `item2`.
pub(crate) fn is_slip_of_fold(written: &str, known: &str) -> bool {
    let others =
        |text: &'_ str| -> Vec<char> { text.chars().filter(|c| !c.is_alphabetic()).collect() };
    let allowed = slips_allowed(known);
    allowed > 0
        && written != known
        && damerau(written, known, allowed).is_some()
        && others(written) == others(known)
}

/// How many edits a word of so many letters may hold and still be a slip of itself. Short words
/// have too many neighbours that mean something else.
pub(crate) fn slips_allowed(known: &str) -> usize {
    match known.chars().filter(|c| c.is_alphabetic()).count() {
        0..6 => 0,
        6..14 => 1,
        _ => 2,
    }
}

/// The two texts without the beginning and the end that they share; the distance is theirs.
pub(crate) fn differing_parts<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    let shared = |pair: &(char, char)| pair.0 == pair.1;
    let bytes = |pair: (char, char)| pair.0.len_utf8();
    let head: usize = a.chars().zip(b.chars()).take_while(shared).map(bytes).sum();
    let (a, b) = (
        a.get(head..).unwrap_or_default(),
        b.get(head..).unwrap_or_default(),
    );
    let backwards = a.chars().rev().zip(b.chars().rev());
    let tail: usize = backwards.take_while(shared).map(bytes).sum();
    (
        a.get(..a.len() - tail).unwrap_or_default(),
        b.get(..b.len() - tail).unwrap_or_default(),
    )
}

/// A text of 1 to 64 characters, prepared for comparison with many: for each character, the bits
/// of its positions.
pub(crate) struct Pattern {
    length: u32,
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
}

impl Pattern {
    /// `None` if the text is empty or longer than a machine word has bits.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut pattern = Self {
            length: 0,
            ascii: [0; 128],
            others: Vec::new(),
        };
        for character in text.chars() {
            let bit = 1_u64.checked_shl(pattern.length)?;
            pattern.length += 1;
            match pattern.ascii.get_mut(character as usize) {
                Some(bits) => *bits |= bit,
                None => pattern.others.push((character, bit)),
            }
        }
        (pattern.length > 0).then_some(pattern)
    }

    fn positions(&self, character: char) -> u64 {
        match self.ascii.get(character as usize) {
            Some(bits) => *bits,
            None => self
                .others
                .iter()
                .filter(|(other, _)| *other == character)
                .fold(0, |bits, (_, bit)| bits | bit),
        }
    }

    /// The distance to another text. One column of the distance matrix is held as the set of rows
    /// in which it rises and the set in which it falls (Hyyrö's form of Myers' algorithm).
    pub(crate) fn distance(&self, text: &str) -> usize {
        let last = 1_u64 << (self.length - 1);
        let mut distance = self.length as usize;
        let (mut rises, mut falls) = (u64::MAX, 0_u64);
        let (mut diagonal, mut matched_before) = (0_u64, 0_u64);
        for character in text.chars() {
            let matched = self.positions(character);
            let swapped = ((!diagonal & matched) << 1) & matched_before;
            let carried = (matched & rises).wrapping_add(rises) ^ rises;
            diagonal = carried | matched | falls | swapped;
            let right = falls | !(diagonal | rises);
            let left = diagonal & rises;
            if right & last != 0 {
                distance += 1;
            }
            if left & last != 0 {
                distance -= 1;
            }
            let right = (right << 1) | 1;
            rises = (left << 1) | !(diagonal | right);
            falls = diagonal & right;
            matched_before = matched;
        }
        distance
    }
}

/// The length and the letter counts of a text, from which a lower bound of a distance follows.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) length: usize,
    /// `a` to `z`, the other characters by their lowest bits.
    counts: [u8; 32],
}

impl Profile {
    pub(crate) fn new(text: &str) -> Self {
        let mut profile = Self {
            length: 0,
            counts: [0; 32],
        };
        for character in text.chars() {
            profile.length += 1;
            if let Some(count) = profile.counts.get_mut(character as usize % 32) {
                *count = count.saturating_add(1);
            }
        }
        profile
    }

    /// No distance of the two texts is less: every edit mends one missing and one surplus letter.
    pub(crate) fn least_distance(&self, other: &Self) -> usize {
        let (mut missing, mut surplus) = (0_usize, 0_usize);
        for (here, there) in self.counts.iter().zip(&other.counts) {
            missing += usize::from(there.saturating_sub(*here));
            surplus += usize::from(here.saturating_sub(*there));
        }
        missing.max(surplus).max(self.length.abs_diff(other.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::tests::Random;

    #[test]
    fn distances_are_those_of_the_textbook() {
        let mut random = Random(7);
        for _ in 0..5_000 {
            let (a, b) = (random.text("abcé", 9), random.text("abcé", 9));
            let expected = strsim::osa_distance(&a, &b);
            assert_eq!(damerau(&a, &b, 99), Some(expected), "{a} {b}");
            assert_eq!(damerau(&a, &b, 2), (expected <= 2).then_some(expected));
            let least = Profile::new(&a).least_distance(&Profile::new(&b));
            assert!(least <= expected, "{a} {b}");
        }
        for _ in 0..200 {
            let (a, b) = (random.text("abcdef_", 90), random.text("abcdef_", 90));
            assert_eq!(damerau(&a, &b, 99), Some(strsim::osa_distance(&a, &b)));
        }
    }

    #[test]
    fn huge_texts_are_bounded() {
        let (a, b) = ("ab".repeat(500_000), "ba".repeat(500_000));
        assert_eq!(damerau(&a, &b, 2), None);
        assert_eq!(damerau(&a, &a.replace('a', "c"), 2), None);
        assert_eq!(damerau(&a, "ab", 2), None);
        assert_eq!(damerau(&a, &a, 0), Some(0));
    }

    #[test]
    fn similarity_is_that_of_the_folds() {
        for (a, b, least, most) in [
            ("WEB_SERCH", "web_search", 0.8, 0.95),
            ("web_search", "WebSearch", 1.0, 1.0),
            ("readfile", "read", 0.5, 0.5),
            ("totally_made_up_tool", "web_search", 0.0, 0.49),
            ("", "", 1.0, 1.0),
            ("", "abc", 0.0, 0.0),
        ] {
            let similarity = similarity(a, b);
            assert!(
                (least..=most).contains(&similarity),
                "{a} {b}: {similarity}"
            );
        }
    }

    #[test]
    fn slips_need_letters_enough() {
        for (written, known, slip) in [
            ("querry_text", "query_text", true),
            ("file_pth", "file_path", true),
            ("descritpion", "description", true),
            ("pth", "path", false),
            ("limti", "limit", false),
            ("search_paramters_lst", "search_parameters_list", true),
            ("search_pramters_lst", "search_parameters_list", false),
            ("option1", "option2", false),
            ("optoin1", "option1", true),
            ("file_path", "filePath", false),
        ] {
            let is_slip = is_slip_of_fold(&fold::key(written), &fold::key(known));
            assert_eq!(is_slip, slip, "{written} {known}");
        }
    }
}
