//! Whether a candidate holds a value that nobody mentioned.

use std::collections::HashSet;

use serde_json::Value;

use crate::failure::Message;

/// Most bytes that are searched for the values of one candidate; what is not found by then counts
/// as novel.
const SEARCHED: usize = 64 << 20;

/// Everything that call, schema, error and context mention.
pub(crate) struct Known<'a> {
    /// Values of the failed call and of the schema, as JSON texts.
    scalars: HashSet<String>,
    /// Free text, in which a value counts if it stands there as a word of its own.
    texts: Vec<&'a str>,
}

impl<'a> Known<'a> {
    pub(crate) fn new(
        calls: impl IntoIterator<Item = &'a str>,
        schema: Option<&Value>,
        error: &'a str,
        context: &'a [Message],
    ) -> Self {
        let mut known = Self {
            scalars: HashSet::new(),
            texts: vec![error],
        };
        for call in calls {
            known.texts.push(call);
            if let Ok(value) = serde_json::from_str(call) {
                known.scalars.extend(scalars(&value).map(Value::to_string));
            }
        }
        known
            .texts
            .extend(context.iter().map(|message| &*message.text));
        if let Some(schema) = schema {
            known.add_schema(schema);
        }
        known
    }

    /// Adds what a schema mentions. Its own switches (`"additionalProperties": false`) are no
    /// values: a boolean counts only where values are listed.
    fn add_schema(&mut self, schema: &Value) {
        let mut open = vec![(schema, false)];
        while let Some((value, is_listed)) = open.pop() {
            match value {
                Value::Object(members) => {
                    for (key, member) in members {
                        let lists = matches!(&**key, "enum" | "const" | "default" | "examples");
                        self.scalars.insert(Value::from(&**key).to_string());
                        open.push((member, is_listed || lists));
                    }
                }
                Value::Array(items) => open.extend(items.iter().map(|item| (item, is_listed))),
                Value::Bool(_) if !is_listed => {}
                scalar => {
                    self.scalars.insert(scalar.to_string());
                }
            }
        }
    }

    /// Whether some scalar of `arguments` is mentioned nowhere. What says nothing (`null`, `""`) is
    /// never novel.
    pub(crate) fn lacks_any_of(&self, arguments: &Value) -> bool {
        let mut budget = SEARCHED;
        scalars(arguments)
            .filter(|scalar| !scalar.is_null() && scalar.as_str() != Some(""))
            .any(|scalar| {
                !self.scalars.contains(&scalar.to_string()) && !self.mentions(scalar, &mut budget)
            })
    }

    fn mentions(&self, scalar: &Value, budget: &mut usize) -> bool {
        let token = scalar.to_string();
        let word = scalar.as_str().unwrap_or(&token);
        self.texts.iter().any(|text| {
            let Some(rest) = budget.checked_sub(text.len()) else {
                return false;
            };
            *budget = rest;
            text.match_indices(word)
                .any(|(at, _)| stands_alone(text, at, at + word.len(), scalar.is_number()))
        })
    }
}

/// Whether the text from `start` to `end` is a word, and not a part of a longer word or number.
fn stands_alone(text: &str, start: usize, end: usize, is_number: bool) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let word = text.get(start..end).unwrap_or_default();
    let glued = |outside: Option<char>, inside: Option<char>| {
        outside.is_some_and(char::is_alphanumeric) && inside.is_some_and(char::is_alphanumeric)
    };
    let is_fraction = after
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let continues = is_number && (is_fraction || before.ends_with(['.', '-']));
    !glued(before.chars().next_back(), word.chars().next())
        && !glued(after.chars().next(), word.chars().next_back())
        && !continues
}

/// The scalars of a value, in no order that matters.
fn scalars(value: &Value) -> impl Iterator<Item = &Value> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        loop {
            match open.pop()? {
                Value::Object(members) => open.extend(members.values()),
                Value::Array(items) => open.extend(items),
                scalar => return Some(scalar),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_known_only_where_it_stands_as_it_is() {
        let schema = json!({
            "properties": {"mode": {"enum": ["fast", true]}, "limit": {"type": "integer", "maximum": 50}},
            "additionalProperties": false
        });
        let context = [Message::new(
            "user",
            "Look up order 4711 for Ada Lovelace, at 2.5 or -8.",
        )];
        let call = r#"{"q": "planets", "deep": {"list": [10, "x y"]}}"#;
        let known = Known::new([call], Some(&schema), "no file 'b.txt'", &context);
        for (value, novel) in [
            (json!("planets"), false),
            (json!("fast"), false),
            (json!("Ada Lovelace"), false),
            (json!("Ada"), false),
            (json!("b.txt"), false),
            (json!("x y"), false),
            (json!(4711), false),
            (json!("4711"), false),
            (json!(50), false),
            (json!(2.5), false),
            (json!(-8), false),
            (json!(true), false),
            (json!(null), false),
            (json!(""), false),
            (json!("mode"), false),
            (json!("planet"), true),
            (json!("Love"), true),
            (json!(471), true),
            (json!(5), true),
            (json!(8), true),
            (json!(2), true),
            (json!(false), true),
            (json!("secret"), true),
        ] {
            let arguments = json!({"a": [{"b": value}]});
            assert_eq!(known.lacks_any_of(&arguments), novel, "{arguments}");
        }
    }

    #[test]
    fn a_broken_call_is_searched_as_text() {
        let known = Known::new([r#"{"path": "a.txt", "n": 7"#], None, "", &[]);
        assert!(!known.lacks_any_of(&json!({"path": "a.txt", "n": 7})));
        assert!(known.lacks_any_of(&json!({"path": "b.txt"})));
    }
}
