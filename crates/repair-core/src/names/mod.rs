//! Tool names: from what the model emitted to the one tool that is meant.

pub(crate) mod fold;
mod near;
mod resolve;
mod rules;

pub(crate) use near::{is_slip, similarity};
pub(crate) use resolve::{Index, Resolution, Tools};
pub(crate) use rules::RULES;
