//! The rules of this stage: what each does, its risk, its cost. The rules that change a single
//! value carry the function that proposes the change; those about the members of an object are
//! used by name in `object.rs`.

use super::value as propose;
use super::value::Propose;
use super::{choice, wrap};
use crate::rule::{Loss, Risk, Rule, Stage};
use crate::schema::tree::{Kinds, Type};

const fn lossless(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Arguments, Risk::Lossless, cost, summary)
}

const fn inferred(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Arguments, Risk::Inferred, cost, summary)
}

const fn guess(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Arguments, Risk::Guess, cost, summary)
}

/// A rule that replaces one value by another.
pub(crate) struct ValueRule {
    pub(crate) rule: &'static Rule,
    /// Values it looks at.
    pub(crate) from: Kinds,
    /// What it turns them into; the type must allow one of these.
    pub(crate) to: Kinds,
    pub(crate) propose: Propose,
}

const SCALARS: Kinds = Kinds::SCALARS;

macro_rules! rules {
    ($($name:ident = $rule:expr;)*) => {
        $(pub(crate) static $name: Rule = $rule;)*
        /// Every rule of this stage.
        pub(crate) static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    STRINGIFIED_NUMBER = lossless("stringified_number", 2, "a number was sent as a string; send the bare number");
    NUMBER_SPELLING = inferred("number_spelling", 20, "a number was sent as a string in an unusual spelling; send the bare number");
    NUMBER_WITH_EXTRAS = guess("number_with_extras", 120, "a number was sent with a unit or separators; send the bare number");
    AMOUNT = guess("amount", 115, "an amount was sent in words or in another unit; send the number that the parameter asks for");
    MOMENT = guess("moment", 115, "a date or time was sent in another form; send it as YYYY-MM-DD or HH:MM");
    STRINGIFIED_BOOLEAN = lossless("stringified_boolean", 2, "a boolean was sent as a string; send true or false without quotes");
    BOOLEAN_WORD = inferred("boolean_word", 15, "a word was sent for a boolean; send true or false");
    STRINGIFIED_NULL = lossless("stringified_null", 2, "null was sent as a string; send null without quotes");
    STRINGIFIED_CONTAINER = lossless("stringified_container", 3, "an array or object was sent as a string; send it as JSON, not as a string");
    STRINGIFIED_VALUE = lossless("stringified_value", 4, "a value was encoded twice; send it as JSON, not as a string");
    SCALAR_TO_ARRAY = inferred("scalar_to_array", 12, "a single value was sent for an array; send an array");
    OBJECT_TO_ARRAY = inferred("object_to_array", 13, "a single object was sent for an array; send an array");
    ARRAY_TO_SINGLE = inferred("array_to_single", 14, "an array of one was sent for a single value; send the value");
    CONTAINER_TO_STRING = inferred("container_to_string", 30, "an object or array was sent for a string; send its JSON text as a string");
    SCALAR_TO_STRING = inferred("scalar_to_string", 20, "a bare value was sent for a string; send it in quotes");
    EMPTY_OBJECT_TO_ARRAY = inferred("empty_object_to_array", 16, "an empty object was sent for an array; send []");
    EMPTY_STRING_TO_CONTAINER = inferred("empty_string_to_container", 17, "an empty string was sent for an array or object; send an empty one");
    VALUE_WRAPPER = inferred("value_wrapper", 15, "a value was wrapped in an object; send the value itself");
    SCALAR_TO_OBJECT = inferred("scalar_to_object", 35, "a bare value was sent for an object; send the object");
    ENUM_FOLD = inferred("enum_fold", 11, "a value was spelled unlike the allowed one; send it exactly as listed");
    ENUM_TYPE = lossless("enum_type", 2, "an allowed value was sent with another type; send it exactly as listed");
    ENUM_NEAR = guess("enum_near", 130, "a value is close to an allowed one; send it exactly as listed");
    INTEGRAL_FLOAT = lossless("integral_float", 1, "an integer was sent with a fraction of zero; send it without");
    OMIT_NULL = lossless("omit_null", 1, "null was sent for an optional property that does not take it; leave the property out");
    OMIT_NULL_WORD = inferred("omit_null_word", 18, "a word for nothing was sent for an optional property; leave the property out");
    OMIT_EMPTY = inferred("omit_empty", 19, "an empty value of another type was sent for an optional property; leave the property out");
    KEY_FOLD = lossless("key_fold", 4, "a property name was spelled unlike the declared one; use the declared name");
    KEY_ALIAS = inferred("key_alias", 20, "a property was sent under another common name; use the declared name");
    KEY_SLIP = inferred("key_slip", 25, "a property name was misspelt; use the declared name");
    DROP_UNKNOWN_EMPTY = inferred("drop_unknown_empty", 12, "an unknown property without a value was sent; leave it out");
    DROP_UNKNOWN_VALUE = guess("drop_unknown_value", 150, "an unknown property was sent; leave it out").with_loss(Loss::Drops);
    REMOVE_WRAPPER = inferred("remove_wrapper", 15, "the arguments were wrapped in an extra object; send them at the top level");
    ADD_WRAPPER = inferred("add_wrapper", 30, "the arguments were sent without the object around them; put them into it");
    LIFT_MEMBERS = inferred("lift_members", 32, "properties were sent beside the empty object they belong into; put them into it");
    INSERT_CONSTANT = inferred("insert_constant", 20, "a required property with only one allowed value was missing; send it");
    INSERT_DEFAULT = guess("insert_default", 140, "a required property was missing; its default was filled in").with_loss(Loss::Completes);
    DUPLICATE_KEY = guess("duplicate_key", 110, "a property was sent twice with different values; the last one counts").with_loss(Loss::Drops);
    EMPTY_ARGUMENTS = lossless("empty_arguments", 1, "the arguments were empty; send {}");
}

/// The first rules of the table, and no others, are about the values that an `enum` allows: where
/// there is none, nobody asks them.
const OF_CHOICES: u32 = 3;

/// The rules for one value, in the order in which equal costs are tried.
pub(crate) static VALUE_RULES: &[ValueRule] = &[
    ValueRule {
        rule: &ENUM_TYPE,
        from: SCALARS,
        to: Kinds::ANY,
        propose: choice::enum_type,
    },
    ValueRule {
        rule: &ENUM_FOLD,
        from: Kinds::STRING,
        to: Kinds::STRING,
        propose: choice::enum_fold,
    },
    ValueRule {
        rule: &ENUM_NEAR,
        from: Kinds::STRING,
        to: Kinds::STRING,
        propose: choice::enum_near,
    },
    ValueRule {
        rule: &STRINGIFIED_NUMBER,
        from: Kinds::STRING,
        to: Kinds::NUMBER,
        propose: propose::stringified_number,
    },
    ValueRule {
        rule: &NUMBER_SPELLING,
        from: Kinds::STRING,
        to: Kinds::NUMBER,
        propose: propose::number_spelling,
    },
    ValueRule {
        rule: &NUMBER_WITH_EXTRAS,
        from: Kinds::STRING,
        to: Kinds::NUMBER,
        propose: propose::number_with_extras,
    },
    ValueRule {
        rule: &AMOUNT,
        from: Kinds::STRING,
        to: Kinds::NUMBER,
        propose: propose::amount,
    },
    ValueRule {
        rule: &MOMENT,
        from: Kinds::STRING,
        to: Kinds::STRING,
        propose: propose::moment,
    },
    ValueRule {
        rule: &STRINGIFIED_BOOLEAN,
        from: Kinds::STRING,
        to: Kinds::BOOLEAN,
        propose: propose::stringified_boolean,
    },
    ValueRule {
        rule: &BOOLEAN_WORD,
        from: Kinds::STRING,
        to: Kinds::BOOLEAN,
        propose: propose::boolean_word,
    },
    ValueRule {
        rule: &STRINGIFIED_NULL,
        from: Kinds::STRING,
        to: Kinds::NULL,
        propose: propose::stringified_null,
    },
    ValueRule {
        rule: &STRINGIFIED_CONTAINER,
        from: Kinds::STRING,
        to: Kinds::CONTAINERS,
        propose: propose::stringified_container,
    },
    ValueRule {
        rule: &STRINGIFIED_VALUE,
        from: Kinds::STRING,
        to: Kinds::CONTAINERS,
        propose: propose::stringified_value,
    },
    ValueRule {
        rule: &SCALAR_TO_ARRAY,
        from: SCALARS,
        to: Kinds::ARRAY,
        propose: propose::scalar_to_array,
    },
    ValueRule {
        rule: &OBJECT_TO_ARRAY,
        from: Kinds::OBJECT,
        to: Kinds::ARRAY,
        propose: propose::object_to_array,
    },
    ValueRule {
        rule: &ARRAY_TO_SINGLE,
        from: Kinds::ARRAY,
        to: Kinds::SINGLE,
        propose: propose::array_to_single,
    },
    ValueRule {
        rule: &CONTAINER_TO_STRING,
        from: Kinds::CONTAINERS,
        to: Kinds::STRING,
        propose: propose::container_to_string,
    },
    ValueRule {
        rule: &SCALAR_TO_STRING,
        from: SCALARS,
        to: Kinds::STRING,
        propose: propose::scalar_to_string,
    },
    ValueRule {
        rule: &EMPTY_OBJECT_TO_ARRAY,
        from: Kinds::OBJECT,
        to: Kinds::ARRAY,
        propose: propose::empty_object_to_array,
    },
    ValueRule {
        rule: &EMPTY_STRING_TO_CONTAINER,
        from: Kinds::STRING,
        to: Kinds::CONTAINERS,
        propose: propose::empty_string_to_container,
    },
    ValueRule {
        rule: &VALUE_WRAPPER,
        from: Kinds::OBJECT,
        to: Kinds::ANY,
        propose: wrap::value_wrapper,
    },
    ValueRule {
        rule: &SCALAR_TO_OBJECT,
        from: SCALARS,
        to: Kinds::OBJECT,
        propose: propose::scalar_to_object,
    },
    ValueRule {
        rule: &REMOVE_WRAPPER,
        from: Kinds::OBJECT,
        to: Kinds::OBJECT,
        propose: wrap::remove_wrapper,
    },
    ValueRule {
        rule: &ADD_WRAPPER,
        from: Kinds::OBJECT,
        to: Kinds::OBJECT,
        propose: wrap::add_wrapper,
    },
    ValueRule {
        rule: &LIFT_MEMBERS,
        from: Kinds::OBJECT,
        to: Kinds::OBJECT,
        propose: wrap::lift_members,
    },
];

/// For each set of kinds, the rules that look at one of them and those that make one of them, as
/// bits: most values meet few rules.
static LOOK_AT: [u32; Kinds::SETS] = meeting(true);
static MAKE: [u32; Kinds::SETS] = meeting(false);

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which finds an index out of bounds"
)]
const fn meeting(looks_at: bool) -> [u32; Kinds::SETS] {
    let mut table = [0; Kinds::SETS];
    let mut set: u8 = 0;
    while (set as usize) < Kinds::SETS {
        let mut rule = 0;
        while rule < VALUE_RULES.len() {
            let ValueRule { from, to, .. } = &VALUE_RULES[rule];
            let kinds = if looks_at { *from } else { *to };
            if kinds.meets(Kinds::nth(set)) {
                table[set as usize] |= 1 << rule;
            }
            rule += 1;
        }
        set += 1;
    }
    table
}

/// The rules that may make a value of this type of one of the kind `from`, in order.
#[inline]
pub(super) fn value_rules(from: Kinds, ty: &Type) -> impl Iterator<Item = &'static ValueRule> {
    let bits = |table: &[u32], kinds: Kinds| table.get(kinds.number()).copied().unwrap_or_default();
    let mut left = bits(&LOOK_AT, from) & bits(&MAKE, ty.kinds);
    if ty.choices.is_none() {
        left &= u32::MAX << OF_CHOICES;
    }
    std::iter::from_fn(move || {
        let next = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        VALUE_RULES.get(next as usize)
    })
}
