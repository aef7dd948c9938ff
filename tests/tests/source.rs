//! Real source code in the arguments of file edits, broken the way models break JSON, and read
//! back exactly.
//!
//! The slices come from this repository and, where they are there, from the sources in cargo's
//! registry cache: those of a few packages that are always built, or all of them when more cases
//! are asked for. `TOOLMEND_SOURCE_CASES=20000 cargo test -p toolmend-tests source -- --nocapture`
//! runs more of them than the suite does and prints the shares; `TOOLMEND_SOURCE_SEED=7` takes
//! other ones; with `TOOLMEND_SOURCE_REPORT=FILE` what was missed is written to a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Map, Value, json};
use toolmend::{Effect, Finish, Policy, RawCall, Reason, Rejected, ToolSet, ToolSpec, Verdict};
use toolmend_tests::is_sound_part;

use crate::dice::Dice;

/// Breakages of a run, if the environment says nothing else.
const CASES: usize = 2_000;

// ---- source files ----

/// Where source files are taken from.
fn source_files() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for part in ["crates", "examples", "tests"] {
        collect(&repository.join(part), &["rs", "toml"], &mut files);
    }
    let own = files.len();
    assert!(own > 20, "this repository has only {own} source files");
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    if let Some(home) = home {
        let found = files.len();
        collect(&home.join("registry/src"), &["rs"], &mut files);
        // The suite tests the same texts on every machine.
        if env::var_os("TOOLMEND_SOURCE_CASES").is_none() {
            let packages = locked_packages(&repository);
            let mut at = 0;
            files.retain(|path| {
                at += 1;
                let mut parts = path.iter().filter_map(|part| part.to_str());
                at <= found || parts.any(|part| packages.contains(part))
            });
        }
    }
    // This repository counts for a fifth: it is full of broken JSON.
    let weight = (files.len() / own / 4).max(1);
    let repeated: Vec<_> = files[..own].to_vec();
    for _ in 1..weight {
        files.extend_from_slice(&repeated);
    }
    files
}

/// Packages that every test run of this workspace has downloaded.
const PACKAGES: &[&str] = &[
    "async-openai",
    "clap_builder",
    "jsonschema",
    "minijinja",
    "proptest",
    "reqwest",
    "serde_json",
    "tokio",
];

/// The folders of those packages: name and locked version.
fn locked_packages(repository: &Path) -> BTreeSet<String> {
    let lock = fs::read_to_string(repository.join("Cargo.lock")).expect("a lock file");
    let value = |line: &str, key: &str| Some(line.strip_prefix(key)?.trim_matches('"').to_owned());
    let names = lock.lines().filter_map(|line| value(line, "name = "));
    // With the quote, because the lock file's own format has a version too.
    let versions = lock.lines().filter_map(|line| value(line, "version = \""));
    let packages = names
        .zip(versions)
        .filter(|(name, _)| PACKAGES.contains(&name.as_str()));
    packages
        .map(|(name, version)| format!("{name}-{version}"))
        .collect()
}

/// Adds the files below a folder that end in one of `endings`, in a fixed order.
fn collect(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .collect();
        entries.sort();
        for path in entries {
            let ending = path.extension().and_then(|ending| ending.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if ending.is_some_and(|ending| endings.contains(&ending)) {
                files.push(path);
            }
        }
    }
}

/// A part of a file: whole lines mostly, else any characters.
fn slice(dice: &mut Dice, text: &str) -> String {
    let by_lines = dice.chance(70);
    let starts: Vec<usize> = if by_lines {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        std::iter::once(0).chain(breaks).collect()
    } else {
        text.char_indices().map(|(at, _)| at).collect()
    };
    let most = if by_lines { 40 } else { 1500 };
    let first = dice.roll(starts.len());
    let last = first + 1 + dice.roll(most);
    let end = starts.get(last).copied().unwrap_or(text.len());
    text.get(starts[first]..end).unwrap_or_default().to_owned()
}

// ---- calls ----

/// A call that edits a file.
struct Edit {
    tool: &'static str,
    members: Map<String, Value>,
}

const WRITE: &[&str] = &["path", "content", "line"];
const REPLACE: &[&str] = &["path", "old_string", "new_string", "line"];
const REPLACE_MANY: &[&str] = &["path", "edits", "line"];

/// The same tools with two effects.
struct Tools {
    read_only: ToolSet,
    mutating: ToolSet,
}

/// The tools; their schemas are closed.
fn tools(effect: Effect) -> ToolSet {
    let object = |keys: &[&str], property: fn(&str) -> Value| {
        let properties: Map<String, Value> = keys
            .iter()
            .map(|key| ((*key).to_owned(), property(key)))
            .collect();
        json!({"type": "object", "properties": properties, "required": keys, "additionalProperties": false})
    };
    let scalar = |key: &str| match key {
        "line" => json!({"type": "number"}),
        _ => json!({"type": "string"}),
    };
    let mut many = object(REPLACE_MANY, scalar);
    many["properties"]["edits"] =
        json!({"type": "array", "items": object(&["old_string", "new_string"], scalar)});
    let spec = |tool, schema| ToolSpec::new(tool, schema).with_effect(effect);
    let (tools, problems) = ToolSet::new([
        spec("write", object(WRITE, scalar)),
        spec("replace", object(REPLACE, scalar)),
        spec("replace_many", many),
    ]);
    assert!(problems.is_empty(), "{problems:?}");
    tools
}

fn edit(dice: &mut Dice, path: &Path, text: &str) -> Edit {
    let (tool, keys) = dice.pick(&[
        ("write", WRITE),
        ("replace", REPLACE),
        ("replace_many", REPLACE_MANY),
    ]);
    let mut keys = keys.to_vec();
    for at in (1..keys.len()).rev() {
        keys.swap(at, dice.roll(at + 1));
    }
    let mut members = Map::new();
    for key in keys {
        let value = match key {
            "path" => Value::from(path.to_string_lossy()),
            "line" => serde_json::from_str(dice.pick(&["1", "250", "0.7500", "1e2"])).unwrap(),
            "edits" => (0..=dice.roll(3))
                .map(|_| json!({"old_string": slice(dice, text), "new_string": slice(dice, text)}))
                .collect(),
            _ => Value::from(slice(dice, text)),
        };
        members.insert(key.to_owned(), value);
    }
    Edit { tool, members }
}

// ---- breakages ----

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::struct_excessive_bools, reason = "each fault is there or not")]
struct Faults {
    /// Quotes inside strings are not escaped: all of them, or every other on average.
    inner_quotes: Option<Share>,
    /// Line breaks and tabs in strings are not escaped.
    raw_breaks: bool,
    single_quoted: bool,
    without_opener: bool,
    without_closer: bool,
    trailing_comma: bool,
    fence: bool,
    cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    All,
    Half,
}

const SOUND: Faults = Faults {
    inner_quotes: None,
    raw_breaks: false,
    single_quoted: false,
    without_opener: false,
    without_closer: false,
    trailing_comma: false,
    fence: false,
    cut: false,
};

const QUOTES: Faults = Faults {
    inner_quotes: Some(Share::All),
    ..SOUND
};

/// The breakages of a run, each as often as the others.
const KINDS: &[Faults] = &[
    QUOTES,
    Faults {
        inner_quotes: Some(Share::Half),
        ..SOUND
    },
    Faults {
        raw_breaks: true,
        ..QUOTES
    },
    Faults {
        trailing_comma: true,
        ..QUOTES
    },
    Faults {
        fence: true,
        ..QUOTES
    },
    Faults {
        without_opener: true,
        ..QUOTES
    },
    Faults {
        raw_breaks: true,
        ..SOUND
    },
    Faults {
        trailing_comma: true,
        ..SOUND
    },
    Faults {
        without_opener: true,
        ..SOUND
    },
    Faults {
        without_closer: true,
        ..SOUND
    },
    Faults {
        single_quoted: true,
        ..SOUND
    },
    Faults {
        single_quoted: true,
        raw_breaks: true,
        trailing_comma: true,
        ..SOUND
    },
    Faults {
        fence: true,
        raw_breaks: true,
        without_closer: true,
        ..SOUND
    },
    Faults { cut: true, ..SOUND },
    Faults {
        cut: true,
        raw_breaks: true,
        ..SOUND
    },
    Faults {
        cut: true,
        single_quoted: true,
        ..SOUND
    },
    Faults {
        cut: true,
        ..QUOTES
    },
];

/// A broken text of a call's arguments.
struct Broken {
    text: String,
    /// The members that stand in it whole, with the key behind them.
    complete: usize,
}

/// A text of the arguments with these faults; `None` if there is nothing in them to break.
fn broken(dice: &mut Dice, edit: &Edit, faults: Faults) -> Option<Broken> {
    let writer = Writer {
        faults,
        comma: dice.pick(&[",", ", ", ",\n  "]),
        colon: dice.pick(&[":", ": "]),
    };
    let mut body = String::new();
    let mut key_ends = Vec::new();
    for (at, (key, value)) in edit.members.iter().enumerate() {
        if at > 0 {
            body.push_str(writer.comma);
        }
        writer.key(key, &mut body);
        key_ends.push(body.len());
        writer.value(dice, value, &mut body);
    }
    let is_number_last = edit.members.values().next_back()?.is_number();
    let sound = Faults {
        inner_quotes: None,
        raw_breaks: false,
        ..faults
    };
    let has = |part: &str| body.contains(part);
    let breaks_nothing = (faults.inner_quotes.is_some() && !has("\""))
        || (faults.raw_breaks && !has("\n"))
        // A number at the very end counts as cut.
        || (faults.without_closer && is_number_last)
        || (sound == SOUND && body == Writer { faults: SOUND, ..writer }.members(dice, edit));
    if breaks_nothing {
        return None;
    }
    let prefix = match (faults.fence, faults.without_opener) {
        (true, _) => "```json\n{",
        (false, false) => "{",
        (false, true) => "",
    };
    let mut text = format!("{prefix}{body}");
    if faults.trailing_comma {
        text.push(',');
    }
    if !faults.without_closer {
        text.push('}');
    }
    if faults.fence {
        text.push_str("\n```");
    }
    if faults.cut {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        text.truncate(ends[1 + dice.roll(ends.len() - 1)]);
    }
    let complete = key_ends
        .iter()
        .skip(1)
        .filter(|end| prefix.len() + **end <= text.len())
        .count();
    Some(Broken { text, complete })
}

/// Writes values as the text of a call, with its faults.
#[derive(Clone, Copy)]
struct Writer {
    faults: Faults,
    comma: &'static str,
    colon: &'static str,
}

impl Writer {
    fn members(self, dice: &mut Dice, edit: &Edit) -> String {
        let mut out = String::new();
        self.value(dice, &Value::from(edit.members.clone()), &mut out);
        out[1..out.len() - 1].to_owned()
    }

    fn key(self, key: &str, out: &mut String) {
        let quote = self.quote();
        write!(out, "{quote}{key}{quote}{}", self.colon).unwrap();
    }

    fn value(self, dice: &mut Dice, value: &Value, out: &mut String) {
        match value {
            Value::String(text) => self.string(dice, text, out),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { self.comma } else { "" });
                    self.value(dice, item, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (key, member)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { self.comma } else { "" });
                    self.key(key, out);
                    self.value(dice, member, out);
                }
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
    }

    fn quote(self) -> char {
        if self.faults.single_quoted { '\'' } else { '"' }
    }

    fn string(self, dice: &mut Dice, text: &str, out: &mut String) {
        let faults = self.faults;
        out.push(self.quote());
        for c in text.chars() {
            match c {
                '"' if faults.single_quoted => out.push(c),
                '"' => {
                    let is_raw = match faults.inner_quotes {
                        None => false,
                        Some(Share::All) => true,
                        Some(Share::Half) => dice.chance(50),
                    };
                    out.push_str(if is_raw { "\"" } else { "\\\"" });
                }
                '\'' if faults.single_quoted => out.push_str("\\'"),
                '\\' => out.push_str("\\\\"),
                '\n' | '\t' if faults.raw_breaks => out.push(c),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)).unwrap(),
                c => out.push(c),
            }
        }
        out.push(self.quote());
    }
}

// ---- what came of it ----

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Exact,
    /// Refused, for a text that is whole.
    Refused,
    /// Passed off as whole with other arguments; or a candidate of a cut with something made up.
    Wrong,
}

fn repair(tools: &Tools, edit: &Edit, broken: &Broken, faults: Faults) -> (Outcome, String) {
    // Completing a text takes a tool without side effects and a sign that it was finished.
    let (tools, finish) = if faults.without_closer {
        (&tools.read_only, Finish::Complete)
    } else {
        (&tools.mutating, Finish::Unknown)
    };
    let raw = RawCall::new(edit.tool, broken.text.as_str()).with_finish(finish);
    let verdict = tools.repair(&raw, &Policy::default());
    let outcome = match &verdict {
        Verdict::Rejected(rejected) if faults.cut => of_cut(edit, broken, rejected),
        Verdict::Rejected(_) => Outcome::Refused,
        verdict => {
            let is_exact = verdict
                .call()
                .is_some_and(|call| *call.arguments().value() == Value::from(edit.members.clone()));
            if is_exact && !faults.cut {
                Outcome::Exact
            } else {
                Outcome::Wrong
            }
        }
    };
    let said = match &verdict {
        Verdict::Rejected(rejected) => format!("{:?}: {}", rejected.reason(), rejected.detail()),
        _ => String::new(),
    };
    (outcome, said)
}

/// A cut text is refused as one; its candidate holds the members that were complete, and nothing
/// that was not there.
fn of_cut(edit: &Edit, broken: &Broken, rejected: &Rejected) -> Outcome {
    if rejected.reason() != Reason::Truncated {
        return Outcome::Refused;
    }
    let part = rejected
        .candidates()
        .first()
        .and_then(|candidate| serde_json::from_str::<Value>(&candidate.arguments).ok())
        .unwrap_or_else(|| json!({}));
    let holds_all = edit
        .members
        .iter()
        .take(broken.complete)
        .all(|(key, value)| part.get(key) == Some(value));
    if holds_all && is_sound_part(&part, &Value::from(edit.members.clone())) {
        Outcome::Exact
    } else {
        Outcome::Wrong
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    cases: usize,
    exact: usize,
    refused: usize,
    wrong: usize,
}

impl Tally {
    fn add(&mut self, outcome: Outcome) {
        self.cases += 1;
        match outcome {
            Outcome::Exact => self.exact += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Wrong => self.wrong += 1,
        }
    }
}

#[test]
fn source_code_in_arguments_is_read_exactly() {
    let cases = env::var("TOOLMEND_SOURCE_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(CASES);
    let seed = env::var("TOOLMEND_SOURCE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(0x5eed);
    let files = source_files();
    let tools = Tools {
        read_only: tools(Effect::ReadOnly),
        mutating: tools(Effect::Mutating),
    };
    let mut dice = Dice::new(seed);
    let mut tallies: BTreeMap<Faults, Tally> = BTreeMap::new();
    let (mut quoted, mut others) = (Tally::default(), Tally::default());
    let mut missed = Vec::new();
    let mut done = 0;
    while done < cases {
        let path = &files[dice.roll(files.len())];
        let Some(text) = fs::read_to_string(path)
            .ok()
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let edit = edit(&mut dice, path, &text);
        let faults = KINDS[done % KINDS.len()];
        let Some(broken) = broken(&mut dice, &edit, faults) else {
            continue;
        };
        done += 1;
        let (outcome, verdict) = repair(&tools, &edit, &broken, faults);
        tallies.entry(faults).or_default().add(outcome);
        let group = match faults.inner_quotes {
            Some(_) => &mut quoted,
            None => &mut others,
        };
        group.add(outcome);
        if outcome != Outcome::Exact {
            missed.push(format!(
                "{outcome:?} {verdict} {faults:?}\n{}\n{}",
                Value::from(edit.members),
                broken.text
            ));
        }
    }
    #[allow(clippy::print_stdout, reason = "the figures, for --nocapture")]
    for (faults, tally) in &tallies {
        println!("{tally:?} {faults:?}");
    }
    if let Some(path) = env::var_os("TOOLMEND_SOURCE_REPORT") {
        fs::write(path, missed.join("\n----\n")).unwrap();
    }
    // A short run may meet a few texts that are truly ambiguous.
    assert!(
        quoted.cases - quoted.exact <= (quoted.cases / 1000).max(1),
        "{quoted:?}"
    );
    assert!(quoted.wrong <= quoted.cases / 5000, "{quoted:?}");
    assert_eq!(others.exact, others.cases, "{others:?}");
}
