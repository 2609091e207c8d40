//! What simulated runs of both scenarios measure: the liveness side of a comparison. Samples, and no proof.

use fencepost::AnyScenario;
use fencepost::model::finding::Measurement;
use fencepost::sim::Settings;

use super::Diff;
use crate::args::Common;
use crate::json::Quantiles;
use crate::parallel::{in_parallel, progress};
use crate::run_arguments::refuse_unusable;
use crate::supervisor::was_interrupted;

/// The most seeds for each scenario.
pub const SEEDS_MAX: u64 = 1_000_000;

/// The number of seeds of a work item.
const PIECE: usize = 10;

/// A quantity that runs measure.
#[derive(Debug)]
pub struct Measure {
    /// The name in JSON.
    pub name: &'static str,
    pub about: &'static str,
    pub unit: Unit,
    /// The values of one run.
    values: fn(&Measurement) -> Vec<i64>,
    /// Whether it is left out where neither scenario has a value other than 0.
    is_rare: bool,
}

/// The unit of a measured value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Ticks of the scenario.
    Ticks,
    Count,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ticks => "ticks",
            Unit::Count => "count",
        }
    }
}

const MEASURES: [Measure; 8] = [
    Measure {
        name: "entries",
        about: "entries, each run",
        unit: Unit::Count,
        values: |run| vec![whole(run.entries)],
        is_rare: false,
    },
    Measure {
        name: "handover",
        about: "free while a client waits, until the entry",
        unit: Unit::Ticks,
        values: |run| run.handovers.clone(),
        is_rare: false,
    },
    Measure {
        name: "idle",
        about: "free while a client waits, each run",
        unit: Unit::Ticks,
        values: |run| vec![run.idle],
        is_rare: false,
    },
    Measure {
        name: "length",
        about: "length of a run",
        unit: Unit::Ticks,
        values: |run| vec![run.ticks],
        is_rare: false,
    },
    Measure {
        name: "requests",
        about: "requests to the service, each run",
        unit: Unit::Count,
        values: |run| vec![whole(run.requests)],
        is_rare: false,
    },
    Measure {
        name: "mistakes",
        about: "sessions of live clients that ended, each run",
        unit: Unit::Count,
        values: |run| vec![whole(run.mistakes)],
        is_rare: true,
    },
    Measure {
        name: "detection",
        about: "from a crash to the end of the session",
        unit: Unit::Ticks,
        values: |run| run.detections.clone(),
        is_rare: true,
    },
    Measure {
        name: "dead-hold",
        about: "a crashed client stays the owner",
        unit: Unit::Ticks,
        values: |run| run.dead_holds.clone(),
        is_rare: true,
    },
];

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A quantity in both scenarios.
#[derive(Debug)]
pub struct Measured {
    pub measure: &'static Measure,
    pub sides: [Quantiles; 2],
}

/// Measures both scenarios over the same seeds; the error is the reason why a scenario cannot be simulated like this.
pub fn measure(pair: &[Box<dyn AnyScenario>; 2], diff: &Diff, common: &Common) -> Result<Vec<Measured>, String> {
    let settings = diff.settings();
    if let Some(error) = pair.iter().find_map(|scenario| refuse_unusable(&**scenario, &settings).err()) {
        return Err(error.to_string());
    }
    let pieces: Vec<(usize, u64)> =
        [0, 1].into_iter().flat_map(|side| diff.seeds.clone().step_by(PIECE).map(move |from| (side, from))).collect();
    let bar = progress(pieces.len(), "tens of runs", common.quiet || common.json);
    let taken = in_parallel(&pieces, &bar, |(side, from)| -> Option<Vec<Vec<i64>>> {
        let mut values = vec![Vec::new(); MEASURES.len()];
        for seed in *from..diff.seeds.end.min(from + PIECE as u64) {
            if was_interrupted() {
                break;
            }
            let run = pair[*side].summarize(&Settings { seed, ..settings.clone() });
            // What a run measures until then says nothing about the rest of it.
            let measured = run.measurement.filter(|_| run.actions < settings.actions_max)?;
            values.iter_mut().zip(&MEASURES).for_each(|(values, measure)| values.extend((measure.values)(&measured)));
        }
        Some(values)
    });
    let mut sums: [Vec<Vec<i64>>; 2] = [0, 1].map(|_| vec![Vec::new(); MEASURES.len()]);
    for ((side, _), values) in pieces.iter().zip(taken) {
        let Some(values) = values else {
            return Err(format!("a run takes {} actions or more; make --storm shorter", settings.actions_max));
        };
        sums[*side].iter_mut().zip(values).for_each(|(sum, values)| sum.extend(values));
    }
    let [a, b] = sums;
    let measured = MEASURES.iter().zip(a.into_iter().zip(b)).filter(|(measure, (a, b))| {
        let is_seen = |values: &[i64]| values.iter().any(|value| *value != 0);
        !measure.is_rare || is_seen(a) || is_seen(b)
    });
    let scale = |measure: &Measure| if measure.unit == Unit::Ticks { settings.refinement } else { 1 };
    let sides = |measure, (a, b)| [quantiles(a, scale(measure)), quantiles(b, scale(measure))];
    Ok(measured.map(|(measure, values)| Measured { measure, sides: sides(measure, values) }).collect())
}

/// The distribution of the values, each divided by `scale`.
fn quantiles(mut values: Vec<i64>, scale: i64) -> Quantiles {
    values.sort_unstable();
    let at = |percent: usize| {
        let place = (values.len() * percent).div_ceil(100).saturating_sub(1);
        values.get(place).map(|value| *value as f64 / scale as f64)
    };
    Quantiles { values: values.len(), p10: at(10), p50: at(50), p90: at(90), p99: at(99) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let found = quantiles((1..=100).rev().collect(), 1);
        assert_eq!((found.values, found.p10, found.p50), (100, Some(10.0), Some(50.0)));
        assert_eq!((found.p90, found.p99), (Some(90.0), Some(99.0)));
        assert_eq!(quantiles(vec![1500], 1000).p50, Some(1.5));
        assert_eq!(quantiles(Vec::new(), 1), Quantiles::default());
    }
}
