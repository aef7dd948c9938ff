//! Events and spans for `tracing`, under the names of OpenTelemetry.
//!
//! No argument, result, message or prompt is written: only names of resolved tools, classes,
//! counts and times.
//!
//! An `execute_tool` span is open while a tool runs, so that what the tool logs belongs to it. The
//! events are written by a thread of their own, as for every other observer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::task::{Context, Poll};

use harness::{Event, EventKind};
use tracing::{Dispatch, Span};

/// How many events the log may be behind.
const CAPACITY: usize = 1_024;

/// Whether anybody reads what is written here.
pub(crate) fn is_enabled() -> bool {
    isolated(|| tracing::enabled!(target: "self_debug", tracing::Level::INFO)).unwrap_or(false)
}

/// Writes events on a thread of its own.
#[derive(Debug)]
pub(crate) struct Log {
    events: SyncSender<(Dispatch, Arc<Event>)>,
}

impl Log {
    pub(crate) fn start() -> Option<Self> {
        let (events, queue) = sync_channel::<(Dispatch, Arc<Event>)>(CAPACITY);
        std::thread::Builder::new()
            .name("self-debug log".to_owned())
            .spawn(move || {
                for (subscriber, event) in queue {
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        tracing::dispatcher::with_default(&subscriber, || write(&event));
                    }));
                }
            })
            .ok()?;
        Some(Self { events })
    }

    /// Hands an event over; one that the log is too slow for is dropped, and its successor says
    /// so by its number.
    pub(crate) fn tell(&self, event: &Arc<Event>) {
        let subscriber = tracing::dispatcher::get_default(Dispatch::clone);
        match self.events.try_send((subscriber, Arc::clone(event))) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}

/// One line of the log. A name that resolves to no tool is the model's own text, and stays out.
fn write(event: &Event) {
    let is_resolved = event.class != Some(harness::ErrorClass::UnknownTool);
    let tool = if is_resolved { &*event.tool } else { "" };
    let class = event.class.map(|class| format!("{class:?}"));
    let class = class.as_deref().unwrap_or_default();
    let milliseconds = u64::try_from(event.elapsed.as_millis()).unwrap_or(u64::MAX);
    macro_rules! line {
        ($level:ident, $($field:tt)*) => {
            tracing::$level!(
                target: "self_debug",
                event = event.kind.name(),
                number = event.number,
                conversation = &*event.conversation,
                run = event.run,
                gen_ai.tool.name = tool,
                error.r#type = class,
                attempt = event.attempt,
                elapsed_ms = milliseconds,
                $($field)*
            )
        };
    }
    match &event.kind {
        EventKind::Proposed {
            candidates, usage, ..
        } => line!(
            info,
            candidates = candidates.len(),
            gen_ai.usage.input_tokens = usage.input_tokens,
            gen_ai.usage.output_tokens = usage.output_tokens
        ),
        EventKind::Repaired { fixes, .. } => line!(info, fixes = fixes.len()),
        EventKind::GaveUp { .. } => line!(warn,),
        _ => line!(info,),
    }
}

/// Whether a call's id looks like one. It comes from the model or its server, so anything else could
/// be a text.
fn is_id(id: &str) -> bool {
    let is_id_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    id.len() <= 64 && id.bytes().all(is_id_byte)
}

/// The span of one run of a tool. A subscriber that panics changes nothing.
pub(crate) struct ToolSpan(Span);

impl ToolSpan {
    pub(crate) fn open(tool: &str, call_id: Option<&str>, attempt: usize) -> Self {
        let open = || {
            tracing::info_span!(
                target: "self_debug",
                "execute_tool",
                otel.name = format_args!("execute_tool {tool}"),
                otel.kind = "internal",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = tool,
                gen_ai.tool.r#type = "function",
                gen_ai.tool.call.id = call_id.filter(|id| is_id(id)),
                attempt,
                error.r#type = tracing::field::Empty,
            )
        };
        Self(isolated(open).unwrap_or_else(Span::none))
    }

    /// Writes down that the tool failed.
    pub(crate) fn failed(&self, class: harness::ErrorClass) {
        isolated(|| self.0.record("error.type", tracing::field::debug(class)));
    }
}

impl Drop for ToolSpan {
    fn drop(&mut self) {
        let span = std::mem::replace(&mut self.0, Span::none());
        isolated(|| drop(span));
    }
}

/// The result, unless a subscriber panics.
fn isolated<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// A future inside a span: like `tracing::Instrument`, but a subscriber that panics on entering or
/// leaving does not reach the future.
pub(crate) struct InSpan<'a, F> {
    pub(crate) span: &'a ToolSpan,
    pub(crate) future: F,
}

impl<F: Future + Unpin> Future for InSpan<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let entered = isolated(|| this.span.0.enter());
        let polled = Pin::new(&mut this.future).poll(context);
        isolated(|| drop(entered));
        polled
    }
}
