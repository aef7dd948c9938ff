//! Takes secrets out of a record before it is written.
//!
//! Two signs count: the name of a key, and the shape of a word. Texts that hold JSON are looked
//! into. What is taken is replaced by [`REDACTED`]; everything else stays byte for byte.

use serde_json::Value;

/// What stands in the place of a secret.
pub(super) const REDACTED: &str = "[redacted]";

/// Ends of key names whose values are secrets; letters only, in lower case.
const KEYS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
];

/// Beginnings of words that are secrets, with the fewest characters of the whole word.
const PREFIXES: [(&str, usize); 17] = [
    ("sk-", 12),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 35),
    ("hf_", 20),
    ("npm_", 30),
    ("eyJ", 40),
];

/// How deep texts that hold JSON are looked into.
const NESTED: u32 = 3;

/// Redacts a value in place.
pub(super) fn redact(value: &mut Value) {
    redact_nested(value, NESTED);
}

fn redact_nested(value: &mut Value, nested: u32) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                if let Some(redacted) = redact_text(text, nested) {
                    *text = redacted;
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    if is_secret_name(key) && is_scalar(member) {
                        *member = REDACTED.into();
                    } else {
                        open.push(member);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A scalar that may be a secret: booleans and null tell none.
fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_))
}

fn is_secret_name(key: &str) -> bool {
    let letters: String = key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    KEYS.iter().any(|name| letters.ends_with(name))
}

/// The text without secrets; `None` if it holds none.
fn redact_text(text: &str, nested: u32) -> Option<String> {
    if nested > 0
        && text.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(text)
    {
        let before = value.clone();
        redact_nested(&mut value, nested - 1);
        return (value != before).then(|| value.to_string());
    }
    redact_words(text)
}

/// Characters that words of secrets are made of.
fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '+' | '~')
}

/// The text without words that look like secrets, and without what follows a word that announces
/// one: `Bearer …`, `token=…`, `password: …`, `://user:…@`.
fn redact_words(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let mut announced = false;
    let mut rest = text;
    while !rest.is_empty() {
        let gap_end = rest.find(is_word).unwrap_or(rest.len());
        let (gap, after) = rest.split_at(gap_end);
        // An announcement holds over a separator, and over no end of a sentence or line.
        announced = announced && gap.len() <= 4 && !gap.contains(['\n', ',', ';', '&', ')']);
        out.push_str(gap);
        let word_end = after.find(|c| !is_word(c)).unwrap_or(after.len());
        let (word, after) = after.split_at(word_end);
        let is_password = is_password(&out, word, after);
        if !word.is_empty() && (is_secret(word) || is_password || (announced && is_value(word))) {
            out.push_str(REDACTED);
            changed = true;
            announced = false;
        } else {
            out.push_str(word);
            announced = announces(word, after);
        }
        rest = after;
    }
    changed.then_some(out)
}

fn is_secret(word: &str) -> bool {
    let word = word.trim_matches(['.', '-', '_']);
    PREFIXES
        .iter()
        .any(|(prefix, least)| word.len() >= *least && word.starts_with(prefix))
}

/// Whether a word is the password of a URL: between `://name:` and `@`.
fn is_password(before: &str, _word: &str, after: &str) -> bool {
    if !after.starts_with('@') || !before.ends_with(':') {
        return false;
    }
    let tail: String = before.chars().rev().take(200).collect();
    tail.split(char::is_whitespace)
        .next()
        .is_some_and(|url| url.contains("//:"))
}

fn announces(word: &str, after: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    if matches!(lower.as_str(), "bearer" | "basic") {
        return after.starts_with(' ');
    }
    let separator = after.trim_start_matches(['"', '\'']).trim_start();
    is_secret_name(word) && separator.starts_with([':', '='])
        || lower == "key" && after.starts_with('=')
}

/// Whether a word after an announcement can be the value: not the `Bearer` of
/// `Authorization: Bearer …`.
fn is_value(word: &str) -> bool {
    !word.eq_ignore_ascii_case("bearer") && !word.eq_ignore_ascii_case("basic")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SECRET: &str = "S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3t";

    #[test]
    fn planted_secrets_are_gone_wherever_they_stand() {
        let token = format!("sk-{SECRET}");
        let planted = [
            json!({"api_key": SECRET, "Authorization": format!("Bearer {SECRET}")}),
            json!({"arguments": json!({"user": {"password": SECRET}}).to_string()}),
            json!({"arguments": json!({"body": json!({"accessToken": SECRET}).to_string()}).to_string()}),
            json!({"message": format!("the key {token} is wrong")}),
            json!({"message": format!("Authorization: Bearer {SECRET}")}),
            json!({"message": format!("GET https://x.org/?token={SECRET}&n=1 failed")}),
            json!({"message": format!("https://me:{SECRET}@x.org/ is down")}),
            json!({"arguments": format!("{{\"password\": \"{SECRET}")}),
            json!({"list": [{"rationale": format!("use ghp_{SECRET}")}]}),
            json!({"jwt": format!("eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}")}),
        ];
        for mut value in planted {
            let before = value.to_string();
            redact(&mut value);
            let after = value.to_string();
            assert!(!after.contains(SECRET), "{before}\n{after}");
            assert!(after.contains(REDACTED), "{after}");
        }
    }

    #[test]
    fn what_is_no_secret_stays_byte_for_byte() {
        for text in [
            r#"{"path":  "a.txt", "n": 5.0}"#,
            "the tokens: 5, max_tokens=100",
            "skip the task-list, hf_x",
            "a key is missing: path",
            "https://example.org:8080/a@b",
            "",
            "größer: ü",
        ] {
            let mut value = json!({"message": text, "max_tokens": 7, "is_secret": true});
            let before = value.clone();
            redact(&mut value);
            assert_eq!(value, before);
        }
    }
}
