//! `fencepost envelope`: which settings of a scenario keep which of its promises.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fencepost::model::scenario::Axis;
use fencepost::reports::study::grid;

use crate::args::{Common, axis, time_limit};
use crate::exit::{CommandError, Exit};
use crate::grid::{is_undecided, search};
use crate::json::EnvelopeJson;
use crate::output::{say, say_json};
use crate::run_arguments::are_countable;
use crate::supervisor::{Watch, stop_on_interrupt};
use crate::target;

#[derive(Args, Debug)]
pub struct Envelope {
    /// A scenario or scenario file
    target: String,
    /// A setting and its values, as service.ttl=none,1,2; several times for a grid
    #[arg(long, value_name = "KEY=VALUES", value_parser = axis)]
    vary: Vec<Axis>,
    /// Stop after this time for all combinations, as 90s or 5m, or in seconds
    #[arg(long, value_name = "DURATION", value_parser = time_limit)]
    timeout: Option<Duration>,
}

/// The settings that are varied by default: the dial between safety and liveness.
const DIAL: [&str; 3] = [
    "service.ttl/service.renew_every/service.belief=none/none/until-told,1/1/self-limiting,2/1/self-limiting",
    "service.lock_delay=0,3",
    "service.health.checks=[],[\"serf-health\"],[\"service-check\"]",
];

pub fn run(envelope: &Envelope, common: &Common) -> Result<Exit, CommandError> {
    let scenario = target::one(&envelope.target, common)?;
    let axes = match &envelope.vary[..] {
        [] => DIAL.iter().map(|text| text.parse().expect("the dial is a constant")).collect(),
        axes => axes.to_vec(),
    };
    are_countable(&axes)?;
    stop_on_interrupt();
    let watch = Arc::new(Watch::new(envelope.timeout, None)?);
    let search = search(&*scenario, &axes, &watch, common.out.as_deref(), common)?;
    if common.json {
        for searched in &search.settings {
            for finding in searched.found.iter().flatten() {
                say_json(&EnvelopeJson::new(&searched.settings, finding));
            }
        }
    } else {
        say(&grid(&search));
        say("\n✓ proven   ✗ violated   … bounded   ∅ vacuous   – impossible\n");
    }
    if search.settings.iter().all(|searched| searched.found.is_err()) {
        return Err(CommandError::Input("no setting is possible: is a key misspelt?".to_owned()));
    }
    Ok(if is_undecided(&search) { Exit::Undecided } else { Exit::AsExpected })
}
