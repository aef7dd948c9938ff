//! Leaving alone what fails again and again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

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
