//! Which quotes end a string, where the quote alone does not tell: every reading of the text is
//! tried, and of those that are possible the one is taken that fits the schema best.
//!
//! A reading is impossible if it is no JSON, is cut off, holds a key twice, or lacks a required
//! key that no undeclared one could stand for.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use super::balance::Balance;
use super::reader::Frame;
use super::{Cut, Input, Lenient, Problem, TextFix, frame, rules};
use crate::rule::{Risk, Rule};
use crate::schema::Tree;
use crate::schema::tree::Kinds;

/// Most readings that are tried.
const MAX_READINGS: usize = 1024;

/// Bytes that trying readings may cost for each byte of the text, and in any case.
const COST: (usize, usize) = (8, 1 << 20);

/// The doubtful quotes of one reading.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// The answers that are given, in the order of the questions; the rules answer the others.
    given: Vec<bool>,
    /// Every answer of this reading.
    answers: Vec<bool>,
    /// Where the first string stands that holds a doubtful quote.
    pub(super) doubtful: Option<usize>,
    /// This reading is one of several that are tried.
    is_trial: bool,
    is_impossible: bool,
    /// No other reading may be taken either.
    pub(super) is_undecidable: bool,
    /// Keys that the schema declares where they stand.
    declared_keys: usize,
    /// Keys that the schema rules out.
    surplus_keys: usize,
    /// Where the first of them stands, if a doubtful quote stands before it.
    surplus_at: Option<usize>,
    /// As many of them as another reading has that leaves out no key of the outermost object.
    most_surplus: Option<usize>,
    root_keys: usize,
    /// Strings that end inside a literal of their content.
    pub(super) inside_literal: usize,
    /// Strings that end inside an object of their content.
    torn: usize,
    /// Where the first of them ends that does so behind a colon.
    torn_at: Option<usize>,
    /// Strings that end inside a literal behind a colon.
    suspect: usize,
    /// How commas and colons are spelled, with the white space around them.
    spellings: BTreeSet<String>,
}

impl Doubts {
    /// Whether a doubtful quote ends its string, which by the rules it does if `by_rule`.
    pub(super) fn answer(&mut self, by_rule: bool) -> bool {
        let answer = self.given.get(self.answers.len()).copied();
        let answer = answer.unwrap_or(by_rule);
        self.answers.push(answer);
        answer
    }

    /// Whether every doubt of this reading is tried the other way too.
    pub(super) fn is_trial(&self) -> bool {
        self.is_trial
    }

    /// Gives a reading up that others are tried beside.
    pub(super) fn give_up(&mut self) {
        self.is_impossible |= self.is_trial;
    }

    /// Whether this reading need not go on.
    pub(super) fn is_hopeless(&self) -> bool {
        self.is_trial && self.is_impossible
    }

    /// Notes a key before it is read, and whether the schema declares it there or rules it out.
    pub(super) fn key(
        &mut self,
        frame: &Frame<'_>,
        is_root: bool,
        (is_declared, is_surplus): (bool, bool),
        key: &str,
        at: usize,
    ) {
        let is_new = !frame.keys.contains(key);
        self.is_impossible |= !is_new;
        self.surplus_keys += usize::from(is_surplus);
        if is_surplus && self.doubtful.is_some() {
            self.surplus_at = self.surplus_at.or(Some(at));
        }
        self.declared_keys += usize::from(is_new && is_declared);
        self.root_keys += usize::from(is_root && is_new && is_declared);
        self.is_impossible |= self
            .most_surplus
            .is_some_and(|most| self.surplus_keys > most);
    }

    /// Notes how the separator before or behind a key is spelled. A model writes all of them alike.
    pub(super) fn separator(&mut self, spelling: &str) {
        if !self.spellings.contains(spelling) {
            self.spellings.insert(spelling.to_owned());
        }
    }

    /// Notes the end of a string that holds raw quotes, as the value of a member; its closing quote
    /// stands at `quote`.
    pub(super) fn string(&mut self, balance: &Balance, quote: usize) {
        self.torn += usize::from(balance.is_in_object());
        self.suspect += usize::from(balance.is_in_member());
        if balance.is_in_object() && balance.is_in_member() {
            self.torn_at = self.torn_at.or(Some(quote));
        }
    }

    /// Notes the end of an object.
    pub(super) fn object(&mut self, frame: &Frame<'_>, tree: &Tree) {
        self.is_impossible |= lacks_key(frame, tree);
    }
}

/// Whether an object lacks a required key, and holds none that could be meant for it.
fn lacks_key(frame: &Frame<'_>, tree: &Tree) -> bool {
    let Some(place) = frame.place.filter(|_| frame.is_object) else {
        return false;
    };
    let has_all = |id: &u32| {
        let ty = tree.get(*id);
        !ty.kinds.meets(Kinds::OBJECT)
            || ty
                .properties()
                .iter()
                .all(|property| !property.required || frame.keys.contains(&property.name))
    };
    let declares_all = || {
        let mut keys = frame.keys.iter();
        keys.all(|key| tree.declares(frame.place, key))
    };
    !tree.plain_types(place).iter().any(has_all) && declares_all()
}

/// Reads a text.
pub(super) fn read(input: Input<'_>) -> Lenient {
    let text = input.text;
    let mut doubts = Doubts::default();
    let first = frame::read(input, &mut doubts);
    let is_whole = text
        .get(..frame::Tail::new(text).start)
        .is_some_and(|body| body.ends_with(['}', ']', '｝', '］']));
    // What looks like a key may be content of the string before it: of neither more is certain.
    let certain_end = match (first.cut, first.problem) {
        (Some(Cut::Inside), _) => doubts.surplus_at.into_iter().chain(doubts.torn_at).min(),
        (_, Some(Problem::Unreadable(_) | Problem::Ambiguous(_))) => doubts.torn_at,
        _ => None,
    };
    if !is_whole
        && let Some(at) = certain_end
        && let Some(before) = text.get(..at)
    {
        return frame::read(input.of(before), &mut Doubts::default());
    }
    let is_possible = is_possible(&first, &doubts);
    let holds_several = doubts.doubtful.is_none() && is_sound(&first, &doubts);
    if doubts.is_undecidable
        || doubts.answers.is_empty()
        || holds_several
        || (is_possible && faults(&first, &doubts) == 0)
    {
        return first;
    }
    // Only a schema tells which reading is the best.
    let has_schema = input.tree.declares_any(input.place);
    if !has_schema {
        return first;
    }
    let mut is_contested = is_possible && doubts.torn + doubts.suspect > 0;
    if is_whole {
        let tried = try_all(input);
        if is_possible && tried.least_faults == Some(faults(&first, &doubts)) {
            return first;
        }
        if let Some(best) = tried.best {
            return best;
        }
        is_contested = is_possible;
    }
    let at = doubts.doubtful.filter(|_| is_contested);
    Lenient {
        problem: first.problem.or(at.map(Problem::Ambiguous)),
        ..first
    }
}

fn is_possible(read: &Lenient, doubts: &Doubts) -> bool {
    is_sound(read, doubts) && read.values.len() < 2
}

/// Whether a reading gives whole values, each of which holds what it must.
fn is_sound(read: &Lenient, doubts: &Doubts) -> bool {
    let is_readable = !matches!(
        read.problem,
        Some(Problem::Ambiguous(_) | Problem::Unreadable(_) | Problem::NoValue)
    );
    let is_whole = !matches!(read.cut, Some(Cut::Inside | Cut::Beginning | Cut::Unclosed));
    is_readable && is_whole && !doubts.is_impossible
}

/// How well a possible reading fits: the less the better, the first of them first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Misfit {
    torn: usize,
    declared_keys: Reverse<usize>,
    surplus_keys: usize,
    /// Changes that unescaped quotes do not explain.
    unusual: usize,
    spellings: usize,
    /// Something speaks against it, or a string ends inside a literal.
    is_doubtful: bool,
}

impl Misfit {
    fn of(read: &Lenient, doubts: &Doubts) -> Self {
        Self {
            torn: doubts.torn,
            declared_keys: Reverse(doubts.declared_keys),
            surplus_keys: doubts.surplus_keys,
            unusual: unusual(read).count(),
            spellings: doubts.spellings.len(),
            is_doubtful: faults(read, doubts) + doubts.inside_literal > 0,
        }
    }
}

/// What speaks against a reading: torn strings, and what it drops or supplies.
fn faults(read: &Lenient, doubts: &Doubts) -> usize {
    let losses = unusual(read).filter(|fix| fix.risk > Risk::Lossless);
    doubts.torn + doubts.suspect + losses.count()
}

fn unusual(read: &Lenient) -> impl Iterator<Item = &TextFix> {
    let is_usual = |rule: &Rule| USUAL.iter().any(|usual| usual.id == rule.id);
    read.fixes.iter().filter(move |fix| !is_usual(fix.rule))
}

/// What is wrong with a text whose quotes are not escaped, in any reading.
const USUAL: &[&Rule] = &[
    &rules::FRAME,
    &rules::MISSING_OPENER,
    &rules::SURPLUS_COMMA,
    &rules::QUOTES,
    &rules::INNER_QUOTE,
    &rules::RAW_CONTROL,
    &rules::ESCAPE,
];

/// A possible reading.
struct Choice {
    read: Lenient,
    misfit: Misfit,
    faults: usize,
    root_keys: usize,
}

/// What came of trying the readings.
#[derive(Default)]
struct Tried {
    /// The one possible reading that fits best, if none has less against it.
    best: Option<Lenient>,
    /// The least that speaks against a possible one; `None` if not all could be tried.
    least_faults: Option<usize>,
}

/// Whether a torn reading is as good as the best one but for that. One against which nothing speaks
/// has a rival only in a reading that finds more keys.
fn is_rival(other: &Misfit, best: &Misfit) -> bool {
    let finds_more = other.declared_keys < best.declared_keys;
    let finds_as_many = other.declared_keys == best.declared_keys && best.is_doubtful;
    other.torn > best.torn
        && (finds_more || finds_as_many)
        && other.surplus_keys <= best.surplus_keys
        && other.unusual <= best.unusual
}

/// The possible readings so far.
#[derive(Default)]
struct Trials {
    best: Option<Choice>,
    /// Another reading is as good as the best.
    is_tied: bool,
    possible: Vec<Misfit>,
    least_faults: Option<usize>,
    /// The torn strings and the keys of every reading, possible or not.
    found: Vec<(usize, usize)>,
    /// See [`Doubts::most_surplus`].
    most_surplus: Option<usize>,
    /// One reads the text as several objects, of which the schema declares every key.
    has_several: bool,
}

impl Trials {
    /// Notes a reading. `all_keys`: how many properties the schema of the whole declares.
    fn note(&mut self, read: Lenient, doubts: &Doubts, all_keys: usize) {
        if read.values.len() < 2 {
            self.found.push((doubts.torn, doubts.root_keys));
        }
        if !is_possible(&read, doubts) {
            self.has_several |= is_sound(&read, doubts) && doubts.surplus_keys == 0;
            return;
        }
        let choice = Choice {
            misfit: Misfit::of(&read, doubts),
            faults: faults(&read, doubts),
            root_keys: doubts.root_keys,
            read,
        };
        self.possible.push(choice.misfit);
        let least = self.least_faults.unwrap_or(choice.faults);
        self.least_faults = Some(least.min(choice.faults));
        let best = self.best.as_ref();
        let order = best.map_or(Ordering::Less, |best| choice.misfit.cmp(&best.misfit));
        match order {
            Ordering::Less => {
                let is_full = doubts.torn == 0 && choice.root_keys == all_keys;
                self.most_surplus = is_full.then_some(doubts.surplus_keys);
                self.is_tied = false;
                self.best = Some(choice);
            }
            Ordering::Equal => {
                self.is_tied |= best.is_some_and(|best| best.read.text != choice.read.text);
            }
            Ordering::Greater => {}
        }
    }

    /// What came of them, when all were tried.
    fn tried(self) -> Tried {
        let best = self.best.filter(|best| {
            // What another reading found a key in is no content.
            let mut rivals = self.found.iter();
            let finds_no_more =
                rivals.all(|(torn, keys)| *torn > best.misfit.torn || *keys <= best.root_keys);
            let mut possible = self.possible.iter();
            !self.is_tied
                && !self.has_several
                && Some(best.faults) == self.least_faults
                && finds_no_more
                && !possible.any(|other| is_rival(other, &best.misfit))
        });
        Tried {
            best: best.map(|best| best.read),
            least_faults: self.least_faults,
        }
    }
}

/// Tries the readings. Each run answers one doubt of an earlier one the other way, and those behind
/// it by the rules.
fn try_all(input: Input<'_>) -> Tried {
    let mut trials = Trials::default();
    let all_keys = input
        .place
        .map_or(0, |id| input.tree.get(id).properties().len());
    let mut cost = COST.0 * input.text.len() + COST.1;
    let mut pending = vec![Vec::new()];
    for _ in 0..MAX_READINGS {
        let Some(given) = pending.pop() else {
            return trials.tried();
        };
        let Some(rest) = cost.checked_sub(input.text.len()) else {
            break;
        };
        cost = rest;
        let known = given.len();
        let mut doubts = Doubts {
            given,
            is_trial: true,
            most_surplus: trials.most_surplus,
            ..Doubts::default()
        };
        let read = frame::read(input, &mut doubts);
        trials.note(read, &doubts, all_keys);
        if pending.len() + doubts.answers.len().saturating_sub(known) > MAX_READINGS {
            // Their answers would take memory squared, and not all of them could be tried.
            break;
        }
        for at in known..doubts.answers.len() {
            let mut other = doubts.answers.get(..=at).unwrap_or_default().to_vec();
            if let Some(last) = other.last_mut() {
                *last = !*last;
            }
            pending.push(other);
        }
    }
    Tried::default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::MAX_DEPTH;

    impl<'t> Input<'t> {
        fn at_root(text: &'t str, tree: &'t Tree) -> Self {
            Self {
                text,
                attempt: None,
                tree,
                place: Some(tree.root()),
                max_depth: MAX_DEPTH,
            }
        }
    }

    /// The tools of the cases: the types of their properties, and which are required.
    fn schema(tool: &str) -> Value {
        let (properties, required) = match tool {
            "bash" => (
                json!({"command": {"type": "string"}, "description": {"type": "string"}, "timeout": {"type": "integer"}}),
                json!(["command"]),
            ),
            "edit" => (
                json!({"path": {"type": "string"}, "old": {"type": "string"}, "new": {"type": "string"}, "count": {"type": "integer"}}),
                json!(["path", "old", "new"]),
            ),
            "cell" => (
                json!({"source": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}, "metadata": {"type": "object"}}),
                json!(["source"]),
            ),
            _ => (
                json!({"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "string"}}),
                json!(["path", "content"]),
            ),
        };
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// What is read; `None` if that is refused.
    fn value_of(tool: &str, is_closed: bool, text: &str) -> Option<Value> {
        let mut schema = schema(tool);
        if is_closed {
            schema["additionalProperties"] = json!(false);
        }
        let tree = crate::schema::compile::compile(&schema);
        let read = read(Input::at_root(text, &tree));
        let is_refused = read.problem.is_some() || read.cut.is_some() || read.values.len() != 1;
        (!is_refused).then(|| serde_json::from_str(&read.text).unwrap())
    }

    #[test]
    fn a_key_of_an_object_inside_a_string_is_content() {
        for (is_certain, tool, key, before, content, after) in [
            (
                true,
                "bash",
                "command",
                "",
                r#"rm -rf /tmp/a && echo '{"a": "b", "timeout": 5}' && ls"#,
                "",
            ),
            (
                false,
                "bash",
                "command",
                "",
                r#"curl -d '{"a": "b", "description": "c"}' http://x"#,
                "",
            ),
            (
                false,
                "bash",
                "command",
                "",
                r#"curl -d '{"a": "b", "description": "c", "d": "e"}' http://x"#,
                "",
            ),
            (
                false,
                "bash",
                "command",
                "",
                r#"cat <<E\n{"name": "x", "description": "t"}\nE"#,
                r#", "timeout": 5"#,
            ),
            (
                true,
                "edit",
                "new",
                r#""path": "a.json", "old": "{"a": "b"}", "#,
                r#"{"a": "b", "count": 3}"#,
                "",
            ),
            (
                false,
                "edit",
                "old",
                r#""path": "a.json", "#,
                r#"{"k": "b", "new": "c"}"#,
                r#", "new": "{"k": "d"}""#,
            ),
            (
                true,
                "cell",
                "source",
                "",
                r#"f({"city": "Oslo", "tags": ["a", "b"]})\nprint("x")"#,
                "",
            ),
            (
                true,
                "cell",
                "source",
                "",
                r#"f({city: "Oslo", "tags": ["a", "b"]})"#,
                "",
            ),
            (
                true,
                "write",
                "content",
                r#""path": "p.json", "#,
                r#"{"name": "x", "mode": "y", "a": 1}\n"#,
                "",
            ),
            (
                false,
                "write",
                "content",
                r#""path": "p.json", "#,
                r#"{\n  "name": "x", "mode": "y"}"#,
                "",
            ),
        ] {
            for is_closed in [false, true] {
                let text = format!(r#"{{{before}"{key}": "{content}"{after}}}"#);
                let value = value_of(tool, is_closed, &text);
                let got = value.as_ref().and_then(|value| value[key].as_str());
                let content = content.replace("\\n", "\n");
                let is_read = got == Some(content.as_str());
                let is_refused = value.is_none() && !is_certain;
                assert!(is_read || is_refused, "{is_closed} {text} {value:?}");
            }
        }
    }

    #[test]
    fn a_string_that_two_readings_end_is_refused() {
        for (tool, text) in [
            (
                "edit",
                r#"{"path": "a", "old": "1", "new": "x = "2", "count": 3"}"#,
            ),
            (
                "write",
                r#"{"path": "a", "content": ""name": "x", "mode": "y""}"#,
            ),
            (
                "write",
                r#"{"path": "a", "content": "{a: 1, "mode": "y"}"}"#,
            ),
            (
                "bash",
                r#"{"command": "curl -d '{"a": "b", "timeout": 5}' http://x""#,
            ),
        ] {
            for is_closed in [false, true] {
                assert_eq!(value_of(tool, is_closed, text), None, "{text}");
            }
        }
    }

    #[test]
    fn a_torn_reading_is_no_rival_of_one_that_finds_as_many_keys_and_tears_nothing() {
        let old = r##"r#"[{"op":"add","new":"/a"}]"#, f(), r#"[{"op":"add","new":"/b"}]"#,\n"##;
        let escaped = old.replace('"', "\\\"");
        let rest =
            |old: &str| format!(r#"{{"old": "{old}", "count": 1, "new": "x", "path": "a"}}"#);
        let want: Value = serde_json::from_str(&rest(&escaped)).unwrap();
        assert_eq!(value_of("edit", true, &rest(old)), Some(want));
    }

    #[test]
    fn behind_the_last_possible_end_before_a_broken_key_nothing_is_certain() {
        let mut schema = schema("write");
        schema["additionalProperties"] = json!(false);
        let tree = crate::schema::compile::compile(&schema);
        for end in [r#""pa"#, r#""path""#] {
            let text = format!(r#"{{"content": "say \n x = "y", "z = w", {end}"#);
            let read = read(Input::at_root(&text, &tree));
            assert!(
                read.cut.is_some() && !read.text.contains("pa"),
                "{}",
                read.text
            );
        }
    }

    #[test]
    fn a_key_that_no_string_can_hold_ends_it() {
        let text = r#"{"path": "a", "content": "f({"name": "x", "mode": "y"}"#;
        let want = json!({"path": "a", "content": "f({\"name\": \"x", "mode": "y"});
        assert_eq!(value_of("write", true, text), Some(want));
    }
}
