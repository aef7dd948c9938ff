//! A tool's schema, compiled twice: the judge decides, the tree proposes.

mod choices;
pub(crate) mod compile;
mod containers;
mod discriminator;
pub(crate) mod judge;
pub(crate) mod normal;
mod parts;
pub(crate) mod tree;

pub(crate) use choices::Choices;
pub(crate) use judge::Judge;
pub(crate) use tree::{Place, Tree};
