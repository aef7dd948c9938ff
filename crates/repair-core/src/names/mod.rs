//! Tool names: from what the model emitted to the one tool that is meant.

pub(crate) mod fold;
mod resolve;

pub(crate) use resolve::{Index, NameFix, Resolution};
