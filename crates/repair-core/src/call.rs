//! A call before and after repair.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fix::Fix;

/// How generation ended, as far as the caller knows. Exhaustive on purpose: known to have ended
/// well, known not to, or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Nothing is known: a text with unclosed containers counts as cut.
    #[default]
    Unknown,
    /// The model had finished (`stop`, `tool_calls`, or the format's own closing marker).
    Complete,
    /// Generation ended by length or by a filter: only a strict, valid text is a call.
    Cut,
}

impl Finish {
    /// Reads the `finish_reason`, `stop_reason` or `status` of a provider, in any case; unknown
    /// words are [`Finish::Unknown`].
    pub fn from_reason(reason: &str) -> Self {
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(reason));
        if is_one_of(COMPLETE) {
            Self::Complete
        } else if is_one_of(CUT) {
            Self::Cut
        } else {
            Self::Unknown
        }
    }
}

/// How providers say that the model had finished.
const COMPLETE: &[&str] = &[
    "stop",
    "tool_calls",
    "tool_call",
    "tool_use",
    "function_call",
    "end_turn",
    "complete",
    "completed",
    "eos",
    "eos_token",
];
/// How they say that something ended it: a limit, a filter, a failure.
const CUT: &[&str] = &[
    "length",
    "max_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "model_length",
    "model_context_window_exceeded",
    "error_limit",
    "incomplete",
    "content_filter",
    "content_filtered",
    "guardrail_intervened",
    "refusal",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "malformed_function_call",
    "error",
    "error_toxic",
    "abort",
    "cancelled",
];

/// What the model wrote: a tool name and the text of its arguments.
///
/// ```
/// use repair_core::RawCall;
/// let raw = RawCall::new("read_file", r#"{"path": "a.txt"}"#).with_id("call_1");
/// assert_eq!(raw.name(), "read_file");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCall<'a> {
    pub(crate) id: Option<String>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) arguments: Option<Cow<'a, str>>,
    pub(crate) finish: Finish,
    #[serde(default, skip_serializing_if = "<[Fix]>::is_empty")]
    pub(crate) readings: Cow<'a, [Fix]>,
}

impl<'a> RawCall<'a> {
    /// A call with its arguments as the model wrote them.
    pub fn new(name: impl Into<Cow<'a, str>>, arguments: impl Into<Cow<'a, str>>) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments: Some(arguments.into()),
            finish: Finish::Unknown,
            readings: Cow::default(),
        }
    }

    /// A call whose arguments are absent.
    pub fn without_arguments(name: impl Into<Cow<'a, str>>) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments: None,
            finish: Finish::Unknown,
            readings: Cow::default(),
        }
    }

    /// A call whose arguments a client has already parsed. Their text is the compact
    /// serialisation of the value.
    pub fn from_value(name: impl Into<Cow<'a, str>>, arguments: &Value) -> Self {
        Self::new(name, arguments.to_string())
    }

    /// Sets the provider's id of the call.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets how generation ended.
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Says that the call was read out of a text: `fix` names the syntax and how sure the reading
    /// is. The verdict counts it among the fixes.
    pub fn with_reading(mut self, fix: Fix) -> Self {
        let readings = self.readings.to_mut();
        // Hardly any call has a second one.
        readings.reserve_exact(1);
        readings.push(fix);
        self
    }

    /// The provider's id of the call, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name as emitted.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the arguments as emitted; `None` if they are absent.
    pub fn arguments(&self) -> Option<&str> {
        self.arguments.as_deref()
    }

    /// How generation ended.
    pub fn finish(&self) -> Finish {
        self.finish
    }

    /// The same call with owned texts.
    pub fn into_owned(self) -> RawCall<'static> {
        RawCall {
            id: self.id,
            name: Cow::Owned(self.name.into_owned()),
            arguments: self.arguments.map(|text| Cow::Owned(text.into_owned())),
            finish: self.finish,
            readings: Cow::Owned(self.readings.into_owned()),
        }
    }
}

/// The arguments of a call that may run: an exact JSON text, and a lazy view of it as a value.
#[derive(Clone)]
pub struct Arguments<'a> {
    text: Cow<'a, str>,
    value: OnceLock<Value>,
}

impl<'a> Arguments<'a> {
    /// `text` must be a strict JSON object.
    pub(crate) fn new(text: Cow<'a, str>) -> Self {
        Self {
            text,
            value: OnceLock::new(),
        }
    }

    /// The exact JSON text, with the model's own spelling wherever nothing was fixed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The arguments as a value, parsed on first use. Numbers beyond the range of `serde_json`
    /// (`1e400`, integers of more than 64 bits) keep their exact form only in [`Self::text`]:
    /// here they are the nearest finite double.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| crate::json::to_value(&self.text))
    }

    /// The value, without a copy if it was read before.
    pub fn into_value(self) -> Value {
        match self.value.into_inner() {
            Some(value) => value,
            None => crate::json::to_value(&self.text),
        }
    }

    /// The arguments as a type of the host.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.text)
    }

    pub(crate) fn into_owned(self) -> Arguments<'static> {
        Arguments {
            text: Cow::Owned(self.text.into_owned()),
            value: self.value,
        }
    }
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Arguments").field(&self.text).finish()
    }
}

impl PartialEq for Arguments<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Arguments<'_> {}

impl Serialize for Arguments<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Arguments<'_> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if crate::json::is_strict_object(&text) {
            Ok(Arguments::new(Cow::Owned(text)))
        } else {
            Err(serde::de::Error::custom(
                "arguments must be the text of a JSON object",
            ))
        }
    }
}

/// A call that may run: a resolved tool name, and arguments that validate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call<'a> {
    pub(crate) id: Option<String>,
    /// Shared with the tool set.
    #[serde(with = "shared_text")]
    pub(crate) tool: Arc<str>,
    pub(crate) emitted_name: Cow<'a, str>,
    pub(crate) arguments: Arguments<'a>,
    pub(crate) unvalidated: bool,
}

mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

impl Call<'_> {
    /// The provider's id of the call, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the tool in the tool set: the only name for permission, budgets and events.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The name that the model wrote, for the record.
    pub fn emitted_name(&self) -> &str {
        &self.emitted_name
    }

    /// The arguments.
    pub fn arguments(&self) -> &Arguments<'_> {
        &self.arguments
    }

    /// Whether the tool's schema did not compile, so that nothing but "a JSON object" was checked.
    pub fn is_unvalidated(&self) -> bool {
        self.unvalidated
    }

    /// The same call with owned texts.
    pub fn into_owned(self) -> Call<'static> {
        Call {
            id: self.id,
            tool: self.tool,
            emitted_name: Cow::Owned(self.emitted_name.into_owned()),
            arguments: self.arguments.into_owned(),
            unvalidated: self.unvalidated,
        }
    }
}
