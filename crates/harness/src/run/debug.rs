//! Other arguments: what rules and debugger propose, and which of it runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use repair_core::{Call, Fix, RawCall, Reason, ToolSet, ToolSpec, canonical_json};

use super::consent::is_closed;
use super::{CallRun, Chosen};
use crate::approval::ApprovalRequest;
use crate::budget::Usage;
use crate::candidate::{Candidate, Proposal};
use crate::check::{Checked, check};
use crate::circuit::Pass;
use crate::class::{ErrorClass, Strategy};
use crate::event::{EventKind, Rejection};
use crate::failure::{FailedAttempt, Failure, RefusedCandidate};
use crate::ledger::{Amounts, Reservation};
use crate::novelty::Known;
use crate::outcome::GiveUpReason;
use crate::ranking::{Ground, Ranked, rank};
use crate::step::Step;

/// Most candidates of a proposal that are looked at.
const MOST_CANDIDATES: usize = 32;
/// Fewest tokens worth asking a debugger for, unless the host allows it fewer.
const LEAST_ANSWER_TOKENS: u64 = 64;

impl CallRun {
    /// Other arguments, if there is a try left for them.
    pub(super) fn debug(&mut self) {
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
    pub(super) fn ask(&mut self, by_rule: Vec<Candidate>) {
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
        if !tools.permits(&self.memory.tool) {
            return Err(GiveUpReason::NotPermitted);
        }
        let spec = tools.spec(&self.memory.tool);
        let spec = spec.filter(|spec| tools.validates(spec.name()));
        let spec = spec.ok_or(GiveUpReason::NoSchema)?;
        if last.error.message.trim().is_empty() {
            return Err(GiveUpReason::NoMessage);
        }
        let settings = &self.shared.settings;
        if !settings.has_approver && (settings.fail_closed || is_closed(self.effect())) {
            // Whatever is proposed could not run.
            return Err(GiveUpReason::Denied { because: None });
        }
        Ok((spec.clone(), last.clone(), earlier.to_vec()))
    }

    pub(super) fn proposed(&mut self, failure: &Failure, proposal: Proposal, usage: Usage) {
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

    pub(super) fn propose_failed(
        &mut self,
        failure: &Failure,
        message: String,
        usage: Option<Usage>,
    ) {
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
        let refused_before = self.memory.refused.len();
        let tools = self.shared.tools();
        let base = self.arguments();
        let message = self.message();
        let emitted = self.memory.raw.arguments().unwrap_or_default().to_owned();
        let context = Arc::clone(&self.memory.context);
        let known = Known::new(
            [&*emitted, &base],
            tools.spec(&self.memory.tool).and_then(ToolSpec::schema),
            &message,
            &context,
        );
        let ground = Ground {
            base: &base,
            failed: &self.memory.failed,
            min_confidence: self.shared.settings.min_confidence,
        };
        let (ranked, dropped) = rank(candidates, &ground);
        for dropped in dropped {
            self.refuse(Some(dropped.index), dropped.arguments, dropped.why);
        }
        let (mut novel, mut missing) = (Vec::new(), None);
        for candidate in ranked {
            let why = match self.check(&tools, &candidate.arguments) {
                Checked::Call(call, _) if self.has_failed(&call) => Rejection::AlreadyFailed,
                // Ranked last: it has to wait for one that invents nothing.
                Checked::Call(call, fixes) if known.lacks_any_of(call.arguments().value()) => {
                    novel.push((candidate, call, fixes));
                    continue;
                }
                Checked::Call(call, fixes) => {
                    if self.choose(&candidate, call, fixes, false) {
                        return;
                    }
                    Rejection::NeedsConsent
                }
                Checked::Refused(why) => why,
                Checked::Missing(paths) => {
                    missing.get_or_insert_with(|| (candidate.clone(), paths));
                    Rejection::MissingValue
                }
            };
            self.refuse(Some(candidate.index), candidate.arguments, why);
        }
        for (candidate, call, fixes) in novel {
            if self.choose(&candidate, call, fixes, true) {
                return;
            }
            self.refuse(
                Some(candidate.index),
                candidate.arguments,
                Rejection::NeedsConsent,
            );
        }
        let missing = missing.filter(|_| self.shared.settings.has_approver);
        match (missing, otherwise) {
            (Some((candidate, paths)), _) => self.escalate_missing(&candidate, paths),
            (None, Some(reason)) => self.give_up(reason),
            // Told so, the debugger said the same again.
            (None, None) if !self.was_new(refused_before) => {
                self.give_up(GiveUpReason::NoCandidate);
            }
            (None, None) => self.ask(Vec::new()),
        }
    }

    /// Whether any refused candidate from this place on had not been refused before.
    fn was_new(&self, from: usize) -> bool {
        let canonical = |refused: &RefusedCandidate| {
            canonical_json(&refused.arguments).unwrap_or_else(|| refused.arguments.to_string())
        };
        let (earlier, now) = self.memory.refused.split_at(from);
        let known: BTreeSet<String> = earlier.iter().map(canonical).collect();
        !now.iter()
            .map(canonical)
            .all(|refused| known.contains(&refused))
    }

    pub(super) fn check(&self, tools: &ToolSet, arguments: &str) -> Checked {
        let mut raw = RawCall::new(&*self.memory.tool, arguments);
        if let Some(id) = self.memory.raw.id() {
            raw = raw.with_id(id);
        }
        check(tools, &self.shared.policy, &raw)
    }

    pub(super) fn has_failed(&self, call: &Call<'_>) -> bool {
        canonical_json(call.arguments().text())
            .is_some_and(|canonical| self.memory.failed.contains(&canonical))
    }

    pub(super) fn refuse(&mut self, candidate: Option<usize>, arguments: String, why: Rejection) {
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

    /// Runs a candidate, or asks for consent; `false` if it needs consent and nobody can give it.
    fn choose(
        &mut self,
        candidate: &Ranked,
        call: Arc<Call<'static>>,
        fixes: Vec<Fix>,
        is_novel: bool,
    ) -> bool {
        let reasons = self.reasons_to_ask(candidate, &call, is_novel);
        if !reasons.is_empty() && !self.shared.settings.has_approver {
            return false;
        }
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
            self.memory.effect = self.effect();
            self.retry(chosen);
            return true;
        }
        let request = ApprovalRequest {
            reasons,
            origin: Some(candidate.origin),
            confidence: candidate.confidence,
            rationale: candidate.rationale.as_str().into(),
            ..self.request(chosen.call.arguments().text())
        };
        self.escalate(request, Some(chosen));
        true
    }

    /// Runs chosen arguments, if there is a try left for them.
    pub(super) fn retry(&mut self, chosen: Chosen) {
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

/// About how many tokens it takes to describe a failure.
fn tokens_of(failure: &Failure) -> u64 {
    let bytes = serde_json::to_vec(failure).map_or(0, |text| text.len());
    u64::try_from(bytes / 3).unwrap_or(u64::MAX)
}
