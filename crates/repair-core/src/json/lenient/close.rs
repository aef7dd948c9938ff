//! Closing brackets, missing and surplus ones, and the end of a text that comes too early.

use super::reader::{Frame, Reader, State};
use super::{Cut, Problem, key, rules};
use crate::rule::Risk;

impl<'t> Reader<'t, '_> {
    pub(super) fn close(&mut self, closer: char) {
        let closes_object = matches!(closer, '}' | '｝');
        let Some(depth) = self
            .stack
            .iter()
            .rposition(|frame| frame.is_object == closes_object)
        else {
            return self.close_nothing(self.at + closer.len_utf8());
        };
        let end = self.at + closer.len_utf8();
        if depth == 0 && self.member_follows_root(end) {
            return self.close_too_early(end);
        }
        let had_comma = self.stack.last().is_some_and(|frame| frame.comma.is_some());
        self.remove_trailing_comma();
        while self.stack.len() > depth + 1 {
            let inner = self.pop_frame().is_some_and(|frame| frame.is_object);
            self.out.fix(
                &rules::MISSING_CLOSER,
                self.at..self.at,
                if inner { "}" } else { "]" },
            );
        }
        let frame = self.pop_frame();
        let group = frame.filter(|frame| closer == ')' && frame.len == 1 && !had_comma);
        if let Some(start) = group.and_then(|frame| frame.group) {
            // One value in parentheses is that value.
            self.out.text.replace_range(start..=start, " ");
            self.write_token(closer, "", &rules::BRACKET);
            return self.value_is_done(false);
        }
        self.write_token(
            closer,
            if closes_object { "}" } else { "]" },
            &rules::BRACKET,
        );
        self.value_is_done(false);
    }

    /// A closer of a kind that is not open: it is meant for the innermost container, if what follows
    /// has no other place, and one too many otherwise.
    fn close_nothing(&mut self, end: usize) {
        let before = self.at..end;
        if !self.lacks_closer(end) {
            self.out.fix(&rules::SURPLUS_CLOSER, before, "");
            self.at = end;
            return;
        }
        self.remove_trailing_comma();
        let inner = self.pop_frame().is_some_and(|frame| frame.is_object);
        self.at = end;
        let strict = if inner { "}" } else { "]" };
        self.out
            .fix_as(&rules::BRACKET, Risk::Inferred, before, strict);
        self.value_is_done(false);
    }

    /// Whether what stands at `end` shows that the innermost container, within another one, ended
    /// before: the closers at the end of the text are too few by one, or a member of the outer
    /// object follows that the inner one does not declare.
    fn lacks_closer(&self, end: usize) -> bool {
        let [.., outer, inner] = self.stack.as_slice() else {
            return false;
        };
        let rest = self.rest(end).trim_start();
        let Some(next) = rest.strip_prefix(',') else {
            // More closers than containers need not be counted.
            let closers = rest.chars().filter(|c| !c.is_whitespace());
            let mut closers = closers.take(self.stack.len());
            let count = closers.try_fold(0, |count, c| matches!(c, '}' | ']').then_some(count + 1));
            return count.is_some_and(|count: usize| count + 1 == self.stack.len());
        };
        key::quoted(next.trim_start()).is_some_and(|key| {
            let name = key::decoded(key.name);
            outer.is_object
                && self.tree.declares(outer.place, &name)
                && !outer.keys.contains(&name)
                && !self.tree.declares(inner.place, &name)
        })
    }

    fn pop_frame(&mut self) -> Option<Frame<'t>> {
        let frame = self.stack.pop()?;
        self.doubts.object(&frame, self.tree);
        Some(frame)
    }

    /// Whether behind the end of the root object a comma and a member of it follow.
    fn member_follows_root(&self, end: usize) -> bool {
        let Some(root) = self.stack.first().filter(|root| root.is_object) else {
            return false;
        };
        let rest = self.rest(end).trim_start().strip_prefix(',');
        rest.and_then(|rest| key::quoted(rest.trim_start()))
            .is_some_and(|key| !root.keys.contains(&key::decoded(key.name)))
    }

    /// A closer that would end the root before its last member: it closes the innermost container
    /// if that is an array, and nothing otherwise.
    fn close_too_early(&mut self, end: usize) {
        let before = self.at..end;
        self.at = end;
        if self.stack.last().is_some_and(|frame| frame.is_object) {
            // A comma before it stays for the member that follows.
            return self
                .out
                .fix_as(&rules::SURPLUS_CLOSER, Risk::Inferred, before, "");
        }
        self.remove_trailing_comma();
        self.stack.pop();
        self.out
            .fix_as(&rules::BRACKET, Risk::Inferred, before, "]");
        self.value_is_done(false);
    }

    /// Whether an object that opens here can only be the next item of the array around this one.
    pub(super) fn item_lacks_brace(&self) -> bool {
        matches!(self.stack.as_slice(), [.., array, item] if item.is_object && !array.is_object)
    }

    /// Closes the item of an array that lacks its brace, where the next item opens.
    pub(super) fn close_item(&mut self) -> bool {
        let lacks = self.item_lacks_brace() && self.stack.last().is_some_and(|item| item.len > 0);
        if lacks {
            self.close_behind_value();
        }
        lacks
    }

    /// Closes an array that lacks its bracket, where a member of the object around it stands that is
    /// none of an item's.
    pub(super) fn close_array(&mut self) -> bool {
        let [.., object, array] = self.stack.as_slice() else {
            return false;
        };
        let lacks = object.is_object
            && !array.is_object
            && array.len > 0
            && key::quoted(self.rest(self.at)).is_some_and(|key| {
                let name = key::decoded(key.name);
                self.tree.declares(object.place, &name)
                    && !object.keys.contains(&name)
                    && !self.tree.declares(array.value_place, &name)
            });
        if lacks {
            self.close_behind_value();
        }
        lacks
    }

    /// Closes the innermost container directly behind its last value; the comma that was read since
    /// then is one of the container around it.
    fn close_behind_value(&mut self) {
        let Some(inner) = self.pop_frame() else {
            return;
        };
        let (comma, read) = (inner.comma, inner.comma_read);
        let end = comma.unwrap_or(self.value_end);
        self.out
            .insert(end, if inner.is_object { '}' } else { ']' });
        let here = self.at..self.at;
        let risk = Risk::Inferred;
        self.out
            .note_range(&rules::MISSING_CLOSER, risk, here, end..end + 1);
        self.value_is_done(false);
        self.value_end = end + 1;
        match comma {
            Some(comma) => self.begin_next(comma + 1, read),
            None => self.missing_comma(),
        }
    }

    fn remove_trailing_comma(&mut self) {
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        let read = frame.comma_read.clone();
        if let Some(comma) = frame.comma.take() {
            self.out.remove_comma(comma);
            self.out
                .note_range(&rules::SURPLUS_COMMA, Risk::Lossless, read, comma..comma);
        }
    }

    /// The text ended before the value did: what is certain is kept.
    pub(super) fn cut_off(&mut self, cut: Cut) {
        if self.cut.is_none() && !(self.stack.is_empty() && self.state == State::Done) {
            self.cut = Some(cut);
        }
        self.give_up();
    }

    pub(super) fn fail(&mut self) {
        self.problem = self.problem.or(Some(Problem::Unreadable(self.at)));
        self.give_up();
    }

    /// Ends the value here: a key without a value goes, open containers are closed.
    pub(super) fn give_up(&mut self) {
        let is_dangling = self.state != State::After;
        if let Some(frame) = self.stack.last()
            && is_dangling
        {
            self.out.truncate(
                frame
                    .comma
                    .map_or(frame.member_start, |comma| comma.min(frame.member_start)),
            );
        } else if self.stack.is_empty() && self.state == State::Value {
            self.problem = self.problem.or(Some(Problem::NoValue));
            self.out.push("null");
        } else {
            self.out.truncate(self.value_end);
        }
        let end = self.text.len();
        while let Some(frame) = self.stack.pop() {
            self.out.fix(
                &rules::CUT_COMPLETED,
                end..end,
                if frame.is_object { "}" } else { "]" },
            );
        }
        self.at = end;
        self.state = State::Done;
    }
}
