//! Breakages of texts and of values.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::generate::KEYS;

/// Breaks the text of a call's arguments; says how.
pub(crate) fn break_text(dice: &mut Dice, text: &str) -> (&'static str, String) {
    match dice.roll(9) {
        0 => (
            "trailing comma",
            text.strip_suffix('}')
                .map_or_else(|| text.to_owned(), |open| format!("{open},}}")),
        ),
        1 => ("fence", format!("```json\n{text}\n```")),
        2 => ("special token", format!("{text}<|im_end|>")),
        3 => ("surplus closer", format!("{text}}}")),
        4 => (
            "comment",
            format!("{{ /* args */ {}", text.trim_start_matches('{')),
        ),
        5 => ("encoded twice", Value::from(text).to_string()),
        7 => ("foreign escape", text.replace("it's", "it\\'s")),
        6 => ("prose", format!("Calling it now:\n{text}")),
        _ => ("raw line break", text.replace("\\n", "\n")),
    }
}

/// Breaks a value in one to three places, whether or not it still fits its schema then.
/// `None` if the text is beyond `serde_json`.
pub(crate) fn break_value(dice: &mut Dice, text: &str) -> Option<(String, Value)> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let mut how = Vec::new();
    for _ in 0..dice.pick(&[1, 1, 1, 2, 3]) {
        let mut places = vec![String::new()];
        pointers(&value, &mut String::new(), &mut places);
        let place = places[dice.roll(places.len())].clone();
        let target = value.pointer_mut(&place).unwrap();
        if let Some(what) = break_node(dice, target) {
            how.push(format!("{what} at {place:?}"));
        }
    }
    (!how.is_empty()).then(|| (how.join(", "), value))
}

fn pointers(value: &Value, path: &mut String, out: &mut Vec<String>) {
    let mut inside = |segment: String, inner: &Value| {
        let length = path.len();
        path.push('/');
        path.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        out.push(path.clone());
        pointers(inner, path, out);
        path.truncate(length);
    };
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                inside(at.to_string(), item);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                inside(key.clone(), member);
            }
        }
        _ => {}
    }
}

fn break_node(dice: &mut Dice, node: &mut Value) -> Option<&'static str> {
    let (how, broken) = match (dice.roll(16), &mut *node) {
        (0, Value::String(_)) => return None,
        (0, node) => ("stringified", Value::from(node.to_string())),
        (1, node) => (
            "encoded twice",
            Value::from(Value::from(node.to_string()).to_string()),
        ),
        (2, node) => ("in an array", json!([node])),
        (3, Value::Array(items)) if items.len() == 1 => ("single item", items[0].take()),
        (3, Value::Object(members)) => {
            let key = members.keys().next()?.clone();
            ("first member alone", members[&key].take())
        }
        (4, node) => (
            "wrapped",
            json!({dice.pick(&["value", "item", "arguments", "input", "data"]): node}),
        ),
        (5, _) => ("null", Value::Null),
        (6, _) => (
            "nothing",
            dice.pick(&["\"\"", "{}", "[]", "\"null\"", "\"None\""])
                .parse()
                .unwrap(),
        ),
        (7, Value::String(text)) => (
            "respelled",
            Value::from(match dice.roll(5) {
                0 => text.to_uppercase(),
                1 => text.replace(['_', ' '], "-"),
                2 => format!(" {text}"),
                3 => text.replacen('o', "0", 1),
                _ => text.replace("asc", "desc"),
            }),
        ),
        (7, Value::Number(number)) => (
            "number in words",
            Value::from(match dice.roll(5) {
                0 => format!("+{number}"),
                1 => format!("{number} kg"),
                2 => format!(" {number}"),
                3 => format!("0{number}"),
                _ => format!("{number},000"),
            }),
        ),
        (7, Value::Bool(value)) => (
            "boolean in words",
            Value::from(
                dice.pick(&[["no", "yes"], ["False", "True"], ["0", "1"]])[usize::from(*value)],
            ),
        ),
        (8, _) => (
            "another scalar",
            dice.pick(&["5", "0.5", "true", "\"x\"", "\"a, b\""])
                .parse()
                .unwrap(),
        ),
        (9..13, Value::Object(members)) => return rename(dice, members),
        (13, Value::Object(members)) => {
            let key = members.keys().nth(dice.roll(members.len().max(1)))?.clone();
            members.shift_remove(&key);
            return Some("a member removed");
        }
        (14, Value::Object(members)) => {
            let key = dice.pick(KEYS).to_owned() + dice.pick(&["", "2", "s"]);
            let inner = dice.pick(&["null", "\"\"", "[]", "5", "\"x\"", "{\"a\": 1}"]);
            if members.contains_key(&key) {
                return None;
            }
            members.insert(key, inner.parse().unwrap());
            return Some("a member added");
        }
        (15, Value::Array(items)) => {
            items.push(
                dice.pick(&["null", "\"5\"", "5", "{}", "\"x\""])
                    .parse()
                    .unwrap(),
            );
            return Some("an item added");
        }
        _ => return None,
    };
    *node = broken;
    Some(how)
}

/// Gives a member another key: a respelling, an alias, a slip, or an opposite.
fn rename(dice: &mut Dice, members: &mut serde_json::Map<String, Value>) -> Option<&'static str> {
    let at = dice.roll(members.len().max(1));
    let key = members.keys().nth(at)?.clone();
    let (how, renamed) = match dice.roll(6) {
        0 => ("key in capitals", key.to_uppercase()),
        1 => ("key without separators", key.replace(['_', '-'], "")),
        2 => ("key misspelt", swapped(&key)),
        3 | 4 => (
            "key under another name",
            match key.as_str() {
                "path" => dice.pick(&["file_path", "filename", "file"]),
                "query" => dice.pick(&["q", "search"]),
                "maxResults" => "limit",
                "timeZone" => "tz",
                _ => return None,
            }
            .to_owned(),
        ),
        _ => (
            "key for its opposite",
            match key.as_str() {
                "start_date" => "end_date",
                "end_date" => "start_date",
                "min_results" => "max_results",
                "maxResults" => "minResults",
                _ => return None,
            }
            .to_owned(),
        ),
    };
    if renamed == key || members.contains_key(&renamed) {
        return None;
    }
    let renamed: serde_json::Map<String, Value> = std::mem::take(members)
        .into_iter()
        .map(|(known, value)| (if known == key { renamed.clone() } else { known }, value))
        .collect();
    *members = renamed;
    Some(how)
}

/// The text with two letters in its middle swapped.
fn swapped(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let middle = letters.len() / 2;
    if middle > 0 {
        letters.swap(middle - 1, middle);
    }
    letters.into_iter().collect()
}
