//! From the arena to a `serde_json::Value`.

use serde_json::{Map, Number, Value};

use super::{Arena, Kind, MAX_DEPTH, NodeId};

/// The value of a strict text. Numbers that `serde_json` cannot hold become the nearest finite
/// double; a text that is not strict JSON, which no caller passes, becomes null.
pub(crate) fn to_value(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    match Arena::read(text.into(), MAX_DEPTH) {
        Ok((arena, root)) => node_to_value(&arena, root),
        Err(_) => Value::Null,
    }
}

/// The value of a node. Depth is bounded by the reader's limit.
pub(crate) fn node_to_value(arena: &Arena<'_>, id: NodeId) -> Value {
    match arena.node(id).kind {
        Kind::Null => Value::Null,
        Kind::False => Value::Bool(false),
        Kind::True => Value::Bool(true),
        Kind::Number => Value::Number(to_number(arena.token(id))),
        Kind::String => Value::String(arena.string(id).into_owned()),
        Kind::Array => arena
            .children(id)
            .map(|child| node_to_value(arena, child))
            .collect(),
        Kind::Object => Value::Object(
            arena
                .children(id)
                .map(|child| (arena.key(child).into_owned(), node_to_value(arena, child)))
                .collect::<Map<_, _>>(),
        ),
    }
}

/// The number of a token, clamped to the finite doubles.
pub(crate) fn to_number(token: &str) -> Number {
    if let Ok(number) = token.parse::<Number>() {
        return number;
    }
    let double = token
        .parse::<f64>()
        .unwrap_or(0.0)
        .clamp(f64::MIN, f64::MAX);
    Number::from_f64(double).unwrap_or_else(|| Number::from(0))
}
