//! The word lists of the repair rules, all in one place, and the questions asked of them.
//!
//! Words are in lower case. Keys stand as folds (without `_`, `-`, `.` and spaces), so that
//! `file_path`, `filePath` and `file-path` are all `filepath`.

use crate::names::near;

/// Pairs of words that turn a name, key or enum value into its contrary, in either order. No rule
/// ever exchanges texts that differ by one of them.
#[rustfmt::skip]
pub static OPPOSITES: &[(&str, &str)] = &[
    ("above", "below"), ("accept", "decline"), ("accept", "reject"), ("activate", "suspend"),
    ("active", "inactive"), ("active", "passive"), ("add", "clear"), ("add", "delete"),
    ("add", "drop"), ("add", "remove"), ("add", "subtract"), ("after", "before"), ("all", "any"),
    ("all", "none"), ("allow", "block"), ("allow", "deny"), ("allow", "forbid"),
    ("allowlist", "blocklist"), ("allowlist", "denylist"), ("am", "pm"), ("and", "or"),
    ("append", "prepend"), ("approve", "deny"), ("approve", "reject"), ("archive", "restore"),
    ("arm", "disarm"), ("asc", "desc"), ("ascending", "descending"), ("attach", "detach"),
    ("backup", "restore"), ("backward", "forward"), ("begin", "end"), ("best", "worst"),
    ("billion", "million"), ("block", "permit"), ("borrow", "lend"), ("bottom", "top"),
    ("buy", "sell"), ("cancel", "confirm"), ("cancel", "resume"), ("cancel", "schedule"),
    ("child", "parent"), ("clear", "set"), ("client", "server"), ("close", "open"), ("col", "row"),
    ("collapse", "expand"), ("cold", "hot"), ("commit", "revert"), ("commit", "rollback"),
    ("compress", "decompress"), ("compress", "extract"), ("connect", "disconnect"),
    ("cool", "heat"), ("create", "delete"), ("create", "destroy"), ("create", "drop"),
    ("create", "remove"), ("credit", "debit"), ("day", "night"), ("decode", "encode"),
    ("decrease", "increase"), ("decrement", "increment"), ("decrypt", "encrypt"), ("delete", "get"),
    ("delete", "insert"), ("delete", "read"), ("delete", "restore"), ("delete", "update"),
    ("demote", "promote"), ("deny", "grant"), ("deny", "permit"), ("deposit", "withdraw"),
    ("dest", "origin"), ("dest", "source"), ("dest", "src"), ("destination", "origin"),
    ("destination", "source"), ("destination", "src"), ("disable", "enable"),
    ("disabled", "enabled"), ("disallow", "permit"), ("down", "up"), ("download", "upload"),
    ("downgrade", "upgrade"), ("dst", "source"), ("dst", "src"), ("earliest", "latest"),
    ("east", "west"), ("empty", "fill"), ("end", "start"), ("error", "success"), ("even", "odd"),
    ("exclude", "include"), ("exclusive", "inclusive"), ("exit", "enter"), ("expense", "income"),
    ("export", "import"), ("external", "internal"), ("fail", "pass"), ("failure", "success"),
    ("false", "true"), ("female", "male"), ("fetch", "push"), ("finish", "start"),
    ("first", "last"), ("follow", "unfollow"), ("freeze", "thaw"), ("from", "to"), ("get", "post"),
    ("get", "put"), ("get", "set"), ("get", "update"), ("give", "take"), ("global", "local"),
    ("grant", "revoke"), ("greater", "less"), ("greater", "lesser"), ("gt", "lt"), ("gte", "lte"),
    ("head", "tail"), ("hidden", "visible"), ("hide", "show"), ("high", "low"), ("higher", "lower"),
    ("highest", "lowest"), ("horizontal", "vertical"), ("http", "https"), ("in", "out"),
    ("inbound", "outbound"), ("incoming", "outgoing"), ("inner", "outer"), ("input", "output"),
    ("insert", "remove"), ("install", "remove"), ("invite", "kick"), ("join", "leave"),
    ("join", "split"), ("keep", "drop"), ("keep", "remove"), ("kill", "start"), ("large", "small"),
    ("larger", "smaller"), ("largest", "smallest"), ("left", "right"), ("less", "more"),
    ("load", "save"), ("load", "store"), ("local", "remote"), ("login", "logout"),
    ("long", "short"), ("longest", "shortest"), ("lose", "win"), ("lower", "upper"),
    ("lowercase", "uppercase"), ("max", "min"), ("maximum", "minimum"), ("merge", "split"),
    ("minus", "plus"), ("most", "least"), ("mount", "umount"), ("mute", "unmute"),
    ("narrow", "wide"), ("negative", "positive"), ("never", "always"), ("new", "old"),
    ("newer", "older"), ("newest", "oldest"), ("next", "prev"), ("next", "previous"), ("no", "yes"),
    ("north", "south"), ("off", "on"), ("offline", "online"), ("over", "under"), ("pause", "play"),
    ("pause", "resume"), ("peek", "pop"), ("pop", "push"), ("prefix", "suffix"),
    ("private", "public"), ("pull", "push"), ("purchase", "sell"), ("raise", "lower"),
    ("read", "update"), ("read", "write"), ("receive", "send"), ("received", "sent"),
    ("receiver", "sender"), ("recipient", "sender"), ("redo", "undo"), ("request", "response"),
    ("reserve", "cancel"), ("reserve", "release"), ("resume", "stop"), ("resume", "suspend"),
    ("row", "column"), ("send", "spend"), ("shutdown", "start"), ("since", "until"),
    ("sink", "source"), ("slow", "fast"), ("source", "target"), ("src", "target"),
    ("start", "stop"), ("subscribe", "unsubscribe"), ("sync", "async"), ("thick", "thin"),
    ("unarchive", "delete"), ("view", "review"), ("whitelist", "blacklist"),
];

/// Prefixes that turn a word into its contrary.
#[rustfmt::skip]
pub static OPPOSING_PREFIXES: &[&str] = &[
    "un", "de", "dis", "in", "non", "anti", "mis", "im", "ir", "il", "not", "no",
];

/// Verbs that name an operation. A name that holds one of them means it, however near another
/// name is.
#[rustfmt::skip]
pub static OPERATIONS: &[&str] = &[
    "accept", "access", "activate", "add", "allow", "append", "apply", "approve", "archive",
    "assign", "attach", "backup", "ban", "block", "book", "browse", "build", "buy", "calculate",
    "call", "cancel", "capture", "change", "charge", "check", "clean", "clear", "click", "clone", "close",
    "collect", "combine", "commit", "compare", "compile", "complete", "compose", "compress",
    "compute", "configure", "confirm", "connect", "convert", "copy", "count", "create", "crop",
    "cut", "deactivate", "debug", "decline", "decode", "decompile", "decrypt", "define", "delete",
    "deny", "deploy", "describe", "destroy", "detach", "detect", "diff", "disable", "disconnect",
    "dismiss", "download", "draft", "draw", "drop", "duplicate", "edit", "email", "enable",
    "encode", "encrypt", "end", "estimate", "eval", "evaluate", "execute", "exit", "explain",
    "export", "extract", "fetch", "filter", "find", "finish", "fix", "follow", "fork", "format",
    "forward", "generate", "get", "glob", "grant", "grep", "hide", "identify", "import", "index",
    "insert", "inspect", "install", "invert", "invite", "invoke", "join", "kill", "launch", "leave", "like",
    "link", "list", "load", "lock", "log", "login", "logout", "look", "lookup", "map", "mark",
    "match", "measure", "merge", "modify", "monitor", "mount", "move", "mute", "navigate", "notify",
    "open", "order", "parse", "paste", "patch", "pause", "pay", "peek", "pin", "ping", "plan",
    "play", "plot", "poll", "pop", "post", "predict", "preview", "print", "process", "promote",
    "publish", "pull", "purchase", "push", "put", "query", "queue", "quote", "read", "rebase",
    "rebuild", "receive", "record", "recover", "redo", "refresh", "register", "reject", "release",
    "reload", "remind", "remove", "rename", "render", "reopen", "repeat", "replace", "reply",
    "report", "request", "reserve", "reset", "resize", "resolve", "restart", "restore", "resume",
    "retrieve", "return", "revert", "review", "revoke", "roll", "rollback", "rotate", "route",
    "run", "sample", "save", "scale", "scan", "schedule", "scrape", "search", "seek", "select",
    "sell", "send", "set", "share", "ship", "show", "sign", "simulate", "skip", "sleep", "solve",
    "sort", "split", "star", "start", "stop", "store", "stream", "submit", "subscribe", "suspend",
    "swap", "switch", "sync", "tag", "take", "test", "toggle", "trace", "track", "train",
    "transfer", "transform", "translate", "type", "unblock", "undo", "unfollow", "uninstall",
    "unlink", "unload", "unlock", "unmount", "unmute", "unpin", "unsubscribe", "update", "upgrade",
    "upload", "upsert", "validate", "verify", "view", "wait", "watch", "withdraw", "write",
];

/// Things that tools are about. Like [`OPERATIONS`], they are words of their own and never a
/// slip of another word (`get_data` is not `get_date`). Words of two spellings (`analyse`) are in
/// neither list.
#[rustfmt::skip]
pub static THINGS: &[&str] = &[
    "account", "action", "activity", "address", "agent", "alarm", "album", "alert", "area",
    "article", "artist", "asset", "audio", "balance", "bill", "blob", "board", "body", "bond",
    "bot", "branch", "bucket", "budget", "cache", "calendar", "campaign", "car", "card", "cart",
    "case", "cell", "channel", "chart", "chat", "city", "class", "client", "code", "column",
    "comment", "company", "component", "config", "contact", "container", "content", "context",
    "contract", "cost", "country", "coupon", "course", "currency", "customer", "cycle", "dashboard",
    "data", "database", "date", "day", "deal", "detail", "device", "dialog", "directory", "disk",
    "distance", "doc", "document", "domain", "door", "driver", "edge", "element", "employee",
    "entity", "entry", "env", "error", "event", "example", "expense", "face", "fact", "field",
    "file", "flag", "flight", "flow", "folder", "form", "function", "game", "gift", "goal", "graph",
    "group", "hash", "head", "header", "history", "host", "hotel", "hour", "image", "info", "input",
    "instance", "invoice", "issue", "item", "job", "key", "label", "language", "layer", "lead",
    "level", "library", "line", "location", "mail", "main", "mean", "media", "median", "meeting",
    "member", "memory", "menu", "message", "metric", "minute", "mode", "model", "module", "month",
    "movie", "name", "network", "news", "node", "note", "number", "object", "offer", "option",
    "output", "owner", "package", "page", "pane", "panel", "parent", "part", "path", "patient",
    "payment", "permission", "person", "phone", "photo", "place", "player", "playlist", "point",
    "policy", "port", "position", "price", "product", "profile", "project", "property", "quantity",
    "question", "rate", "rating", "ratio", "recipe", "region", "repo", "repository", "resource",
    "response", "result", "role", "room", "row", "rule", "salary", "sale", "schema", "score",
    "screen", "script", "season", "section", "sensor", "server", "service", "session", "shape",
    "sheet", "shell", "shift", "site", "size", "slide", "slot", "snapshot", "song", "source",
    "stage", "state", "station", "statistics", "stats", "status", "step", "stock", "story",
    "string", "style", "sum", "symbol", "system", "tab", "table", "target", "task", "team",
    "temperature", "template", "term", "text", "theme", "thread", "ticket", "tile", "time", "title",
    "todo", "token", "tool", "topic", "trade", "trend", "trip", "unit", "url", "user", "value",
    "variable", "variance", "vendor", "version", "video", "visit", "voice", "volume", "vote",
    "wallet", "weather", "website", "week", "weight", "wiki", "window", "word", "worker",
    "workflow", "workspace", "year", "zone",
];

/// Verbs that delete, drop, send, pay, kill or execute. A slip is never read as one of them.
#[rustfmt::skip]
pub static DANGEROUS_VERBS: &[&str] = &[
    "abort", "bash", "buy", "cancel", "charge", "checkout", "clear", "delete", "deploy", "destroy",
    "drop", "empty", "erase", "eval", "evict", "exec", "execute", "expire", "flush", "kill",
    "order", "overwrite", "pay", "post", "publish", "purchase", "purge", "reboot", "refund",
    "remove", "reset", "revoke", "rm", "run", "sell", "send", "shell", "shutdown", "spawn",
    "submit", "sudo", "terminate", "transfer", "truncate", "uninstall", "unlink", "wipe",
    "withdraw",
];

/// Words that say nothing about which tool is meant, as a segment of a path
/// (`google:tool:terminal:index:0`).
#[rustfmt::skip]
pub static GENERIC: &[&str] = &[
    "tool", "tools", "function", "functions", "call", "api", "default_api", "index", "ns", "google",
];

/// Namespaces that models put before a tool's name.
pub static NAMESPACES: &[&str] = &["functions.", "default_api.", "tools."];

/// Where the name ends and leaked control text begins.
#[rustfmt::skip]
pub static SPECIAL_TOKENS: &[&str] = &[
    "<", "[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]", "[INST]",
    "[/INST]",
];

/// Keys that mean the same, in groups, as folds. A key stands in at most one group.
#[rustfmt::skip]
pub static ALIASES: &[&[&str]] = &[
    &["path", "filepath", "file", "filename", "pathname", "absolutepath", "fpath"],
    &["query", "q", "search", "searchquery", "searchterm", "querystring"],
    &["command", "cmd", "commandline", "shellcommand", "bashcommand"],
    &["content", "text", "contents", "filecontent", "filetext"],
    &["url", "uri", "link", "href"],
    &["oldstring", "oldstr", "oldtext", "old", "oldcontent"],
    &["newstring", "newstr", "newtext", "new", "newcontent"],
    &["directory", "dir", "folder", "dirpath", "directorypath", "folderpath"],
    &["cwd", "workdir", "workingdir", "workingdirectory"],
    &["limit", "maxresults", "numresults", "topk"],
    &["pattern", "regex", "regexp"],
    &["message", "msg"],
    &["language", "lang"],
    &["email", "emailaddress"],
    &["phone", "phonenumber"],
    &["code", "sourcecode"],
    &["quantity", "qty"],
    &["address", "addr"],
    &["config", "configuration"],
    &["extension", "ext"],
    &["latitude", "lat"],
    &["longitude", "lon", "lng"],
    &["repository", "repo"],
    &["organization", "organisation", "org"],
    &["source", "src"],
    &["destination", "dest", "dst"],
    &["timezone", "tz"],
    &["id", "identifier"],
    &["color", "colour"],
];

/// Keys that models wrap all arguments in.
#[rustfmt::skip]
pub static WRAPPERS: &[&str] = &[
    "arguments", "args", "input", "parameters", "params", "properties", "kwargs", "data",
];

/// Keys that models wrap any value in.
pub static VALUE_WRAPPERS: &[&str] = &["value"];

/// Keys that models wrap a list or its items in, beside the singular of the list's own key.
pub static ITEM_WRAPPERS: &[&str] = &["item"];

/// The lower-cased words of a name, key or value: `getHTTPUrl_v2` is `get`, `http`, `url`, `v2`.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let is_start = character.is_uppercase()
            && (before.is_some_and(|b: char| !b.is_uppercase())
                || rest.peek().is_some_and(|next| next.is_lowercase()));
        if (is_start || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = Some(character);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Longest text, in bytes, that is looked at for opposites. Longer ones are never near anything.
const LONGEST: usize = 256;

/// Whether two names, keys or enum values differ by an opposing word or prefix. Errs on the side
/// of true: words may be inflected or misspelt by a letter, and need not be separated.
pub(crate) fn are_opposites(a: &str, b: &str) -> bool {
    if a.len().max(b.len()) > LONGEST {
        return a != b;
    }
    // The same letters are the same word, wherever the capitals stand.
    if a.eq_ignore_ascii_case(b) {
        return false;
    }
    let (left, right) = (tokens(a), tokens(b));
    // The same words, however they are written.
    if left == right {
        return false;
    }
    let (left_only, right_only) = (without(&left, &right), without(&right, &left));
    let may_oppose = !right_only.is_empty();
    let words_oppose = left_only.iter().filter(|_| may_oppose).any(|x| {
        let contraries: Vec<&str> = contraries_of(x).collect();
        right_only.iter().any(|y| {
            contraries.iter().any(|contrary| is_form(y, contrary))
                || is_negated(x, y)
                || is_negated(y, x)
        })
    });
    let (left, right) = (left.concat(), right.concat());
    words_oppose || differ_by_prefix(&left, &right) || differ_by_word(&left, &right)
}

/// Whether one name can be a slip of the other, as far as their words tell: they are no opposites,
/// and do not differ in a word of one or two letters, which is another one with any other letter
/// (`x` and `y`, `no` and `on`).
pub(crate) fn may_be_a_slip(written: &str, known: &str) -> bool {
    let (left, right) = (tokens(written), tokens(known));
    let differ_in_short_word = matches!(
        (without(&left, &right).as_slice(), without(&right, &left).as_slice()),
        ([x], [y]) if x.len().max(y.len()) <= 2
    );
    !differ_in_short_word && !are_opposites(written, known)
}

/// The words of one list that the other one does not hold as often.
fn without<'w>(words: &'w [String], others: &'w [String]) -> Vec<&'w str> {
    let mut others: Vec<&str> = others.iter().map(String::as_str).collect();
    words
        .iter()
        .map(String::as_str)
        .filter(|word| {
            let shared = others.iter().position(|other| other == word);
            shared.map(|at| others.swap_remove(at)).is_none()
        })
        .collect()
}

/// The opposites of the listed words that `word` may be a form of.
fn contraries_of(word: &str) -> impl Iterator<Item = &'static str> {
    OPPOSITES
        .iter()
        .flat_map(|(a, b)| [(*a, *b), (*b, *a)])
        .filter(move |(from, _)| is_form(word, from))
        .map(|(_, to)| to)
}

/// Whether `word` is `base`, inflected, or with one slip.
fn is_form(word: &str, base: &str) -> bool {
    let stem = if base.len() > 3 {
        base.strip_suffix('e').unwrap_or(base)
    } else {
        base
    };
    let is_inflected = word.strip_prefix(stem).is_some_and(|ending| {
        // As in `stopped` and `getting`.
        let doubled = stem.chars().next_back();
        let ending = doubled.map_or(ending, |last| ending.strip_prefix(last).unwrap_or(ending));
        ["", "e", "s", "es", "ed", "d", "ing", "er", "or", "ion"].contains(&ending)
    });
    is_inflected || (base.len() >= 5 && near::damerau(word, base, 1).is_some())
}

/// Whether `word` is an opposing prefix and `base`, which may hold a slip.
fn is_negated(word: &str, base: &str) -> bool {
    OPPOSING_PREFIXES.iter().any(|prefix| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            rest == base
                || (rest.len() >= 3
                    && !base.starts_with(prefix)
                    && near::damerau(rest, base, 1).is_some())
        })
    })
}

/// Whether one text is the other with an opposing prefix somewhere in it.
fn differ_by_prefix(a: &str, b: &str) -> bool {
    match near::differing_parts(a, b) {
        (part, "") | ("", part) => OPPOSING_PREFIXES.contains(&part),
        _ => false,
    }
}

/// Whether one text is the other with a word exchanged for its opposite, without separators
/// (`readfile`, `writefile`).
fn differ_by_word(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let shared = |(x, y): &(&u8, &u8)| x == y;
    let head = a.iter().zip(b).take_while(shared).count();
    let tail = a.iter().rev().zip(b.iter().rev());
    let tail = tail.take_while(shared).count();
    let stands_at = |text: &[u8], at: usize, word: &str| {
        text.get(at..)
            .is_some_and(|rest| rest.starts_with(word.as_bytes()))
    };
    let swapped = |x: &str, y: &str| {
        // Before and after the word the texts are the same.
        let Some(last) = a.len().checked_sub(x.len()) else {
            return false;
        };
        let may_be = a.len() + y.len() == b.len() + x.len();
        may_be
            && (last.saturating_sub(tail)..=head.min(last))
                .any(|at| stands_at(a, at, x) && stands_at(b, at, y))
    };
    OPPOSITES
        .iter()
        .any(|(x, y)| swapped(x, y) || swapped(y, x))
}

/// Whether `word` is an operation, a thing or an opposite of the lists, or the plural of one.
pub(crate) fn is_known(word: &str) -> bool {
    let listed =
        |word: &str| OPERATIONS.binary_search(&word).is_ok() || THINGS.binary_search(&word).is_ok();
    let is_opposite = OPPOSITES.iter().any(|(a, b)| word == *a || word == *b);
    is_opposite || listed(word) || word.strip_suffix('s').is_some_and(listed)
}

/// Whether a name holds a verb that deletes, drops, sends, pays, kills or executes, also run
/// together with what follows it (`deletefile`).
pub(crate) fn is_dangerous(name: &str) -> bool {
    tokens(name).iter().any(|word| {
        DANGEROUS_VERBS
            .iter()
            .any(|verb| word == verb || (verb.len() >= 4 && word.starts_with(verb)))
    })
}

/// Whether a path segment is a word that says nothing about which tool is meant.
pub(crate) fn is_generic(segment: &str) -> bool {
    GENERIC
        .iter()
        .any(|word| word.eq_ignore_ascii_case(segment))
}

/// The keys, as folds, that mean the same as the key of this fold, itself included; empty if none
/// is known.
pub(crate) fn aliases_of(fold: &str) -> &'static [&'static str] {
    ALIASES
        .iter()
        .find(|group| group.contains(&fold))
        .copied()
        .unwrap_or_default()
}

/// Whether two keys, as folds, mean the same by the list of aliases.
pub(crate) fn are_aliases(a: &str, b: &str) -> bool {
    aliases_of(a).contains(&b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::fold;

    #[test]
    fn lists_are_sorted_and_keys_stand_once() {
        assert!(OPERATIONS.is_sorted());
        assert!(THINGS.is_sorted());
        let mut keys: Vec<&str> = ALIASES.concat();
        assert!(keys.iter().all(|key| fold::key(key) == **key));
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn words_are_split_at_separators_and_humps() {
        for (text, words) in [
            ("getHTTPUrl_v2", "get http url v2"),
            ("web_search", "web search"),
            (
                "mcp__ghidra__decompile-function",
                "mcp ghidra decompile function",
            ),
            ("URL", "url"),
            ("", ""),
            ("__", ""),
        ] {
            assert_eq!(tokens(text).join(" "), words, "{text}");
        }
    }

    #[test]
    fn opposites_are_seen() {
        for (a, b) in [
            ("read_file", "write_file"),
            ("readFile", "WriteFile"),
            ("readfile", "writefile"),
            ("get_user", "set_user"),
            ("getuser", "setuser"),
            ("lock_door", "unlock_door"),
            ("doorlock", "doorunlock"),
            ("kanban_unblok", "kanban_block"),
            ("kanban_unblock", "kanban_block"),
            ("enable_user", "disable_user"),
            ("enabled", "disabled"),
            ("from_date", "to_date"),
            ("min_price", "max_price"),
            ("minPrice", "maxPrice"),
            ("src", "dst"),
            ("source_path", "target_path"),
            ("created_before", "created_after"),
            ("started_at", "stopped_at"),
            ("asc", "desc"),
            ("public", "private"),
            ("old_string", "new_string"),
            ("delete_file", "create_file"),
            ("active", "inactive"),
            ("non_recursive", "recursive"),
            ("activate", "deactivate"),
            ("importData", "exportData"),
            ("encrypt", "decrypt"),
            ("install", "uninstall"),
            ("nocache", "cache"),
            ("east_wing", "west_wing"),
            ("male_count", "female_count"),
            ("http_port", "https_port"),
            ("review_count", "view_count"),
        ] {
            assert!(are_opposites(a, b), "{a} {b}");
            assert!(are_opposites(b, a), "{b} {a}");
        }
    }

    #[test]
    fn spellings_are_no_opposites() {
        for (a, b) in [
            ("decompile_functon", "decompile_function"),
            ("web_serch", "web_search"),
            ("get_reigion_history", "get_religion_history"),
            ("get_defence_ranking", "get_defense_ranking"),
            ("file_path", "filePath"),
            ("descripton", "description"),
            ("identifer", "identifier"),
            ("inclde", "include"),
            ("instuctions", "instructions"),
            ("enabeld", "enabled"),
            ("celcius", "celsius"),
        ] {
            assert!(!are_opposites(a, b), "{a} {b}");
            assert!(!are_opposites(b, a), "{b} {a}");
        }
    }

    #[test]
    fn short_words_do_not_slip() {
        for (a, b) in [
            ("point_x", "point_y"),
            ("valueA", "valueC"),
            ("item_no", "item_on"),
            ("get_min", "get_max"),
        ] {
            assert!(!may_be_a_slip(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("web_serch", "web_search"),
            ("item_x_cuont", "item_x_count"),
        ] {
            assert!(may_be_a_slip(a, b), "{a} {b}");
        }
    }

    #[test]
    fn aliases_are_no_opposites() {
        for group in ALIASES {
            for (a, b) in group.iter().flat_map(|a| group.iter().map(move |b| (a, b))) {
                assert!(!are_opposites(a, b), "{a} {b}");
            }
        }
    }

    #[test]
    fn aliases_are_compared_by_fold() {
        let are_aliases = |a: &str, b: &str| are_aliases(&fold::key(a), &fold::key(b));
        assert!(are_aliases("filePath", "path"));
        assert!(are_aliases("file-path", "filename"));
        assert!(are_aliases("Q", "search_query"));
        assert!(!are_aliases("old_string", "new_string"));
        assert!(!are_aliases("source", "destination"));
        assert!(!are_aliases("unheard_of", "unheard_of"));
        assert!(aliases_of("unheardof").is_empty());
    }

    #[test]
    fn dangerous_verbs_are_seen_run_together_too() {
        for (name, dangerous) in [
            ("delete_file", true),
            ("deletefile", true),
            ("sendEmail", true),
            ("pay_bill", true),
            ("payload_size", false),
            ("read_file", false),
            ("render", false),
        ] {
            assert_eq!(is_dangerous(name), dangerous, "{name}");
        }
    }
}
