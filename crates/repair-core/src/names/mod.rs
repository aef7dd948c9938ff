//! Tool names: from what the model emitted to the one tool that is meant.

pub(crate) mod fold;
mod resolve;
pub(crate) static RULES: &[&crate::Rule] = &[];

pub(crate) use resolve::Tools;
pub(crate) use resolve::{Index, NameFix, Resolution};
pub(crate) fn similarity(a: &str, b: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(a, b)
}
pub(crate) fn is_slip(a: &str, b: &str) -> bool {
    let d = strsim::osa_distance(a, b);
    (a.len() >= 6 && d == 1) || (a.len() >= 14 && d <= 2 && d > 0)
}
