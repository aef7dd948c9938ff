//! The values of an `enum` or a `const`, indexed, because some tools list a hundred thousand.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;

use crate::json::{Arena, Kind, NodeId, equal};
use crate::names::fold;

/// Allowed values, in the order of the schema.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    values: Vec<Value>,
    /// The strings among them, by content.
    strings: HashMap<Box<str>, u32>,
    /// Where those stand that are no strings.
    others: Vec<u32>,
    /// The strings by fold, made when one is first asked for; `None` where several share a fold.
    folds: OnceLock<HashMap<Box<str>, Option<u32>>>,
}

impl Choices {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        let mut choices = Self::default();
        for (value, at) in values.iter().zip(0..) {
            match value {
                Value::String(text) => {
                    choices.strings.entry(text.as_str().into()).or_insert(at);
                }
                _ => choices.others.push(at),
            }
        }
        choices.values = values;
        choices
    }

    /// All of them.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value, if there is only one.
    pub(crate) fn only(&self) -> Option<&Value> {
        match self.values.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether a node is one of them.
    pub(crate) fn allow(&self, arena: &Arena<'_>, node: NodeId) -> bool {
        match arena.node(node).kind {
            Kind::String => self.has_string(&arena.string(node)),
            _ => self
                .others()
                .any(|value| equal::node_equals_value(arena, node, value)),
        }
    }

    /// Whether a string is one of them.
    pub(crate) fn has_string(&self, text: &str) -> bool {
        /// So few are sooner compared than hashed.
        const FEW: usize = 8;
        if self.values.len() <= FEW {
            self.strings().any(|known| known == text)
        } else {
            self.strings.contains_key(text)
        }
    }

    /// Those that are strings.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter_map(Value::as_str)
    }

    /// Those that are no strings.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Value> {
        self.others
            .iter()
            .filter_map(|at| self.values.get(*at as usize))
    }

    /// The one string whose fold is that of `text`.
    pub(crate) fn folded(&self, text: &str) -> Option<&str> {
        let folds = self.folds.get_or_init(|| {
            let mut folds: HashMap<Box<str>, Option<u32>> = HashMap::new();
            for (value, at) in self.values.iter().zip(0..) {
                if let Value::String(text) = value {
                    folds
                        .entry(fold::key(text).into())
                        .and_modify(|known| *known = None)
                        .or_insert(Some(at));
                }
            }
            folds
        });
        let at = (*folds.get(fold::key(text.trim()).as_str())?)?;
        self.values.get(at as usize)?.as_str()
    }

    /// Those that are allowed by every list.
    pub(crate) fn common<'s>(mut lists: impl Iterator<Item = &'s [Value]>) -> Option<Vec<Value>> {
        let mut common = Cow::Borrowed(lists.next()?);
        for list in lists {
            let known: std::collections::HashSet<String> =
                list.iter().map(Value::to_string).collect();
            common
                .to_mut()
                .retain(|value| known.contains(&value.to_string()));
        }
        Some(common.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn choices(values: &Value) -> Choices {
        Choices::new(values.as_array().unwrap().clone())
    }

    #[test]
    fn a_fold_hits_one_string_or_none() {
        let known = choices(&json!(["in_progress", "Done", "a b", "a_b", 5, null]));
        assert_eq!(known.folded(" In-Progress "), Some("in_progress"));
        assert_eq!(known.folded("DONE"), Some("Done"));
        assert_eq!(known.folded("A-B"), None);
        assert_eq!(known.folded("other"), None);
        assert!(known.has_string("Done") && !known.has_string("done"));
        assert_eq!(
            known.others().collect::<Vec<_>>(),
            [&json!(5), &Value::Null]
        );
    }

    #[test]
    fn lists_are_intersected_in_the_order_of_the_first() {
        let lists = [json!(["c", "a", 1]), json!([1, "b", "c"])];
        let lists = lists.iter().map(|list| list.as_array().unwrap().as_slice());
        assert_eq!(Choices::common(lists), Some(vec![json!("c"), json!(1)]));
        assert_eq!(Choices::common(std::iter::empty()), None);
    }
}
