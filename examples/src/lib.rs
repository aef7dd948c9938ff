//! What the example programs share: a notebook and its tools.

pub mod notebook;
pub mod quickstart;
