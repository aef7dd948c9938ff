//! The parameters of a tool, for the hint in a corrective error.

use std::collections::HashMap;

use crate::schema::Tree;
use crate::schema::tree::{Kinds, Type};
use crate::verdict::ExpectedParameters;

/// The parameters that the root of a schema declares, in its order. Of a union: required is what
/// every branch requires, optional everything else that some branch knows.
pub(crate) fn expected_parameters(tree: &Tree) -> ExpectedParameters {
    let branches: Vec<&Type> = tree
        .plain_types(tree.root())
        .iter()
        .map(|id| tree.get(*id))
        .filter(|ty| ty.kinds.meets(Kinds::OBJECT))
        .collect();
    let mut names: Vec<&str> = Vec::new();
    let mut required_by: HashMap<&str, usize> = HashMap::new();
    for (name, required) in branches.iter().flat_map(|ty| parameters(ty)) {
        let count = required_by.entry(name).or_insert_with(|| {
            names.push(name);
            0
        });
        *count += usize::from(required);
    }
    let (required, optional) = names
        .into_iter()
        .map(str::to_owned)
        .partition(|name| required_by.get(name.as_str()) == Some(&branches.len()));
    ExpectedParameters { required, optional }
}

/// The names of a type's properties and whether each is required.
fn parameters(ty: &Type) -> impl Iterator<Item = (&str, bool)> {
    ty.members.iter().flat_map(|members| {
        let declared = members
            .properties
            .iter()
            .map(|property| (&*property.name, property.required));
        let undeclared = members
            .required_undeclared
            .iter()
            .map(|name| (&**name, true));
        declared.chain(undeclared)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::compile::compile;
    use serde_json::{Value, json};

    fn names(schema: &Value) -> String {
        let expected = expected_parameters(&compile(schema));
        format!("{:?} {:?}", expected.required, expected.optional)
    }

    #[test]
    fn parameters_come_in_the_order_of_the_schema() {
        let one = |required: &[&str]| {
            json!({
                "type": "object",
                "properties": {"z": {}, "a": {}, "m": {}},
                "required": required
            })
        };
        for (schema, want) in [
            (one(&["m", "z"]), r#"["z", "m"] ["a"]"#),
            (one(&["extra", "a"]), r#"["a", "extra"] ["z", "m"]"#),
            (
                json!({"anyOf": [one(&["z", "a"]), one(&["m", "z"])]}),
                r#"["z"] ["a", "m"]"#,
            ),
            (
                json!({"properties": {"b": {}}, "required": ["b"], "oneOf": [
                    {"properties": {"c": {}}, "required": ["c"]},
                    {"properties": {"d": {}}}
                ]}),
                r#"["b"] ["c", "d"]"#,
            ),
            (
                json!({"anyOf": [one(&["z"]), {"type": "null"}]}),
                r#"["z"] ["a", "m"]"#,
            ),
            (
                json!({"$ref": "#/$defs/x", "$defs": {"x": one(&["a"])}}),
                r#"["a"] ["z", "m"]"#,
            ),
            (json!({}), "[] []"),
            (json!(true), "[] []"),
        ] {
            assert_eq!(names(&schema), want, "{schema}");
        }
    }
}
