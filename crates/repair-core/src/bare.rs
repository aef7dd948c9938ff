//! Bare JSON text, outside any call.

use std::borrow::Cow;
use std::iter;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::arguments::{Found, Target, search};
use crate::fix::Fix;
use crate::fixes::{Source, render_text_fix};
use crate::json::emit::emit;
use crate::json::lenient::{self, Lenient, Problem};
use crate::json::{Arena, MAX_DEPTH};
use crate::policy::{Limits, Policy};
use crate::schema::{self, Tree};

/// What came of a bare JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JsonRepair {
    /// Whether there is a value.
    pub ok: bool,
    /// The strict JSON text: of the value, or of an array of them where there are several
    /// different ones. Empty if there is none.
    pub text: String,
    /// Whether the input was cut off; then the text is the part that is certain.
    pub truncated: bool,
    /// What was changed.
    pub fixes: Vec<Fix>,
    /// Why there is no value.
    pub problem: Option<String>,
}

impl JsonRepair {
    fn failed(problem: impl Into<String>) -> Self {
        Self {
            problem: Some(problem.into()),
            ..Self::default()
        }
    }
}

/// A schema that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the schema does not compile: {0}")]
pub struct BadSchema(String);

/// Repairs a bare JSON text. With a schema, values are made to fit it too, where the fix is no
/// guess; a value that no rule makes fit stays as it is.
///
/// Unlike for a call, a cut text gives its certain part, and a non-finite number gives null. A text
/// longer than the default of [`Limits::bytes`] gives no value.
///
/// ```
/// let repaired = repair_core::repair_json("{'path': 'a.txt', 'n': 1,}", None)?;
/// assert_eq!(repaired.text, r#"{"path": "a.txt", "n": 1}"#);
/// # Ok::<(), repair_core::BadSchema>(())
/// ```
pub fn repair_json(input: &str, schema: Option<&Value>) -> Result<JsonRepair, BadSchema> {
    let compiled = schema
        .map(schema::compiled)
        .transpose()
        .map_err(BadSchema)?;
    let most = Limits::default().bytes;
    if input.len() > most {
        let problem = format!("the text is longer than {most} bytes");
        return Ok(JsonRepair::failed(problem));
    }
    let read = read(input, compiled.as_ref().map(|(tree, _)| tree));
    if let Some(problem) = read.problem
        && !matches!(problem, Problem::NonFinite(_))
    {
        return Ok(JsonRepair::failed(problem.to_string()));
    }
    let mut fixes: Vec<Fix> = read
        .fixes
        .iter()
        .map(|fix| render_text_fix(fix, input, &read.text))
        .collect();
    let target = compiled.as_ref().map(|(tree, judge)| Target {
        tree,
        judge: Some(judge),
        is_arguments: false,
    });
    let mut values = Vec::new();
    for value in &read.values {
        let text = read.text.get(value.clone()).unwrap_or_default();
        let (text, more) = fitted(text.to_owned(), target);
        values.push(text);
        fixes.extend(more);
    }
    let text = match values.as_slice() {
        [] => return Ok(JsonRepair::failed(Problem::NoValue.to_string())),
        [only] => only.clone(),
        several => format!("[{}]", several.join(",")),
    };
    Ok(JsonRepair {
        ok: true,
        text,
        truncated: read.cut.is_some(),
        fixes,
        problem: None,
    })
}

/// Reads a text: as it stands if it is strict.
fn read(input: &str, tree: Option<&Tree>) -> Lenient {
    let Err((_, attempt)) = Arena::attempt(Cow::Borrowed(input), MAX_DEPTH) else {
        return Lenient {
            text: input.to_owned(),
            values: iter::once(0..input.len()).collect(),
            ..Lenient::default()
        };
    };
    let attempt = Some(&attempt);
    match tree {
        Some(tree) => lenient::read(input, attempt, tree, Some(tree.root()), MAX_DEPTH),
        None => lenient::read(input, attempt, &Tree::any_object(), None, MAX_DEPTH),
    }
}

/// A strict text made to fit, where that is no guess.
fn fitted(text: String, target: Option<Target<'_>>) -> (String, Vec<Fix>) {
    let Some(target) = target else {
        return (text, Vec::new());
    };
    let Ok((mut arena, root)) = Arena::read(Cow::Borrowed(&text), MAX_DEPTH) else {
        return (text, Vec::new());
    };
    if target.accepts(&arena, root) {
        return (text, Vec::new());
    }
    let Found::One(best, _) = search(&mut arena, root, target, &Policy::default()) else {
        return (text, Vec::new());
    };
    if best
        .steps
        .iter()
        .any(|step| step.risk == crate::Risk::Guess)
    {
        return (text, Vec::new());
    }
    for step in &best.steps {
        step.edit.apply(&mut arena);
    }
    let fitted = emit(&arena, root);
    let source = Source {
        arena,
        root,
        steps: best.steps,
        ..Source::default()
    };
    (fitted, source.render())
}
