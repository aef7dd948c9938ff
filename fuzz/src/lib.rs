//! What every fuzz target asserts of a call: the promises of `repair-core`, by means of its own.
//! The validator reads `serde_json` values, so that the judge on the arena is checked as well.

pub mod generate;
mod origin;
mod strict;

use std::fmt::Debug;

use repair_core::{
    Effect, Finish, Fix, Policy, RawCall, Rejected, Risk, Stage, ToolSet, ToolSpec, Verdict,
};
use serde_json::{Map, Value};

/// A tool set of one tool, and validators of its own.
pub struct Subject {
    tools: ToolSet,
    /// Of the schema with `nullable` made plain, and of the schema as written: a value is valid that
    /// one of them accepts. (Below `if` or `not`, either can be the stricter one.)
    validators: [jsonschema::Validator; 2],
    schema: Value,
}

/// The tool's name.
pub const TOOL: &str = "tool";

impl Subject {
    /// `None` for a schema that does not compile.
    pub fn new(schema: &Value, effect: Effect) -> Option<Self> {
        let (tools, problems) =
            ToolSet::new([ToolSpec::new(TOOL, schema.clone()).with_effect(effect)]);
        let validator = |schema: &Value| jsonschema::options().offline().build(schema).ok();
        let validators = [validator(&plain(schema))?, validator(schema)?];
        problems.is_empty().then(|| Self {
            tools,
            validators,
            schema: schema.clone(),
        })
    }

    /// Whether a text is strict JSON for an object that validates, with no key twice.
    fn is_right(&self, text: &str) -> bool {
        strict::object(text).is_some_and(|value| self.accepts(&value))
    }

    fn accepts(&self, value: &Value) -> bool {
        self.validators
            .iter()
            .any(|validator| validator.is_valid(value))
    }

    /// Asserts every promise about one call that can be told from outside.
    pub fn check(&self, raw: &RawCall<'_>) {
        let policy = Policy::default();
        let verdict = self.tools.repair(raw, &policy);
        let again = self.tools.repair(raw, &policy);
        let is_same = format!("{verdict:?}") == format!("{again:?}");
        self.promise(raw, is_same, "same input, same output", &(&verdict, &again));
        let text = raw.arguments().unwrap_or_default();
        if self.is_right(text) {
            let is_valid =
                matches!(&verdict, Verdict::Valid(call) if call.arguments().text() == text);
            self.promise(raw, is_valid, "valid in, identical out", &verdict);
        }
        let history = verdict.history_call().arguments;
        let is_object = strict::is_text(&history) && history.trim_start().starts_with('{');
        self.promise(raw, is_object, "the history stays valid", &history);
        match &verdict {
            Verdict::Rejected(rejected) => self.check_rejected(raw, rejected),
            Verdict::Valid(call) => {
                let is_unchanged = call.arguments().text() == text;
                self.promise(raw, is_unchanged, "valid means unchanged", &verdict);
                self.check_call(raw, call.arguments().text(), &[]);
            }
            Verdict::Repaired(repaired) => {
                let fixes: Vec<Fix> = repaired.fixes().iter().cloned().collect();
                let is_told = !fixes.is_empty() && !repaired.note().is_empty();
                self.promise(raw, is_told, "a repair has a fix and a note", &verdict);
                self.check_call(raw, repaired.call().arguments().text(), &fixes);
            }
        }
    }

    fn promise(&self, raw: &RawCall<'_>, holds: bool, what: &str, got: &dyn Debug) {
        assert!(
            holds,
            "{what}\n  schema: {}\n  call: {raw:?}\n  got: {got:?}",
            self.schema
        );
    }

    fn check_rejected(&self, raw: &RawCall<'_>, rejected: &Rejected) {
        let feedback = rejected.feedback();
        self.promise(
            raw,
            feedback.len() < 20_000,
            "feedback is bounded",
            &feedback,
        );
        for candidate in rejected.candidates() {
            let is_strict = strict::is_text(&candidate.arguments);
            self.promise(raw, is_strict, "a candidate is strict", candidate);
            let value = strict::object(&candidate.arguments);
            let is_right = value.is_none_or(|value| self.accepts(&value));
            let is_honest = !candidate.valid || is_right;
            self.promise(raw, is_honest, "a valid candidate validates", candidate);
        }
    }

    /// Asserts that no beginning of a valid text is a call with effects.
    pub fn check_cuts(&self, text: &str, effect: Effect) {
        if matches!(effect, Effect::ReadOnly | Effect::Idempotent) || !self.is_right(text) {
            return;
        }
        for (at, _) in text.char_indices() {
            let cut = &text[..at];
            // Nothing at all is no cut but a call without arguments.
            if cut.trim().is_empty() {
                continue;
            }
            for finish in [Finish::Unknown, Finish::Complete, Finish::Cut] {
                let raw = RawCall::new(TOOL, cut).with_finish(finish);
                let verdict = self.tools.repair(&raw, &Policy::default());
                let is_refused = verdict.call().is_none();
                self.promise(&raw, is_refused, "a cut is not a call", &verdict);
            }
        }
    }

    fn check_call(&self, raw: &RawCall<'_>, text: &str, fixes: &[Fix]) {
        let promise = |holds, what: &str, got: &dyn Debug| self.promise(raw, holds, what, got);
        promise(strict::is_text(text), "strict text out", &text);
        // Beyond the doubles there is no value to check with.
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return;
        };
        promise(value.is_object(), "arguments are an object", &text);
        promise(
            self.accepts(&value),
            "a repaired call validates",
            &(text, fixes),
        );
        let again = RawCall::new(TOOL, text);
        let verdict = self.tools.repair(&again, &Policy::default());
        let is_final = matches!(&verdict, Verdict::Valid(call) if call.arguments().text() == text);
        promise(is_final, "repairs are final", &(text, &verdict));
        let may_repair = raw.finish() != Finish::Cut || fixes.is_empty();
        promise(may_repair, "a cut is not a call", &(text, fixes));
        let is_sure = fixes.iter().all(|fix| fix.risk <= Risk::Inferred);
        promise(is_sure, "no guess is applied", &fixes);
        self.check_undone(raw, &value, fixes);
        let mut scalars = Vec::new();
        strict::scalars(&value, &mut scalars);
        for scalar in scalars {
            promise(
                self.is_known(scalar, raw),
                "nothing is invented",
                &(scalar, text, fixes),
            );
        }
    }

    /// Whether a scalar comes from the call or the schema. The JSON text of a container may have
    /// become a string: then what it holds counts, not its escapes.
    fn is_known(&self, scalar: &Value, raw: &RawCall<'_>) -> bool {
        let emitted = raw.arguments().unwrap_or_default();
        if origin::is_of_schema(scalar, &self.schema) || origin::is_of_text(scalar, emitted) {
            return true;
        }
        let inner: Option<Value> = scalar
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let Some(inner) = inner.filter(|inner| inner.is_object() || inner.is_array()) else {
            return false;
        };
        let mut scalars = Vec::new();
        strict::scalars(&inner, &mut scalars);
        scalars
            .into_iter()
            .all(|scalar| origin::is_of_text(scalar, emitted))
    }

    /// Every fix of the arguments is needed: with it undone, the validator refuses.
    fn check_undone(&self, raw: &RawCall<'_>, value: &Value, fixes: &[Fix]) {
        /// Fixes that strictness asks for, not the schema.
        const NOT_FOR_THE_SCHEMA: [&str; 2] = ["duplicate_key", "empty_arguments"];
        /// More fixes than this are not checked one by one.
        const CHECKED: usize = 16;
        let fixes: Vec<&Fix> = fixes
            .iter()
            .filter(|fix| fix.stage == Stage::Arguments)
            .collect();
        if fixes.len() > CHECKED {
            return;
        }
        for fix in &fixes {
            // Fixes inside a value that another fix made are undone with that one.
            let is_alone = fixes.iter().all(|other| {
                std::ptr::eq(*other, *fix)
                    || !(fix.path.starts_with(&other.path) || other.path.starts_with(&fix.path))
            });
            if NOT_FOR_THE_SCHEMA.contains(&&*fix.rule) || !is_alone {
                continue;
            }
            if let Some(undone) = undo(value, fix) {
                let is_missed = !self.accepts(&undone);
                self.promise(raw, is_missed, "undone, a fix is missed", &(fix, undone));
            }
        }
    }
}

/// The schema with `nullable` in words that every validator knows.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: Map<String, Value> = members
                .iter()
                .map(|(key, inner)| (key.clone(), plain(inner)))
                .collect();
            if members.get("nullable") == Some(&Value::Bool(true)) {
                members["type"] = Value::from(vec![members["type"].clone(), "null".into()]);
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// The value without a fix; `None` where the fix does not show enough to tell.
fn undo(value: &Value, fix: &Fix) -> Option<Value> {
    let is_excerpt = |text: &str| text.contains('…');
    if is_excerpt(&fix.before) || is_excerpt(&fix.after) {
        return None;
    }
    let mut value = value.clone();
    let (parent, last) = match fix.path.rsplit_once('/') {
        Some((parent, last)) => (parent, last.replace("~1", "/").replace("~0", "~")),
        None => return serde_json::from_str(&fix.before).ok(),
    };
    let parent = value.pointer_mut(parent)?;
    let is_member = fix.before.starts_with('"') && fix.before.contains("\":");
    match parent {
        Value::Array(items) => {
            *items.get_mut(last.parse::<usize>().ok()?)? =
                serde_json::from_str(&fix.before).ok()?;
        }
        Value::Object(members) if fix.before.is_empty() => {
            members.shift_remove(&last)?;
        }
        Value::Object(members) if fix.after.is_empty() => {
            // A member that was left out, with its key.
            let dropped: Map<String, Value> =
                serde_json::from_str(&format!("{{{}}}", fix.before)).ok()?;
            members.extend(dropped);
        }
        Value::Object(members) if fix.rule.starts_with("key_") => {
            let key: String = serde_json::from_str(&fix.before).ok()?;
            let inner = members.shift_remove(&last)?;
            members.insert(key, inner);
        }
        Value::Object(_) if is_member => return None,
        Value::Object(members) => {
            *members.get_mut(&last)? = serde_json::from_str(&fix.before).ok()?;
        }
        _ => return None,
    }
    Some(value)
}

/// Bare texts: strict JSON out, and nothing left to repair in it.
pub fn check_bare(text: &str) {
    let repaired = repair_core::repair_json(text, None).expect("no schema, no bad schema");
    if !repaired.ok {
        return;
    }
    let strict = &repaired.text;
    assert!(
        strict::is_text(strict),
        "strict text out: {text:?} gave {strict:?}"
    );
    let again = repair_core::repair_json(strict, None).expect("no schema, no bad schema");
    assert!(
        again.ok && again.text == *strict && again.fixes.is_empty() && !again.truncated,
        "repairs are final: {text:?} gave {strict:?}, then {again:?}"
    );
}
