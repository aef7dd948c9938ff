//! Dates and times of day written for a reader: `5 March 2026`, `24.12.2025`, `3:15 pm`.

/// Longer texts are no dates.
const LONGEST: usize = 40;

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The date as `YYYY-MM-DD`, or the time as `HH:MM`, if the text has one reading and another form.
pub(super) fn restated(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let lower = text.trim().to_lowercase();
    let stated = date(&lower).or_else(|| time(&lower))?;
    (stated != text).then_some(stated)
}

fn date(text: &str) -> Option<String> {
    let (year, month, day) = in_digits(text).or_else(|| with_month(text))?;
    is_day(year, month, day).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Year first, or day and month where only one order is possible: dots put the day first.
fn in_digits(text: &str) -> Option<(u32, u32, u32)> {
    let separator = text.chars().find(|c| matches!(c, '.' | '/' | '-'))?;
    let parts: Vec<&str> = text.split(separator).collect();
    let [first, second, third] = parts.as_slice() else {
        return None;
    };
    if let Some(year) = number(first, 4) {
        return Some((year, number(second, 2)?, number(third, 2)?));
    }
    let (a, b, year) = (number(first, 2)?, number(second, 2)?, number(third, 4)?);
    if separator == '.' || a > 12 || a == b {
        Some((year, b, a))
    } else {
        (b > 12).then_some((year, a, b))
    }
}

fn with_month(text: &str) -> Option<(u32, u32, u32)> {
    let is_whole = text.starts_with(char::is_alphanumeric) && text.ends_with(char::is_alphanumeric);
    let parts: Vec<&str> = text
        .split([' ', ',', '.', '-'])
        .filter(|part| !part.is_empty() && *part != "of" && *part != "the")
        .collect();
    let [first, second, year] = parts.as_slice() else {
        return None;
    };
    let (month, day) = match (month_of(first), month_of(second)) {
        (None, Some(month)) => (month, day_of(first)?),
        (Some(month), None) => (month, day_of(second)?),
        _ => return None,
    };
    is_whole.then_some((number(year, 4)?, month, day))
}

/// A month by its name, or its first three letters at least.
fn month_of(word: &str) -> Option<u32> {
    let at = MONTHS
        .iter()
        .position(|month| word.len() >= 3 && month.starts_with(word))?;
    u32::try_from(at + 1).ok()
}

/// `5`, `1st`, `9th`.
fn day_of(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending));
    number(digits.unwrap_or(word), 2)
}

/// A number of `longest` digits, or fewer where two are the most.
fn number(text: &str, longest: usize) -> Option<u32> {
    let is_long_enough = text.len() == longest || (longest == 2 && text.len() == 1);
    (is_long_enough && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Whether the Gregorian calendar has the day.
fn is_day(year: u32, month: u32, day: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// `3 pm`, `3:15 p.m.`, `9:05`, `noon`.
fn time(text: &str) -> Option<String> {
    match text {
        "noon" | "midday" => return Some("12:00".to_owned()),
        "midnight" => return Some("00:00".to_owned()),
        _ => {}
    }
    let half = [("am", 0), ("a.m.", 0), ("pm", 12), ("p.m.", 12)]
        .iter()
        .find_map(|(ending, hours)| Some((text.strip_suffix(ending)?.trim_end(), hours)));
    let clock = half.map_or(text, |(clock, _)| clock);
    let (hour, minute) = match clock.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (number(hour, 2)?, number(minute, 2)?),
        None if half.is_some() => (number(clock, 2)?, 0),
        _ => return None,
    };
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some((_, hours)) => hour % 12 + hours,
        None => hour,
    };
    (hour < 24 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_with_one_reading() {
        for (text, want) in [
            ("5 March 2026", "2026-03-05"),
            ("5. March 2026", "2026-03-05"),
            ("July 9th, 2026", "2026-07-09"),
            ("the 1st of Feb 2027", "2027-02-01"),
            ("24.12.2025", "2025-12-24"),
            ("3.4.2025", "2025-04-03"),
            ("03/15/2026", "2026-03-15"),
            ("15/03/2026", "2026-03-15"),
            ("4/4/2026", "2026-04-04"),
            ("2026/3/5", "2026-03-05"),
            ("2026-3-5", "2026-03-05"),
            ("29 Feb 2024", "2024-02-29"),
            ("3:15 pm", "15:15"),
            ("3 p.m.", "15:00"),
            ("12 am", "00:00"),
            ("12:30 PM", "12:30"),
            ("9:05", "09:05"),
            ("noon", "12:00"),
        ] {
            assert_eq!(restated(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_has_none_or_several_readings_is_left_alone() {
        for text in [
            "",
            "2026-03-05",
            "15:15",
            "03/04/2026",
            "5 March",
            "31 April 2026",
            "29 Feb 2026",
            "5 Marchx 2026",
            "5 ma 2026",
            "tomorrow",
            "13 pm",
            "1.0 pm",
            "1.2 pm",
            "1 2:30",
            "3 pmpm",
            "25:00",
            "9:5",
            "5 March 26",
            "3/4/2026.",
            "3/4.2026",
            "-5 March 2026",
            "5 March 2026.",
            "1.1 pm",
            "1 1 pm",
            "1.2:30",
            "1:3 0",
            "1.2.3",
            "noonish",
            "3:15 pm on Monday",
        ] {
            assert_eq!(restated(text), None, "{text}");
        }
    }
}
