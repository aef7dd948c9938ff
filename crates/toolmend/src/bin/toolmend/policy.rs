//! The policy file.

use toolmend::protocol::Toolkit;
use toolmend::repair_core::Rule;
use toolmend::{Policy, call_text};

/// What the words of a policy file may be.
const WORDS: &str = "\
an effect is read_only, idempotent, mutating, destructive or unknown;
a risk is lossless, inferred or guess; a rule is off or has a risk;
`toolmend repair --help` shows a policy file";

/// All rules: those by which calls are read from text, then those of repair.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    call_text::rules().chain(toolmend::rules())
}

/// Reads a policy file; the error names the key and what is allowed. Rules must exist; tools too,
/// where the command knows them.
pub(crate) fn parse(text: &str, tools: Option<&Toolkit>) -> Result<Policy, String> {
    let policy: Policy = toml::from_str(text).map_err(|error| format!("{error}{WORDS}"))?;
    let known: Vec<&str> = rules().map(|rule| rule.id).collect();
    if let Some((rule, _)) = policy.rules().find(|(rule, _)| !known.contains(rule)) {
        return Err(format!(
            "there is no rule '{rule}'; the rules, which `toolmend rules` explains, are {}",
            known.join(", ")
        ));
    }
    if let Some(toolkit) = tools {
        let names: Vec<&str> = toolkit.set.specs().map(toolmend::ToolSpec::name).collect();
        if let Some(tool) = policy.tools().find(|tool| !names.contains(tool)) {
            return Err(format!(
                "there is no tool '{tool}'; the given tools are {}",
                names.join(", ")
            ));
        }
    }
    Ok(policy)
}
