//! A tool's schema, compiled twice: the judge decides, the tree proposes.

pub(crate) mod compile;
pub(crate) mod judge;
pub(crate) mod normal;
pub(crate) mod tree;

pub(crate) use judge::Judge;
pub(crate) use tree::{Place, Tree};
