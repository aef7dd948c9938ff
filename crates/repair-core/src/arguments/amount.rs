//! Amounts written for a reader: `two hours`, `1.5 kg`, `1h 30m`, `a dozen`, `half`.

use crate::json::number;
use crate::units::{self, Dimension, Unit};

/// Longer texts are no amounts.
const LONGEST: usize = 48;
/// With a small `b` these may count bits.
const BITS: [&str; 4] = ["Kb", "Mb", "Gb", "Tb"];
/// Most digits behind the point of a converted number.
const MAX_DIGITS: u32 = 9;

/// A number, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio {
    over: i128,
    under: i128,
}

impl Ratio {
    const ZERO: Self = Self { over: 0, under: 1 };
    const ONE: Self = Self { over: 1, under: 1 };

    fn times(self, over: i128, under: i128) -> Option<Self> {
        Some(Self {
            over: self.over.checked_mul(over)?,
            under: self.under.checked_mul(under)?,
        })
    }

    fn plus(self, other: Self) -> Option<Self> {
        let left = self.over.checked_mul(other.under)?;
        let right = other.over.checked_mul(self.under)?;
        Some(Self {
            over: left.checked_add(right)?,
            under: self.under.checked_mul(other.under)?,
        })
    }

    fn is_below_one(self) -> bool {
        self.over < self.under
    }

    /// The exact decimal, if it has one.
    fn decimal(self) -> Option<String> {
        (0..=MAX_DIGITS).find_map(|digits| {
            let unit = 10_i128.checked_pow(digits)?;
            let scaled = self.over.checked_mul(unit)?;
            if scaled % self.under != 0 {
                return None;
            }
            let scaled = scaled / self.under;
            let whole = scaled / unit;
            Some(match digits {
                0 => whole.to_string(),
                _ => format!("{whole}.{:0width$}", scaled % unit, width = digits as usize),
            })
        })
    }
}

/// What a text says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    /// In the smallest unit of its dimension; without a unit, the number itself.
    number: Ratio,
    unit: Option<&'static Unit>,
    is_in_words: bool,
}

impl Amount {
    /// The number of `asked` units that it is, if it was not written as that number. Where no unit
    /// is asked for, only a number in words is one.
    pub(super) fn in_unit(&self, asked: Option<&Unit>) -> Option<String> {
        match (self.unit, asked) {
            (Some(unit), Some(asked)) if unit.dimension == asked.dimension => {
                self.number.times(1, asked.size)?.decimal()
            }
            (None, Some(asked))
                if asked.dimension == Dimension::Share && self.number.is_below_one() =>
            {
                self.number.times(100, asked.size)?.decimal()
            }
            (None, _) if self.is_in_words => self.number.decimal(),
            _ => None,
        }
    }
}

/// Reads a text that is an amount and nothing else; `asked` decides what `m` means.
pub(super) fn read(text: &str, asked: Option<&Unit>) -> Option<Amount> {
    let is_in_bits = |text: &str| BITS.iter().any(|unit| text.ends_with(unit));
    if text.len() > LONGEST || is_in_bits(text) {
        return None;
    }
    let lower = text.to_lowercase();
    let mut words = words_of(&lower)?.into_iter().peekable();
    let mut total = Amount {
        number: Ratio::ZERO,
        unit: None,
        is_in_words: false,
    };
    let mut is_first = true;
    let mut last: Option<&'static Unit> = None;
    loop {
        let first = words.peek().copied()?;
        let is_digits = first.starts_with(|c: char| c.is_ascii_digit());
        let number = if is_digits {
            words.next();
            in_digits(first)?
        } else {
            in_words(&mut words)?
        };
        total.is_in_words |= !is_digits;
        let unit = match words.next() {
            Some(word) => Some(unit_of(word, asked)?),
            // `a` alone is no number.
            None if matches!(first, "a" | "an") && number == Ratio::ONE => return None,
            None => None,
        };
        // `1 hour 30 minutes` is one amount, `1 hour 2 hours` is two.
        if !is_first && !matches!((last, unit), (Some(a), Some(b)) if b.is_part_of(a)) {
            return None;
        }
        (is_first, last) = (false, unit);
        let number = match unit {
            Some(unit) => number.times(unit.size, 1)?,
            None => number,
        };
        total.number = total.number.plus(number)?;
        total.unit = total.unit.or(unit);
        if words.peek() == Some(&"and") {
            words.next();
        } else if words.peek().is_none() {
            return Some(total);
        }
    }
}

/// Numbers and words; a number may touch its unit. `None` if the text holds anything else: a sign,
/// or the dash of a range.
fn words_of(text: &str) -> Option<Vec<&str>> {
    let mut words = Vec::new();
    for part in text.split(' ').filter(|part| !part.is_empty()) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            // `twenty-one`, `2-hour`.
            if first == '-' && rest.len() < part.len() {
                rest = rest.strip_prefix('-')?;
                if !rest.starts_with(char::is_alphabetic) {
                    return None;
                }
                continue;
            }
            let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
            let is_number = first.is_ascii_digit();
            let is_inside = |c: char| {
                if is_number {
                    is_digit(c)
                } else {
                    c.is_alphabetic() || c == '%'
                }
            };
            let end = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
            let (word, after) = rest
                .split_at_checked(end)
                .filter(|(word, _)| !word.is_empty())?;
            words.push(word);
            rest = after;
        }
    }
    Some(words)
}

/// The unit of a word; of several, the one of the asked dimension.
fn unit_of(word: &str, asked: Option<&Unit>) -> Option<&'static Unit> {
    let mut units = units::behind_number(word);
    let first = units.next()?;
    match units.next() {
        None => Some(first),
        Some(second) => [first, second]
            .into_iter()
            .find(|unit| asked.is_some_and(|asked| asked.dimension == unit.dimension)),
    }
}

fn in_digits(token: &str) -> Option<Ratio> {
    let plain = number::without_thousands(token).unwrap_or_else(|| token.to_owned());
    if !number::is_strict(&plain) {
        return None;
    }
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    Some(Ratio {
        over: format!("{whole}{fraction}").parse().ok()?,
        under: 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?,
    })
}

/// Abbreviations of words that multiply.
const SHORT_MULTIPLES: &[&str] = &["k", "mn", "mio", "mln", "bn", "billion", "trillion"];

/// Whether what stands behind a number multiplies it: `5 million` is not 5.
pub(super) fn multiplies(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    let is_multiple =
        |(known, ..): &(&str, i128, i128)| word.strip_suffix('s').unwrap_or(word) == *known;
    SHORT_MULTIPLES.contains(&word) || MULTIPLES.iter().any(is_multiple)
}

/// Words that count.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
];
const TENS: &[&str] = &[
    "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
/// Words that multiply: by how many, and of how many parts.
const MULTIPLES: &[(&str, i128, i128)] = &[
    ("couple", 2, 1),
    ("pair", 2, 1),
    ("dozen", 12, 1),
    ("hundred", 100, 1),
    ("thousand", 1_000, 1),
    ("million", 1_000_000, 1),
    ("half", 1, 2),
    ("quarter", 1, 4),
    ("quarters", 1, 4),
];

/// `twenty one`, `a couple of`, `half a dozen`: as many words as belong to the number.
fn in_words<'w>(words: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>) -> Option<Ratio> {
    let mut number: Option<Ratio> = None;
    let mut may_add = false;
    while let Some(word) = words.peek().copied() {
        if let Some(value) = counted(word) {
            number = Some(match number {
                None => Ratio {
                    over: value,
                    under: 1,
                },
                Some(tens) if may_add && value < 10 => tens.plus(Ratio {
                    over: value,
                    under: 1,
                })?,
                Some(_) => return None,
            });
            may_add = value >= 20;
        } else if let Some((_, over, under)) = MULTIPLES.iter().find(|(known, ..)| *known == word) {
            number = Some(number.unwrap_or(Ratio::ONE).times(*over, *under)?);
            may_add = false;
        } else if !matches!(word, "a" | "an" | "of") {
            break;
        } else if word != "of" {
            number.get_or_insert(Ratio::ONE);
        }
        words.next();
    }
    number
}

fn counted(word: &str) -> Option<i128> {
    let place = |list: &[&str]| list.iter().position(|known| *known == word);
    let small = place(SMALL).map(|at| at as i128);
    small.or_else(|| place(TENS).map(|at| (at as i128 + 3) * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str, key: &str) -> Option<String> {
        let asked = units::named_in_key(key).unit();
        read(text, asked)?.in_unit(asked)
    }

    #[test]
    fn amounts_are_told_in_the_asked_unit() {
        for (text, key, want) in [
            ("2 hours", "minutes", "120"),
            ("1.5 h", "minutes", "90"),
            ("two-hour", "minutes", "120"),
            ("1h 30m", "minutes", "90"),
            ("1 hour and 30 minutes", "seconds", "5400"),
            ("half an hour", "minutes", "30"),
            ("a quarter of an hour", "minutes", "15"),
            ("three weeks", "days", "21"),
            ("90 minutes", "hours", "1.5"),
            ("500ms", "timeout_seconds", "0.5"),
            ("3 km", "max_metres", "3000"),
            ("3 m", "length_cm", "300"),
            ("1,500 g", "weight_kg", "1.5"),
            ("5 kB", "min_bytes", "5000"),
            ("2 GiB", "bytes", "2147483648"),
            ("half", "percent", "50"),
            ("half", "share", "0.5"),
            ("three quarters", "percent", "75"),
            ("30%", "percent", "30"),
            ("a dozen", "limit", "12"),
            ("half a dozen", "limit", "6"),
            ("a couple of", "limit", "2"),
            ("twenty-one", "limit", "21"),
            ("two hundred", "limit", "200"),
        ] {
            assert_eq!(number(text, key).as_deref(), Some(want), "{text} as {key}");
        }
    }

    #[test]
    fn what_is_no_amount_or_not_exact_is_left_alone() {
        for (text, key) in [
            ("", "minutes"),
            ("a", "minutes"),
            ("hours", "minutes"),
            ("5", "minutes"),
            ("2 hours", "limit"),
            ("5 kg", "minutes"),
            ("5 days 3 kg", "hours"),
            ("-2 hours", "minutes"),
            ("5 Mb", "bytes"),
            ("-5 minutes", "minutes"),
            ("-30%", "percent"),
            ("1h-2h", "minutes"),
            ("1-2 hours", "minutes"),
            ("1 hour - 2 hours", "minutes"),
            ("5 days and 3 days", "hours"),
            ("30 minutes 1 hour", "minutes"),
            ("20 minutes", "hours"),
            ("five two", "limit"),
            ("two or three", "limit"),
            ("1.2.3", "limit"),
            ("2 hours ago", "minutes"),
            ("99999999999999999999999999999999999999 weeks", "ms"),
            ("half hearted", "percent"),
        ] {
            assert_eq!(number(text, key), None, "{text} as {key}");
        }
    }
}
