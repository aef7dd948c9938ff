//! The promises, as properties over generated schemas, values and breakages.

mod arguments;
mod checks;
mod names;
mod text;
mod values;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use toolmend::{Effect, ToolSet, ToolSpec};

use crate::dice::Dice;
use crate::generate::{schema, text as text_for};

/// A tool, and the text of arguments that fit it.
fn valid_call(dice: &mut Dice, effect: Effect) -> (ToolSet, Value, String) {
    let schema = schema(dice);
    let arguments = text_for(dice, &schema, &schema, 0);
    let (tools, problems) =
        ToolSet::new([ToolSpec::new("tool", schema.clone()).with_effect(effect)]);
    assert!(problems.is_empty(), "{problems:?}");
    (tools, schema, arguments)
}

fn run(test: impl Fn(&mut Dice) -> Result<(), TestCaseError>) {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&any::<u64>(), |seed| test(&mut Dice::new(seed)))
        .unwrap();
}

/// At least a third of the cases must reach a repair, or a property proves nothing.
fn enough(repaired: &Cell<usize>, cases: &Cell<usize>) {
    assert!(
        repaired.get() * 3 >= cases.get(),
        "only {} of {} cases reached a repair",
        repaired.get(),
        cases.get()
    );
}
