//! A call as it was printed, and the text of its arguments.

use std::borrow::Cow;

/// A call as it was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) name: String,
    /// The model's own text, or the JSON that its syntax stands for.
    pub(crate) arguments: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) ending: Ending,
    /// The words without quotes in it that may name variables.
    pub(crate) variables: Vec<String>,
}

/// How a printed call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its own text tells.
    #[default]
    Own,
    /// The syntax's closing marker stands behind it.
    Closed,
    /// The text ended inside it.
    Cut,
}

impl Printed {
    pub(crate) fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: Some(arguments.into()),
            ..Self::default()
        }
    }

    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }
}

/// Writes a JSON object member by member.
#[derive(Debug)]
pub(crate) struct ObjectWriter {
    text: String,
}

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        // Enough for most calls.
        let mut text = String::with_capacity(240);
        text.push('{');
        Self { text }
    }

    /// Adds a member whose value is JSON already, or what the lenient reader makes JSON of.
    pub(crate) fn member(&mut self, key: &str, value: &str) {
        if self.text.len() > 1 {
            self.text.push_str(", ");
        }
        push_string(&mut self.text, key);
        self.text.push_str(": ");
        self.text.push_str(value);
    }

    /// The object.
    pub(crate) fn close(mut self) -> String {
        self.text.push('}');
        self.text
    }

    /// The object without its end: a cut call.
    pub(crate) fn cut(self) -> String {
        self.text
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(plain) = rest.bytes().position(needs_escape) {
        out.push_str(rest.get(..plain).unwrap_or_default());
        match rest.as_bytes().get(plain).copied().unwrap_or_default() {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte => {
                out.push_str("\\u00");
                for digit in [byte / 16, byte % 16] {
                    out.extend(char::from_digit(digit.into(), 16));
                }
            }
        }
        rest = rest.get(plain + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\')
}

/// `text` as a JSON string.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

/// A name without quotes, white space and Markdown's escapes.
pub(crate) fn clean_name(name: &str) -> Cow<'_, str> {
    let name = name.trim().trim_matches(['"', '\'', '`']).trim();
    if name.contains('\\') {
        Cow::Owned(name.replace("\\_", "_"))
    } else {
        Cow::Borrowed(name)
    }
}
