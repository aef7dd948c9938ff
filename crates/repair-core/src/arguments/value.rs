//! Proposals for one value that does not fit its type.
//!
//! A proposal is a new node without a place. Whether it fits is for the solver to find out, so
//! these functions only say what the value could mean.

use std::borrow::Cow;

use super::solver::{Slot, Solver};
use crate::json::{Arena, Kind, MAX_DEPTH, NodeId, equal, lenient, number};
use crate::names;
use crate::rule::Risk;
use crate::schema::tree::{Kinds, Property, Type};
use crate::schema::{Choices, Tree};
use crate::words;

/// What a rule is asked about.
#[derive(Clone, Copy)]
pub(crate) struct Fault<'t> {
    pub(crate) node: NodeId,
    pub(crate) ty: &'t Type,
    pub(crate) slot: Slot,
    /// All the kinds that may stand there: more than those of `ty` where it is one of a union.
    pub(crate) whole: Kinds,
}

/// A value that could be meant, and the risk of that if it is higher than the rule's.
pub(crate) struct Proposed {
    pub(crate) node: NodeId,
    pub(crate) risk: Risk,
}

pub(crate) type Propose =
    for<'s, 't, 'a> fn(&mut Solver<'s, 't, 'a>, Fault<'t>) -> Option<Proposed>;

#[allow(clippy::unnecessary_wraps, reason = "the shape of every proposal")]
fn proposed(node: NodeId) -> Option<Proposed> {
    Some(Proposed {
        node,
        risk: Risk::Lossless,
    })
}

fn scalar(solver: &mut Solver<'_, '_, '_>, kind: Kind, token: &str) -> Option<Proposed> {
    proposed(solver.arena.new_scalar(kind, token))
}

// ---- stringified scalars ----

pub(super) fn stringified_number(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    if !number::is_strict(&solver.arena.string(fault.node)) {
        return None;
    }
    proposed(solver.arena.new_unquoted(Kind::Number, fault.node))
}

/// White space around a number, a plus sign, a bare point, leading zeros.
pub(super) fn number_spelling(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let text = solver.arena.string(fault.node).into_owned();
    let spelled = number::respelled(text.trim())?;
    if spelled.text == text {
        return None;
    }
    let risk = if spelled.is_octal_like {
        Risk::Guess
    } else {
        Risk::Inferred
    };
    let node = solver.arena.new_scalar(Kind::Number, &spelled.text);
    Some(Proposed { node, risk })
}

/// `1,000`, `5 kg`, `30%`.
pub(super) fn number_with_extras(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let text = solver.arena.string(fault.node).into_owned();
    let token =
        number::without_thousands(text.trim()).or_else(|| number::without_unit(text.trim()))?;
    scalar(solver, Kind::Number, &token)
}

pub(super) fn stringified_boolean(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    match &*solver.arena.string(fault.node) {
        "true" => scalar(solver, Kind::True, "true"),
        "false" => scalar(solver, Kind::False, "false"),
        _ => None,
    }
}

/// `yes` for a boolean, and other spellings of true and false. Where something else may stand,
/// `yes` may be meant for that.
pub(super) fn boolean_word(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    if !(Kinds::BOOLEAN | Kinds::NULL).contains(fault.whole) {
        return None;
    }
    let text = solver.arena.string(fault.node).trim().to_lowercase();
    match text.as_str() {
        "true" | "yes" => scalar(solver, Kind::True, "true"),
        "false" | "no" => scalar(solver, Kind::False, "false"),
        _ => None,
    }
}

/// Whether a string is a word for "nothing".
pub(super) fn is_null_word(text: &str) -> bool {
    matches!(text, "null" | "None")
}

pub(super) fn stringified_null(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    is_null_word(&solver.arena.string(fault.node)).then(|| scalar(solver, Kind::Null, "null"))?
}

// ---- stringified containers ----

/// The container that a text stands for. A text that looks like one is read or refused, never
/// taken as a plain string.
pub(super) fn stringified_container(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let text = solver.arena.string(fault.node).into_owned();
    if !looks_like_container(&text) {
        return None;
    }
    // What was read must be what is wanted: wrapping it would make a value that nobody wrote.
    read_text(solver, fault, &text).filter(|proposed| {
        fault
            .ty
            .kinds
            .allows(solver.arena.node(proposed.node).kind, || false)
    })
}

/// A string in a string: one level of encoding is undone.
pub(super) fn stringified_value(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let text = solver.arena.string(fault.node).into_owned();
    if !text.trim_start().starts_with('"') {
        return None;
    }
    if !solver.may_read(text.len()) {
        return None;
    }
    let node = read_strict(solver.arena, text.trim())?;
    (solver.arena.node(node).kind == Kind::String).then(|| proposed(node))?
}

pub(super) fn looks_like_container(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// A value that was read out of a string: nothing in it may stand twice under one key.
fn read_strict(arena: &mut Arena<'_>, text: &str) -> Option<NodeId> {
    let known = arena.duplicates().len();
    let (start, end) = arena.append(text);
    let node = arena.read_side(start, end, MAX_DEPTH).ok()?;
    (arena.duplicates().len() == known).then_some(node)
}

fn read_text(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>, text: &str) -> Option<Proposed> {
    if !solver.may_read(text.len()) {
        return None;
    }
    if let Some(node) = read_strict(solver.arena, text) {
        return proposed(node);
    }
    if !solver.may_read(text.len()) {
        return None;
    }
    let read = lenient::read(text, solver.tree, Some(fault.ty.id), MAX_DEPTH);
    let [value] = read.values.as_slice() else {
        return None;
    };
    if read.cut.is_some() || read.problem.is_some() {
        return None;
    }
    let risk = read
        .fixes
        .iter()
        .map(|fix| fix.risk)
        .max()
        .unwrap_or(Risk::Lossless);
    let node = read_strict(solver.arena, read.text.get(value.clone())?)?;
    Some(Proposed {
        node,
        risk: risk.max(Risk::Inferred),
    })
}

// ---- one and many ----

/// A scalar for an array of scalars. Never of nothing, and not of a text that may be a list.
pub(super) fn scalar_to_array(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let kind = solver.arena.node(fault.node).kind;
    let item = fault.ty.items.as_ref().and_then(|items| items.at(0));
    if kind == Kind::Null || !solver.tree.kinds_at(item).meets(Kinds::SCALARS) {
        return None;
    }
    if kind == Kind::String {
        let text = solver.arena.string(fault.node);
        let is_nothing = text.is_empty() || is_null_word(&text);
        if is_nothing || text.contains(',') || looks_like_container(&text) {
            return None;
        }
    }
    proposed(solver.arena.new_container(Kind::Array, None, fault.node))
}

pub(super) fn object_to_array(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    (solver.arena.node(fault.node).len > 0)
        .then(|| proposed(solver.arena.new_container(Kind::Array, None, fault.node)))?
}

pub(super) fn array_to_single(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    only_child(solver.arena, fault.node).and_then(proposed)
}

fn only_child(arena: &Arena<'_>, container: NodeId) -> Option<NodeId> {
    let mut children = arena.children(container);
    let first = children.next()?;
    children.next().is_none().then_some(first)
}

/// The one required property that a bare value can fill.
pub(super) fn scalar_to_object(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let kind = solver.arena.node(fault.node).kind;
    let text = if kind == Kind::String {
        solver.arena.string(fault.node)
    } else {
        Cow::Borrowed("x")
    };
    if kind == Kind::Null
        || fault.slot == Slot::Root
        || text.is_empty()
        || looks_like_container(&text)
    {
        return None;
    }
    let mut required = fault
        .ty
        .properties()
        .iter()
        .filter(|property| property.required);
    let name = required.next()?.name.clone();
    required.next().is_none().then(|| {
        proposed(
            solver
                .arena
                .new_container(Kind::Object, Some(&name), fault.node),
        )
    })?
}

// ---- strings ----

/// The JSON text of a container. An array of scalars is more likely a list that was meant to be
/// joined, and nobody said how.
pub(super) fn container_to_string(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let arena = &solver.arena;
    let node = arena.node(fault.node);
    let is_list = node.kind == Kind::Array
        && arena
            .children(fault.node)
            .all(|child| !arena.node(child).kind.is_container());
    if (node.len == 0 && fault.slot != Slot::Required) || (node.len > 0 && is_list) {
        return None;
    }
    let text = compact(arena, fault.node);
    proposed(solver.arena.new_string(&text))
}

/// The compact JSON text of a node, in the emitted order and spelling.
fn compact(arena: &Arena<'_>, id: NodeId) -> String {
    let mut out = String::new();
    write_compact(arena, id, &mut out);
    out
}

fn write_compact(arena: &Arena<'_>, id: NodeId, out: &mut String) {
    let node = arena.node(id);
    let (opener, closer) = match node.kind {
        Kind::Array => ('[', ']'),
        Kind::Object => ('{', '}'),
        _ => return out.push_str(arena.token(id)),
    };
    out.push(opener);
    for (index, child) in arena.children(id).enumerate() {
        if index > 0 {
            out.push(',');
        }
        if node.kind == Kind::Object {
            out.push_str(arena.key_token(child));
            out.push(':');
        }
        write_compact(arena, child, out);
    }
    out.push(closer);
}

pub(super) fn scalar_to_string(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let kind = solver.arena.node(fault.node).kind;
    if matches!(kind, Kind::Null | Kind::String) {
        return None;
    }
    let text = solver.arena.token(fault.node).to_owned();
    proposed(solver.arena.new_string(&text))
}

// ---- empty values ----

pub(super) fn empty_object_to_array(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let is_empty = solver.arena.node(fault.node).len == 0;
    (is_empty && fault.slot == Slot::Required)
        .then(|| proposed(solver.arena.new_empty(Kind::Array)))?
}

pub(super) fn empty_string_to_container(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    if fault.slot != Slot::Required || !solver.arena.string(fault.node).is_empty() {
        return None;
    }
    let kinds = fault.ty.kinds.intersection(Kinds::CONTAINERS);
    let kind = match kinds {
        Kinds::ARRAY => Kind::Array,
        Kinds::OBJECT => Kind::Object,
        _ => return None,
    };
    proposed(solver.arena.new_empty(kind))
}

// ---- wrappers ----

/// `{"value": x}`, `{"type": …, "value": x}`, and items as `{"item": x}` or under the singular of
/// the array's key.
pub(super) fn value_wrapper(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let arena = &solver.arena;
    if fault.slot == Slot::Root {
        return None;
    }
    let wrapped = match only_child(arena, fault.node) {
        Some(child) => {
            let key = arena.key(child);
            let is_wrapper = key == "value"
                || matches!(fault.slot, Slot::Item(array) if key == "item" || is_singular_of(&key, &arena.key(array)));
            is_wrapper.then_some(child)
        }
        None if arena.node(fault.node).len == 2 && arena.member(fault.node, "type").is_some() => {
            arena.member(fault.node, "value")
        }
        None => None,
    };
    proposed(wrapped?)
}

fn is_singular_of(word: &str, plural: &str) -> bool {
    !word.is_empty()
        && (plural.strip_suffix('s') == Some(word)
            || plural.strip_suffix("es") == Some(word)
            || plural
                .strip_suffix("ies")
                .zip(word.strip_suffix('y'))
                .is_some_and(|(a, b)| a == b))
}

/// The object inside a wrapper that the type does not know.
pub(super) fn remove_wrapper(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let child = only_child(solver.arena, fault.node)?;
    let key = solver.arena.key(child);
    let declared = solver.tree.declares(Some(fault.ty.id), &key);
    let is_object = match solver.arena.node(child).kind {
        Kind::Object => true,
        Kind::String => looks_like_container(&solver.arena.string(child)),
        _ => false,
    };
    (words::WRAPPERS.contains(&&*key) && !declared && is_object).then(|| proposed(child))?
}

/// The only object property of a tool whose arguments came without it.
pub(super) fn add_wrapper(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    if fault.slot != Slot::Root || solver.arena.node(fault.node).len == 0 {
        return None;
    }
    let property = only_object_property(solver.tree, fault.ty)?;
    let fits_nothing_declared = solver
        .arena
        .children(fault.node)
        .all(|child| !fault.ty.declares(&solver.arena.key(child)));
    fits_nothing_declared.then(|| {
        let name = &property.name;
        proposed(
            solver
                .arena
                .new_container(Kind::Object, Some(name), fault.node),
        )
    })?
}

/// The one property that takes an object, if it says what is in it: an object that takes anything
/// is no evidence.
fn only_object_property<'t>(tree: &Tree, ty: &'t Type) -> Option<&'t Property> {
    let mut objects = ty
        .properties()
        .iter()
        .filter(|property| tree.kinds(property.ty).meets(Kinds::OBJECT));
    let only = objects.next()?;
    (objects.next().is_none() && tree.declares_any(Some(only.ty))).then_some(only)
}

/// Members that stand beside the empty object they belong into.
pub(super) fn lift_members(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let tree = solver.tree;
    let property = only_object_property(tree, fault.ty)?;
    let arena = &mut *solver.arena;
    let target = arena.member(fault.node, &property.name)?;
    let node = arena.node(target);
    if node.kind != Kind::Object || node.len > 0 {
        return None;
    }
    let (stay, lifted): (Vec<NodeId>, Vec<NodeId>) = arena
        .children(fault.node)
        .partition(|child| fault.ty.declares(&arena.key(*child)));
    let all_belong = lifted
        .iter()
        .all(|child| tree.declares(Some(property.ty), &arena.key(*child)));
    if lifted.is_empty() || !all_belong {
        return None;
    }
    let filled = arena.new_object(lifted.into_iter().map(|child| (child, child)).collect());
    let members = stay
        .into_iter()
        .map(|child| (child, if child == target { filled } else { child }));
    let members = members.collect();
    proposed(solver.arena.new_object(members))
}

// ---- enum and const ----

/// The allowed value that is the same but for its type. Null is not the word for it.
pub(super) fn enum_type(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let choices = fault.ty.choices.as_ref()?;
    let (value, risk) = match solver.arena.node(fault.node).kind {
        Kind::Null => return None,
        Kind::String => {
            let text = solver.arena.string(fault.node);
            let mut equal = choices.others().filter(|value| {
                (value.is_number() || value.is_boolean()) && value.to_string() == text
            });
            let value = equal.next()?;
            (value.clone(), Risk::Lossless)
        }
        _ => {
            let text = solver.arena.token(fault.node);
            if !choices.has_string(text) {
                return None;
            }
            (text.into(), Risk::Inferred)
        }
    };
    Some(Proposed {
        node: constant(solver, &value)?,
        risk,
    })
}

/// A new node for a value of the schema.
pub(super) fn constant(
    solver: &mut Solver<'_, '_, '_>,
    value: &serde_json::Value,
) -> Option<NodeId> {
    read_strict(solver.arena, &value.to_string())
}

pub(super) fn enum_fold(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let text = solver.arena.string(fault.node);
    let value = fault.ty.choices.as_ref()?.folded(&text)?;
    if words::are_opposites(&text, value) {
        return None;
    }
    proposed(solver.arena.new_string(value))
}

pub(super) fn enum_near(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let text = solver.arena.string(fault.node);
    let choices = fault.ty.choices.as_ref()?;
    // What is the same but for its spelling is no guess.
    if choices.folded(&text).is_some() {
        return None;
    }
    let value = near_choice(choices, &text)?;
    proposed(solver.arena.new_string(value))
}

/// How alike two enum values must be for one to be a guess for the other.
const NEAR: f64 = 0.7;
/// Longer lists of values are not searched for a near one.
const MAX_CHOICES: usize = 500;
/// Longer texts, in bytes, are near nothing.
const MAX_CHOICE: usize = 100;

/// The string among allowed values that is most like `text`, if it is clearly ahead.
pub(super) fn near_choice<'t>(choices: &'t Choices, text: &str) -> Option<&'t str> {
    if text.len() > MAX_CHOICE || choices.values().len() > MAX_CHOICES {
        return None;
    }
    let mut best: Option<(&str, f64)> = None;
    let mut second = 0.0_f64;
    for value in choices.strings() {
        let likeness = names::near::similarity(text, value);
        match best {
            Some((_, top)) if likeness <= top => second = second.max(likeness),
            _ => {
                second = best.map_or(0.0, |(_, top)| top);
                best = Some((value, likeness));
            }
        }
    }
    best.filter(|(value, likeness)| {
        *likeness >= NEAR && *likeness - second > 0.1 && !words::are_opposites(text, value)
    })
    .map(|(value, _)| value)
}

/// Whether a node is one of the type's values, or the type has none.
pub(super) fn is_allowed_value(arena: &Arena<'_>, node: NodeId, ty: &Type) -> bool {
    let Some(choices) = &ty.choices else {
        return true;
    };
    match arena.node(node).kind {
        Kind::String => choices.has_string(&arena.string(node)),
        _ => choices
            .others()
            .any(|value| equal::node_equals_value(arena, node, value)),
    }
}
