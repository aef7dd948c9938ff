//! Folding: spellings that differ only in case and separators become equal.

/// The fold of a tool name: lower case, without `_ - . : /` and spaces.
pub(crate) fn name(text: &str) -> String {
    fold(text, &['_', '-', '.', ':', '/', ' '])
}

/// The fold of a key or an enum value: lower case, without `_ - .` and spaces.
pub(crate) fn key(text: &str) -> String {
    fold(text, &['_', '-', '.', ' '])
}

/// Lower-cases `text` and drops separators. A separator goes only if a letter stands beside it
/// (`1.5`, `2024-01`, `-5` keep theirs), or if it is a leading or trailing `_`.
fn fold(text: &str, separators: &[char]) -> String {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut run = 0;
    for (at, character) in text.char_indices() {
        if !separators.contains(&character) {
            let between = text.get(run..at).unwrap_or_default();
            push_kept(&mut out, before, between, Some(character));
            out.extend(character.to_lowercase());
            before = Some(character);
            run = at + character.len_utf8();
        }
    }
    let end = text.get(run..).unwrap_or_default();
    push_kept(&mut out, before, end, None);
    out
}

/// Pushes what is kept of a run of separators between two characters or the edges of the text.
fn push_kept(out: &mut String, before: Option<char>, run: &str, after: Option<char>) {
    let is_letter = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphabetic);
    if is_letter(before) || is_letter(after) {
        return;
    }
    let is_edge = before.is_none() || after.is_none();
    out.extend(
        run.chars()
            .filter(|separator| !(is_edge && *separator == '_')),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_fold_beside_letters_only() {
        for (text, folded) in [
            ("WebSearch", "websearch"),
            ("web_search", "websearch"),
            ("crm_get-by-id", "crmgetbyid"),
            ("todo/todoWrite", "todotodowrite"),
            ("_private_", "private"),
            ("v1_2", "v1_2"),
            ("1.5", "1.5"),
            ("-5", "-5"),
            ("a-5", "a5"),
            ("web__search", "websearch"),
            ("1__2", "1__2"),
            ("a__1", "a1"),
            ("__1_", "1"),
            ("-_1-", "-1-"),
            ("", ""),
            ("_", ""),
        ] {
            assert_eq!(name(text), folded, "{text}");
        }
        assert_eq!(key("file:path"), "file:path");
    }

    #[test]
    fn long_runs_of_separators_are_read_once() {
        assert_eq!(name(&"_".repeat(1 << 20)), "");
        assert_eq!(name(&"-".repeat(1 << 20)).len(), 1 << 20);
    }
}
