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
];

/// The repeated unit alone, as a string, as an unclosed string, and as an item.
pub fn texts(unit: &str, size: usize) -> [String; 4] {
    let text = unit.repeat(size / unit.len());
    [
        format!("{{\"content\": \"{text}\"}}"),
        format!("{{\"content\": \"{text}"),
        format!("{{\"tags\": [\"{text}\"]}}"),
        text,
    ]
}
