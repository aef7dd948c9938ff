//! Tools and observers of the tests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use self_debug::{Effect, Event, Notice, Subscription, Tool, ToolError, ToolSpec, async_trait};
use serde_json::{Value, json};

/// A tool `read(path)` whose every run is recorded and answered by a closure.
pub(crate) struct Recorder {
    spec: ToolSpec,
    runs: Arc<Mutex<Vec<Value>>>,
    #[allow(clippy::type_complexity)]
    answer: Box<dyn Fn(usize, &Value) -> Result<Value, ToolError> + Send + Sync>,
}

/// What a [`Recorder`] ran.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<Vec<Value>>>);

impl Runs {
    pub(crate) fn list(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

pub(crate) fn spec(name: &str) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": false,
    });
    ToolSpec::new(name, schema).with_description("Reads a file")
}

impl Recorder {
    pub(crate) fn new(
        answer: impl Fn(usize, &Value) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> (Self, Runs) {
        Self::named("read", Effect::ReadOnly, answer)
    }

    pub(crate) fn named(
        name: &str,
        effect: Effect,
        answer: impl Fn(usize, &Value) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> (Self, Runs) {
        let runs = Runs::default();
        let tool = Self {
            spec: spec(name).with_effect(effect),
            runs: Arc::clone(&runs.0),
            answer: Box::new(answer),
        };
        (tool, runs)
    }

    /// A tool that knows one path only.
    pub(crate) fn only(path: &'static str) -> (Self, Runs) {
        Self::new(move |_, arguments| {
            if arguments["path"] == path {
                Ok(json!("content"))
            } else {
                Err(ToolError::value(format!(
                    "there is no {}",
                    arguments["path"]
                )))
            }
        })
    }
}

#[async_trait]
impl Tool for Recorder {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        let number = {
            let mut runs = self.runs.lock().unwrap();
            runs.push(arguments.clone());
            runs.len() - 1
        };
        // A place where a call can be dropped or a time-out can strike.
        tokio::task::yield_now().await;
        (self.answer)(number, &arguments)
    }
}

/// The names of the events that a subscription holds.
pub(crate) fn names(subscription: &mut Subscription) -> Vec<&'static str> {
    events(subscription)
        .iter()
        .map(|event| event.kind.name())
        .collect()
}

pub(crate) fn events(subscription: &mut Subscription) -> Vec<Arc<Event>> {
    std::iter::from_fn(|| subscription.try_next())
        .map(|notice| match notice {
            Notice::Event(event) => event,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// Counts, across threads.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
