//! Promises about names.

use proptest::prelude::*;
use toolmend::{Effect, Policy, RawCall, ToolSet, ToolSpec};

use super::run;
use crate::dice::Dice;

/// A made-up word.
fn word(dice: &mut Dice, letters: usize) -> String {
    let letter = |dice: &mut Dice| char::from(b'a' + u8::try_from(dice.roll(26)).unwrap());
    (0..letters).map(|_| letter(dice)).collect()
}

/// The text with another first letter, without its first, or with one more.
fn with_another_first_letter(dice: &mut Dice, name: &str) -> String {
    let (first, rest) = name.split_at(1);
    let other = loop {
        let letter = word(dice, 1);
        if !letter.eq_ignore_ascii_case(first) {
            break letter;
        }
    };
    match dice.roll(3) {
        0 => format!("{other}{rest}"),
        1 => rest.to_owned(),
        _ => format!("{other}{name}"),
    }
}

/// The opposite of a word is often one letter longer or shorter at its beginning.
#[test]
fn another_first_letter_is_no_slip() {
    run(|dice| {
        let group = dice.pick(&["", "crm_", "mcp__crm__"]);
        let separator = dice.pick(&["_", "-", ""]);
        let operation = |dice: &mut Dice| {
            let (first, second) = (4 + dice.roll(8), 4 + dice.roll(8));
            format!("{}{separator}{}", word(dice, first), word(dice, second))
        };
        let (meant, other) = (operation(dice), operation(dice));
        let specs = [&meant, &other]
            .map(|name| ToolSpec::without_schema(format!("{group}{name}")))
            .map(|spec| spec.with_effect(Effect::ReadOnly));
        let (tools, _) = ToolSet::new(specs);
        let mut emitted = with_another_first_letter(dice, &meant);
        if dice.chance(30) {
            emitted = emitted.to_uppercase();
        }
        let emitted = format!("{group}{emitted}");
        let raw = RawCall::new(emitted.as_str(), "{}");
        let verdict = tools.repair(&raw, &Policy::default());
        prop_assert!(verdict.call().is_none(), "{emitted} for {meant}, {other}");
        prop_assert_eq!(tools.resolve_name(&emitted), None);
        Ok(())
    });
}
