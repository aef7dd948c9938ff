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
    /// The servers of a tool set's tools, by [`bare_server`].
    pub(crate) fn new<'n>(
        declared: impl Iterator<Item = &'n str>,
        mut names: impl Iterator<Item = &'n str>,
    ) -> Self {
        let mut declared: Vec<Box<str>> = declared.map(Box::from).collect();
        declared.sort_unstable();
        declared.dedup();
        Self {
            declared,
            are_in_names: names.any(|name| split_mcp(name).is_some()),
        }
    }

    /// The name without `mcp__server__`. If the host declares its servers, only theirs are known.
    /// If not, any may go, unless the tools carry their servers in their names: then the model
    /// meant a tool of that server, and a bare name is not one.
    fn without_mcp<'e>(&'e self, name: &'e str) -> Option<Meant<'e>> {
        let (server, name) = split_mcp(name)?;
        if self.declared.is_empty() {
            return (!self.are_in_names).then_some(Meant { name, server: None });
        }
        let known = self
            .declared
            .iter()
            .find(|known| known.eq_ignore_ascii_case(server))?;
        Some(Meant {
            name,
            server: Some(known),
        })
    }

    /// The name without a declared server and the separator after it.
    fn without_server<'e>(&'e self, name: &'e str) -> impl Iterator<Item = Meant<'e>> {
        self.declared.iter().filter_map(move |server| {
            let name = without_prefix(name, server)?.strip_prefix(SEPARATORS)?;
            let server = Some(&**server);
            Some(Meant { name, server })
        })
    }
}

/// A server's name in lower case, without what belongs to its prefix: `mcp__GitHub__` is `github`.
pub(crate) fn bare_server(server: &str) -> Box<str> {
    let server = server.to_lowercase();
    let bare = server.strip_prefix("mcp__").unwrap_or(&server);
    bare.trim_end_matches(SEPARATORS).into()
}

/// A name that may be meant, and the declared server that stood before it, if one did. Then a
/// tool of that server is meant and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meant<'e> {
    pub(crate) name: &'e str,
    pub(crate) server: Option<&'e str>,
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
pub(crate) fn strip<'e>(emitted: &'e str, servers: &'e Servers) -> Vec<Vec<Meant<'e>>> {
    let whole = |name| Meant { name, server: None };
    let mut rounds = vec![vec![whole(emitted)]];
    let mut seen = vec![whole(emitted)];
    if emitted.len() > LONGEST {
        let head = before_special_token(emitted).filter(|rest| rest.len() <= LONGEST);
        rounds.push(Vec::from_iter(head.map(whole)));
        seen.extend(head.map(whole));
    }
    while let Some(last) = rounds.last()
        && rounds.len() <= ROUNDS
    {
        let mut next = Vec::new();
        for meant in last.iter().filter(|meant| meant.name.len() <= LONGEST) {
            for rest in strip_one(*meant, servers) {
                if !rest.name.is_empty() && !seen.contains(&rest) {
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
fn strip_one<'e>(meant: Meant<'e>, servers: &'e Servers) -> impl Iterator<Item = Meant<'e>> {
    let name = meant.name;
    let plain = [
        before_special_token(name),
        words::NAMESPACES
            .iter()
            .find_map(|namespace| without_prefix(name, namespace)),
        // A server after it stays in the name.
        without_prefix(name, "mcp_").map(|rest| rest.trim_start_matches('_')),
        without_suffix(name, "tool").map(|rest| rest.trim_end_matches(SEPARATORS)),
        name.strip_suffix("()"),
        before_index(name),
    ];
    plain
        .into_iter()
        .flatten()
        .map(move |name| Meant { name, ..meant })
        .chain(servers.without_mcp(name))
        .chain(servers.without_server(name))
        // A second server before the name would contradict the first.
        .filter(move |rest| {
            meant
                .server
                .is_none_or(|server| rest.server == Some(server))
        })
        .map(|rest| Meant {
            name: rest.name.trim(),
            ..rest
        })
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
