//! Proposals for one value that does not fit its type.
//!
//! A proposal is a new node without a place. Whether it fits is for the solver to find out, so
//! these functions only say what the value could mean.

use super::rules;
use super::solver::{Place, Slot, Solver};
use super::{amount, moment};
use crate::json::{Arena, Kind, MAX_DEPTH, NodeId, lenient, number};
use crate::rule::{Risk, Rule};
use crate::schema::tree::{Kinds, Type};
use crate::units::{self, Asked};

/// What a rule is asked about.
#[derive(Clone, Copy)]
pub(crate) struct Fault<'t> {
    pub(crate) node: NodeId,
    pub(crate) ty: &'t Type,
    pub(crate) slot: Slot,
    /// What `ty` is a branch of, or itself.
    pub(crate) whole: Whole,
}

/// What stands for a value in the schema: a type, or the union that it is a branch of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// All the kinds that may stand there.
    pub(crate) kinds: Kinds,
    pub(crate) is_union: bool,
}

/// A value that could be meant, and the risk of that if it is higher than the rule's.
pub(crate) struct Proposed {
    pub(crate) node: NodeId,
    pub(crate) risk: Risk,
}

pub(crate) type Propose =
    for<'s, 't, 'a> fn(&mut Solver<'s, 't, 'a>, Fault<'t>) -> Option<Proposed>;

#[allow(clippy::unnecessary_wraps, reason = "the shape of every proposal")]
pub(super) fn proposed(node: NodeId) -> Option<Proposed> {
    Some(Proposed {
        node,
        risk: Risk::Lossless,
    })
}

fn scalar(solver: &mut Solver<'_, '_, '_>, kind: Kind, token: &str) -> Option<Proposed> {
    proposed(solver.arena.new_scalar(kind, token))
}

// ---- stringified scalars ----

/// The kind of scalar, but for strings, that a text is the JSON of, and the rule about such texts.
pub(super) fn spelled(text: &str) -> Option<(Kind, &'static Rule)> {
    match text {
        _ if number::is_strict(text) => Some((Kind::Number, &rules::STRINGIFIED_NUMBER)),
        "true" => Some((Kind::True, &rules::STRINGIFIED_BOOLEAN)),
        "false" => Some((Kind::False, &rules::STRINGIFIED_BOOLEAN)),
        "null" => Some((Kind::Null, &rules::STRINGIFIED_NULL)),
        _ => None,
    }
}

pub(super) fn stringified_number(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    match spelled(&solver.arena.string(fault.node)) {
        Some((kind @ Kind::Number, _)) => proposed(solver.arena.new_unquoted(kind, fault.node)),
        _ => None,
    }
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

/// `1,000`, `5 kg`, `30%`. Where the schema asks for a unit, of that unit only.
pub(super) fn number_with_extras(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let text = solver.arena.string(fault.node).trim().to_owned();
    let asked = asked_unit(solver.place, fault);
    let token = number::without_thousands(&text).or_else(|| {
        let token = number::without_unit(&text)?;
        let unit = text.get(token.len()..)?.trim_start().to_lowercase();
        (asked.admits(&unit) && !amount::multiplies(&unit)).then_some(token)
    })?;
    scalar(solver, Kind::Number, &token)
}

/// `two hours` where minutes are asked for, `a dozen`.
pub(super) fn amount(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let text = solver.arena.string(fault.node).trim().to_owned();
    let asked = asked_unit(solver.place, fault).unit();
    let token = amount::read(&text, asked)?.in_unit(asked)?;
    if number::without_unit(&text).is_some_and(|written| written == token) {
        return None;
    }
    scalar(solver, Kind::Number, &token)
}

/// The unit that the schema asks for: by the property's name, or by a description.
fn asked_unit(place: Place<'_>, fault: Fault<'_>) -> Asked {
    let described = fault.ty.unit.or(place.unit).map(Asked::Unit);
    let named = place.name.map(units::named_in_key);
    let named = named.filter(|named| !matches!(named, Asked::Nothing));
    named.or(described).unwrap_or(Asked::Nothing)
}

/// `5 March 2026` where a pattern asks for something else.
pub(super) fn moment(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    if !fault.ty.has_pattern() {
        return None;
    }
    let stated = moment::restated(&solver.arena.string(fault.node))?;
    proposed(solver.arena.new_string(&stated))
}

pub(super) fn stringified_boolean(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    match spelled(&solver.arena.string(fault.node)) {
        Some((kind @ (Kind::True | Kind::False), _)) => {
            proposed(solver.arena.new_unquoted(kind, fault.node))
        }
        _ => None,
    }
}

/// `yes` for a boolean, and other spellings of true and false. Where something else may stand,
/// `yes` may be meant for that.
pub(super) fn boolean_word(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    if !(Kinds::BOOLEAN | Kinds::NULL).contains(fault.whole.kinds) {
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
    let text = solver.arena.string(fault.node);
    if !looks_like_container(&text) {
        return None;
    }
    let text = text.into_owned();
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
    let text = solver.arena.string(fault.node);
    if !text.trim_start().starts_with('"') {
        return None;
    }
    let text = text.into_owned();
    if !solver.may_read(text.len()) {
        return None;
    }
    let node = read_strict(solver.arena, text.trim())?;
    (solver.arena.node(node).kind == Kind::String).then(|| proposed(node))?
}

pub(super) fn looks_like_container(text: &str) -> bool {
    let text = text.trim_start();
    let fenced = text.strip_prefix("```");
    let fenced = fenced.map(|text| text.trim_start_matches(char::is_alphanumeric).trim_start());
    fenced.unwrap_or(text).starts_with(['[', '{'])
}

/// A value that was read out of a string: nothing in it may stand twice under one key.
pub(super) fn read_strict(arena: &mut Arena<'_>, text: &str) -> Option<NodeId> {
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
    let read = lenient::read(text, None, solver.tree, Some(fault.ty.id), MAX_DEPTH);
    let [value] = read.values.as_slice() else {
        return None;
    };
    // Words around it are part of a value, as they are not of the arguments.
    if read.cut.is_some() || read.problem.is_some() || read.is_in_prose() {
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
    // Several items may be one list as well as a list of each.
    if let Slot::Item(list) = fault.slot
        && solver.arena.node(list).len > 1
    {
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
    let child = only_child(solver.arena, fault.node)?;
    // An entry of a dictionary that was written as a list is no dictionary.
    let is_entry = solver.arena.node(child).len == 2
        && solver.arena.member(child, "value").is_some()
        && fault.ty.properties().is_empty();
    (!is_entry).then_some(child).and_then(proposed)
}

pub(super) fn only_child(arena: &Arena<'_>, container: NodeId) -> Option<NodeId> {
    let mut children = arena.children(container);
    let first = children.next()?;
    children.next().is_none().then_some(first)
}

/// The one required property that a bare value can fill.
pub(super) fn scalar_to_object(
    solver: &mut Solver<'_, '_, '_>,
    fault: Fault<'_>,
) -> Option<Proposed> {
    let says_something = match solver.arena.node(fault.node).kind {
        Kind::Null => false,
        Kind::String => {
            let text = solver.arena.string(fault.node);
            !text.is_empty() && !looks_like_container(&text)
        }
        _ => true,
    };
    if fault.slot == Slot::Root || !says_something {
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
/// joined, and nobody said how; in an item of a list of strings, hardly anybody means JSON.
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
    let risk = match fault.slot {
        Slot::Item(_) => Risk::Guess,
        _ => Risk::Lossless,
    };
    Some(Proposed {
        node: solver.arena.new_string(&text),
        risk,
    })
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
