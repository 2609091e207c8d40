//! Crowds: several clients of a Consul agent at the same time.

use std::time::{Duration, Instant};

use fencepost_conform::{
    Consul, Episode, LATENESS, Limits, Objection, Pace, Possible, crowd, judge_until, slow_crowds, write,
};

use super::{Conform, conclude};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::parallel::progress;

/// What came of crowds.
#[derive(Default)]
pub struct Crowds {
    /// The answers that are possible.
    pub possible: Possible,
    /// Crowds whose answers contradict nothing that is certain, and whose order was not found in time.
    pub undecided: u64,
    /// Their answers.
    pub undecided_lines: usize,
}

/// For how long a crowd is judged unless `--timeout` says so.
const CROWD_TIMEOUT: Duration = Duration::from_secs(60);

/// How many slow crowds there are, at the same time.
const SLOW_CROWDS: u64 = 16;

/// Several clients at the same time, first with pauses and then without; the log of a crowd whose answers are impossible is printed. One that
/// cannot be judged in time is counted.
pub fn crowded(
    consul: &Consul,
    conform: &Conform,
    episodes: &mut Vec<Episode>,
    common: &Common,
) -> Result<Result<Crowds, Exit>, CommandError> {
    let input = |error: fencepost_conform::ConformError| CommandError::Input(error.0);
    let concurrent = conform.concurrent.unwrap_or(conform.commands / 2);
    let bar = progress(usize::try_from(concurrent).unwrap_or(usize::MAX), "concurrent answers", common.quiet);
    let mut all = Crowds::default();
    let lateness = conform.lateness.and_then(|lateness| lateness.0).unwrap_or(LATENESS);
    if concurrent == 0 {
        return Ok(Ok(all));
    }
    for (number, episode) in (0..).zip(slow_crowds(consul, conform.seed, SLOW_CROWDS, lateness).map_err(input)?) {
        if let Err(exit) = all.judge(consul, conform, &format!("slow crowd {number}"), &episode, common) {
            return Ok(Err(exit));
        }
        keep(conform, episodes, episode);
    }
    for number in 0..concurrent.div_ceil(Pace::Busy.total() as u64) {
        let episode = crowd(consul, conform.seed, number, lateness).map_err(input)?;
        if let Err(exit) = all.judge(consul, conform, &format!("crowd {number}"), &episode, common) {
            return Ok(Err(exit));
        }
        keep(conform, episodes, episode);
        bar.inc(Pace::Busy.total() as u64);
    }
    bar.finish_and_clear();
    Ok(Ok(all))
}

/// Keeps an episode, if there will be a log of it.
fn keep(conform: &Conform, episodes: &mut Vec<Episode>, episode: Episode) {
    if conform.record.is_some() {
        episodes.push(episode);
    }
}

impl Crowds {
    /// Judges what a crowd was answered.
    fn judge(
        &mut self,
        consul: &Consul,
        conform: &Conform,
        name: &str,
        episode: &Episode,
        common: &Common,
    ) -> Result<(), Exit> {
        let end = Instant::now() + conform.timeout.unwrap_or(CROWD_TIMEOUT);
        match judge_until(std::slice::from_ref(episode), None, Limits::default(), &|| Instant::now() >= end) {
            Ok(possible) => {
                self.possible.lines += possible.lines;
                self.possible.tally.add(&possible.tally);
            }
            Err(Objection::Undecided { .. }) => {
                self.undecided += 1;
                self.undecided_lines += episode.lines.len();
            }
            Err(objection) => {
                conclude(&write(&consul.version, std::slice::from_ref(episode)), common);
                conclude(&format!("{objection} ({name}, seed {})\n", conform.seed), common);
                return Err(Exit::Unexpected);
            }
        }
        Ok(())
    }
}
