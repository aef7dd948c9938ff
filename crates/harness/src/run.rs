//! One call on its way through the machine: read it from top to bottom.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use repair_core::{
    Call, Effect, Fix, HistoryCall, Origin, RawCall, Reason, Rejected, ToolSet, ToolSpec, Verdict,
    canonical_json,
};
use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalReason, ApprovalRequest};
use crate::backoff::mix;
use crate::budget::{Budget, Spent, Usage};
use crate::candidate::{Candidate, Proposal};
use crate::check::{Checked, check};
use crate::circuit::Pass;
use crate::class::{ErrorClass, Strategy};
use crate::conversation::{Shared, lock};
use crate::event::{Event, EventKind, Rejection};
use crate::failure::{CallError, Context, FailedAttempt, FailedCall, Failure, RefusedCandidate};
use crate::ledger::{Account, Amounts, Ledger, Reservation};
use crate::loops::{LoopKey, LoopResult};
use crate::novelty::Known;
use crate::outcome::{End, GiveUpReason, Outcome};
use crate::ranking::{Ground, Ranked, is_at_least, rank};
use crate::settings::Request;
use crate::step::{Answer, OutOfStep, ResultDigest, Step, Ticket};

/// Most candidates of a proposal that are looked at.
const MOST_CANDIDATES: usize = 32;
/// Fewest tokens worth asking a debugger for, unless the host allows it fewer.
const LEAST_ANSWER_TOKENS: u64 = 64;
/// How often an approver may put other arguments in the place of those asked for.
const MOST_REPLACEMENTS: u32 = 8;

/// One call on its way through the machine. Made by [`crate::Conversation::start`].
///
/// Dropping it releases what it has reserved and ends it without a terminal event;
/// [`CallRun::cancel`] ends it with one.
#[derive(Debug)]
pub struct CallRun {
    pub(crate) shared: Arc<Shared>,
    pub(crate) ledger: Ledger,
    pub(crate) memory: Memory,
    /// Why the call could not run as the model wrote it.
    rejected: Option<Box<Rejected>>,
    /// The call that runs, will run after a pause, or ran last.
    pub(crate) call: Option<Arc<Call<'static>>>,
    /// What rules changed in it.
    pub(crate) fixes: Arc<[Fix]>,
    loop_key: Option<LoopKey>,
    pub(crate) step: Step,
    /// What is reserved for the present step.
    held: Option<Reservation>,
    /// The circuit that the present step goes through.
    pass: Option<Pass>,
    /// What an approver is being asked to allow; `None` if only a replacement can run.
    pub(crate) chosen: Option<Chosen>,
    pub(crate) clock: Clock,
    pub(crate) events: Vec<Event>,
}

/// What a run knows about its past. It is what gets saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) number: u64,
    /// The number of the present step.
    pub(crate) steps: u64,
    pub(crate) raw: RawCall<'static>,
    pub(crate) context: Context,
    pub(crate) budget: Budget,
    /// The resolved tool, or the emitted name where it resolves to none.
    pub(crate) tool: Arc<str>,
    attempt: u32,
    round: u32,
    replacements: u32,
    failures: Vec<FailedAttempt>,
    refused: Vec<RefusedCandidate>,
    /// Canonical arguments that have failed.
    failed: BTreeSet<String>,
    /// Canonical arguments of repairs that were equally good.
    tied: BTreeSet<String>,
    /// The model's call was cut off: whatever completes it needs consent.
    is_cut: bool,
}

/// The time of a run. It never goes back.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Elapsed before the run was taken up again.
    pub(crate) before: Duration,
    pub(crate) started: Duration,
    /// When the present step was issued.
    pub(crate) since: Duration,
    pub(crate) now: Duration,
}

/// Arguments that were chosen to run next.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) call: Arc<Call<'static>>,
    pub(crate) fixes: Arc<[Fix]>,
    /// The place in the last proposal.
    pub(crate) candidate: Option<usize>,
}

// ---- the driver's side ----

impl CallRun {
    /// What to do next: the same until it is answered.
    pub fn step(&self) -> Step {
        self.step.clone()
    }

    /// Reports what came of the step that has this ticket, and says what to do next.
    pub fn answer(
        &mut self,
        ticket: Ticket,
        answer: Answer,
        now: Duration,
    ) -> Result<Step, OutOfStep> {
        match self.step.ticket() {
            None => return Err(OutOfStep::Done),
            Some(present) if present != ticket => return Err(OutOfStep::Ticket),
            Some(_) => self.pass_time(now),
        }
        match (self.step.clone(), answer) {
            (Step::Run { call, .. }, Answer::Ran { digest }) => self.succeed(call, digest),
            (
                Step::Run { .. },
                Answer::Failed {
                    class,
                    message,
                    may_have_run,
                    retry_after,
                },
            ) => {
                let mut error = CallError::new(class, message);
                error.may_have_run = may_have_run;
                self.tool_failed(error, retry_after);
            }
            (Step::Run { .. }, Answer::TimedOut) => {
                let mut error = CallError::new(ErrorClass::Transient, "the tool took too long");
                error.may_have_run = true;
                self.tool_failed(error, None);
            }
            (Step::Propose { failure, .. }, Answer::Proposed { proposal, usage }) => {
                self.proposed(&failure, proposal, usage);
            }
            (Step::Propose { failure, .. }, Answer::ProposeFailed { message, usage }) => {
                self.propose_failed(&failure, message, Some(usage));
            }
            (Step::Propose { failure, .. }, Answer::TimedOut) => {
                self.propose_failed(&failure, "it took too long".to_owned(), None);
            }
            (Step::Wait { until, .. }, Answer::Woke) => {
                if self.clock.now >= until {
                    self.run_reserved(None);
                }
            }
            (Step::Approve { .. }, Answer::Approved) => self.approved(),
            (Step::Approve { .. }, Answer::Denied { because }) => {
                self.give_up(GiveUpReason::Denied { because });
            }
            (Step::Approve { .. }, Answer::TimedOut) => {
                self.give_up(GiveUpReason::Denied { because: None });
            }
            (Step::Approve { request, .. }, Answer::Replaced { arguments }) => {
                self.replaced(&request, &arguments);
            }
            (_, Answer::Cancelled) => self.cancel(now),
            (step, _) => return Err(OutOfStep::Answer { step: step.name() }),
        }
        Ok(self.step())
    }

    /// Ends the run; does nothing if it has ended. A tool that was running may have had its effect.
    pub fn cancel(&mut self, now: Duration) {
        if matches!(self.step, Step::Done(_)) {
            return;
        }
        self.pass_time(now);
        if matches!(self.step, Step::Run { .. }) {
            let mut error = CallError::new(ErrorClass::Fatal, "the call was cancelled");
            error.may_have_run = true;
            self.settle(Amounts::ATTEMPT);
            self.note_failure(error);
        }
        self.give_up(GiveUpReason::Cancelled);
    }

    /// The events since the last time, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The run's number in its conversation.
    pub fn number(&self) -> u64 {
        self.memory.number
    }
}

// ---- the beginning ----

impl CallRun {
    pub(crate) fn start(shared: Arc<Shared>, request: Request, now: Duration) -> Self {
        let memory = Memory {
            number: shared.next_run(),
            steps: 0,
            tool: request.raw.name().into(),
            raw: request.raw,
            context: request.context,
            budget: request
                .budget
                .unwrap_or_else(|| shared.settings.run_budget.clone()),
            attempt: 0,
            round: 0,
            replacements: 0,
            failures: Vec::new(),
            refused: Vec::new(),
            failed: BTreeSet::new(),
            tied: BTreeSet::new(),
            is_cut: false,
        };
        let clock = Clock {
            before: Duration::ZERO,
            started: now,
            since: now,
            now,
        };
        let mut run = Self::assemble(shared, memory, Spent::default(), clock);
        run.begin();
        run
    }

    /// A run with its call repaired, before anything is done about it.
    pub(crate) fn assemble(
        shared: Arc<Shared>,
        mut memory: Memory,
        spent: Spent,
        clock: Clock,
    ) -> Self {
        let verdict = shared
            .tools()
            .repair(&memory.raw, &shared.policy)
            .into_owned();
        let (call, fixes, rejected) = match verdict {
            Verdict::Valid(call) => (Some(Arc::new(call)), Arc::default(), None),
            Verdict::Repaired(repaired) => (
                Some(Arc::new(repaired.call().clone().into_owned())),
                repaired.fixes().iter().cloned().collect(),
                None,
            ),
            Verdict::Rejected(rejected) => (None, Arc::default(), Some(rejected)),
        };
        let resolved = match (&call, &rejected) {
            (Some(call), _) => Some(call.tool()),
            (None, rejected) => rejected.as_ref().and_then(|rejected| rejected.tool()),
        };
        if let Some(tool) = resolved.filter(|tool| **tool != *memory.tool) {
            memory.tool = tool.into();
        }
        let account = Account::new(memory.budget.clone(), spent);
        let ticket = Ticket {
            run: memory.number,
            step: memory.steps,
        };
        let mut run = Self {
            ledger: Ledger::new(account, Arc::clone(&shared.account)),
            shared,
            memory,
            rejected,
            call,
            fixes,
            loop_key: None,
            // Nothing to do yet: replaced before anybody sees it.
            step: Step::Wait {
                ticket,
                until: clock.now,
            },
            held: None,
            pass: None,
            chosen: None,
            clock,
            events: Vec::new(),
        };
        run.loop_key = run.loop_key();
        run
    }

    fn begin(&mut self) {
        if let Some(rejected) = &self.rejected {
            let error = CallError::new(rejected.reason().into(), rejected.feedback());
            self.memory.is_cut = rejected.reason() == Reason::Truncated;
            self.note_failure(error.clone());
            if self.is_loop() {
                return self.give_up(GiveUpReason::Loop);
            }
            // The first try is one, even if it never gets to the tool.
            return match self.ledger.attempt() {
                Ok(attempt) => {
                    attempt.settle(Amounts::ATTEMPT);
                    self.decide(&error, None);
                }
                Err(reason) => self.give_up(reason),
            };
        }
        if !self.fixes.is_empty() {
            self.emit(EventKind::Repaired {
                arguments: self.arguments(),
                fixes: Arc::clone(&self.fixes),
            });
        }
        if self.is_loop() {
            return self.give_up(GiveUpReason::Loop);
        }
        match self.ledger.attempt() {
            Ok(attempt) => {
                self.held = Some(attempt);
                self.run_reserved(None);
            }
            Err(reason) => self.give_up(reason),
        }
    }

    fn loop_key(&self) -> Option<LoopKey> {
        let settings = &self.shared.settings;
        let tool = &self.memory.tool;
        if settings.loop_limit == 0 || settings.polling.contains(&**tool) {
            return None;
        }
        let is_unknown = self
            .rejected
            .as_ref()
            .is_some_and(|rejected| ErrorClass::from(rejected.reason()) == ErrorClass::UnknownTool);
        Some(match is_unknown {
            true => LoopKey::UNKNOWN_TOOL,
            false => LoopKey::call(tool, self.arguments_text()),
        })
    }

    fn is_loop(&self) -> bool {
        self.loop_key
            .is_some_and(|key| self.shared.loops.blocks(key))
    }
}

// ---- running the tool ----

impl CallRun {
    /// Runs the call, for which an attempt is reserved. `announce` is what this try is about.
    fn run_reserved(&mut self, announce: Option<EventKind>) {
        let Some(call) = self.call.clone() else {
            return self.give_up(GiveUpReason::NoCandidate);
        };
        let tools = self.shared.tools();
        if tools.spec(call.tool()).is_none() {
            return self.give_up(GiveUpReason::UnknownTool);
        }
        if !tools.permits(call.tool()) {
            return self.give_up(GiveUpReason::NotPermitted);
        }
        if let Err(reason) = self.ledger.has_time(Duration::ZERO) {
            return self.give_up(reason);
        }
        let Some(pass) = self
            .shared
            .tool_circuits
            .pass(&self.memory.tool, self.clock.now)
        else {
            let name = self.memory.tool.to_string();
            return self.give_up(GiveUpReason::CircuitOpen { name });
        };
        if let Some(event) = announce {
            self.memory.attempt += 1;
            self.emit(event);
        }
        self.pass = Some(pass);
        let deadline = self
            .ledger
            .deadline(self.clock.now, |budget| budget.attempt_timeout);
        self.issue(|ticket| Step::Run {
            ticket,
            call,
            deadline,
        });
    }

    fn succeed(&mut self, call: Arc<Call<'static>>, digest: ResultDigest) {
        self.settle(Amounts::ATTEMPT);
        self.report(Pass::worked);
        self.emit(EventKind::Succeeded {
            arguments: self.arguments(),
            digest,
        });
        self.remember_result(LoopResult::success(digest));
        self.finish(End::Succeeded { call, digest });
    }

    fn tool_failed(&mut self, error: CallError, retry_after: Option<Duration>) {
        self.settle(Amounts::ATTEMPT);
        let now = self.clock.now;
        match error.class.strategy() {
            Strategy::Retry => self.report(|pass| pass.failed(now)),
            Strategy::Repair | Strategy::Debug => self.report(Pass::worked),
            Strategy::GiveUp => self.report(drop),
        }
        self.note_failure(error.clone());
        self.decide(&error, retry_after);
    }

    pub(crate) fn note_failure(&mut self, error: CallError) {
        let arguments = self.arguments();
        let may_have_run = error.may_have_run;
        if error.class.strategy() != Strategy::Retry {
            let canonical = canonical_json(&arguments);
            self.memory.failed.extend(canonical);
        }
        self.memory.failures.push(FailedAttempt {
            attempt: self.memory.attempt,
            call: FailedCall {
                tool: Arc::clone(&self.memory.tool),
                arguments: Arc::clone(&arguments),
            },
            error,
        });
        self.emit(EventKind::Failed {
            arguments,
            may_have_run,
        });
    }

    /// What follows a failure.
    pub(crate) fn decide(&mut self, error: &CallError, retry_after: Option<Duration>) {
        match error.class.strategy() {
            Strategy::GiveUp => self.give_up(match error.class {
                ErrorClass::NotPermitted => GiveUpReason::NotPermitted,
                ErrorClass::Denied => GiveUpReason::Denied { because: None },
                _ => GiveUpReason::Fatal,
            }),
            _ if error.may_have_run && !is_repeatable(self.effect()) => {
                self.give_up(GiveUpReason::MayHaveRun);
            }
            Strategy::Retry => self.back_off(retry_after),
            Strategy::Repair | Strategy::Debug => self.debug(),
        }
    }

    /// The same call again, after a pause.
    fn back_off(&mut self, retry_after: Option<Duration>) {
        let attempt = match self.ledger.attempt() {
            Ok(attempt) => attempt,
            Err(reason) => return self.give_up(reason),
        };
        let in_a_row = self.memory.failures.iter().rev();
        let in_a_row = in_a_row.take_while(|failure| failure.error.class == ErrorClass::Transient);
        let in_a_row = u32::try_from(in_a_row.count()).unwrap_or(u32::MAX);
        let settings = &self.shared.settings;
        let chance = mix(settings.seed, self.memory.number, u64::from(in_a_row));
        let pause = settings.backoff.pause(in_a_row, chance);
        let pause = pause.max(retry_after.unwrap_or_default());
        if let Err(reason) = self.ledger.has_time(pause) {
            return self.give_up(reason);
        }
        let until = self.clock.now.saturating_add(pause);
        self.memory.attempt += 1;
        self.emit(EventKind::Retrying {
            strategy: Strategy::Retry,
            candidate: None,
            arguments: self.arguments(),
            until: Some(until),
        });
        self.pause(attempt, until);
    }

    /// Waits, with an attempt reserved for afterwards.
    pub(crate) fn pause(&mut self, attempt: Reservation, until: Duration) {
        self.held = Some(attempt);
        self.issue(|ticket| Step::Wait { ticket, until });
    }
}

// ---- candidates ----

impl CallRun {
    /// Other arguments, if there is a try left for them.
    fn debug(&mut self) {
        let by_rule = self.rule_candidates();
        // Only looked at; it is reserved again once there is something to run.
        match self.ledger.attempt().map(drop) {
            Ok(()) => self.ask(by_rule),
            Err(reason) => self.give_up(reason),
        }
    }

    /// What the rules propose for the model's own call.
    fn rule_candidates(&mut self) -> Vec<Candidate> {
        let Some(rejected) = self.rejected.as_ref().filter(|_| self.call.is_none()) else {
            return Vec::new();
        };
        let is_tie = rejected.reason() == Reason::Ambiguous;
        let candidates = rejected.candidates().iter().map(|candidate| Candidate {
            tied: is_tie,
            ..Candidate::from(candidate)
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let tied = candidates.iter().filter(|candidate| candidate.tied);
        let tied = tied.filter_map(|candidate| canonical_json(&candidate.text()));
        self.memory.tied.extend(tied);
        candidates
    }

    /// Asks the debugger; where that is not possible, what the rules propose has to do.
    pub(crate) fn ask(&mut self, by_rule: Vec<Candidate>) {
        if let Err((reason, by_rule)) = self.try_to_ask(by_rule) {
            if !by_rule.is_empty() {
                self.emit(EventKind::Proposed {
                    round: None,
                    candidates: by_rule.clone().into(),
                    gave_up: None,
                    usage: Usage::default(),
                });
            }
            self.consider(&by_rule, Some(reason));
        }
    }

    fn try_to_ask(
        &mut self,
        by_rule: Vec<Candidate>,
    ) -> Result<(), (GiveUpReason, Vec<Candidate>)> {
        let (spec, error, earlier) = match self.to_debug() {
            Ok(subject) => subject,
            Err(reason) => return Err((reason, by_rule)),
        };
        let settings = &self.shared.settings;
        let failure = Failure {
            effect: self.effect(),
            spec,
            call: error.call,
            error: error.error,
            attempt: error.attempt,
            round: self.memory.round,
            earlier,
            refused: self.memory.refused.clone(),
            by_rule,
            wanted: settings.wanted_candidates,
            context: Arc::clone(&self.memory.context),
        };
        let question = tokens_of(&failure);
        let answer = settings.answer_tokens;
        let least = question.saturating_add(answer.min(LEAST_ANSWER_TOKENS));
        let held = self.ledger.round(
            question.saturating_add(answer),
            least,
            settings.round_cost_micros,
        );
        let endpoint = &settings.endpoint;
        let pass = self.shared.endpoint_circuits.pass(endpoint, self.clock.now);
        let (held, pass) = match (held, pass) {
            (Ok(held), Some(pass)) => (held, pass),
            (Err(reason), _) => return Err((reason, failure.by_rule)),
            (_, None) => {
                let name = endpoint.to_string();
                return Err((GiveUpReason::CircuitOpen { name }, failure.by_rule));
            }
        };
        let max_tokens = held.tokens().saturating_sub(question);
        (self.held, self.pass) = (Some(held), Some(pass));
        let deadline = self
            .ledger
            .deadline(self.clock.now, |budget| budget.round_timeout);
        self.issue(|ticket| Step::Propose {
            ticket,
            failure: Arc::new(failure),
            deadline,
            max_tokens,
        });
        Ok(())
    }

    /// What a debugger would be asked about, if a debugger can help at all.
    fn to_debug(&self) -> Result<(ToolSpec, FailedAttempt, Vec<FailedAttempt>), GiveUpReason> {
        let Some((last, earlier)) = self.memory.failures.split_last() else {
            return Err(GiveUpReason::NoCandidate);
        };
        if last.error.class == ErrorClass::UnknownTool {
            return Err(GiveUpReason::UnknownTool);
        }
        let tools = self.shared.tools();
        let spec = tools.spec(&self.memory.tool);
        let spec = spec.filter(|spec| tools.validates(spec.name()));
        let spec = spec.ok_or(GiveUpReason::NoSchema)?;
        if last.error.message.trim().is_empty() {
            return Err(GiveUpReason::NoMessage);
        }
        Ok((spec.clone(), last.clone(), earlier.to_vec()))
    }

    fn proposed(&mut self, failure: &Failure, proposal: Proposal, usage: Usage) {
        self.settle(Amounts::round(&usage));
        self.report(Pass::worked);
        let (candidates, gave_up) = match proposal {
            Proposal::Candidates(candidates) => (candidates, None),
            Proposal::GiveUp { reason } => (Vec::new(), Some(reason)),
        };
        let otherwise = match &gave_up {
            Some(because) => Some(GiveUpReason::DebuggerGaveUp {
                because: because.clone(),
            }),
            // Asked the same again, it would say the same again.
            None => candidates.is_empty().then_some(GiveUpReason::NoCandidate),
        };
        self.gathered(failure, candidates, gave_up, usage, otherwise);
    }

    fn propose_failed(&mut self, failure: &Failure, message: String, usage: Option<Usage>) {
        match &usage {
            Some(usage) => self.settle(Amounts::round(usage)),
            // Nobody knows what it used.
            None => self
                .held
                .take()
                .into_iter()
                .for_each(Reservation::settle_in_full),
        }
        let now = self.clock.now;
        self.report(|pass| pass.failed(now));
        let otherwise = GiveUpReason::DebuggerFailed {
            because: message.clone(),
        };
        self.gathered(
            failure,
            Vec::new(),
            Some(message),
            usage.unwrap_or_default(),
            Some(otherwise),
        );
    }

    /// The end of a round: all candidates are on the table.
    fn gathered(
        &mut self,
        failure: &Failure,
        mut candidates: Vec<Candidate>,
        gave_up: Option<String>,
        usage: Usage,
        otherwise: Option<GiveUpReason>,
    ) {
        let too_many = candidates
            .get(MOST_CANDIDATES)
            .map(|first| first.text().into());
        candidates.truncate(MOST_CANDIDATES);
        candidates.extend(failure.by_rule.iter().cloned());
        let candidates: Vec<Candidate> = candidates
            .into_iter()
            .map(Candidate::with_sound_confidence)
            .collect();
        self.emit(EventKind::Proposed {
            round: Some(failure.round),
            candidates: candidates.clone().into(),
            gave_up: gave_up.map(Into::into),
            usage,
        });
        if let Some(arguments) = too_many {
            self.emit(EventKind::CandidateRejected {
                candidate: None,
                arguments,
                why: Rejection::TooMany,
            });
        }
        self.memory.round += 1;
        self.consider(&candidates, otherwise);
    }

    /// Takes the best candidate that is a call; without one, asks again or gives up.
    fn consider(&mut self, candidates: &[Candidate], otherwise: Option<GiveUpReason>) {
        let tools = self.shared.tools();
        let base = self.arguments();
        let message = self.message();
        let known = Known::new(
            [self.memory.raw.arguments().unwrap_or_default(), &base],
            tools.spec(&self.memory.tool).and_then(ToolSpec::schema),
            &message,
            &self.memory.context,
        );
        let ground = Ground {
            base: &base,
            failed: &self.memory.failed,
            known,
            min_confidence: self.shared.settings.min_confidence,
        };
        let (ranked, dropped) = rank(candidates, &ground);
        for dropped in dropped {
            self.refuse(Some(dropped.index), dropped.arguments, dropped.why);
        }
        let (mut novel, mut missing) = (None, None);
        for candidate in ranked {
            let why = match self.check(&tools, &candidate.arguments) {
                Checked::Call(call, _) if self.has_failed(&call) => Rejection::AlreadyFailed,
                // Ranked last: it has to wait for one that invents nothing.
                Checked::Call(call, fixes) if candidate.novel => {
                    novel.get_or_insert((candidate, call, fixes));
                    continue;
                }
                Checked::Call(call, fixes) => return self.choose(candidate, call, fixes),
                Checked::Refused(why) => why,
                Checked::Missing(paths) => {
                    missing.get_or_insert_with(|| (candidate.clone(), paths));
                    Rejection::MissingValue
                }
            };
            self.refuse(Some(candidate.index), candidate.arguments, why);
        }
        if let Some((candidate, call, fixes)) = novel {
            return self.choose(candidate, call, fixes);
        }
        match (missing, otherwise) {
            (Some((candidate, paths)), _) => self.escalate_missing(&candidate, paths),
            (None, Some(reason)) => self.give_up(reason),
            (None, None) => self.ask(Vec::new()),
        }
    }

    fn check(&self, tools: &ToolSet, arguments: &str) -> Checked {
        let mut raw = RawCall::new(&*self.memory.tool, arguments);
        if let Some(id) = self.memory.raw.id() {
            raw = raw.with_id(id);
        }
        check(tools, &self.shared.policy, raw)
    }

    fn has_failed(&self, call: &Call<'_>) -> bool {
        canonical_json(call.arguments().text())
            .is_some_and(|canonical| self.memory.failed.contains(&canonical))
    }

    fn refuse(&mut self, candidate: Option<usize>, arguments: String, why: Rejection) {
        let arguments: Arc<str> = arguments.into();
        self.memory.refused.push(RefusedCandidate {
            arguments: Arc::clone(&arguments),
            why: why.to_string().into(),
        });
        self.emit(EventKind::CandidateRejected {
            candidate,
            arguments,
            why,
        });
    }

    fn choose(&mut self, candidate: Ranked, call: Arc<Call<'static>>, fixes: Vec<Fix>) {
        let reasons = self.reasons_to_ask(&candidate);
        let by_rule = if candidate.by_rule_only.is_some() {
            candidate.fixes.clone()
        } else {
            Vec::new()
        };
        let chosen = Chosen {
            call,
            fixes: by_rule.into_iter().chain(fixes).collect(),
            candidate: Some(candidate.index),
        };
        if reasons.is_empty() {
            return self.retry(chosen);
        }
        let request = ApprovalRequest {
            reasons,
            origin: Some(candidate.origin),
            confidence: candidate.confidence,
            rationale: candidate.rationale.into(),
            ..self.request(chosen.call.arguments().text())
        };
        self.escalate(request, Some(chosen));
    }

    /// Runs chosen arguments, if there is a try left for them.
    fn retry(&mut self, chosen: Chosen) {
        let attempt = match self.ledger.attempt() {
            Ok(attempt) => attempt,
            Err(reason) => return self.give_up(reason),
        };
        let class = self.last_error().map(|error| error.class);
        self.held = Some(attempt);
        self.call = Some(chosen.call);
        self.fixes = chosen.fixes;
        self.run_reserved(Some(EventKind::Retrying {
            strategy: class.map_or(Strategy::Debug, ErrorClass::strategy),
            candidate: chosen.candidate,
            arguments: self.arguments(),
            until: None,
        }));
    }
}

// ---- approval ----

impl CallRun {
    /// Why a candidate does not run without consent.
    fn reasons_to_ask(&self, candidate: &Ranked) -> Vec<ApprovalReason> {
        let effect = self.effect();
        let settings = &self.shared.settings;
        let accepts = |risk, loss| {
            let policy = &self.shared.policy;
            policy.accepts(&self.memory.tool, effect, risk, loss)
        };
        let is_risky = candidate.by_rule_only.is_some_and(|risk| {
            !accepts(risk, None)
                || !candidate
                    .fixes
                    .iter()
                    .all(|fix| accepts(fix.risk, fix.loss))
        });
        let is_tied = candidate.tied || self.memory.tied.contains(&candidate.canonical);
        [
            (
                is_closed(effect) || settings.fail_closed,
                ApprovalReason::FailClosed,
            ),
            (
                candidate.novel && !is_repeatable(effect),
                ApprovalReason::Novel,
            ),
            (is_tied, ApprovalReason::Tie),
            (
                candidate.from_cut || self.memory.is_cut,
                ApprovalReason::Cut,
            ),
            (is_risky, ApprovalReason::Risk),
            (
                !is_at_least(candidate.confidence, settings.review_below),
                ApprovalReason::LowConfidence,
            ),
        ]
        .into_iter()
        .filter_map(|(applies, reason)| applies.then_some(reason))
        .collect()
    }

    fn request(&self, arguments: &str) -> ApprovalRequest {
        ApprovalRequest {
            tool: Arc::clone(&self.memory.tool),
            effect: self.effect(),
            arguments: arguments.into(),
            failed: self.arguments(),
            error: self.message(),
            reasons: Vec::new(),
            missing: Vec::new(),
            origin: None,
            confidence: 1.0,
            rationale: Arc::default(),
        }
    }

    fn escalate_missing(&mut self, candidate: &Ranked, missing: Vec<String>) {
        let request = ApprovalRequest {
            reasons: vec![ApprovalReason::MissingValue],
            missing,
            origin: Some(Origin::Model),
            confidence: candidate.confidence,
            rationale: candidate.rationale.as_str().into(),
            ..self.request(&candidate.arguments)
        };
        self.escalate(request, None);
    }

    fn escalate(&mut self, request: ApprovalRequest, chosen: Option<Chosen>) {
        let request = Arc::new(request);
        self.chosen = chosen;
        self.emit(EventKind::Escalated {
            request: Arc::clone(&request),
        });
        self.issue(|ticket| Step::Approve { ticket, request });
    }

    fn approved(&mut self) {
        match self.chosen.take() {
            Some(chosen) => self.retry(chosen),
            None => self.give_up(GiveUpReason::Denied {
                because: Some("a required value is still missing".to_owned()),
            }),
        }
    }

    /// The approver's own arguments: checked like any others, and shown once more as they would
    /// run.
    fn replaced(&mut self, request: &ApprovalRequest, arguments: &str) {
        self.memory.replacements += 1;
        if self.memory.replacements > MOST_REPLACEMENTS {
            return self.give_up(GiveUpReason::Denied {
                because: Some("the arguments were replaced too often".to_owned()),
            });
        }
        let why = match self.check(&self.shared.tools(), arguments) {
            Checked::Call(call, fixes) if !self.has_failed(&call) => {
                let request = ApprovalRequest {
                    reasons: vec![ApprovalReason::Replaced],
                    ..self.request(call.arguments().text())
                };
                let chosen = Chosen {
                    call,
                    fixes: fixes.into(),
                    candidate: None,
                };
                return self.escalate(request, Some(chosen));
            }
            Checked::Call(..) => Rejection::AlreadyFailed,
            Checked::Refused(why) => why,
            Checked::Missing(_) => Rejection::MissingValue,
        };
        self.refuse(None, arguments.to_owned(), why);
        let chosen = self.chosen.take();
        self.escalate(request.clone(), chosen);
    }
}

// ---- the end ----

impl CallRun {
    pub(crate) fn give_up(&mut self, reason: GiveUpReason) {
        let original = match self.memory.failures.first() {
            Some(first) => first.error.clone(),
            None => CallError::new(ErrorClass::Fatal, reason.to_string()),
        };
        self.emit(EventKind::GaveUp {
            reason: reason.clone(),
            original: original.clone(),
        });
        let is_told = !matches!(
            reason,
            GiveUpReason::Cancelled | GiveUpReason::CircuitOpen { .. } | GiveUpReason::Loop
        );
        let is_transient = |failure: &FailedAttempt| failure.error.class == ErrorClass::Transient;
        if is_told && !self.memory.failures.iter().any(is_transient) {
            self.remember_result(LoopResult::error(&original.message));
        }
        self.finish(End::GaveUp { reason, original });
    }

    fn remember_result(&self, result: LoopResult) {
        let Some(key) = self.loop_key else { return };
        let result = match key {
            LoopKey::UNKNOWN_TOOL => LoopResult::UNKNOWN_TOOL,
            _ => result,
        };
        let changed = matches!(
            self.effect(),
            Effect::Idempotent | Effect::Mutating | Effect::Destructive
        );
        self.shared.loops.record(key, result, changed);
    }

    fn finish(&mut self, end: End) {
        (self.held, self.pass, self.chosen) = (None, None, None);
        let note = match &end {
            End::Succeeded { call, .. } if !self.fixes.is_empty() => {
                lock(&self.shared.teacher).teach_fixes(call.tool(), self.fixes.iter())
            }
            _ => String::new(),
        };
        let history = self.history(&end);
        self.step = Step::Done(Arc::new(Outcome {
            end,
            failures: std::mem::take(&mut self.memory.failures),
            fixes: Arc::clone(&self.fixes),
            note,
            history,
            spent: self.ledger.spent(),
        }));
    }

    fn history(&self, end: &End) -> HistoryCall {
        let may_have_run = self.last_error().is_some_and(|error| error.may_have_run);
        match (end, &self.rejected, &self.call) {
            (End::Succeeded { call, .. }, _, _) => call.history_call(),
            (_, _, Some(call)) if may_have_run => call.history_call(),
            (_, Some(rejected), _) => rejected.history_call(),
            _ => self
                .shared
                .tools()
                .repair(&self.memory.raw, &self.shared.policy)
                .history_call(),
        }
    }
}

// ---- small things ----

impl CallRun {
    /// Charges the time of the present step. Waiting for an approver is free.
    fn pass_time(&mut self, now: Duration) {
        self.clock.now = self.clock.now.max(now);
        let spent = self.clock.now.saturating_sub(self.clock.since);
        self.clock.since = self.clock.now;
        if !matches!(self.step, Step::Approve { .. }) {
            self.ledger.spend_time(spent);
        }
    }

    fn issue(&mut self, step: impl FnOnce(Ticket) -> Step) {
        self.memory.steps += 1;
        self.step = step(Ticket {
            run: self.memory.number,
            step: self.memory.steps,
        });
    }

    fn settle(&mut self, used: Amounts) {
        if let Some(held) = self.held.take() {
            held.settle(used);
        }
    }

    fn report(&mut self, report: impl FnOnce(Pass)) {
        if let Some(pass) = self.pass.take() {
            report(pass);
        }
    }

    fn effect(&self) -> Effect {
        let tools = self.shared.tools();
        let declared = tools.spec(&self.memory.tool).map(ToolSpec::effect);
        self.shared
            .policy
            .effect(&self.memory.tool, declared.unwrap_or_default())
    }

    fn last_error(&self) -> Option<&CallError> {
        self.memory.failures.last().map(|failure| &failure.error)
    }

    fn message(&self) -> Arc<str> {
        self.last_error()
            .map(|error| Arc::clone(&error.message))
            .unwrap_or_default()
    }

    /// The arguments that run or ran last, or that the model wrote where nothing ran yet.
    fn arguments_text(&self) -> &str {
        match &self.call {
            Some(call) => call.arguments().text(),
            None => self.memory.raw.arguments().unwrap_or_default(),
        }
    }

    fn arguments(&self) -> Arc<str> {
        self.arguments_text().into()
    }

    fn emit(&mut self, kind: EventKind) {
        let Memory {
            number,
            raw,
            tool,
            attempt,
            ..
        } = &self.memory;
        let emitted_name = match raw.name() == &**tool {
            true => Arc::clone(tool),
            false => raw.name().into(),
        };
        let error = self.last_error();
        self.events.push(Event {
            number: self.shared.next_event(),
            conversation: Arc::clone(&self.shared.settings.id),
            run: *number,
            call: raw.id().map(Arc::from),
            tool: Arc::clone(tool),
            emitted_name,
            attempt: *attempt,
            at: self.clock.now,
            elapsed: self.clock.elapsed(),
            left: self.ledger.left(),
            class: error.map(|error| error.class),
            message: error.map(|error| Arc::clone(&error.message)),
            kind,
        });
    }
}

impl Clock {
    pub(crate) fn elapsed(&self) -> Duration {
        self.before
            .saturating_add(self.now.saturating_sub(self.started))
    }
}

/// Whether running a tool twice is the same as running it once.
fn is_repeatable(effect: Effect) -> bool {
    matches!(effect, Effect::ReadOnly | Effect::Idempotent)
}

/// Whether nothing but the model's own call may run without consent. An effect that this version
/// does not know is no safe one.
fn is_closed(effect: Effect) -> bool {
    !matches!(
        effect,
        Effect::ReadOnly | Effect::Idempotent | Effect::Mutating | Effect::Unknown
    )
}

/// About how many tokens it takes to describe a failure.
fn tokens_of(failure: &Failure) -> u64 {
    let bytes = serde_json::to_vec(failure).map_or(0, |text| text.len());
    u64::try_from(bytes / 3).unwrap_or(u64::MAX)
}
