//! The fixes of a repaired call, rendered when they are read.
//!
//! A call may have a thousand fixes that nobody looks at; a path and two excerpts for each would
//! cost more than the repair.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::arguments::{Edit, Step};
use crate::fix::{EXCERPT, Fix, push_excerpt};
use crate::json::arena::{KEY_SIDE, SIDE};
use crate::json::emit::{Originals, emit_value};
use crate::json::lenient::TextFix;
use crate::json::pointer::push_segment;
use crate::json::{Arena, Buffer, Kind, NodeId};
use crate::rule::{Risk, Rule};

/// The fixes of a repaired call, in the order of the pipeline: reading, name, text, arguments.
///
/// They are rendered on first use. Serialises as a list of [`Fix`]es.
#[derive(Clone, Default)]
pub struct Fixes<'a> {
    /// Boxed, because a verdict is moved more often than its fixes are read.
    source: Option<Box<Source<'a>>>,
    rendered: OnceLock<Vec<Fix>>,
}

/// What fixes are rendered from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source<'a> {
    /// Fixes of the reading, complete.
    pub(crate) head: Vec<Fix>,
    pub(crate) name: Option<NameFix<'a>>,
    pub(crate) text: TextFixes,
    /// The document with the steps applied.
    pub(crate) arena: Arena<'a>,
    pub(crate) root: NodeId,
    pub(crate) steps: Vec<Step>,
}

/// What was done to the name.
#[derive(Clone, Debug)]
pub(crate) struct NameFix<'a> {
    pub(crate) rule: &'static Rule,
    /// The risk under the policy.
    pub(crate) risk: Risk,
    pub(crate) emitted: Cow<'a, str>,
    pub(crate) tool: Arc<str>,
}

impl NameFix<'_> {
    pub(crate) fn render(&self) -> Fix {
        Fix::new(self.rule, "", &self.emitted, &self.tool).with_risk(self.risk)
    }

    fn into_owned(self) -> NameFix<'static> {
        NameFix {
            emitted: Cow::Owned(self.emitted.into_owned()),
            ..self
        }
    }
}

/// Fixes of the text with what they show of it, so that neither text is kept for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextFixes {
    /// The offset in the emitted text, and the fix with its ranges in `shown`.
    fixes: Vec<(usize, TextFix)>,
    shown: String,
}

impl TextFixes {
    pub(crate) fn new(fixes: &[TextFix], emitted: &str, strict: &str) -> Self {
        if fixes.is_empty() {
            return Self::default();
        }
        let length = |range: &Range<usize>| range.len().min(EXCERPT + 8);
        let lengths = fixes
            .iter()
            .map(|fix| length(&fix.before) + length(&fix.after));
        let mut shown = String::with_capacity(lengths.sum());
        let mut show = |text: &str, range: &Range<usize>| {
            let start = shown.len();
            push_excerpt(text.get(range.clone()).unwrap_or_default(), &mut shown);
            start..shown.len()
        };
        let fixes = fixes
            .iter()
            .map(|fix| {
                let in_shown = TextFix {
                    before: show(emitted, &fix.before),
                    after: show(strict, &fix.after),
                    ..*fix
                };
                (fix.before.start, in_shown)
            })
            .collect();
        Self { fixes, shown }
    }

    fn render(&self) -> impl Iterator<Item = Fix> + '_ {
        self.fixes
            .iter()
            .map(|(offset, fix)| render_text_fix(fix, &self.shown, &self.shown).at_offset(*offset))
    }
}

impl<'a> Fixes<'a> {
    pub(crate) fn new(source: Source<'a>) -> Self {
        Self {
            source: Some(Box::new(source)),
            rendered: OnceLock::new(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fixes.
    pub fn iter(&self) -> std::slice::Iter<'_, Fix> {
        let render = || self.source.as_ref().map(|source| source.render());
        self.rendered
            .get_or_init(|| render().unwrap_or_default())
            .iter()
    }

    /// The same with owned texts.
    pub fn into_owned(self) -> Fixes<'static> {
        let source = match self.rendered.get() {
            Some(_) => None,
            None => self.source,
        };
        Fixes {
            source: source.map(|source| Box::new(source.into_owned())),
            rendered: self.rendered,
        }
    }
}

impl<'f> IntoIterator for &'f Fixes<'_> {
    type Item = &'f Fix;
    type IntoIter = std::slice::Iter<'f, Fix>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Fixes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Fixes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Fixes<'_> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fixes = Vec::deserialize(deserializer)?;
        Ok(Fixes {
            source: None,
            rendered: OnceLock::from(fixes),
        })
    }
}

impl Source<'_> {
    fn into_owned(self) -> Source<'static> {
        Source {
            head: self.head,
            name: self.name.map(NameFix::into_owned),
            text: self.text,
            arena: self.arena.into_owned(),
            root: self.root,
            steps: self.steps,
        }
    }

    pub(crate) fn render(&self) -> Vec<Fix> {
        let mut fixes = self.head.clone();
        fixes.extend(self.name.as_ref().map(NameFix::render));
        fixes.extend(self.text.render());
        if self.steps.is_empty() {
            return fixes;
        }
        let steps: Vec<Step> = self.steps.iter().flat_map(|step| step.singly()).collect();
        let paths = self.paths(&steps);
        let originals = Originals::of(&self.arena);
        fixes.extend(
            steps
                .iter()
                .map(|step| self.render_step(*step, &originals, &paths)),
        );
        fixes
    }

    fn render_step(
        &self,
        step: Step,
        originals: &Originals<'_>,
        paths: &HashMap<NodeId, String>,
    ) -> Fix {
        let arena = &self.arena;
        let node = target(step.edit);
        let original = originals.node(arena, node);
        let value = |from: u32| {
            arena.slice(
                if original.has(SIDE) {
                    Buffer::Side
                } else {
                    Buffer::Source
                },
                from,
                original.end,
            )
        };
        let key = || {
            arena.slice(
                if original.has(KEY_SIDE) {
                    Buffer::Side
                } else {
                    Buffer::Source
                },
                original.key_start,
                original.key_end,
            )
        };
        let (before, after) = match step.edit {
            Edit::Content { .. } | Edit::Unquote { .. } => {
                (value(original.start), emit_value(arena, originals, node))
            }
            Edit::Drop { .. } => (value(original.key_start), String::new()),
            Edit::Rename { .. } => (key(), arena.key_token(node).to_owned()),
            Edit::Insert { .. } => ("", emit_value(arena, originals, node)),
        };
        let path = paths.get(&node).map_or("", String::as_str);
        Fix::new(step.rule, path, before, &after).with_risk(step.risk)
    }

    /// The path of every node that a step changed.
    fn paths(&self, steps: &[Step]) -> HashMap<NodeId, String> {
        let wanted: std::collections::HashSet<NodeId> =
            steps.iter().map(|step| target(step.edit)).collect();
        let mut paths = HashMap::new();
        self.collect_paths(self.root, &mut String::new(), &wanted, &mut paths);
        // What was put in and changed again stands where it was put.
        for step in steps.iter().rev() {
            if let Edit::Content { node, with } = step.edit
                && let Some(path) = paths.get(&node).cloned()
            {
                paths.entry(with).or_insert(path);
            }
        }
        paths
    }

    fn collect_paths(
        &self,
        id: NodeId,
        path: &mut String,
        wanted: &std::collections::HashSet<NodeId>,
        paths: &mut HashMap<NodeId, String>,
    ) {
        if wanted.contains(&id) {
            paths.insert(id, path.clone());
        }
        let arena = &self.arena;
        let node = arena.node(id);
        if !node.kind.is_container() {
            return;
        }
        for (index, child) in arena.all_children(id).enumerate() {
            let length = path.len();
            match node.kind {
                Kind::Object => push_segment(path, &arena.key(child)),
                _ => push_segment(path, &index.to_string()),
            }
            self.collect_paths(child, path, wanted, paths);
            path.truncate(length);
        }
    }
}

/// The node that an edit is about.
fn target(edit: Edit) -> NodeId {
    match edit {
        Edit::Content { node, .. } | Edit::Unquote { first: node, .. } => node,
        Edit::Drop { member, .. } | Edit::Rename { member, .. } => member,
        Edit::Insert { value, .. } => value,
    }
}

/// Renders a fix of the text. Its place is an offset: the text had no paths yet.
pub(crate) fn render_text_fix(fix: &TextFix, emitted: &str, strict: &str) -> Fix {
    let before = emitted.get(fix.before.clone()).unwrap_or_default();
    let after = strict.get(fix.after.clone()).unwrap_or_default();
    Fix::new(fix.rule, "", before, after)
        .with_risk(fix.risk)
        .at_offset(fix.before.start)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Policy, RawCall, ToolSet, ToolSpec, Verdict};

    /// Neighbours lose their quotes in one step, and have a fix each.
    #[test]
    fn every_value_that_loses_its_quotes_has_a_fix_of_its_own() {
        let lists = json!({"type": "array", "items": {"type": ["integer", "boolean"]}});
        let schema = json!({"type": "object", "properties": {"a": lists, "b": lists}});
        let (tools, _) = ToolSet::new([ToolSpec::new("f", schema)]);
        let text = r#"{"a": ["1", "2", 3, "4", "true", "false", "5"], "b": [ "-6" ,"7"]}"#;
        let raw = RawCall::new("f", text);
        let Verdict::Repaired(repaired) = tools.repair(&raw, &Policy::default()) else {
            panic!("{text} is not repaired");
        };
        let want = r#"{"a": [1, 2, 3, 4, true, false, 5], "b": [ -6 ,7]}"#;
        assert_eq!(repaired.call.arguments().text(), want);
        let fixes: Vec<(&str, &str, &str)> = repaired
            .fixes
            .iter()
            .map(|fix| (&*fix.path, &*fix.before, &*fix.after))
            .collect();
        let want = [
            ("/a/0", "\"1\"", "1"),
            ("/a/1", "\"2\"", "2"),
            ("/a/3", "\"4\"", "4"),
            ("/a/4", "\"true\"", "true"),
            ("/a/5", "\"false\"", "false"),
            ("/a/6", "\"5\"", "5"),
            ("/b/0", "\"-6\"", "-6"),
            ("/b/1", "\"7\"", "7"),
        ];
        assert_eq!(fixes, want);
    }
}
