//! The policy file.

use toolmend::Policy;
use toolmend::protocol::Toolkit;

/// Reads a policy file; the error names the key and, where it can, what is allowed. Rules must
/// exist; tools too, where the command knows them.
pub(crate) fn parse(text: &str, tools: Option<&Toolkit>) -> Result<Policy, String> {
    let policy: Policy = toml::from_str(text).map_err(|error| error.to_string())?;
    let known: Vec<&str> = toolmend::rules().map(|rule| rule.id).collect();
    if let Some((rule, _)) = policy.rules().find(|(rule, _)| !known.contains(rule)) {
        return Err(format!(
            "there is no rule '{rule}'; `toolmend rules` lists them"
        ));
    }
    if let Some(toolkit) = tools {
        let has = |name: &&str| toolkit.set.specs().any(|spec| spec.name() == *name);
        if let Some(tool) = policy.tools().find(|tool| !has(tool)) {
            return Err(format!("there is no tool '{tool}' among the given tools"));
        }
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_what_is_wrong_with_it() {
        assert!(
            parse(
                "default_effect = \"read_only\"\n[rules]\nkey_alias = \"off\"\n",
                None
            )
            .is_ok()
        );
        for (text, named) in [
            ("[rules]\nno_such_rule = \"off\"", "no_such_rule"),
            ("default_effect = \"harmless\"", "harmless"),
            ("effect = \"read_only\"", "effect"),
            ("accept = \"lossles\"", "lossles"),
        ] {
            let error = parse(text, None).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
