//! A comparison as JSON lines.

use fencepost::AnyScenario;
use fencepost::model::finding::{Finding, Verdict};

use super::Diff;
use super::measures::Measured;
use super::promises::{Compared, Judged};
use super::settings::Difference;
use crate::json::{DifferenceJson, LossJson, MeasureJson, PromiseChangeJson, SideJson, StepJson};
use crate::output::say_json;

pub fn differences(differences: &[Difference]) {
    for Difference { path, values: [a, b], is_text } in differences {
        let (a, b, is_text) = (a.as_ref(), b.as_ref(), *is_text);
        say_json(&DifferenceJson { kind: "difference", path, a, b, is_text });
    }
}

pub fn promises(pair: &[Box<dyn AnyScenario>; 2], promises: &[Compared]) {
    promises.iter().for_each(|compared| say_json(&compared.json(pair)));
}

pub fn loss(finding: &Finding) {
    let Some(story) = finding.verdict.story() else { return };
    let steps = story.steps.iter().map(|step| StepJson {
        at: step.at,
        label: &step.label,
        facts: &step.facts,
        violations: step.violations.iter().map(|violation| violation.message.as_str()).collect(),
    });
    say_json(&LossJson {
        kind: "loss",
        property: finding.property.name(),
        scenario: &finding.scenario,
        steps: steps.collect(),
        repeats_from: story.repeats_from,
        trace: finding.trace.as_deref(),
    });
}

pub fn measured(pair: &[Box<dyn AnyScenario>; 2], measured: &[Measured], diff: &Diff) {
    for Measured { measure, sides: [a, b] } in measured {
        say_json(&MeasureJson {
            kind: "measure",
            measure: measure.name,
            about: measure.about,
            unit: measure.unit.name(),
            a: *a,
            b: *b,
            scheduler: diff.scheduler.name(),
            seeds_from: diff.seeds.start,
            seeds_to: diff.seeds.end,
            storm: diff.storm,
            ticks: [0, 1].map(|side: usize| pair[side].tick().map(|tick| tick.to_string())),
        });
    }
}

impl Compared {
    fn json<'a>(&'a self, pair: &'a [Box<dyn AnyScenario>; 2]) -> PromiseChangeJson<'a> {
        let [a, b] = &self.sides;
        PromiseChangeJson {
            kind: "promise",
            property: self.promise.property.name(),
            bound: self.promise.bound.map(fencepost::Ticks::count),
            change: self.change().name(),
            a: a.json(pair[0].name()),
            b: b.json(pair[1].name()),
        }
    }
}

impl Judged {
    fn json<'a>(&'a self, scenario: &'a str) -> SideJson<'a> {
        let nothing = SideJson {
            scenario,
            is_promised: false,
            verdict: None,
            states: None,
            cut_by: None,
            missing_goals: &[],
            why: None,
        };
        match self {
            Judged::Impossible(why) | Judged::Incomparable(why) => SideJson { why: Some(why), ..nothing },
            Judged::Searched { outcome, is_promised } => {
                let finding = &outcome.finding;
                SideJson {
                    is_promised: *is_promised,
                    verdict: Some(finding.verdict.word()),
                    states: Some(finding.states),
                    cut_by: match &finding.verdict {
                        Verdict::Bounded { by } => Some(by),
                        _ => None,
                    },
                    missing_goals: match &finding.verdict {
                        Verdict::Vacuous { missing } => missing,
                        _ => &[],
                    },
                    ..nothing
                }
            }
        }
    }
}
