//! The beginning: the call is repaired, and loops are blocked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use repair_core::{Effect, Reason, Verdict};

use super::{CallRun, Clock, Memory};
use crate::budget::Spent;
use crate::class::ErrorClass;
use crate::conversation::Shared;
use crate::event::EventKind;
use crate::failure::CallError;
use crate::ledger::{Account, Amounts, Ledger};
use crate::loops::LoopKey;
use crate::outcome::GiveUpReason;
use crate::settings::Request;
use crate::step::{Step, Ticket};

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
            effect: Effect::default(),
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
    pub(super) fn assemble(
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
        self.memory.effect = self.effect();
        if let Some(rejected) = &self.rejected {
            let error = CallError::new(rejected.reason().into(), rejected.feedback());
            self.memory.is_cut = rejected.reason() == Reason::Truncated;
            self.note_failure(&error);
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
                emitted: self.memory.raw.arguments().unwrap_or_default().into(),
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
        Some(if is_unknown {
            LoopKey::UNKNOWN_TOOL
        } else {
            LoopKey::call(tool, self.arguments_text())
        })
    }

    fn is_loop(&self) -> bool {
        self.loop_key
            .is_some_and(|key| self.shared.loops.blocks(key))
    }
}
