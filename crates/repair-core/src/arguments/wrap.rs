//! Proposals that take something off a value, put something around it, or move it inside.

use super::solver::{Slot, Solver};
use super::value::{Fault, Proposed, looks_like_container, only_child, proposed};
use crate::json::{Kind, NodeId};
use crate::schema::Tree;
use crate::schema::tree::{Kinds, Property, Type};
use crate::words;

/// `{"value": x}`, `{"type": …, "value": x}`, items as `{"item": x}` or under the singular of the
/// array's key, and a whole list under such a key, as XML has it.
pub(super) fn value_wrapper(solver: &mut Solver<'_, '_, '_>, fault: Fault<'_>) -> Option<Proposed> {
    let arena = &solver.arena;
    if fault.slot == Slot::Root {
        return None;
    }
    let wrapped = match only_child(arena, fault.node) {
        Some(child) => {
            let key = arena.key(child);
            let list = match fault.slot {
                Slot::Item(array) => Some(array),
                _ => (arena.node(child).kind == Kind::Array).then_some(fault.node),
            };
            let names_item = |list| {
                words::ITEM_WRAPPERS.contains(&&*key) || is_singular_of(&key, &arena.key(list))
            };
            let is_wrapper = words::VALUE_WRAPPERS.contains(&&*key) || list.is_some_and(names_item);
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
    let fits_nothing_declared = solver
        .arena
        .children(fault.node)
        .all(|child| !fault.ty.declares(&solver.arena.key(child)));
    if !fits_nothing_declared {
        return None;
    }
    let name = &only_object_property(solver.tree, fault.ty)?.name;
    proposed(
        solver
            .arena
            .new_container(Kind::Object, Some(name), fault.node),
    )
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
    let arena = &mut *solver.arena;
    let is_empty = |child| {
        let node = arena.node(child);
        node.kind == Kind::Object && node.len == 0
    };
    // What is soon seen, and true of most objects, comes first.
    if !arena.children(fault.node).any(is_empty) {
        return None;
    }
    let property = only_object_property(tree, fault.ty)?;
    let target = arena
        .member(fault.node, &property.name)
        .filter(|member| is_empty(*member))?;
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
