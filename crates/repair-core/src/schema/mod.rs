//! A tool's schema, compiled twice: the judge decides, the tree proposes.

mod choices;
pub(crate) mod compile;
mod containers;
mod discriminator;
pub(crate) mod judge;
mod normal;
mod parts;
pub(crate) mod tree;

use serde_json::Value;

pub(crate) use choices::Choices;
pub(crate) use judge::Judge;
pub(crate) use tree::{Place, Tree};

/// Schemas that nest deeper than this are not compiled: validators recurse.
const MAX_DEPTH: usize = 256;

/// Compiles a schema both ways; the error says what is wrong with it.
pub(crate) fn compiled(schema: &Value) -> Result<(Tree, Judge), String> {
    check_depth(schema)?;
    let plain = normal::normalise(schema);
    let judge = Judge::compile_both(&plain, schema)?;
    Ok((compile::compile(&plain), judge))
}

/// Refuses a schema that nests too deep to be compiled.
fn check_depth(schema: &Value) -> Result<(), String> {
    if is_deeper(schema, MAX_DEPTH) {
        return Err(format!("it nests deeper than {MAX_DEPTH} levels"));
    }
    Ok(())
}

fn is_deeper(value: &Value, limit: usize) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    false
}
