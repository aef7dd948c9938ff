//! Texts that make careless readers superlinear.

/// What is repeated, with its name.
pub const PATTERNS: &[(&str, &str)] = &[
    ("open brackets", "["),
    ("open objects", "{\"a\":"),
    ("unterminated quotes", "\"x "),
    ("apostrophes", "'"),
    ("missing commas", "\"a\" 1 "),
    ("broken lines", "\"abc\n"),
    ("backslashes", "\\"),
    ("nested quotes", "say \"x\", "),
    ("braces and words", "{x "),
    ("fences", "```json\n"),
    ("known keys", "\", \"path\": \""),
    ("other keys", "\", \"a\": \""),
    ("colons", ":"),
    ("commas", ","),
    ("comments", "/* x */ "),
    ("comments behind quotes", "\", /* "),
    ("line comments behind quotes", "\", // x\n"),
    ("mismatched closers", "}]"),
    ("closers behind quotes", "\"}]"),
    ("concatenated literals", "\"a\" + "),
    ("documents", "{\"a\": \"b\"c\"}"),
    ("spaces", "\"  "),
    ("smart quotes", "“x"),
    ("items", "\"}, {\"path\": \""),
    ("named arguments", "\", a = b"),
    ("parentheses", "(1,"),
    ("tags", "<x>"),
    ("closers of nothing", "],"),
    ("closers of nothing behind dots", ", ...]"),
    ("lone braces", "{"),
    ("line breaks", "\n"),
];

/// What is put behind every pattern to make pairs.
const SECOND: &[&str] = &["],", ", ...]", "{", "\"", ",\n"];

/// Every pattern, and every pair of one with a piece of structure.
pub fn units() -> impl Iterator<Item = String> {
    PATTERNS.iter().flat_map(|(_, unit)| {
        let pairs = SECOND.iter().map(move |second| format!("{unit}{second}"));
        std::iter::once((*unit).to_owned()).chain(pairs)
    })
}

/// The repeated unit as a string, as an unclosed string, as an item, behind the quote of a string
/// and of an item, and alone.
pub fn texts(unit: &str, size: usize) -> [String; SHAPES] {
    let text = unit.repeat(size / unit.len());
    [
        format!("{{\"content\": \"{text}\"}}"),
        format!("{{\"content\": \"{text}"),
        format!("{{\"tags\": [\"{text}\"]}}"),
        format!("{{\"content\": \"x\"{text}x\"}}"),
        format!("{{\"tags\": [\"x\"{text}x\"]}}"),
        text,
    ]
}

/// How many [`texts`] there are.
pub const SHAPES: usize = 6;
