//! Noticing that nothing changes: the same call with the same result, again and again.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::conversation::lock;
use crate::step::ResultDigest;

/// Most calls that are remembered; the oldest is forgotten first.
const REMEMBERED: usize = 1_024;

/// Names a call, whatever its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoopKey(u64);

impl LoopKey {
    /// All names that resolve to no tool are one call.
    pub(crate) const UNKNOWN_TOOL: Self = Self(0);

    pub(crate) fn call(tool: &str, arguments: &str) -> Self {
        let canonical = repair_core::canonical_json(arguments);
        Self(hash(&(tool, canonical.as_deref().unwrap_or(arguments))).max(1))
    }
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopResult(u64);

impl LoopResult {
    pub(crate) fn success(digest: ResultDigest) -> Self {
        Self(hash(&(true, digest.0)))
    }

    pub(crate) fn error(message: &str) -> Self {
        Self(hash(&(false, message)))
    }

    /// Every failed look-up of a name is the same.
    pub(crate) const UNKNOWN_TOOL: Self = Self(0);
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// How often each call has had the same result in a row.
#[derive(Debug)]
pub(crate) struct Loops {
    limit: u32,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    calls: HashMap<LoopKey, (LoopResult, u32)>,
    order: VecDeque<LoopKey>,
}

impl Loops {
    /// Blocks a call after `limit` equal results; zero never does.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            limit,
            seen: Mutex::default(),
        }
    }

    pub(crate) fn blocks(&self, key: LoopKey) -> bool {
        let seen = lock(&self.seen);
        let times = seen.calls.get(&key).map_or(0, |(_, times)| *times);
        self.limit > 0 && times >= self.limit
    }

    /// Counts a result. A call that is new and that changed something is progress: whatever
    /// was asked before it may be asked again.
    pub(crate) fn record(&self, key: LoopKey, result: LoopResult, changed_something: bool) {
        let mut seen = lock(&self.seen);
        match seen.calls.get_mut(&key) {
            Some((last, times)) if *last == result => *times = times.saturating_add(1),
            Some(entry) => *entry = (result, 1),
            None => {
                if changed_something {
                    seen.forget_known();
                }
                seen.remember(key, result);
            }
        }
    }
}

impl Seen {
    fn remember(&mut self, key: LoopKey, result: LoopResult) {
        self.calls.insert(key, (result, 1));
        self.order.push_back(key);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// Forgets every call but the unknown names: no change of the world makes them known.
    fn forget_known(&mut self) {
        self.calls.retain(|key, _| *key == LoopKey::UNKNOWN_TOOL);
        self.order.retain(|key| *key == LoopKey::UNKNOWN_TOOL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> LoopKey {
        LoopKey::call("read", arguments)
    }

    fn result(number: u64) -> LoopResult {
        LoopResult::success(ResultDigest(number))
    }

    #[test]
    fn three_equal_results_block_a_call_in_any_spelling() {
        let loops = Loops::new(3);
        for spelling in [
            r#"{"a":1,"b":2}"#,
            r#"{ "b": 2.0, "a": 1 }"#,
            r#"{"a":1,"b":2}"#,
        ] {
            assert!(!loops.blocks(call(spelling)));
            loops.record(call(spelling), result(1), false);
        }
        assert!(loops.blocks(call(r#"{"b":2,"a":1}"#)));
        assert!(!loops.blocks(call(r#"{"a":1,"b":3}"#)));
        assert!(!loops.blocks(LoopKey::call("write", r#"{"a":1,"b":2}"#)));
    }

    #[test]
    fn another_result_starts_anew() {
        let loops = Loops::new(3);
        for number in [1, 1, 2, 2] {
            loops.record(call("{}"), result(number), false);
        }
        assert!(!loops.blocks(call("{}")));
        loops.record(call("{}"), result(2), false);
        assert!(loops.blocks(call("{}")));
    }

    #[test]
    fn a_new_change_of_the_world_is_progress_and_the_same_change_again_is_none() {
        let loops = Loops::new(3);
        let edit = |text: &str| LoopKey::call("edit", text);
        for _ in 0..3 {
            loops.record(call("{}"), result(1), false);
        }
        loops.record(edit(r#"{"line":1}"#), result(0), true);
        assert!(!loops.blocks(call("{}")));
        for _ in 0..3 {
            loops.record(call("{}"), result(1), false);
            loops.record(edit(r#"{"line":1}"#), result(0), true);
        }
        assert!(loops.blocks(call("{}")));
        assert!(loops.blocks(edit(r#"{"line":1}"#)));
    }

    #[test]
    fn memory_is_bounded_and_zero_is_no_limit() {
        let loops = Loops::new(0);
        for number in 0..5_000 {
            loops.record(call(&format!("[{number}]")), result(1), false);
            loops.record(LoopKey::UNKNOWN_TOOL, LoopResult::UNKNOWN_TOOL, false);
        }
        assert!(!loops.blocks(LoopKey::UNKNOWN_TOOL));
        let seen = lock(&loops.seen);
        assert_eq!(seen.calls.len(), seen.order.len());
        assert!(seen.order.len() <= REMEMBERED);
    }
}
