use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tables::{Alphabet, SHAPES, Shape};
use super::{MARK, Redactor};

/// One line of `cases.jsonl`; no `out` where nothing is to change.
#[test]
fn cases() {
    let mut failed = Vec::new();
    for line in include_str!("cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let text = case["in"].as_str().expect("a text");
        let expected = case["out"].as_str().unwrap_or(text);
        let redacted = Redactor::new().text(text).into_owned();
        if redacted != expected {
            failed.push(format!("{}:\n  {redacted}\n  {expected}", case["what"]));
        }
        let again = Redactor::new().text(expected).into_owned();
        if again != expected {
            failed.push(format!("again, {}:\n  {again}\n  {expected}", case["what"]));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn values_of_every_kind() {
    let mut value = json!({
        "url": "https://ann:pw12@example.org",
        "headers": [["Authorization", "abc"], {"name": "X-Api-Key", "value": "k1"}],
        "argv": ["login", "--password", "hunter2", "--page", "2"],
        "credentials": {"user": "ann", "extra": [1, true, null]},
        "fixes": [{"rule": "r", "path": "/db/password", "before": 5, "after": "5"}],
        "text": "{\"token\": \"abc",
        "page": 2
    });
    Redactor::new().value(&mut value);
    assert_eq!(
        value,
        json!({
            "url": "https://[redacted]@example.org",
            "headers": [["Authorization", MARK], {"name": "X-Api-Key", "value": MARK}],
            "argv": ["login", "--password", MARK, "--page", "2"],
            "credentials": {"user": MARK, "extra": [MARK, true, null]},
            "fixes": [{"rule": "r", "path": "/db/password", "before": MARK, "after": MARK}],
            "text": "{\"token\": \"[redacted]",
            "page": 2
        })
    );
}

#[test]
fn a_secret_as_a_key_goes_too_and_takes_no_other_with_it() {
    let token = sample(&SHAPES[0], 1);
    let mut value = json!({token.as_str(): 1, "[redacted]": 2});
    Redactor::new().value(&mut value);
    assert!(!value.to_string().contains(&token));
    assert_eq!(value.as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn the_hosts_own_keys_and_secrets() {
    let redactor = Redactor::new().with_key("tax id").with_secret("blue-42");
    assert_eq!(
        redactor.text("taxId=99, not blue-42"),
        "taxId=[redacted], not [redacted]"
    );
    assert!(!format!("{redactor:?}").contains("blue"));
}

#[test]
fn deep_values_and_adversarial_texts_end() {
    let mut value = json!({"password": "hunter2"});
    for _ in 0..20_000 {
        value = Value::Array(vec![value]);
    }
    Redactor::new().value(&mut value);
    // Taken apart level by level: dropping it at once would recurse.
    while let Value::Array(mut items) = value {
        value = items.pop().unwrap_or_default();
    }
    assert_eq!(value, json!({"password": MARK}));

    let patterns = [
        "password: is x ",
        "token>",
        "\\",
        "a\\",
        "\"",
        "token\"",
        "://",
        "://a:b",
        "a://b:c/",
        "eyJ-",
        "eyJ.",
        "sk-",
        "token: {",
        "token: [\"",
        "--token ",
        "%3D",
        "</",
        "token</",
        "-----BEGIN PRIVATE KEY",
        "token=\\",
        "bearer ",
        "$TOKEN: ",
        "token: $A",
        "'",
        "`",
        "token: \"a\" b ",
        "AKIA",
        "\\\"token\\\": \\\"",
        "@",
    ];
    for pattern in patterns {
        let text = pattern.repeat(50_000 / pattern.len());
        let redacted = Redactor::new().text(&text);
        assert!(redacted.len() <= text.len() * 4, "{pattern}");
    }
}

/// A token of a shape, made from a seed.
fn sample(shape: &Shape, seed: u64) -> String {
    let letters: &[u8] = match shape.alphabet {
        Alphabet::Upper => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        Alphabet::Word | Alphabet::Token => {
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        }
    };
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut token = shape.prefix.to_owned();
    // Enough letters for every shape, and one of each kind for those that must look random.
    token.push_str(if shape.alphabet == Alphabet::Upper {
        "A1"
    } else {
        "aB3"
    });
    for _ in 0..shape.least {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = usize::try_from(state % letters.len() as u64).unwrap_or(0);
        token.push(char::from(letters[at]));
    }
    token
}

fn token() -> impl Strategy<Value = String> {
    let web = "eyJ[a-zA-Z0-9]{10,40}\\.[a-zA-Z0-9_-]{10,40}\\.[a-zA-Z0-9_-]{10,40}";
    let bot = "[0-9]{8,10}:[a-zA-Z0-9_-]{35}";
    prop_oneof![
        8 => (0..SHAPES.len(), any::<u64>()).prop_map(|(at, seed)| sample(&SHAPES[at], seed)),
        1 => web,
        1 => bot,
    ]
}

/// A password: not a word that may stand for itself, no character that ends any kind of value.
fn password() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9][a-zA-Z0-9!$*+_~^|.-]{2,20}[0-9][a-zA-Z0-9]{3,8}"
}

/// Text in which nothing is secret.
fn plain_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,7}",
        "[0-9]{1,5}",
        Just("https://example.org/a?page=2".to_owned()),
        Just("{\"path\": \"a.txt\", \"n\": [1, 2]}".to_owned()),
        Just("line\\nline".to_owned()),
        Just("käse – 日本".to_owned()),
        Just("max_tokens: 5".to_owned()),
    ];
    let gap = prop_oneof![
        Just(" "),
        Just(", "),
        Just("\n"),
        Just(" \"x\" "),
        Just(" (y) ")
    ];
    prop::collection::vec((word, gap), 0..12).prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(word, gap)| [word, gap.to_owned()])
            .collect()
    })
}

/// Where a token can stand in a text.
const PLACES: &[(&str, &str)] = &[
    ("", ""),
    ("(", ")"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("see ", "."),
    ("x=", "&y"),
    ("\\n", "\\n"),
    ("?q=", "#"),
    ("https://example.org/", "/x"),
    ("%20", "%20"),
    ("{\"a\": \"", "\"}"),
    ("{\\\"a\\\": \\\"", "\\\"}"),
    ("\\u0020", " "),
    ("Bearer ", ""),
    ("<v>", "</v>"),
    ("[", ","),
    ("key_", ""),
    ("a: ", "\r\n"),
    ("—", "…"),
];

/// How a password can be bound to its key.
const BINDINGS: &[(&str, &str)] = &[
    ("{\"password\": \"", "\", \"a\": 1}"),
    ("{\"password\":\"", ""),
    ("{'password': '", "'}"),
    ("password=", " "),
    ("password: ", "\n"),
    ("{password: ", ", a: 1}"),
    ("\\\"password\\\": \\\"", "\\\"}"),
    ("DB_PASSWORD=", "\nA=1"),
    ("?password=", "&a=1"),
    ("%3Fpassword%3D", "%26a%3D1"),
    ("--password ", " --a"),
    ("--password=", ""),
    ("<password>", "</password>"),
    ("Authorization: ", "\n"),
    ("https://ann:", "@example.org/"),
    ("{\"api_key\": ", ", \"a\": 1}"),
    ("the access token: ", ", a"),
    ("\\nTOKEN=", "\\n"),
    ("secret := \"", "\""),
    ("{\"headers\": {\"X-Api-Key\": \"", "\"}}"),
    ("<arg_key>token</arg_key><arg_value>", "</arg_value>"),
    ("{\"a\": {\"client_secret\": [\"x\", \"", "\"]}}"),
    (
        "password is wrong; password: expected a number, got \"",
        "\"",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_token_never_survives_in_a_text(
        before in plain_text(), token in token(), at in 0..PLACES.len(), after in plain_text(),
    ) {
        let (open, close) = PLACES[at];
        let text = format!("{before} {open}{token}{close} {after}");
        let redacted = Redactor::new().text(&text).into_owned();
        prop_assert!(!redacted.contains(&token), "{text}\n{redacted}");
        prop_assert!(redacted.starts_with(&before), "{text}\n{redacted}");
    }

    #[test]
    fn a_password_never_survives_beside_its_key(
        before in plain_text(), password in password(), at in 0..BINDINGS.len(), after in plain_text(),
    ) {
        let (open, close) = BINDINGS[at];
        let text = format!("{before} {open}{password}{close} {after}");
        let redacted = Redactor::new().text(&text).into_owned();
        prop_assert!(!redacted.contains(&password), "{text}\n{redacted}");
        prop_assert!(redacted.starts_with(&before), "{text}\n{redacted}");
        let again = Redactor::new().text(&redacted).into_owned();
        prop_assert_eq!(again, redacted);
    }

    #[test]
    fn a_password_never_survives_without_its_key_once_it_was_seen(
        before in plain_text(), password in password(), after in plain_text(),
    ) {
        let escaped = serde_json::to_string(&json!({"x": &password})).expect("JSON");
        let mut value = json!({
            "message": format!("{before} {password} {after}"),
            "answer": escaped,
            "twice": serde_json::to_string(&escaped).expect("JSON"),
            "arguments": {"password": &password},
            password.as_str(): 1,
        });
        Redactor::new().value(&mut value);
        prop_assert!(!value.to_string().contains(&password), "{}", value);
    }

    #[test]
    fn text_without_secrets_is_unchanged(text in plain_text()) {
        prop_assert!(matches!(Redactor::new().text(&text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn any_text_ends_and_is_stable(text in any::<String>()) {
        let once = Redactor::new().text(&text).into_owned();
        let twice = Redactor::new().text(&once).into_owned();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn any_text_of_its_own_marks_ends_and_is_stable(
        text in "(password|token|: |=|\"|'|\\\\|\\{|\\}|\\[|\\]|, |://|@|<|>|/|%22|%3D|a|1|--| |\n|eyJ|sk-|is |\\[redacted\\]){0,24}",
    ) {
        let once = Redactor::new().text(&text).into_owned();
        let twice = Redactor::new().text(&once).into_owned();
        prop_assert_eq!(once, twice);
    }
}
