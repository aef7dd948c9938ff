//! Equality in the sense of JSON Schema: numbers by value, key order without meaning.

use serde_json::Value;

use super::{Arena, Kind, NodeId, number};

/// Whether a node of the arena equals a value of a schema.
pub(crate) fn node_equals_value(arena: &Arena<'_>, id: NodeId, value: &Value) -> bool {
    match (arena.node(id).kind, value) {
        (Kind::Null, Value::Null) => true,
        (Kind::True, Value::Bool(value)) => *value,
        (Kind::False, Value::Bool(value)) => !*value,
        (Kind::Number, Value::Number(value)) => number_equals(arena.token(id), value),
        (Kind::String, Value::String(value)) => arena.string(id) == value.as_str(),
        (Kind::Array, Value::Array(items)) => {
            arena.node(id).len as usize == items.len()
                && arena
                    .children(id)
                    .zip(items)
                    .all(|(node, item)| node_equals_value(arena, node, item))
        }
        (Kind::Object, Value::Object(members)) => {
            arena
                .children(id)
                .all(|child| members.contains_key(&*arena.key(child)))
                && members.iter().all(|(key, value)| {
                    arena
                        .member(id, key)
                        .is_some_and(|child| node_equals_value(arena, child, value))
                })
        }
        _ => false,
    }
}

/// A schema's number is at most a double, so a longer token equals it if it rounds to it.
fn number_equals(token: &str, value: &serde_json::Number) -> bool {
    let expected = value.to_string();
    if number::equal(token, &expected) {
        return true;
    }
    let is_beyond_integers =
        value.is_f64() && token.parse::<i64>().is_err() && token.parse::<u64>().is_err();
    is_beyond_integers && token.parse::<f64>().ok() == value.as_f64()
}

/// Whether two nodes are the same JSON value.
pub(crate) fn nodes_equal(arena: &Arena<'_>, a: NodeId, b: NodeId) -> bool {
    let (left, right) = (arena.node(a), arena.node(b));
    match (left.kind, right.kind) {
        (Kind::Number, Kind::Number) => number::equal(arena.token(a), arena.token(b)),
        (Kind::String, Kind::String) => arena.string(a) == arena.string(b),
        (Kind::Array, Kind::Array) => {
            left.len == right.len
                && arena
                    .children(a)
                    .zip(arena.children(b))
                    .all(|(x, y)| nodes_equal(arena, x, y))
        }
        (Kind::Object, Kind::Object) => canonical(arena, a) == canonical(arena, b),
        (left, right) => left == right,
    }
}

/// The canonical JSON text of a node: sorted keys (the last of equal ones), canonical numbers, no
/// white space. Equal values have equal texts.
pub(crate) fn canonical(arena: &Arena<'_>, id: NodeId) -> String {
    let mut out = String::new();
    write_canonical(arena, id, &mut out);
    out
}

fn write_canonical(arena: &Arena<'_>, id: NodeId, out: &mut String) {
    match arena.node(id).kind {
        Kind::Null => out.push_str("null"),
        Kind::False => out.push_str("false"),
        Kind::True => out.push_str("true"),
        Kind::Number => out.push_str(&number::canonical(arena.token(id))),
        Kind::String => super::string::encode(&arena.string(id), out),
        Kind::Array => {
            out.push('[');
            for (index, child) in arena.children(id).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(arena, child, out);
            }
            out.push(']');
        }
        Kind::Object => {
            let members: std::collections::BTreeMap<_, _> = arena
                .children(id)
                .map(|child| (arena.key(child), child))
                .collect();
            out.push('{');
            for (index, (key, child)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                super::string::encode(&key, out);
                out.push(':');
                write_canonical(arena, child, out);
            }
            out.push('}');
        }
    }
}
