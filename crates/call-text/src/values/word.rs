//! What a word without quotes is: a name, a number or a literal.

/// Whether a word can be the name of a tool or an argument.
pub(super) fn is_name(word: &str) -> bool {
    word.chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_' || c == '\\')
        && !word.ends_with(['.', ':', '/', '\\', '+'])
}

/// Whether a text is the name of a parameter.
pub(super) fn is_plain_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a word is a number or one of the literals of JSON or Python.
pub(super) fn is_literal(word: &str) -> bool {
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return matches!(
            word,
            "true" | "false" | "null" | "True" | "False" | "None" | "NaN" | "nan" | "undefined"
        );
    }
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    let belongs = |byte: u8| match byte {
        b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' | b'_' => true,
        byte => is_hexadecimal && byte.is_ascii_alphanumeric(),
    };
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && digits.bytes().all(belongs)
        && !digits.contains("--")
}

/// Whether a word before a quote is a prefix of Python's strings: whether values stand in it, as in
/// `f"{x}"`. No prefix is one too.
pub(crate) fn string_prefix(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "" | "r" | "b" | "u" | "rb" | "br" => Some(false),
        "f" | "fr" | "rf" => Some(true),
        _ => None,
    }
}

/// Whether a word is the attribute of a variable: `result.city`.
pub(super) fn is_attribute(word: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    word.contains('.') && word.split('.').all(is_part)
}
