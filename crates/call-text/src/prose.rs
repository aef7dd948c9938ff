//! Where a place stands in the text: prose, code, a quotation, reasoning.

use crate::cursor::floor;
use crate::quotation::{Quotation, Shown};
use crate::turns::Turn;

/// Elements whose content is shown, not meant, with what ends them.
static SHOWING: &[(&str, &str)] = &[
    ("<!--", COMMENT_END),
    ("<code", "</code>"),
    ("<pre", "</pre>"),
    ("<samp", "</samp>"),
    ("<kbd", "</kbd>"),
    ("<xmp", "</xmp>"),
    ("<blockquote", "</blockquote>"),
];
const COMMENT_END: &str = "-->";
/// Blanks before a line from which on it stands as code.
const CODE_INDENT: usize = 4;

/// An element at the start of `text` whose content is only shown: the length of its tag's
/// beginning, and what ends the element. `Err`: more text is needed.
pub(crate) fn showing_at(text: &str) -> Result<Option<(usize, &'static str)>, ()> {
    let second = text.as_bytes().get(1).map(u8::to_ascii_lowercase);
    for (open, close) in SHOWING {
        if second.is_some() && open.as_bytes().get(1).copied() != second {
            continue;
        }
        let head = text.as_bytes().get(..open.len());
        let Some(head) = head else {
            let is_beginning = open
                .get(..text.len())
                .is_some_and(|open| open.eq_ignore_ascii_case(text));
            if is_beginning {
                return Err(());
            }
            continue;
        };
        if !head.eq_ignore_ascii_case(open.as_bytes()) {
            continue;
        }
        match text.as_bytes().get(open.len()) {
            _ if *close == COMMENT_END => return Ok(Some((open.len(), close))),
            None => return Err(()),
            Some(b'>' | b' ' | b'\n' | b'\t') => return Ok(Some((open.len(), close))),
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Marks of a fence, or back-ticks of inline code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) mark: char,
    pub(crate) count: usize,
    /// What follows them on their line.
    pub(crate) behind: Behind,
    /// Blanks before them on their line.
    indent: usize,
    /// However far they are indented, they end a fence: where calls are expected, whole replies
    /// are.
    pub(crate) at_any_indent: bool,
}

/// What follows marks on their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    Nothing,
    /// Text without back-ticks, such as the name of a language.
    Text,
    /// Back-ticks: the marks are inline code.
    Marks,
}

impl Marks {
    /// How many marks make a fence of a line.
    pub(crate) const FENCE: usize = 3;

    /// Longest text behind the marks of a fence that is looked through for more, in bytes.
    const MAX_INFO: usize = 256;

    /// The marks at the start of a text. `None`: more text is needed.
    pub(crate) fn at(text: &str, mark: char, is_end: bool) -> Option<Self> {
        let after = text.trim_start_matches(mark);
        let mut marks = Self {
            mark,
            count: text.len() - after.len(),
            behind: Behind::Text,
            indent: 0,
            at_any_indent: false,
        };
        if after.is_empty() && !is_end {
            return None;
        }
        if !marks.is_fence() {
            return Some(marks);
        }
        let window = after.get(..floor(after, Self::MAX_INFO)).unwrap_or(after);
        let end = window.find('\n');
        let line = window.get(..end.unwrap_or(window.len())).unwrap_or(window);
        if line.contains('`') && mark == '`' {
            marks.behind = Behind::Marks;
        } else if end.is_none() && window.len() == after.len() && !is_end {
            return None;
        } else if line.trim().is_empty() {
            marks.behind = Behind::Nothing;
        }
        Some(marks)
    }

    pub(crate) fn is_fence(self) -> bool {
        self.count >= Self::FENCE
    }

    /// Whether they end the fence that others began.
    fn closes(self, open: Self) -> bool {
        self.mark == open.mark
            && self.count >= open.count
            && self.behind == Behind::Nothing
            && (self.at_any_indent || self.indent < open.indent + CODE_INDENT)
    }
}

/// What is known about a place.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts about one place"
)]
pub(crate) struct Prose {
    /// The marks of the open fence.
    fence: Option<Marks>,
    /// The back-ticks of the open inline code.
    code: Option<Marks>,
    /// What ends the open element that only shows its content.
    showing: Option<&'static str>,
    /// Dashes right before, in a comment.
    dashes: usize,
    /// The line is a quotation.
    in_block_quote: bool,
    /// Blanks at the start of the line.
    indent: usize,
    pub(crate) is_reasoning: bool,
    /// Reasoning that is only shown has begun.
    shows_reasoning: bool,
    /// Inside a message to the user.
    pub(crate) is_message: bool,
    /// Reasoning began with its token, or has ended: no end of reasoning can be an orphan.
    pub(crate) has_reasoned: bool,
    /// Nothing but white space and special tokens stands before on this line.
    pub(crate) at_line_start: bool,
    /// Nothing but white space, special tokens and reasoning stands before.
    pub(crate) at_start: bool,
    quotation: Quotation,
    /// Nothing but white space stands between here and a special token.
    pub(crate) after_special: bool,
}

impl Default for Prose {
    fn default() -> Self {
        Self {
            fence: None,
            code: None,
            showing: None,
            dashes: 0,
            in_block_quote: false,
            indent: 0,
            is_reasoning: false,
            shows_reasoning: false,
            is_message: false,
            has_reasoned: false,
            at_line_start: true,
            at_start: true,
            quotation: Quotation::default(),
            after_special: false,
        }
    }
}

impl Prose {
    pub(crate) fn in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Whether what stands here is only shown: in code, in a quotation, in a comment.
    pub(crate) fn is_shown(&self) -> bool {
        self.in_code()
            || self.showing.is_some()
            || self.in_block_quote
            || self.quotation.opens()
            || self.quotation.is_shown()
    }

    /// Whether a call that begins here is only shown, but not because of what encloses it to its
    /// end: all that its markers enclose is shown with it.
    pub(crate) fn shows_next(&self) -> bool {
        let is_enclosed = self.fence.is_some() || self.showing.is_some();
        !is_enclosed && (self.code.is_some() || self.in_block_quote || self.quotation.opens())
    }

    /// Whether a mark stands right before, so that what follows may be no more than mentioned.
    pub(crate) fn may_mention(&self) -> bool {
        self.quotation.is_mark_before()
    }

    /// Whether a word between here and this character is no more than mentioned.
    pub(crate) fn mentions_before(&self, behind: char) -> bool {
        self.quotation.encloses(behind)
    }

    /// Whether a token of reasoning that stands here is only shown. `is_shown`: what begins here is.
    pub(crate) fn shows_turn(&self, turn: Turn, is_shown: bool) -> bool {
        match turn {
            Turn::Reasoning => is_shown,
            Turn::Answer => self.shows_reasoning && !self.is_reasoning,
            Turn::Message | Turn::Over => false,
        }
    }

    /// Goes on over a token of reasoning that is only shown: a call that follows it is, too.
    pub(crate) fn see_shown_turn(&mut self, token: &str, turn: Turn) {
        self.shows_reasoning = turn == Turn::Reasoning;
        self.quotation.see_shown(token);
        self.see_word();
    }

    /// The closing markers of the calls that are shown here.
    pub(crate) fn shown_ends(&self) -> Option<&'static [&'static str]> {
        self.quotation.ends()
    }

    /// Goes on over a marker that is only shown, with what ends its calls.
    pub(crate) fn see_shown_marker(&mut self, marker: &str, ends: &'static [&'static str]) {
        let place = if self.code.is_some() {
            Shown::InCode
        } else if self.quotation.opens() {
            Shown::Quoted
        } else {
            Shown::InBlockQuote
        };
        self.quotation.show(marker, ends, place);
        self.see_word();
    }

    /// Goes on over the closing marker of such calls.
    pub(crate) fn see_shown_end(&mut self, marker: &str) {
        self.quotation.see_end(marker);
        self.see_word();
    }

    /// Whether code surrounds the place.
    pub(crate) fn in_code(&self) -> bool {
        self.fence.is_some() || self.code.is_some()
    }

    /// Whether the line stands like code below a text.
    pub(crate) fn is_indented(&self) -> bool {
        self.indent >= CODE_INDENT && !self.at_start
    }

    /// What ends the open element that only shows its content.
    pub(crate) fn showing(&self) -> Option<&'static str> {
        self.showing
    }

    /// Whether nothing is under way: a piece of a line in which nothing begins or ends changes
    /// nothing but the character before the place.
    pub(crate) fn is_calm(&self) -> bool {
        !self.after_special
            && (!self.at_start || self.is_reasoning)
            && self.showing != Some(COMMENT_END)
            && !self.quotation.is_shown()
    }

    /// Goes on over such a piece.
    pub(crate) fn see_calm(&mut self, text: &str) {
        self.quotation.see(text);
    }

    /// Goes on over a run of text without tokens and marks.
    pub(crate) fn see(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut line = text;
        if let Some(end) = memchr::memrchr(b'\n', text.as_bytes()) {
            line = text.get(end + 1..).unwrap_or_default();
            self.quotation.see(text.get(..=end).unwrap_or_default());
            self.start_line();
        }
        self.quotation.see(line);
        if self.at_line_start {
            let blank = line.len() - line.trim_start().len();
            let blanks = line.get(..blank).unwrap_or_default();
            self.indent += blanks
                .bytes()
                .map(|byte| if byte == b'\t' { CODE_INDENT } else { 1 })
                .sum::<usize>();
            self.at_line_start = blank == line.len();
        }
        if (self.at_start || self.after_special) && !text.trim_start().is_empty() {
            self.at_start &= self.is_reasoning;
            self.after_special = false;
        }
        if self.showing == Some(COMMENT_END) {
            self.see_comment(text);
        }
    }

    fn start_line(&mut self) {
        self.at_line_start = true;
        self.indent = 0;
        self.in_block_quote = false;
        // Inline code does not go over a line's end, unless calls are shown in it.
        if !self.quotation.holds_code() {
            self.code = None;
        }
    }

    fn see_comment(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'-' => self.dashes += 1,
                b'>' if self.dashes >= 2 => {
                    self.showing = None;
                    self.dashes = 0;
                    return;
                }
                _ => self.dashes = 0,
            }
        }
    }

    /// Goes on over back-ticks, or the tildes of a fence.
    pub(crate) fn see_marks(&mut self, marks: Marks) {
        let indent = self.indent;
        let marks = Marks { indent, ..marks };
        match (self.fence, self.code) {
            (Some(open), _) if self.starts_line() && marks.closes(open) => {
                self.fence = None;
                self.shows_reasoning = false;
            }
            (None, Some(open)) if open.count == marks.count => self.code = None,
            (None, _) if marks.is_fence() && marks.behind != Behind::Marks => {
                self.fence = Some(marks);
                self.code = None;
            }
            (Some(_), _) | (None, Some(_)) => {}
            (None, None) => self.code = Some(marks),
        }
        if self.code.is_none() {
            self.quotation.see_code_end();
        }
        self.dashes = 0;
        let mut mark = [0; 4];
        for _ in 0..marks.count.min(2) {
            self.quotation.see(marks.mark.encode_utf8(&mut mark));
        }
        self.see_word();
    }

    /// Whether nothing but white space, or the mark of a quotation, stands before on this line.
    fn starts_line(&self) -> bool {
        self.at_line_start || self.in_block_quote && self.quotation.follows('>')
    }

    /// What stands before is no white space.
    fn see_word(&mut self) {
        self.at_line_start = false;
        self.at_start &= self.is_reasoning;
        self.after_special = false;
    }

    /// Goes on over the mark of a quotation at the start of a line.
    pub(crate) fn see_block_quote(&mut self) {
        self.see(">");
        self.in_block_quote = true;
    }

    /// Goes on over the beginning of an element that only shows its content.
    pub(crate) fn see_showing(&mut self, tag: &str, close: &'static str) {
        self.see(tag);
        if self.showing.is_none() && !self.in_code() {
            self.showing = Some(close);
            self.dashes = 0;
        }
    }

    /// Goes on over the end of such an element.
    pub(crate) fn see_shown(&mut self, tag: &str) {
        self.see(tag);
        self.showing = None;
    }

    /// Goes on over a special token.
    pub(crate) fn see_special(&mut self) {
        self.after_special = true;
        self.dashes = 0;
    }

    /// Goes on over a token; whether it ends reasoning that no token began.
    pub(crate) fn see_turn(&mut self, turn: Turn) -> bool {
        let was_reasoning = self.is_reasoning;
        self.quotation.forget_mark();
        self.at_line_start = true;
        self.indent = 0;
        match turn {
            Turn::Reasoning => {
                self.is_reasoning = true;
                self.has_reasoned = true;
            }
            Turn::Answer => {
                let is_orphan = !was_reasoning && !self.has_reasoned;
                *self = Self {
                    has_reasoned: true,
                    ..Self::default()
                };
                return is_orphan;
            }
            Turn::Message => {
                self.is_message = true;
                self.is_reasoning = false;
            }
            Turn::Over => {
                if was_reasoning || self.is_message {
                    self.at_start |= was_reasoning;
                    self.fence = None;
                    self.code = None;
                    self.showing = None;
                    self.quotation = Quotation::default();
                }
                self.is_message = false;
                self.is_reasoning = false;
            }
        }
        false
    }

    /// Goes on over calls.
    pub(crate) fn see_calls(&mut self) {
        self.at_start = false;
        self.quotation.forget_mark();
    }
}
