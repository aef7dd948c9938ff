//! The cases are data: `tests/cases/names.jsonl` has one JSON object a line, with `tools` (names,
//! or objects with `name`, `properties`, `destructive`, `server`), optional `server` of all tools, `fits` (whether the
//! arguments fit; true if absent), `emitted`, and what is expected: `fixed` and `rule`, `exact`,
//! `ambiguous`, or `unknown` (the suggestion or null).

use std::fmt::Write;

use serde_json::Value;

use super::*;
use crate::words;

const CASES: &str = include_str!("../../../../tests/cases/names.jsonl");
const FIELD: &str = include_str!("../../../../tests/cases/field.jsonl");

/// A small generator of test inputs, the same on every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    pub(super) fn text(&mut self, alphabet: &str, longest: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..self.below(longest + 1))
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }
}

struct Case {
    tools: Vec<Value>,
    fits: bool,
}

impl Case {
    fn names(&self) -> Vec<&str> {
        self.tools
            .iter()
            .map(|tool| tool.as_str().or_else(|| tool["name"].as_str()).unwrap())
            .collect()
    }
}

impl Tools for Case {
    fn has_property(&self, tool: u32, key: &str) -> bool {
        let properties = &self.tools[tool as usize]["properties"];
        properties.get(key).is_some()
            || properties
                .as_array()
                .is_some_and(|all| all.contains(&key.into()))
    }
    fn arguments_fit(&self, _: u32) -> bool {
        self.fits
    }
    fn is_destructive(&self, tool: u32) -> bool {
        self.tools[tool as usize]["destructive"] == true
    }
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// An index of names that all come from one server, or from nowhere.
fn index<'n>(names: impl IntoIterator<Item = &'n str>, server: Option<&'n str>) -> Index {
    Index::new(names.into_iter().map(|name| (name, server)))
}

/// The resolution in the form of the cases.
fn outcome(resolution: &Resolution, names: &[&str]) -> Value {
    let name = |tool: &u32| names[*tool as usize];
    match resolution {
        Resolution::Exact(tool) => serde_json::json!({"exact": name(tool)}),
        Resolution::Fixed(tool, fix) => {
            serde_json::json!({"fixed": name(tool), "rule": fix.rule.id})
        }
        Resolution::Ambiguous(tools) => {
            serde_json::json!({"ambiguous": tools.iter().map(name).collect::<Vec<_>>()})
        }
        Resolution::Unknown { near, .. } => serde_json::json!({"unknown": near.as_ref().map(name)}),
    }
}

#[test]
fn cases_resolve_as_expected() {
    let mut wrong = String::new();
    for (line, case) in lines(CASES).enumerate() {
        let tools = Case {
            tools: case["tools"].as_array().unwrap().clone(),
            fits: case["fits"] != false,
        };
        let names = tools.names();
        let index = Index::new(names.iter().zip(&tools.tools).map(|(name, tool)| {
            let server = tool["server"].as_str().or(case["server"].as_str());
            (*name, server)
        }));
        let got = outcome(
            &index.resolve(case["emitted"].as_str().unwrap(), &tools),
            &names,
        );
        if got != case["expected"] {
            writeln!(wrong, "line {}: {case}\n    got {got}", line + 1).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_rule_has_a_case() {
    for rule in rules::RULES {
        assert!(
            lines(CASES).any(|case| case["expected"]["rule"] == rule.id),
            "{}",
            rule.id
        );
    }
}

/// Whatever the arguments are, a name from the field resolves to the tool that was meant, or to
/// none.
#[test]
fn names_from_the_field_resolve() {
    let (mut resolved, mut refused) = (0, 0);
    for case in lines(FIELD) {
        let Some(emitted) = case["raw"]["name"].as_str() else {
            continue;
        };
        if !["native", "mcp"].contains(&case["mode"].as_str().unwrap()) {
            continue;
        }
        let tools = case["tools"].as_array().unwrap().iter().map(|tool| {
            let body = tool.get("function").unwrap_or(tool);
            let schema = body.get("parameters").or(body.get("inputSchema"));
            let properties = schema.map_or(&Value::Null, |schema| &schema["properties"]);
            serde_json::json!({"name": body["name"], "properties": properties})
        });
        let tools = Case {
            tools: tools.collect(),
            fits: true,
        };
        let names = tools.names();
        let got = index(names.iter().copied(), None).resolve(emitted, &tools);
        let id = &case["id"];
        match (&got, case["expected"]["calls"].get(0)) {
            (Resolution::Exact(tool) | Resolution::Fixed(tool, _), Some(call)) => {
                assert_eq!(call["name"], names[*tool as usize], "{id}");
                resolved += 1;
            }
            (Resolution::Exact(_), None) => {}
            (Resolution::Ambiguous(_) | Resolution::Unknown { .. }, None) => refused += 1,
            _ => panic!("{id}: {emitted} gives {got:?}"),
        }
    }
    assert!(resolved > 50 && refused >= 7, "{resolved} {refused}");
}

/// A tool set in which every name is a neighbour of others.
fn crowd() -> Case {
    let names = [
        "read_file",
        "readFile",
        "write_file",
        "delete_file",
        "list_files",
        "search_issues",
        "search_issue",
        "mcp__github__create_issue",
        "mcp__gitlab__create_issue",
        "terminal",
        "todo",
        "lock_door",
        "unlock_door",
        "decompile_function",
        "get_weather_forecast",
    ];
    Case {
        tools: names.map(Value::from).to_vec(),
        fits: true,
    }
}

#[test]
fn a_tool_name_is_exact_and_no_text_panics() {
    let case = crowd();
    let names = case.names();
    let index = index(names.iter().copied(), Some("github"));
    for (name, tool) in names.iter().zip(0..) {
        assert_eq!(index.resolve(name, &case), Resolution::Exact(tool));
    }
    let mut random = Random(11);
    for _ in 0..3_000 {
        let junk = random.text("a_.:/<|>()0é\u{130}ß字\u{301}🦀 mcptolTOOL", 12);
        let name = names[random.below(names.len())];
        let cut = random.below(name.len());
        let emitted = match random.below(4) {
            0 => junk,
            1 => format!("{junk}{name}"),
            2 => format!("{name}{junk}"),
            _ => format!("{}{junk}{}", &name[..cut], &name[cut..]),
        };
        let resolution = index.resolve(&emitted, &case);
        assert_eq!(resolution, index.resolve(&emitted, &case), "{emitted}");
        if let Resolution::Fixed(tool, _) = resolution {
            assert_eq!(
                index.resolve(names[tool as usize], &case),
                Resolution::Exact(tool)
            );
            assert!(
                !words::are_opposites(&emitted, names[tool as usize])
                    || emitted.contains(['.', ':', '/', '<', ' ', '(']),
                "{emitted} {tool}"
            );
        }
    }
}

/// One edit away from two tools is one edit away from neither.
#[test]
fn a_tie_is_never_resolved() {
    let mut random = Random(5);
    for _ in 0..1_000 {
        let stem = random.text("bcdfghkmn", 12);
        let pair = [format!("{stem}x"), format!("{stem}y")];
        let case = Case {
            tools: pair.iter().map(|name| Value::from(name.as_str())).collect(),
            fits: true,
        };
        let index = index(pair.iter().map(String::as_str), None);
        for emitted in [format!("{stem}z"), stem.clone(), format!("{stem}xy")] {
            let resolution = index.resolve(&emitted, &case);
            assert!(
                matches!(resolution, Resolution::Unknown { .. }),
                "{emitted} {pair:?}"
            );
        }
    }
    let case = Case {
        tools: vec!["a_b".into(), "ab".into()],
        fits: true,
    };
    let index = index(case.names(), None);
    for emitted in ["A_B", "functions.aB", "aB_ab", "api:aB", "aB:0", "a-b<x>"] {
        assert_eq!(
            index.resolve(emitted, &case),
            Resolution::Ambiguous(vec![0, 1]),
            "{emitted}"
        );
    }
}

#[test]
fn huge_names_are_bounded() {
    let case = crowd();
    let index = index(case.names(), Some("github"));
    for unit in [
        "a",
        "_",
        "read_file",
        "tool",
        "functions.",
        "mcp__a__",
        ":0",
        "()",
        "é",
        ".",
        "lock",
    ] {
        let emitted = unit.repeat((1 << 20) / unit.len());
        let resolution = index.resolve(&emitted, &case);
        assert!(
            matches!(
                resolution,
                Resolution::Unknown { .. } | Resolution::Fixed(..)
            ),
            "{unit}"
        );
    }
    let emitted = format!("terminal<|channel|>{}", "x".repeat(1 << 20));
    assert!(matches!(
        index.resolve(&emitted, &case),
        Resolution::Fixed(9, _)
    ));
}

#[test]
fn nearest_tools_come_best_first() {
    let names: Vec<String> = (0..500)
        .map(|i| format!("tool_{}_{i}", ["alpha", "beta", "gamma"][i % 3]))
        .collect();
    let case = Case {
        tools: names
            .iter()
            .map(|name| Value::from(name.as_str()))
            .collect(),
        fits: true,
    };
    let index = index(names.iter().map(String::as_str), None);
    let Resolution::Unknown { near, nearest } = index.resolve("toolx_alhpa_123", &case) else {
        panic!("resolved")
    };
    let mut expected: Vec<u32> = (0..500).collect();
    let similarity = |tool: u32| near::similarity("toolx_alhpa_123", &names[tool as usize]);
    expected.sort_by(|a, b| {
        let order = similarity(*b).total_cmp(&similarity(*a));
        order.then_with(|| names[*a as usize].cmp(&names[*b as usize]))
    });
    assert_eq!(nearest, expected[..NEAREST]);
    assert_eq!(near, Some(nearest[0]));
}
