//! The rules of this stage: what may be wrong with a JSON text.

use crate::rule::{Loss, Risk, Rule, Stage};

const fn lossless(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Text, Risk::Lossless, cost, summary)
}

const fn inferred(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Text, Risk::Inferred, cost, summary)
}

const fn guess(id: &'static str, cost: u32, summary: &'static str) -> Rule {
    Rule::new(id, Stage::Text, Risk::Guess, cost, summary)
}

macro_rules! rules {
    ($($name:ident = $rule:expr;)*) => {
        $(pub(super) static $name: Rule = $rule;)*
        /// Every rule of this stage.
        pub(crate) static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    FRAME = lossless("frame", 2, "a fence, tags or special tokens stood around the JSON; send the bare JSON");
    PROSE = inferred("prose", 20, "prose stood around the JSON; send the bare JSON");
    ESCAPED_JSON = lossless("escaped_json", 5, "the whole text was escaped once too often; send plain JSON");
    REPEATED_VALUE = lossless("repeated_value", 5, "the same JSON was sent twice, or after an empty one; send it once");
    MISSING_OPENER = inferred("missing_opener", 15, "the opening brace was missing");
    MISSING_CLOSER = inferred("missing_closer", 15, "an inner closing bracket was missing");
    CUT_COMPLETED = inferred("cut_completed", 40, "the closing brackets at the end were missing").with_loss(Loss::Completes);
    SURPLUS_CLOSER = lossless("surplus_closer", 3, "there was a closing bracket too many");
    MISSING_COMMA = lossless("missing_comma", 3, "a comma was missing");
    SURPLUS_COMMA = lossless("surplus_comma", 1, "there was a comma too many");
    MISSING_COLON = inferred("missing_colon", 15, "the colon after a key was missing");
    SEPARATOR = lossless("separator", 3, "another separator stood for a comma or colon");
    BRACKET = lossless("bracket", 3, "another bracket stood for a JSON bracket");
    COMMENT = lossless("comment", 2, "JSON has no comments");
    ESCAPED_SPACE = lossless("escaped_space", 3, "an escaped line break stood outside a string");
    ODD_SPACE = lossless("odd_space", 2, "a character that is no JSON white space stood between values");
    ELLIPSIS = guess("ellipsis", 110, "an ellipsis stood for values; write all values out").with_loss(Loss::Drops);
    QUOTES = lossless("quotes", 3, "strings need double quotes");
    UNQUOTED_KEY = lossless("unquoted_key", 3, "keys need double quotes");
    MISSING_QUOTE = inferred("missing_quote", 18, "a quote was missing");
    UNQUOTED_VALUE = inferred("unquoted_value", 20, "a string value stood without quotes");
    INNER_QUOTE = inferred("inner_quote", 15, "quotes inside a string must be escaped");
    RAW_CONTROL = lossless("raw_control", 2, "line breaks and control characters in strings must be escaped");
    ESCAPE = lossless("escape", 4, "a backslash in a string must be doubled");
    LONE_SURROGATE = guess("lone_surrogate", 110, "half a surrogate pair is no character; write the character itself");
    LITERAL = lossless("literal", 3, "JSON writes true, false and null");
    NUMBER_FORM = lossless("number_form", 4, "the number was not in JSON's form");
    NON_FINITE = guess("non_finite", 150, "JSON has no NaN and no infinities");
    CONCATENATION = lossless("concatenation", 6, "a string was written in several parts");
}
