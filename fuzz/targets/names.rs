//! Any names. The first line is what the model wrote, the others are the tools: `!` before a name
//! withholds the tool, `~` makes it destructive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use repair_core::{Effect, Policy, RawCall, Reason, Stage, ToolSet, ToolSpec, Verdict};

/// Letters and digits, in lower case.
fn letters(text: &str) -> Vec<char> {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.lines();
    let emitted = lines.next().unwrap_or_default();
    let mut specs = Vec::new();
    let mut permitted = Vec::new();
    for line in lines.take(12) {
        let name = line.trim_start_matches(['!', '~']);
        let marks = &line[..line.len() - name.len()];
        let effect = if marks.contains('~') {
            Effect::Destructive
        } else {
            Effect::ReadOnly
        };
        specs.push(ToolSpec::without_schema(name).with_effect(effect));
        if !marks.contains('!') {
            permitted.push(name.to_owned());
        }
    }
    let (tools, _) = ToolSet::new(specs);
    let tools = tools.with_permitted(permitted.clone());
    let raw = RawCall::new(emitted, "{}");
    let verdict = tools.repair(&raw, &Policy::default());
    let spec = |name: &str| tools.specs().filter(|spec| spec.name() == name).last();
    let is_known = spec(emitted).is_some();
    let is_permitted = |name: &str| permitted.iter().any(|other| other == name);
    match &verdict {
        Verdict::Valid(call) => assert_eq!(call.tool(), emitted, "only an exact name is valid"),
        Verdict::Repaired(repaired) => {
            let call = repaired.call();
            assert!(!is_known, "an exact name is never changed");
            let resolved = spec(call.tool()).expect("a resolved name is a tool's name");
            let is_slip = repaired.fixes().iter().any(|fix| fix.rule == "name_slip");
            let wanted = letters(call.tool());
            let written = letters(emitted);
            let is_written =
                wanted.is_empty() || written.windows(wanted.len()).any(|part| part == wanted);
            assert!(
                is_slip || is_written,
                "{emitted:?} never named {:?}",
                call.tool()
            );
            assert!(
                !is_slip || resolved.effect() != Effect::Destructive,
                "a slip never leads to a destructive tool"
            );
            let stages = repaired.fixes().iter().map(|fix| fix.stage);
            assert!(stages.into_iter().all(|stage| stage == Stage::Name));
        }
        Verdict::Rejected(rejected) => {
            assert!(
                !(is_known && is_permitted(emitted)),
                "an exact, permitted name is a call: {rejected:?}"
            );
            let is_withheld = is_known && !is_permitted(emitted);
            assert!(!is_withheld || rejected.reason() == Reason::NotPermitted);
            assert!(rejected.feedback().len() < 20_000, "feedback is bounded");
        }
    }
    if let Some(call) = verdict.call() {
        assert!(is_permitted(call.tool()), "only permitted tools are called");
        let again = tools
            .repair(&RawCall::new(call.tool(), "{}"), &Policy::default())
            .into_owned();
        assert!(matches!(again, Verdict::Valid(_)), "repairs are final");
    }
});
