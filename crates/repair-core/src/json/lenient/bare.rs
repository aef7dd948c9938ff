//! Values without quotes: where they end, and what they mean.

use super::content::write;
use super::end::{End, is_broken_off_key, starts_value};
use super::reader::Reader;
use super::token::{self, Meaning};
use super::{Cut, Problem, key, rules};
use crate::json::string;
use crate::schema::tree::Kinds;

impl Reader<'_, '_> {
    pub(super) fn bare_value(&mut self) {
        let start = self.at;
        let (end, lost_quote) = self.token_end(start);
        let words = self.text.get(start..end).unwrap_or_default();
        let token = words.trim_end();
        let is_cut =
            end >= self.text.len() && (!self.stack.is_empty() || token::is_broken_off(token));
        self.at = if lost_quote {
            end + 1
        } else {
            start + token.len()
        };
        if lost_quote && !token.contains('(') {
            return self.write_unopened(words, start..self.at);
        }
        if lost_quote {
            return self.fail();
        }
        if is_cut {
            return self.cut_token(token, start);
        }
        if token.is_empty() {
            return self.fail();
        }
        if self.number_follows(token) || self.unopened_follows() {
            // One or two: `10 000`, `[a, b"]`.
            return self.fail();
        }
        let before = start..self.at;
        let kinds = self.tree.kinds_at(
            self.stack
                .last()
                .map_or(self.place, |frame| frame.value_place),
        );
        match token::meaning(token) {
            meaning if is_own_text(token, &meaning, kinds) => {
                self.write_words(token, before, &rules::UNQUOTED_VALUE);
            }
            Meaning::Strict => {
                self.out.push(token);
                self.value_is_done(false);
            }
            Meaning::Literal(strict) => {
                self.out.fix(&rules::LITERAL, before, strict);
                self.value_is_done(false);
            }
            Meaning::Number(strict, risk) => {
                self.out.fix_as(&rules::NUMBER_FORM, risk, before, &strict);
                self.value_is_done(false);
            }
            Meaning::NonFinite => {
                self.problem = self.problem.or(Some(Problem::NonFinite(start)));
                self.out.fix(&rules::NON_FINITE, before, "null");
                self.value_is_done(false);
            }
            Meaning::Ellipsis if self.stack.last().is_some_and(|frame| !frame.is_object) => {
                self.at = start;
                self.skip_ellipsis();
            }
            Meaning::Ellipsis => self.fail(),
            // `ObjectId("1")` is a value of another language.
            Meaning::Words
                if self.stack.is_empty() || token.starts_with('\\') || token.contains('"') =>
            {
                self.fail();
            }
            Meaning::Words => self.write_words(token, before, &rules::UNQUOTED_VALUE),
        }
    }

    fn write_words(
        &mut self,
        words: &str,
        before: std::ops::Range<usize>,
        rule: &'static crate::rule::Rule,
    ) {
        let mut strict = String::with_capacity(words.len() + 2);
        string::encode(words, &mut strict);
        self.out.fix(rule, before, &strict);
        self.value_is_done(true);
    }

    /// Writes the content of a string whose opening quote is missing.
    fn write_unopened(&mut self, content: &str, before: std::ops::Range<usize>) {
        let from = self.out.len();
        self.out.push("\"");
        let written = write(content, &mut self.out);
        self.out.push("\"");
        let rule = &rules::MISSING_QUOTE;
        self.out.note(rule, rule.risk, before.clone(), from);
        self.note_written(&written, &before, from);
        if written.damage.is_some() {
            self.problem = self.problem.or(Some(Problem::DamagedEscape(before.start)));
        }
        self.value_is_done(true);
    }

    /// Whether the token that was just read is a number, and what follows on its line may be the rest
    /// of it: any other number, in an array one of a whole group of digits.
    fn number_follows(&self, token: &str) -> bool {
        const GROUP: usize = 3;
        let rest = self.rest(self.at);
        let next = rest.trim_start_matches(' ');
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let in_array = self.stack.last().is_some_and(|frame| !frame.is_object);
        rest.starts_with(' ')
            && token.ends_with(|c: char| c.is_ascii_digit())
            && digits(next) > 0
            && (!in_array || (digits(next) == GROUP && token.len() <= GROUP + 1))
    }

    /// Whether the next item of an array lacks its opening quote, which may have stood before the token
    /// that was just read.
    fn unopened_follows(&self) -> bool {
        let in_array = self.stack.last().is_some_and(|frame| !frame.is_object);
        let next = self.rest(self.at).trim_start().strip_prefix(',');
        in_array && next.is_some_and(|next| key::ends_item(next.trim_start()))
    }

    /// A token at the very end of the text: more of it may have followed.
    fn cut_token(&mut self, token: &str, start: usize) {
        let before = start..start + token.len();
        if token::meaning(token) == Meaning::Strict {
            self.out.push(token);
        } else if let Some(number) = token::longest_number(token) {
            self.out.fix(&rules::NUMBER_FORM, before, number);
        } else if let Some(literal) = token::completed(token) {
            self.out.fix(&rules::LITERAL, before, literal);
        } else if token.starts_with(|c: char| c.is_alphabetic()) {
            self.write_words(token, before, &rules::UNQUOTED_VALUE);
            return self.cut_off(Cut::Inside);
        } else {
            return self.cut_off(Cut::Inside);
        }
        self.value_is_done(false);
        self.cut_off(Cut::Inside);
    }

    /// Where an unquoted value ends; true if at a closing quote whose opening one is missing.
    fn token_end(&self, start: usize) -> (usize, bool) {
        let has = |is_object: bool| self.stack.iter().any(|frame| frame.is_object == is_object);
        let (in_object, in_array) = (has(true), has(false));
        let is_member = self.stack.last().is_some_and(|frame| frame.is_object);
        let mut before_is_space = false;
        let mut before_is_backslash = false;
        let mut has_quote = false;
        // Braces that the words themselves hold.
        let mut depth = 0_usize;
        for (offset, next) in self.rest(start).char_indices() {
            let at = start + offset;
            let ends = match next {
                '\n' | '\r' => true,
                '\\' if self.ends.is_escaped_space(at) => true,
                '{' | '[' if at > start && self.is_whole(start, at) => true,
                _ if before_is_space && self.item_follows(start, at, next) => true,
                ',' if self.stack.is_empty() => self.rest(at + 1).trim_start().is_empty(),
                '{' => {
                    depth += 1;
                    false
                }
                '}' if depth > 0 => {
                    depth -= 1;
                    false
                }
                ',' | '，' | ';' if is_member => {
                    let after = at + next.len_utf8();
                    let rest = self.rest(self.ends.space(after)).trim_start();
                    let ends_words = || self.member_follows(after);
                    let ends_literal = || rest.starts_with('"') && self.is_whole(start, at);
                    let is_inner = depth > 0 && rest.starts_with(['}', '｝']);
                    !is_inner && (ends_words() || ends_literal())
                }
                ',' | '，' => in_array,
                ']' | '］' if in_array => true,
                ')' if in_array && !is_member => true,
                ']' | '］' | ')' => {
                    self.is_whole(start, at) && self.ends_value(at + next.len_utf8())
                }
                '}' | '｝' => in_object,
                '/' | '#' if before_is_space => ["//", "/*", "# "]
                    .iter()
                    .any(|comment| self.rest(at).starts_with(comment)),
                '`' => self.rest(at).starts_with("```"),
                '/' if self.rest(at).starts_with("/*") => self.is_whole(start, at),
                '"' if before_is_space && self.comma_is_missing(start, at) => true,
                '"' if before_is_backslash => false,
                '"' if at > start && !has_quote => {
                    let end = self.ends.judge(at + 1, &self.stack);
                    if matches!(end, End::Certain | End::Member | End::Item | End::Broken) {
                        return (at, true);
                    }
                    has_quote = true;
                    false
                }
                _ => false,
            };
            if ends {
                return (at, false);
            }
            before_is_space = next.is_whitespace();
            before_is_backslash = next == '\\' && !before_is_backslash;
        }
        (self.text.len(), false)
    }

    /// Whether behind a closer at `after` there is what can only stand behind a value.
    fn ends_value(&self, after: usize) -> bool {
        let rest = self.rest(self.ends.space(after)).trim_start();
        rest.is_empty() || rest.starts_with([',', '}', ']', ')'])
    }

    /// Whether a member, or the end, follows a comma at `after`.
    fn member_follows(&self, after: usize) -> bool {
        let rest = self.rest(self.ends.space(after)).trim_start();
        let at = self.text.len() - rest.len();
        rest.is_empty()
            || rest.starts_with(['}', '｝', ',', '/', '#', '…'])
            || rest.starts_with("...")
            || (rest.starts_with('{') && self.item_lacks_brace())
            || self.ends.key_at(at).is_some()
            || is_broken_off_key(rest)
    }

    /// Whether a quote at `at` begins the next member or item, and the token before it is a whole
    /// literal or number.
    fn comma_is_missing(&self, start: usize, at: usize) -> bool {
        let token = self.text.get(start..at).unwrap_or_default();
        let Some(frame) = self.stack.last() else {
            return false;
        };
        if !frame.is_object {
            return self.is_whole(start, at);
        }
        let is_word =
            token.len() <= MAX_TOKEN && token.trim_end().chars().all(char::is_alphanumeric);
        key::quoted(self.rest(at)).is_some_and(|key| {
            let is_new = !frame.keys.contains(&key::decoded(key.name));
            is_new && (is_word || self.is_whole(start, at))
        })
    }

    /// Whether the next item of an array begins at `at`, behind a whole literal or number.
    fn item_follows(&self, start: usize, at: usize, next: char) -> bool {
        let in_array = self.stack.last().is_some_and(|frame| !frame.is_object);
        in_array && starts_value(next, self.rest(at)) && self.is_whole(start, at)
    }

    /// Whether the token between `start` and `at` is a whole literal, number or ellipsis.
    fn is_whole(&self, start: usize, at: usize) -> bool {
        let token = self.text.get(start..at).unwrap_or_default().trim_end();
        token.len() <= MAX_TOKEN && token::meaning(token) != Meaning::Words
    }
}

/// Whether a token that means a number or a truth value, but is not spelled as JSON does, stands where
/// none may, but a string: then it is the model's own text.
fn is_own_text(token: &str, meaning: &Meaning, kinds: Kinds) -> bool {
    let (spoken, is_padded) = match meaning {
        Meaning::Number(..) => (Kinds::NUMBER, token::is_zero_padded(token)),
        Meaning::Literal("true" | "false") => (Kinds::BOOLEAN, false),
        _ => return false,
    };
    !kinds.meets(spoken) && (is_padded || kinds.meets(Kinds::STRING))
}

/// Longest token behind which a missing comma or a comment is looked for, in bytes.
const MAX_TOKEN: usize = 64;
