//! The machine under a simulated clock.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod approval;
mod budgets;
mod candidates;
mod classes;
mod driver;
mod repetition;
mod resume;
mod simulation;
