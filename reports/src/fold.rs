//! Long runs, made short enough to be looked at: what leads to a violation stays, and so do faults with what surrounds them; each
//! stretch between is one row that says how many steps it stands for.

use std::borrow::Cow;

use fencepost_model::finding::{Arrow, Story, StoryStep};

/// The number of steps up to which an execution is drawn completely.
const WHOLE: usize = 500;
/// The number of steps that are drawn before the first violation of each promise.
const BEFORE: usize = 60;
/// The number of steps that are drawn at the beginning and at the end.
const ENDS: usize = 12;
/// The number of steps that are drawn around a fault.
const ROUND: usize = 2;
/// The maximum number of faults that are drawn.
const FAULTS: usize = 40;

/// The story itself if it is short, or a folded one.
pub fn fold(story: &Story) -> Cow<'_, Story> {
    let count = story.steps.len();
    if count <= WHOLE || story.repeats_from.is_some_and(|from| from < count) {
        return Cow::Borrowed(story);
    }
    let mut is_kept = vec![false; count];
    let mut keep = |from: usize, to: usize| is_kept[from..to.min(count)].fill(true);
    keep(0, ENDS);
    keep(count - ENDS, count);
    let mut met = Vec::new();
    let mut faults = 0;
    for (place, step) in story.steps.iter().enumerate() {
        for violation in &step.violations {
            if !met.contains(&violation.property) {
                met.push(violation.property);
                keep(place.saturating_sub(BEFORE), place + ROUND);
            }
        }
        if step.kind.is_some_and(|kind| kind.is_disturbance() || kind.is_repair()) && faults < FAULTS {
            faults += 1;
            keep(place.saturating_sub(ROUND), place + ROUND + 1);
        }
    }
    Cow::Owned(folded(story, &is_kept))
}

fn folded(story: &Story, is_kept: &[bool]) -> Story {
    let mut short = Story {
        held: story.held,
        lanes: story.lanes.clone(),
        begins_after: story.begins_after.clone(),
        tick: story.tick,
        is_not_known_shortest: story.is_not_known_shortest,
        ..Story::default()
    };
    // For each step, the row that it is in now.
    let mut rows = Vec::with_capacity(is_kept.len());
    let mut stretch = 0;
    for (place, step) in story.steps.iter().enumerate() {
        if is_kept[place] {
            stretch = 0;
            short.steps.push(step.clone());
        } else {
            if stretch == 0 {
                short.steps.push(StoryStep::default());
            }
            stretch += 1;
            let row = short.steps.last_mut().expect("it was pushed for the stretch");
            *row = StoryStep {
                label: format!("… {stretch} steps"),
                kind: None,
                lane: None,
                facts: Vec::new(),
                violations: Vec::new(),
                ..step.clone()
            };
        }
        rows.push(short.steps.len() - 1);
    }
    let is_seen = |arrow: &&Arrow| is_kept[arrow.sent] || arrow.ended.is_some_and(|ended| is_kept[ended]);
    short.arrows = story
        .arrows
        .iter()
        .filter(is_seen)
        .map(|arrow| Arrow { sent: rows[arrow.sent], ended: arrow.ended.map(|ended| rows[ended]), ..arrow.clone() })
        .collect();
    short
}

#[cfg(test)]
mod tests {
    use fencepost_model::finding::{Property, Violation};

    use fencepost_model::finding::ActionKind;

    use super::*;

    fn long(steps: usize) -> Story {
        let step = |place: usize| StoryStep {
            at: place as i64,
            label: place.to_string(),
            kind: Some(ActionKind::Deliver),
            ..StoryStep::default()
        };
        let arrow = |sent: usize| Arrow { sent, ended: Some(sent + 1), text: sent.to_string(), ..Arrow::default() };
        Story {
            lanes: vec!["client 1".to_owned()],
            steps: (0..steps).map(step).collect(),
            arrows: (0..steps - 1).map(arrow).collect(),
            repeats_from: None,
            ..Story::default()
        }
    }

    #[test]
    fn short_runs_stay_whole_and_long_ones_keep_violations_and_faults() {
        assert_eq!(fold(&long(WHOLE)).steps.len(), WHOLE);
        let mut story = long(10_000);
        story.steps[5000]
            .violations
            .push(Violation { property: Property::MutualExclusion, message: "both".to_owned() });
        story.steps[7000].kind = Some(ActionKind::Crash);
        let short = fold(&story);
        let labels: Vec<&str> = short.steps.iter().map(|step| step.label.as_str()).collect();
        assert_eq!(labels.len(), 2 * ENDS + BEFORE + ROUND + 2 * ROUND + 1 + 3);
        assert_eq!(labels[ENDS], "… 4928 steps");
        assert!(labels.contains(&"5000") && labels.contains(&"7000") && !labels.contains(&"6000"));
        let violation = labels.iter().position(|label| *label == "5000").unwrap();
        assert_eq!(short.steps[violation].violations.len(), 1);
        let arrow = short.arrows.iter().find(|arrow| arrow.text == "4999").unwrap();
        assert_eq!((arrow.sent, arrow.ended), (violation - 1, Some(violation)));
        assert!(short.arrows.iter().all(|arrow| arrow.sent < labels.len()), "every arrow begins in a row");
        assert!(short.arrows.iter().all(|arrow| arrow.text != "6000"), "a message between folded steps is not drawn");
    }
}
