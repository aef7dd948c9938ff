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
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if separators.contains(&character) {
            let after = rest.clone().find(|next| !separators.contains(next));
            let letter = [before, after]
                .into_iter()
                .flatten()
                .any(char::is_alphabetic);
            let edge = character == '_' && (before.is_none() || after.is_none());
            if !(letter || edge) {
                out.push(character);
            }
        } else {
            out.extend(character.to_lowercase());
            before = Some(character);
        }
    }
    out
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
        ] {
            assert_eq!(name(text), folded, "{text}");
        }
        assert_eq!(key("file:path"), "file:path");
    }
}
