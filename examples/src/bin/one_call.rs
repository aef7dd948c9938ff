//! One broken call, repaired: `cargo run -p toolmend-examples --bin one_call`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::json;
use toolmend::{Policy, RawCall, ToolSet, ToolSpec, Verdict};

fn main() {
    let search = ToolSpec::new(
        "search",
        json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["query"]
        }),
    );
    let (tools, _problems) = ToolSet::new([search]);
    let raw = RawCall::new("Search", r#"{"q": "planets", "tags": "[\"space\"]",}"#);
    match tools.repair(&raw, &Policy::default()) {
        Verdict::Valid(call) => println!("valid: {}", call.arguments().text()),
        Verdict::Repaired(repaired) => {
            println!(
                "repaired: {} {}",
                repaired.call().tool(),
                repaired.call().arguments().text()
            );
            println!("for the model: {}", repaired.note());
        }
        Verdict::Rejected(rejected) => println!("for the model: {}", rejected.feedback()),
    }
}
