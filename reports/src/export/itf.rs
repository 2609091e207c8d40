//! ITF, the trace format of Apalache and Quint (ADR 015): the state after each step, as far as the story has it.

use std::collections::BTreeSet;

use fencepost_model::finding::Story;
use serde_json::{Value, json};

/// The run as ITF JSON. `loop` names the state to which an endless run comes back.
pub fn itf(story: &Story, title: &str) -> String {
    let set = |numbers: &[u16]| json!({ "#set": numbers.iter().collect::<BTreeSet<_>>() });
    let states: Vec<Value> = story
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            json!({
                "#meta": { "index": index },
                "now": { "#bigint": step.at.to_string() },
                "action": step.label,
                "facts": step.facts,
                "owners": set(&step.owners),
                "inside": set(&step.inside),
                "token": { "#bigint": step.token.to_string() },
                "broken": step.violations.iter().map(|violation| violation.property.name()).collect::<Vec<_>>(),
            })
        })
        .collect();
    let mut trace = json!({
        "#meta": { "format": "ITF", "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html", "description": title },
        "vars": ["now", "action", "facts", "owners", "inside", "token", "broken"],
        "states": states,
    });
    if let Some(tick) = story.tick {
        trace["#meta"]["tick"] = json!(tick);
    }
    if let Some(from) = story.repeats_from.filter(|from| *from < story.steps.len()) {
        trace["loop"] = json!(from);
    }
    serde_json::to_string_pretty(&trace).expect("JSON can be written") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::story;
    use super::*;

    #[test]
    fn every_step_is_a_state() {
        let mut story = story();
        let value: Value = serde_json::from_str(&itf(&story, "a run")).unwrap();
        assert_eq!(value["states"].as_array().unwrap().len(), 3);
        assert_eq!(value["states"][2]["inside"]["#set"], json!([1]));
        assert_eq!(value["states"][1]["token"]["#bigint"], "3");
        assert!(value.get("loop").is_none());
        story.repeats_from = Some(1);
        let value: Value = serde_json::from_str(&itf(&story, "a run")).unwrap();
        assert_eq!(value["loop"], 1);
    }
}
