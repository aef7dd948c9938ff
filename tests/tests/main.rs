//! Tests across crates: the case files and the promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod breakages;
mod dice;
mod field;
mod generate;
mod growth;
mod hostile;
mod json;
mod policy;
mod promises;
mod readings;
mod rules;
mod serialise;
mod source;
mod texts;
