//! A run with a clock that the test moves, and tools that exist by name only.

use std::time::Duration;

use harness::{
    Answer, Candidate, Conversation, ErrorClass, Event, EventKind, GiveUpReason, Outcome, Proposal,
    Request, ResultDigest, Settings, Step, Usage,
};
use repair_core::{Effect, Policy, RawCall, ToolSet, ToolSpec};
use serde_json::json;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// One tool of each effect, all with the same parameters, and some odd ones.
pub(crate) fn tools() -> ToolSet {
    let schema = || {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer", "minimum": 0},
                "mode": {"enum": ["fast", "slow", "exact"]}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    };
    let owner = json!({
        "type": "object",
        "properties": {"owner": {"anyOf": [
            {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false},
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}
        ]}},
        "required": ["owner"]
    });
    let of = |name: &str, effect| ToolSpec::new(name, schema()).with_effect(effect);
    let (tools, problems) = ToolSet::new([
        of("read", Effect::ReadOnly),
        of("put", Effect::Idempotent),
        of("append", Effect::Mutating),
        of("wipe", Effect::Destructive),
        of("mystery", Effect::Unknown),
        ToolSpec::new("assign", owner).with_effect(Effect::ReadOnly),
        ToolSpec::without_schema("free").with_effect(Effect::ReadOnly),
        ToolSpec::new("broken", json!({"type": "strng"})).with_effect(Effect::ReadOnly),
    ]);
    assert_eq!(problems.len(), 1);
    tools
}

pub(crate) fn conversation(settings: Settings) -> Conversation {
    Conversation::new(tools(), Policy::default(), settings)
}

/// A run under way, and all its events so far.
pub(crate) struct Driven {
    pub(crate) run: harness::CallRun,
    pub(crate) now: Duration,
    pub(crate) events: Vec<Event>,
}

impl Driven {
    pub(crate) fn start(conversation: &Conversation, tool: &str, arguments: &str) -> Self {
        let raw = RawCall::new(tool.to_owned(), arguments.to_owned()).with_id("call_1");
        Self::request(conversation, Request::new(raw))
    }

    pub(crate) fn request(conversation: &Conversation, request: Request) -> Self {
        let run = conversation.start(request, Duration::ZERO);
        Self {
            run,
            now: Duration::ZERO,
            events: Vec::new(),
        }
    }

    /// One run in a conversation of its own.
    pub(crate) fn alone(tool: &str, arguments: &str) -> Self {
        Self::start(&conversation(Settings::default()), tool, arguments)
    }

    pub(crate) fn answer(&mut self, answer: Answer) -> Step {
        let ticket = self.run.step().ticket().expect("the run has ended");
        let step = self.run.answer(ticket, answer, self.now);
        step.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn after(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self
    }

    /// The arguments that the present step runs; the tool then succeeds.
    #[track_caller]
    pub(crate) fn runs(&mut self) -> String {
        let arguments = self.is_running();
        self.answer(Answer::Ran {
            digest: ResultDigest(1),
        });
        arguments
    }

    #[track_caller]
    pub(crate) fn is_running(&self) -> String {
        match self.run.step() {
            Step::Run { call, .. } => call.arguments().text().to_owned(),
            other => panic!("no tool is to run: {other:?}"),
        }
    }

    pub(crate) fn fails(&mut self, class: ErrorClass, message: &str) -> &mut Self {
        self.answer(failed(class, message, false));
        self
    }

    #[track_caller]
    pub(crate) fn proposes(
        &mut self,
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> &mut Self {
        let proposal = Proposal::Candidates(candidates.into_iter().collect());
        self.answer(Answer::Proposed {
            proposal,
            usage: Usage::default(),
        });
        self
    }

    #[track_caller]
    pub(crate) fn request_shown(&self) -> std::sync::Arc<harness::ApprovalRequest> {
        match self.run.step() {
            Step::Approve { request, .. } => request,
            other => panic!("nobody is asked: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn failure(&self) -> std::sync::Arc<harness::Failure> {
        match self.run.step() {
            Step::Propose { failure, .. } => failure,
            other => panic!("no debugger is asked: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn outcome(&self) -> std::sync::Arc<Outcome> {
        match self.run.step() {
            Step::Done(outcome) => outcome,
            other => panic!("the run goes on: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn gave_up(&mut self) -> GiveUpReason {
        match &self.events().last().expect("no event").kind {
            EventKind::GaveUp { reason, .. } => reason.clone(),
            other => panic!("the run did not give up: {other:?}"),
        }
    }

    pub(crate) fn events(&mut self) -> &[Event] {
        self.events.extend(self.run.take_events());
        &self.events
    }

    /// The names of all events; of rejected candidates with their number.
    pub(crate) fn story(&mut self) -> Vec<String> {
        let name = |event: &Event| match &event.kind {
            EventKind::CandidateRejected {
                candidate: Some(number),
                ..
            } => format!("candidate_rejected {number}"),
            kind => kind.name().to_owned(),
        };
        self.events().iter().map(name).collect()
    }
}

pub(crate) fn failed(class: ErrorClass, message: &str, may_have_run: bool) -> Answer {
    Answer::Failed {
        class,
        message: message.to_owned(),
        may_have_run,
        retry_after: None,
    }
}
