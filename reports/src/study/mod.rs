//! What settings cost: a study as a table, a chart, and data for other tools.

mod csv;
mod grid;
mod numbers;
mod table;
mod vega;

pub use csv::csv;
pub use grid::grid;
pub(crate) use grid::{keeps_all, sum};
pub use numbers::{ENOUGH, Numbers, Spread, dominators};
pub use table::table;
pub use vega::vega;

use fencepost_model::finding::Study;

use crate::chart::{Axis, Chart, Look, Point, percent};
use crate::matrix::mark;
pub use crate::statistics::{Estimate, mean, share};

/// The names of a setting, or that there are none.
pub(crate) fn name(settings: &[String]) -> String {
    if settings.is_empty() { "as it is".to_owned() } else { settings.join(", ") }
}

/// Where a setting stands on a page that may hold other studies, too.
pub(crate) fn anchor(study: &Study, place: usize) -> String {
    format!("{}-setting-{}", study.name, place + 1)
}

/// What the horizontal axis shows.
const LOST: &str = "share of time in which the lock is free while a client waits";

fn unsafe_title(study: &Study) -> String {
    format!("share of runs that break {}", study.safety)
}

/// The chart: unsafe runs against time lost.
pub fn chart(study: &Study) -> Chart {
    let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(study, point)).collect();
    let dominators = dominators(&numbers);
    let mut points = Vec::new();
    let mut front = Vec::new();
    for (place, (numbers, point)) in numbers.iter().zip(&study.points).enumerate() {
        let Some(numbers) = numbers else { continue };
        let danger = numbers.danger();
        let look = match (numbers.split.is_some_and(|split| split.value > 0.0), danger.value > 0.0) {
            (true, _) => Look::Estimated,
            (false, true) => Look::Measured,
            (false, false) => Look::Unseen,
        };
        if dominators[place].is_none() {
            front.push(points.len());
        }
        points.push(Point {
            label: (place + 1).to_string(),
            name: name(&point.settings),
            about: format!(
                "{}: {} of runs unsafe, {} of time lost",
                name(&point.settings),
                risk(danger),
                percent(numbers.idle.value)
            ),
            x: numbers.idle,
            y: danger,
            look,
            link: anchor(study, place),
            mark: study.searched(place).map(|finding| (mark(&finding.verdict), finding.verdict.word())),
        });
    }
    front.sort_by(|one, other| points[*one].x.value.total_cmp(&points[*other].x.value));
    let seen = points.iter().flat_map(|point: &Point| [point.y.low, point.y.value, point.y.high]);
    let lowest = seen.clone().filter(|value| *value > 1e-7);
    Chart {
        title: format!("{}: {} against {LOST}", study.title, unsafe_title(study)),
        x: Axis::linear(LOST, points.iter().map(|point| point.x.high)),
        y: Axis::log(&unsafe_title(study), lowest),
        line: front,
        points: points.clone(),
    }
}

/// A share of runs for people: never a bare zero.
pub(crate) fn risk(estimate: Estimate) -> String {
    if estimate.value == 0.0 { format!("< {}", percent(estimate.high)) } else { percent(estimate.value) }
}

/// An interval for people.
pub(crate) fn interval(estimate: Estimate) -> String {
    format!("{}–{}", percent(estimate.low).trim_end_matches(" %"), percent(estimate.high))
}
