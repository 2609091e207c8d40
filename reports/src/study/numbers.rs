//! What a point of a study comes to, in units that people use.

use fencepost_model::finding::{Point, Split, Study};

use crate::statistics::{Estimate, mean, quantile, share};

/// The number of violating runs that suffices for an estimate without importance splitting.
pub const ENOUGH: u64 = 10;

/// A point, in the study's unit, per hour, and as shares.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers {
    /// The share of runs that break the promise that counts as safety.
    pub unsafe_runs: Estimate,
    /// The same, by importance splitting, where too few were seen.
    pub split: Option<Estimate>,
    /// How long too many are inside, per hour.
    pub overlap: Estimate,
    /// The share of time in which a slot was free while a client was waiting.
    pub idle: Estimate,
    /// Of that, the part after a failure detector's mistake.
    pub idle_by_mistake: f64,
    /// Entries per hour.
    pub entries: f64,
    /// Requests to the service per unit of time.
    pub requests: f64,
    /// Writes of earlier tenures, per hour: accepted, refused; none where the tenures of writes are unknown.
    pub stale: Option<(f64, f64)>,
    /// A failure detector's mistakes per hour (λ_M); none where no session was observed.
    pub mistakes: Option<f64>,
    /// How long a mistake lasts (T_M), in the unit of the study; none where no session was observed.
    pub mistake_lasts: Option<f64>,
    /// The share of time without a mistake (P_A), from 0 to 1; none where no session was observed.
    pub accuracy: Option<f64>,
    /// How long it took until a crash was detected (T_D).
    pub detection: Spread,
    /// The time between two tenures while a client was waiting.
    pub handover: Spread,
    /// How long a crashed owner stayed on record.
    pub dead_hold: Spread,
    /// Hours simulated.
    pub hours: f64,
}

/// A distribution: the median, the 99 % quantile, the largest value; none without values.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub struct Spread {
    /// How many values.
    pub count: usize,
    /// p50, p99 and max.
    pub at: Option<[f64; 3]>,
}

impl Numbers {
    /// The numbers of a point; none if it is impossible or nothing was run.
    pub fn of(study: &Study, point: &Point) -> Option<Numbers> {
        if point.problem.is_some() || point.total.ticks == 0 {
            return None;
        }
        let total = &point.total;
        let ticks = total.ticks as f64;
        let tick = 1.0 / study.refinement as f64;
        let hours = ticks * tick / study.units_per_hour as f64;
        let each = |value: u64| value as f64;
        let spread = |values: &[i64]| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable();
            let at = |part| quantile(&sorted, part).map(|value| value as f64 * tick);
            let at = at(0.5).zip(at(0.99)).zip(at(1.0)).map(|((median, high), most)| [median, high, most]);
            Spread { count: sorted.len(), at }
        };
        let seen = point.broken.get(&study.safety).copied().unwrap_or(0);
        let samples = |part: fn(&fencepost_model::finding::Sample) -> i64| -> Vec<f64> {
            point.samples.iter().filter(|run| run.ticks > 0).map(|run| part(run) as f64 / run.ticks as f64).collect()
        };
        let positive = |estimate: Estimate| Estimate { low: estimate.low.max(0.0), ..estimate };
        let scaled = |estimate: Estimate, by: f64| Estimate {
            value: estimate.value * by,
            low: estimate.low * by,
            high: estimate.high * by,
        };
        let idle = positive(mean(&samples(|run| run.idle)));
        Some(Numbers {
            unsafe_runs: share(seen, point.runs),
            split: (seen < ENOUGH).then(|| estimate(&point.splits)).flatten(),
            overlap: scaled(positive(mean(&samples(|run| run.overlap))), study.units_per_hour as f64),
            idle: Estimate { high: idle.high.min(1.0), ..idle },
            idle_by_mistake: total.idle_by_mistake as f64 / ticks,
            entries: each(total.entries) / hours,
            requests: each(total.requests) / (ticks * tick),
            stale: (total.writes > 0).then(|| (each(total.stale_accepted) / hours, each(total.stale_refused) / hours)),
            mistakes: (total.sessions > 0).then(|| each(total.mistakes) / hours),
            mistake_lasts: (total.mistakes > 0).then(|| total.mistaken as f64 * tick / each(total.mistakes)),
            accuracy: (total.sessions > 0 && total.watched > 0)
                .then(|| 1.0 - total.mistaken as f64 / total.watched as f64),
            detection: spread(&total.detections),
            handover: spread(&total.handovers),
            dead_hold: spread(&total.dead_holds),
            hours,
        })
    }

    /// The best guess at the share of unsafe runs.
    pub fn danger(&self) -> Estimate {
        self.split.filter(|split| split.value > 0.0).unwrap_or(self.unsafe_runs)
    }
}

/// What the repetitions of importance splitting come to; none without any.
fn estimate(splits: &[Split]) -> Option<Estimate> {
    if splits.len() < 2 {
        return None;
    }
    let levels = splits.iter().map(|split| split.stages.len()).max().unwrap_or(0);
    let product = |split: &Split| -> f64 {
        // A repetition that stopped at a lower level has not reached the last one.
        if split.stages.len() < levels || levels < 3 {
            return 0.0;
        }
        split.stages.iter().map(|stage| stage.reached as f64 / stage.tried as f64).product()
    };
    let values: Vec<f64> = splits.iter().map(product).collect();
    let estimate = mean(&values);
    Some(Estimate { low: estimate.low.max(0.0), high: estimate.high.min(1.0), ..estimate })
}

/// For each point, which other one is at least as good in both respects, and better in one: safer, and less time lost. By the
/// estimates, not their intervals; none for those on the Pareto front, and for impossible ones.
pub fn dominators(numbers: &[Option<Numbers>]) -> Vec<Option<usize>> {
    let cost = |numbers: &Numbers| (numbers.danger().value, numbers.idle.value);
    let is_better = |one: (f64, f64), other: (f64, f64)| one.0 <= other.0 && one.1 <= other.1 && one != other;
    let dominator = |mine: &Option<Numbers>| {
        let mine = cost(mine.as_ref()?);
        let better = |other: &Option<Numbers>| other.as_ref().is_some_and(|other| is_better(cost(other), mine));
        // One that is on the front itself, if there are several.
        let mut best: Option<usize> = None;
        for (place, other) in numbers.iter().enumerate().filter(|(_, other)| better(other)) {
            let is_improved = best
                .and_then(|best| numbers[best].as_ref())
                .zip(other.as_ref())
                .is_none_or(|(best, other)| is_better(cost(other), cost(best)));
            if is_improved {
                best = Some(place);
            }
        }
        best
    };
    numbers.iter().map(dominator).collect()
}

#[cfg(test)]
mod tests {
    use fencepost_model::finding::{Measurement, Property, Sample, Stage};

    use super::*;

    fn study(points: Vec<Point>) -> Study {
        Study {
            name: "s".to_owned(),
            title: String::new(),
            about: String::new(),
            command: String::new(),
            safety: Property::MutualExclusion,
            unit: "s".to_owned(),
            units_per_hour: 3600,
            refinement: 1000,
            points,
            searches: Vec::new(),
        }
    }

    /// A point with two runs of an hour: the number of unsafe runs, and the idle time.
    fn point(unsafe_runs: u64, idle: i64) -> Point {
        let hour = 3_600_000;
        Point {
            runs: 2,
            broken: [(Property::MutualExclusion, unsafe_runs)].into(),
            total: Measurement {
                ticks: 2 * hour,
                idle: 2 * idle,
                entries: 10,
                handovers: vec![1000, 3000],
                ..Measurement::default()
            },
            samples: vec![Sample { ticks: hour, idle, overlap: 0 }; 2],
            ..Point::default()
        }
    }

    #[test]
    fn numbers_are_in_units_that_people_use() {
        let study = study(vec![point(1, 360_000)]);
        let numbers = Numbers::of(&study, &study.points[0]).unwrap();
        assert_eq!((numbers.hours, numbers.entries, numbers.idle.value), (2.0, 5.0, 0.1));
        assert_eq!(numbers.handover, Spread { count: 2, at: Some([1.0, 3.0, 3.0]) });
        assert_eq!((numbers.accuracy, numbers.mistake_lasts, numbers.detection.at), (None, None, None));
        assert!(numbers.unsafe_runs.low > 0.01 && numbers.unsafe_runs.high < 0.99);
    }

    #[test]
    fn splitting_multiplies_and_says_how_sure_it_is() {
        let split = |reached: &[u64]| Split {
            stages: reached.iter().map(|reached| Stage { tried: 100, reached: *reached }).collect(),
        };
        let found = estimate(&[split(&[50, 20, 10]), split(&[40, 20, 10]), split(&[60, 0])]).unwrap();
        assert!((found.value - (0.01 + 0.008) / 3.0).abs() < 1e-12, "{found:?}");
        assert!(found.low == 0.0 && found.high > 0.015);
        assert_eq!(estimate(&[split(&[50, 20, 10])]), None, "one repetition does not say how sure it is");
        assert_eq!(estimate(&[split(&[0]), split(&[1, 0])]).unwrap().value, 0.0);
    }

    #[test]
    fn the_front_has_every_point_that_none_dominates() {
        let impossible = Point { problem: Some("no".to_owned()), ..Point::default() };
        let study = study(vec![point(0, 500), point(2, 100), point(1, 500), impossible, point(0, 400)]);
        let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(&study, point)).collect();
        assert_eq!(dominators(&numbers), [Some(4), None, Some(4), None, None]);
    }
}
