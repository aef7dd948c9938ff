//! Resolving an emitted name against the names of a tool set.

use std::collections::HashMap;

use super::near::{Letters, allowed_slips, distance};
use super::{fold, rules};
use crate::rule::Rule;
use crate::words;

/// The names of a tool set, indexed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    exact: HashMap<Box<str>, u32>,
    folds: HashMap<Box<str>, Vec<u32>>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Box<str>,
    fold: Box<str>,
    /// Where the operation part of the name begins: behind the server and shared prefixes.
    operation: usize,
    letters: Letters,
}

/// What an emitted name resolves to. Numbers are positions in the names given to [`Index::new`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    Exact(u32),
    Fixed(u32, &'static Rule),
    /// Several tools fold to the emitted name.
    Ambiguous(Vec<u32>),
    /// `near` is worth suggesting; `nearest` are all tools, the likeliest first.
    Unknown {
        near: Option<u32>,
        nearest: Vec<u32>,
    },
}

/// What the resolver asks about a tool.
pub(crate) trait Tools {
    /// Whether `key` is a declared property of the tool.
    fn has_property(&self, tool: u32, key: &str) -> bool;
    /// Whether the call's arguments fit the tool.
    fn arguments_fit(&self, tool: u32) -> bool;
    /// Whether running the tool may destroy something.
    fn is_destructive(&self, tool: u32) -> bool;
}

/// Longer names are not compared for likeness.
const MAX_COMPARED: usize = 256;
/// How often affixes are taken off one name.
const MAX_AFFIXES: usize = 8;
/// From which likeness on a tool is suggested.
const SUGGESTED: f64 = 0.5;

impl Index {
    /// Indexes the names of a tool set.
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let prefixes = shared_prefixes(&names);
        let mut index = Self::default();
        for (at, name) in (0..).zip(names) {
            let fold = fold::name(name);
            index.exact.insert(name.into(), at);
            index
                .folds
                .entry(fold.as_str().into())
                .or_default()
                .push(at);
            index.entries.push(Entry {
                name: name.into(),
                letters: Letters::of(&fold),
                fold: fold.into(),
                operation: operation_start(name, &prefixes),
            });
        }
        index
    }

    /// Resolves an emitted name. Linear in its length, and in the number of tools if it is unknown.
    pub(crate) fn resolve(&self, emitted: &str, tools: &dyn Tools) -> Resolution {
        if let Some(at) = self.exact.get(emitted) {
            return Resolution::Exact(*at);
        }
        match self
            .folds
            .get(fold::name(emitted).as_str())
            .map(Vec::as_slice)
        {
            Some([only]) => return Resolution::Fixed(*only, &rules::NAME_FOLD),
            Some(several) => return Resolution::Ambiguous(several.to_vec()),
            None => {}
        }
        if emitted.len() > MAX_COMPARED * 16 {
            return Resolution::Unknown {
                near: None,
                nearest: Vec::new(),
            };
        }
        self.without_affixes(emitted)
            .map(|at| Resolution::Fixed(at, &rules::NAME_AFFIX))
            .or_else(|| {
                self.repeated(emitted)
                    .map(|at| Resolution::Fixed(at, &rules::NAME_REPEATED))
            })
            .or_else(|| {
                self.segment(emitted, tools)
                    .map(|at| Resolution::Fixed(at, &rules::NAME_SEGMENT))
            })
            .or_else(|| {
                self.slip(emitted, tools)
                    .map(|at| Resolution::Fixed(at, &rules::NAME_SLIP))
            })
            .unwrap_or_else(|| self.unknown(emitted))
    }

    /// The one tool with this name or fold.
    fn known(&self, name: &str) -> Option<u32> {
        if let Some(at) = self.exact.get(name) {
            return Some(*at);
        }
        match self.folds.get(fold::name(name).as_str()).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            _ => None,
        }
    }

    /// Takes affixes off, outermost first, until a tool is left.
    fn without_affixes(&self, emitted: &str) -> Option<u32> {
        let mut name = emitted;
        for _ in 0..MAX_AFFIXES {
            name = without_affix(name)?;
            if let Some(at) = self.known(name) {
                return Some(at);
            }
        }
        None
    }

    /// A name that was written several times in a row.
    fn repeated(&self, emitted: &str) -> Option<u32> {
        let whole = fold::name(emitted);
        (2..=4usize).find_map(|times| {
            let length = whole.len() / times;
            let part = whole
                .get(..length)
                .filter(|part| !part.is_empty() && part.repeat(times) == whole)?;
            self.known(part)
        })
    }

    /// A path of which exactly one segment is a tool, while the others say nothing.
    fn segment(&self, emitted: &str, tools: &dyn Tools) -> Option<u32> {
        let segments: Vec<&str> = emitted
            .split(['.', ':', '/'])
            .filter(|segment| !segment.is_empty())
            .collect();
        if segments.len() < 2 || segments.len() > 16 {
            return None;
        }
        let is_generic = |segment: &str| {
            let lower = segment.to_lowercase();
            words::GENERIC_SEGMENTS.contains(&&*lower)
                || segment.bytes().all(|byte| byte.is_ascii_digit())
        };
        let mut found = segments
            .iter()
            .filter_map(|segment| Some((*segment, self.known(segment)?)));
        let (name, at) = found.next()?;
        let is_only = found.next().is_none();
        let others_say_nothing = segments
            .iter()
            .filter(|segment| **segment != name)
            .all(|segment| is_generic(segment) || tools.has_property(at, segment));
        (is_only && others_say_nothing).then_some(at)
    }

    /// A name with one letter wrong (two in a long one).
    fn slip(&self, emitted: &str, tools: &dyn Tools) -> Option<u32> {
        if emitted.len() > MAX_COMPARED {
            return None;
        }
        let fold = fold::name(emitted);
        // The runner-up must be two edits further than two.
        const WINDOW: usize = 4;
        let mut near: Vec<(usize, u32)> = (0..)
            .zip(&self.entries)
            .filter_map(|(at, entry)| Some((distance(&fold, &entry.fold, WINDOW)?, at)))
            .collect();
        near.sort_unstable();
        let (edits, at) = *near.first()?;
        if near.get(1).is_some_and(|(next, _)| *next < edits + 2) {
            return None;
        }
        let entry = self.entries.get(at as usize)?;
        (is_safe_slip(emitted, entry, edits)
            && !tools.is_destructive(at)
            && tools.arguments_fit(at))
        .then_some(at)
    }

    fn unknown(&self, emitted: &str) -> Resolution {
        if emitted.len() > MAX_COMPARED {
            return Resolution::Unknown {
                near: None,
                nearest: Vec::new(),
            };
        }
        let fold = fold::name(emitted);
        let letters = Letters::of(&fold);
        let mut bounds: Vec<(f64, u32)> = (0..)
            .zip(&self.entries)
            .map(|(at, entry)| (letters.likeness_bound(&entry.letters), at))
            .collect();
        bounds.sort_by(|(a, at_a), (b, at_b)| {
            b.total_cmp(a)
                .then_with(|| self.name(*at_a).cmp(self.name(*at_b)))
        });
        let mut best: Option<(f64, u32)> = None;
        for (bound, at) in &bounds {
            if *bound < SUGGESTED || best.is_some_and(|(likeness, _)| likeness >= *bound) {
                break;
            }
            let Some(entry) = self.entries.get(*at as usize) else {
                continue;
            };
            let likeness = strsim::normalized_damerau_levenshtein(&fold, &entry.fold);
            let is_better = likeness >= SUGGESTED && best.is_none_or(|(known, _)| likeness > known);
            if is_better && !words::are_opposites(emitted, &entry.name) {
                best = Some((likeness, *at));
            }
        }
        Resolution::Unknown {
            near: best.map(|(_, at)| at),
            nearest: bounds.into_iter().map(|(_, at)| at).collect(),
        }
    }

    fn name(&self, at: u32) -> &str {
        self.entries
            .get(at as usize)
            .map_or("", |entry| &entry.name)
    }
}

/// Whether `edits` between an emitted name and a tool's can only be a slip.
fn is_safe_slip(emitted: &str, entry: &Entry, edits: usize) -> bool {
    let name = &*entry.name;
    let operation = name.get(entry.operation..).unwrap_or(name);
    let prefix = fold::name(name.get(..entry.operation).unwrap_or_default());
    let letters = operation.chars().filter(|c| c.is_alphanumeric()).count();
    if edits > allowed_slips(letters)
        || !fold::name(emitted).starts_with(&prefix)
        || words::are_opposites(emitted, name)
    {
        return false;
    }
    let (meant, wrote) = (words::tokens(operation), words::tokens(emitted));
    let is_dangerous = meant
        .iter()
        .any(|word| words::DANGEROUS_VERBS.contains(&word.as_str()));
    let is_other_word = wrote.iter().any(|word| {
        words::OPERATIONS.contains(&word.as_str()) && !meant.contains(word) && !name_has(name, word)
    });
    !is_dangerous && !is_other_word
}

fn name_has(name: &str, word: &str) -> bool {
    words::tokens(name).iter().any(|token| token == word)
}

/// Takes one affix off a name.
fn without_affix(name: &str) -> Option<&str> {
    if let Some(at) = name.find('<').filter(|at| *at > 0) {
        return name.get(..at).map(str::trim_end);
    }
    if let Some((before, index)) = name.rsplit_once(':')
        && !index.is_empty()
        && index.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Some(before);
    }
    let suffix = words::NAME_SUFFIXES
        .iter()
        .find_map(|suffix| strip_suffix_ignoring_case(name, suffix));
    let prefix = || {
        words::NAME_PREFIXES
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
    };
    suffix
        .or_else(|| without_server(name))
        .or_else(prefix)
        .filter(|rest| !rest.is_empty() && rest.len() < name.len())
}

/// `mcp__server__name` without its server.
fn without_server(name: &str) -> Option<&str> {
    name.strip_prefix("mcp__")?
        .split_once("__")
        .map(|(_, rest)| rest)
}

fn strip_suffix_ignoring_case<'n>(name: &'n str, suffix: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(suffix.len())?;
    name.get(at..)?
        .eq_ignore_ascii_case(suffix)
        .then(|| name.get(..at))?
}

/// Prefixes ending in a separator that at least two names share.
fn shared_prefixes(names: &[&str]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in names {
        for (at, _) in name.match_indices(['_', '-', '.', ':', '/']).take(8) {
            *counts
                .entry(name.get(..=at).unwrap_or_default().to_owned())
                .or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > 1);
    counts
}

/// Where the operation part of a name begins.
fn operation_start(name: &str, shared: &HashMap<String, usize>) -> usize {
    let server = without_server(name).map_or(0, |rest| name.len() - rest.len());
    let prefix = name
        .match_indices(['_', '-', '.', ':', '/'])
        .filter(|(at, _)| {
            name.get(..=*at)
                .is_some_and(|prefix| shared.contains_key(prefix))
        })
        .map(|(at, _)| at + 1)
        .last();
    prefix.unwrap_or(0).max(server).min(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything fits, nothing is destructive but what its name says.
    struct Yes;

    impl Tools for Yes {
        fn has_property(&self, _: u32, key: &str) -> bool {
            key == "filePath"
        }
        fn arguments_fit(&self, _: u32) -> bool {
            true
        }
        fn is_destructive(&self, _: u32) -> bool {
            false
        }
    }

    const TOOLS: &[&str] = &[
        "read",
        "write",
        "todo",
        "get_weather",
        "web__search",
        "terminal",
        "skills_list",
        "kanban_link",
        "kanban_block",
        "kanban_show",
        "mcp__ghidra__decompile_function",
        "mcp__ghidra__list_strings",
        "mcp__jira__search_issues",
        "delete_file",
        "create_file",
        "unlock_door",
        "calculate_distance",
        "Bash",
    ];

    fn resolved(emitted: &str) -> Option<&'static str> {
        let index = Index::new(TOOLS.iter().copied());
        match index.resolve(emitted, &Yes) {
            Resolution::Exact(at) | Resolution::Fixed(at, _) => TOOLS.get(at as usize).copied(),
            _ => None,
        }
    }

    #[test]
    fn names_that_clearly_mean_a_tool() {
        for (emitted, tool) in [
            ("read", "read"),
            ("Read", "read"),
            ("getWeather", "get_weather"),
            ("get-weather", "get_weather"),
            ("TodoTool_tool", "todo"),
            ("functions.read", "read"),
            ("functions.get_weather:0", "get_weather"),
            ("default_api.web__search", "web__search"),
            ("read()", "read"),
            ("read<|channel|>commentary", "read"),
            ("read<tool_call>", "read"),
            ("mcp__fs__read", "read"),
            ("mcp_read", "read"),
            ("skills_listskills_list", "skills_list"),
            ("google:tool:terminal:index:0", "terminal"),
            ("read.filePath", "read"),
            (
                "mcp__ghidra__decompile_functon",
                "mcp__ghidra__decompile_function",
            ),
            ("calculate_distnace", "calculate_distance"),
        ] {
            assert_eq!(resolved(emitted), Some(tool), "{emitted}");
        }
    }

    #[test]
    fn names_that_do_not() {
        for emitted in [
            "",
            "readfile",
            "Execute",
            "kanban_list",
            "kanban_unblok",
            "remove_file",
            "lock_door",
            "delete_fle",
            "get_all_activities",
            "google:tool:shell:index:0",
            "mcp__github__search_issues",
            "shell.read.extra",
            "web.read",
            "reed",
            "tool",
            "functions.",
            "create_fiel_now",
            "mcp__other__list_strings",
        ] {
            assert_eq!(resolved(emitted), None, "{emitted}");
        }
    }

    #[test]
    fn equal_folds_are_ambiguous_but_exact_names_work() {
        let names = ["crm_get-item", "crm_get_item"];
        let index = Index::new(names);
        assert_eq!(
            index.resolve("CRM_Get_Item", &Yes),
            Resolution::Ambiguous(vec![0, 1])
        );
        assert_eq!(index.resolve("crm_get-item", &Yes), Resolution::Exact(0));
    }

    #[test]
    fn suggestions_are_near_and_no_opposites() {
        let index = Index::new(TOOLS.iter().copied());
        let near = |emitted| match index.resolve(emitted, &Yes) {
            Resolution::Unknown { near, .. } => near.and_then(|at| TOOLS.get(at as usize)).copied(),
            other => panic!("{emitted}: {other:?}"),
        };
        assert_eq!(near("get_the_weather"), Some("get_weather"));
        assert_eq!(near("WEB_SERCHER"), Some("web__search"));
        assert_eq!(near("lock_door"), None);
        assert_eq!(near("zzzzzzzz"), None);
    }

    #[test]
    fn long_names_are_bounded() {
        let index = Index::new(TOOLS.iter().copied());
        for unit in ["a", "_", "é:", "read", "mcp__", "()"] {
            index.resolve(&unit.repeat(200_000), &Yes);
        }
    }
}
