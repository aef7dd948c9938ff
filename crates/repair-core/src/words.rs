//! The word lists that decide what may be exchanged for what. One table, published, so that a host
//! can read what this crate takes for an opposite, an operation or another name.

use crate::names::fold;

/// Words that turn a call into its opposite. A name, key or enum value is never exchanged for one
/// that differs by such a pair.
pub const OPPOSITES: &[(&str, &str)] = &[
    ("read", "write"),
    ("get", "set"),
    ("get", "put"),
    ("get", "post"),
    ("create", "delete"),
    ("create", "destroy"),
    ("create", "remove"),
    ("add", "remove"),
    ("add", "delete"),
    ("insert", "delete"),
    ("insert", "remove"),
    ("append", "truncate"),
    ("enable", "disable"),
    ("activate", "deactivate"),
    ("lock", "unlock"),
    ("block", "unblock"),
    ("start", "stop"),
    ("start", "end"),
    ("begin", "end"),
    ("open", "close"),
    ("allow", "deny"),
    ("accept", "reject"),
    ("approve", "reject"),
    ("approve", "deny"),
    ("grant", "revoke"),
    ("push", "pull"),
    ("show", "hide"),
    ("from", "to"),
    ("min", "max"),
    ("minimum", "maximum"),
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("before", "after"),
    ("old", "new"),
    ("include", "exclude"),
    ("asc", "desc"),
    ("ascending", "descending"),
    ("public", "private"),
    ("up", "down"),
    ("in", "out"),
    ("on", "off"),
    ("true", "false"),
    ("yes", "no"),
    ("left", "right"),
    ("top", "bottom"),
    ("first", "last"),
    ("next", "previous"),
    ("next", "prev"),
    ("buy", "sell"),
    ("send", "receive"),
    ("upload", "download"),
    ("import", "export"),
    ("encode", "decode"),
    ("encrypt", "decrypt"),
    ("compress", "decompress"),
    ("install", "uninstall"),
    ("subscribe", "unsubscribe"),
    ("follow", "unfollow"),
    ("mount", "unmount"),
    ("load", "unload"),
    ("attach", "detach"),
    ("connect", "disconnect"),
    ("login", "logout"),
    ("join", "leave"),
    ("increase", "decrease"),
    ("increment", "decrement"),
    ("raise", "lower"),
    ("higher", "lower"),
    ("high", "low"),
    ("parent", "child"),
    ("input", "output"),
    ("request", "response"),
    ("archive", "restore"),
    ("delete", "restore"),
    ("pause", "resume"),
    ("mute", "unmute"),
    ("pin", "unpin"),
    ("assign", "unassign"),
    ("check", "uncheck"),
    ("select", "deselect"),
    ("promote", "demote"),
    ("success", "failure"),
    ("internal", "external"),
    ("local", "remote"),
    ("sender", "recipient"),
    ("debit", "credit"),
    ("withdraw", "deposit"),
    ("north", "south"),
    ("east", "west"),
    ("hot", "cold"),
    ("with", "without"),
    ("any", "all"),
    ("positive", "negative"),
    ("hard", "soft"),
    ("read", "delete"),
    ("read", "update"),
    ("get", "delete"),
    ("get", "update"),
    ("list", "delete"),
    ("update", "delete"),
    ("create", "update"),
    ("copy", "move"),
];

/// Prefixes that turn a word into its opposite.
pub const OPPOSING_PREFIXES: &[&str] = &[
    "un", "de", "dis", "in", "im", "ir", "il", "non", "anti", "mis",
];

/// Words that negate by standing beside another.
pub const NEGATIONS: &[&str] = &["not", "no", "non", "never", "un", "without", "except"];

/// Words for what a tool does. An emitted name that holds one is no misspelling of another.
pub const OPERATIONS: &[&str] = &[
    "add",
    "allow",
    "append",
    "apply",
    "approve",
    "archive",
    "assign",
    "attach",
    "block",
    "book",
    "browse",
    "build",
    "buy",
    "calculate",
    "call",
    "cancel",
    "change",
    "check",
    "clear",
    "clone",
    "close",
    "commit",
    "compare",
    "compute",
    "connect",
    "convert",
    "copy",
    "count",
    "create",
    "delete",
    "deny",
    "deploy",
    "describe",
    "destroy",
    "detach",
    "disable",
    "download",
    "drop",
    "edit",
    "enable",
    "end",
    "estimate",
    "exec",
    "execute",
    "export",
    "fetch",
    "fill",
    "filter",
    "find",
    "format",
    "forward",
    "generate",
    "get",
    "grant",
    "grep",
    "hide",
    "import",
    "insert",
    "install",
    "invite",
    "join",
    "kill",
    "leave",
    "link",
    "list",
    "load",
    "lock",
    "login",
    "logout",
    "look",
    "lookup",
    "mark",
    "merge",
    "move",
    "open",
    "parse",
    "patch",
    "pause",
    "pay",
    "ping",
    "plan",
    "play",
    "post",
    "print",
    "publish",
    "pull",
    "push",
    "put",
    "query",
    "read",
    "rebuild",
    "refund",
    "reject",
    "reload",
    "remove",
    "rename",
    "reply",
    "replace",
    "request",
    "reset",
    "resolve",
    "restart",
    "restore",
    "resume",
    "retrieve",
    "revert",
    "revoke",
    "run",
    "save",
    "scan",
    "search",
    "select",
    "sell",
    "send",
    "set",
    "share",
    "show",
    "sort",
    "start",
    "stop",
    "store",
    "submit",
    "subscribe",
    "summarize",
    "sync",
    "tag",
    "test",
    "transfer",
    "translate",
    "unblock",
    "undo",
    "unlink",
    "unlock",
    "update",
    "upload",
    "validate",
    "verify",
    "view",
    "watch",
    "write",
];

/// Verbs toward which no slip is ever corrected.
pub const DANGEROUS_VERBS: &[&str] = &[
    "buy",
    "cancel",
    "charge",
    "clear",
    "cleanup",
    "delete",
    "deploy",
    "destroy",
    "drop",
    "erase",
    "exec",
    "execute",
    "format",
    "kill",
    "order",
    "overwrite",
    "pay",
    "publish",
    "purge",
    "refund",
    "remove",
    "reset",
    "revoke",
    "run",
    "sell",
    "send",
    "shutdown",
    "terminate",
    "transfer",
    "truncate",
    "uninstall",
    "unlink",
    "wipe",
    "withdraw",
];

/// Words that say nothing in a path of a name (`google:tool:terminal:index:0`).
pub const GENERIC_SEGMENTS: &[&str] = &[
    "tool",
    "tools",
    "function",
    "functions",
    "call",
    "api",
    "default_api",
    "index",
    "ns",
    "google",
];

/// Prefixes that hosts and model families put before a name.
pub const NAME_PREFIXES: &[&str] = &[
    "functions.",
    "function.",
    "default_api.",
    "tools.",
    "tool.",
    "functions:",
    "tool:",
    "mcp_",
];

/// Suffixes that models put behind a name.
pub const NAME_SUFFIXES: &[&str] = &["()", "_tool", "-tool", "tool"];

/// Keys that wrap arguments without being one.
pub const WRAPPER_KEYS: &[&str] = &[
    "arguments",
    "args",
    "input",
    "parameters",
    "params",
    "properties",
    "kwargs",
    "data",
];

/// Common names of the same argument, as folded keys. A key is renamed to another of its group
/// only where nothing else could be meant.
pub const ALIASES: &[&[&str]] = &[
    &[
        "path",
        "filepath",
        "file",
        "filename",
        "targetfile",
        "filepathname",
    ],
    &[
        "directory",
        "dir",
        "folder",
        "folderpath",
        "directorypath",
        "dirpath",
    ],
    &[
        "query",
        "q",
        "search",
        "searchquery",
        "searchterm",
        "searchtext",
    ],
    &["command", "cmd", "commandline", "shellcommand"],
    &["content", "text", "contents", "filecontent", "body"],
    &["url", "uri", "link", "href", "webpage"],
    &["oldstring", "oldstr", "oldtext", "old"],
    &["newstring", "newstr", "newtext", "new"],
    &["pattern", "regex", "regexp"],
    &["limit", "maxresults", "count", "numresults", "topk"],
    &["message", "msg"],
    &["description", "desc"],
    &["timeout", "timeoutseconds", "timeoutsecs"],
    &["language", "lang"],
    &["location", "place"],
    &["identifier", "id"],
    &["username", "user"],
    &["email", "emailaddress", "mail"],
    &["workingdirectory", "cwd", "workdir", "workingdir"],
];

/// Whether two keys are common names of the same argument.
pub(crate) fn are_aliases(a: &str, b: &str) -> bool {
    let (a, b) = (fold::key(a), fold::key(b));
    ALIASES
        .iter()
        .any(|group| group.contains(&&*a) && group.contains(&&*b))
}

/// The words of a name: split at separators and at the humps of camel case, in lower case.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut before_is_lower = false;
    for character in text.chars() {
        let starts_word = character.is_uppercase() && before_is_lower;
        if (!character.is_alphanumeric() || starts_word) && !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before_is_lower = character.is_lowercase() || character.is_numeric();
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

/// Longest text that is compared for opposites; longer ones count as opposites.
const MAX_COMPARED: usize = 200;

/// Whether two names, keys or values differ by an opposing word or prefix. In doubt they do.
pub(crate) fn are_opposites(a: &str, b: &str) -> bool {
    if a == b {
        return false;
    }
    if a.len() > MAX_COMPARED || b.len() > MAX_COMPARED {
        return true;
    }
    let (whole_a, whole_b) = (fold::key(a), fold::key(b));
    if differ_by_prefix(&whole_a, &whole_b) || differ_by_word(&whole_a, &whole_b) {
        return true;
    }
    let (mut only_a, mut only_b) = (tokens(a), tokens(b));
    only_a.retain(|word| match only_b.iter().position(|other| other == word) {
        Some(at) => {
            only_b.remove(at);
            false
        }
        None => true,
    });
    let negates = |words: &[String]| words.iter().any(|word| NEGATIONS.contains(&word.as_str()));
    negates(&only_a) != negates(&only_b)
        || only_a
            .iter()
            .any(|x| only_b.iter().any(|y| is_opposing_pair(x, y)))
}

/// Whether one word is the other with an opposing prefix; one letter of the rest may be wrong.
fn differ_by_prefix(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    OPPOSING_PREFIXES.iter().any(|prefix| {
        let Some(rest) = long.strip_prefix(prefix) else {
            return false;
        };
        !short.starts_with(prefix) && is_nearly(rest, short)
    })
}

/// Whether one text is the other with a word exchanged for its opposite.
fn differ_by_word(a: &str, b: &str) -> bool {
    OPPOSITES.iter().any(|(x, y)| {
        x.len() > 2
            && y.len() > 2
            && (a.contains(x) && a.replacen(x, y, 1) == b
                || a.contains(y) && a.replacen(y, x, 1) == b)
    })
}

fn is_opposing_pair(x: &str, y: &str) -> bool {
    differ_by_prefix(x, y)
        || OPPOSITES.iter().any(|(p, q)| {
            (is_nearly(x, p) && is_nearly(y, q)) || (is_nearly(x, q) && is_nearly(y, p))
        })
}

/// Equal, or in a word of at least four letters one slip apart.
fn is_nearly(a: &str, b: &str) -> bool {
    a == b
        || (a.len().min(b.len()) >= 4
            && a.len().abs_diff(b.len()) <= 1
            && strsim::osa_distance(a, b) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_names_into_words() {
        for (name, words) in [
            ("getUserById", "get user by id"),
            ("mcp__git__list-files", "mcp git list files"),
            ("HTTPServer2", "httpserver2"),
            ("", ""),
        ] {
            assert_eq!(tokens(name).join(" "), words, "{name}");
        }
    }

    #[test]
    fn opposites_are_told() {
        for (a, b) in [
            ("read_file", "write_file"),
            ("lock_door", "unlock_door"),
            ("unlockDoor", "lock_door"),
            ("enable_user", "disable_user"),
            ("kanban_unblok", "kanban_block"),
            ("from_date", "to_date"),
            ("min_price", "max_price"),
            ("enableuser", "disableuser"),
            ("is_active", "is_not_active"),
            ("delete_item", "remove_item_not"),
            ("sort_asc", "sort_desc"),
            ("raed_file", "write_file"),
        ] {
            assert!(are_opposites(a, b), "{a} {b}");
            assert!(are_opposites(b, a), "{b} {a}");
        }
        for (a, b) in [
            ("read_file", "ReadFile"),
            ("min_scor", "min_score"),
            ("filePath", "path"),
            ("q", "query"),
            ("decompile_functon", "decompile_function"),
            ("cmd", "command"),
            ("old_text", "old_string"),
        ] {
            assert!(!are_opposites(a, b), "{a} {b}");
        }
    }
}
