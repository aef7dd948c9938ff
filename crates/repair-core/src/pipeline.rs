//! The pipeline of one call: name, text, arguments, judgement.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::arguments::{self, Dearer, Edit, Found, Proposal, Step, rules as argument_rules};
use crate::call::{Arguments, Call, Finish, RawCall};
use crate::candidates::{Candidates, Proposed};
use crate::fix::Fix;
use crate::fixes::{Fixes, NameFix, Source, TextFixes, render_text_fix};
use crate::json::attempt::Attempt;
use crate::json::emit::emit;
use crate::json::lenient::{self, Cut, Lenient, Problem};
use crate::json::strict::StrictError;
use crate::json::{Arena, Kind, NodeId};
use crate::policy::Policy;
use crate::rule::{Loss, Risk, Rule};
use crate::spec::Effect;
use crate::toolset::{Tool, ToolSet};
use crate::verdict::{Candidate, Origin, Reason, Rejected, Repaired, Verdict};

impl ToolSet {
    /// Repairs one call: resolves its name, reads its arguments, makes them fit the schema.
    ///
    /// Linear in the text; the search for a repair is bounded by the policy's limits. A text that
    /// holds several different objects is rejected here: see [`Self::repair_all`].
    pub fn repair<'a>(&self, raw: &'a RawCall<'_>, policy: &Policy) -> Verdict<'a> {
        let borrowed = RawCall {
            id: raw.id.clone(),
            name: Cow::Borrowed(&raw.name),
            arguments: raw.arguments.as_deref().map(Cow::Borrowed),
            finish: raw.finish,
            readings: Cow::Borrowed(&raw.readings),
        };
        match self.resolve_call(&borrowed, policy) {
            Ok(named) => named.arguments(&borrowed),
            Err(rejected) => Verdict::Rejected(rejected),
        }
    }
}

impl Rejected {
    pub(crate) fn new(raw: &RawCall<'_>, reason: Reason, detail: impl Into<String>) -> Self {
        Self {
            id: raw.id.clone(),
            emitted_name: raw.name.clone().into_owned(),
            emitted_arguments: raw.arguments.as_deref().map(str::to_owned),
            tool: None,
            reason,
            detail: detail.into(),
            did_you_mean: None,
            available_tools: Vec::new(),
            tool_count: 0,
            expected: None,
            errors: Vec::new(),
            candidates: Candidates::default(),
        }
    }
}

/// A call whose tool is known and permitted.
pub(crate) struct Named<'s> {
    pub(crate) tool: &'s Tool,
    pub(crate) policy: &'s Policy,
    pub(crate) effect: Effect,
    /// The rule by which the name was read, if it was not exact.
    pub(crate) rule: Option<&'static Rule>,
}

/// A text on its way to a call: what was done to it so far.
struct Read<'a> {
    arena: Arena<'a>,
    root: NodeId,
    /// Whether the judge accepts it as it stands.
    fits: bool,
    /// Fixes of the reading.
    head: Vec<Fix>,
    name: Option<NameFix<'a>>,
    text: Lenient,
    /// The emitted text was strict JSON: no reader wrote it anew.
    is_strict: bool,
    emitted: Cow<'a, str>,
}

impl Named<'_> {
    /// Text, arguments and judgement.
    pub(crate) fn arguments<'a>(&self, raw: &RawCall<'a>) -> Verdict<'a> {
        let limits = self.policy.limits();
        let emitted = raw.arguments.clone().unwrap_or(Cow::Borrowed(""));
        if emitted.len() > limits.bytes {
            return Verdict::Rejected(self.reject(
                raw,
                Reason::Limit,
                format!("the arguments are longer than {} bytes", limits.bytes),
            ));
        }
        let strict = Arena::attempt(emitted.clone(), limits.depth);
        let fits = match &strict {
            Ok((arena, root)) => self.tool.target().accepts(arena, *root),
            Err(_) => false,
        };
        match strict {
            // The way of most calls: nothing is to be done, and nothing was.
            Ok((arena, _)) if fits && self.rule.is_none() && self.is_right(raw, &arena) => {
                Verdict::Valid(self.call(raw, arena.into_source()))
            }
            strict => self
                .read(raw, emitted, strict, fits)
                .and_then(|read| self.judge(raw, read))
                .unwrap_or_else(Verdict::Rejected),
        }
    }

    /// Whether nothing but the schema can refuse a strict text.
    fn is_right(&self, raw: &RawCall<'_>, arena: &Arena<'_>) -> bool {
        raw.readings.is_empty() && arena.duplicates().is_empty() && !self.may_rewrite(raw)
    }

    /// Whether the host wants numbers rewritten that the schema accepts.
    fn may_rewrite(&self, raw: &RawCall<'_>) -> bool {
        self.policy.integral_floats() && raw.finish != Finish::Cut
    }

    // ---- text ----

    fn read<'a>(
        &self,
        raw: &RawCall<'a>,
        emitted: Cow<'a, str>,
        strict: Result<(Arena<'a>, NodeId), (StrictError, Attempt)>,
        fits: bool,
    ) -> Result<Read<'a>, Box<Rejected>> {
        let limits = self.policy.limits();
        let readings = raw.readings.iter().cloned();
        let head: Vec<Fix> = readings.map(|fix| self.of_policy(fix)).collect();
        let trimmed = emitted.trim();
        if matches!(trimmed, "" | "null" | "\"\"") {
            return self.no_arguments(raw, emitted, head);
        }
        let attempt = match strict {
            Ok((arena, root)) => {
                return Ok(Read {
                    arena,
                    root,
                    fits,
                    head,
                    name: self.name_fix(raw),
                    text: Lenient::default(),
                    is_strict: true,
                    emitted,
                });
            }
            Err((StrictError::TooDeep(at), _)) => return Err(self.too_deep(raw, at)),
            Err((StrictError::Syntax(_), attempt)) => attempt,
        };
        let mut text = lenient::read(
            &emitted,
            Some(&attempt),
            &self.tool.tree,
            Some(self.tool.tree.root()),
            limits.depth,
        );
        for fix in &mut text.fixes {
            fix.risk = self.policy.risk_of(fix.rule, fix.risk).unwrap_or(fix.risk);
        }
        self.check_text(raw, &mut text)?;
        let strict = std::mem::take(&mut text.text);
        match Arena::read_written(Cow::Owned(strict), &text.strings, limits.depth) {
            Ok((arena, root)) => Ok(Read {
                fits: self.tool.target().accepts(&arena, root),
                arena,
                root,
                head,
                name: self.name_fix(raw),
                text,
                is_strict: false,
                emitted,
            }),
            Err(StrictError::TooDeep(at)) => Err(self.too_deep(raw, at)),
            Err(StrictError::Syntax(at)) => Err(self.reject(
                raw,
                Reason::Syntax,
                format!("the arguments are not JSON (byte {at})"),
            )),
        }
    }

    /// What was done to the name.
    fn name_fix<'a>(&self, raw: &RawCall<'a>) -> Option<NameFix<'a>> {
        self.rule.map(|rule| NameFix {
            rule,
            risk: self.policy.risk_of(rule, rule.risk).unwrap_or(rule.risk),
            emitted: raw.name.clone(),
            tool: Arc::clone(&self.tool.name),
        })
    }

    /// A fix with the risk that the host gives to its rule. What is switched off is refused at the
    /// end.
    fn of_policy(&self, fix: Fix) -> Fix {
        let risk = self.policy.risk_of_named(&fix.rule, fix.risk);
        let risk = risk.unwrap_or(fix.risk);
        fix.with_risk(risk)
    }

    fn too_deep(&self, raw: &RawCall<'_>, at: usize) -> Box<Rejected> {
        let depth = self.policy.limits().depth;
        self.reject(
            raw,
            Reason::Limit,
            format!("the arguments nest deeper than {depth} levels (byte {at})"),
        )
    }

    /// Empty, null or absent arguments: `{}`, which the judge then has to accept.
    fn no_arguments<'a>(
        &self,
        raw: &RawCall<'_>,
        emitted: Cow<'a, str>,
        mut head: Vec<Fix>,
    ) -> Result<Read<'a>, Box<Rejected>> {
        if raw.finish == Finish::Cut {
            return Err(self.reject(
                raw,
                Reason::Truncated,
                "the call was cut off before its arguments",
            ));
        }
        let rule = &argument_rules::EMPTY_ARGUMENTS;
        let declares = self.tool.tree.declares_any(Some(self.tool.tree.root()));
        let risk = if declares {
            Risk::Inferred
        } else {
            Risk::Lossless
        };
        let limits = self.policy.limits();
        let read = Arena::read(Cow::Borrowed("{}"), limits.depth);
        let (true, Ok((arena, root))) = (self.policy.risk_of(rule, risk).is_some(), read) else {
            return Err(self.reject(raw, Reason::Syntax, "there are no arguments"));
        };
        if !self.tool.target().accepts(&arena, root) {
            let mut rejected = self.reject(raw, Reason::Arguments, "there are no arguments");
            rejected.errors = arguments::explain(&arena, root, &self.tool.tree, limits.errors);
            return Err(rejected);
        }
        head.extend(self.name_fix(raw).map(|name| name.render()));
        head.push(self.of_policy(Fix::new(rule, "", &emitted, "{}").with_risk(risk)));
        Ok(Read {
            arena,
            root,
            fits: true,
            head,
            name: None,
            text: Lenient::default(),
            is_strict: true,
            emitted,
        })
    }

    /// Refuses a text that cannot become a call.
    fn check_text(&self, raw: &RawCall<'_>, text: &mut Lenient) -> Result<(), Box<Rejected>> {
        let problem = text.problem.map(|problem| {
            let reason = match problem {
                Problem::Ambiguous(_) => Reason::Ambiguous,
                Problem::TooDeep => Reason::Limit,
                Problem::NoValue
                | Problem::Unreadable(_)
                | Problem::NonFinite(_)
                | Problem::DamagedEscape(_) => Reason::Syntax,
            };
            (reason, problem.to_string())
        });
        let most = self.policy.limits().calls;
        let several = match text.values.len() {
            ..=1 => None,
            count if count > most => Some((
                Reason::Limit,
                format!("the arguments hold {count} objects, more than {most}"),
            )),
            _ => Some((
                Reason::Ambiguous,
                "the arguments hold several objects: send one call for each".to_owned(),
            )),
        };
        let cut = self
            .is_cut(raw, text)
            .then(|| (Reason::Truncated, "the call was cut off".to_owned()));
        let Some((reason, detail)) = cut.or(problem).or(several) else {
            return Ok(());
        };
        let mut rejected = self.reject(raw, reason, detail);
        if reason == Reason::Truncated && text.values.len() == 1 {
            let part = self.sound_part(text, &raw.arguments.clone().unwrap_or_default());
            rejected.candidates = Vec::from_iter(part).into();
        }
        Err(rejected)
    }

    /// Whether the text counts as cut off: a missing last closer is none only where the model is
    /// known to have finished, and completing the call can do no harm.
    fn is_cut(&self, raw: &RawCall<'_>, text: &Lenient) -> bool {
        match (raw.finish, text.cut) {
            (Finish::Cut, _) | (_, Some(Cut::Inside | Cut::Beginning)) => true,
            (_, None) => false,
            (finish, Some(Cut::Unclosed)) => {
                let may_complete = matches!(self.effect, Effect::ReadOnly | Effect::Idempotent);
                finish != Finish::Complete || !may_complete
            }
        }
    }

    /// What stood before the cut, as a candidate. Takes the text.
    fn sound_part(&self, text: &mut Lenient, emitted: &str) -> Option<Candidate> {
        let written = std::mem::take(&mut text.text);
        let depth = self.policy.limits().depth;
        let (arena, root) = Arena::read_written(Cow::Owned(written), &text.strings, depth).ok()?;
        let is_object = arena.node(root).kind == Kind::Object;
        let valid = is_object && self.tool.target().accepts(&arena, root);
        let arguments = arena.into_source().into_owned();
        let fixes = text.fixes.iter();
        let fixes = fixes
            .map(|fix| render_text_fix(fix, emitted, &arguments))
            .collect();
        is_object.then(|| Candidate {
            tool: self.tool.spec.name().to_owned(),
            confidence: 0.3,
            rationale: "the part before the cut".to_owned(),
            origin: Origin::Rule,
            risk: Risk::Guess,
            valid,
            from_cut: true,
            fixes,
            arguments,
        })
    }

    // ---- arguments and judgement ----

    fn judge<'a>(
        &self,
        raw: &RawCall<'a>,
        mut read: Read<'a>,
    ) -> Result<Verdict<'a>, Box<Rejected>> {
        let target = self.tool.target();
        let conflicts = arguments::has_conflicting_keys(&read.arena);
        let fits = read.fits;
        // What no schema judges is not repaired.
        if self.tool.is_broken && !(fits && !conflicts && read.is_strict) {
            return Err(self.reject(
                raw,
                Reason::Syntax,
                "the arguments must be one JSON object with each key once",
            ));
        }
        if fits && !conflicts && (self.tool.is_broken || !self.may_rewrite(raw)) {
            return self.finish(raw, read, Vec::new(), None);
        }
        let found = arguments::search(&mut read.arena, read.root, target, self.policy);
        match found {
            Found::Nothing | Found::Tie(_) | Found::Exhausted if fits && !conflicts => {
                self.finish(raw, read, Vec::new(), None)
            }
            // Only what is right as it stands may run when generation was cut off.
            Found::One(best, others) if raw.finish == Finish::Cut => {
                let mut rejected = self.reject(raw, Reason::Truncated, "the call was cut off");
                let proposals = self.all_of(best, others, &mut read);
                rejected.candidates = self.candidates(raw, read, proposals);
                Err(rejected)
            }
            Found::One(best, others) => self.finish(raw, read, best.steps, Some(others)),
            Found::Tie(proposals) => {
                let mut rejected =
                    self.reject(raw, Reason::Ambiguous, "two repairs are equally good");
                self.explain(&read, &mut rejected);
                rejected.candidates = self.candidates(raw, read, proposals);
                Err(rejected)
            }
            Found::Nothing => {
                let mut rejected = self.reject(
                    raw,
                    Reason::Arguments,
                    "the arguments do not fit the schema",
                );
                self.explain(&read, &mut rejected);
                Err(rejected)
            }
            Found::Exhausted => {
                let mut rejected = self.reject(
                    raw,
                    Reason::Limit,
                    "the search for a repair reached its limit",
                );
                self.explain(&read, &mut rejected);
                Err(rejected)
            }
        }
    }

    fn explain(&self, read: &Read<'_>, rejected: &mut Rejected) {
        rejected.errors = arguments::explain(
            &read.arena,
            read.root,
            &self.tool.tree,
            self.policy.limits().errors,
        );
    }

    /// The end of the pipeline: a call, if the policy accepts everything that was done to it.
    fn finish<'a>(
        &self,
        raw: &RawCall<'a>,
        mut read: Read<'a>,
        mut steps: Vec<Step>,
        others: Option<Dearer>,
    ) -> Result<Verdict<'a>, Box<Rejected>> {
        let is_untouched = read.head.is_empty() && read.name.is_none() && read.is_strict;
        if steps.is_empty() && is_untouched {
            let text = read.arena.into_source();
            return Ok(Verdict::Valid(self.call(raw, text)));
        }
        let inserts = |step: &Step| matches!(step.edit, Edit::Insert { .. });
        if read.text.cut.is_some() && steps.iter().any(inserts) {
            return Err(self.reject(raw, Reason::Truncated, "the call was cut off"));
        }
        // A text that was written anew without a word about it is never passed on.
        if !read.is_strict && read.text.fixes.is_empty() {
            return Err(self.reject(raw, Reason::Syntax, "the arguments are not strict JSON"));
        }
        doubt_respelled(&read, &mut steps);
        if !self.accepts_all(&read, &steps) {
            let mut rejected = self.reject(
                raw,
                Reason::NeedsApproval,
                "a repair exists, but it is too risky for this tool",
            );
            self.explain(&read, &mut rejected);
            let best = Proposal { cost: 0, steps };
            let proposals = match others {
                Some(others) => self.all_of(best, others, &mut read),
                None => vec![best],
            };
            rejected.candidates = self.candidates(raw, read, proposals);
            return Err(rejected);
        }
        for step in &steps {
            step.edit.apply(&mut read.arena);
        }
        let shown = TextFixes::new(&read.text.fixes, &read.emitted, read.arena.source());
        let (text, arena) = if steps.is_empty() {
            (read.arena.into_source(), Arena::default())
        } else {
            (Cow::Owned(emit(&read.arena, read.root)), read.arena)
        };
        let call = self.call(raw, text);
        let fixes = Fixes::new(Source {
            head: read.head,
            name: read.name,
            text: shown,
            arena,
            root: read.root,
            steps,
        });
        Ok(Verdict::Repaired(Repaired { call, fixes }))
    }

    fn call<'a>(&self, raw: &RawCall<'a>, text: Cow<'a, str>) -> Call<'a> {
        Call {
            id: raw.id.clone(),
            tool: Arc::clone(&self.tool.name),
            emitted_name: raw.name.clone(),
            arguments: Arguments::new(text),
            unvalidated: self.tool.is_broken,
        }
    }

    /// Whether the policy accepts every fix of a call.
    fn accepts_all(&self, read: &Read<'_>, steps: &[Step]) -> bool {
        let name = self.tool.spec.name();
        let accepts =
            |risk: Risk, loss: Option<Loss>| self.policy.accepts(name, self.effect, risk, loss);
        let by_rule = |rule, risk, loss| {
            self.policy
                .risk_of(rule, risk)
                .is_some_and(|risk| accepts(risk, loss))
        };
        read.head.iter().all(|fix| {
            let risk = self.policy.risk_of_named(&fix.rule, fix.risk);
            risk.is_some_and(|risk| accepts(risk, fix.loss))
        }) && read
            .name
            .as_ref()
            .is_none_or(|name| by_rule(name.rule, name.risk, name.rule.loss))
            && read
                .text
                .fixes
                .iter()
                .all(|fix| by_rule(fix.rule, fix.risk, fix.rule.loss))
            && steps
                .chunk_by(|a, b| a.risk == b.risk && std::ptr::eq(a.rule, b.rule))
                .filter_map(<[Step]>::first)
                .all(|step| by_rule(step.rule, step.risk, step.rule.loss))
    }

    /// The repair that was found and the dearer ones.
    fn all_of(&self, best: Proposal, others: Dearer, read: &mut Read<'_>) -> Vec<Proposal> {
        let target = self.tool.target();
        let others = others.accepted(&mut read.arena, read.root, target, self.policy);
        std::iter::once(best).chain(others).collect()
    }

    /// Proposals as candidates, best first.
    fn candidates(
        &self,
        raw: &RawCall<'_>,
        mut read: Read<'_>,
        proposals: Vec<Proposal>,
    ) -> Candidates {
        read.head.extend(read.name.map(|name| name.render()));
        Candidates::from(Proposed {
            tool: self.tool.spec.name().to_owned(),
            text: TextFixes::new(&read.text.fixes, &read.emitted, read.arena.source()),
            head: read.head,
            arena: read.arena.into_owned(),
            root: read.root,
            proposals,
            from_cut: raw.finish == Finish::Cut,
        })
    }

    fn reject(
        &self,
        raw: &RawCall<'_>,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Box<Rejected> {
        let mut rejected = Rejected::new(raw, reason, detail);
        rejected.tool = Some(self.tool.spec.name().to_owned());
        if self.tool.judge.is_some() {
            rejected.expected = Some(crate::feedback::expected_parameters(&self.tool.tree));
        }
        Box::new(rejected)
    }
}

/// A string that was made of a number or literal is the model's own text, unless that had been
/// respelled before.
fn doubt_respelled(read: &Read<'_>, steps: &mut [Step]) {
    let respelled = read.text.fixes.iter().filter(|fix| fix.is_respelling());
    let mut respelled = respelled.map(|fix| fix.after.start).peekable();
    if respelled.peek().is_none() {
        return;
    }
    let respelled: HashSet<usize> = respelled.collect();
    for step in steps {
        if let Edit::Content { node, .. } = step.edit
            && step.rule.id == argument_rules::SCALAR_TO_STRING.id
            && respelled.contains(&(read.arena.node(node).start as usize))
        {
            step.risk = step.risk.max(Risk::Guess);
        }
    }
}
