//! Any text as the arguments of a call. The first two bytes choose the schema and how the text
//! ended.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use repair_core::{Effect, Finish, RawCall};
use serde_json::json;
use toolmend_fuzz::{Subject, TOOL, check_bare};

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let schemas = [
        json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": false
        }),
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "items": {"type": "string"}},
                "mode": {"enum": ["fast", "slow", "very_slow"]},
                "deep": {"type": ["boolean", "null"]},
                "where": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
            },
            "required": ["query"]
        }),
        json!({"type": "object"}),
        json!({
            "type": "object",
            "properties": {
                "edits": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"old_string": {"type": "string"}, "new_string": {"type": "string"}},
                    "required": ["old_string", "new_string"],
                    "additionalProperties": false
                }},
                "file_path": {"type": "string"},
                "point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false},
                "any": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "integer"}}]}
            },
            "required": ["file_path"]
        }),
    ];
    let effects = [Effect::ReadOnly, Effect::Mutating, Effect::Destructive];
    schemas
        .iter()
        .flat_map(|schema| effects.map(|effect| Subject::new(schema, effect)))
        .map(|subject| subject.expect("the schemas compile"))
        .collect()
});

const FINISHES: [Finish; 3] = [Finish::Unknown, Finish::Complete, Finish::Cut];

fuzz_target!(|data: &[u8]| {
    let [subject, finish, text @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let finish = FINISHES[usize::from(*finish) % FINISHES.len()];
    let subject = &SUBJECTS[usize::from(*subject) % SUBJECTS.len()];
    subject.check(&RawCall::new(TOOL, &*text).with_finish(finish));
    check_bare(&text);
});
