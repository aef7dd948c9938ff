//! Where a place stands in the text: prose, code, reasoning.

/// What a token that is no call says about the text behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Reasoning begins.
    Reasoning,
    /// Reasoning has ended.
    Answer,
    /// A message to the user begins: nothing in it is a call.
    Message,
    /// A message has ended.
    Over,
}

/// Tokens around reasoning and messages.
pub(crate) static TURNS: &[(&str, Turn)] = &[
    ("<think>", Turn::Reasoning),
    ("<thinking>", Turn::Reasoning),
    ("<mm:think>", Turn::Reasoning),
    ("<seed:think>", Turn::Reasoning),
    ("<|START_THINKING|>", Turn::Reasoning),
    ("[THINK]", Turn::Reasoning),
    ("<|inner_prefix|>", Turn::Reasoning),
    ("<|channel>thought", Turn::Reasoning),
    ("<|channel|>analysis<|message|>", Turn::Reasoning),
    ("<|open|>think<|sep|>", Turn::Reasoning),
    ("to=self<|message|>", Turn::Reasoning),
    ("<|start|>assistant to=self<|message|>", Turn::Reasoning),
    ("</think>", Turn::Answer),
    ("</thinking>", Turn::Answer),
    ("</mm:think>", Turn::Answer),
    ("</seed:think>", Turn::Answer),
    ("<|END_THINKING|>", Turn::Answer),
    ("[/THINK]", Turn::Answer),
    ("<|inner_suffix|>", Turn::Answer),
    ("<channel|>", Turn::Answer),
    ("<|close|>think<|sep|>", Turn::Answer),
    ("[BEGIN FINAL RESPONSE]", Turn::Answer),
    ("<|channel|>final<|message|>", Turn::Message),
    ("to=user<|message|>", Turn::Message),
    ("<|start|>assistant to=user<|message|>", Turn::Message),
    ("<|end|>", Turn::Over),
    ("<|eom|>", Turn::Over),
    ("<|eot|>", Turn::Over),
    ("<|start|>", Turn::Over),
];

/// The longest token at the start of `text`, with what it says.
pub(crate) fn turn_at(text: &str) -> Option<(usize, Turn)> {
    TURNS
        .iter()
        .filter(|(token, _)| text.starts_with(token))
        .map(|(token, turn)| (token.len(), *turn))
        .max_by_key(|(length, _)| *length)
}

/// Whether more text could make another token of `text`.
pub(crate) fn may_become_turn(text: &str) -> bool {
    TURNS
        .iter()
        .any(|(token, _)| token.len() > text.len() && token.starts_with(text))
}

/// Longest special token, in bytes.
const MAX_SPECIAL: usize = 48;

/// A special token at the start of `text`, such as `<|im_end|>`: its length. `Err`: more text is
/// needed.
pub(crate) fn special_at(text: &str) -> Result<Option<usize>, ()> {
    for fixed in ["</s>", "<s>", "<eos>", "<end_of_turn>", "<start_of_turn>"] {
        if text.starts_with(fixed) {
            return Ok(Some(fixed.len()));
        }
        if fixed.starts_with(text) {
            return Err(());
        }
    }
    for (open, close) in [("<|", "|>"), ("<｜", "｜>")] {
        if open.starts_with(text) {
            return Err(());
        }
        let Some(inside) = text.strip_prefix(open) else {
            continue;
        };
        let word = inside
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '▁' | '-')))
            .unwrap_or(inside.len());
        let after = inside.get(word..).unwrap_or_default();
        if word > 0 && word <= MAX_SPECIAL && after.starts_with(close) {
            return Ok(Some(open.len() + word + close.len()));
        }
        if word <= MAX_SPECIAL && close.starts_with(after) {
            return Err(());
        }
    }
    Ok(None)
}

/// Beginnings of lines with which a model goes on for the user, the tool or another task.
static CONTINUATIONS: &[&str] = &[
    "### Instruction",
    "### Response",
    "### Input",
    "### Human",
    "### User",
    "assistant<|end_header_id|>",
    "user<|end_header_id|>",
    "Observation:",
    "User:",
    "Human:",
    "[INST]",
    "<tool_response>",
    "<|im_start|>user",
];

/// Whether a line begins as a made-up continuation does. `Err`: more text is needed.
pub(crate) fn is_continuation(line: &str) -> Result<bool, ()> {
    let mut grows = false;
    for start in CONTINUATIONS {
        if line.starts_with(start) {
            return Ok(true);
        }
        grows |= start.starts_with(line);
    }
    if grows { Err(()) } else { Ok(false) }
}

/// What is known about a place.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts about one place"
)]
pub(crate) struct Prose {
    pub(crate) in_fence: bool,
    pub(crate) in_code: bool,
    pub(crate) is_reasoning: bool,
    /// Inside a message to the user.
    pub(crate) is_message: bool,
    /// Reasoning began with its token, or has ended: no end of reasoning can be an orphan.
    pub(crate) has_reasoned: bool,
    /// Nothing but white space and special tokens stands before on this line.
    pub(crate) at_line_start: bool,
    /// Nothing but white space, special tokens and reasoning stands before.
    pub(crate) at_start: bool,
    pub(crate) before: char,
    /// Nothing but white space stands between here and a special token.
    pub(crate) after_special: bool,
}

impl Default for Prose {
    fn default() -> Self {
        Self {
            in_fence: false,
            in_code: false,
            is_reasoning: false,
            is_message: false,
            has_reasoned: false,
            at_line_start: true,
            at_start: true,
            before: '\n',
            after_special: false,
        }
    }
}

impl Prose {
    /// Goes on over a run of text without tokens and fences.
    pub(crate) fn see(&mut self, text: &str) {
        let Some(last) = text.chars().next_back() else {
            return;
        };
        let is_blank = text.trim_start().is_empty();
        if last == '`' && text == "`" {
            self.in_code = !self.in_code;
        } else if let Some(line) = text.bytes().rposition(|byte| byte == b'\n') {
            let line = text.get(line + 1..).unwrap_or_default();
            self.at_line_start = line.trim_start().is_empty();
            // Inline code does not go over a line's end.
            self.in_code = false;
        } else if !is_blank {
            self.at_line_start = false;
        }
        if !is_blank {
            self.at_start &= self.is_reasoning;
            self.after_special = false;
        }
        self.before = last;
    }

    /// Goes on over the three back-ticks of a fence.
    pub(crate) fn see_fence(&mut self) {
        self.in_fence = !self.in_fence;
        self.in_code = false;
        self.at_line_start = false;
        self.at_start = false;
        self.before = '`';
    }

    /// Goes on over a token; whether it ends reasoning that no token began.
    pub(crate) fn see_turn(&mut self, turn: Turn) -> bool {
        let was_reasoning = self.is_reasoning;
        self.before = '\n';
        self.at_line_start = true;
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
                    self.in_fence = false;
                    self.in_code = false;
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
        self.before = '\n';
    }
}
