//! One order for all candidates, whoever made them.

use std::collections::{BTreeMap, BTreeSet};

use repair_core::{Fix, Origin, Risk, canonical_json};
use serde_json::Value;

use crate::candidate::{Candidate, Change};
use crate::event::Rejection;

/// What candidates are measured against.
pub(crate) struct Ground<'a> {
    /// The arguments that failed.
    pub(crate) base: &'a str,
    /// Canonical arguments that have failed in this run.
    pub(crate) failed: &'a BTreeSet<String>,
    pub(crate) min_confidence: f64,
}

/// A candidate in its place.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Its place in the proposal.
    pub(crate) index: usize,
    /// Its complete arguments.
    pub(crate) arguments: String,
    pub(crate) confidence: f64,
    pub(crate) rationale: String,
    pub(crate) origin: Origin,
    /// For candidates that only rules made: how sure they are.
    pub(crate) by_rule_only: Option<Risk>,
    pub(crate) fixes: Vec<Fix>,
    pub(crate) from_cut: bool,
    pub(crate) tied: bool,
    /// How many values it changes.
    change: usize,
}

/// A candidate that is not looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dropped {
    pub(crate) index: usize,
    pub(crate) arguments: String,
    pub(crate) why: Rejection,
}

/// Ranks candidates, best first. Those that are too unsure, that repeat another, or that have
/// failed already are dropped; what different sources agree on becomes surer.
pub(crate) fn rank(candidates: &[Candidate], ground: &Ground<'_>) -> (Vec<Ranked>, Vec<Dropped>) {
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    let mut dropped = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let mut drop = |why| {
            let arguments = candidate.text().into_owned();
            dropped.push(Dropped {
                index,
                arguments,
                why,
            });
        };
        if !is_at_least(candidate.confidence, ground.min_confidence) {
            drop(Rejection::LowConfidence);
            continue;
        }
        let arguments = match complete(candidate, ground.base) {
            Ok(arguments) => arguments,
            Err(why) => {
                drop(why);
                continue;
            }
        };
        let canonical = canonical_json(&arguments).unwrap_or_else(|| arguments.clone());
        if ground.failed.contains(&canonical) {
            drop(Rejection::AlreadyFailed);
            continue;
        }
        if let Some(group) = groups.get_mut(&canonical) {
            drop(Rejection::Duplicate);
            group.members.push(candidate);
        } else {
            let group = Group {
                index,
                arguments,
                members: vec![candidate],
            };
            groups.insert(canonical, group);
        }
    }
    let mut ranked: Vec<Ranked> = groups
        .into_values()
        .map(|group| group.rank(ground))
        .collect();
    ranked.sort_by(|a, b| {
        let surer = b.confidence.total_cmp(&a.confidence);
        surer
            .then(a.change.cmp(&b.change))
            .then(a.index.cmp(&b.index))
    });
    (ranked, dropped)
}

/// Whether a confidence reaches a threshold. What is not a number reaches none.
pub(crate) fn is_at_least(confidence: f64, threshold: f64) -> bool {
    confidence
        .partial_cmp(&threshold)
        .is_some_and(std::cmp::Ordering::is_ge)
}

/// The complete arguments of a candidate.
fn complete(candidate: &Candidate, base: &str) -> Result<String, Rejection> {
    match &candidate.change {
        Change::Complete(text) => Ok(text.clone()),
        Change::Patch(patch) => patch
            .apply(base)
            .map_err(|error| Rejection::Patch(error.to_string().into())),
    }
}

/// Candidates with the same arguments.
struct Group<'c> {
    /// Of the first of them.
    index: usize,
    arguments: String,
    members: Vec<&'c Candidate>,
}

impl Group<'_> {
    fn rank(self, ground: &Ground<'_>) -> Ranked {
        let confidence = self.agreed_confidence();
        let models = self
            .members
            .iter()
            .any(|member| member.origin == Origin::Model);
        let riskiest = self.members.iter().map(|member| member.risk).max();
        let value = serde_json::from_str(&self.arguments).ok();
        let base = serde_json::from_str(ground.base).unwrap_or(Value::Null);
        let fixes = self.members.iter().find(|member| !member.fixes.is_empty());
        let first = self.members.first();
        Ranked {
            index: self.index,
            confidence,
            rationale: first
                .map(|first| first.rationale.clone())
                .unwrap_or_default(),
            origin: if models { Origin::Model } else { Origin::Rule },
            by_rule_only: if models { None } else { riskiest },
            fixes: fixes.map(|member| member.fixes.clone()).unwrap_or_default(),
            from_cut: self.members.iter().any(|member| member.from_cut),
            tied: self.members.iter().any(|member| member.tied),
            // What cannot be read may be anything.
            change: value.map_or(usize::MAX, |value| changed_values(&base, &value)),
            arguments: self.arguments,
        }
    }

    /// The confidence of members from different sources, taken as independent; a source that
    /// repeats itself says nothing more.
    fn agreed_confidence(&self) -> f64 {
        let mut heard = Vec::new();
        let mut doubt = 1.0;
        for member in &self.members {
            let source = (member.origin == Origin::Model, member.sample);
            if !heard.contains(&source) {
                heard.push(source);
                doubt *= 1.0 - member.confidence.clamp(0.0, 1.0);
            }
        }
        1.0 - doubt
    }
}

/// How many scalars differ between two values, those that only one of them has included.
fn changed_values(before: &Value, after: &Value) -> usize {
    let mut changed = 0;
    let mut open = vec![(Some(before), Some(after))];
    while let Some(pair) = open.pop() {
        match pair {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                open.extend(a.iter().map(|(key, value)| (Some(value), b.get(key))));
                let added = b.iter().filter(|(key, _)| !a.contains_key(*key));
                open.extend(added.map(|(_, value)| (None, Some(value))));
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                let longest = a.len().max(b.len());
                open.extend((0..longest).map(|at| (a.get(at), b.get(at))));
            }
            (Some(a), Some(b))
                if a.is_object() || a.is_array() || b.is_object() || b.is_array() =>
            {
                open.extend([(Some(a), None), (None, Some(b))]);
            }
            (Some(a), Some(b)) => changed += usize::from(a != b),
            (Some(only), None) | (None, Some(only)) => match only {
                Value::Object(members) => open.extend(members.values().map(|v| (Some(v), None))),
                Value::Array(items) => open.extend(items.iter().map(|v| (Some(v), None))),
                _ => changed += 1,
            },
            (None, None) => {}
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Patch;
    use serde_json::json;

    const BASE: &str = r#"{"a":1,"b":"x"}"#;

    type Indexed<T> = Vec<(usize, T)>;

    fn ranked(candidates: &[Candidate]) -> (Indexed<f64>, Indexed<Rejection>) {
        let failed = BTreeSet::from([canonical_json(BASE).unwrap()]);
        let ground = Ground {
            base: BASE,
            failed: &failed,
            min_confidence: 0.5,
        };
        let (ranked, dropped) = rank(candidates, &ground);
        (
            ranked
                .into_iter()
                .map(|ranked| (ranked.index, ranked.confidence))
                .collect(),
            dropped
                .into_iter()
                .map(|dropped| (dropped.index, dropped.why))
                .collect(),
        )
    }

    #[test]
    fn the_surest_come_first_and_equal_ones_by_the_smaller_change() {
        let (order, dropped) = ranked(&[
            Candidate::new(r#"{"a":2,"b":"y"}"#, 0.7),
            Candidate::new(r#"{"a":2,"b":"x"}"#, 0.7),
            Candidate::new(r#"{"a":3,"b":"z"}"#, 0.9),
            Candidate::new(r#"{"a":4,"b":"x"}"#, 7.0),
        ]);
        let order: Vec<usize> = order.into_iter().map(|(index, _)| index).collect();
        assert_eq!((order, dropped), (vec![3, 2, 1, 0], vec![]));
    }

    #[test]
    fn unsure_repeated_and_failed_ones_are_dropped() {
        let (order, dropped) = ranked(&[
            Candidate::new(r#"{"a":2}"#, 0.49),
            Candidate::new(r#"{"a":2}"#, f64::NAN),
            Candidate::new(r#"{"b":"x","a":1.0}"#, 1.0),
            Candidate::new(r#"{"a":3}"#, 0.5),
            Candidate::new(r#"{ "a" : 3 }"#, 0.9),
            Candidate::patch(
                Patch::from_json(r#"[{"op":"remove","path":"/q"}]"#).unwrap(),
                1.0,
            ),
        ]);
        // A source that repeats itself is not surer for it.
        assert_eq!(order, [(3, 0.5)]);
        let [low, nan, failed, duplicate, patch] = &dropped[..] else {
            panic!("{dropped:?}")
        };
        assert_eq!(low, &(0, Rejection::LowConfidence));
        assert_eq!(nan, &(1, Rejection::LowConfidence));
        assert_eq!(failed, &(2, Rejection::AlreadyFailed));
        assert_eq!(duplicate, &(4, Rejection::Duplicate));
        assert!(matches!(patch, (5, Rejection::Patch(_))));
    }

    #[test]
    fn agreement_raises() {
        let (order, _) = ranked(&[
            Candidate::new(r#"{"a":2}"#, 0.8),
            Candidate::new(r#"{"a":3}"#, 0.6),
            Candidate::new(r#"{"a":3}"#, 0.6).by_rule(Risk::Inferred),
            Candidate::new(r#"{"a":4}"#, 0.6),
            Candidate::new(r#"{"a":4}"#, 0.6).of_sample(1),
            Candidate::new(r#"{"a":4}"#, 0.6).of_sample(2),
        ]);
        let indices: Vec<usize> = order.iter().map(|(index, _)| *index).collect();
        assert_eq!(indices, [3, 1, 0]);
        assert!((order[1].1 - 0.84).abs() < 1e-9);
    }

    #[test]
    fn a_patch_stands_for_the_arguments_it_makes() {
        let patch = r#"[{"op":"replace","path":"/a","value":2}]"#;
        let (order, dropped) = ranked(&[
            Candidate::new(r#"{"b":"x","a":2}"#, 0.6),
            Candidate::patch(Patch::from_json(patch).unwrap(), 0.9),
        ]);
        assert_eq!(
            (order, dropped),
            (vec![(0, 0.6)], vec![(1, Rejection::Duplicate)])
        );
    }

    #[test]
    fn changes_are_counted_by_value() {
        for (before, after, want) in [
            (json!({"a": 1}), json!({"a": 1}), 0),
            (json!({"a": 1}), json!({"a": "1"}), 1),
            (json!({"a": [1, 2]}), json!({"a": [1, 3, 4]}), 2),
            (json!({"a": {"b": 1, "c": 2}}), json!({"a": 1}), 3),
            (json!(null), json!({"a": 1, "b": [2, 3]}), 4),
        ] {
            assert_eq!(changed_values(&before, &after), want, "{before} {after}");
        }
    }
}
