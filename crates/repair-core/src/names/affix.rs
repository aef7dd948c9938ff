//! What models put around a tool's name: namespaces, server prefixes, suffixes, leaked tokens.
//!
//! Each of these is stripped only while the name is unknown, and counts only if what is left is
//! a tool's whole name. So nothing here can turn one tool's name into another's: the model wrote
//! the resolved name, letter for letter up to its fold.

use crate::words;

/// The servers whose prefixes may be stripped from an emitted name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Servers {
    /// Those that the host declared, bare and in lower case.
    declared: Vec<Box<str>>,
    /// Whether a tool of the set is itself named `mcp__server__tool`.
    are_in_names: bool,
}

impl Servers {
    /// `declared` may be bare (`github`) or a prefix (`mcp__github__`).
    pub(crate) fn new<'n>(declared: &[String], mut names: impl Iterator<Item = &'n str>) -> Self {
        let bare = |server: &String| {
            let server = server.to_lowercase();
            let server = server.strip_prefix("mcp__").unwrap_or(&server);
            Box::from(server.trim_end_matches(SEPARATORS))
        };
        Self {
            declared: declared.iter().map(bare).collect(),
            are_in_names: names.any(|name| split_mcp(name).is_some()),
        }
    }

    /// Whether `mcp__server__` before a name says no more than the tool set itself. If the host
    /// declares its servers, these alone. If not, any, unless the tools carry their servers in
    /// their names: then the model meant a tool of that server, and a bare name is not one.
    fn allow(&self, server: &str) -> bool {
        if self.declared.is_empty() {
            !self.are_in_names
        } else {
            self.declared
                .iter()
                .any(|known| known.eq_ignore_ascii_case(server))
        }
    }
}

const SEPARATORS: [char; 5] = ['_', '-', '.', ':', '/'];

/// Longest name whose affixes are looked for, in bytes, after leaked tokens are cut off.
pub(crate) const LONGEST: usize = 1024;

/// How often affixes are stripped from one name.
const ROUNDS: usize = 6;

/// Splits `mcp__server__tool` into server and tool.
pub(crate) fn split_mcp(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?
        .split_once("__")
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// What is left of a name when its affixes are stripped: the names themselves first, then those
/// with one affix less, and so on.
pub(crate) fn strip<'e>(emitted: &'e str, servers: &Servers) -> Vec<Vec<&'e str>> {
    let mut rounds = vec![vec![emitted]];
    let mut seen = vec![emitted];
    if emitted.len() > LONGEST {
        let head = before_special_token(emitted).filter(|rest| rest.len() <= LONGEST);
        rounds.push(Vec::from_iter(head));
        seen.extend(head);
    }
    while let Some(last) = rounds.last()
        && rounds.len() <= ROUNDS
    {
        let mut next = Vec::new();
        for name in last.iter().filter(|name| name.len() <= LONGEST) {
            for rest in strip_one(name, servers) {
                if !rest.is_empty() && !seen.contains(&rest) {
                    seen.push(rest);
                    next.push(rest);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        rounds.push(next);
    }
    rounds
}

/// The name without one affix, for each affix that it has.
fn strip_one<'e>(name: &'e str, servers: &Servers) -> impl Iterator<Item = &'e str> {
    [
        before_special_token(name),
        words::NAMESPACES
            .iter()
            .find_map(|namespace| without_prefix(name, namespace)),
        split_mcp(name)
            .filter(|(server, _)| servers.allow(server))
            .map(|(_, tool)| tool),
        // A server after it stays in the name.
        without_prefix(name, "mcp_").map(|rest| rest.trim_start_matches('_')),
        servers
            .declared
            .iter()
            .find_map(|server| without_prefix(name, server)?.strip_prefix(SEPARATORS)),
        without_suffix(name, "tool").map(|rest| rest.trim_end_matches(SEPARATORS)),
        name.strip_suffix("()"),
        before_index(name),
    ]
    .into_iter()
    .flatten()
    .map(str::trim)
}

/// The name up to the first leaked token, if there is one.
fn before_special_token(name: &str) -> Option<&str> {
    let at = words::SPECIAL_TOKENS
        .iter()
        .filter_map(|token| name.find(token))
        .min()?;
    name.get(..at)
}

/// The name before a trailing index (`read:0`).
fn before_index(name: &str) -> Option<&str> {
    let (rest, index) = name.rsplit_once(':')?;
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some(rest)
}

fn without_prefix<'e>(name: &'e str, prefix: &str) -> Option<&'e str> {
    let (head, rest) = name.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn without_suffix<'e>(name: &'e str, suffix: &str) -> Option<&'e str> {
    let (rest, tail) = name.split_at_checked(name.len().checked_sub(suffix.len())?)?;
    tail.eq_ignore_ascii_case(suffix).then_some(rest)
}
