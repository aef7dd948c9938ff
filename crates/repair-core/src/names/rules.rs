//! The rules of tool names.

use crate::rule::{Risk, Rule, Stage};

/// Case and separators carry no meaning in a name, and the fold must hit exactly one tool.
pub(crate) static FOLD: Rule = Rule::new(
    "name_fold",
    Stage::Name,
    Risk::Lossless,
    2,
    "the tool's name was written with other case or separators",
);

/// What is stripped says nothing about the tool, and what is left is a tool's whole name.
pub(crate) static AFFIX: Rule = Rule::new(
    "name_affix",
    Stage::Name,
    Risk::Inferred,
    20,
    "the tool's name had a prefix or suffix that does not belong to it",
);

/// Nothing but one tool's name, several times.
pub(crate) static REPEATED: Rule = Rule::new(
    "name_repeated",
    Stage::Name,
    Risk::Inferred,
    22,
    "the tool's name was written several times in a row",
);

/// One segment is a tool's whole name, and no other segment could be one.
pub(crate) static SEGMENT: Rule = Rule::new(
    "name_segment",
    Stage::Name,
    Risk::Inferred,
    25,
    "the tool's name was written as part of a path",
);

/// See `slip` for the conditions, which together leave one reading.
pub(crate) static SLIP: Rule = Rule::new(
    "name_slip",
    Stage::Name,
    Risk::Inferred,
    40,
    "the tool's name was misspelt",
);

/// All rules of this stage.
pub(crate) static RULES: &[&Rule] = &[&FOLD, &AFFIX, &REPEATED, &SEGMENT, &SLIP];
