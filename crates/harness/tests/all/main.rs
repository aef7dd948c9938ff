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

const fn crosses_threads<T: Send + Sync>() {}

const _: () = {
    crosses_threads::<harness::Conversation>();
    crosses_threads::<harness::CallRun>();
    crosses_threads::<harness::Step>();
    crosses_threads::<harness::Answer>();
    crosses_threads::<harness::Event>();
    crosses_threads::<harness::SavedRun>();
};
