//! JSON Patch (RFC 6902) over the text of arguments.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A change to the arguments that failed, as a list of operations in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch {
    operations: Vec<Operation>,
}

/// One operation. Paths are JSON Pointers; values are JSON texts, taken as they are spelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operation {
    /// Puts a value at a place: a new or another member, or a new item.
    Add {
        /// Where.
        path: String,
        /// What.
        value: String,
    },
    /// Takes a value away.
    Remove {
        /// Where.
        path: String,
    },
    /// Puts another value in the place of one.
    Replace {
        /// Where.
        path: String,
        /// What.
        value: String,
    },
    /// Takes a value away and puts it at a place.
    Move {
        /// From where.
        from: String,
        /// Where.
        path: String,
    },
    /// Puts a copy of a value at a place.
    Copy {
        /// From where.
        from: String,
        /// Where.
        path: String,
    },
    /// Fails unless a place holds this value.
    Test {
        /// Where.
        path: String,
        /// What.
        value: String,
    },
}

impl Patch {
    /// A patch of these operations.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self {
            operations: operations.into_iter().collect(),
        }
    }
}

impl fmt::Display for Patch {
    /// The operations as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.operations).map_err(|_| fmt::Error)?)
    }
}
