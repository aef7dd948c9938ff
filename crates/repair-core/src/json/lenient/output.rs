//! The strict text as it grows, and the report of what was changed.

use std::ops::Range;

use super::TextFix;
use crate::json::attempt::StrictString;
use crate::rule::{Risk, Rule};

/// What the reader has written so far.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) fixes: Vec<TextFix>,
    /// Its long strings, in order.
    pub(super) strings: Vec<StrictString>,
}

impl Output {
    /// Room for the text and for what escaping usually adds.
    pub(super) fn for_input(length: usize) -> Self {
        Self {
            text: String::with_capacity(length + length / 8 + 64),
            fixes: Vec::new(),
            strings: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Remembers the string that was just written, from its opening quote at `start` on.
    pub(super) fn remember_string(&mut self, start: usize) {
        let end = self.text.len();
        let string = StrictString { start, end };
        if string.is_long() {
            self.strings.push(string);
        }
    }

    /// Copies `text`, strict JSON with these strings in it.
    pub(super) fn push_strict(&mut self, text: &str, strings: impl Iterator<Item = StrictString>) {
        let offset = self.text.len();
        self.text.push_str(text);
        self.strings.extend(strings.map(|string| StrictString {
            start: offset + string.start,
            end: offset + string.end,
        }));
    }

    /// Writes `now` for the bytes `before` of the input.
    pub(super) fn fix(&mut self, rule: &'static Rule, before: Range<usize>, now: &str) {
        self.fix_as(rule, rule.risk, before, now);
    }

    /// The same with a risk of its own.
    pub(super) fn fix_as(
        &mut self,
        rule: &'static Rule,
        risk: Risk,
        before: Range<usize>,
        now: &str,
    ) {
        let start = self.text.len();
        self.text.push_str(now);
        self.note(rule, risk, before, start);
    }

    /// Notes that what was written from `start` on stands for the bytes `before`.
    pub(super) fn note(
        &mut self,
        rule: &'static Rule,
        risk: Risk,
        before: Range<usize>,
        start: usize,
    ) {
        self.note_range(rule, risk, before, start..self.text.len());
    }

    /// Notes that the bytes `after` of what was written stand for the bytes `before`.
    pub(super) fn note_range(
        &mut self,
        rule: &'static Rule,
        risk: Risk,
        before: Range<usize>,
        after: Range<usize>,
    ) {
        self.fixes.push(TextFix {
            rule,
            risk: risk.max(rule.risk),
            before,
            after,
        });
    }

    /// Forgets everything that was written from `length` on.
    pub(super) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        while self.strings.pop_if(|string| string.end > length).is_some() {}
        for fix in self
            .fixes
            .iter_mut()
            .rev()
            .take_while(|fix| fix.after.end > length)
        {
            fix.after = fix.after.start.min(length)..length;
        }
    }

    /// Puts a character in at `at`; only white space and a comma follow it.
    pub(super) fn insert(&mut self, at: usize, character: char) {
        self.text.insert(at, character);
        let shift = |place: usize| if place > at { place + 1 } else { place };
        for fix in self
            .fixes
            .iter_mut()
            .rev()
            .take_while(|fix| fix.after.end > at)
        {
            fix.after = shift(fix.after.start)..shift(fix.after.end);
        }
    }

    /// Takes the comma at `at` out again; only white space follows it.
    pub(super) fn remove_comma(&mut self, at: usize) {
        let space = self.text.split_off(at + 1);
        self.text.pop();
        self.text.push_str(&space);
        for fix in self
            .fixes
            .iter_mut()
            .rev()
            .take_while(|fix| fix.after.end > at)
        {
            let shift = |place: usize| if place > at { place - 1 } else { place };
            fix.after = shift(fix.after.start)..shift(fix.after.end);
        }
    }
}
