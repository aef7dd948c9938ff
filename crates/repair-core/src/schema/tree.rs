//! The type tree: what the schema says, in the shape that repairs need.
//!
//! A type is either plain (kinds, members, items, constants) or a union of types. References and
//! `allOf` are resolved away when the tree is made; what it does not model (`not`, `if`,
//! `dependent…`, `contains`, patterns, ranges) is left to the judge.

use std::collections::{HashMap, HashSet};
use std::ops::BitOr;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::choices::Choices;
use crate::json::{Kind, scan};
use crate::units::Unit;

/// Index of a type in its tree.
pub(crate) type TypeId = u32;

/// A set of JSON types; integers are told from other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    /// Integers and all other numbers.
    pub(crate) const NUMBER: Self = Self(4 | 8);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const CONTAINERS: Self = Self(32 | 64);
    pub(crate) const SCALARS: Self = Self(1 | 2 | 4 | 8 | 16);
    /// What an array holds several of.
    pub(crate) const SINGLE: Self = Self(2 | 4 | 8 | 16 | 64);
    pub(crate) const ANY: Self = Self(127);

    /// How many sets there are.
    pub(crate) const SETS: usize = 128;

    /// The set of this number.
    pub(crate) const fn nth(number: u8) -> Self {
        Self(number & Self::ANY.0)
    }

    /// The number of the set, less than [`Self::SETS`].
    pub(crate) fn number(self) -> usize {
        usize::from(self.0)
    }

    /// The set of one kind of node, with all numbers for a number.
    #[inline]
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Null => Self::NULL,
            Kind::False | Kind::True => Self::BOOLEAN,
            Kind::Number => Self::NUMBER,
            Kind::String => Self::STRING,
            Kind::Array => Self::ARRAY,
            Kind::Object => Self::OBJECT,
        }
    }

    /// The set for a `type` word.
    pub(crate) fn of_word(word: &str) -> Self {
        match word {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the sets share a type.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether everything in `other` is in this set.
    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a node of this kind is in the set; `integral` is asked for numbers only.
    #[inline]
    pub(crate) fn allows(self, kind: Kind, integral: impl FnOnce() -> bool) -> bool {
        if kind == Kind::Number {
            self.contains(Self::NUMBER) || (self.meets(Self::INTEGER) && integral())
        } else {
            self.meets(Self::of(kind))
        }
    }

    /// The words of the set, for messages.
    pub(crate) fn words(self) -> Vec<&'static str> {
        let number = if self.contains(Self::NUMBER) {
            "number"
        } else {
            "integer"
        };
        [
            (Self::STRING, "string"),
            (Self::INTEGER, number),
            (Self::BOOLEAN, "boolean"),
            (Self::ARRAY, "array"),
            (Self::OBJECT, "object"),
            (Self::NULL, "null"),
        ]
        .into_iter()
        .filter(|(kind, _)| self.meets(*kind))
        .map(|(_, word)| word)
        .collect()
    }
}

impl BitOr for Kinds {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A declared property.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) name: Box<str>,
    /// The name as the fold rule compares it.
    pub(crate) fold: Box<str>,
    pub(crate) ty: TypeId,
    pub(crate) required: bool,
}

/// What may stand under keys or at positions that are not declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Anything.
    Open,
    /// Nothing.
    Closed,
    /// Values of one type.
    Typed(TypeId),
}

/// What the schema says about objects.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    pub(crate) properties: Vec<Property>,
    /// Those of their names.
    fingerprints: Vec<u64>,
    index: HashMap<Box<str>, u32>,
    /// Names that are required but not declared.
    pub(crate) required_undeclared: Vec<Box<str>>,
    pub(crate) rest: Rest,
}

impl Members {
    pub(crate) fn new(
        properties: Vec<Property>,
        required_undeclared: Vec<Box<str>>,
        rest: Rest,
    ) -> Self {
        let index = (0..)
            .zip(&properties)
            .map(|(at, property)| (property.name.clone(), at))
            .collect();
        let names = properties.iter().map(|property| property.name.as_bytes());
        Self {
            fingerprints: names.map(scan::fingerprint).collect(),
            properties,
            index,
            required_undeclared,
            rest,
        }
    }

    /// The declared property of that name.
    pub(crate) fn property(&self, name: &str) -> Option<&Property> {
        self.position(name, 0).map(|(_, property)| property)
    }

    /// The declared property of that name, and its position; `likely` is where it stands if the
    /// names are asked for in the order of the schema.
    pub(crate) fn position(&self, name: &str, likely: usize) -> Option<(usize, &Property)> {
        /// Up to so many names are sooner compared than hashed.
        const FEW: usize = 16;
        let fingerprint = scan::fingerprint(name.as_bytes());
        let named = |at: usize| {
            let property = self.properties.get(at)?;
            (*property.name == *name).then_some((at, property))
        };
        if self.fingerprints.get(likely) == Some(&fingerprint)
            && let Some(found) = named(likely)
        {
            return Some(found);
        }
        if self.properties.len() > FEW {
            return named(*self.index.get(name)? as usize);
        }
        let mut alike = self.fingerprints.iter().enumerate();
        alike.find_map(|(at, known)| (*known == fingerprint).then(|| named(at))?)
    }
}

/// What the schema says about arrays.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    pub(crate) prefix: Vec<TypeId>,
    pub(crate) rest: Rest,
}

impl Items {
    /// The type at a position; `None` where anything or nothing may stand.
    pub(crate) fn at(&self, index: usize) -> Option<TypeId> {
        match (self.prefix.get(index), self.rest) {
            (Some(ty), _) => Some(*ty),
            (None, Rest::Typed(ty)) => Some(ty),
            (None, _) => None,
        }
    }
}

/// One type.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) id: TypeId,
    pub(crate) kinds: Kinds,
    /// `None` where nothing is said about objects.
    pub(crate) members: Option<Members>,
    /// `None` where nothing is said about arrays.
    pub(crate) items: Option<Items>,
    /// The values of `enum` or `const`, if there are any.
    pub(crate) choices: Option<Arc<Choices>>,
    /// Not empty for a union, which has all its constraints in its branches: plain types, each
    /// once.
    pub(crate) branches: Vec<TypeId>,
    /// The property that tells the branches apart by a constant, if there is one.
    pub(crate) discriminator: Option<Box<str>>,
    pub(crate) default: Option<Value>,
    /// The unit that its description names.
    pub(crate) unit: Option<&'static Unit>,
    /// Keywords that only the judge decides (`minimum`, `pattern`, `not`, …), for feedback.
    pub(crate) limits: Map<String, Value>,
}

impl Type {
    /// A type that accepts anything.
    pub(crate) fn any(id: TypeId) -> Self {
        Self {
            id,
            kinds: Kinds::ANY,
            members: None,
            items: None,
            choices: None,
            branches: Vec::new(),
            discriminator: None,
            default: None,
            unit: None,
            limits: Map::new(),
        }
    }

    /// Whether it stands for several types.
    #[inline]
    pub(crate) fn is_union(&self) -> bool {
        !self.branches.is_empty()
    }

    /// Whether strings must match a pattern, which only the judge can say.
    pub(crate) fn has_pattern(&self) -> bool {
        self.limits.contains_key("pattern")
    }

    pub(crate) fn properties(&self) -> &[Property] {
        self.members
            .as_ref()
            .map_or(&[], |members| &members.properties)
    }

    /// Whether `key` is a declared property.
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.members
            .as_ref()
            .is_some_and(|members| members.property(key).is_some())
    }

    /// What may stand under a key that is not declared.
    pub(crate) fn rest(&self) -> Rest {
        self.members
            .as_ref()
            .map_or(Rest::Open, |members| members.rest)
    }
}

/// The compiled schema of one tool.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(super) types: Vec<Type>,
    root: TypeId,
    /// What a plain type refuses by its kinds, names and words, the schema refuses as well.
    is_exact: bool,
    has_patterns: bool,
}

/// Where a reader stands in the schema; `None` where it says nothing.
pub(crate) type Place = Option<TypeId>;

impl Tree {
    /// A tree of these types, the first of which is the root.
    pub(super) fn new(types: Vec<Type>) -> Self {
        Self {
            has_patterns: types.iter().any(Type::has_pattern),
            types,
            root: 0,
            is_exact: false,
        }
    }

    /// The same tree, made of a schema without keywords that the compiler reads loosely.
    pub(super) fn exact_if(mut self, is_exact: bool) -> Self {
        self.is_exact = is_exact;
        self
    }

    /// Whether the schema, too, refuses what a plain type refuses, on a way without unions.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether any string must match a pattern.
    pub(crate) fn has_patterns(&self) -> bool {
        self.has_patterns
    }

    /// A tree that accepts any object, for tools without a schema.
    pub(crate) fn any_object() -> Self {
        Self::new(vec![Type::any(0)]).with_object_root()
    }

    /// The type of the whole document.
    pub(crate) fn root(&self) -> TypeId {
        self.root
    }

    /// The same tree with objects only at its root: arguments are always an object, even where
    /// the schema does not say so. References to the root keep their meaning.
    pub(crate) fn with_object_root(mut self) -> Self {
        let mut branches = Vec::new();
        for id in self.plain_types(self.root).to_vec() {
            let branch = self.get(id).clone();
            let kinds = branch.kinds.intersection(Kinds::OBJECT);
            branches.push(self.push(Type { kinds, ..branch }));
        }
        self.root = if let [only] = branches.as_slice() {
            *only
        } else {
            let union = self.get(self.root).clone();
            self.push(Type { branches, ..union })
        };
        self
    }

    fn push(&mut self, ty: Type) -> TypeId {
        let id = TypeId::try_from(self.types.len()).unwrap_or(self.root);
        self.types.push(Type { id, ..ty });
        id
    }

    #[inline]
    #[allow(
        clippy::indexing_slicing,
        reason = "ids come from the compiler of this tree alone"
    )]
    pub(crate) fn get(&self, id: TypeId) -> &Type {
        &self.types[id as usize]
    }

    /// Makes the branches of every union plain types. A union of more than `most` of them becomes
    /// a type that accepts anything.
    pub(super) fn flatten_unions(&mut self, most: usize) {
        let unions: Vec<TypeId> = self
            .types
            .iter()
            .filter(|ty| ty.is_union())
            .map(|ty| ty.id)
            .collect();
        let flat: Vec<Option<Vec<TypeId>>> = unions
            .iter()
            .map(|union| self.plain_below(*union, most))
            .collect();
        for (union, branches) in unions.into_iter().zip(flat) {
            if let Some(ty) = self.types.get_mut(union as usize) {
                ty.branches = branches.unwrap_or_default();
            }
        }
    }

    /// The plain types below a union, each once; `None` if there are too many.
    fn plain_below(&self, union: TypeId, most: usize) -> Option<Vec<TypeId>> {
        let mut plain = Vec::new();
        let mut seen = HashSet::from([union]);
        let mut pending = vec![union];
        while let Some(id) = pending.pop() {
            let ty = self.get(id);
            if !ty.is_union() {
                plain.push(id);
            }
            if plain.len() > most || seen.len() > most.saturating_mul(4) {
                return None;
            }
            let branches = ty.branches.iter().rev().copied();
            pending.extend(branches.filter(|branch| seen.insert(*branch)));
        }
        Some(plain)
    }

    /// The plain types that a type stands for: itself, or its branches.
    pub(crate) fn plain_types(&self, id: TypeId) -> &[TypeId] {
        let ty = self.get(id);
        if ty.is_union() {
            &ty.branches
        } else {
            std::slice::from_ref(&ty.id)
        }
    }

    /// All the kinds a type allows.
    pub(crate) fn kinds(&self, id: TypeId) -> Kinds {
        self.plain_types(id)
            .iter()
            .fold(Kinds::NONE, |kinds, id| kinds | self.get(*id).kinds)
    }

    // ---- what the text reader asks while it goes through a document ----

    /// The place of the member `key`.
    pub(crate) fn member(&self, place: Place, key: &str) -> Place {
        self.plain_types(place?).iter().find_map(|id| {
            let members = self.get(*id).members.as_ref()?;
            match (members.property(key), members.rest) {
                (Some(property), _) => Some(property.ty),
                (None, Rest::Typed(ty)) => Some(ty),
                (None, _) => None,
            }
        })
    }

    /// The place of the member `key`, and whether it is a declared property.
    pub(crate) fn find_member(&self, place: Place, key: &str) -> (Place, bool) {
        let only = place.map(|id| self.get(id)).filter(|ty| !ty.is_union());
        let Some(members) = only.and_then(|ty| ty.members.as_ref()) else {
            return (self.member(place, key), self.declares(place, key));
        };
        match (members.property(key), members.rest) {
            (Some(property), _) => (Some(property.ty), true),
            (None, Rest::Typed(ty)) => (Some(ty), false),
            (None, _) => (None, false),
        }
    }

    /// The place of the item at `index`.
    pub(crate) fn item(&self, place: Place, index: usize) -> Place {
        self.plain_types(place?)
            .iter()
            .find_map(|id| self.get(*id).items.as_ref()?.at(index))
    }

    /// Whether `key` is a declared property here.
    pub(crate) fn declares(&self, place: Place, key: &str) -> bool {
        self.any_plain(place, |ty| ty.declares(key))
    }

    /// Every key that is declared anywhere in the tree.
    pub(crate) fn declared_keys(&self) -> HashSet<&str> {
        self.types
            .iter()
            .flat_map(Type::properties)
            .map(|property| &*property.name)
            .collect()
    }

    /// Whether any property is declared here.
    pub(crate) fn declares_any(&self, place: Place) -> bool {
        self.any_plain(place, |ty| !ty.properties().is_empty())
    }

    /// Whether keys that are not declared may stand here.
    pub(crate) fn is_open(&self, place: Place) -> bool {
        place.is_none()
            || self.any_plain(place, |ty| {
                ty.kinds.meets(Kinds::OBJECT) && ty.rest() != Rest::Closed
            })
    }

    /// The kinds that may stand here.
    pub(crate) fn kinds_at(&self, place: Place) -> Kinds {
        place.map_or(Kinds::ANY, |id| self.kinds(id))
    }

    fn any_plain(&self, place: Place, test: impl Fn(&Type) -> bool) -> bool {
        place.is_some_and(|id| self.plain_types(id).iter().any(|id| test(self.get(*id))))
    }
}
