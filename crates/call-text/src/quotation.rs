//! Quotations: whether a mark opens one before a place, and how far what it shows goes.

/// Marks that only ever open a quotation.
const OPENING: &[char] = &['„', '‚', '‟', '「', '『', '〝'];
/// Marks that open a quotation where they stand right before a place, or where they themselves
/// stand as opening marks do.
const MOSTLY_OPENING: &[char] = &['"', '\'', '“', '‘', '«', '‹'];
/// Back-ticks that are no code stand like an opening mark right before a place.
const BACK_TICK: char = '`';
/// Marks that mostly close a quotation, but open one in some languages.
const MOSTLY_CLOSING: &[char] = &['”', '’', '»', '›'];

/// What closes a quotation.
fn closing(mark: char) -> &'static str {
    match mark {
        '"' => "\"",
        '\'' | '‘' | '’' | '‚' => "'‘’",
        '“' | '”' | '„' | '‟' => "“”",
        '«' => "»",
        '»' => "«",
        '‹' => "›",
        '›' => "‹",
        '「' => "」",
        '『' => "』",
        '〝' => "〞〟",
        _ => "",
    }
}

/// Whether a mark behind this character opens rather than closes.
fn may_lead(c: char) -> bool {
    c.is_whitespace()
        || MOSTLY_OPENING.contains(&c)
        || "([{:=,;-–—/|*_".contains(c)
        || OPENING.contains(&c)
}

/// The quotation marks before a place.
#[derive(Debug)]
pub(crate) struct Quotation {
    /// The character right before the place.
    last: char,
    /// The last one that is no white space, and what stands right before it.
    mark: char,
    lead: char,
    /// A shown call has ended, and nothing but white space stands behind it.
    again: bool,
    stretch: Option<Stretch>,
}

/// Why calls are only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Quoted,
    InCode,
    /// In lines with the mark of a quotation.
    InBlockQuote,
}

/// Calls that are only shown.
#[derive(Debug)]
struct Stretch {
    /// Marks that end it.
    closing: &'static str,
    /// Closing markers that end it.
    ends: &'static [&'static str],
    place: Shown,
    /// Nothing but white space stands before on this line.
    is_blank_line: bool,
    /// A mark that came next would not stand inside a value.
    may_close: bool,
    in_closing_tag: bool,
}

impl Default for Quotation {
    fn default() -> Self {
        Self {
            last: '\n',
            mark: '\n',
            lead: '\n',
            again: false,
            stretch: None,
        }
    }
}

impl Quotation {
    /// Whether a quotation begins right before the place, white space aside.
    pub(crate) fn opens(&self) -> bool {
        let is_right_before = self.last == self.mark;
        self.again
            || self.last == BACK_TICK
            || OPENING.contains(&self.mark)
            || MOSTLY_OPENING.contains(&self.mark) && (is_right_before || may_lead(self.lead))
            || MOSTLY_CLOSING.contains(&self.mark) && is_right_before && may_lead(self.lead)
    }

    /// Whether a mark, or a back-tick, stands right before the place.
    pub(crate) fn is_mark_before(&self) -> bool {
        self.last == BACK_TICK || !closing(self.last).is_empty()
    }

    /// Whether such a mark and this character enclose what stands between them.
    pub(crate) fn encloses(&self, behind: char) -> bool {
        self.last == BACK_TICK && behind == BACK_TICK
            || self.opens() && closing(self.last).contains(behind)
    }

    /// Whether this character stands before the place, white space aside.
    pub(crate) fn follows(&self, c: char) -> bool {
        self.mark == c
    }

    /// Whether the place stands in calls that are only shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.stretch.is_some()
    }

    /// Whether inline code goes on over the end of a line.
    pub(crate) fn holds_code(&self) -> bool {
        self.again || self.is_shown()
    }

    /// The closing markers of the calls that are shown here.
    pub(crate) fn ends(&self) -> Option<&'static [&'static str]> {
        self.stretch.as_ref().map(|stretch| stretch.ends)
    }

    /// Goes on over text.
    #[inline]
    pub(crate) fn see(&mut self, text: &str) {
        // Most texts end in a word, or in a blank behind one.
        let (word, blank) = match text.as_bytes() {
            [word @ .., b' '] => (word, Some(' ')),
            word => (word, None),
        };
        if let [.., lead, mark] = word
            && lead.is_ascii()
            && mark.is_ascii_graphic()
            && self.stretch.is_none()
        {
            self.mark = char::from(*mark);
            self.lead = char::from(*lead);
            self.last = blank.unwrap_or(self.mark);
            self.again = false;
        } else {
            self.see_any(text);
        }
    }

    fn see_any(&mut self, text: &str) {
        if self.stretch.is_some() {
            for c in text.chars() {
                self.see_char(c);
            }
            return;
        }
        let Some(last) = text.chars().next_back() else {
            return;
        };
        let mut before = text.trim_end().chars();
        if let Some(mark) = before.next_back() {
            self.mark = mark;
            self.lead = before.next_back().unwrap_or(self.last);
            self.again = false;
        }
        self.last = last;
    }

    fn see_char(&mut self, c: char) {
        if let Some(stretch) = &mut self.stretch {
            let ends_paragraph = c == '\n' && stretch.is_blank_line;
            stretch.is_blank_line = c == '\n' || stretch.is_blank_line && c.is_whitespace();
            if ends_paragraph && stretch.place == Shown::InBlockQuote {
                self.stretch = None;
            }
        }
        if let Some(stretch) = self.stretch.as_mut().filter(|_| !c.is_whitespace()) {
            if stretch.may_close && stretch.closing.contains(c) {
                self.stretch = None;
            } else {
                stretch.in_closing_tag = match c {
                    '<' => false,
                    '/' if self.last == '<' => true,
                    _ => stretch.in_closing_tag,
                };
                stretch.may_close =
                    matches!(c, '}' | ']' | ')') || c == '>' && stretch.in_closing_tag;
            }
        }
        if !c.is_whitespace() {
            self.mark = c;
            self.lead = self.last;
            self.again = false;
        }
        self.last = c;
    }

    /// A marker that is only shown, with what ends its calls.
    pub(crate) fn show(&mut self, marker: &str, ends: &'static [&'static str], place: Shown) {
        let stretch = Stretch {
            closing: closing(self.mark),
            ends,
            place,
            is_blank_line: false,
            may_close: true,
            in_closing_tag: false,
        };
        self.see(marker);
        self.stretch = Some(stretch);
    }

    /// The closing marker of the calls that are shown: more of them may follow.
    pub(crate) fn see_end(&mut self, marker: &str) {
        self.stretch = None;
        self.see(marker);
        self.again = true;
    }

    /// What is shown and may be followed by calls.
    pub(crate) fn see_shown(&mut self, token: &str) {
        self.see(token);
        self.again = true;
    }

    /// The end of inline code.
    pub(crate) fn see_code_end(&mut self) {
        self.stretch
            .take_if(|stretch| stretch.place == Shown::InCode);
    }

    /// What stands before counts no more.
    pub(crate) fn forget_mark(&mut self) {
        self.last = '\n';
        self.mark = '\n';
        self.lead = '\n';
        self.again = false;
    }
}
