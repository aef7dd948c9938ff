//! Number tokens, by their text: no value is ever rounded to decide about it.

use std::cmp::Ordering;

/// The length of the strict JSON number at the start of `bytes`, if there is one.
pub(crate) fn strict_length(bytes: &[u8]) -> Option<usize> {
    let whole = usize::from(bytes.first() == Some(&b'-'));
    let mut at = digits(bytes, whole);
    if at == whole || (at > whole + 1 && bytes.get(whole) == Some(&b'0')) {
        return None;
    }
    if bytes.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = digits(bytes, fraction);
        if at == fraction {
            return None;
        }
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(bytes, exponent);
        if at == exponent {
            return None;
        }
    }
    Some(at)
}

/// Where the digits end that begin at `at`.
#[inline]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Whether the whole of `text` is a strict JSON number.
pub(crate) fn is_strict(text: &str) -> bool {
    strict_length(text.as_bytes()) == Some(text.len())
}

/// A decimal number as sign, significant digits and the power of ten of the last of them.
/// Zero has no digits.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

/// Exponents beyond this are as good as infinite; no arithmetic on them may overflow.
const EXPONENT_LIMIT: i64 = 1 << 40;

fn decimal(token: &str) -> Decimal {
    let (negative, unsigned) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent
        .parse::<i64>()
        .unwrap_or(if exponent.starts_with('-') {
            -EXPONENT_LIMIT
        } else {
            EXPONENT_LIMIT
        })
        .clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT);
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let mut exponent = exponent - i64::try_from(fraction.len()).unwrap_or(0);
    while digits.last() == Some(&b'0') {
        digits.pop();
        exponent += 1;
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..zeros);
    if digits.is_empty() {
        return Decimal {
            negative: false,
            digits,
            exponent: 0,
        };
    }
    Decimal {
        negative,
        digits,
        exponent,
    }
}

/// Whether the number has no fractional part: `5`, `5.0`, `1e2`, `0e-3`, but not `1e-2`.
pub(crate) fn is_integral(token: &str) -> bool {
    let is_written_out = token
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_written_out {
        return true;
    }
    decimal(token).exponent >= 0
}

/// Whether two number tokens denote the same number.
pub(crate) fn equal(a: &str, b: &str) -> bool {
    a == b || decimal(a) == decimal(b)
}

/// The canonical spelling of a number: equal numbers have the same, of whatever size.
pub(crate) fn canonical(token: &str) -> String {
    let decimal = decimal(token);
    let sign = if decimal.negative { "-" } else { "" };
    let digits: String = decimal
        .digits
        .iter()
        .map(|digit| char::from(*digit))
        .collect();
    match (digits.is_empty(), decimal.exponent.cmp(&0)) {
        (true, _) => "0".to_owned(),
        (_, Ordering::Equal) => format!("{sign}{digits}"),
        _ => format!("{sign}{digits}e{}", decimal.exponent),
    }
}

/// The integer that an integral number spells with a fraction or an exponent, written out
/// (`5.0` -> `5`, `1e2` -> `100`); `None` where it would not fit 64 bits.
pub(crate) fn written_out(token: &str) -> Option<String> {
    let decimal = decimal(token);
    let zeros = usize::try_from(decimal.exponent)
        .ok()
        .filter(|zeros| *zeros <= 18)?;
    let sign = if decimal.negative { "-" } else { "" };
    let digits: String = decimal
        .digits
        .iter()
        .map(|digit| char::from(*digit))
        .collect();
    let text = if digits.is_empty() {
        "0".to_owned()
    } else {
        format!("{sign}{digits}{}", "0".repeat(zeros))
    };
    text.parse::<i64>().ok().map(|_| text)
}

/// A number in another spelling than JSON's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Respelled {
    /// The strict spelling.
    pub(crate) text: String,
    /// It had leading zeros, and as an octal number it would be another one.
    pub(crate) is_octal_like: bool,
}

/// Reads `+5`, `.5`, `5.`, `007` and everything strict; nothing else.
pub(crate) fn respelled(text: &str) -> Option<Respelled> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => ("-", text.get(1..)?),
        b'+' => ("", text.get(1..)?),
        _ => ("", text),
    };
    let whole_end = unsigned
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(unsigned.len());
    let (whole, tail) = unsigned.split_at(whole_end);
    let trimmed = whole.trim_start_matches('0');
    let had_zeros = whole.len() > 1 && trimmed.len() < whole.len();
    let (fraction, exponent) = match tail.find(['e', 'E']) {
        Some(at) => tail.split_at(at),
        None => (tail, ""),
    };
    if whole.is_empty() && fraction.len() < 2 {
        return None;
    }
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    let fraction = if fraction == "." { "" } else { fraction };
    let text = format!("{sign}{whole}{fraction}{exponent}");
    let is_octal_like = had_zeros && tail.is_empty() && trimmed.len() > 1;
    is_strict(&text).then_some(Respelled {
        text,
        is_octal_like,
    })
}

/// `1,234,567.8` without its commas.
pub(crate) fn without_thousands(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = unsigned.split('.').next()?;
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = (1..=3).contains(&first.len())
        && !rest.is_empty()
        && rest.iter().all(|group| group.len() == 3);
    let plain = text.replace(',', "");
    (is_grouped && is_strict(&plain)).then_some(plain)
}

/// The number before a unit: `5 kg`, `30%`.
pub(crate) fn without_unit(text: &str) -> Option<String> {
    let end = strict_length(text.as_bytes())?;
    let (token, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let is_unit = !unit.is_empty()
        && unit.len() <= 12
        && unit
            .chars()
            .all(|c| c.is_alphabetic() || "%°$€/".contains(c));
    is_unit.then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_numbers() {
        for good in [
            "0",
            "-0",
            "1",
            "10",
            "1.5",
            "1e2",
            "1E+2",
            "1.50e-10",
            "12345678901234567890123",
        ] {
            assert!(is_strict(good), "{good}");
        }
        for bad in [
            "", "-", "01", "+1", ".5", "5.", "1e", "1e+", "0x1", "1_0", "NaN", "1 ",
        ] {
            assert!(!is_strict(bad), "{bad}");
        }
    }

    #[test]
    fn integral_numbers() {
        for yes in [
            "5", "5.0", "1e2", "0e0", "0.0", "1.50e1", "-3.000", "1e400", "0e-3",
        ] {
            assert!(is_integral(yes), "{yes}");
        }
        for no in ["1.9", "1e-2", "15e-1", "0.1", "1e-99999999999999999999"] {
            assert!(!is_integral(no), "{no}");
        }
    }

    #[test]
    fn equality_is_by_value_and_canonical_form_agrees() {
        for (a, b) in [("1", "1.0"), ("100", "1e2"), ("0", "-0.0"), ("0.5", "5e-1")] {
            assert!(equal(a, b), "{a} {b}");
            assert_eq!(canonical(a), canonical(b));
        }
        for (a, b) in [
            ("1", "2"),
            ("1", "-1"),
            ("9007199254740993", "9007199254740992"),
            ("1e400", "1e401"),
        ] {
            assert!(!equal(a, b), "{a} {b}");
            assert_ne!(canonical(a), canonical(b));
        }
    }

    #[test]
    fn other_spellings() {
        let read = |text| respelled(text).map(|number| (number.text, number.is_octal_like));
        for (text, want) in [
            ("+5", "5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("007", "7"),
            ("0", "0"),
            ("-0.50", "-0.50"),
            ("1e5", "1e5"),
        ] {
            assert_eq!(read(text), Some((want.to_owned(), false)), "{text}");
        }
        assert_eq!(read("010"), Some(("10".to_owned(), true)));
        for bad in ["", "+", ".", "-", "1 2", "0x1", "5kg", "1_0", "--1", "+-1"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(
            without_thousands("1,234,567.8").as_deref(),
            Some("1234567.8")
        );
        assert_eq!(without_thousands("1,2"), None);
        assert_eq!(without_unit("5 kg").as_deref(), Some("5"));
        assert_eq!(without_unit("5"), None);
        assert_eq!(without_unit("12:30"), None);
    }

    #[test]
    fn written_out_integers() {
        assert_eq!(written_out("29356.0").as_deref(), Some("29356"));
        assert_eq!(written_out("1.5e1").as_deref(), Some("15"));
        assert_eq!(written_out("-2e3").as_deref(), Some("-2000"));
        assert_eq!(written_out("0.0").as_deref(), Some("0"));
        assert_eq!(written_out("1e400"), None);
        assert_eq!(written_out("1.5"), None);
    }
}
