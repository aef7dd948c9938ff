//! Secrets that were seen under a key, to be found again where no key stands beside them.

use std::collections::VecDeque;

use super::MARK;
use super::tables::{DIAGNOSES, KEY_ENDINGS, KEY_WORDS, PLAIN_VALUES};

/// Least characters of a secret that is looked for elsewhere; shorter ones would hit plain words.
const SHORTEST: usize = 4;
/// Longest one, in bytes.
const LONGEST: usize = 8 << 10;
/// Most secrets that are remembered; the oldest go first.
const MOST: usize = 64;

/// The secrets seen so far, in every spelling in which they may come back.
#[derive(Clone, Default)]
pub(crate) struct Known {
    spellings: VecDeque<Vec<String>>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known")
            .field("secrets", &self.spellings.len())
            .finish_non_exhaustive()
    }
}

impl Known {
    /// Remembers a secret as it stood in a text or value.
    pub(super) fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() > LONGEST || secret.chars().count() < SHORTEST || is_plain(secret) {
            return;
        }
        let spellings = spellings(secret);
        if self.spellings.iter().any(|known| *known == spellings) {
            return;
        }
        if self.spellings.len() == MOST {
            self.spellings.pop_front();
        }
        self.spellings.push_back(spellings);
    }

    /// The text without the known secrets; none if there are none in it.
    pub(super) fn redact(&self, text: &str) -> Option<String> {
        let mut out: Option<String> = None;
        for spelling in self.spellings.iter().flatten() {
            if let Some(replaced) = replace(out.as_deref().unwrap_or(text), spelling) {
                out = Some(replaced);
            }
        }
        out
    }
}

/// Words that would be harmful to replace everywhere.
fn is_plain(secret: &str) -> bool {
    let lower = secret.to_lowercase();
    let lower = lower.as_str();
    [PLAIN_VALUES, DIAGNOSES, KEY_ENDINGS, KEY_WORDS]
        .iter()
        .any(|words| words.contains(&lower))
        || secret == MARK
        || secret.starts_with(['{', '['])
}

/// A secret as it stands, unescaped, escaped once and twice, and percent-encoded; longest first,
/// for a shorter one may be part of a longer one.
fn spellings(secret: &str) -> Vec<String> {
    let mut all = vec![secret.to_owned()];
    if let Ok(unescaped) = serde_json::from_str::<String>(&format!("\"{secret}\"")) {
        all.push(unescaped);
    }
    for _ in 0..2 {
        let escaped: Vec<String> = all.iter().map(|text| escape(text)).collect();
        all.extend(escaped);
    }
    let encoded: Vec<String> = all.iter().map(|text| percent_encode(text)).collect();
    all.extend(encoded);
    all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    all.dedup();
    all
}

fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}

fn percent_encode(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Replaces a secret where it stands for itself and is no part of a longer word.
fn replace(text: &str, secret: &str) -> Option<String> {
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let mut out = String::new();
    let mut kept = 0;
    for (at, _) in text.match_indices(secret) {
        let end = at + secret.len();
        let (before, after) = (text.get(..at)?, text.get(end..)?);
        let glued_before = is_word(before.chars().next_back())
            && !ends_in_escape(before)
            && is_word(secret.chars().next());
        let glued_after = is_word(after.chars().next()) && is_word(secret.chars().next_back());
        if glued_before || glued_after {
            continue;
        }
        out.push_str(text.get(kept..at)?);
        out.push_str(MARK);
        kept = end;
    }
    if kept == 0 {
        return None;
    }
    out.push_str(text.get(kept..)?);
    Some(out)
}

/// Whether the last letters belong to an escape: `\n`, `%20`.
fn ends_in_escape(text: &str) -> bool {
    let tail = text.as_bytes();
    let tail = tail.get(tail.len().saturating_sub(3)..).unwrap_or_default();
    matches!(
        tail,
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] | [b'%', _, _]
    )
}
