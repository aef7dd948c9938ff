//! Whether proposed arguments are a call.

use std::sync::Arc;

use repair_core::{ArgumentError, Call, Fix, Policy, RawCall, Rejected, ToolSet, Verdict};
use serde_json::Value;

use crate::event::Rejection;

/// What is known about proposed arguments.
pub(crate) enum Checked {
    /// They are a call, perhaps after repairs that the policy accepts.
    Call(Arc<Call<'static>>, Vec<Fix>),
    /// They would be one if these required values were known.
    Missing(Vec<String>),
    /// They are none.
    Refused(Rejection),
}

/// Checks arguments by the same pipeline that a model's call goes through. Nobody knows whether
/// who proposed them had finished, so what is not closed counts as cut off.
pub(crate) fn check(tools: &ToolSet, policy: &Policy, raw: &RawCall<'_>) -> Checked {
    match tools.repair(raw, policy).into_owned() {
        Verdict::Valid(call) => Checked::Call(Arc::new(call), Vec::new()),
        Verdict::Repaired(repaired) => {
            let fixes = repaired.fixes().iter().cloned().collect();
            Checked::Call(Arc::new(repaired.call().clone().into_owned()), fixes)
        }
        Verdict::Rejected(rejected) => match missing_values(tools, policy, raw, &rejected) {
            Some(paths) => Checked::Missing(paths),
            None => Checked::Refused(Rejection::Invalid(rejected.feedback().into())),
        },
    }
}

/// The required values that are null where null is no value, if nothing else is wrong: without
/// them, exactly they are missing.
fn missing_values(
    tools: &ToolSet,
    policy: &Policy,
    raw: &RawCall<'_>,
    rejected: &Rejected,
) -> Option<Vec<String>> {
    let is_null = |error: &&ArgumentError| error.got == "null";
    let nulls = rejected.errors().iter().filter(is_null);
    let nulls: Vec<String> = nulls.map(|error| error.path.clone()).collect();
    if nulls.is_empty() {
        return None;
    }
    let mut value: Value = serde_json::from_str(raw.arguments()?).ok()?;
    for path in nulls.iter().rev() {
        let (parent, key) = path.rsplit_once('/')?;
        let key = key.replace("~1", "/").replace("~0", "~");
        value
            .pointer_mut(parent)?
            .as_object_mut()?
            .shift_remove(&key);
    }
    let without = RawCall::from_value(raw.name(), &value);
    let verdict = tools.repair(&without, policy);
    let Verdict::Rejected(rejected) = &verdict else {
        return None;
    };
    let missing: Vec<String> = rejected
        .errors()
        .iter()
        .map(|error| error.path.clone())
        .collect();
    let only_missing = !missing.is_empty()
        && rejected
            .errors()
            .iter()
            .all(|error| error.got == "nothing" && nulls.contains(&error.path));
    only_missing.then_some(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use repair_core::ToolSpec;
    use serde_json::json;

    #[test]
    fn a_null_for_a_required_value_is_a_missing_value_if_nothing_else_is_wrong() {
        let schema = json!({
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "cc": {"type": "string"},
                "note": {"type": ["string", "null"]},
                "at": {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]},
                "tags": {"type": "array", "items": {"type": "string"}}
            },
            "required": ["to", "note", "at"],
            "additionalProperties": false
        });
        let (tools, _) = ToolSet::new([ToolSpec::new("send", schema)]);
        let missing = |arguments: &str| match check(
            &tools,
            &Policy::default(),
            &RawCall::new("send", arguments),
        ) {
            Checked::Missing(paths) => Some(paths.join(" ")),
            Checked::Call(..) | Checked::Refused(_) => None,
        };
        let want = |paths: &str| Some(paths.to_owned());
        assert_eq!(
            missing(r#"{"to":null,"note":null,"at":{"day":1}}"#),
            want("/to")
        );
        assert_eq!(
            missing(r#"{"to":null,"cc":null,"note":null,"at":{"day":1}}"#),
            want("/to")
        );
        assert_eq!(
            missing(r#"{"to":"a","note":null,"at":{"day":null}}"#),
            want("/at/day")
        );
        assert_eq!(
            missing(r#"{"to":null,"note":null,"at":{"day":1},"x":7}"#),
            None
        );
        assert_eq!(
            missing(r#"{"to":"a","note":null,"at":{"day":1},"tags":[null]}"#),
            None
        );
        assert_eq!(missing(r#"{"note":null,"at":{"day":1}}"#), None);
        assert_eq!(missing(r#"{"to":"a","note":null,"at":{"day":1}}"#), None);
    }
}
