//! Prints how long hostile texts take at doubling sizes: `cargo run --release -p toolmend-tests
//! --example adversarial [BYTES]`. Twice the size may take twice the time, not more.

#![allow(clippy::print_stdout, reason = "it prints its table")]

use std::time::Instant;

use serde_json::json;
use toolmend::repair_json;
use toolmend_tests::adversarial::{PATTERNS, SHAPES, texts};

fn main() -> Result<(), toolmend::BadSchema> {
    let most = std::env::args().nth(1).and_then(|size| size.parse().ok());
    let most: usize = most.unwrap_or(8_000_000);
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "content": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}}
    }, "additionalProperties": false});
    for (name, unit) in PATTERNS {
        for schema in [None, Some(&schema)] {
            for shape in 0..SHAPES {
                print!(
                    "{name}, shape {shape}, {} schema:",
                    if schema.is_some() { "a" } else { "no" }
                );
                for size in [most / 4, most / 2, most] {
                    let texts = texts(unit, size);
                    let Some(text) = texts.get(shape) else {
                        continue;
                    };
                    let start = Instant::now();
                    repair_json(text, schema)?;
                    print!(" {:.3} s", start.elapsed().as_secs_f64());
                }
                println!();
            }
        }
    }
    Ok(())
}
