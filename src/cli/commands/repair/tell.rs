//! What `fencepost repair` prints.

use std::collections::BTreeSet;

use super::Priced;
use super::edits::Edit;
use super::price::Price;
use super::search::Tried;
use super::trial::Base;
use crate::args::Common;
use crate::json::{EditJson, NoRepairJson, RepairSetJson};
use crate::output::{say, say_json};

/// At most this number of repairs is listed for people.
const SHOWN_MAX: usize = 12;

pub fn nothing_is_broken(base: &Base, common: &Common) {
    if !common.json {
        say(&format!("{}: no promise is broken\n", base.scenario.name()));
    }
}

pub fn result(base: &Base, knobs: &[String], tried: &Tried, repairs: &[Priced], common: &Common) {
    if common.json {
        repairs.iter().for_each(|priced| say_json(&line(base, priced, &edits(base, priced))));
        if repairs.is_empty() {
            say_json(&NoRepairJson {
                scenario: base.scenario.name(),
                repair: None,
                knobs: knobs.len(),
                tried: tried.sizes.iter().map(|(_, tried)| *tried).sum(),
                assume_more: tried.assume_more,
                undecided: tried.undecided,
                is_exhausted: tried.is_exhausted(),
            });
        }
        return;
    }
    let broken: Vec<&str> = base.broken.iter().map(|promise| promise.property.name()).collect();
    say(&format!("{}: broken: {}\n", base.scenario.name(), broken.join(", ")));
    for priced in repairs.iter().take(SHOWN_MAX) {
        say(&told(base, priced));
    }
    if repairs.len() > SHOWN_MAX {
        say(&format!("… and {} more of this size (--json lists all)\n", repairs.len() - SHOWN_MAX));
    }
    say(&summary(knobs, tried, repairs.is_empty()));
    if repairs.is_empty() && broken.len() > 1 {
        let alone: Vec<String> = broken.iter().map(|promise| format!("--property {promise}")).collect();
        say(&format!("perhaps some of these promises can be repaired without the others: {}\n", alone.join(" or ")));
    }
    if !repairs.is_empty() {
        say(
            "the proofs rest on the assumptions of each repair (--json lists them; with --out, fencepost check prints them)\n",
        );
    }
}

/// The edits of a repair, with units if the scenario has them.
fn edits(base: &Base, priced: &Priced) -> Vec<Edit> {
    let mut durations: BTreeSet<String> = base.scenario.duration_paths().into_iter().collect();
    durations.extend(priced.repair.scenario.duration_paths());
    priced.repair.edits.iter().map(|edit| edit.in_units(&durations, base.scenario.tick())).collect()
}

/// A repair, a line for each edit, and its price.
fn told(base: &Base, priced: &Priced) -> String {
    let edits: Vec<String> = edits(base, priced).iter().map(ToString::to_string).collect();
    let states: u64 = priced.repair.findings.iter().map(|finding| finding.states).max().unwrap_or_default();
    let mut text = format!("✓ {}\n", edits.join("\n  "));
    text += &match priced.price {
        Some(Price { idle, requests, false_expiries }) => {
            let seconds = base.scenario.tick().map(|tick| tick.nanoseconds() as f64 / 1e9);
            let idle = match seconds {
                Some(seconds) => format!("{:.2}s", idle * seconds),
                None => format!("{idle:.2} ticks"),
            };
            let of_sessions = false_expiries.map(|rate| match seconds {
                Some(seconds) => format!(", {:.2} false expiries in an hour of a client", rate * 3.6 / seconds),
                None => format!(", {rate:.2} false expiries in 1,000 ticks of a client"),
            });
            format!(
                "    proven, {states} states; measured: {idle} idle and {requests:.1} requests for each entry{}\n",
                of_sessions.unwrap_or_default()
            )
        }
        None => format!("    proven, {states} states; its price cannot be measured\n"),
    };
    if let Some(file) = &priced.file {
        text += &format!("    fencepost check {}\n", file.display());
    }
    text
}

fn summary(knobs: &[String], tried: &Tried, is_empty: bool) -> String {
    let mut text = String::new();
    for (place, (all, done)) in tried.sizes.iter().enumerate() {
        let sets = if place == 0 { "single edits".to_owned() } else { format!("sets of {} edits", place + 1) };
        text += &format!("tried: {done} of {all} {sets} of {} settings\n", knobs.len());
    }
    let Tried { invalid, assume_more, still_violated, break_others, undecided, .. } = tried;
    text += &format!(
        "of these, {invalid} are invalid, {assume_more} assume more, {still_violated} leave a promise broken, {break_others} break another, {undecided} are undecided\n"
    );
    if is_empty {
        text += if tried.is_exhausted() {
            "none of them is a repair\n"
        } else {
            "no repair was found; the search is not complete (--timeout, --max-states)\n"
        };
    }
    text
}

fn line<'a>(base: &'a Base, priced: &'a Priced, edits: &'a [Edit]) -> RepairSetJson<'a> {
    RepairSetJson {
        scenario: base.scenario.name(),
        repair: edits
            .iter()
            .map(|edit| EditJson { setting: &edit.knob, before: edit.before.as_ref(), after: edit.after.as_ref() })
            .collect(),
        proven: priced.repair.findings.iter().map(|finding| finding.property.name()).collect(),
        states: priced.repair.findings.iter().map(|finding| finding.states).max().unwrap_or_default(),
        assumptions: priced.repair.scenario.assumptions().into_iter().map(|assumption| assumption.sentence).collect(),
        idle: priced.price.map(|price| price.idle),
        requests: priced.price.map(|price| price.requests),
        false_expiries: priced.price.and_then(|price| price.false_expiries),
        file: priced.file.as_ref().map(|file| file.display().to_string()),
    }
}
