//! Whether the value under a key is a secret.

use super::tables::{
    HARMLESS_KEYS, KEY_ENDINGS, KEY_QUALIFIERS, KEY_WORDS, LINE_KEYS, LOOSE_KEY_WORDS, QUERY_KEYS,
};

/// Longest end of a key that is looked at, in bytes.
const LONGEST: usize = 96;

/// Where a key was found, hence how sure it is that it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A key of an object, or a word before `=`.
    Key,
    /// A parameter of a URL's query.
    Query,
    /// A word before a colon.
    Prose,
}

/// Whether the value under this key is a secret; `own` are the host's further names, folded.
pub(super) fn is_secret(key: &str, place: Place, own: &[String]) -> bool {
    let mut words = words(tail(key));
    let whole = words.concat();
    if own.iter().any(|own| whole.ends_with(own.as_str())) {
        return true;
    }
    while words.len() > 1
        && words.last().is_some_and(|word| {
            KEY_QUALIFIERS.contains(&word.as_str())
                || word.bytes().all(|byte| byte.is_ascii_digit())
        })
        && !is_harmless(&words)
    {
        words.pop();
    }
    if is_harmless(&words) {
        return false;
    }
    let folded = words.concat();
    let Some(last) = words.last() else {
        return false;
    };
    let has_ending = |name: &str| {
        let single = name.strip_suffix('s').unwrap_or(name);
        KEY_ENDINGS
            .iter()
            .any(|ending| name.ends_with(ending) || single.ends_with(ending))
    };
    has_ending(&folded)
        || has_ending(folded.trim_end_matches(|letter: char| letter.is_ascii_digit()))
        || KEY_WORDS.contains(&last.as_str())
        || (place != Place::Prose && LOOSE_KEY_WORDS.contains(&last.as_str()))
        || (place == Place::Query && QUERY_KEYS.contains(&folded.as_str()))
}

/// Whether the value is the whole rest of the line.
pub(super) fn takes_line(key: &str) -> bool {
    LINE_KEYS.contains(&fold(key).as_str())
}

/// A key without case and separators.
pub(super) fn fold(key: &str) -> String {
    words(key).concat()
}

/// The end of a key, where its meaning is.
fn tail(key: &str) -> &str {
    let from = key.len().saturating_sub(LONGEST);
    (from..key.len())
        .find_map(|from| key.get(from..))
        .unwrap_or_default()
}

fn is_harmless(words: &[String]) -> bool {
    let ends_with = |count: usize| {
        words
            .len()
            .checked_sub(count)
            .and_then(|from| words.get(from..))
            .is_some_and(|last| HARMLESS_KEYS.contains(&last.concat().as_str()))
    };
    ends_with(1) || ends_with(2)
}

/// The words of a key in lower case: split at separators and at the humps of camel case.
fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut before = ' ';
    let mut letters = key.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_alphanumeric() {
            let ends_acronym =
                before.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase());
            let hump = letter.is_uppercase() && (!before.is_uppercase() || ends_acronym);
            if !open || hump {
                words.push(String::new());
            }
            open = true;
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        } else {
            open = false;
        }
        before = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Place, is_secret};

    #[test]
    fn names_of_secrets_in_every_spelling() {
        for key in [
            "password",
            "Password",
            "DB_PASSWORD",
            "dbPassword",
            "db-password",
            "password2",
            "password_confirmation",
            "passwordHash",
            "api_key",
            "apiKey",
            "APIKey",
            "X-Api-Key",
            "OPENAI_API_KEY",
            "apikey",
            "api key",
            "api_keys",
            "access_token",
            "accessToken",
            "secret",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "aws_session_token",
            "token",
            "githubToken",
            "Authorization",
            "proxy-authorization",
            "cookie",
            "Set-Cookie",
            "private_key",
            "privateKeyPem",
            "credentials",
            "auth",
            "pwd",
            "otp",
            "cvv",
            "SMTP_PASS",
            "token_value",
            "AccountKey",
            "secretKeyBase64",
            "pass",
        ] {
            assert!(is_secret(key, Place::Key, &[]), "{key}");
        }
    }

    #[test]
    fn other_names_stay() {
        for key in [
            "max_tokens",
            "maxTokens",
            "tokens",
            "total_tokens",
            "tokenizer",
            "token_count",
            "token_type",
            "next_page_token",
            "pageToken",
            "nextToken",
            "eos_token",
            "author",
            "key",
            "primary_key",
            "sort_key",
            "keyboard",
            "password_policy",
            "passwordless",
            "secretary",
            "compass",
            "path",
            "cookie_consent",
            "code",
            "signature",
            "session_id",
            "hash",
            "id",
            "value",
            "",
            "_",
            "1",
            "token_id",
            "authenticated",
            "query",
            "bypass",
        ] {
            assert!(!is_secret(key, Place::Key, &[]), "{key}");
        }
    }

    #[test]
    fn the_place_counts() {
        assert!(is_secret("sig", Place::Query, &[]));
        assert!(!is_secret("sig", Place::Key, &[]));
        assert!(!is_secret("PASS", Place::Prose, &[]));
        assert!(!is_secret("Unexpected token", Place::Prose, &[]));
        assert!(is_secret("tax_id", Place::Key, &["taxid".to_owned()]));
    }

    #[test]
    fn a_long_key_is_looked_at_from_its_end() {
        let key = format!("{}_password", "ä".repeat(100_000));
        assert!(is_secret(&key, Place::Key, &[]));
    }
}
