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
//! | `reader` | the walk over the text, and what of it comes out when |
//! | `prose`, `turns` | where a place stands: prose, code, a quotation; who speaks |
//! | `trigger`, `search` | with what a call may begin; the search for it |
//! | `told` | what earlier calls say about later ones |
//! | `attempts`, `paused` | when to look again, and from where |
//! | `pending` | calls that depend on what follows them |
//! | `format` | the table of formats: adding one is adding an entry |
//! | `section` | markers, one call after another, closing markers |
//! | `envelope`, `python`, `tags`, `elements`, `pairs`, `named`, `marked` | a reader for each family of formats |
//! | `body` | how far the JSON of a call goes |
//! | `values`, `literal` | values as models print them: JSON, Python and between |
//! | `typing`, `tools` | what the schema says about a raw text; which names are tools |
//! | `cursor`, `printed` | looking at a text that may still grow; a call as it was printed |
//! | `deltas` | streamed call deltas |
#![deny(clippy::disallowed_methods)]

mod attempts;
mod body;
mod cursor;
mod deltas;
mod elements;
mod envelope;
mod format;
mod literal;
mod loops;
mod marked;
mod named;
mod options;
mod pairs;
mod paused;
mod pending;
mod printed;
mod prose;
mod python;
mod quotation;
mod reader;
mod search;
mod section;
mod tags;
mod told;
mod tools;
mod trigger;
mod turns;
mod typing;
mod values;

pub use deltas::{CallDelta, DeltaAssembler};
pub use format::rules;
pub use options::{Mode, ReadOptions};
pub use reader::{CallReader, Part, Piece, Reading, read_calls};
