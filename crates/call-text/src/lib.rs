//! Tool calls that a model printed as text, and call deltas of a stream.
//!
//! This crate does no I/O, has no async, and reads no clock, environment or randomness. It finds
//! calls and hands on the text of their arguments as the model wrote it; making them right is
//! `repair-core`'s business.
//!
//! Whole text and stream are one implementation: [`read_calls`] pushes the whole text into a
//! [`CallReader`], and any other way of cutting the text gives the same calls and the same
//! remaining text.
//!
//! | where | what |
//! |---|---|
//! | `reader` | the walk over the text: prose, code, reasoning, and where a call may begin |
//! | `format` | the table of formats: adding one is adding an entry |
//! | `active` | a call being read, until it is one or is not |
//! | `extent`, `envelope` | where a JSON value ends; name and arguments in it |
//! | `deltas` | streamed call deltas |
//!
//! Three formats are there so far: Hermes `<tool_call>`, fenced JSON and bare JSON.
#![deny(clippy::disallowed_methods)]

mod active;
mod deltas;
mod envelope;
mod extent;
mod format;
mod options;
mod reader;

pub use deltas::{CallDelta, DeltaAssembler};
pub use format::rules;
pub use options::{Mode, ReadOptions};
pub use reader::{CallReader, Piece, Reading, read_calls};
