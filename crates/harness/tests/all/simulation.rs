//! The machine against random tools, debuggers and approvers. The promises of a run:
//! it ends within its budget with exactly one terminal event, nothing runs after it, no destructive
//! tool runs arguments that nobody approved, no tool that may have had an effect runs twice, and
//! the same inputs give the same events.
//!
//! 100,000 runs by default. A million: `TOOLMEND_RUNS=1000000 cargo test --release -p harness --test all simulation`.

use std::collections::BTreeSet;
use std::time::Duration;

use harness::{
    Answer, Budget, Candidate, Conversation, ErrorClass, Event, EventKind, Left, Message, Patch,
    Proposal, Request, ResultDigest, SavedRun, Settings, Spent, Step, Usage,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use repair_core::{Effect, Finish, Policy, RawCall, Risk, ToolSet, canonical_json};

use crate::driver::tools;

/// A source of choices: what happens in a run is one list of numbers.
struct Chance<'c> {
    choices: &'c [u32],
    at: usize,
}

impl Chance<'_> {
    fn below(&mut self, limit: u32) -> u32 {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        choice % limit
    }

    fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    fn of<T: Clone>(&mut self, list: &[T]) -> T {
        let at = self.below(u32::try_from(list.len()).unwrap());
        list[at as usize].clone()
    }

    fn maybe(&mut self, limit: u32) -> Option<u32> {
        (!self.one_in(3)).then(|| self.below(limit))
    }
}

const TOOLS: [&str; 10] = [
    "read",
    "put",
    "append",
    "wipe",
    "mystery",
    "assign",
    "free",
    "broken",
    "Read",
    "nobody_knows",
];

const ARGUMENTS: [&str; 14] = [
    r#"{"path": "a"}"#,
    r#"{"path": "b", "limit": 3}"#,
    r#"{"path": "a", "mode": "exakt"}"#,
    r#"{"path": ["a"]}"#,
    r#"{"path": "a", "limit": "7"}"#,
    r#"{"limit": 3}"#,
    r#"{"path": null}"#,
    r#"{"path": "a", "extra": "value"}"#,
    r#"{"owner": "ada"}"#,
    r#"{"owner": {"id": "ada"}}"#,
    r#"{"path": "a", "limit"#,
    "{}",
    "",
    "words",
];

const CLASSES: [ErrorClass; 8] = [
    ErrorClass::UnknownTool,
    ErrorClass::Syntax,
    ErrorClass::Arguments,
    ErrorClass::Value,
    ErrorClass::Transient,
    ErrorClass::NotPermitted,
    ErrorClass::Denied,
    ErrorClass::Fatal,
];

fn budget(chance: &mut Chance<'_>) -> Budget {
    let seconds = |chance: &mut Chance<'_>, limit| {
        chance
            .maybe(limit)
            .map(|s| Duration::from_secs(u64::from(s)))
    };
    Budget::unlimited()
        .attempts(Some(chance.below(5)))
        .rounds(Some(chance.below(4)))
        .time(seconds(chance, 100))
        .attempt_timeout(seconds(chance, 20))
        .round_timeout(seconds(chance, 20))
        .tokens(chance.maybe(10_000).map(u64::from))
        .cost_micros(chance.maybe(1_000).map(u64::from))
}

fn settings(chance: &mut Chance<'_>) -> Settings {
    Settings::default()
        .seed(u64::from(chance.below(9)))
        .run_budget(budget(chance))
        .shared_budget(if chance.one_in(3) {
            budget(chance)
        } else {
            Budget::unlimited()
        })
        .min_confidence(chance.of(&[0.0, 0.5, 0.9]))
        .review_below(chance.of(&[0.0, 0.0, 0.7]))
        .fail_closed(chance.one_in(6))
        .has_approver(!chance.one_in(6))
        .round_cost_micros(u64::from(chance.below(200)))
        .answer_tokens(u64::from(chance.below(5_000)))
}

fn candidate(chance: &mut Chance<'_>) -> Candidate {
    let confidence = chance.of(&[0.1, 0.5, 0.7, 0.9, 1.0, 9.0, f64::NAN, -1.0]);
    let candidate = match chance.below(4) {
        0 => Candidate::patch(
            Patch::from_json(chance.of(&[
                r#"[{"op":"replace","path":"/path","value":"b"}]"#,
                r#"[{"op":"add","path":"/limit","value":5}]"#,
                r#"[{"op":"remove","path":"/mode"}]"#,
            ]))
            .unwrap(),
            confidence,
        ),
        _ => Candidate::new(chance.of(&ARGUMENTS), confidence),
    };
    match chance.below(4) {
        0 => candidate.by_rule(chance.of(&[Risk::Lossless, Risk::Inferred, Risk::Guess])),
        _ => candidate.of_sample(chance.below(2)),
    }
}

fn usage(chance: &mut Chance<'_>, max_tokens: u64) -> Usage {
    Usage {
        model: None,
        input_tokens: 0,
        output_tokens: u64::from(chance.below(2_000)).min(max_tokens),
        cost_micros: 0,
    }
}

/// What a world saw happen.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    answers: Vec<Answer>,
}

/// One run from its first step to its end, with every promise checked on the way.
fn simulate(tools: &ToolSet, choices: &[u32]) -> Seen {
    let mut chance = Chance { choices, at: 0 };
    let talk = Conversation::new(tools.clone(), Policy::default(), settings(&mut chance));
    let emitted = chance.of(&TOOLS);
    let text = chance.of(&ARGUMENTS);
    let finish = chance.of(&[Finish::Unknown, Finish::Complete, Finish::Cut]);
    let raw = RawCall::new(emitted, text).with_finish(finish);
    let request = Request::new(raw).context([Message::new("user", "limit 5, please")]);
    let budget = talk.settings().run_budget.clone();
    let mut now = Duration::ZERO;
    let mut run = talk.start(request, now);
    let mut world = World::new(tools);
    let mut seen = Seen::default();
    let mut talk = talk;
    loop {
        // Now and then the process dies and another one goes on.
        if chance.one_in(25)
            && let Some(saved) = run.save(now)
        {
            let was_running = matches!(run.step(), Step::Run { .. });
            let text = serde_json::to_string(&saved).unwrap();
            let saved: SavedRun = serde_json::from_str(&text).unwrap();
            world.interrupted(was_running);
            talk = Conversation::new(tools.clone(), Policy::default(), talk.settings().clone());
            run = talk.resume(saved, now).unwrap();
        }
        seen.events.extend(run.take_events());
        let step = run.step();
        assert_eq!(
            run.step().ticket(),
            step.ticket(),
            "a step stays until it is answered"
        );
        if let Step::Done(outcome) = &step {
            check_end(&seen.events, &outcome.spent, &budget, outcome.succeeded());
            return seen;
        }
        let (answer, time) = world.answer(&step, &mut chance, now);
        seen.answers.push(answer.clone());
        assert!(seen.answers.len() < 100, "the run does not end");
        now += time;
        run.answer(step.ticket().unwrap(), answer, now).unwrap();
    }
}

/// The world outside the machine: it keeps the promises' books.
struct World<'t> {
    tools: &'t ToolSet,
    /// Arguments that somebody approved, in canonical form.
    approved: BTreeSet<String>,
    /// The arguments of the model's own call, once it has run.
    first: Option<String>,
    attempts: u32,
    /// The tool may have had an effect that counts.
    is_spent: bool,
}

impl<'t> World<'t> {
    fn new(tools: &'t ToolSet) -> Self {
        Self {
            tools,
            approved: BTreeSet::new(),
            first: None,
            attempts: 0,
            is_spent: false,
        }
    }

    fn interrupted(&mut self, was_running: bool) {
        if was_running {
            self.attempts += 1;
        }
    }

    fn answer(
        &mut self,
        step: &Step,
        chance: &mut Chance<'_>,
        now: Duration,
    ) -> (Answer, Duration) {
        let time = |chance: &mut Chance<'_>, deadline: Option<Duration>| {
            let wanted = Duration::from_millis(u64::from(chance.below(15_000)));
            match deadline {
                Some(deadline) if now + wanted >= deadline => (deadline.saturating_sub(now), true),
                _ => (wanted, false),
            }
        };
        if chance.one_in(60) {
            self.note_effect(step);
            return (Answer::Cancelled, Duration::ZERO);
        }
        match step {
            Step::Run { call, deadline, .. } => {
                self.may_run(call.tool(), call.arguments().text());
                let (time, is_late) = time(chance, *deadline);
                let answer = if is_late {
                    Answer::TimedOut
                } else {
                    tool_answer(chance)
                };
                if may_have_run(&answer) {
                    self.note_effect(step);
                }
                (answer, time)
            }
            Step::Propose {
                failure,
                deadline,
                max_tokens,
                ..
            } => {
                assert!(
                    self.tools.validates(failure.spec.name()),
                    "a model was asked without a schema"
                );
                assert!(
                    !failure.error.message.trim().is_empty(),
                    "a model was asked about nothing"
                );
                assert_ne!(
                    failure.error.class,
                    ErrorClass::Transient,
                    "a model was asked to wait"
                );
                let (time, is_late) = time(chance, *deadline);
                let usage = usage(chance, *max_tokens);
                let answer = match chance.below(8) {
                    _ if is_late => Answer::TimedOut,
                    0 => Answer::ProposeFailed {
                        message: "500".into(),
                        usage,
                    },
                    1 => Answer::Proposed {
                        proposal: Proposal::GiveUp {
                            reason: "no".into(),
                        },
                        usage,
                    },
                    _ => {
                        let candidates = (0..chance.below(5)).map(|_| candidate(chance)).collect();
                        Answer::Proposed {
                            proposal: Proposal::Candidates(candidates),
                            usage,
                        }
                    }
                };
                (answer, time)
            }
            Step::Wait { until, .. } => {
                let nap = if chance.one_in(4) {
                    Duration::ZERO
                } else {
                    until.saturating_sub(now)
                };
                (Answer::Woke, nap)
            }
            Step::Approve { request, .. } => {
                assert!(!request.reasons.is_empty());
                let answer = match chance.below(5) {
                    0 => Answer::Denied { because: None },
                    1 => Answer::TimedOut,
                    2 => Answer::Replaced {
                        arguments: chance.of(&ARGUMENTS).to_owned(),
                    },
                    _ => {
                        self.approved.extend(canonical_json(&request.arguments));
                        Answer::Approved
                    }
                };
                (answer, Duration::from_secs(1_000))
            }
            Step::Done(_) => panic!("asked after the end"),
        }
    }

    /// The promises about a call that is about to run.
    fn may_run(&mut self, tool: &str, arguments: &str) {
        let canonical = canonical_json(arguments).expect("only strict JSON runs");
        let effect = self
            .tools
            .spec(tool)
            .expect("only declared tools run")
            .effect();
        assert!(
            !self.is_spent,
            "a tool that may have had an effect runs again"
        );
        self.attempts += 1;
        let is_first = self.first.is_none() && self.attempts == 1;
        if effect == Effect::Destructive {
            let is_own = is_first || self.first.as_ref() == Some(&canonical);
            assert!(
                is_own || self.approved.contains(&canonical),
                "unapproved: {arguments}"
            );
        }
        if is_first {
            self.first = Some(canonical);
        }
    }

    fn note_effect(&mut self, step: &Step) {
        if let Step::Run { call, .. } = step {
            let effect = self.tools.spec(call.tool()).unwrap().effect();
            self.is_spent |= !matches!(effect, Effect::ReadOnly | Effect::Idempotent);
        }
    }
}

fn tool_answer(chance: &mut Chance<'_>) -> Answer {
    if chance.one_in(4) {
        return Answer::Ran {
            digest: ResultDigest(u64::from(chance.below(3))),
        };
    }
    Answer::Failed {
        class: if chance.one_in(2) {
            ErrorClass::Value
        } else {
            chance.of(&CLASSES)
        },
        message: chance.of(&["no 'a', but 'b'", "no", ""]).to_owned(),
        may_have_run: chance.one_in(4),
        retry_after: chance
            .maybe(30)
            .map(|seconds| Duration::from_secs(u64::from(seconds))),
    }
}

fn may_have_run(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::TimedOut
            | Answer::Ran { .. }
            | Answer::Failed {
                may_have_run: true,
                ..
            }
    )
}

/// The promises about a run that has ended.
fn check_end(events: &[Event], spent: &Spent, budget: &Budget, succeeded: bool) {
    let terminal = events
        .iter()
        .filter(|event| event.kind.is_terminal())
        .count();
    assert_eq!(terminal, 1, "{events:#?}");
    let last = &events.last().unwrap().kind;
    assert!(last.is_terminal());
    assert_eq!(matches!(last, EventKind::Succeeded { .. }), succeeded);
    assert!(spent.attempts <= budget.attempts.unwrap(), "{spent:?}");
    assert!(spent.rounds <= budget.rounds.unwrap(), "{spent:?}");
    if let Some(time) = budget.time {
        assert!(spent.time <= time, "{spent:?}");
    }
    if let Some(tokens) = budget.tokens {
        assert!(spent.tokens <= tokens, "{spent:?}");
    }
    assert!(
        events.windows(2).all(|pair| {
            pair[0].attempt <= pair[1].attempt && pair[0].elapsed <= pair[1].elapsed
        })
    );
    assert!(events.iter().all(|event| event.left != Left::default()));
}

/// Runs from one seed; the kinds of events that occurred.
fn simulate_many(seed: u8, runs: u32) -> BTreeSet<&'static str> {
    let tools = tools();
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
    );
    let choices = proptest::collection::vec(0..u32::MAX, 60..240);
    let mut kinds = BTreeSet::new();
    for number in 0..runs {
        let choices = choices.new_tree(&mut runner).unwrap().current();
        let once = simulate(&tools, &choices);
        kinds.extend(once.events.iter().map(|event| event.kind.name()));
        // Twice the work, so only for a part of the runs.
        if number % 16 == 0 {
            let again = simulate(&tools, &choices);
            assert_eq!(format!("{:?}", once.events), format!("{:?}", again.events));
        }
    }
    kinds
}

#[test]
fn random_runs_keep_every_promise() {
    let runs = std::env::var("TOOLMEND_RUNS").map(|runs| runs.parse().unwrap());
    let runs: u32 = runs.unwrap_or(100_000);
    let kinds: BTreeSet<&str> = std::thread::scope(|scope| {
        let parts = [1, 2].map(|seed| scope.spawn(move || simulate_many(seed, runs / 2)));
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap())
            .collect()
    });
    assert_eq!(kinds.len(), 8, "every kind of event was seen: {kinds:?}");
}
