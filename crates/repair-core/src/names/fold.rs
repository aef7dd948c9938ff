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
    let mut before: Option<char> = None;
    let mut rest = text;
    loop {
        let run = rest.len() - rest.trim_start_matches(separators).len();
        let (run, tail) = rest.split_at(run);
        let after = tail.chars().next();
        let has_letter = [before, after]
            .into_iter()
            .flatten()
            .any(char::is_alphabetic);
        let is_edge = before.is_none() || after.is_none();
        if !has_letter {
            out.extend(
                run.chars()
                    .filter(|separator| !(is_edge && *separator == '_')),
            );
        }
        let Some(character) = after else { return out };
        out.extend(character.to_lowercase());
        before = after;
        rest = tail.get(character.len_utf8()..).unwrap_or_default();
    }
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
