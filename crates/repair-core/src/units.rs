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

/// The one unit that a key or a description names.
pub(crate) fn named_in(text: &str) -> Option<&'static Unit> {
    let words = words::tokens(text);
    let mut named = words
        .iter()
        .flat_map(|word| UNITS.iter().filter(|unit| unit.is_named(word)));
    let first = named.next()?;
    named.all(|other| other.is_same(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_unit() {
        for (text, size) in [
            ("timeout_seconds", Some(1_000)),
            ("timeoutMs", Some(1)),
            ("minutes", Some(60_000)),
            ("max_metres", Some(10_000)),
            ("how long to wait, in hours", Some(3_600_000)),
            ("min_size", None),
            ("from days to weeks", None),
            ("s", None),
            ("item", None),
        ] {
            assert_eq!(named_in(text).map(|unit| unit.size), size, "{text}");
        }
    }

    #[test]
    fn a_short_symbol_may_mean_several_units() {
        assert_eq!(behind_number("m").count(), 2);
        assert_eq!(behind_number("kg").count(), 1);
        assert_eq!(behind_number("kgm").count(), 0);
    }
}
