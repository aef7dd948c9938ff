//! What a word without quotes is: a name, a number or a literal.

/// Whether a word can be the name of a tool or an argument.
pub(super) fn is_name(word: &str) -> bool {
    word.chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_' || c == '\\')
        && !word.ends_with(['.', ':', '/', '\\', '+'])
}

/// Whether a word is a number or one of the literals of JSON or Python.
pub(super) fn is_literal(word: &str) -> bool {
    if matches!(
        word,
        "true" | "false" | "null" | "True" | "False" | "None" | "NaN" | "nan" | "undefined"
    ) {
        return true;
    }
    let digits = word.trim_start_matches(['-', '+']);
    word.len() - digits.len() <= 1
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && digits
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_'))
        && !digits.contains("--")
        && (digits.starts_with("0x")
            || digits.starts_with("0X")
            || digits
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-' | '_')))
}
