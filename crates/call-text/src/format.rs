//! The table of formats: one entry for each way in which models print calls.

mod unmarked;

use repair_core::{Risk, Rule, Stage};

use crate::cursor::{Cursor, Look, Stop};
use crate::named::Shape;
use crate::pairs::Tags;
use crate::printed::Printed;
use crate::tools::Context;
use crate::{elements, envelope, marked, named, pairs, python, tags};

use unmarked::UNMARKED;
pub(crate) use unmarked::{
    BARE_ELEMENTS, BARE_JSON, BARE_NAMED, BARE_PYTHON, BARE_TAGS, FENCED, TOOL_CODE, TOOL_TAG,
    recipient_all,
};

/// One way in which models print calls.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) rule: Rule,
    /// The markers before a call, or before a list of calls and each call in it.
    pub(crate) open: &'static [&'static str],
    /// The markers behind. What they close is complete.
    pub(crate) close: &'static [&'static str],
    pub(crate) body: Body,
    /// Whether a call of this format ends the reasoning around it: the model forgot to.
    pub(crate) ends_reasoning: bool,
}

/// What stands between the markers.
#[derive(Debug)]
pub(crate) enum Body {
    /// JSON with name and arguments, one or a list.
    Json,
    /// JSON whose keys are the names.
    NamedJson,
    /// Python calls.
    Python,
    /// A name and JSON.
    Named(&'static Shape),
    /// A name and pairs of key and value.
    Pairs(&'static Tags),
    /// Tags with name and parameters.
    Tags,
    /// Tags with a prefix, an element for each value.
    Elements,
    /// A tag named as the tool.
    ToolTag,
    /// Gemma's marked values.
    Gemma,
    /// Kimi K3's marked values.
    Kimi,
    /// `Action:` and `Action Input:`.
    React,
    /// A header with a recipient.
    Harmony,
    /// JSON or Python.
    Any,
}

impl Format {
    /// Whether the format has markers of its own, which ordinary text does not hold.
    pub(crate) fn is_marked(&self) -> bool {
        !self.open.is_empty() || matches!(self.body, Body::Tags | Body::ToolTag)
    }

    /// Reads the next call, or list of calls, and steps over it.
    pub(crate) fn read(&self, cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Vec<Printed>> {
        let place = envelope::Place {
            open: self.open,
            close: self.close,
            name_is_key: matches!(self.body, Body::NamedJson) || !self.is_marked(),
        };
        let marks = named::Marks {
            open: self.open,
            close: self.close,
        };
        match &self.body {
            Body::Json | Body::NamedJson => envelope::read(cursor, place, context),
            Body::Python => python::read_many(cursor, context),
            Body::Named(shape) => named::read(cursor, shape, marks, context),
            Body::Pairs(tags) => pairs::read(cursor, tags, self.open, self.close, context),
            Body::Tags => tags::read(cursor, self.close, context),
            Body::Elements => elements::read(cursor, context),
            Body::ToolTag => marked::read_tool_tag(cursor, context),
            Body::Gemma => marked::read_gemma(cursor, self.close, context),
            Body::Kimi => marked::read_kimi(cursor, context),
            Body::React => named::read_react(cursor, marks, context),
            Body::Harmony => named::read_harmony(cursor, marks, context),
            Body::Any => {
                let mut ahead = *cursor;
                match envelope::read(&mut ahead, place, context) {
                    Ok(calls) => {
                        *cursor = ahead;
                        Ok(calls)
                    }
                    // An object is no call of Python.
                    Err(Stop::Not) if !cursor.rest().starts_with('{') => {
                        python::read_many(cursor, context)
                    }
                    Err(stop) => Err(stop),
                }
            }
        }
    }
}

const fn format(
    id: &'static str,
    summary: &'static str,
    open: &'static [&'static str],
    close: &'static [&'static str],
    body: Body,
) -> Format {
    Format {
        rule: Rule::new(id, Stage::Call, Risk::Lossless, 5, summary),
        open,
        close,
        body,
        ends_reasoning: false,
    }
}

const fn ending_reasoning(format: Format) -> Format {
    Format {
        ends_reasoning: true,
        ..format
    }
}

const DEEPSEEK_OPEN: &[&str] = &[
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<|tool▁calls▁begin|>",
    "<|tool▁call▁begin|>",
    "<|tool_calls_begin|>",
    "<|tool_call_begin|>function<|tool_sep|>",
    "<｜tool_calls_begin｜>",
    "<｜tool_call_begin｜>",
];
const DEEPSEEK_CLOSE: &[&str] = &[
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<|tool▁call▁end|>",
    "<|tool▁calls▁end|>",
    "<|tool_call_end|>",
    "<|tool_calls_end|>",
    "<｜tool_call_end｜>",
    "<｜tool_calls_end｜>",
];
const TAG_CLOSE: &[&str] = &[
    "</tool_call>",
    "</tool_calls>",
    "</function_calls>",
    "</seed:tool_call>",
    "</minimax:tool_call>",
    "</atem:function_calls>",
    concat!("</ant", "ml:function_calls>"),
    "</dots_function_call>",
    "</longcat_tool_call>",
    "</iquest_tool_call>",
    "</rfl:function_calls>",
    "</｜DSML｜function_calls>",
    "</｜DSML｜tool_calls>",
    "</｜DSML｜ calls>",
    "</｜DSML｜calls>",
    "</‖DSML‖tool_calls>",
    "</‖DSML‖function_calls>",
    "</｜｜DSML｜｜tool_calls>",
    "</｜｜DSML｜｜function_calls>",
    "</|DSML|tool_calls>",
    "</|DSML|function_calls>",
];
const TAG_OPEN: &[&str] = &[
    "<tool_call>",
    "<tool_calls>",
    "<function_calls>",
    "<seed:tool_call>",
    "<minimax:tool_call>",
    "<atem:function_calls>",
    concat!("<ant", "ml:function_calls>"),
    "<dots_function_call>",
    "<longcat_tool_call>",
    "<iquest_tool_call>",
    "<rfl:function_calls>",
    "<｜DSML｜function_calls>",
    "<｜DSML｜tool_calls>",
    "<｜DSML｜ calls>",
    "<｜DSML｜calls>",
    "<‖DSML‖tool_calls>",
    "<‖DSML‖function_calls>",
    "<｜｜DSML｜｜tool_calls>",
    "<｜｜DSML｜｜function_calls>",
    "<|DSML|tool_calls>",
    "<|DSML|function_calls>",
];

/// All formats. Of several with the same marker the first whose body fits is taken.
pub(crate) static FORMATS: &[Format] = &[
    format(
        "call_hermes",
        "the call was printed as JSON in a <tool_call> tag",
        &["<tool_call>"],
        &["</tool_call>"],
        Body::Json,
    ),
    format(
        "call_glm",
        "the call was printed as a name with <arg_key> and <arg_value> tags",
        &["<tool_call>"],
        &["</tool_call>"],
        Body::Pairs(&pairs::GLM),
    ),
    format(
        "call_hunyuan",
        "the call was printed as a name with <arg_key> and <arg_value> tags in a list",
        &["<tool_calls>", "<tool_call>"],
        &["</tool_call>", "</tool_calls>"],
        Body::Pairs(&pairs::GLM),
    ),
    format(
        "call_hunyuan_suffixed",
        "the call was printed as a name with tags for keys and values that have a suffix",
        &["<tool_calls:opensource>", "<tool_call:opensource>"],
        &["</tool_call:opensource>", "</tool_calls:opensource>"],
        Body::Pairs(&pairs::HUNYUAN),
    ),
    format(
        "call_tool_calls_list",
        "the calls were printed as a JSON list in a <tool_calls> tag",
        &["<tool_calls>"],
        &["</tool_calls>"],
        Body::Json,
    ),
    format(
        "call_toolcall_list",
        "the calls were printed as a JSON list in a <TOOLCALL> tag",
        &["<TOOLCALL>"],
        &["</TOOLCALL>"],
        Body::Json,
    ),
    format(
        "call_granite_list",
        "the calls were printed as a JSON list behind <|tool_call|>",
        &["<|tool_call|>"],
        &["<|/tool_call|>"],
        Body::Json,
    ),
    format(
        "call_function_call",
        "the call was printed as JSON behind <function_call>",
        &["<function_call>", "<functioncall>", "<function-call>"],
        &["</function_call>", "</functioncall>", "</function-call>"],
        Body::Json,
    ),
    format(
        "call_functools",
        "the calls were printed as a JSON list behind functools",
        &["functools"],
        &[],
        Body::Json,
    ),
    format(
        "call_cohere",
        "the calls were printed as a JSON list between action tokens",
        &["<|START_ACTION|>"],
        &["<|END_ACTION|>"],
        Body::Json,
    ),
    format(
        "call_react",
        "the call was printed as Action and Action Input",
        &["Action:"],
        &["\nObservation:"],
        Body::React,
    ),
    format(
        "call_action_list",
        "the calls were printed as a JSON list behind Action:",
        &["Action:"],
        &["```"],
        Body::Json,
    ),
    format(
        "call_mistral_list",
        "the calls were printed as a JSON list behind [TOOL_CALLS]",
        &["[TOOL_CALLS]"],
        &["[/TOOL_CALLS]"],
        Body::Json,
    ),
    format(
        "call_mistral",
        "the call was printed as a name and JSON behind [TOOL_CALLS]",
        &["[TOOL_CALLS]", "[TOOL_CALLS"],
        &["[/TOOL_CALLS]"],
        Body::Named(&named::MISTRAL),
    ),
    format(
        "call_llama",
        "the call was printed as JSON behind <|python_tag|>",
        &["<|python_tag|>"],
        &["<|eom_id|>", "<|eot_id|>"],
        Body::Json,
    ),
    format(
        "call_llama_python",
        "the call was printed as Python behind <|python_tag|>",
        &["<|python_tag|>", "<|python_start|>"],
        &["<|python_end|>", "<|eom_id|>", "<|eot_id|>"],
        Body::Python,
    ),
    format(
        "call_lfm",
        "the calls were printed as a Python list between tool call tokens",
        &["<|tool_call_start|>"],
        &["<|tool_call_end|>"],
        Body::Python,
    ),
    format(
        "call_lfm_list",
        "the calls were printed as a JSON list between tool call tokens",
        &["<|tool_call_start|>"],
        &["<|tool_call_end|>"],
        Body::Json,
    ),
    format(
        "call_olmo",
        "the calls were printed as Python lines in a <function_calls> tag",
        &["<function_calls>"],
        &["</function_calls>"],
        Body::Python,
    ),
    format(
        "call_function_calls_list",
        "the calls were printed as JSON in a <function_calls> tag",
        &["<function_calls>"],
        &["</function_calls>"],
        Body::Json,
    ),
    format(
        "call_tool_code",
        "the call was printed as Python in a <tool_code> tag",
        &["<tool_code>", "<tool_call>"],
        &["</tool_code>", "</tool_call>"],
        Body::Python,
    ),
    format(
        "call_tool_code_json",
        "the call was printed as JSON in a <tool_code> tag",
        &["<tool_code>"],
        &["</tool_code>"],
        Body::Json,
    ),
    format(
        "call_apertus",
        "the calls were printed as a JSON list between tool tokens",
        &["<|tools_prefix|>"],
        &["<|tools_suffix|>"],
        Body::NamedJson,
    ),
    format(
        "call_internlm",
        "the call was printed as JSON between action tokens",
        &[
            "<|action_start|> <|plugin|>",
            "<|action_start|><|plugin|>",
            "<|action_start|>",
        ],
        &["<|action_end|>"],
        Body::Json,
    ),
    format(
        "call_gigachat",
        "the call was printed as JSON behind a function call token",
        &[
            "<|function_call|>",
            "<|message_sep|>\n\nfunction call<|role_sep|>",
            "function call<|role_sep|>",
        ],
        &["<|message_sep|>"],
        Body::Json,
    ),
    format(
        "call_inkling",
        "the call was printed as JSON behind an invoke token",
        &["<|content_invoke_tool_json|>"],
        &["<|end_message|>"],
        Body::Json,
    ),
    format(
        "call_vendor_json",
        "the call was printed as JSON in a vendor's tool call tag",
        &[
            "<longcat_tool_call>",
            "<iquest_tool_call>",
            "<dots_function_call>",
            "<seed:tool_call>",
            "<minimax:tool_call>",
        ],
        &[
            "</longcat_tool_call>",
            "</iquest_tool_call>",
            "</dots_function_call>",
            "</seed:tool_call>",
            "</minimax:tool_call>",
        ],
        Body::Json,
    ),
    format(
        "call_vendor_pairs",
        "the call was printed as a name with <arg_key> and <arg_value> tags in a vendor's tag",
        &["<longcat_tool_call>", "<iquest_tool_call>"],
        &["</longcat_tool_call>", "</iquest_tool_call>"],
        Body::Pairs(&pairs::GLM),
    ),
    format(
        "call_horizon",
        "the call was printed as JSON in a list of calls",
        &["<ifm|tool_calls>", "<ifm|tool_call>"],
        &["</ifm|tool_call>", "</ifm|tool_calls>"],
        Body::Json,
    ),
    format(
        "call_horizon_pairs",
        "the call was printed as a name with tags for keys, types and values",
        &["<ifm|tool_calls>", "<ifm|tool_call>"],
        &["</ifm|tool_call>", "</ifm|tool_calls>"],
        Body::Pairs(&pairs::IFM),
    ),
    format(
        "call_deepseek",
        "the call was printed between DeepSeek's tool call tokens",
        DEEPSEEK_OPEN,
        DEEPSEEK_CLOSE,
        Body::Named(&named::DEEPSEEK),
    ),
    format(
        "call_step",
        "the call was printed as invoke tags between tool call tokens",
        &[
            "<｜tool_calls_begin｜>",
            "<｜tool_call_begin｜>function<｜tool_sep｜>",
            "<｜tool_call_begin｜>",
        ],
        &["<｜tool_call_end｜>", "<｜tool_calls_end｜>"],
        Body::Tags,
    ),
    ending_reasoning(format(
        "call_kimi",
        "the call was printed between Kimi's tool call tokens",
        &[
            "<|tool_calls_section_begin|>",
            "<|tool_call_section_begin|>",
            "<|tool_call_begin|>",
        ],
        &[
            "<|tool_call_end|>",
            "<|tool_calls_section_end|>",
            "<|tool_call_section_end|>",
        ],
        Body::Named(&named::KIMI),
    )),
    format(
        "call_kimi_tags",
        "the call was printed as open and close tokens with typed arguments",
        &["<|open|>tools<|sep|>", "<|open|> tools <|sep|>"],
        &[
            "<|close|>tools<|sep|>",
            "<|close|> tools <|sep|>",
            "<|close|>message<|sep|>",
        ],
        Body::Kimi,
    ),
    format(
        "call_harmony",
        "the call was printed as a message to the tool",
        &["<|start|>assistant", "<|channel|>", "assistant to=", "to="],
        &["<|call|>"],
        Body::Harmony,
    ),
    format(
        "call_gemma",
        "the call was printed with marked values between tool call tokens",
        &["<|tool_call>", "<start_function_call>"],
        &["<tool_call|>", "<end_function_call>"],
        Body::Gemma,
    ),
    format(
        "call_elements",
        "the call was printed as invoke tags with an element for each value",
        &["]<]minimax[>[<tool_call>"],
        &["]<]minimax[>[</tool_call>", "</tool_call>"],
        Body::Elements,
    ),
    format(
        "call_functionary",
        "the call was printed as a recipient's name and JSON",
        &[">>>"],
        &[">>>"],
        Body::Named(&named::PLAIN),
    ),
    format(
        "call_tags",
        "the call was printed as tags with a name and parameters",
        TAG_OPEN,
        TAG_CLOSE,
        Body::Tags,
    ),
];

/// The rules by which calls are read from text. In leaked mode they count as inferred.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FORMATS
        .iter()
        .chain(UNMARKED.iter().copied())
        .map(|format| &format.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_marker_stands_twice_in_a_list() {
        for format in FORMATS.iter().chain(UNMARKED.iter().copied()) {
            for markers in [format.open, format.close] {
                let different: std::collections::BTreeSet<_> = markers.iter().collect();
                assert_eq!(
                    different.len(),
                    markers.len(),
                    "{}: {markers:?}",
                    format.rule.id
                );
            }
        }
    }
}
