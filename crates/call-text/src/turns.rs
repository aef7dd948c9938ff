//! Tokens and lines that say who speaks: reasoning, messages, made-up turns of others.

use crate::cursor::{Beginning, Beginnings, beginning};

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
    ("<reasoning>", Turn::Reasoning),
    ("<scratchpad>", Turn::Reasoning),
    ("<reflection>", Turn::Reasoning),
    ("<thought>", Turn::Reasoning),
    ("<thoughts>", Turn::Reasoning),
    ("<analysis>", Turn::Reasoning),
    ("<antThinking>", Turn::Reasoning),
    ("<inner_monologue>", Turn::Reasoning),
    ("<seed:cot_budget_reflect>", Turn::Reasoning),
    ("<|think|>", Turn::Reasoning),
    ("<|begin_of_thought|>", Turn::Reasoning),
    ("◁think▷", Turn::Reasoning),
    ("to=self<|message|>", Turn::Reasoning),
    ("<|start|>assistant to=self<|message|>", Turn::Reasoning),
    ("</think>", Turn::Answer),
    ("</thinking>", Turn::Answer),
    ("</mm:think>", Turn::Answer),
    ("</seed:think>", Turn::Answer),
    ("</reasoning>", Turn::Answer),
    ("</scratchpad>", Turn::Answer),
    ("</reflection>", Turn::Answer),
    ("</thought>", Turn::Answer),
    ("</thoughts>", Turn::Answer),
    ("</analysis>", Turn::Answer),
    ("</antThinking>", Turn::Answer),
    ("</inner_monologue>", Turn::Answer),
    // Seed writes it inside its reasoning, which goes on behind it.
    ("</seed:cot_budget_reflect>", Turn::Reasoning),
    ("<|/think|>", Turn::Answer),
    ("<|end_of_thought|>", Turn::Answer),
    ("◁/think▷", Turn::Answer),
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
        .filter(|(token, _)| beginning(text, token) == Beginning::Whole)
        .map(|(token, turn)| (token.len(), *turn))
        .max_by_key(|(length, _)| *length)
}

/// Whether more text could make another token of `text`.
pub(crate) fn may_become_turn(text: &str) -> bool {
    TURNS
        .iter()
        .any(|(token, _)| beginning(text, token) == Beginning::Part)
}

/// Longest special token, in bytes.
const MAX_SPECIAL: usize = 48;

/// A special token at the start of `text`, such as `<|im_end|>`: its length. `Err`: more text is
/// needed.
pub(crate) fn special_at(text: &str) -> Result<Option<usize>, ()> {
    let second = text.as_bytes().get(1);
    if second.is_some_and(|byte| byte.is_ascii() && !matches!(byte, b'|' | b'/' | b's' | b'e')) {
        return Ok(None);
    }
    for fixed in ["</s>", "<s>", "<eos>", "<end_of_turn>", "<start_of_turn>"] {
        match beginning(text, fixed) {
            Beginning::Whole => return Ok(Some(fixed.len())),
            Beginning::Part => return Err(()),
            Beginning::Other => {}
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

/// Tokens that begin the turn of another, wherever they stand.
static OTHERS_TOKENS: &[&str] = &[
    "assistant<|end_header_id|>",
    "user<|end_header_id|>",
    "ipython<|end_header_id|>",
    "<|start_header_id|>user",
    "<|start_header_id|>ipython",
    "<|start_header_id|>tool",
    "<|start_header_id|>system",
    "<|header_start|>user",
    "<|header_start|>ipython",
    "<|header_start|>tool",
    "<|im_start|>user",
    "<|im_start|>system",
    "<|im_start|>tool",
    "<|im_user|>",
    "<|im_system|>",
    "<|user|>",
    "<|system|>",
    "<|tool|>",
    "<|observation|>",
    "<|tool_response",
    "<|tool_result",
    "<|tool_output",
    "<|tool▁output",
    "<｜tool▁output",
    "<｜tool_output",
    "<|User|>",
    "<｜User｜>",
    "<|USER_TOKEN|>",
    "<|SYSTEM_TOKEN|>",
    "<|START_TOOL_RESULT|>",
    "<|start_of_role|>user",
    "<|start_of_role|>tool",
    "<|start_of_role|>system",
    "<|turn>user",
    "<|turn>tool",
    "<|turn>system",
    "<|start|>functions.",
    "<|start|>user",
    "<start_of_turn>user",
    "<start_of_turn>tool",
    "[INST]",
    "[/INST]",
    "[TOOL_RESULTS]",
];

/// Beginnings of lines with which a model goes on for the user, the tool or another task.
static CONTINUATIONS: &[&str] = &[
    "### Instruction",
    "### Response",
    "### Input",
    "### Human",
    "### User",
    "<tool_response",
    "<tool_result",
    "<tool_output",
    "<function_response",
    "<function_result",
    "<function_output",
    "<observation>",
];

/// What may stand around a speaker.
const EMPHASIS: &str = "**";

/// Who speaks at the beginning of a line before a colon, with or without emphasis and in any case.
static SPEAKERS: &[&str] = &[
    "user",
    "human",
    "system",
    "observation",
    "tool",
    "tool result",
    "tool results",
    "tool output",
    "tool response",
    "function result",
    "function output",
    "function response",
];

static BEGINNINGS: Beginnings =
    Beginnings::of(&[OTHERS_TOKENS, CONTINUATIONS, SPEAKERS, &[EMPHASIS]]);

/// Whether a line begins as a made-up continuation does, or what is in the middle of one as a
/// token does. `Err`: more text is needed.
pub(crate) fn is_continuation(text: &str, at_line_start: bool) -> Result<bool, ()> {
    if !BEGINNINGS.may_begin(text) {
        return Ok(false);
    }
    let lines: &[&str] = if at_line_start { CONTINUATIONS } else { &[] };
    let mut grows = false;
    for start in OTHERS_TOKENS.iter().chain(lines) {
        match beginning(text, start) {
            Beginning::Whole => return Ok(true),
            Beginning::Part => grows = true,
            Beginning::Other => {}
        }
    }
    if at_line_start {
        match names_speaker(text) {
            Ok(false) => {}
            known => return known,
        }
    }
    if grows { Err(()) } else { Ok(false) }
}

fn names_speaker(line: &str) -> Result<bool, ()> {
    let line = line.strip_prefix(EMPHASIS).unwrap_or(line);
    let mut grows = EMPHASIS.starts_with(line);
    for speaker in SPEAKERS {
        let length = line.len().min(speaker.len());
        let head = line.as_bytes().get(..length).unwrap_or_default();
        let wanted = speaker.as_bytes().get(..length).unwrap_or_default();
        if !head.eq_ignore_ascii_case(wanted) {
            continue;
        }
        let Some(rest) = line.get(speaker.len()..) else {
            grows = true;
            continue;
        };
        let end = rest.strip_prefix(EMPHASIS).unwrap_or(rest);
        if end.starts_with(':') {
            return Ok(true);
        }
        grows |= end.is_empty() || EMPHASIS.starts_with(rest);
    }
    if grows { Err(()) } else { Ok(false) }
}
