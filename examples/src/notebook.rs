//! A notebook in memory, and four async tools to use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use self_debug::{Effect, FnTool, ToolError};
use serde::Deserialize;

/// Notes by path.
#[derive(Clone, Debug, Default)]
pub struct Notebook(Arc<Mutex<BTreeMap<String, String>>>);

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchNotes {
    /// Words to look for.
    query: String,
    /// Only notes that hold all of these tags, such as `#home`.
    #[serde(default)]
    tags: Vec<String>,
    /// The most notes to list.
    #[serde(default = "ten")]
    limit: usize,
}

fn ten() -> usize {
    10
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ReadNote {
    /// The path of a note that exists.
    path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct WriteNote {
    /// The path of the note, ending in `.md`.
    path: String,
    /// The whole text of the note.
    content: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct DeleteNote {
    /// The path of the note.
    path: String,
}

impl Notebook {
    /// A notebook with three notes.
    pub fn with_examples() -> Self {
        let notes = [
            ("monday.md", "Call the plumber. #home"),
            (
                "planets.md",
                "Venus is the brightest of the planets. #space #sky",
            ),
            ("todo.md", "Buy milk. #home"),
        ];
        let notes = notes.map(|(path, text)| (path.to_owned(), text.to_owned()));
        Self(Arc::new(Mutex::new(BTreeMap::from(notes))))
    }

    fn notes(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `search_notes`: lists the notes that hold a text.
    pub fn search(&self) -> FnTool {
        let notebook = self.clone();
        FnTool::new(
            "search_notes",
            "Lists the notes that hold a text",
            move |search: SearchNotes| {
                let notebook = notebook.clone();
                async move {
                    let notes = notebook.notes();
                    let found = notes.iter().filter(|(_, text)| {
                        text.to_lowercase().contains(&search.query.to_lowercase())
                            && search.tags.iter().all(|tag| text.contains(tag.as_str()))
                    });
                    let paths: Vec<String> = found.map(|(path, _)| path.clone()).collect();
                    Ok::<_, ToolError>(paths.into_iter().take(search.limit).collect::<Vec<_>>())
                }
            },
        )
        .with_effect(Effect::ReadOnly)
    }

    /// `read_note`: refuses a path that does not exist, and names the nearest.
    pub fn read(&self) -> FnTool {
        let notebook = self.clone();
        FnTool::new("read_note", "Reads a note", move |read: ReadNote| {
            let notebook = notebook.clone();
            async move {
                let notes = notebook.notes();
                match notes.get(&read.path) {
                    Some(text) => Ok(text.clone()),
                    None => Err(ToolError::value(no_such_note(&read.path, &notes))),
                }
            }
        })
        .with_effect(Effect::ReadOnly)
    }

    /// `write_note`: writes a whole note.
    pub fn write(&self) -> FnTool {
        let notebook = self.clone();
        FnTool::new("write_note", "Writes a note", move |write: WriteNote| {
            let notebook = notebook.clone();
            async move {
                if !write.path.ends_with(".md") {
                    let message = format!("'{}' does not end in .md", write.path);
                    return Err(ToolError::value(message));
                }
                let size = write.content.len();
                notebook.notes().insert(write.path, write.content);
                Ok(format!("{size} bytes written"))
            }
        })
        .with_effect(Effect::Idempotent)
    }

    /// `delete_note`.
    pub fn delete(&self) -> FnTool {
        let notebook = self.clone();
        FnTool::new(
            "delete_note",
            "Deletes a note",
            move |delete: DeleteNote| {
                let notebook = notebook.clone();
                async move {
                    match notebook.notes().remove(&delete.path) {
                        Some(_) => Ok("deleted"),
                        None => Err(ToolError::value("there is no such note")),
                    }
                }
            },
        )
        .with_effect(Effect::Destructive)
    }
}

/// Says which notes there are, and which one may be meant.
fn no_such_note(path: &str, notes: &BTreeMap<String, String>) -> String {
    let stem = |path: &str| path.trim_end_matches(".md").to_lowercase();
    let meant = notes.keys().find(|known| stem(path).contains(&stem(known)));
    match meant {
        Some(known) => format!("there is no note '{path}'; did you mean '{known}'?"),
        None => {
            let known: Vec<&str> = notes.keys().map(String::as_str).collect();
            format!("there is no note '{path}'; there are: {}", known.join(", "))
        }
    }
}
