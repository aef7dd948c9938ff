//! What may be applied without asking: by effect, by tool set, by tool, by rule.

use serde_json::json;
use toolmend::repair_core::Loss;
use toolmend::{Effect, Policy, RawCall, Reason, Risk, RuleSetting, ToolSet, ToolSpec, Verdict};

const LOSSLESS: &str = r#"{"n": "5"}"#;
const INFERRED: &str = r#"{"n": 5, "list": "x"}"#;
const GUESS: &str = r#"{"n": 5, "mode": "fst"}"#;
const DROPS: &str = r#"{"n": 5, "why": "so"}"#;

fn verdict(effect: Effect, policy: &Policy, arguments: &str) -> Verdict<'static> {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "list": {"type": "array", "items": {"type": "string"}},
            "mode": {"enum": ["fast", "thorough"]}
        },
        "required": ["n"],
        "additionalProperties": false
    });
    let (tools, _) = ToolSet::new([ToolSpec::new("tool", schema).with_effect(effect)]);
    tools
        .repair(&RawCall::new("tool", arguments), policy)
        .into_owned()
}

/// Which of the four are applied; the others must be candidates that need approval.
fn applied(effect: Effect, policy: &Policy) -> [bool; 4] {
    [LOSSLESS, INFERRED, GUESS, DROPS].map(|arguments| match verdict(effect, policy, arguments) {
        Verdict::Repaired(_) => true,
        Verdict::Rejected(rejected) => {
            assert_eq!(rejected.reason(), Reason::NeedsApproval, "{arguments}");
            assert!(rejected.candidates().iter().all(|one| one.valid));
            assert!(!rejected.candidates().is_empty());
            false
        }
        Verdict::Valid(_) => panic!("{arguments}"),
    })
}

#[test]
fn effects_and_accepted_risks_decide() {
    let plain = Policy::default();
    let guess = Policy::default().with_accepted(Risk::Guess);
    let strict = Policy::default().with_accepted(Risk::Lossless);
    let here = Policy::default().with_accepted_for("tool", Risk::Guess);
    let elsewhere = Policy::default().with_accepted_for("other", Risk::Guess);
    let both = guess.clone().with_accepted_for("tool", Risk::Lossless);
    for (effect, policy, wanted) in [
        (Effect::ReadOnly, &plain, [true, true, false, false]),
        (Effect::Idempotent, &plain, [true, true, false, false]),
        (Effect::Unknown, &plain, [true, true, false, false]),
        (Effect::Mutating, &plain, [true, true, false, false]),
        (Effect::Destructive, &plain, [true, false, false, false]),
        (Effect::ReadOnly, &guess, [true, true, true, true]),
        // A value is never dropped from a call that may change something.
        (Effect::Mutating, &guess, [true, true, true, false]),
        // What is said of all tools says nothing of destructive ones.
        (Effect::Destructive, &guess, [true, false, false, false]),
        (Effect::Destructive, &here, [true, true, true, false]),
        (Effect::ReadOnly, &strict, [true, false, false, false]),
        (Effect::ReadOnly, &elsewhere, [true, true, false, false]),
        (Effect::ReadOnly, &both, [true, false, false, false]),
    ] {
        assert_eq!(applied(effect, policy), wanted, "{effect:?} {policy:?}");
    }
}

#[test]
fn the_host_knows_effects_better_than_the_spec() {
    let policy = Policy::default().with_effect("tool", Effect::Destructive);
    assert_eq!(
        applied(Effect::ReadOnly, &policy),
        [true, false, false, false]
    );
    let policy = Policy::default().with_default_effect(Effect::Destructive);
    assert_eq!(
        applied(Effect::Unknown, &policy),
        [true, false, false, false]
    );
    assert_eq!(
        applied(Effect::Mutating, &policy),
        [true, true, false, false]
    );
}

#[test]
fn rules_are_switched_off_and_moved() {
    let off = Policy::default().with_rule("stringified_number", RuleSetting::Off);
    let Verdict::Rejected(rejected) = verdict(Effect::ReadOnly, &off, LOSSLESS) else {
        panic!("the only rule that helps is off");
    };
    assert_eq!(rejected.reason(), Reason::Arguments);
    assert!(rejected.candidates().is_empty());

    // What a rule's fixes count as shows in the fixes and in the candidates.
    let moved = Policy::default().with_rule("stringified_number", RuleSetting::Guess);
    let Verdict::Rejected(rejected) = verdict(Effect::ReadOnly, &moved, LOSSLESS) else {
        panic!("a guess is not applied");
    };
    assert_eq!(rejected.reason(), Reason::NeedsApproval);
    let [candidate] = rejected.candidates() else {
        panic!("{:?}", rejected.candidates());
    };
    assert_eq!(
        (candidate.risk, candidate.fixes[0].risk),
        (Risk::Guess, Risk::Guess)
    );

    let moved = Policy::default().with_rule("enum_near", RuleSetting::Inferred);
    let Verdict::Repaired(repaired) = verdict(Effect::ReadOnly, &moved, GUESS) else {
        panic!("the host is sure of it");
    };
    assert_eq!(repaired.fixes().iter().next().unwrap().risk, Risk::Inferred);

    let moved = Policy::default().with_rule("name_fold", RuleSetting::Guess);
    let (tools, _) = ToolSet::new([ToolSpec::without_schema("read_file")]);
    let raw = RawCall::new("ReadFile", "{}");
    let Verdict::Rejected(rejected) = tools.repair(&raw, &moved) else {
        panic!("a guess is not applied");
    };
    assert_eq!(rejected.candidates()[0].fixes[0].risk, Risk::Guess);
}

#[test]
fn candidates_say_what_they_would_lose() {
    let Verdict::Rejected(rejected) = verdict(Effect::Mutating, &Policy::default(), DROPS) else {
        panic!("a dropped value needs approval");
    };
    let best = &rejected.candidates()[0];
    assert_eq!(best.arguments, r#"{"n": 5}"#);
    assert_eq!(best.fixes[0].loss, Some(Loss::Drops));
    assert!(
        rejected
            .candidates()
            .is_sorted_by(|a, b| a.confidence >= b.confidence)
    );
}

#[test]
fn candidates_are_ranked_by_cost() {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let (tools, _) = ToolSet::new([ToolSpec::new("tool", schema)]);
    let raw = RawCall::new("tool", r#"{"file": "a", "filename": "b"}"#);
    let Verdict::Rejected(rejected) = tools.repair(&raw, &Policy::default()) else {
        panic!("either could be meant");
    };
    assert_eq!(rejected.reason(), Reason::Ambiguous);
    let texts: Vec<&str> = rejected
        .candidates()
        .iter()
        .map(|one| &*one.arguments)
        .collect();
    assert_eq!(
        texts,
        [
            r#"{"path": "a", "filename": "b"}"#,
            r#"{"file": "a", "path": "b"}"#
        ]
    );
}
