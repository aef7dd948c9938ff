//! The pause before the same call is tried again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Pauses that grow by a factor, with jitter. A tool that says how long it wants to be left alone
/// is left alone at least that long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Backoff {
    /// The first pause (500 ms).
    pub first: Duration,
    /// How many times longer each is than the one before (2).
    pub factor: u32,
    /// The longest pause (30 s).
    pub longest: Duration,
    /// Which part of a pause is left to chance, from 0 to 1 (0.5: a pause of 8 s lasts 4 to 8 s).
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            factor: 2,
            longest: Duration::from_secs(30),
            jitter: 0.5,
        }
    }
}

impl Backoff {
    /// Sets the first pause.
    pub fn first(mut self, pause: Duration) -> Self {
        self.first = pause;
        self
    }

    /// Sets how many times longer each pause is than the one before.
    pub fn factor(mut self, factor: u32) -> Self {
        self.factor = factor;
        self
    }

    /// Sets the longest pause.
    pub fn longest(mut self, pause: Duration) -> Self {
        self.longest = pause;
        self
    }

    /// Sets which part of a pause is left to chance.
    pub fn jitter(mut self, part: f64) -> Self {
        self.jitter = part;
        self
    }

    /// The pause after `failures` failures (at least 1) in a row; `chance` decides the jitter.
    ///
    /// ```
    /// use std::time::Duration;
    /// use harness::Backoff;
    /// let steady = Backoff::default().jitter(0.0);
    /// assert_eq!(steady.pause(1, 0), Duration::from_millis(500));
    /// assert_eq!(steady.pause(3, 0), Duration::from_secs(2));
    /// assert_eq!(steady.pause(99, 0), Duration::from_secs(30));
    /// ```
    pub fn pause(&self, failures: u32, chance: u64) -> Duration {
        let mut pause = self.first;
        for _ in 1..failures {
            if pause >= self.longest || self.factor <= 1 {
                break;
            }
            pause = pause.saturating_mul(self.factor);
        }
        let pause = pause.min(self.longest);
        let jitter = if self.jitter.is_finite() {
            self.jitter.clamp(0.0, 1.0)
        } else {
            0.0
        };
        pause.saturating_sub(pause.mul_f64(jitter * fraction(chance)))
    }
}

/// A number from 0 up to 1 out of the upper bits of `chance`.
fn fraction(chance: u64) -> f64 {
    let bits = u32::try_from(chance >> 32).unwrap_or(u32::MAX);
    f64::from(bits) / (f64::from(u32::MAX) + 1.0)
}

/// Mixes numbers into an even-looking one; the same ones always give the same (splitmix64).
pub(crate) fn mix(seed: u64, run: u64, step: u64) -> u64 {
    [run, step].into_iter().fold(seed, |state, number| {
        let mut mixed = (state ^ number).wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_within_its_part_and_follows_the_seed() {
        let backoff = Backoff::default();
        let pauses: Vec<Duration> = (0..100)
            .map(|run| backoff.pause(4, mix(7, run, 1)))
            .collect();
        let (whole, half) = (Duration::from_secs(4), Duration::from_secs(2));
        assert!(pauses.iter().all(|pause| (half..=whole).contains(pause)));
        assert!(pauses.windows(2).any(|pair| pair[0] != pair[1]));
        let again: Vec<Duration> = (0..100)
            .map(|run| backoff.pause(4, mix(7, run, 1)))
            .collect();
        assert_eq!(pauses, again);
    }

    #[test]
    fn no_number_overflows() {
        let wild = Backoff::default()
            .first(Duration::MAX)
            .longest(Duration::MAX)
            .factor(u32::MAX);
        for jitter in [f64::NAN, f64::INFINITY, -1.0, 2.0, 0.0] {
            let pause = wild.jitter(jitter).pause(u32::MAX, u64::MAX);
            assert!(pause <= Duration::MAX);
        }
        assert_eq!(
            Backoff::default().first(Duration::ZERO).pause(9, 1),
            Duration::ZERO
        );
    }
}
