//! What stands at the cursor of a walk: text, a token, a mark, calls.

use repair_core::ToolSpec;

use super::CallReader;
use crate::cursor::{Beginning, Cursor, Look, Stop, beginning};
use crate::format::{self, Body, Format};
use crate::options::Mode;
use crate::paused::Memo;
use crate::printed::{Ending, Printed};
use crate::prose::{self, Marks};
use crate::section::{self, Found, Next};
use crate::tools::{Context, MAX_NAME, is_part_of_name};
use crate::turns::{self, Turn};
use crate::{envelope, tags, trigger};

/// How many possible calls may turn out at the end of the text to be none.
const MAX_REFUSED: usize = 64;

/// What the walk does next.
pub(super) enum Step {
    Wait,
    /// So many bytes are text, and what it is.
    Pass(usize, Passed),
    /// So many bytes are text, which the search went over.
    Run(usize),
    /// So many bytes are a special token: text, but no prose.
    Special(usize),
    Turn(usize, Turn),
    Calls(&'static Format, Found, usize),
}

/// What a text is that the walk steps over.
#[derive(Clone, Copy)]
pub(super) enum Passed {
    Text,
    /// A token of reasoning that is only shown.
    ShownTurn(Turn),
    /// Back-ticks, or the tildes of a fence.
    Marks(Marks),
    /// The mark of a quotation at the start of a line.
    BlockQuote,
    /// The beginning of an element that only shows its content, which ends with this.
    Showing(&'static str),
    /// The end of such an element.
    Shown,
    /// A marker of calls that are only shown, which end with these.
    ShownMarker(&'static [&'static str]),
    /// The end of such calls.
    ShownEnd,
}

/// Ends of calls in tags that have no marker before them.
const TAG_ENDS: &[&str] = &["</function>", "</invoke>", "</tool_call>"];

impl CallReader {
    /// What stands at the cursor.
    pub(super) fn step(&mut self, held: &str, is_end: bool) -> Step {
        let rest = held.get(self.at..).unwrap_or_default();
        if let Some(format) = self.section {
            let next = self.remember(|context, memo| {
                section::go_on(format, Cursor::new(rest, is_end).with_memo(memo), context)
            });
            match next {
                Err(Stop::More) => return Step::Wait,
                Ok(Next::Calls(found)) => return Step::Calls(format, found, 0),
                Ok(Next::Over(length)) => {
                    self.section = None;
                    self.refused_pairs.refuse(format);
                    return Step::Calls(
                        format,
                        Found {
                            calls: Vec::new(),
                            length,
                        },
                        0,
                    );
                }
                Err(Stop::Not) => self.section = None,
            }
        }
        if self.options.forbidden {
            return Step::Pass(rest.len(), Passed::Text);
        }
        if rest.is_empty() {
            return Step::Wait;
        }
        match self.look(held, rest, is_end) {
            Ok(step) => step,
            Err(Stop::More) => Step::Wait,
            // Nothing begins here.
            Err(Stop::Not) => Step::Run(self.run(held)),
        }
    }

    fn look(&mut self, held: &str, rest: &str, is_end: bool) -> Look<Step> {
        let more = if is_end { Stop::Not } else { Stop::More };
        let first = rest.chars().next().unwrap_or_default();
        let at_line_start = self.prose.at_line_start;
        if self.prose.at_start
            && !self.prose.is_reasoning
            && let Some(length) = format::recipient_all(Cursor::new(rest, is_end))?
        {
            self.names_recipients = true;
            return Ok(Step::Pass(length, Passed::Text));
        }
        let is_word = first.is_ascii_alphanumeric() || matches!(first, '_' | '#' | '*');
        match first {
            '`' => return self.at_marks('`', rest, is_end),
            '~' if at_line_start => return self.at_marks('~', rest, is_end),
            '<' | '[' | ']' | '{' | '◁' => {}
            '>' if at_line_start || self.names_recipients => {}
            '(' if self.options.mode == Mode::Expected => {
                return self.at_parenthesis(held, is_end);
            }
            _ if is_word && at_line_start && self.search.may_start_line(rest, self.told.any) => {}
            _ if at_line_start && first.is_whitespace() => {
                let blank = rest.len() - rest.trim_start().len();
                return Ok(Step::Pass(blank, Passed::Text));
            }
            _ => return Err(Stop::Not),
        }
        if first == '<'
            && let Some(length) = self.refused_pairs.see(&Cursor::new(rest, is_end))?
        {
            return Ok(Step::Pass(length, Passed::Text));
        }
        if self.told.any && !self.prose.in_code() {
            let begins = at_line_start || self.prose.after_special;
            match turns::is_continuation(rest, begins) {
                Ok(true) => {
                    self.told.is_over = true;
                    self.told.is_made_up = true;
                }
                Err(()) if !is_end => return Err(Stop::More),
                _ => {}
            }
        }
        if self.options.mode == Mode::Leaked
            && let Some(step) = self.at_shown(rest, is_end)?
        {
            return Ok(step);
        }
        let may_start = trigger::may_start(rest.as_bytes());
        if may_start && let Some(step) = self.at_marker(rest, is_end)? {
            return Ok(step);
        }
        if let Some(step) = self.at_tag(rest, is_end)? {
            return Ok(step);
        }
        if may_start && let Some((length, turn)) = turns::turn_at(rest) {
            if !is_end && turns::may_become_turn(rest) {
                return Err(Stop::More);
            }
            let behind = rest.get(length..).and_then(|behind| behind.chars().next());
            if behind.is_none() && !is_end && self.prose.may_mention() {
                return Err(Stop::More);
            }
            let is_shown = match self.options.mode {
                Mode::Leaked => self.prose.is_shown(),
                Mode::Expected => self.prose.in_code(),
            };
            // A tag that is only mentioned begins and ends nothing.
            if behind.is_none_or(|behind| !self.prose.mentions_before(behind)) {
                return Ok(if self.prose.shows_turn(turn, is_shown) {
                    Step::Pass(length, Passed::ShownTurn(turn))
                } else {
                    Step::Turn(length, turn)
                });
            }
        }
        let may_grow = may_start && !is_end;
        if may_grow && (turns::may_become_turn(rest) || trigger::may_become_marker(rest)) {
            return Err(Stop::More);
        }
        match first {
            '<' => self.at_angle(rest, more),
            '>' if at_line_start => Ok(Step::Pass(1, Passed::BlockQuote)),
            '{' | '[' => self.at_bracket(rest, is_end)?.ok_or(Stop::Not),
            _ if is_word => self.at_word(held, rest, is_end),
            _ => Err(Stop::Not),
        }
    }

    /// How far prose goes on without anything that could begin a call.
    fn run(&mut self, held: &str) -> usize {
        // It does not begin here, but a line may end.
        let first = held.get(self.at..).and_then(|rest| rest.chars().next());
        let from = match first {
            Some('\n') => self.at,
            first => self.at + first.map_or(1, char::len_utf8),
        };
        let end = self.search.next(held.as_bytes(), from, self.told.any);
        let end = end.unwrap_or(held.len());
        if !self.names_recipients {
            return end - self.at;
        }
        let text = held.as_bytes().get(from..end).unwrap_or_default();
        memchr::memchr(b'>', text).map_or(end, |at| from + at) - self.at
    }

    /// Special tokens, and elements that only show their content.
    fn at_angle(&self, rest: &str, more: Stop) -> Look<Step> {
        match turns::special_at(rest) {
            Ok(Some(length)) => return Ok(Step::Special(length)),
            Ok(None) => {}
            Err(()) => return Err(more),
        }
        if self.options.mode == Mode::Expected {
            return Err(Stop::Not);
        }
        if let Some(close) = self.prose.showing() {
            let Some(head) = rest.as_bytes().get(..close.len()) else {
                let may_close = close
                    .get(..rest.len())
                    .is_some_and(|close| close.eq_ignore_ascii_case(rest));
                return Err(if may_close { more } else { Stop::Not });
            };
            return if head.eq_ignore_ascii_case(close.as_bytes()) {
                Ok(Step::Pass(close.len(), Passed::Shown))
            } else {
                Err(Stop::Not)
            };
        }
        match prose::showing_at(rest) {
            Ok(Some((length, close))) => Ok(Step::Pass(length, Passed::Showing(close))),
            Ok(None) => Err(Stop::Not),
            Err(()) => Err(more),
        }
    }

    /// A marker of calls that are only shown, or the end of these.
    fn at_shown(&self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        let cursor = Cursor::new(rest, is_end);
        if let Some(ends) = self.prose.shown_ends() {
            let end = cursor.sees_any(ends)?;
            return Ok(end.map(|end| Step::Pass(end.len(), Passed::ShownEnd)));
        }
        if !self.prose.shows_next() {
            return Ok(None);
        }
        let mut longest: Option<(usize, &Format)> = None;
        for format in trigger::formats_at(rest) {
            let marker = cursor.sees_any(format.open)?.map_or(0, str::len);
            if marker > longest.map_or(0, |(length, _)| length) {
                longest = Some((marker, format));
            }
        }
        if let Some((length, format)) = longest {
            return Ok(Some(Step::Pass(length, Passed::ShownMarker(format.close))));
        }
        if !tags::may_open_call(rest) {
            return Ok(None);
        }
        match tags::tag(&cursor) {
            Ok(tag) if !tag.is_closing && tag.role != tags::Role::Parameter => {
                Ok(Some(Step::Pass(tag.length, Passed::ShownMarker(TAG_ENDS))))
            }
            Err(Stop::More) => Err(Stop::More),
            _ => Ok(None),
        }
    }

    pub(super) fn context(&self) -> Context<'_> {
        Context {
            tools: &self.tools,
            mode: self.options.mode,
            may_be_inside: self.has_brackets,
            any_name: false,
        }
    }

    fn at_marker(&mut self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        let mut is_refused = false;
        let mut of_no_tool = None;
        for format in trigger::formats_at(rest) {
            let opens = format
                .open
                .iter()
                .any(|marker| beginning(rest, marker) == Beginning::Whole);
            if opens && self.reads(format) {
                if let Some(step) = self.begin(format, rest, is_end)? {
                    return Ok(Some(step));
                }
                self.refused_pairs.refuse(format);
                is_refused = true;
                // What a call in pairs holds is told apart value by value.
                if of_no_tool.is_none() && !matches!(format.body, Body::Pairs(_)) {
                    of_no_tool = self.of_no_tool(format, rest, is_end)?;
                }
            }
        }
        // What was to be a call and cannot be read: what looks like one behind it may be its content.
        self.told.is_broken |= is_refused;
        Ok(of_no_tool.map(|length| Step::Pass(length, Passed::Text)))
    }

    /// How far a call goes that begins here and means no tool: what looks like a call in it is its
    /// content.
    fn of_no_tool(
        &mut self,
        format: &'static Format,
        rest: &str,
        is_end: bool,
    ) -> Look<Option<usize>> {
        if self.not_calls >= MAX_REFUSED {
            return Ok(None);
        }
        let found = self.remember(|context, memo| {
            let context = Context {
                any_name: true,
                ..context
            };
            section::begin(format, Cursor::new(rest, is_end).with_memo(memo), context)
        });
        match found {
            Ok(found) => {
                let context = self.context();
                let means_none =
                    |call: &Printed| call.ending == Ending::Cut || !context.resolves(&call.name);
                Ok(found.calls.iter().all(means_none).then_some(found.length))
            }
            Err(Stop::More) => Err(Stop::More),
            Err(Stop::Not) => {
                self.not_calls += 1;
                Ok(None)
            }
        }
    }

    /// Calls in tags without a marker before them.
    fn at_tag(&mut self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        let begins = [
            (&format::BARE_TAGS, tags::may_open_call(rest)),
            (&format::BARE_ELEMENTS, rest.starts_with(']')),
            (&format::TOOL_TAG, self.may_be_tool_tag(rest)),
        ];
        for (format, _) in begins.into_iter().filter(|(_, may_begin)| *may_begin) {
            if !self.reads(format) {
                continue;
            }
            if let Some(step) = self.begin(format, rest, is_end)? {
                return Ok(Some(step));
            }
            // Any tag may have the name of something else.
            if !matches!(format.body, Body::ToolTag)
                && let Some(length) = self.of_no_tool(format, rest, is_end)?
            {
                return Ok(Some(Step::Pass(length, Passed::Text)));
            }
        }
        Ok(None)
    }

    /// Whether a tag with the name of a tool may begin at the start of a text.
    fn may_be_tool_tag(&self, rest: &str) -> bool {
        let name = rest.strip_prefix('<');
        name.is_some_and(|name| self.search.may_start_name(name))
    }

    /// Whether calls of a format with markers are read here: not in code, in reasoning, as a
    /// quotation, behind a result that the model made up, or in a call that cannot be read.
    fn reads(&self, format: &Format) -> bool {
        if self.told.is_made_up
            || self.refused_pairs.is_inside()
            || self.prose.is_reasoning && !self.options.reasoning && !format.ends_reasoning
        {
            return false;
        }
        self.options.mode == Mode::Expected || !(self.prose.is_message || self.prose.is_shown())
    }

    /// Whether calls of a format without markers are read here.
    fn reads_bare(&self, format: &Format) -> bool {
        let is_marked = self.prose.after_special && self.prose.at_line_start;
        let place = self.options.mode == Mode::Expected && (!self.told.is_over || is_marked)
            || self.options.mode == Mode::Leaked
                && self.prose.at_line_start
                && !self.told.is_broken
                && !self.prose.is_indented();
        place && self.reads(format)
    }

    fn begin(&mut self, format: &'static Format, rest: &str, is_end: bool) -> Look<Option<Step>> {
        if self.refused >= MAX_REFUSED {
            return Ok(None);
        }
        let found = self.remember(|context, memo| {
            section::begin(format, Cursor::new(rest, is_end).with_memo(memo), context)
        });
        match found {
            Ok(found) => Ok(Some(Step::Calls(format, found, 0))),
            Err(Stop::More) => Err(Stop::More),
            Err(Stop::Not) => {
                self.refused += usize::from(is_end);
                Ok(None)
            }
        }
    }

    /// Reads with what is remembered from the last time, and remembers where the reader stopped.
    fn remember<T>(&mut self, read: impl Fn(Context<'_>, &Memo) -> Look<T>) -> Look<T> {
        let memo = Memo::new(self.attempts.paused.take(), self.dull);
        let read = read(self.context(), &memo);
        self.left_open = memo.left_open();
        self.dull = memo.dull();
        let needs_more = matches!(read, Err(Stop::More));
        self.attempts.awaited = memo.awaited().filter(|_| needs_more);
        self.attempts.paused = memo.into_paused(needs_more);
        read
    }

    fn at_marks(&mut self, mark: char, rest: &str, is_end: bool) -> Look<Step> {
        let count = rest.len() - rest.trim_start_matches(mark).len();
        if count == rest.len() && !is_end {
            return Err(Stop::More);
        }
        let is_fence = count >= Marks::FENCE;
        if mark == '~' && !is_fence {
            return Err(Stop::Not);
        }
        let reads = is_fence
            && !self.prose.in_fence()
            && match self.options.mode {
                Mode::Leaked => self.prose.at_start || rest.starts_with(format::TOOL_CODE),
                Mode::Expected => !self.told.is_over,
            };
        if reads
            && self.reads(&format::FENCED)
            && let Some(step) = self.begin(&format::FENCED, rest, is_end)?
        {
            return Ok(step);
        }
        let mut marks = Marks::at(rest, mark, is_end).ok_or(Stop::More)?;
        marks.at_any_indent = self.options.mode == Mode::Expected;
        Ok(Step::Pass(marks.count, Passed::Marks(marks)))
    }

    fn at_bracket(&mut self, rest: &str, is_end: bool) -> Look<Option<Step>> {
        let cursor = Cursor::new(rest, is_end);
        if !self.reads_bare(&format::BARE_JSON)
            || self.unfinished.contains(&self.at) && !envelope::begins_as_call(cursor)?
            || !envelope::may_hold_call(cursor)?
        {
            return Ok(None);
        }
        self.left_open.clear();
        let found = self.begin(&format::BARE_JSON, rest, is_end)?;
        if found.is_none() {
            let open = std::mem::take(&mut self.left_open);
            if (begins_list_of_calls(rest) || envelope::begins_as_call(cursor)?)
                && let Some(length) = self.of_no_tool(&format::BARE_JSON, rest, is_end)?
            {
                return Ok(Some(Step::Pass(length, Passed::Text)));
            }
            let is_end = is_end && self.refused < MAX_REFUSED;
            let context = self.context();
            if let Some(length) = is_end
                .then(|| envelope::broken_length(cursor, context))
                .flatten()
            {
                return Ok(Some(Step::Pass(length, Passed::Text)));
            }
            // What is open where a reading breaks off breaks off there too.
            self.unfinished = self.unfinished.split_off(&self.at);
            let open = open.into_iter().map(|open| self.at + open);
            self.unfinished.extend(open);
        }
        Ok(found)
    }

    /// A word at the start of a line: it may be a tool's name.
    fn at_word(&mut self, held: &str, rest: &str, is_end: bool) -> Look<Step> {
        if !self.reads_bare(&format::BARE_NAMED) {
            return Err(Stop::Not);
        }
        let length = match trigger::name_at(rest) {
            Some(length) => length,
            None if is_end || rest.len() > MAX_NAME => return Err(Stop::Not),
            None if trigger::may_become_name(rest, self.tools.specs().map(ToolSpec::name)) => {
                return Err(Stop::More);
            }
            None => return Err(Stop::Not),
        };
        let word = rest.get(..length).unwrap_or_default();
        if !self.context().declares(word) {
            return Err(Stop::Not);
        }
        self.see_loops(held);
        for format in [&format::BARE_NAMED, &format::BARE_PYTHON] {
            match self.begin(format, rest, is_end)? {
                Some(Step::Calls(_, found, _)) if self.loops.bind(&found.calls) => break,
                Some(step) => return Ok(step),
                None => {}
            }
        }
        Err(Stop::Not)
    }

    /// A parenthesis, where calls are expected: the name stands before it.
    fn at_parenthesis(&mut self, held: &str, is_end: bool) -> Look<Step> {
        let before = held.get(..self.at).unwrap_or_default();
        let name = trigger::name_before(before);
        let lead = before.get(..before.len() - name.len()).unwrap_or_default();
        let is_definition = lead.ends_with("def ") || lead.ends_with("class ");
        if name.is_empty()
            || is_definition
            || !self.reads_bare(&format::BARE_PYTHON)
            || !self.known_words.resolves(name, &self.tools)
        {
            return Err(Stop::Not);
        }
        let start = self.at - name.len();
        let text = held.get(start..).unwrap_or_default();
        self.see_loops(held);
        self.attempts.back = name.len();
        match self.begin(&format::BARE_PYTHON, text, is_end)? {
            Some(Step::Calls(_, found, _)) if self.loops.bind(&found.calls) => Err(Stop::Not),
            Some(Step::Calls(format, found, _)) => Ok(Step::Calls(format, found, name.len())),
            _ => Err(Stop::Not),
        }
    }
}

/// Whether a list begins whose first item is a call of Python.
fn begins_list_of_calls(text: &str) -> bool {
    text.strip_prefix('[').is_some_and(|inside| {
        let inside = inside.trim_start();
        let behind = inside.trim_start_matches(is_part_of_name);
        behind.len() < inside.len() && behind.starts_with('(')
    })
}
