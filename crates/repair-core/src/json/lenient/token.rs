//! Values without quotes: literals, numbers, words.

use crate::json::number;
use crate::rule::Risk;

/// What an unquoted token means.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// Strict JSON as it is.
    Strict,
    /// A literal of another language.
    Literal(&'static str),
    /// A number in another form.
    Number(String, Risk),
    /// NaN or an infinity.
    NonFinite,
    /// Three dots, or their character.
    Ellipsis,
    /// Nothing but text.
    Words,
}

/// Literals of Python and JavaScript.
const LITERALS: &[(&str, &str)] = &[
    ("True", "true"),
    ("False", "false"),
    ("None", "null"),
    ("Null", "null"),
    ("undefined", "null"),
    ("TRUE", "true"),
    ("FALSE", "false"),
    ("NULL", "null"),
];

const NON_FINITE: &[&str] = &[
    "NaN",
    "nan",
    "Infinity",
    "+Infinity",
    "-Infinity",
    "inf",
    "-inf",
    "+inf",
    "-NaN",
];

/// Classifies a token without white space around it.
pub(super) fn meaning(token: &str) -> Meaning {
    if matches!(token, "true" | "false" | "null") || number::is_strict(token) {
        return Meaning::Strict;
    }
    if let Some((_, strict)) = LITERALS.iter().find(|(word, _)| *word == token) {
        return Meaning::Literal(strict);
    }
    if NON_FINITE.contains(&token) {
        return Meaning::NonFinite;
    }
    if matches!(token, "..." | "…") {
        return Meaning::Ellipsis;
    }
    match number_form(token) {
        Some((text, risk)) => Meaning::Number(text, risk),
        None => Meaning::Words,
    }
}

/// `+5`, `.5`, `5.`, `007`, `0xFF`, `1_000`.
fn number_form(token: &str) -> Option<(String, Risk)> {
    let digits = token.as_bytes();
    let has_digit_around = |at: usize| {
        let digit = |at: Option<usize>| {
            at.and_then(|at| digits.get(at))
                .is_some_and(u8::is_ascii_hexdigit)
        };
        digit(at.checked_sub(1)) && digit(Some(at + 1))
    };
    let underscores_are_inside = token.match_indices('_').all(|(at, _)| has_digit_around(at));
    if !underscores_are_inside {
        return None;
    }
    let plain = token.replace('_', "");
    if let Some(hex) = plain
        .strip_prefix("0x")
        .or_else(|| plain.strip_prefix("0X"))
    {
        return u64::from_str_radix(hex, 16)
            .ok()
            .map(|value| (value.to_string(), Risk::Lossless));
    }
    let number = number::respelled(&plain)?;
    let risk = match (
        number.is_octal_like,
        plain.trim_start_matches(['+', '-']).starts_with("00") || has_leading_zero(&plain),
    ) {
        (true, _) => Risk::Guess,
        (false, true) => Risk::Inferred,
        (false, false) => Risk::Lossless,
    };
    Some((number.text, risk))
}

/// The letters with which a string of Python in single quotes begins.
pub(super) fn python_string(text: &str) -> Option<&str> {
    let quote = text.bytes().take(3).position(|byte| byte == b'\'')?;
    let prefix = text.get(..quote)?;
    PYTHON_PREFIXES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(prefix))
        .then_some(prefix)
}

const PYTHON_PREFIXES: &[&str] = &["u", "b", "r", "f", "rb", "br", "fr", "rf"];

fn has_leading_zero(text: &str) -> bool {
    let mut bytes = text.trim_start_matches(['+', '-']).bytes();
    bytes.next() == Some(b'0') && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

/// Whether a number token keeps its zeros only as a string.
pub(super) fn is_zero_padded(token: &str) -> bool {
    has_leading_zero(token) && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a literal, or begins to be one and breaks off.
pub(super) fn is_literal(token: &str) -> bool {
    matches!(
        meaning(token),
        Meaning::Strict | Meaning::Literal(_) | Meaning::NonFinite
    ) || completed(token).is_some()
}

/// Whether a text of this one token alone is a number or literal that breaks off.
pub(super) fn is_broken_off(token: &str) -> bool {
    let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && token.ends_with(['.', 'e', 'E', '+', '-'])
        && longest_number(token).is_some_and(|number| {
            token.get(number.len()..).is_some_and(|rest| {
                matches!(
                    rest,
                    "." | "e" | "E" | "e+" | "e-" | "E+" | "E-" | ".e" | ".E"
                )
            })
        });
    is_number
        || completed(token).is_some_and(|word| word != token && meaning(token) == Meaning::Words)
}

/// The literal that a token at the very end of a text began to spell.
pub(super) fn completed(token: &str) -> Option<&'static str> {
    const ALL: &[(&str, &str)] = &[
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
        ("True", "true"),
        ("False", "false"),
        ("None", "null"),
    ];
    (!token.is_empty()).then(|| {
        ALL.iter()
            .find(|(word, _)| word.starts_with(token))
            .map(|(_, strict)| *strict)
    })?
}

/// The longest strict number at the start of a token.
pub(super) fn longest_number(token: &str) -> Option<&str> {
    number::strict_length(token.as_bytes())
        .or_else(|| {
            let trimmed = token.trim_end_matches(['.', 'e', 'E', '+', '-']);
            number::strict_length(trimmed.as_bytes())
        })
        .and_then(|length| token.get(..length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_mean_what_they_say() {
        let number = |text: &str, risk| Meaning::Number(text.to_owned(), risk);
        for (token, want) in [
            ("true", Meaning::Strict),
            ("1e400", Meaning::Strict),
            ("True", Meaning::Literal("true")),
            ("-Infinity", Meaning::NonFinite),
            ("...", Meaning::Ellipsis),
            ("+5", number("5", Risk::Lossless)),
            (".5", number("0.5", Risk::Lossless)),
            ("0xFF", number("255", Risk::Lossless)),
            ("1_000_000", number("1000000", Risk::Lossless)),
            ("007", number("7", Risk::Inferred)),
            ("01234", number("1234", Risk::Guess)),
            ("10.0.0.1", Meaning::Words),
            ("60*60*12", Meaning::Words),
            ("2024-10-18", Meaning::Words),
            ("7f3a-99", Meaning::Words),
            ("_5", Meaning::Words),
        ] {
            assert_eq!(meaning(token), want, "{token}");
        }
        assert_eq!(completed("tru"), Some("true"));
        assert_eq!(completed("Fal"), Some("false"));
        assert_eq!(completed("x"), None);
        assert_eq!(longest_number("12."), Some("12"));
        assert_eq!(longest_number("3e"), Some("3"));
        assert_eq!(longest_number("1.5e+"), Some("1.5"));
        assert_eq!(longest_number("-"), None);
    }
}
