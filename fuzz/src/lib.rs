//! What every fuzz target asserts of a call: the promises of `repair-core`, by means of its own.
//! The validator reads `serde_json` values, so that the judge on the arena is checked as well.

pub mod generate;
mod origin;
mod strict;

use repair_core::{Effect, Finish, Fix, Policy, RawCall, Risk, Stage, ToolSet, ToolSpec, Verdict};
use serde_json::{Map, Value};

/// A tool set of one tool, and a validator of its own.
pub struct Subject {
    tools: ToolSet,
    validator: jsonschema::Validator,
    schema: Value,
}

/// The tool's name.
pub const TOOL: &str = "tool";

impl Subject {
    /// `None` for a schema that does not compile.
    pub fn new(schema: &Value, effect: Effect) -> Option<Self> {
        let (tools, problems) =
            ToolSet::new([ToolSpec::new(TOOL, schema.clone()).with_effect(effect)]);
        let validator = jsonschema::options().offline().build(schema).ok()?;
        problems.is_empty().then(|| Self {
            tools,
            validator,
            schema: schema.clone(),
        })
    }

    /// Whether a text is strict JSON for an object that validates, with no key twice.
    fn is_right(&self, text: &str) -> bool {
        strict::object(text).is_some_and(|value| self.validator.is_valid(&value))
    }

    /// Asserts every promise about one call that can be told from outside.
    pub fn check(&self, raw: &RawCall<'_>) {
        let policy = Policy::default();
        let verdict = self.tools.repair(raw, &policy);
        let again = format!("{:?}", self.tools.repair(raw, &policy));
        assert_eq!(format!("{verdict:?}"), again, "same input, same output");
        let text = raw.arguments().unwrap_or_default();
        if self.is_right(text) {
            let Verdict::Valid(call) = &verdict else {
                panic!("valid in, identical out: {text:?} gave {verdict:?}");
            };
            assert_eq!(call.arguments().text(), text, "valid in, identical out");
        }
        let history: Result<Map<String, Value>, _> =
            serde_json::from_str(&verdict.history_call().arguments);
        assert!(history.is_ok(), "the history stays valid: {text:?}");
        match &verdict {
            Verdict::Rejected(rejected) => {
                let size = rejected.feedback().len();
                assert!(size < 20_000, "feedback is bounded: {size}");
                for candidate in rejected.candidates() {
                    let arguments = &candidate.arguments;
                    assert!(strict::is_text(arguments), "a candidate is strict: {arguments:?}");
                    let value = strict::object(arguments);
                    let is_right = value.is_none_or(|value| self.validator.is_valid(&value));
                    assert!(!candidate.valid || is_right, "a valid candidate validates");
                }
            }
            Verdict::Valid(call) => {
                assert_eq!(call.arguments().text(), text, "valid means unchanged");
                self.check_call(raw, call.arguments().text(), &[]);
            }
            Verdict::Repaired(repaired) => {
                let fixes: Vec<Fix> = repaired.fixes().iter().cloned().collect();
                assert!(!fixes.is_empty(), "a repair has a fix");
                assert!(!repaired.note().is_empty(), "a repair has a note");
                self.check_call(raw, repaired.call().arguments().text(), &fixes);
            }
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
                assert!(
                    verdict.call().is_none(),
                    "a cut is not a call: {cut:?} gave {verdict:?}"
                );
            }
        }
    }

    fn check_call(&self, raw: &RawCall<'_>, text: &str, fixes: &[Fix]) {
        let emitted = raw.arguments().unwrap_or_default();
        assert!(strict::is_text(text), "strict text out: {emitted:?} gave {text:?}");
        // Beyond the doubles there is no value to check with.
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return;
        };
        assert!(value.is_object(), "arguments are an object: {text}");
        assert!(
            self.validator.is_valid(&value),
            "a repaired call validates: {emitted:?} gave {text:?}"
        );
        let again = RawCall::new(TOOL, text);
        let verdict = self.tools.repair(&again, &Policy::default());
        assert!(
            matches!(&verdict, Verdict::Valid(call) if call.arguments().text() == text),
            "repairs are final: {emitted:?} gave {text:?}, then {verdict:?}"
        );
        if raw.finish() == Finish::Cut {
            assert!(fixes.is_empty(), "a cut is not a call: {emitted:?} gave {text:?}");
        }
        assert!(
            fixes.iter().all(|fix| fix.risk <= Risk::Inferred),
            "no guess is applied"
        );
        self.check_undone(&value, fixes, emitted);
        let mut scalars = Vec::new();
        strict::scalars(&value, &mut scalars);
        for scalar in scalars {
            assert!(
                origin::is_of_schema(scalar, &self.schema) || origin::is_of_text(scalar, emitted),
                "nothing is invented: {scalar} of {text:?} is not in {emitted:?}"
            );
        }
    }

    /// Every fix of the arguments is needed: with it undone, the validator refuses.
    fn check_undone(&self, value: &Value, fixes: &[Fix], emitted: &str) {
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
            if NOT_FOR_THE_SCHEMA.contains(&fix.rule.as_str()) || !is_alone {
                continue;
            }
            if let Some(undone) = undo(value, fix) {
                assert!(
                    !self.validator.is_valid(&undone),
                    "undone, {fix:?} is not missed: {emitted:?}, {undone}"
                );
            }
        }
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
            *items.get_mut(last.parse::<usize>().ok()?)? = serde_json::from_str(&fix.before).ok()?;
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
    assert!(strict::is_text(strict), "strict text out: {text:?} gave {strict:?}");
    let again = repair_core::repair_json(strict, None).expect("no schema, no bad schema");
    assert!(
        again.ok && again.text == *strict && again.fixes.is_empty() && !again.truncated,
        "repairs are final: {text:?} gave {strict:?}, then {again:?}"
    );
}
