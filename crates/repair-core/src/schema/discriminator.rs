//! The property whose constants tell the branches of a union of objects apart.

use std::collections::HashSet;

use super::tree::{Kinds, Tree, Type, TypeId};

/// More constants than this in one branch tell nothing apart.
const MAX_CONSTANTS: usize = 64;

/// Finds it for each union.
pub(super) fn find_all(tree: &mut Tree) {
    for at in 0..tree.types.len() {
        let found = tree
            .types
            .get(at)
            .filter(|ty| ty.is_union())
            .and_then(|union| find(tree, union.id));
        if let Some(ty) = tree.types.get_mut(at) {
            ty.discriminator = found;
        }
    }
}

fn find(tree: &Tree, union: TypeId) -> Option<Box<str>> {
    let branches: Vec<&Type> = tree
        .plain_types(union)
        .iter()
        .map(|id| tree.get(*id))
        .filter(|ty| ty.kinds.meets(Kinds::OBJECT))
        .collect();
    let (first, others) = branches.split_first()?;
    if others.is_empty() {
        return None;
    }
    let names = first.properties().iter().map(|property| &property.name);
    names
        .into_iter()
        .find(|name| tells_apart(tree, &branches, name))
        .cloned()
}

fn tells_apart(tree: &Tree, branches: &[&Type], name: &str) -> bool {
    let mut seen = HashSet::new();
    branches.iter().all(|ty| {
        let property = ty
            .members
            .as_ref()
            .and_then(|members| members.property(name));
        let choices = property.and_then(|property| tree.get(property.ty).choices.as_ref());
        choices.is_some_and(|choices| {
            choices.values().len() <= MAX_CONSTANTS
                && choices
                    .values()
                    .iter()
                    .all(|value| seen.insert(value.to_string()))
        })
    })
}
