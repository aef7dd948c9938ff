//! Proposals from the values that an `enum` or a `const` allows.

use super::solver::Solver;
use super::value::{Fault, Proposed, proposed, read_strict};
use crate::json::{Arena, Kind, NodeId};
use crate::names;
use crate::rule::Risk;
use crate::schema::Choices;
use crate::schema::tree::Type;
use crate::words;

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
        *likeness >= NEAR && *likeness - second > 0.1 && words::may_be_a_slip(text, value)
    })
    .map(|(value, _)| value)
}

/// Whether a node is one of the type's values, or the type has none.
pub(super) fn is_allowed_value(arena: &Arena<'_>, node: NodeId, ty: &Type) -> bool {
    ty.choices
        .as_ref()
        .is_none_or(|choices| choices.allow(arena, node))
}
