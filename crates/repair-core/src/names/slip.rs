//! A slip of one or two letters in a name.
//!
//! Near names are the most dangerous repair there is: `kanban_list` is two letters from
//! `kanban_link`, and `unlock_door` from `lock_door`. So a slip is read only where nothing else
//! can be meant. The misspelt part must be long, because short words have many neighbours; one
//! tool alone may be near, with a margin; what was written must not be a word of its own; the
//! arguments must fit; and a tool whose run cannot be taken back is never reached by a slip.

use super::affix::split_mcp;
use super::{fold, near, resolve::Entry};
use crate::words;

/// The prefix of each name before its operation part: `mcp__server__`, or the longest prefix,
/// ending in a separator, that it shares with another tool of the set. A slip in it would lead
/// to another server or group, so it must be right.
pub(crate) fn prefixes<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|at| names.get(*at));
    let at = |place: Option<&usize>| place.and_then(|at| names.get(*at)).copied();
    let mut prefixes = vec![""; names.len()];
    for (place, tool) in order.iter().enumerate() {
        let Some(name) = at(Some(tool)) else { continue };
        let before = at(place.checked_sub(1).and_then(|place| order.get(place)));
        let after = at(order.get(place + 1));
        let shared = [before, after].into_iter().flatten();
        let longest = shared.map(|other| shared_prefix(name, other)).max();
        if let Some(prefix) = prefixes.get_mut(*tool) {
            let length = match split_mcp(name) {
                Some((_, operation)) => name.len() - operation.len(),
                None => longest.unwrap_or(0),
            };
            *prefix = name.get(..length).unwrap_or_default();
        }
    }
    prefixes
}

/// The length in bytes of the longest shared prefix that ends in a separator and leaves something
/// of both names. In sorted names a neighbour has the longest.
fn shared_prefix(name: &str, other: &str) -> usize {
    let shared = name
        .char_indices()
        .zip(other.chars())
        .take_while(|((_, here), there)| here == there);
    let mut length = 0;
    for ((at, character), _) in shared {
        let end = at + character.len_utf8();
        if matches!(character, '_' | '-' | '.' | ':' | '/' | ' ')
            && end < name.len().min(other.len())
        {
            length = end;
        }
    }
    length
}

/// The one tool whose name was misspelt, if all conditions hold that the names alone decide.
pub(crate) fn find(emitted: &str, fold: &str, entries: &[Entry]) -> Option<u32> {
    // The next tool must be at least two edits further than the two that are allowed.
    const FURTHEST: usize = 3;
    let pattern = near::Pattern::new(fold);
    let profile = near::Profile::new(fold);
    let mut nearest: Option<(usize, u32, &Entry)> = None;
    let mut next = usize::MAX;
    for (entry, tool) in entries.iter().zip(0..) {
        if profile.least_distance(&entry.profile) > FURTHEST {
            continue;
        }
        let distance = match &pattern {
            Some(pattern) => pattern.distance(&entry.fold),
            None => near::damerau(fold, &entry.fold, FURTHEST).unwrap_or(usize::MAX),
        };
        match nearest {
            Some((best, ..)) if distance >= best => next = next.min(distance),
            _ => {
                next = nearest.map_or(usize::MAX, |(best, ..)| best);
                nearest = Some((distance, tool, entry));
            }
        }
    }
    let (distance, tool, entry) = nearest?;
    let is_alone = next >= distance.saturating_add(2);
    (is_alone && is_slip(emitted, fold, entry)).then_some(tool)
}

/// Whether an emitted name can only be a misspelling of this tool's.
fn is_slip(emitted: &str, fold: &str, entry: &Entry) -> bool {
    let operations = fold
        .strip_prefix(&*entry.prefix)
        .zip(entry.fold.strip_prefix(&*entry.prefix));
    operations.is_some_and(|(written, known)| {
        !differ_in_front(written, known) && near::is_slip_of_fold(written, known)
    }) && !words::is_dangerous(&entry.name)
        && !is_word_of_its_own(emitted, fold, &entry.name)
        && !is_another_word(fold, &entry.name)
        && words::may_be_a_slip(emitted, &entry.name)
}

/// Whether two words begin with different letters, or one is the other with a letter in front.
/// That may be the opposite: `nlock` is `unlock`, too.
fn differ_in_front(a: &str, b: &str) -> bool {
    fn split(word: &str) -> (Option<char>, &str) {
        let mut letters = word.chars();
        (letters.next(), letters.as_str())
    }
    let ((first, rest), (other_first, other_rest)) = (split(a), split(b));
    first != other_first || rest == b || other_rest == a
}

/// Whether what stands for the misspelt word is itself a known word: then it was meant.
fn is_word_of_its_own(emitted: &str, fold: &str, name: &str) -> bool {
    let target = words::tokens(name);
    let (differing, _) = middle(fold, &target);
    words::tokens(emitted)
        .iter()
        .map(String::as_str)
        .chain([differing])
        .any(|word| words::is_known(word) && target.iter().all(|known| known != word))
}

/// Whether the edits stand in one word that is too short for so many: `internet` is not `intranet`,
/// however long the names around them are.
fn is_another_word(fold: &str, name: &str) -> bool {
    let target = words::tokens(name);
    match middle(fold, &target) {
        (written, [known]) => {
            near::damerau(written, known, near::slips_allowed(known).max(1)).is_none()
        }
        _ => false,
    }
}

/// What is left of a fold when the words at its beginning and end are those of the target, and what
/// is left of these.
fn middle<'f, 't>(fold: &'f str, mut target: &'t [String]) -> (&'f str, &'t [String]) {
    let mut rest = fold;
    while let Some((word, others)) = target.split_first()
        && let Some(shorter) = rest.strip_prefix(word.as_str())
    {
        (rest, target) = (shorter, others);
    }
    while let Some((word, others)) = target.split_last()
        && let Some(shorter) = rest.strip_suffix(word.as_str())
    {
        (rest, target) = (shorter, others);
    }
    (rest, target)
}

/// The fold of a prefix, as it stands in the fold of the whole name.
pub(crate) fn fold_of_prefix(name: &str, prefix: &str, folded: &str) -> Box<str> {
    let operation = fold::name(name.get(prefix.len()..).unwrap_or_default());
    folded
        .strip_suffix(operation.as_str())
        .unwrap_or_default()
        .into()
}
