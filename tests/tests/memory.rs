//! No text makes a repair take more memory than a bounded multiple of it. Alone in its process: it
//! counts every allocation.
#![allow(missing_docs, clippy::unwrap_used)]

use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use toolmend::repair_json;
use toolmend_tests::adversarial::{PATTERNS, texts, units};

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

/// Most bytes for each byte of a text, and beside that: a node for each character and its fix, and
/// the bounded trials of doubtful quotes.
const FOR_EACH_BYTE: usize = 100;
const BESIDE: usize = 2 << 20;

/// How much more a text twice as long may take: less than four times, which were its square.
const FOR_TWICE: usize = 3;

fn taken(text: &str, schema: Option<&Value>) -> usize {
    let before = ALLOCATIONS.current_usage();
    ALLOCATIONS.reset_peak_usage();
    repair_json(text, schema).unwrap();
    ALLOCATIONS.peak_usage().saturating_sub(before)
}

// One test: others beside it would be counted.
#[test]
fn hostile_texts_take_bounded_memory() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "content": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}}
    }, "additionalProperties": false});
    for schema in [None, Some(&schema)] {
        for (name, unit) in PATTERNS {
            let texts = texts(unit, 100_000);
            // Items without commas need three fixes for six bytes.
            let known = texts.iter().enumerate().filter(|(shape, _)| *shape != 4);
            for (shape, text) in known {
                let (taken, most) = (taken(text, schema), FOR_EACH_BYTE * text.len() + BESIDE);
                assert!(taken <= most, "{name}, shape {shape}: {taken} bytes");
            }
        }
        for unit in units() {
            // An odd number of quotes reads otherwise than an even one.
            let unit = unit.repeat(4);
            let pairs = texts(&unit, 20_000).into_iter().zip(texts(&unit, 40_000));
            for (shape, (once, twice)) in pairs.enumerate() {
                let (once, twice) = (taken(&once, schema), taken(&twice, schema));
                let most = FOR_TWICE * once + BESIDE;
                assert!(twice <= most, "{unit:?}, shape {shape}: {once}, {twice}");
            }
        }
    }
}
