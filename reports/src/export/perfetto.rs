//! A run as trace events for Perfetto and chrome://tracing: a track for each participant, steps as instants, messages as flows,
//! and who has the lock and who is inside as slices. A tick is a millisecond where it
//! has no length; steps of one instant lie a microsecond apart.

use fencepost_model::finding::{ActionKind, Story, StoryStep};
use serde_json::{Value, json};

use super::clients;

/// The run as a JSON object of trace events.
pub fn perfetto(story: &Story, title: &str) -> String {
    let times = times(story);
    let end = times.last().map_or(0, |time| time + 1);
    let at = |step: usize| times.get(step).copied().unwrap_or(end);
    let mut events = vec![json!({ "ph": "M", "pid": 1, "name": "process_name", "args": { "name": title } })];
    for (lane, name) in story.lanes.iter().enumerate() {
        events.push(json!({ "ph": "M", "pid": 1, "tid": lane + 1, "name": "thread_name", "args": { "name": name } }));
        events.push(json!({ "ph": "M", "pid": 1, "tid": lane + 1, "name": "thread_sort_index", "args": { "sort_index": lane } }));
    }
    for (step, entry) in story.steps.iter().enumerate() {
        let lane = entry.lane.unwrap_or(story.lanes.len().saturating_sub(1)) + 1;
        let broken: Vec<String> =
            entry.violations.iter().map(|violation| format!("{}: {}", violation.property, violation.message)).collect();
        events.push(json!({
            "ph": "X", "pid": 1, "tid": lane, "ts": at(step), "dur": 1, "name": entry.label, "cat": entry.kind.map_or("folded", ActionKind::name),
            "args": { "step": step + 1, "at": story.instant(entry.at), "facts": entry.facts, "broken": broken },
        }));
    }
    for (number, arrow) in story.arrows.iter().enumerate() {
        let Some(ended) = arrow.ended.filter(|_| !arrow.lost) else { continue };
        let flow = |ph: &str, lane: usize, step: usize| json!({ "ph": ph, "bp": "e", "pid": 1, "tid": lane + 1, "ts": at(step), "id": number + 1, "name": arrow.text, "cat": "message" });
        events.push(flow("s", arrow.from, arrow.sent));
        events.push(flow("f", arrow.to, ended));
    }
    for client in 0..clients(story) {
        let number = u16::try_from(client + 1).unwrap_or(u16::MAX);
        slices(&mut events, story, &at, client, "has the lock", |entry| entry.owners.contains(&number));
        slices(&mut events, story, &at, client, "inside", |entry| entry.inside.contains(&number));
    }
    serde_json::to_string(&json!({ "displayTimeUnit": "ms", "traceEvents": events })).expect("JSON can be written")
        + "\n"
}

/// When each step is drawn, in microseconds: never two at once.
fn times(story: &Story) -> Vec<i64> {
    let mut next = 0;
    let true_time = |at: i64| story.tick.and_then(|tick| tick.times(at)).map(|time| time.nanoseconds() / 1000);
    let mut time = |step: &StoryStep| {
        let at = true_time(step.at).unwrap_or(step.at * 1000).max(next);
        next = at + 2;
        at
    };
    story.steps.iter().map(&mut time).collect()
}

fn slices(
    events: &mut Vec<Value>,
    story: &Story,
    at: &impl Fn(usize) -> i64,
    client: usize,
    name: &str,
    is_on: impl Fn(&StoryStep) -> bool,
) {
    let mut from: Option<usize> = None;
    for step in 0..=story.steps.len() {
        let is_on = story.steps.get(step).is_some_and(&is_on);
        match (from, is_on) {
            (None, true) => from = Some(step),
            (Some(start), false) => {
                for (ph, step) in [("b", start), ("e", step)] {
                    events.push(json!({ "ph": ph, "pid": 1, "tid": client + 1, "ts": at(step), "id": format!("{client} {name}"), "name": format!("{}: {name}", story.lanes[client]), "cat": name }));
                }
                from = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::story;
    use super::*;

    #[test]
    fn steps_messages_and_holders_have_events() {
        let value: Value = serde_json::from_str(&perfetto(&story(), "a run")).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).collect::<Vec<_>>();
        assert_eq!(of("X").iter().map(|event| event["ts"].as_i64().unwrap()).collect::<Vec<_>>(), [0, 2000, 5000]);
        assert_eq!((of("s").len(), of("f").len()), (1, 1), "only what arrived flows");
        let begins: Vec<&str> = of("b").iter().map(|event| event["name"].as_str().unwrap()).collect();
        assert_eq!(begins, ["client 1: has the lock", "client 1: inside"]);
        assert_eq!(of("e").len(), 2);
    }
}
