//! The JSON lines of `fencepost conform`.

use schemars::JsonSchema;
use serde::Serialize;

/// A line of `fencepost conform`: how often a class of answers came up.
#[derive(Serialize, JsonSchema)]
pub struct AnswerCountJson<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub rule: &'static str,
    pub answer: &'a str,
    pub count: u64,
}

/// The rules of the server that a run of `fencepost conform` has not exercised.
#[derive(Serialize, JsonSchema)]
pub struct UnexercisedRulesJson<'a> {
    /// Answers tell of them, and none came up.
    pub never_exercised: &'a [&'static str],
    /// No class of answers tells of them.
    pub untold: &'a [&'static str],
}

/// What a run of `fencepost conform` with a cluster of etcd has seen of a rule about leaders.
#[derive(Serialize, JsonSchema)]
pub struct LeaderRuleJson<'a> {
    pub rule: &'static str,
    pub seen: &'a str,
    /// Whether that is what the rule says; null: the run does not decide it.
    pub is_so: Option<bool>,
}

/// What `fencepost conform --recorded` says of a log.
#[derive(Serialize, JsonSchema)]
pub struct LogVerdictJson<'a> {
    pub verdict: &'static str,
    pub answers: Option<usize>,
    /// Of a log that does not say everything: the answers that could be held against others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<usize>,
    pub line: Option<usize>,
    pub rule: Option<&'static str>,
    pub why: Option<&'a str>,
    /// What the log leaves open.
    pub open: &'a [String],
    /// The reason to doubt the verdict: the log is of another version than the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'a str>,
}

/// Something that went wrong between the clients of a log.
#[derive(Serialize, JsonSchema)]
pub struct ClientFindingJson<'a> {
    pub finding: &'a str,
    pub omissions: Vec<&'a str>,
    pub hazard: Option<&'static str>,
    pub scenario: Option<&'static str>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::LeaderRuleJson;

    /// A run that prints such lines needs a cluster: `json_lines` judges this one in their place.
    #[test]
    fn a_rule_about_leaders_is_written_with_what_was_seen() {
        let line = LeaderRuleJson { rule: "E-LD-1", seen: "nothing", is_so: None };
        let written = serde_json::to_value(line).expect("it has no map");
        assert_eq!(written, json!({"rule": "E-LD-1", "seen": "nothing", "is_so": null}));
    }
}
