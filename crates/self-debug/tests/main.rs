//! One binary: linking is what costs.

mod audit;
mod endpoint;
mod harm;
mod loops;
mod observers;
mod server;
mod support;
