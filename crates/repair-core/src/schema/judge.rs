//! The judge: the `jsonschema` validator, reading the arena directly.
//!
//! Only `is_valid` is called: it is memoised, while the validator's error lists are exponential
//! in nested unions.

use std::borrow::Cow;
use std::collections::HashSet;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use serde_json::{Number, Value};

use crate::json::arena::DROPPED;
use crate::json::{Arena, Kind, NONE, NodeId, equal, node_to_value, number, to_number};

/// A compiled validator.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    validator: jsonschema::Validator<ArenaJson>,
    /// The schema as it was written, where that was made plain before: what it accepts is valid,
    /// too. (A null that two branches of a `oneOf` accept would otherwise be refused.)
    as_written: Option<jsonschema::Validator<ArenaJson>>,
}

impl Judge {
    /// Compiles a schema. Remote references are not fetched: they are an error here.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        Ok(Self {
            validator: Self::validator(schema)?,
            as_written: None,
        })
    }

    /// Compiles a schema that was made plain, and beside it the one that was written.
    pub(crate) fn compile_both(plain: &Value, written: &Value) -> Result<Self, String> {
        let mut judge = Self::compile(plain)?;
        if plain != written {
            judge.as_written = Self::validator(written).ok();
        }
        Ok(judge)
    }

    fn validator(schema: &Value) -> Result<jsonschema::Validator<ArenaJson>, String> {
        jsonschema::options_for::<ArenaJson>()
            .offline()
            .should_validate_formats(false)
            .build(schema)
            .map_err(|error| {
                let path = error.instance_path().to_string();
                if path.is_empty() {
                    error.to_string()
                } else {
                    format!("{error} (at {path} of the schema)")
                }
            })
    }

    /// Whether the document under `root` satisfies the schema.
    pub(crate) fn accepts(&self, arena: &Arena<'_>, root: NodeId) -> bool {
        let document = View { arena, id: root };
        self.validator.is_valid(document)
            || self
                .as_written
                .as_ref()
                .is_some_and(|as_written| as_written.is_valid(document))
    }
}

/// The arena as a representation for `jsonschema`.
pub(crate) struct ArenaJson;

#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    arena: &'a Arena<'a>,
    id: NodeId,
}

impl<'a> View<'a> {
    #[inline]
    fn children(self) -> Children<'a> {
        Children {
            arena: self.arena,
            next: self.arena.node(self.id).first,
        }
    }
}

/// The children of a container.
pub(crate) struct Children<'a> {
    arena: &'a Arena<'a>,
    next: NodeId,
}

impl<'a> Iterator for Children<'a> {
    type Item = View<'a>;

    #[inline]
    fn next(&mut self) -> Option<View<'a>> {
        let arena = self.arena;
        while self.next != NONE {
            let id = self.next;
            let node = arena.node(id);
            self.next = node.next;
            if !node.has(DROPPED) {
                return Some(View { arena, id });
            }
        }
        None
    }
}

/// The members of an object.
pub(crate) struct Members<'a>(Children<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, View<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let member = self.0.next()?;
        Some((member.arena.key(member.id), member))
    }
}

impl Json for ArenaJson {
    type Node<'a> = View<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Arena<'static>;

    const KEYS_PER_LOOKUP: usize = 4;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut Arena<'static>,
        string: &str,
        f: impl FnOnce(View<'_>) -> T,
    ) -> T {
        *buffer = Arena::default();
        let id = buffer.new_string(string);
        f(View { arena: buffer, id })
    }
}

impl<'a> Node<'a, ArenaJson> for View<'a> {
    type Object = Self;
    type Array = Self;
    type Number = Token<'a>;

    #[inline]
    fn as_object(&self) -> Option<Self> {
        (self.arena.node(self.id).kind == Kind::Object).then_some(*self)
    }

    #[inline]
    fn as_array(&self) -> Option<Self> {
        (self.arena.node(self.id).kind == Kind::Array).then_some(*self)
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.is_string().then(|| self.arena.string(self.id))
    }

    #[inline]
    fn as_number(&self) -> Option<Token<'a>> {
        self.is_number().then(|| Token(self.arena.token(self.id)))
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        match self.arena.node(self.id).kind {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.arena.node(self.id).kind == Kind::Null
    }

    #[inline]
    fn is_number(&self) -> bool {
        self.arena.node(self.id).kind == Kind::Number
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        match self.arena.node(self.id).kind {
            Kind::Null => JsonType::Null,
            Kind::False | Kind::True => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equal::node_equals_value(self.arena, self.id, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(node_to_value(self.arena, self.id))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::tagged(
            std::ptr::from_ref(self.arena) as usize,
            self.id,
        ))
    }
}

impl<'a> Object<'a, ArenaJson> for View<'a> {
    type Node = Self;
    type MemberName = Cow<'a, str>;
    type MembersIter = Members<'a>;

    /// Members of one key count once.
    #[inline]
    fn len(&self) -> usize {
        let again =
            self.arena.duplicates().iter().filter(|pair| {
                pair.object == self.id && !self.arena.node(pair.earlier).has(DROPPED)
            });
        (self.arena.node(self.id).len as usize).saturating_sub(again.count())
    }

    #[inline]
    #[allow(clippy::borrowed_box, reason = "the trait's signature")]
    fn get(&self, key: &Box<str>) -> Option<Self> {
        self.arena
            .member(self.id, key)
            .map(|id| Self { id, ..*self })
    }

    #[inline]
    fn members(&self) -> Members<'a> {
        Members(self.children())
    }
}

impl<'a> Array<'a, ArenaJson> for View<'a> {
    type Node = Self;
    type ElementsIter = Children<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.arena.node(self.id).len as usize
    }

    #[inline]
    fn elements(&self) -> Children<'a> {
        self.children()
    }

    fn is_unique(&self) -> bool {
        let mut seen = HashSet::new();
        self.arena
            .children(self.id)
            .all(|id| seen.insert(equal::canonical(self.arena, id)))
    }
}

/// A number as its token.
pub(crate) struct Token<'a>(&'a str);

impl JsonNumber for Token<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0
            .parse()
            .ok()
            .or_else(|| number::written_out(self.0)?.parse().ok())
    }

    fn as_i64(&self) -> Option<i64> {
        self.0
            .parse()
            .ok()
            .or_else(|| number::written_out(self.0)?.parse().ok())
    }

    fn as_f64(&self) -> Option<f64> {
        self.0
            .parse()
            .ok()
            .filter(|double: &f64| double.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(to_number(self.0))
    }

    #[inline]
    fn is_integer(&self) -> bool {
        number::is_integral(self.0)
    }

    fn is_written_as_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}
