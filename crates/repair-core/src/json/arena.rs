//! The arena: a JSON document as nodes with spans into its text.
//!
//! Nothing is copied while reading: a node knows where its token stands. Repairs change nodes in
//! place, and a log takes each change back, so that the judge sees every proposal without a copy
//! of the document and the writer can tell which bytes to replace.

use std::borrow::Cow;

use super::string;

/// Index of a node in its arena.
pub(crate) type NodeId = u32;

/// "No node": the end of a sibling chain, an empty container.
pub(crate) const NONE: NodeId = u32::MAX;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// Arrays and objects.
    #[inline]
    pub(crate) fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// Which text a span points into: what was read, or what a repair wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    Source,
    Side,
}

/// The value's span points into the side buffer.
pub(crate) const SIDE: u8 = 1;
/// The key's span points into the side buffer.
pub(crate) const KEY_SIDE: u8 = 1 << 1;
/// The string holds a backslash.
pub(crate) const ESCAPED: u8 = 1 << 2;
/// The key holds a backslash.
pub(crate) const KEY_ESCAPED: u8 = 1 << 3;
/// The member was taken out by a repair; it stays in the chain so that the writer can skip it.
pub(crate) const DROPPED: u8 = 1 << 4;
/// The node was put in by a repair and has no place in any text.
pub(crate) const INSERTED: u8 = 1 << 5;
/// The container was made by a repair and has no text of its own.
pub(crate) const SYNTHETIC: u8 = 1 << 6;

/// The log holds the node as it was before.
pub(crate) const CHANGED: u8 = 1 << 7;

/// Flags that belong to a value's content and move with it.
const CONTENT_FLAGS: u8 = SIDE | ESCAPED | SYNTHETIC;

/// One value, and its key where it is a member. 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// First byte of the token.
    pub(crate) start: u32,
    /// One past its last byte.
    pub(crate) end: u32,
    /// First byte of the key's token, its quote.
    pub(crate) key_start: u32,
    /// One past the key's closing quote; equal to `key_start` where there is no key.
    pub(crate) key_end: u32,
    /// The next sibling.
    pub(crate) next: NodeId,
    /// The first child of a container.
    pub(crate) first: NodeId,
    /// How many children a container has, dropped ones not counted.
    pub(crate) len: u32,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// A repair took the quotes off: they stand around the token.
    pub(crate) unquoted: bool,
}

impl Node {
    #[inline]
    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it stands where it was read, but for quotes that were taken off.
    #[inline]
    pub(super) fn is_in_place(self) -> bool {
        self.flags & (CHANGED | DROPPED | INSERTED) == 0
    }

    /// This node's place (key, sibling) with the content of `other`.
    fn with_content_of(self, other: Self) -> Self {
        Self {
            start: other.start,
            end: other.end,
            first: other.first,
            len: other.len,
            kind: other.kind,
            flags: (self.flags & !CONTENT_FLAGS) | (other.flags & CONTENT_FLAGS),
            ..self
        }
    }

    /// Puts the quotes back, if they were taken off.
    pub(super) fn quote(&mut self) {
        if self.unquoted {
            self.start = self.start.saturating_sub(1);
            self.end += 1;
            self.kind = Kind::String;
            self.unquoted = false;
        }
    }
}

/// A pair of members of one object with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub(crate) object: NodeId,
    pub(crate) earlier: NodeId,
    pub(crate) later: NodeId,
}

/// Nodes over a text, and what repairs changed in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena<'a> {
    pub(super) source: Cow<'a, str>,
    pub(super) side: String,
    pub(super) nodes: Vec<Node>,
    pub(super) duplicates: Vec<Duplicate>,
    log: Vec<(NodeId, Node)>,
    /// The first and the last node that repairs changed.
    touched: Option<(NodeId, NodeId)>,
}

impl<'a> Arena<'a> {
    /// An empty arena over `source`.
    pub(crate) fn over(source: Cow<'a, str>) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    /// The text that was read.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Gives the text back.
    pub(crate) fn into_source(self) -> Cow<'a, str> {
        self.source
    }

    pub(crate) fn into_owned(self) -> Arena<'static> {
        Arena {
            source: Cow::Owned(self.source.into_owned()),
            side: self.side,
            nodes: self.nodes,
            duplicates: self.duplicates,
            log: self.log,
            touched: self.touched,
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Members with the same key, in the order of the text.
    pub(crate) fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }

    #[inline]
    #[allow(clippy::indexing_slicing, reason = "ids come from `push` alone")]
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id as usize]
    }

    #[inline]
    #[allow(clippy::indexing_slicing, reason = "ids come from `push` alone")]
    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    pub(super) fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(node);
        id
    }

    /// The children that are there, dropped ones left out.
    #[inline]
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.all_children(id)
            .filter(|child| !self.node(*child).has(DROPPED))
    }

    /// The children, dropped ones among them.
    #[inline]
    pub(crate) fn all_children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = self.node(id).first;
        std::iter::from_fn(move || {
            let id = (next != NONE).then_some(next)?;
            next = self.node(id).next;
            Some(id)
        })
    }

    /// The first child, to be walked from with [`Self::sibling`] while new nodes are made.
    #[inline]
    pub(crate) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        Some(self.node(id).first).filter(|first| *first != NONE)
    }

    /// The next child of the same container.
    #[inline]
    pub(crate) fn sibling(&self, id: NodeId) -> Option<NodeId> {
        Some(self.node(id).next).filter(|next| *next != NONE)
    }

    /// Bytes `start..end` of a buffer.
    #[inline]
    pub(crate) fn slice(&self, buffer: Buffer, start: u32, end: u32) -> &str {
        let text = match buffer {
            Buffer::Source => &*self.source,
            Buffer::Side => &self.side,
        };
        text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The buffer of a node's value.
    #[inline]
    pub(crate) fn buffer(&self, id: NodeId) -> Buffer {
        if self.node(id).has(SIDE) {
            Buffer::Side
        } else {
            Buffer::Source
        }
    }

    /// The token of a value as it stands in its text; a repaired container shows its old text.
    #[inline]
    pub(crate) fn token(&self, id: NodeId) -> &str {
        let node = self.node(id);
        self.slice(self.buffer(id), node.start, node.end)
    }

    /// The token of a key, quotes included; empty where there is none.
    #[inline]
    pub(crate) fn key_token(&self, id: NodeId) -> &str {
        let node = self.node(id);
        let buffer = if node.has(KEY_SIDE) {
            Buffer::Side
        } else {
            Buffer::Source
        };
        self.slice(buffer, node.key_start, node.key_end)
    }

    /// The key, decoded.
    #[inline]
    pub(crate) fn key(&self, id: NodeId) -> Cow<'_, str> {
        let inner = self.inner_key(id);
        if self.node(id).has(KEY_ESCAPED) {
            string::decode(inner)
        } else {
            Cow::Borrowed(inner)
        }
    }

    /// The key without its quotes, as it stands in its text.
    #[inline]
    fn inner_key(&self, id: NodeId) -> &str {
        let node = self.node(id);
        let buffer = if node.has(KEY_SIDE) {
            Buffer::Side
        } else {
            Buffer::Source
        };
        self.slice(buffer, node.key_start + 1, node.key_end.saturating_sub(1))
    }

    /// Whether the key is `key`.
    #[inline]
    pub(crate) fn key_is(&self, id: NodeId, key: &str) -> bool {
        let node = self.node(id);
        if node.has(KEY_ESCAPED) {
            return self.key(id) == key;
        }
        let has_length = (node.key_end - node.key_start) as usize == key.len() + 2;
        has_length && self.inner_key(id) == key
    }

    /// The content of a string, decoded.
    #[inline]
    pub(crate) fn string(&self, id: NodeId) -> Cow<'_, str> {
        let node = self.node(id);
        let inner = self.slice(self.buffer(id), node.start + 1, node.end.saturating_sub(1));
        if node.has(ESCAPED) {
            string::decode(inner)
        } else {
            Cow::Borrowed(inner)
        }
    }

    /// The member of an object under `key`; the last one counts.
    pub(crate) fn member(&self, object: NodeId, key: &str) -> Option<NodeId> {
        let mut found = self
            .children(object)
            .filter(|child| self.key_is(*child, key));
        if self.duplicates.is_empty() {
            found.next()
        } else {
            found.last()
        }
    }

    // ---- making new nodes, without a place in the tree ----

    /// A new node whose token is the strict JSON `token`, a scalar.
    pub(crate) fn new_scalar(&mut self, kind: Kind, token: &str) -> NodeId {
        let (start, end) = self.append(token);
        let escaped = if kind == Kind::String && token.contains('\\') {
            ESCAPED
        } else {
            0
        };
        self.push(Node {
            start,
            end,
            key_start: 0,
            key_end: 0,
            next: NONE,
            first: NONE,
            len: 0,
            kind,
            flags: SIDE | INSERTED | escaped,
            unquoted: false,
        })
    }

    /// A new scalar whose token is the content of the string `string`.
    pub(crate) fn new_unquoted(&mut self, kind: Kind, string: NodeId) -> NodeId {
        let node = self.node(string);
        if node.has(ESCAPED) {
            let token = self.string(string).into_owned();
            return self.new_scalar(kind, &token);
        }
        self.push(Node {
            start: node.start + 1,
            end: node.end.saturating_sub(1),
            key_start: 0,
            key_end: 0,
            next: NONE,
            first: NONE,
            len: 0,
            kind,
            flags: (node.flags & SIDE) | INSERTED,
            unquoted: false,
        })
    }

    /// A new string node with the content `content`.
    pub(crate) fn new_string(&mut self, content: &str) -> NodeId {
        let mut token = String::with_capacity(content.len() + 2);
        string::encode(content, &mut token);
        self.new_scalar(Kind::String, &token)
    }

    /// A new container whose only child has the content of `child`, under `key` in an object.
    pub(crate) fn new_container(&mut self, kind: Kind, key: Option<&str>, child: NodeId) -> NodeId {
        let content = self.node(child);
        let inner = self.push(Node {
            key_start: 0,
            key_end: 0,
            next: NONE,
            flags: (content.flags & CONTENT_FLAGS) | INSERTED,
            unquoted: false,
            ..content
        });
        if let Some(key) = key {
            self.give_key(inner, key);
        }
        self.push(Node {
            start: 0,
            end: 0,
            key_start: 0,
            key_end: 0,
            next: NONE,
            first: inner,
            len: 1,
            kind,
            flags: SYNTHETIC | INSERTED,
            unquoted: false,
        })
    }

    /// A new object: for each member whose key to take, and whose content.
    pub(crate) fn new_object(&mut self, members: Vec<(NodeId, NodeId)>) -> NodeId {
        let (mut first, mut len) = (NONE, 0);
        for (key, content) in members.into_iter().rev() {
            let (key, content) = (self.node(key), self.node(content));
            first = self.push(Node {
                key_start: key.key_start,
                key_end: key.key_end,
                next: first,
                flags: (content.flags & CONTENT_FLAGS)
                    | (key.flags & (KEY_SIDE | KEY_ESCAPED))
                    | INSERTED,
                unquoted: false,
                ..content
            });
            len += 1;
        }
        self.push(Node {
            start: 0,
            end: 0,
            key_start: 0,
            key_end: 0,
            next: NONE,
            first,
            len,
            kind: Kind::Object,
            flags: SYNTHETIC | INSERTED,
            unquoted: false,
        })
    }

    /// A new empty container.
    pub(crate) fn new_empty(&mut self, kind: Kind) -> NodeId {
        let (start, end) = self.append(if kind == Kind::Array { "[]" } else { "{}" });
        self.push(Node {
            start,
            end,
            key_start: 0,
            key_end: 0,
            next: NONE,
            first: NONE,
            len: 0,
            kind,
            flags: SIDE | INSERTED,
            unquoted: false,
        })
    }

    /// Puts `text` at the end of the side buffer and says where.
    pub(crate) fn append(&mut self, text: &str) -> (u32, u32) {
        let start = u32::try_from(self.side.len()).unwrap_or(u32::MAX);
        self.side.push_str(text);
        (start, u32::try_from(self.side.len()).unwrap_or(u32::MAX))
    }

    fn give_key(&mut self, id: NodeId, key: &str) {
        let mut token = String::with_capacity(key.len() + 2);
        string::encode(key, &mut token);
        let (key_start, key_end) = self.append(&token);
        let node = self.node(id);
        let escaped = if token.contains('\\') { KEY_ESCAPED } else { 0 };
        self.write(
            id,
            Node {
                key_start,
                key_end,
                flags: (node.flags & !KEY_ESCAPED) | KEY_SIDE | escaped,
                ..node
            },
        );
    }

    // ---- logged changes ----

    /// Replaces the content of `id` by that of `other`, in its place.
    pub(crate) fn set_content(&mut self, id: NodeId, other: NodeId) {
        let node = self.node(id).with_content_of(self.node(other));
        self.set(id, node);
    }

    /// Takes the quotes off `count` strings without escapes, whose content is a scalar of this kind.
    pub(crate) fn unquote(&mut self, first: NodeId, count: u32, kind: Kind) {
        self.touch(first, first.saturating_add(count));
        for node in self.run(first, count) {
            node.start += 1;
            node.end = node.end.saturating_sub(1);
            node.kind = kind;
            node.unquoted = true;
        }
    }

    /// Takes that back. It is in no log: the nodes themselves know what they were.
    pub(crate) fn quote(&mut self, first: NodeId, count: u32) {
        self.run(first, count).iter_mut().for_each(Node::quote);
    }

    /// Nodes that stand one after another.
    fn run(&mut self, first: NodeId, count: u32) -> &mut [Node] {
        let first = first as usize;
        let run = self.nodes.get_mut(first..first + count as usize);
        run.unwrap_or_default()
    }

    /// Takes a member out of `object`.
    pub(crate) fn drop_member(&mut self, object: NodeId, member: NodeId) {
        let node = self.node(member);
        if node.has(DROPPED) {
            return;
        }
        // In the order of the text, in which the writer wants the log.
        let parent = self.node(object);
        self.set(
            object,
            Node {
                len: parent.len.saturating_sub(1),
                ..parent
            },
        );
        self.set(
            member,
            Node {
                flags: node.flags | DROPPED,
                ..node
            },
        );
    }

    /// Gives a member another key.
    pub(crate) fn rename(&mut self, member: NodeId, key: &str) {
        self.set(member, self.node(member));
        self.give_key(member, key);
    }

    /// Puts `value`, a node without a place, at the end of `object` under `key`.
    pub(crate) fn insert(&mut self, object: NodeId, key: &str, value: NodeId) {
        let node = self.node(value);
        self.set(
            value,
            Node {
                flags: node.flags | INSERTED,
                ..node
            },
        );
        self.give_key(value, key);
        let parent = self.node(object);
        let last = self.all_children(object).last();
        match last {
            Some(last) => {
                let node = self.node(last);
                self.set(
                    last,
                    Node {
                        next: value,
                        ..node
                    },
                );
                self.set(
                    object,
                    Node {
                        len: parent.len + 1,
                        ..parent
                    },
                );
            }
            None => self.set(
                object,
                Node {
                    first: value,
                    len: parent.len + 1,
                    ..parent
                },
            ),
        }
    }

    fn set(&mut self, id: NodeId, node: Node) {
        self.touch(id, id);
        self.log.push((id, self.node(id)));
        let flags = node.flags | CHANGED;
        self.write(id, Node { flags, ..node });
    }

    fn touch(&mut self, first: NodeId, last: NodeId) {
        let (from, to) = self.touched.unwrap_or((first, last));
        self.touched = Some((from.min(first), to.max(last)));
    }

    /// Whether nothing was changed in the container `id` of a text, behind which the node `next`
    /// stands, if any. Those in it are between the two.
    pub(super) fn is_untouched(&self, id: NodeId, next: NodeId) -> bool {
        self.touched
            .is_none_or(|(first, last)| last < id || next <= first)
    }

    fn write(&mut self, id: NodeId, node: Node) {
        *self.node_mut(id) = node;
    }

    /// Takes every logged change back.
    pub(crate) fn undo_all(&mut self) {
        while let Some((id, node)) = self.log.pop() {
            self.write(id, node);
        }
        self.touched = None;
    }

    /// The changes that stand, oldest first, each with the node as it was before.
    pub(crate) fn log(&self) -> &[(NodeId, Node)] {
        &self.log
    }
}
