//! stub
pub(crate) const WRAPPER_KEYS: &[&str] = &[
    "arguments",
    "args",
    "input",
    "parameters",
    "params",
    "properties",
    "kwargs",
    "data",
];
pub(crate) fn are_opposites(_: &str, _: &str) -> bool {
    false
}
pub(crate) fn are_aliases(a: &str, b: &str) -> bool {
    let g: &[&[&str]] = &[
        &["path", "filepath", "file", "filename"],
        &["query", "q", "search"],
        &["command", "cmd"],
    ];
    let (a, b) = (crate::names::fold::key(a), crate::names::fold::key(b));
    g.iter().any(|g| g.contains(&&*a) && g.contains(&&*b))
}
