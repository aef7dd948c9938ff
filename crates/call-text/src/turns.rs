//! Tokens and lines that say who speaks: reasoning, messages, made-up turns of others.

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
    "ipython<|end_header_id|>",
    "<|start_header_id|>user",
    "<|start_header_id|>ipython",
    "Observation:",
    "User:",
    "Human:",
    "System:",
    "Tool:",
    "[INST]",
    "[TOOL_RESULTS]",
    "<tool_response>",
    "<function_results>",
    "<|im_start|>user",
    "<|im_start|>system",
    "<|im_start|>tool",
    "<|user|>",
    "<|system|>",
    "<|observation|>",
    "<|start|>functions.",
    "<|start|>user",
    "<start_of_turn>user",
];

/// Whether a line begins as a made-up continuation does. `Err`: more text is needed.
pub(crate) fn is_continuation(line: &str) -> Result<bool, ()> {
    if CONTINUATIONS.iter().any(|start| line.starts_with(start)) {
        return Ok(true);
    }
    if CONTINUATIONS.iter().any(|start| start.starts_with(line)) {
        return Err(());
    }
    Ok(false)
}
