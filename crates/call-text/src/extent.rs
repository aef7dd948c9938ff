//! Where a JSON value ends, found as the text arrives.

use std::ops::ControlFlow;

/// Deeper nesting than this is not taken for a call.
const MAX_DEPTH: usize = 128;

/// The state of the walk over one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extent {
    /// Bytes looked at.
    at: usize,
    open: Vec<u8>,
    in_string: bool,
    escaped: bool,
    /// A string has just ended: what follows tells whether it was its end.
    after_string: bool,
}

/// What the walk has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The value ends at this byte.
    End(usize),
    /// The text is not JSON here: quotes or brackets are wrong, and only a closing marker can tell
    /// where the value ends.
    Broken,
    /// The value goes on.
    Open,
}

impl Extent {
    /// Goes on over `text`, the text of the value from its first byte, of which more may come.
    pub(crate) fn advance(&mut self, text: &str) -> Found {
        let bytes = text.as_bytes();
        while let Some(byte) = bytes.get(self.at).copied() {
            self.at += 1;
            if let ControlFlow::Break(found) = self.step(byte) {
                return found;
            }
        }
        Found::Open
    }

    fn step(&mut self, byte: u8) -> ControlFlow<Found> {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    self.after_string = true;
                }
                _ => {}
            }
            return ControlFlow::Continue(());
        }
        if byte.is_ascii_whitespace() {
            return ControlFlow::Continue(());
        }
        if std::mem::take(&mut self.after_string) && !matches!(byte, b',' | b':' | b'}' | b']') {
            return ControlFlow::Break(Found::Broken);
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' if self.open.len() >= MAX_DEPTH => {
                return ControlFlow::Break(Found::Broken);
            }
            b'{' => self.open.push(b'}'),
            b'[' => self.open.push(b']'),
            b'}' | b']' => {
                if self.open.pop() != Some(byte) {
                    return ControlFlow::Break(Found::Broken);
                }
                if self.open.is_empty() {
                    return ControlFlow::Break(Found::End(self.at));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_in_any_pieces() {
        for (text, want) in [
            (r#"{"a": [1, "}"]} tail"#, Found::End(15)),
            (r#"[{"a": "\"]"}] x"#, Found::End(14)),
            (r#"{"a": "x"y"}"#, Found::Broken),
            (r#"{"a": [1}"#, Found::Broken),
            (r#"{"a": 1"#, Found::Open),
            (r#"{"a": "x"#, Found::Open),
        ] {
            assert_eq!(Extent::default().advance(text), want, "{text}");
            let mut extent = Extent::default();
            let found = (1..=text.len())
                .map(|end| extent.advance(&text[..end]))
                .find(|found| *found != Found::Open);
            assert_eq!(found.unwrap_or(Found::Open), want, "{text} byte by byte");
        }
    }
}
