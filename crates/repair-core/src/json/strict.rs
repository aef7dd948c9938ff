//! The strict reader: RFC 8259 and nothing else, into the arena, without recursion.

use std::borrow::Cow;
use std::collections::HashMap;

use super::arena::{Duplicate, ESCAPED, KEY_ESCAPED, KEY_SIDE, SIDE};
use super::attempt::{Attempt, StrictString};
use super::{Arena, Buffer, Kind, NONE, Node, NodeId, scan, string};

/// Why a text is not strict JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrictError {
    /// Not JSON from this byte on.
    Syntax(usize),
    /// Containers nest deeper than allowed.
    TooDeep(usize),
}

impl<'a> Arena<'a> {
    /// Reads `text`; returns the arena and its root. Linear in the text.
    pub(crate) fn read(
        text: Cow<'a, str>,
        max_depth: usize,
    ) -> Result<(Self, NodeId), StrictError> {
        Self::read_written(text, &[], max_depth)
    }

    /// Reads a text that was written with these strings, which are not read again.
    pub(crate) fn read_written(
        text: Cow<'a, str>,
        strings: &[StrictString],
        max_depth: usize,
    ) -> Result<(Self, NodeId), StrictError> {
        let mut arena = Self::over(text);
        let source = std::mem::take(&mut arena.source);
        let mut reader = Reader::new(&mut arena, &source, 0, Buffer::Source);
        reader.known_strings = strings;
        let root = reader.run(max_depth);
        arena.source = source;
        Ok((arena, root?))
    }

    /// Reads `text`; if it is not strict, says what was found out about it.
    pub(crate) fn attempt(
        text: Cow<'a, str>,
        max_depth: usize,
    ) -> Result<(Self, NodeId), (StrictError, Attempt)> {
        let mut arena = Self::over(text);
        let source = std::mem::take(&mut arena.source);
        let mut reader = Reader::new(&mut arena, &source, 0, Buffer::Source);
        match reader.run(max_depth) {
            Ok(root) => {
                arena.source = source;
                Ok((arena, root))
            }
            Err(error) => Err((error, reader.into_attempt())),
        }
    }

    /// Reads bytes `start..end` of the side buffer as a document of their own, to be put into this
    /// one by a repair.
    pub(crate) fn read_side(
        &mut self,
        start: u32,
        end: u32,
        max_depth: usize,
    ) -> Result<NodeId, StrictError> {
        let side = std::mem::take(&mut self.side);
        let nodes = self.nodes.len();
        let duplicates = self.duplicates.len();
        let text = side.get(start as usize..end as usize).unwrap_or_default();
        let result = Reader::new(self, text, start, Buffer::Side).run(max_depth);
        if result.is_err() {
            self.nodes.truncate(nodes);
            self.duplicates.truncate(duplicates);
        }
        self.side = side;
        result
    }
}

/// Reads the value at `start`, whether it is strict or not.
pub(crate) fn attempt_value(text: &str, start: usize, max_depth: usize) -> Attempt {
    let mut arena = Arena::default();
    let base = u32::try_from(start).unwrap_or(u32::MAX);
    let text = text.get(start..).unwrap_or_default();
    let mut reader = Reader::new(&mut arena, text, base, Buffer::Source);
    // The attempt says how it went.
    let _ = reader.document(max_depth);
    reader.into_attempt()
}

/// A set of the bytes that keys hash to. Keys that differ mostly have different ones, and then
/// they need no comparison.
#[derive(Default)]
struct Fingerprints([u64; 4]);

impl Fingerprints {
    /// Adds a key; true if another one has its fingerprint.
    fn add(&mut self, key: &[u8]) -> bool {
        let mixed = scan::fingerprint(key) >> 56;
        let bit = 1 << (mixed % 64);
        let Some(word) = self.0.get_mut((mixed / 64) as usize) else {
            return true;
        };
        let is_known = *word & bit != 0;
        *word |= bit;
        is_known
    }
}

struct Reader<'r, 'a> {
    arena: &'r mut Arena<'a>,
    text: &'r str,
    bytes: &'r [u8],
    at: usize,
    /// Where the text stands in its buffer.
    base: u32,
    /// How many nodes the arena held before.
    known: usize,
    value_flags: u8,
    key_flags: u8,
    /// The container that is open, or [`NONE`]. While it is, its node holds the container around
    /// it as the next sibling: a stack without a list.
    open: NodeId,
    /// It is an object.
    in_object: bool,
    /// How many children it has so far.
    len: u32,
    /// The value that was read last.
    last: NodeId,
    depth: usize,
    /// The key of the value that is read next.
    key: (u32, u32, u8),
    /// Strings that are not read again, in the order of the text.
    known_strings: &'r [StrictString],
    /// Where the string starts that the text ends in.
    open_string: Option<usize>,
}

impl<'r, 'a> Reader<'r, 'a> {
    fn new(arena: &'r mut Arena<'a>, text: &'r str, base: u32, buffer: Buffer) -> Self {
        let (value_flags, key_flags) = match buffer {
            Buffer::Source => (0, 0),
            Buffer::Side => (SIDE, KEY_SIDE),
        };
        Self {
            known: arena.nodes.len(),
            arena,
            text,
            bytes: text.as_bytes(),
            at: 0,
            base,
            value_flags,
            key_flags,
            open: NONE,
            in_object: false,
            len: 0,
            last: NONE,
            depth: 0,
            key: (0, 0, 0),
            known_strings: &[],
            open_string: None,
        }
    }

    fn run(&mut self, max_depth: usize) -> Result<NodeId, StrictError> {
        let root = NodeId::try_from(self.arena.nodes.len()).unwrap_or(NONE);
        self.document(max_depth)?;
        if self.at == self.bytes.len() {
            Ok(root)
        } else {
            Err(StrictError::Syntax(self.at))
        }
    }

    /// Reads one value and the white space around it.
    fn document(&mut self, max_depth: usize) -> Result<(), StrictError> {
        match self.values(max_depth) {
            Some(()) if self.depth > max_depth => Err(StrictError::TooDeep(self.at)),
            Some(()) => Ok(()),
            None => Err(StrictError::Syntax(self.at)),
        }
    }

    /// The same, but only up to a container that nests too deep. `None`, as from all that follow,
    /// where the text is no JSON from the cursor on.
    fn values(&mut self, max_depth: usize) -> Option<()> {
        loop {
            let first = if self.in_object {
                self.member_key()?
            } else {
                self.next()
            };
            if self.depth > max_depth {
                return Some(());
            }
            if self.value(first)? {
                continue;
            }
            loop {
                let next = self.next();
                if self.open == NONE {
                    return Some(());
                }
                match (next, self.in_object) {
                    (b',', _) => break self.comma(),
                    (b'}', true) | (b']', false) => self.close(),
                    _ => return None,
                }
            }
        }
    }

    fn into_attempt(self) -> Attempt {
        let nodes = self.arena.nodes.get(self.known..).unwrap_or_default();
        let base = self.base as usize;
        let start = scan::skip_space(self.bytes, 0);
        let strings = nodes.iter().filter(|node| node.kind == Kind::String);
        let strings = strings.map(|node| StrictString {
            start: node.start as usize,
            end: node.end as usize,
        });
        let strings = strings.filter(|string| string.is_long());
        let root = nodes.first().filter(|_| self.open == NONE);
        Attempt {
            start: base + start,
            end: root.map(|root| root.end as usize),
            read: base + self.at,
            strings: strings.collect(),
            open: self.open_string.map(|open| base + open),
        }
    }

    /// Steps over white space. Returns the byte behind it, or a NUL at the end.
    #[inline]
    fn next(&mut self) -> u8 {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return *byte,
                None => return 0,
            }
        }
    }

    fn place(&self, at: usize) -> u32 {
        self.base + u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// Reads the value that begins with this byte, or the opening of a container that is not empty;
    /// true for the latter.
    fn value(&mut self, first: u8) -> Option<bool> {
        let start = self.at;
        let (kind, flags) = match first {
            b'"' => (Kind::String, self.string_value()?),
            b'{' => return Some(self.container(Kind::Object, b'}')),
            b'[' => return Some(self.container(Kind::Array, b']')),
            b't' => (self.literal("true", Kind::True)?, 0),
            b'f' => (self.literal("false", Kind::False)?, 0),
            b'n' => (self.literal("null", Kind::Null)?, 0),
            b'-' | b'0'..=b'9' => {
                self.number()?;
                (Kind::Number, 0)
            }
            _ => return None,
        };
        self.push(kind, start, self.at, flags);
        Some(false)
    }

    /// Opens a container, or reads an empty one; true for the former.
    fn container(&mut self, kind: Kind, closer: u8) -> bool {
        let id = self.push(kind, self.at, self.at, 0);
        self.at += 1;
        if self.next() == closer {
            self.at += 1;
            let end = self.place(self.at);
            self.arena.node_mut(id).end = end;
            return false;
        }
        let (around, siblings) = (self.open, self.len);
        let node = self.arena.node_mut(id);
        (node.next, node.first) = (around, id.saturating_add(1));
        if around != NONE {
            self.arena.node_mut(around).len = siblings;
        }
        self.enter(id, kind, 0);
        self.depth += 1;
        true
    }

    /// Goes on in a container that has so many children.
    fn enter(&mut self, container: NodeId, kind: Kind, len: u32) {
        self.open = container;
        self.in_object = kind == Kind::Object;
        self.len = len;
    }

    /// Steps over a comma: the next value is the sibling of the last one.
    fn comma(&mut self) {
        self.at += 1;
        let next = NodeId::try_from(self.arena.nodes.len()).unwrap_or(NONE);
        self.arena.node_mut(self.last).next = next;
    }

    fn close(&mut self) {
        self.at += 1;
        let (id, end) = (self.open, self.place(self.at));
        let node = self.arena.node_mut(id);
        (node.end, node.len) = (end, self.len);
        let around = std::mem::replace(&mut node.next, NONE);
        if self.in_object && self.may_repeat(id) {
            find_duplicates(self.arena, self.text, self.base, id);
        }
        self.last = id;
        self.depth -= 1;
        self.open = around;
        if around != NONE {
            let node = self.arena.node(around);
            self.enter(around, node.kind, node.len);
        }
    }

    /// Whether two keys of an object may be the same.
    fn may_repeat(&self, object: NodeId) -> bool {
        let mut seen = Fingerprints::default();
        self.arena.all_children(object).any(|child| {
            let node = self.arena.node(child);
            let start = (node.key_start - self.base) as usize + 1;
            let end = (node.key_end - self.base) as usize - 1;
            let key = self.bytes.get(start..end).unwrap_or_default();
            seen.add(key) || node.has(KEY_ESCAPED)
        })
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, flags: u8) -> NodeId {
        let (key_start, key_end, key_flags) = std::mem::take(&mut self.key);
        let (start, end) = (self.place(start), self.place(end));
        let flags = flags | self.value_flags | key_flags;
        if self.arena.nodes.len() == self.arena.nodes.capacity() {
            self.make_room();
        }
        self.last = self.arena.push(Node {
            start,
            end,
            key_start,
            key_end,
            next: NONE,
            first: NONE,
            len: 0,
            kind,
            flags,
            unquoted: false,
        });
        self.len += 1;
        self.last
    }

    /// Reserves nodes for the rest of the text, so that a large document is neither copied often
    /// nor held twice.
    #[inline(never)]
    fn make_room(&mut self) {
        let length = self.arena.nodes.len();
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let read = length.saturating_sub(self.known);
        let expected = if read < MANY {
            // As densely as they stood so far. The first room is what an allocator hands out
            // fastest, a KiB.
            let expected = read.saturating_mul(rest.len()) / self.at.max(8);
            (expected + expected / 16).clamp(length / 2 + 32, length * 3 + 32)
        } else {
            // None takes less than two bytes.
            let ahead = most_values(rest, self.depth).min(rest.len() / 2) + 2;
            ahead + ahead / 16
        };
        self.arena.nodes.reserve_exact(expected);
    }

    /// Steps over a key and its colon; returns the first byte of its value.
    fn member_key(&mut self) -> Option<u8> {
        if self.next() != b'"' {
            return None;
        }
        let start = self.at;
        let escaped = self.string()?;
        let flags = self.key_flags | if escaped { KEY_ESCAPED } else { 0 };
        self.key = (self.place(start), self.place(self.at), flags);
        if self.next() != b':' {
            return None;
        }
        self.at += 1;
        Some(self.next())
    }

    /// Steps over the string of a value; returns its flags.
    fn string_value(&mut self) -> Option<u8> {
        if let [known, later @ ..] = self.known_strings
            && known.start == self.at
        {
            debug_assert_eq!(
                string::strict_end(self.text, known.start + 1),
                string::StrictEnd::Quote(known.end - 1)
            );
            self.known_strings = later;
            self.at = known.end;
            // Perhaps: who decodes it will see.
            return Some(ESCAPED);
        }
        Some(if self.string()? { ESCAPED } else { 0 })
    }

    /// Steps over a string; true if it holds an escape.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        let stop = scan::string_stop(self.bytes, self.at + 1);
        if self.bytes.get(stop) == Some(&b'"') {
            self.at = stop + 1;
            return Some(false);
        }
        self.escaped_string(stop)?;
        Some(true)
    }

    /// The same for a string that holds something else than plain characters, the first of it at `at`.
    #[inline(never)]
    fn escaped_string(&mut self, mut at: usize) -> Option<()> {
        loop {
            match self.bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Some(());
                }
                Some(b'\\') => {
                    let length = match self.bytes.get(at + 1) {
                        // Nearly all of them, first.
                        Some(b'n' | b'"' | b'\\') => Some(2),
                        _ => string::escape_length(self.text, at),
                    };
                    let Some(length) = length else {
                        self.at = at;
                        return None;
                    };
                    at = scan::string_stop(self.bytes, at + length);
                }
                other => {
                    if other.is_none() {
                        self.open_string = Some(self.at);
                    }
                    self.at = at;
                    return None;
                }
            }
        }
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Option<Kind> {
        let rest = self.bytes.get(self.at..)?;
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            Some(kind)
        } else {
            None
        }
    }

    fn number(&mut self) -> Option<()> {
        self.at += super::number::strict_length(self.bytes.get(self.at..)?)?;
        Some(())
    }
}

/// From so many nodes on their number is counted ahead.
const MANY: usize = 4096;

/// How many values begin in the rest of a strict value in which `depth` containers are open: behind
/// a comma or an opening bracket.
fn most_values(rest: &[u8], mut depth: usize) -> usize {
    let mut values = 0;
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        at += 1;
        match byte {
            b',' => values += 1,
            b'[' | b'{' => {
                values += 1;
                depth += 1;
            }
            b']' | b'}' if depth <= 1 => break,
            b']' | b'}' => depth -= 1,
            b'"' => at = behind_string(rest, at),
            _ => {}
        }
    }
    values
}

/// Where the string ends whose content begins at `from`.
fn behind_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        at = scan::quote_or_backslash(bytes, at);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            _ => return at + 1,
        }
    }
}

/// Objects up to this many members are compared pair by pair; larger ones through a hash map.
const PAIRWISE: u32 = 12;

/// Notes members of `object` that share a key. Called when an object closes of which two keys may
/// be the same: all its members point into `text`.
fn find_duplicates(arena: &mut Arena<'_>, text: &str, base: u32, object: NodeId) {
    let key = |node: Node| {
        let token = text
            .get((node.key_start - base) as usize..(node.key_end - base) as usize)
            .unwrap_or_default();
        let inner = string::unquoted(token);
        if node.has(KEY_ESCAPED) {
            string::decode(inner)
        } else {
            Cow::Borrowed(inner)
        }
    };
    let mut found = Vec::new();
    if arena.node(object).len <= PAIRWISE {
        for later in arena.all_children(object) {
            let late = arena.node(later);
            let mut earlier = None;
            for id in arena.all_children(object).take_while(|id| *id != later) {
                let early = arena.node(id);
                let same_length = late.key_end - late.key_start == early.key_end - early.key_start;
                let escaped = (late.flags | early.flags) & KEY_ESCAPED != 0;
                if (same_length || escaped) && key(early) == key(late) {
                    earlier = Some(id);
                }
            }
            if let Some(earlier) = earlier {
                found.push(Duplicate {
                    object,
                    earlier,
                    later,
                });
            }
        }
    } else {
        let members = arena.node(object).len as usize;
        let mut seen: HashMap<Cow<'_, str>, NodeId> = HashMap::with_capacity(members);
        for later in arena.all_children(object) {
            if let Some(earlier) = seen.insert(key(arena.node(later)), later) {
                found.push(Duplicate {
                    object,
                    earlier,
                    later,
                });
            }
        }
    }
    arena.duplicates.extend(found);
}
