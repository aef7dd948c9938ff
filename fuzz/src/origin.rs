//! Where a scalar came from. A text is compared letter by letter and digit by digit, so that any
//! number of encodings and quotes may lie between, but not one letter that the model did not write.

use serde_json::Value;

/// Longer texts are not compared: the comparison is quadratic.
const LONGEST: usize = 4096;

/// Whether a scalar is a value of an `enum` or `const` somewhere in the schema.
pub(crate) fn is_of_schema(scalar: &Value, schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(keyword, inner)| {
            (keyword == "const" && inner == scalar)
                || (keyword == "enum" && inner.as_array().is_some_and(|all| all.contains(scalar)))
                || is_of_schema(scalar, inner)
        }),
        Value::Array(items) => items.iter().any(|item| is_of_schema(scalar, item)),
        _ => false,
    }
}

/// Whether a scalar stands in a text, in some spelling.
pub(crate) fn is_of_text(scalar: &Value, text: &str) -> bool {
    if text.len() > LONGEST {
        return true;
    }
    let lower = || text.to_lowercase();
    match scalar {
        Value::String(content) => is_spelled(content, text),
        Value::Number(number) => is_number(number, text),
        Value::Bool(true) => ["true", "yes"].iter().any(|word| lower().contains(word)),
        Value::Bool(false) => ["false", "no"].iter().any(|word| lower().contains(word)),
        _ => ["null", "none", "undefined", "nil"]
            .iter()
            .any(|word| lower().contains(word)),
    }
}

/// A number, by its value or by its digits.
fn is_number(number: &serde_json::Number, text: &str) -> bool {
    let is_same = |other: f64| {
        let other = other.clamp(f64::MIN, f64::MAX);
        number
            .as_f64()
            .is_some_and(|double| (double - other).abs() == 0.0)
    };
    let hexadecimal = |token: &str| {
        let digits: String = token.chars().filter(char::is_ascii_hexdigit).collect();
        u64::from_str_radix(&digits, 16).ok()
    };
    let digits = number.to_string();
    let digits = digits
        .trim_start_matches(['-', '0', '.'])
        .trim_end_matches(['0', '.']);
    let is_zero = digits.is_empty() && text.contains('0');
    is_zero
        || (!digits.is_empty() && is_spelled(digits, text))
        || text
            .split(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)))
            .filter_map(|token| token.parse().ok())
            .any(is_same)
        // Rounded as the value was.
        || text
            .replace('_', "")
            .split(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)))
            .filter_map(|token| serde_json::from_str(token).ok())
            .any(is_same)
        || text
            .split("0x")
            .chain(text.split("0X"))
            .skip(1)
            .filter_map(|rest| {
                let end = rest
                    .find(|c: char| !(c.is_ascii_hexdigit() || c == '_'))
                    .unwrap_or(rest.len());
                hexadecimal(rest.get(..end)?)
            })
            .any(|other| number.as_u64() == Some(other) || number.as_i64() == Some(-(other as i64)))
}

/// Whether the letters and digits of `content` stand in `text` in one row, with nothing but marks
/// and escapes between them.
fn is_spelled(content: &str, text: &str) -> bool {
    let wanted: Vec<char> = content.chars().filter(|c| c.is_alphanumeric()).collect();
    let text: Vec<char> = text.chars().collect();
    // Where in the text the next wanted character may stand.
    let mut open = vec![true; text.len() + 1];
    for wanted in wanted {
        let mut next = vec![false; text.len() + 1];
        let mut is_open = false;
        for at in 0..text.len() {
            // A mark may be stepped over, and so may an escape.
            is_open = open[at] || is_open && at > 0 && !text[at - 1].is_alphanumeric();
            open[at] = is_open;
            if !is_open {
                continue;
            }
            if text[at] == wanted {
                next[at + 1] = true;
            }
            if text[at] == '\\' {
                for (length, character) in escapes(&text[at..]) {
                    match character {
                        Some(character) if character == wanted => next[at + length] = true,
                        Some(character) if character.is_alphanumeric() => {}
                        _ => open[at + length] = true,
                    }
                }
            }
        }
        open = next;
    }
    open.contains(&true)
}

/// What a backslash at the start may stand for: how long it is, and for which character.
fn escapes(text: &[char]) -> Vec<(usize, Option<char>)> {
    let mut found = Vec::new();
    let Some(letter) = text.get(1) else {
        return found;
    };
    if letter.is_alphanumeric() {
        found.push((2, None));
    }
    let unit = |at: usize, digits: usize| {
        let hex: String = text.get(at..at + digits)?.iter().collect();
        u32::from_str_radix(&hex, 16).ok()
    };
    if *letter == 'x' && unit(2, 2).is_some() {
        found.push((4, None));
    }
    if *letter == 'u'
        && let Some(high) = unit(2, 4)
    {
        found.push((6, char::from_u32(high)));
        if let (Some('\\'), Some('u'), Some(low)) = (text.get(6), text.get(7), unit(8, 4))
            && (0xD800..0xDC00).contains(&high)
            && (0xDC00..0xE000).contains(&low)
        {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            found.push((12, char::from_u32(code)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spelling_looks_through_encodings_and_nothing_else() {
        for (content, text, is_there) in [
            ("a b", r#"{"x": "a b"}"#, true),
            ("a\nb", r#"{"x": "a\nb"}"#, true),
            ("a\nb", r#"{\"x\": \"a\\nb\"}"#, true),
            ("é1", r#"{"x": "\u00e91"}"#, true),
            ("𝒳", r#"{"x": "\ud835\udcb3"}"#, true),
            ("nab", r#"{"x": "\nab"}"#, true),
            ("ab", r#"{"x": "a", "y": "b"}"#, false),
            ("abc", r#"{"x": "ab"}"#, false),
        ] {
            assert_eq!(is_spelled(content, text), is_there, "{content:?} {text}");
        }
    }

    #[test]
    fn numbers_are_found_by_value_and_by_digits() {
        for (number, text, is_there) in [
            (json!(5), "{\"a\": \"5.0\"}", true),
            (json!(1000), "1,000", true),
            (json!(255), "0xFF", true),
            (json!(0.5), ".5", true),
            (json!(100), "1e2", true),
            (json!(7), "{\"a\": 8}", false),
        ] {
            assert_eq!(is_of_text(&number, text), is_there, "{number} {text}");
        }
    }
}
