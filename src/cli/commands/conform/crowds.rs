//! Crowds: several clients of a Consul agent at the same time.

use std::time::{Duration, Instant};

use fencepost_conform::{CROWD, Consul, Episode, Limits, Objection, Possible, crowd, judge_until, write};

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

/// For how long a crowd is judged unless `--timeout` says so, in seconds.
const CROWD_TIMEOUT: u64 = 10;

/// Several clients at the same time; the log of a crowd whose answers are impossible is printed. One that cannot be judged in time
/// is counted.
pub fn crowded(
    consul: &Consul,
    conform: &Conform,
    episodes: &mut Vec<Episode>,
    common: &Common,
) -> Result<Result<Crowds, Exit>, CommandError> {
    let bar = progress(usize::try_from(conform.concurrent).unwrap_or(usize::MAX), "concurrent answers", common.quiet);
    let mut all = Crowds::default();
    for number in 0..conform.concurrent.div_ceil(CROWD) {
        let episode = crowd(consul, conform.seed, number).map_err(|error| CommandError::Input(error.0))?;
        let end = Instant::now() + Duration::from_secs(conform.timeout.unwrap_or(CROWD_TIMEOUT));
        let judged = judge_until(std::slice::from_ref(&episode), None, Limits::default(), &|| Instant::now() >= end);
        match judged {
            Ok(possible) => {
                all.possible.lines += possible.lines;
                all.possible.tally.add(&possible.tally);
            }
            Err(Objection::Undecided { .. }) => {
                all.undecided += 1;
                all.undecided_lines += episode.lines.len();
            }
            Err(objection) => {
                conclude(&write(&consul.version, &[episode]), common);
                conclude(&format!("{objection} (crowd {number}, seed {})\n", conform.seed), common);
                return Ok(Err(Exit::Unexpected));
            }
        }
        if conform.record.is_some() {
            episodes.push(episode);
        }
        bar.inc(CROWD);
    }
    bar.finish_and_clear();
    Ok(Ok(all))
}
