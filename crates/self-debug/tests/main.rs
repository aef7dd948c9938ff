//! One binary: linking is what costs.

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
