//! Units of amounts, as calls and schemas name them.

use crate::words;

/// What units can be exchanged for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    Time,
    /// Months are of no fixed length.
    Month,
    Length,
    Mass,
    /// Pounds are no decimal number of grams.
    Pound,
    Data,
    /// Parts of a whole.
    Share,
}

/// A unit.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) dimension: Dimension,
    /// How many of the smallest unit of its dimension it is.
    pub(crate) size: i128,
    /// Its names. A plural may follow each.
    names: &'static [&'static str],
    /// Its symbols, which mean nothing else in a key.
    symbols: &'static [&'static str],
    /// Symbols that mean other things too (`min`, `m`): read behind a number only.
    short: &'static [&'static str],
}

const fn unit(
    dimension: Dimension,
    size: i128,
    names: &'static [&'static str],
    symbols: &'static [&'static str],
    short: &'static [&'static str],
) -> Unit {
    Unit {
        dimension,
        size,
        names,
        symbols,
        short,
    }
}

/// Times in milliseconds, lengths in tenths of a millimetre, masses in milligrams or ounces, data in
/// bytes, shares in percent.
#[rustfmt::skip]
static UNITS: &[Unit] = &[
    unit(Dimension::Time, 1, &["millisecond", "milli", "msec"], &["ms"], &[]),
    unit(Dimension::Time, 1_000, &["second", "sec"], &["secs"], &["s"]),
    unit(Dimension::Time, 60_000, &["minute"], &["mins"], &["min", "m"]),
    unit(Dimension::Time, 3_600_000, &["hour"], &["hrs"], &["h", "hr"]),
    unit(Dimension::Time, 86_400_000, &["day"], &[], &["d"]),
    unit(Dimension::Time, 604_800_000, &["week"], &[], &["w"]),
    unit(Dimension::Month, 1, &["month"], &["mths"], &[]),
    unit(Dimension::Month, 12, &["year"], &["yrs"], &["y", "yr"]),
    unit(Dimension::Length, 10, &["millimetre", "millimeter"], &["mm"], &[]),
    unit(Dimension::Length, 100, &["centimetre", "centimeter"], &["cm"], &[]),
    unit(Dimension::Length, 10_000, &["metre", "meter"], &[], &["m"]),
    unit(Dimension::Length, 10_000_000, &["kilometre", "kilometer"], &["km", "kms"], &[]),
    unit(Dimension::Length, 254, &["inch", "inche"], &[], &[]),
    unit(Dimension::Length, 3_048, &["foot", "feet"], &["ft"], &[]),
    unit(Dimension::Length, 9_144, &["yard"], &["yd", "yds"], &[]),
    unit(Dimension::Length, 16_093_440, &["mile"], &[], &["mi"]),
    unit(Dimension::Mass, 1, &["milligram"], &["mg"], &[]),
    unit(Dimension::Mass, 1_000, &["gram", "gramme"], &[], &["g"]),
    unit(Dimension::Mass, 1_000_000, &["kilogram", "kilo"], &["kg", "kgs"], &[]),
    unit(Dimension::Mass, 1_000_000_000, &["tonne"], &[], &["t"]),
    unit(Dimension::Pound, 1, &["ounce"], &["oz"], &[]),
    unit(Dimension::Pound, 16, &["pound"], &["lb", "lbs"], &[]),
    unit(Dimension::Data, 1, &["byte"], &[], &["b"]),
    unit(Dimension::Data, 1_000, &["kilobyte"], &["kb"], &[]),
    unit(Dimension::Data, 1_000_000, &["megabyte"], &["mb"], &[]),
    unit(Dimension::Data, 1_000_000_000, &["gigabyte"], &["gb"], &[]),
    unit(Dimension::Data, 1_000_000_000_000, &["terabyte"], &["tb"], &[]),
    unit(Dimension::Data, 1_024, &["kibibyte"], &["kib"], &[]),
    unit(Dimension::Data, 1_048_576, &["mebibyte"], &["mib"], &[]),
    unit(Dimension::Data, 1_073_741_824, &["gibibyte"], &["gib"], &[]),
    unit(Dimension::Data, 1_099_511_627_776, &["tebibyte"], &["tib"], &[]),
    unit(Dimension::Share, 1, &["percent", "percentage"], &["pct"], &["%"]),
];

impl Unit {
    fn is_named(&self, word: &str) -> bool {
        let singular = word.strip_suffix('s').unwrap_or(word);
        self.names
            .iter()
            .any(|name| *name == word || *name == singular)
            || self.symbols.contains(&word)
    }

    /// Whether it is a smaller unit of the same dimension.
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        self.dimension == other.dimension && self.size < other.size
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.dimension, self.size) == (other.dimension, other.size)
    }
}

/// The units that a lower-case word behind a number can mean: `m` is a metre or a minute.
pub(crate) fn behind_number(word: &str) -> impl Iterator<Item = &'static Unit> {
    UNITS
        .iter()
        .filter(move |unit| unit.is_named(word) || unit.short.contains(&word))
}

/// What a schema asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    Nothing,
    Unit(&'static Unit),
    /// A unit by a symbol that means other things too (`timeout_s`, `duration_min`).
    Short(&'static str),
}

impl Asked {
    pub(crate) fn unit(self) -> Option<&'static Unit> {
        match self {
            Self::Unit(unit) => Some(unit),
            Self::Nothing | Self::Short(_) => None,
        }
    }

    /// Whether a number before this lower-case word is the number that is asked for.
    pub(crate) fn admits(self, word: &str) -> bool {
        match self {
            Self::Nothing => true,
            Self::Unit(asked) => behind_number(word).any(|unit| unit.is_same(asked)),
            Self::Short(symbol) => behind_number(word).any(|unit| unit.short.contains(&symbol)),
        }
    }
}

/// The unit that a key asks for: its last word, or its first in the plural. A rate
/// (`price_per_kg`) asks for none.
pub(crate) fn named_in_key(key: &str) -> Asked {
    let words = words::tokens(key);
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Asked::Nothing;
    };
    if words.iter().any(|word| word == "per") {
        return Asked::Nothing;
    }
    let is_short = |symbol: &&&str| words.len() > 1 && **symbol == last;
    let short = || UNITS.iter().flat_map(|unit| unit.short).find(is_short);
    named(last)
        .or_else(|| named(first).filter(|_| first.ends_with('s')))
        .map(Asked::Unit)
        .or_else(|| short().map(|symbol| Asked::Short(symbol)))
        .unwrap_or(Asked::Nothing)
}

fn named(word: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.is_named(word))
}

/// The unit that a description asks for: all of it, or `in seconds`, `how many days`, `number of
/// bytes`. One that it only mentions is not asked for.
pub(crate) fn named_in_description(text: &str) -> Option<&'static Unit> {
    const MOST_WORDS: usize = 64;
    let mut words = words::tokens(text);
    words.truncate(MOST_WORDS);
    if let [word] = words.as_slice() {
        return named(word);
    }
    let mut asked = words.windows(3).filter_map(|three| match three {
        [before, article, unit] if before == "in" && article == "the" => named(unit),
        [_, before, unit] if before == "in" => named(unit),
        [how, before, unit] if how == "how" && before == "many" => named(unit),
        [number, before, unit] if number == "number" && before == "of" => named(unit),
        _ => None,
    });
    let at_start = match words.as_slice() {
        [before, unit, ..] if before == "in" => named(unit),
        _ => None,
    };
    let first = at_start.or_else(|| asked.next())?;
    asked.all(|other| other.is_same(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_asks_for_its_unit() {
        for (key, size) in [
            ("timeout_seconds", Some(1_000)),
            ("timeoutMs", Some(1)),
            ("minutes", Some(60_000)),
            ("max_metres", Some(10_000)),
            ("days_ahead", Some(86_400_000)),
            ("min_size", None),
            ("second_number", None),
            ("price_per_kg", None),
            ("hours_per_week", None),
            ("requests_per_minute", None),
            ("s", None),
            ("item", None),
            ("", None),
        ] {
            let unit = named_in_key(key).unit();
            assert_eq!(unit.map(|unit| unit.size), size, "{key}");
        }
        assert!(named_in_key("timeout_s").admits("seconds"));
        assert!(!named_in_key("timeout_s").admits("minutes"));
        assert!(named_in_key("duration_min").admits("minutes"));
        assert!(!named_in_key("duration_min").admits("hours"));
    }

    #[test]
    fn a_description_asks_for_a_unit_or_mentions_one() {
        for (text, size) in [
            ("milliseconds", Some(1)),
            ("how long to wait, in seconds", Some(1_000)),
            ("In hours.", Some(3_600_000)),
            ("in how many days", Some(86_400_000)),
            ("Number of bytes to read", Some(1)),
            ("How many posts of each day to show", None),
            ("A ratio, not a percentage", None),
            ("Interval; at most one hour", None),
            ("in days, not in weeks", None),
            ("", None),
        ] {
            let unit = named_in_description(text);
            assert_eq!(unit.map(|unit| unit.size), size, "{text}");
        }
    }

    #[test]
    fn a_short_symbol_may_mean_several_units() {
        assert_eq!(behind_number("m").count(), 2);
        assert_eq!(behind_number("kg").count(), 1);
        assert_eq!(behind_number("kgm").count(), 0);
    }
}
