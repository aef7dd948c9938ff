//! Reading a log: its lines are put together to runs again.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{Body, CandidateRecord, FixRecord, Record, RunRef, SCHEMA_VERSION};
use super::redact::Redactor;
use super::scribe::redact_line;

/// A failed try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureRow {
    /// Which try; the first is 0.
    pub attempt: u32,
    /// The arguments that failed.
    pub arguments: String,
    /// The class of the error.
    pub class: Option<String>,
    /// The message of the error.
    pub message: Option<String>,
}

/// One proposal, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CandidateRow {
    /// Which round with a debugger; the first is 0. Absent if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The proposal.
    #[serde(flatten)]
    pub candidate: CandidateRecord,
    /// The model that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it was dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

/// Who made the arguments that ran last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChosenBy {
    /// Rules, before the first try.
    Repair,
    /// A candidate of a rule.
    Rule,
    /// A candidate of a model.
    Model,
    /// An approver.
    Approver,
    /// Nobody: the same arguments ran again.
    Retry,
}

/// The arguments that ran last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Chosen {
    /// Who made them.
    pub by: ChosenBy,
    /// The candidate's place among all of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<usize>,
    /// The arguments.
    pub arguments: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultRow {
    /// The tool ran without an error.
    Succeeded {
        /// The arguments that ran.
        arguments: String,
        /// A digest of the result.
        digest: String,
    },
    /// Nothing more was tried.
    GaveUp {
        /// Why.
        reason: String,
    },
}

/// One round with a debugger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoundRow {
    /// The model, if one answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens that it read.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Cost in millionths of a currency unit.
    pub cost_micros: u64,
    /// Why it proposed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gave_up: Option<String>,
}

/// A whole run: a row of the dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Run {
    /// The version of the schema.
    pub v: u32,
    /// When it ended.
    pub time: String,
    /// The conversation.
    pub conversation: String,
    /// The run in its conversation.
    pub run: u64,
    /// The tool.
    pub tool: String,
    /// The arguments as the model wrote them, where rules changed the call before it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted: Option<String>,
    /// The first failed try; none if rules made the call right before it ran.
    pub failure: Option<FailureRow>,
    /// Further failed tries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureRow>,
    /// What rules changed before the first try.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixRecord>,
    /// All candidates.
    pub candidates: Vec<CandidateRow>,
    /// The arguments that ran last, if they are not the model's own.
    pub chosen: Option<Chosen>,
    /// How it ended.
    pub result: ResultRow,
    /// The rounds with a debugger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundRow>,
}

impl Run {
    /// Whether nothing was wrong.
    pub fn was_clean(&self) -> bool {
        self.failure.is_none() && self.fixes.is_empty() && self.succeeded()
    }

    /// Whether the tool ran without an error.
    pub fn succeeded(&self) -> bool {
        matches!(self.result, ResultRow::Succeeded { .. })
    }
}

/// A run whose end was not read yet.
#[derive(Debug, Default)]
struct Open {
    emitted: Option<String>,
    failures: Vec<FailureRow>,
    fixes: Vec<FixRecord>,
    candidates: Vec<CandidateRow>,
    chosen: Option<Chosen>,
    rounds: Vec<RoundRow>,
    /// Where the candidates of the last round begin.
    round_at: usize,
    bytes: usize,
}

/// What was read, beside the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineCounts {
    /// Lines with something on them.
    pub lines: u64,
    /// Lines that are no record: torn, or of another program.
    pub bad: u64,
    /// Lines of events that this version does not know.
    pub unknown: u64,
    /// Events that the log says it dropped.
    pub dropped: u64,
    /// How many of those ended a run.
    pub dropped_terminal: u64,
    /// Runs that were given up on, because too many were open at once.
    pub forgotten: u64,
}

type RunId = (String, u64);

/// How much may be open at once.
#[derive(Clone, Copy, Debug)]
struct Limit {
    runs: usize,
    bytes: usize,
}

/// Puts runs together from the lines of a log, in bounded memory: beyond a limit, the run that is
/// open longest is forgotten.
///
/// ```
/// use self_debug::audit::Runs;
/// let mut runs = Runs::default();
/// assert!(runs.line(b"no record").is_none());
/// assert_eq!(runs.counts().bad, 1);
/// ```
#[derive(Debug)]
pub struct Runs {
    open: HashMap<RunId, Open>,
    /// The open runs in the order in which they began; those that ended may still stand in it.
    order: VecDeque<RunId>,
    bytes: usize,
    limit: Limit,
    redactor: Redactor,
    counts: LineCounts,
}

impl Default for Runs {
    fn default() -> Self {
        Self::new(16 << 10, 256 << 20)
    }
}

impl Runs {
    /// Keeps at most so many open runs, with at most so many bytes of text.
    pub fn new(most_runs: usize, most_bytes: usize) -> Self {
        Self {
            open: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
            limit: Limit {
                runs: most_runs,
                bytes: most_bytes,
            },
            redactor: Redactor::new(),
            counts: LineCounts::default(),
        }
    }

    /// Reads a line; gives the run that ends with it. Secrets that the line still holds are taken
    /// out.
    pub fn line(&mut self, line: &[u8]) -> Option<Run> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        self.counts.lines += 1;
        let Some(record) = self.parse(line) else {
            self.counts.bad += 1;
            return None;
        };
        match (record.run, record.body) {
            (_, Body::Unknown) => self.counts.unknown += 1,
            (_, Body::Dropped { events, terminal }) => {
                self.counts.dropped += events;
                self.counts.dropped_terminal += terminal;
            }
            (Some(about), body) => return self.event(record.time, about, body, line.len()),
            (None, _) => self.counts.bad += 1,
        }
        None
    }

    /// A line that could not be read as a whole, for example because it is too long.
    pub fn bad_line(&mut self) {
        self.counts.lines += 1;
        self.counts.bad += 1;
    }

    /// What was read so far.
    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// Runs whose end was not read.
    pub fn unfinished(&self) -> usize {
        self.open.len()
    }

    fn parse(&self, line: &[u8]) -> Option<Record> {
        let mut value: Value = serde_json::from_slice(line).ok()?;
        if value.get("v")?.as_u64()? != u64::from(SCHEMA_VERSION) {
            return None;
        }
        redact_line(&mut value, &self.redactor, &mut self.redactor.known());
        serde_json::from_value(value).ok()
    }

    fn event(&mut self, time: String, about: RunRef, body: Body, bytes: usize) -> Option<Run> {
        let id = (about.conversation.clone(), about.run);
        let result = match body {
            Body::Succeeded { arguments, digest } => ResultRow::Succeeded { arguments, digest },
            Body::GaveUp { reason, .. } => ResultRow::GaveUp { reason },
            body => {
                self.open(id, bytes).take(&about, body);
                self.make_room();
                return None;
            }
        };
        let open = self.open.remove(&id).unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(open.bytes);
        self.tidy_order();
        Some(open.end(time, about, result))
    }

    fn open(&mut self, id: RunId, bytes: usize) -> &mut Open {
        self.bytes += bytes;
        if !self.open.contains_key(&id) {
            self.order.push_back(id.clone());
        }
        let open = self.open.entry(id).or_default();
        open.bytes += bytes;
        open
    }

    fn make_room(&mut self) {
        while self.open.len() > self.limit.runs
            || (self.bytes > self.limit.bytes && self.open.len() > 1)
        {
            let Some(id) = self.order.pop_front() else {
                return;
            };
            if let Some(forgotten) = self.open.remove(&id) {
                self.bytes = self.bytes.saturating_sub(forgotten.bytes);
                self.counts.forgotten += 1;
            }
        }
    }

    /// Takes out runs that have ended, when most have.
    fn tidy_order(&mut self) {
        if self.order.len() > 2 * self.open.len() + 64 {
            let open = &self.open;
            self.order.retain(|id| open.contains_key(id));
        }
    }
}

impl Open {
    fn take(&mut self, about: &RunRef, body: Body) {
        match body {
            Body::Failed { arguments, .. } => self.failures.push(FailureRow {
                attempt: about.attempt,
                arguments,
                class: about.class.clone(),
                message: about.message.clone(),
            }),
            Body::Repaired {
                emitted,
                arguments,
                fixes,
            } => {
                self.emitted = Some(emitted);
                self.fixes.extend(fixes);
                self.choose(ChosenBy::Repair, None, arguments);
            }
            Body::Proposed {
                round,
                candidates,
                gave_up,
                model,
                input_tokens,
                output_tokens,
                cost_micros,
            } => {
                self.round_at = self.candidates.len();
                self.candidates
                    .extend(candidates.into_iter().map(|candidate| CandidateRow {
                        round,
                        model: model.clone(),
                        candidate,
                        rejected: None,
                    }));
                self.rounds.extend(round.map(|_| RoundRow {
                    model,
                    input_tokens,
                    output_tokens,
                    cost_micros,
                    gave_up,
                }));
            }
            Body::CandidateRejected { candidate, why, .. } => {
                if let Some(row) =
                    candidate.and_then(|at| self.candidates.get_mut(self.round_at + at))
                {
                    row.rejected = Some(why);
                }
            }
            Body::Retrying {
                strategy,
                candidate,
                arguments,
            } => {
                let at = candidate.map(|at| self.round_at + at);
                let row = at.and_then(|at| self.candidates.get(at));
                let by = match row {
                    Some(row) if row.candidate.origin == "rule" => ChosenBy::Rule,
                    Some(_) => ChosenBy::Model,
                    None if strategy == "retry" => ChosenBy::Retry,
                    None => ChosenBy::Approver,
                };
                self.choose(by, at, arguments);
            }
            _ => {}
        }
    }

    fn choose(&mut self, by: ChosenBy, candidate: Option<usize>, arguments: String) {
        self.chosen = Some(Chosen {
            by,
            candidate,
            arguments,
        });
    }

    fn end(self, time: String, about: RunRef, result: ResultRow) -> Run {
        let mut failures = self.failures.into_iter();
        Run {
            v: SCHEMA_VERSION,
            time,
            conversation: about.conversation,
            run: about.run,
            tool: about.tool,
            emitted: self.emitted,
            failure: failures.next(),
            failures: failures.collect(),
            fixes: self.fixes,
            candidates: self.candidates,
            chosen: self.chosen,
            result,
            rounds: self.rounds,
        }
    }
}
