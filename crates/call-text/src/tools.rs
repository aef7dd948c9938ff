//! The declared tools, as far as reading asks for them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use repair_core::{ToolSet, ToolSpec};
use serde_json::Value;

use crate::options::Mode;
use crate::printed::clean_name;
use crate::values::Bare;

/// What a reader of calls needs to know beside the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'c> {
    pub(crate) tools: &'c ToolSet,
    pub(crate) mode: Mode,
    /// Whether brackets before the place may be open around it.
    pub(crate) may_be_inside: bool,
    /// Whether names of no tool count too: to tell how far a call goes that is none of ours.
    pub(crate) any_name: bool,
}

/// Longest name that is looked up, in bytes.
pub(crate) const MAX_NAME: usize = 128;

impl<'c> Context<'c> {
    pub(crate) fn is_expected(&self) -> bool {
        self.mode == Mode::Expected
    }

    /// What may stand without quotes in a printed call.
    pub(crate) fn bare(&self) -> Bare {
        if self.is_expected() {
            Bare::Words
        } else {
            Bare::Literals
        }
    }

    /// Whether a printed name means a tool.
    pub(crate) fn resolves(&self, name: &str) -> bool {
        resolves(self.tools, name)
    }

    /// Whether a tool has exactly this name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.spec(name).is_some()
    }

    /// Whether a printed name counts.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.any_name && is_name(name) || self.resolves(name)
    }

    /// Whether a printed name counts where it must be exact.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.any_name && is_name(name) || self.has_tool(name)
    }

    /// The schema of the tool that a printed name means.
    pub(crate) fn schema(&self, name: &str) -> Option<&'c Value> {
        let resolved = self.tools.resolve_name(name)?;
        self.tools.spec(resolved).and_then(ToolSpec::schema)
    }

    /// The names of the tool's arguments, in the order of the schema.
    pub(crate) fn parameters(&self, name: &str) -> Vec<&'c str> {
        let properties = self
            .schema(name)
            .and_then(|schema| schema.get("properties"))
            .and_then(Value::as_object);
        properties
            .into_iter()
            .flat_map(|properties| properties.keys().map(String::as_str))
            .collect()
    }
}

fn resolves(tools: &ToolSet, name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && tools.resolve_name(name).is_some()
}

/// Whether a word may be the name of a tool.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= MAX_NAME && word.chars().all(is_part_of_name)
}

/// Whether a character may be part of the name of a tool.
pub(crate) fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/".contains(c)
}

/// Which words of a text mean tools: code calls the same few functions again and again.
#[derive(Debug, Default)]
pub(crate) struct KnownWords(HashMap<Box<str>, bool, BuildHasherDefault<WordHasher>>);

/// A hash for a few short words. Whoever makes words collide gets no more than the few that are
/// remembered.
#[derive(Debug, Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

impl KnownWords {
    /// Like [`Context::resolves`], of a word in Markdown.
    pub(crate) fn resolves(&mut self, word: &str, tools: &ToolSet) -> bool {
        const MAX_WORDS: usize = 256;
        if let Some(known) = self.0.get(word) {
            return *known;
        }
        let knows = resolves(tools, &clean_name(word));
        if self.0.len() >= MAX_WORDS {
            self.0.clear();
        }
        self.0.insert(word.into(), knows);
        knows
    }
}
