//! Arguments against the schema: a costed walk proposes, the judge decides.

mod amount;
mod choice;
mod explain;
mod moment;
mod object;
mod plan;
pub(crate) mod rules;
mod search;
mod solver;
mod value;
mod wrap;

pub(crate) use explain::explain;
pub(crate) use plan::{Edit, Step};
pub(crate) use search::{Dearer, Found, Proposal, Target, has_conflicting_keys, search};
