//! One binary: linking is what costs.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at what it did not expect"
)]

mod audit;
mod audit_kill;
#[cfg(feature = "openai")]
mod endpoint;
mod harm;
mod loops;
#[cfg(feature = "mcp")]
mod mcp;
mod observers;
#[cfg(feature = "openai")]
mod server;
mod support;
