//! Generated schemas, values for them, and breakages.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use repair_core::{Effect, Finish, RawCall};
use serde_json::Value;
use toolmend_fuzz::{Subject, TOOL, generate};

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let effect = *u.choose(&[Effect::ReadOnly, Effect::Mutating, Effect::Destructive])?;
    let finish = *u.choose(&[Finish::Complete, Finish::Unknown, Finish::Cut])?;
    let schema = generate::schema(u)?;
    let Some(subject) = Subject::new(&schema, effect) else {
        return Ok(());
    };
    let mut text = generate::text(u, &schema, &schema, 0)?;
    subject.check(&RawCall::new(TOOL, text.as_str()).with_finish(finish));
    subject.check_cuts(&text, effect);
    if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
        for _ in 0..u.int_in_range(0..=3)? {
            generate::break_value(u, &mut value)?;
        }
        text = value.to_string();
        subject.check(&RawCall::new(TOOL, text.as_str()).with_finish(finish));
    }
    for _ in 0..u.int_in_range(0..=3)? {
        text = generate::break_text(u, &text)?;
    }
    subject.check(&RawCall::new(TOOL, text.as_str()).with_finish(finish));
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    // Bytes that end early are no input.
    let _ = run(&mut Unstructured::new(data));
});
