//! Takes secrets out of what is written down.
//!
//! A secret is known by the key it stands under (`password`, `api_key`, `Authorization`, …), by its
//! own shape (`sk-…`, `ghp_…`, a JSON Web Token, a private key, …) or by its place in a URL. Once
//! seen under a key it is found everywhere else in the same value, too: an error message or a
//! model's answer repeats it without the key. The tables are data, in one file.
//!
//! Pure and linear. When in doubt a text loses a word too many.

mod keys;
mod known;
mod pairs;
mod shapes;
mod tables;
mod text;
mod value;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use known::Known;

/// What stands where a secret stood.
pub const MARK: &str = "[redacted]";

/// Takes secrets out of texts and JSON values.
///
/// ```
/// use self_debug::audit::Redactor;
/// use serde_json::json;
///
/// let redactor = Redactor::new();
/// assert_eq!(redactor.text("password: hunter2"), "password: [redacted]");
/// assert_eq!(
///     redactor.text("GET https://ann:pw12@example.org/?page=2&api_key=k1"),
///     "GET https://[redacted]@example.org/?page=2&api_key=[redacted]"
/// );
/// assert_eq!(redactor.text("no secret here"), "no secret here");
///
/// let mut event = json!({"arguments": {"token": "t0p-s3cret"}, "message": "t0p-s3cret is wrong"});
/// redactor.value(&mut event);
/// assert_eq!(event, json!({"arguments": {"token": "[redacted]"}, "message": "[redacted] is wrong"}));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    own_keys: Vec<String>,
    own_secrets: Known,
}

impl Redactor {
    /// The built-in tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// A further key whose values are secret; case and separators do not count.
    pub fn with_key(mut self, name: &str) -> Self {
        let name = keys::fold(name);
        if !name.is_empty() {
            self.own_keys.push(name);
        }
        self
    }

    /// A secret that the host knows, of at least four characters. At most 64 are kept.
    pub fn with_secret(mut self, secret: &str) -> Self {
        self.own_secrets.add(secret);
        self
    }

    /// The text without its secrets: a message, a URL, a header, JSON whole or broken.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut known = self.own_secrets.clone();
        value::learn(text, self, &mut known);
        let redacted = self.text_knowing(text, &mut known);
        match known.redact(redacted.as_deref().unwrap_or(text)) {
            Some(text) => Cow::Owned(text),
            None => redacted.map_or(Cow::Borrowed(text), Cow::Owned),
        }
    }

    /// Takes the secrets out of a value, keys included.
    pub fn value(&self, value: &mut Value) {
        self.value_knowing(value, &mut self.own_secrets.clone());
    }

    /// The same, with the secrets that were seen before; adds those that are seen now.
    pub(crate) fn value_knowing(&self, value: &mut Value, known: &mut Known) {
        value::redact(value, self, known);
        value::redact_known(value, known);
    }

    /// The secrets that the host told, to begin with.
    pub(crate) fn known(&self) -> Known {
        self.own_secrets.clone()
    }

    fn own_keys(&self) -> &[String] {
        &self.own_keys
    }

    fn text_knowing(&self, text: &str, known: &mut Known) -> Option<String> {
        text::redact(text, &self.own_keys, &mut |secret| known.add(secret))
    }

    fn text_in_place(&self, text: &mut String, known: &mut Known) {
        if let Some(redacted) = self.text_knowing(text, known) {
            *text = redacted;
        }
    }
}
