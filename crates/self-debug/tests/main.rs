//! One binary: linking is what costs.

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
