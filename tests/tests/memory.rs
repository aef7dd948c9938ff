//! No text makes a repair take more memory than a bounded multiple of it. Alone in its process: it
//! counts every allocation.
#![allow(missing_docs)]

use peak_alloc::PeakAlloc;
use serde_json::json;
use toolmend::repair_json;
use toolmend_tests::adversarial::{texts, units};

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

/// Most bytes for each byte of a text, and beside that: a node for each character and its fix, and
/// the bounded trials of doubtful quotes.
const FOR_EACH_BYTE: usize = 100;
const BESIDE: usize = 2 << 20;

#[test]
fn hostile_texts_take_bounded_memory() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "content": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}}
    }, "additionalProperties": false});
    for unit in units() {
        for schema in [None, Some(&schema)] {
            for (shape, text) in texts(&unit, 50_000).iter().enumerate() {
                let before = ALLOCATIONS.current_usage();
                ALLOCATIONS.reset_peak_usage();
                repair_json(text, schema).unwrap();
                let taken = ALLOCATIONS.peak_usage().saturating_sub(before);
                let most = FOR_EACH_BYTE * text.len() + BESIDE;
                assert!(
                    taken <= most,
                    "{unit:?}, shape {shape}, {schema:?}: {taken} bytes"
                );
            }
        }
    }
}
