//! What the example programs share: a notebook and its tools, and an approver at the terminal.

pub mod approver;
pub mod notebook;
pub mod quickstart;
