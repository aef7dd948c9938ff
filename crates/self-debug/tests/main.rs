//! One binary: linking is what costs.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at what it did not expect"
)]

mod audit;
mod audit_kill;
mod endpoint;
mod harm;
mod loops;
#[cfg(feature = "mcp")]
mod mcp;
mod observers;
mod server;
mod support;
