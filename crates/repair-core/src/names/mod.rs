//! Tool names: from what the model emitted to the one tool that is meant.

mod affix;
pub(crate) mod fold;
pub(crate) mod near;
mod resolve;
pub(crate) mod rules;
mod slip;
#[cfg(test)]
mod tests;

pub(crate) use resolve::{Index, NEAREST, Resolution, Tools};
