//! How the answer reads: for people, and as a JSON line for each promise.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fencepost::model::scenario::Promise;
use fencepost::model::time::Ticks;
use fencepost_doctor::Direction;
use fencepost_doctor::exact::{ExactBoundary, ExactDoctor, ExactEnd, ExactSetting, ExactValue, ExactVerdict};

use super::{ExactAnswer, ExactQuestion};
use crate::json::{ExactBoundaryJson, ExactPromiseJson};
use crate::target;

impl ExactQuestion<'_> {
    pub(super) fn heading(&self) -> String {
        let scenario = self.base.scenario();
        let described = scenario.description();
        let tick = self.tick.map_or("durations in ticks".to_owned(), |tick| format!("a tick is {tick}"));
        format!(
            "{}, exactly as it stands: clients {}, rounds {}, {tick}\n",
            described.name, described.clients, described.rounds
        )
    }

    /// A value of a setting, in seconds if the scenario says how long a tick is.
    fn shown(&self, setting: &ExactSetting, value: i64) -> String {
        match (setting.value, self.tick) {
            (ExactValue::Flag(_), _) => (value != 0).to_string(),
            (ExactValue::Ticks(_), Some(_)) => self.base.scenario().told_ticks(Ticks::new(value)),
            _ => value.to_string(),
        }
    }

    pub(super) fn told(&self, answer: &ExactAnswer<'_>, target: &str) -> String {
        let name = match answer.promise.bound {
            None => answer.promise.property.to_string(),
            Some(bound) => format!("{} within {}", answer.promise.property, self.base.scenario().told_ticks(bound)),
        };
        let (mark, found) = match &answer.verdict {
            ExactVerdict::Kept { states } => ('✓', format!("kept: proven, {states} states")),
            ExactVerdict::Broken { steps } => (
                '✗',
                format!(
                    "broken: a shortest execution has {steps} steps; `fencepost check {} --property {}` tells it",
                    target::quoted(target),
                    answer.promise.property
                ),
            ),
            ExactVerdict::Vacuous { missing } => ('∅', format!("vacuous: goals not reached: {}", missing.join(", "))),
            ExactVerdict::Unknown { by } => ('?', format!("unknown: the search was stopped by {by}")),
        };
        let mut text = format!("\n{mark} {name}: {found}\n");
        let word = verdict_word(&answer.verdict);
        let mut unchanged: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ExactBoundary { setting, direction, same, end } in &answer.boundaries {
            let way = way(*direction);
            let (value, same_to) = (self.shown(setting, setting.value.count()), self.shown(setting, *same));
            let line = unchanged.entry(&setting.name).or_default();
            match end {
                Some((from, ExactEnd::Verdict(ExactVerdict::Unknown { by }))) => {
                    line.push(format!("{way} {same_to} ({} is unknown: stopped by {by})", self.shown(setting, *from)));
                }
                Some((from, ExactEnd::Verdict(other))) => {
                    let (other, from) = (verdict_word(other), self.shown(setting, *from));
                    let name = &setting.name;
                    let _ = match setting.value {
                        ExactValue::Flag(_) => writeln!(text, "    {name} {value}: {word}, {other} with {from}"),
                        _ => writeln!(text, "    {name} {value}: {word} {way} {same_to}, {other} at {from}"),
                    };
                }
                Some((from, ExactEnd::Refused(why))) => {
                    line.push(format!("{way} {same_to} ({} is refused: {why})", self.shown(setting, *from)));
                }
                None if matches!(setting.value, ExactValue::Flag(_)) => line.push(format!("with {same_to}")),
                None => line.push(format!("{way} {same_to}")),
            }
        }
        unchanged.retain(|_, lines| !lines.is_empty());
        if !unchanged.is_empty() {
            let _ = writeln!(text, "    {word} as far as was tried, each alone:");
            unchanged.iter().for_each(|(name, lines)| text += &format!("      {name} {}\n", lines.join(", ")));
        }
        answer.files.iter().for_each(|file| text += &format!("  written: {file}\n"));
        text
    }

    pub(super) fn tail(&self, doctor: &ExactDoctor<'_>) -> String {
        let mut text = "\nassumed:\n".to_owned();
        for assumption in self.base.scenario().assumptions() {
            let _ = writeln!(text, "  {assumption}");
        }
        let (searches, states) = doctor.effort();
        text + &format!(
            "{searches} searches, {states} states; one setting was changed at a time, and nothing is said about values between those that were searched\n"
        )
    }

    pub(super) fn json(&self, answer: &ExactAnswer<'_>) -> ExactPromiseJson {
        let scenario = self.base.scenario();
        let why = match &answer.verdict {
            ExactVerdict::Vacuous { missing } => Some(missing.join(", ")),
            ExactVerdict::Unknown { by } => Some(by.clone()),
            _ => None,
        };
        ExactPromiseJson {
            scenario: scenario.name().to_owned(),
            property: answer.promise.property.name(),
            bound: answer.promise.bound.map(|bound| bound.count()),
            verdict: verdict_word(&answer.verdict),
            states: if let ExactVerdict::Kept { states } = answer.verdict { Some(states) } else { None },
            steps: if let ExactVerdict::Broken { steps } = answer.verdict { Some(steps) } else { None },
            why,
            boundaries: answer.boundaries.iter().map(boundary_json).collect(),
            assumptions: scenario.assumptions().iter().map(ToString::to_string).collect(),
            tick: self.tick,
            files: answer.files.clone(),
        }
    }
}

/// A promise by its property and its bound.
pub(super) fn named(promise: &Promise) -> String {
    match promise.bound {
        None => promise.property.to_string(),
        Some(bound) => format!("{} within {}", promise.property, bound.count()),
    }
}

fn verdict_word(verdict: &ExactVerdict) -> &'static str {
    match verdict {
        ExactVerdict::Kept { .. } => "kept",
        ExactVerdict::Broken { .. } => "broken",
        ExactVerdict::Vacuous { .. } => "vacuous",
        ExactVerdict::Unknown { .. } => "unknown",
    }
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up to",
        Direction::Down => "down to",
    }
}

fn boundary_json(boundary: &ExactBoundary) -> ExactBoundaryJson {
    let (other_from, other, why) = match &boundary.end {
        None => (None, None, None),
        Some((from, ExactEnd::Refused(why))) => (Some(*from), Some("refused"), Some(why.clone())),
        Some((from, ExactEnd::Verdict(verdict))) => {
            let why = if let ExactVerdict::Unknown { by } = verdict { Some(by.clone()) } else { None };
            (Some(*from), Some(verdict_word(verdict)), why)
        }
    };
    ExactBoundaryJson {
        setting: boundary.setting.name.clone(),
        direction: match boundary.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        },
        value: boundary.setting.value.count(),
        same_to: boundary.same,
        other_from,
        other,
        why,
    }
}
