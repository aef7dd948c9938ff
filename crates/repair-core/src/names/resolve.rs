//! Resolving an emitted name against the names of a tool set.
//!
//! An exact name wins, always. Then come readings in which the model wrote a tool's whole name,
//! letter for letter up to the fold: other case or separators, something around it, the name
//! several times, the name as a segment of a path. The fewest affixes win; if readings that are
//! equally good lead to different tools, the name is ambiguous. Only then is a slip of letters
//! considered. Everything is matched against all tools, permitted or not, so that a withheld
//! tool is recognised instead of being mapped to a permitted sibling.

use std::collections::HashMap;

use super::affix::{self, Servers};
use super::near::{Pattern, Profile};
use super::{fold, near, rules, slip};
use crate::rule::Rule;
use crate::words;

/// The names of a tool set, indexed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    exact: HashMap<Box<str>, u32>,
    folds: HashMap<Box<str>, Vec<u32>>,
    entries: Vec<Entry>,
    servers: Servers,
}

/// One name of a tool set.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Box<str>,
    pub(crate) fold: Box<str>,
    /// The server that it comes from, by [`affix::bare_server`], if the host said so.
    server: Option<Box<str>>,
    /// The fold of what stands before the operation part.
    pub(crate) prefix: Box<str>,
    pub(crate) profile: Profile,
}

/// A name that was not right as emitted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameFix {
    pub(crate) rule: &'static Rule,
}

/// What an emitted name resolves to. Positions are those of the names given to [`Index::new`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    Exact(u32),
    Fixed(u32, NameFix),
    /// Several tools are meant equally well.
    Ambiguous(Vec<u32>),
    /// `near`: the most similar tool, from 0.5 similarity, never an opposite; `nearest`: the
    /// tools by similarity, best first, at most [`NEAREST`].
    Unknown {
        near: Option<u32>,
        nearest: Vec<u32>,
    },
}

impl Entry {
    /// The similarity of the operation parts, where a fold begins with the prefix of this name. Where
    /// the nearest name is an opposite, the prefix alone does not make another one of its family near.
    fn operation_similarity(&self, fold: &str) -> f64 {
        let prefix = &*self.prefix;
        match fold
            .strip_prefix(prefix)
            .zip(self.fold.strip_prefix(prefix))
        {
            Some((emitted, own)) => near::similarity(emitted, own),
            None => 1.0,
        }
    }
}

/// Least similarity of a suggestion.
const SUGGESTED: f64 = 0.5;

impl Resolution {
    fn fixed(tool: u32, rule: &'static Rule) -> Self {
        Self::Fixed(tool, NameFix { rule })
    }
}

/// Most tools in the list of nearest ones, and in an error about an unknown one.
pub(crate) const NEAREST: usize = 30;

/// What the resolver asks about a tool.
pub(crate) trait Tools {
    /// Whether `key` is a declared property of the tool.
    fn has_property(&self, tool: u32, key: &str) -> bool;
    /// Whether the call's arguments fit the tool. Asked last, of one tool at most.
    fn arguments_fit(&self, tool: u32) -> bool;
    /// Whether running the tool may destroy something.
    fn is_destructive(&self, tool: u32) -> bool;
}

/// A way to read a name without any slip: the tools that it means, more than one being a tie.
struct Reading {
    read: fn(&Index, &str, &dyn Tools) -> Vec<u32>,
    rule: &'static Rule,
    with_affixes: &'static Rule,
}

/// The ways to read a name, cheapest first.
static READINGS: &[Reading] = &[
    Reading {
        read: Index::whole,
        rule: &rules::FOLD,
        with_affixes: &rules::AFFIX,
    },
    Reading {
        read: Index::repeated,
        rule: &rules::REPEATED,
        with_affixes: &rules::REPEATED,
    },
    Reading {
        read: Index::segment,
        rule: &rules::SEGMENT,
        with_affixes: &rules::SEGMENT,
    },
];

impl Index {
    /// Indexes the names of a tool set, each with the server that the tool comes from, if the host
    /// said so: bare (`github`) or as a prefix (`mcp__github__`).
    pub(crate) fn new<'n>(tools: impl IntoIterator<Item = (&'n str, Option<&'n str>)>) -> Self {
        let (names, servers): (Vec<&str>, Vec<Option<&str>>) = tools.into_iter().unzip();
        let servers: Vec<Option<Box<str>>> = servers
            .into_iter()
            .map(|server| server.map(affix::bare_server))
            .collect();
        let mut index = Self {
            servers: Servers::new(
                servers.iter().flatten().map(|server| &**server),
                names.iter().copied(),
            ),
            ..Self::default()
        };
        let prefixes = slip::prefixes(&names);
        for (((name, server), prefix), tool) in names.iter().zip(servers).zip(prefixes).zip(0..) {
            let fold = fold::name(name);
            index.exact.insert(Box::from(*name), tool);
            index
                .folds
                .entry(fold.as_str().into())
                .or_default()
                .push(tool);
            index.entries.push(Entry {
                name: Box::from(*name),
                server,
                prefix: slip::fold_of_prefix(name, prefix, &fold),
                profile: Profile::new(&fold),
                fold: fold.into(),
            });
        }
        index
    }

    /// The tool that has exactly this name.
    pub(crate) fn exact(&self, name: &str) -> Option<u32> {
        self.exact.get(name).copied()
    }

    /// Resolves an emitted name.
    pub(crate) fn resolve(&self, emitted: &str, tools: &dyn Tools) -> Resolution {
        self.find(emitted, tools)
            .unwrap_or_else(|| self.unknown(emitted))
    }

    /// The same without a look for similar names where the name is unknown.
    pub(crate) fn find(&self, emitted: &str, tools: &dyn Tools) -> Option<Resolution> {
        if let Some(tool) = self.exact.get(emitted) {
            return Some(Resolution::Exact(*tool));
        }
        // The first reading of all, by itself: affixes need not be looked for.
        if emitted.len() <= affix::LONGEST
            && let [tool] = self.folded(&fold::name(emitted.trim()))
        {
            return Some(Resolution::fixed(*tool, &rules::FOLD));
        }
        let rounds = affix::strip(emitted, &self.servers);
        for reading in READINGS {
            for (affixes, names) in rounds.iter().enumerate() {
                let mut meant: Vec<u32> = names
                    .iter()
                    .filter(|meant| meant.name.len() <= affix::LONGEST)
                    .flat_map(|meant| {
                        let read = (reading.read)(self, meant.name, tools);
                        read.into_iter()
                            .filter(|tool| self.is_of(*tool, meant.server))
                    })
                    .collect();
                meant.sort_unstable();
                meant.dedup();
                match (meant.as_slice(), affixes) {
                    ([], _) => {}
                    ([tool], 0) => return Some(Resolution::fixed(*tool, reading.rule)),
                    ([tool], _) => return Some(Resolution::fixed(*tool, reading.with_affixes)),
                    _ => return Some(Resolution::Ambiguous(meant)),
                }
            }
        }
        self.slip(emitted, tools)
    }

    /// Whether a tool comes from this server, if one stood before the name.
    fn is_of(&self, tool: u32, server: Option<&str>) -> bool {
        let entry = self.entries.get(tool as usize);
        server.is_none() || entry.is_some_and(|entry| entry.server.as_deref() == server)
    }

    /// The tools of this name, or else of this fold.
    fn whole(&self, name: &str, _: &dyn Tools) -> Vec<u32> {
        match self.exact.get(name) {
            Some(tool) => vec![*tool],
            None => self.folded(&fold::name(name.trim())).to_vec(),
        }
    }

    fn folded(&self, fold: &str) -> &[u32] {
        self.folds.get(fold).map(Vec::as_slice).unwrap_or_default()
    }

    /// The tools whose name this is, twice or more in a row (`skills_listskills_list`).
    fn repeated(&self, name: &str, _: &dyn Tools) -> Vec<u32> {
        let fold = fold::name(name.trim());
        (1..=fold.len() / 2)
            .filter(|length| fold.len().is_multiple_of(*length))
            .filter_map(|length| fold.split_at_checked(length))
            .filter(|(once, rest)| {
                rest.as_bytes()
                    .chunks(once.len())
                    .all(|c| c == once.as_bytes())
            })
            .map(|(once, _)| self.folded(once).to_vec())
            .find(|tools| !tools.is_empty())
            .unwrap_or_default()
    }

    /// The tools that one segment of a path names, while the others are indexes, words that say
    /// nothing, or properties of that tool (`google:tool:terminal:index:0`, `read.filePath`). If
    /// several segments name tools, none is taken.
    fn segment(&self, name: &str, tools: &dyn Tools) -> Vec<u32> {
        let (mut meant, mut others) = (Vec::new(), Vec::new());
        for segment in name.split(['.', ':', '/']).map(str::trim) {
            let here = self.whole(segment, tools);
            if here.is_empty() {
                others.push(segment);
            } else if meant.is_empty() {
                meant = here;
            } else {
                return Vec::new();
            }
        }
        let says_nothing = |segment: &str| {
            segment.bytes().all(|byte| byte.is_ascii_digit())
                || words::is_generic(segment)
                || meant.iter().all(|tool| tools.has_property(*tool, segment))
        };
        if others.into_iter().all(says_nothing) {
            meant
        } else {
            Vec::new()
        }
    }

    /// The tool whose name this is but for a slip of letters.
    fn slip(&self, emitted: &str, tools: &dyn Tools) -> Option<Resolution> {
        if start_of(emitted).len() < emitted.len() {
            return None;
        }
        slip::find(emitted, &fold::name(emitted), &self.entries)
            .filter(|tool| !tools.is_destructive(*tool) && tools.arguments_fit(*tool))
            .map(|tool| Resolution::fixed(tool, &rules::SLIP))
    }

    /// The tools that are most similar.
    fn unknown(&self, emitted: &str) -> Resolution {
        let start = start_of(emitted);
        let fold = fold::name(start);
        let ranked = self.rank(&fold);
        let mut is_opposite_nearer = false;
        let near = ranked
            .iter()
            .take_while(|ranked| ranked.similarity >= SUGGESTED)
            .find(|ranked| {
                if words::are_opposites(start, &ranked.entry.name) {
                    is_opposite_nearer = true;
                    return false;
                }
                !is_opposite_nearer || ranked.entry.operation_similarity(&fold) >= SUGGESTED
            })
            .map(|ranked| ranked.tool);
        Resolution::Unknown {
            near,
            nearest: ranked.iter().map(|ranked| ranked.tool).collect(),
        }
    }

    /// The tools most similar to a fold, best first. Tools are visited in the order of an upper
    /// bound of their similarity, and the search ends where no bound beats the worst that is held.
    fn rank(&self, fold: &str) -> Vec<Ranked<'_>> {
        let profile = Profile::new(fold);
        let pattern = Pattern::new(fold);
        let mut open: Vec<Ranked> = self
            .entries
            .iter()
            .zip(0..)
            .map(|(entry, tool)| {
                let longer = profile.length.max(entry.profile.length);
                let least = profile.least_distance(&entry.profile);
                Ranked {
                    similarity: near::share(least, longer),
                    entry,
                    tool,
                }
            })
            .collect();
        open.sort_unstable_by(Ranked::order);
        let mut best: Vec<Ranked> = Vec::new();
        for mut ranked in open {
            if best.len() == NEAREST
                && best
                    .last()
                    .is_some_and(|worst| worst.similarity > ranked.similarity)
            {
                break;
            }
            let longer = profile.length.max(ranked.entry.profile.length);
            let distance = match &pattern {
                Some(pattern) => pattern.distance(&ranked.entry.fold),
                None => near::damerau(fold, &ranked.entry.fold, longer).unwrap_or(longer),
            };
            ranked.similarity = near::share(distance, longer);
            let place = best.partition_point(|other| other.order(&ranked).is_lt());
            best.insert(place, ranked);
            best.truncate(NEAREST);
        }
        best
    }
}

/// As much of a name as is compared with others.
fn start_of(name: &str) -> &str {
    let end = name.char_indices().nth(near::LONGEST);
    end.and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}

/// A tool and its similarity to the emitted name, or an upper bound of it.
struct Ranked<'i> {
    similarity: f64,
    entry: &'i Entry,
    tool: u32,
}

impl Ranked<'_> {
    /// The more similar first, then by name.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        other
            .similarity
            .total_cmp(&self.similarity)
            .then_with(|| self.entry.name.cmp(&other.entry.name))
    }
}
