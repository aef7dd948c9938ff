//! Leaving alone what fails again and again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::conversation::lock;

/// When a tool or a debugger's endpoint is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CircuitSettings {
    /// After how many transient failures in a row (5). Zero: never.
    pub failures: u32,
    /// For how long (30 s); then a single call tries it.
    pub pause: Duration,
}

impl Default for CircuitSettings {
    fn default() -> Self {
        Self {
            failures: 5,
            pause: Duration::from_secs(30),
        }
    }
}

impl CircuitSettings {
    /// Sets after how many transient failures in a row.
    pub fn failures(mut self, failures: u32) -> Self {
        self.failures = failures;
        self
    }

    /// Sets for how long.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

/// The circuits of all tools, or of all endpoints, by name. Only what has failed takes memory.
#[derive(Debug)]
pub(crate) struct Circuits {
    settings: CircuitSettings,
    failing: Mutex<BTreeMap<Arc<str>, Failing>>,
}

/// Something that failed the last time.
#[derive(Debug, Default)]
struct Failing {
    in_a_row: u32,
    /// Open: nothing passes before this time, then one call at a time.
    until: Option<Duration>,
    is_being_tried: bool,
}

impl Circuits {
    pub(crate) fn new(settings: CircuitSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            failing: Mutex::default(),
        })
    }

    /// Lets a call through, or not.
    pub(crate) fn pass(self: &Arc<Self>, name: &Arc<str>, now: Duration) -> Option<Pass> {
        let mut failing = lock(&self.failing);
        let mut is_trial = false;
        if let Some(circuit) = failing.get_mut(name)
            && let Some(until) = circuit.until
        {
            if now < until || circuit.is_being_tried {
                return None;
            }
            circuit.is_being_tried = true;
            is_trial = true;
        }
        Some(Pass {
            circuits: Arc::clone(self),
            name: Arc::clone(name),
            is_trial,
        })
    }
}

/// A call that was let through. Dropped without a word, it says nothing about the circuit.
#[derive(Debug)]
pub(crate) struct Pass {
    circuits: Arc<Circuits>,
    name: Arc<str>,
    is_trial: bool,
}

impl Pass {
    /// It worked, or it failed for a reason of its own.
    pub(crate) fn worked(self) {
        lock(&self.circuits.failing).remove(&self.name);
    }

    /// It failed as everything else may fail now.
    pub(crate) fn failed(self, now: Duration) {
        let settings = self.circuits.settings;
        let mut all = lock(&self.circuits.failing);
        let circuit = all.entry(Arc::clone(&self.name)).or_default();
        circuit.in_a_row = circuit.in_a_row.saturating_add(1);
        if settings.failures > 0 && circuit.in_a_row >= settings.failures {
            circuit.until = Some(now.saturating_add(settings.pause));
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.is_trial
            && let Some(circuit) = lock(&self.circuits.failing).get_mut(&self.name)
        {
            circuit.is_being_tried = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn circuits() -> Arc<Circuits> {
        Circuits::new(CircuitSettings::default().failures(2).pause(SECOND * 10))
    }

    #[test]
    fn it_opens_tries_one_call_and_closes() {
        let (circuits, name) = (circuits(), Arc::from("search"));
        let pass = |now| circuits.pass(&name, now);
        pass(SECOND).unwrap().failed(SECOND);
        pass(SECOND).unwrap().failed(SECOND * 2);
        assert!(pass(SECOND * 11).is_none());
        assert!(circuits.pass(&Arc::from("other"), SECOND * 3).is_some());

        let trial = pass(SECOND * 12).unwrap();
        assert!(pass(SECOND * 12).is_none(), "one trial at a time");
        trial.failed(SECOND * 13);
        assert!(pass(SECOND * 22).is_none(), "open again");

        pass(SECOND * 23).unwrap().worked();
        assert!(lock(&circuits.failing).is_empty());
        assert!(pass(SECOND * 23).is_some());
    }

    #[test]
    fn a_trial_that_is_dropped_leaves_room_for_the_next() {
        let (circuits, name) = (circuits(), Arc::from("search"));
        for _ in 0..2 {
            circuits.pass(&name, SECOND).unwrap().failed(SECOND);
        }
        drop(circuits.pass(&name, SECOND * 11).unwrap());
        assert!(circuits.pass(&name, SECOND * 11).is_some());
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew_and_zero_never_opens() {
        let (circuits, name) = (circuits(), Arc::from("search"));
        for _ in 0..5 {
            circuits.pass(&name, SECOND).unwrap().failed(SECOND);
            circuits.pass(&name, SECOND).unwrap().worked();
        }
        let never = Circuits::new(CircuitSettings::default().failures(0));
        for _ in 0..50 {
            never.pass(&name, SECOND).unwrap().failed(SECOND);
        }
    }
}
