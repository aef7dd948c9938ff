//! The rules of this stage, and why each is safe.

use crate::rule::{Risk, Rule, Stage};

const fn rule(id: &'static str, risk: Risk, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Name, risk, cost, summary)
}

/// Safe: exactly one tool has this fold, and folding keeps every letter and digit.
pub(super) static NAME_FOLD: Rule = rule(
    "name_fold",
    Risk::Lossless,
    2,
    "the tool's name was spelled differently; use its exact name",
);
/// Safe: the whole name is unknown, and what is left after the affix is a tool's exact name or fold.
pub(super) static NAME_AFFIX: Rule = rule(
    "name_affix",
    Risk::Inferred,
    15,
    "the tool's name had a prefix or suffix; use its exact name",
);
/// Safe: the name is one tool's name and nothing else, several times.
pub(super) static NAME_REPEATED: Rule = rule(
    "name_repeated",
    Risk::Inferred,
    20,
    "the tool's name was repeated; use it once",
);
/// Safe: one segment is a tool, and the others say nothing about which.
pub(super) static NAME_SEGMENT: Rule = rule(
    "name_segment",
    Risk::Inferred,
    25,
    "the tool's name stood in a path; use its exact name",
);
/// Safe: a single letter is wrong, no other tool is near, no word of the name means something else,
/// and the arguments fit.
pub(super) static NAME_SLIP: Rule = rule(
    "name_slip",
    Risk::Inferred,
    40,
    "the tool's name was misspelt; use its exact name",
);

/// Every rule of this stage.
pub(crate) static RULES: &[&Rule] = &[
    &NAME_FOLD,
    &NAME_AFFIX,
    &NAME_REPEATED,
    &NAME_SEGMENT,
    &NAME_SLIP,
];
