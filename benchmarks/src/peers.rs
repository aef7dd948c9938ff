//! The repairers, each as it is meant to be used, behind one interface.

use argmend::{RepairRequest, RewriteKind, repair_args};
use repair_core::{Effect, Finish, Policy, RawCall, ToolSet, ToolSpec, Verdict};
use serde_json::{Map, Value};
use toolguard_core::{GuardVerdict, PolicyConfig, ToolDefinition, ToolGuard, ToolGuardConfig};

/// A call as the host gets it.
#[derive(Clone, Copy, Debug)]
pub struct Emitted<'a> {
    pub name: &'a str,
    pub arguments: &'a str,
    pub finish: Finish,
}

/// The tools of a case.
#[derive(Clone, Debug)]
pub struct Tool {
    pub name: String,
    pub schema: Value,
    pub effect: Effect,
    /// The object as the provider gets it.
    pub object: Value,
}

/// What a repairer lets run: a name and arguments.
pub type Call = (String, Value);

/// One repairer.
pub trait Peer {
    fn name(&self) -> &'static str;

    /// Compiles the tools; what comes back handles calls.
    fn prepare(&self, tools: &[Tool]) -> Box<dyn Fn(Emitted<'_>) -> Option<Call>>;

    /// A bare text: its value, and whether it was told to be cut off.
    fn text(&self, input: &str) -> Option<(Value, bool)>;
}

/// All of them, ours first.
pub fn all() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(Ours),
        Box::new(Argmend),
        Box::new(Toolguard),
        Box::new(TextOnly {
            name: "jsonrepair",
            repair: |text| {
                let text = jsonrepair::repair_to_string(text, &jsonrepair::Options::default());
                serde_json::from_str(&text.ok()?).ok()
            },
        }),
        Box::new(TextOnly {
            name: "llm_json",
            repair: |text| llm_json::loads(text, &llm_json::RepairOptions::default()).ok(),
        }),
        Box::new(TextOnly {
            name: "none (serde_json)",
            repair: |text| serde_json::from_str(text).ok(),
        }),
    ]
}

struct Ours;

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "repair-core"
    }

    fn prepare(&self, tools: &[Tool]) -> Box<dyn Fn(Emitted<'_>) -> Option<Call>> {
        let specs = tools.iter().map(|tool| {
            let spec = ToolSpec::from_json(&tool.object);
            spec.unwrap_or_else(|_| ToolSpec::new(tool.name.clone(), tool.schema.clone()))
                .with_effect(tool.effect)
        });
        let (tools, _) = ToolSet::new(specs);
        let policy = Policy::default();
        Box::new(move |call| {
            let raw = RawCall::new(call.name, call.arguments).with_finish(call.finish);
            match tools.repair(&raw, &policy) {
                Verdict::Rejected(_) => None,
                verdict => verdict
                    .call()
                    .map(|call| (call.tool().to_owned(), call.arguments().value().clone())),
            }
        })
    }

    fn text(&self, input: &str) -> Option<(Value, bool)> {
        let repaired = repair_core::repair_json(input, None).ok()?;
        let value = serde_json::from_str(&repaired.text).ok()?;
        repaired.ok.then_some((value, repaired.truncated))
    }
}

/// A validator for each tool, for those who leave validation to the host.
fn validators(tools: &[Tool]) -> Vec<(String, Value, Option<jsonschema::Validator>)> {
    tools
        .iter()
        .map(|tool| {
            let validator = jsonschema::options().offline().build(&tool.schema);
            (tool.name.clone(), tool.schema.clone(), validator.ok())
        })
        .collect()
}

struct Argmend;

impl Peer for Argmend {
    fn name(&self) -> &'static str {
        "argmend"
    }

    fn prepare(&self, tools: &[Tool]) -> Box<dyn Fn(Emitted<'_>) -> Option<Call>> {
        let validators = validators(tools);
        Box::new(move |call| {
            let (name, schema, validator) =
                validators.iter().find(|(name, ..)| name == call.name)?;
            let request = RepairRequest {
                tool_name: name,
                raw: call.arguments,
                schema: Some(schema),
            };
            let value = repair_args(&request).ok()?.value;
            let fits = validator
                .as_ref()
                .is_none_or(|validator| validator.is_valid(&value));
            fits.then(|| (name.clone(), value))
        })
    }

    fn text(&self, input: &str) -> Option<(Value, bool)> {
        match argmend::repair_json(input) {
            argmend::RepairOutcome::Valid(value) => Some((value, false)),
            argmend::RepairOutcome::Repaired { value, repairs } => {
                let is_cut = |kind| matches!(kind, RewriteKind::ClosedTruncation);
                let is_cut = repairs.iter().any(|repair| is_cut(repair.kind));
                Some((value, is_cut))
            }
            _ => None,
        }
    }
}

struct Toolguard;

impl Peer for Toolguard {
    fn name(&self) -> &'static str {
        "toolguard-core"
    }

    fn prepare(&self, tools: &[Tool]) -> Box<dyn Fn(Emitted<'_>) -> Option<Call>> {
        let guard = ToolGuard::new(ToolGuardConfig {
            policy_config: PolicyConfig {
                max_consecutive_identical_calls: 0,
                max_calls_per_session: usize::MAX,
                ..PolicyConfig::default()
            },
            ..ToolGuardConfig::default()
        });
        for tool in tools {
            let destructive = tool.effect == Effect::Destructive;
            let definition = ToolDefinition::new(tool.name.clone(), tool.schema.clone());
            let _ = guard.register_tool(definition.with_destructive(destructive));
        }
        Box::new(move |call| {
            // It takes a value; a text that is no JSON goes in as a string, which it unpacks.
            let value = serde_json::from_str(call.arguments)
                .unwrap_or_else(|_| Value::from(call.arguments));
            match guard.guard_call(call.name, value, None) {
                GuardVerdict::Pass { arguments, .. } => Some((call.name.to_owned(), arguments)),
                GuardVerdict::Reject { .. } => None,
            }
        })
    }

    fn text(&self, input: &str) -> Option<(Value, bool)> {
        serde_json::from_str(input).ok().map(|value| (value, false))
    }
}

/// A repairer of JSON text, with a host around it that validates.
struct TextOnly {
    name: &'static str,
    repair: fn(&str) -> Option<Value>,
}

impl Peer for TextOnly {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&self, tools: &[Tool]) -> Box<dyn Fn(Emitted<'_>) -> Option<Call>> {
        let validators = validators(tools);
        let repair = self.repair;
        Box::new(move |call| {
            let (name, _, validator) = validators.iter().find(|(name, ..)| name == call.name)?;
            let value = repair(call.arguments)?;
            let fits = validator
                .as_ref()
                .is_none_or(|validator| validator.is_valid(&value));
            (fits && value.is_object()).then(|| (name.clone(), value))
        })
    }

    fn text(&self, input: &str) -> Option<(Value, bool)> {
        (self.repair)(input).map(|value| (value, false))
    }
}

/// The tools of a case row.
pub fn tools_of(row: &Value) -> Vec<Tool> {
    let effects = row.get("effects").and_then(Value::as_object);
    row["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|object| {
            let inner = object.get("function").unwrap_or(object);
            let name = inner["name"].as_str()?.to_owned();
            let schema = ["parameters", "inputSchema", "input_schema"]
                .iter()
                .find_map(|key| inner.get(*key))
                .cloned()
                .unwrap_or_else(|| Map::from_iter([("type".to_owned(), "object".into())]).into());
            let effect = effects.and_then(|effects| effects.get(&name)).cloned();
            let effect = effect.and_then(|effect| serde_json::from_value(effect).ok());
            Some(Tool {
                effect: effect.unwrap_or_default(),
                name,
                schema,
                object: object.clone(),
            })
        })
        .collect()
}
