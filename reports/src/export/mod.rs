//! Runs and verdicts for other programs: one file a format.

mod itf;
mod junit;
mod markdown;
mod mermaid;
mod perfetto;
mod picture;

pub use itf::itf;
pub use junit::junit;
pub use markdown::markdown;
pub use mermaid::mermaid;
pub use perfetto::perfetto;
pub use picture::{chart_picture, run_picture};

use fencepost_model::finding::Story;

/// The participants that a number in `owners` and `inside` stands for: clients come first, then the service and what it protects.
fn clients(story: &Story) -> usize {
    story.lanes.len().saturating_sub(2)
}

#[cfg(test)]
pub(crate) mod tests {
    use fencepost_model::finding::{
        ActionKind, Arrow, Certificate, Expect, Finding, Held, Property, Story, StoryStep, Verdict, Violation,
    };

    /// An execution of three steps: a request, a lost message, and a client inside; the names contain characters that
    /// formats must escape.
    pub(crate) fn story() -> Story {
        let step = |at: i64, label: &str, lane: usize| StoryStep {
            at,
            label: label.to_owned(),
            kind: Some(ActionKind::Deliver),
            lane: Some(lane),
            ..StoryStep::default()
        };
        let arrow = |text: &str, sent: usize, ended: Option<usize>, lost: bool| Arrow {
            from: 0,
            to: 1,
            text: text.to_owned(),
            answers: None,
            sent,
            ended,
            lost,
        };
        let broken = Violation { property: Property::MutualExclusion, message: "<both> & \"more\"".to_owned() };
        Story {
            held: Held::Lock,
            lanes: ["client 1", "the server", "the resource"].map(str::to_owned).to_vec(),
            steps: vec![
                step(0, "client 1 is asked; #1", 0),
                StoryStep {
                    owners: vec![1],
                    token: 3,
                    facts: vec!["a fact: \"so\"".to_owned()],
                    ..step(2, "it <arrives>", 1)
                },
                StoryStep {
                    owners: vec![1],
                    inside: vec![1],
                    violations: vec![broken],
                    ..step(5, "client 1 wakes", 0)
                },
            ],
            tick: None,
            arrows: vec![
                arrow("acquire; [1]", 0, Some(1), false),
                arrow("lost", 0, Some(2), true),
                arrow("late", 1, None, false),
            ],
            begins_after: Vec::new(),
            repeats_from: None,
            is_not_known_shortest: false,
        }
    }

    /// A finding for each verdict that there is, the first one hostile.
    pub(crate) fn findings() -> Vec<Finding> {
        let certificate = Certificate {
            goals: Vec::new(),
            never_taken: Vec::new(),
            reductions: Vec::new(),
            fingerprint_bits: Some(63),
        };
        let verdicts = [
            Verdict::Violated(Box::new(story())),
            Verdict::Proven(certificate),
            Verdict::Bounded { by: "a limit | of <memory>".to_owned() },
            Verdict::Vacuous { missing: vec!["expired".to_owned()] },
        ];
        let finding = |(place, verdict): (usize, Verdict)| Finding {
            scenario: format!("scenario-{place}"),
            system: "lease".to_owned(),
            hazard: None,
            variant: String::new(),
            about: "a | pipe & <angle>".to_owned(),
            property: Property::MutualExclusion,
            bound: None,
            tick: None,
            expect: Expect::Proven,
            verdict,
            states: 10,
            transitions: 20,
            depth: 3,
            assumptions: Vec::new(),
            engine: "dataflow".to_owned(),
            microseconds: 1_500_000,
            trace: None,
        };
        verdicts.into_iter().enumerate().map(finding).collect()
    }
}
