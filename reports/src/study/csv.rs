//! A study as a table of comma-separated values, one line for each setting: every number that the chart and the page show.

use ::csv::Writer;
use fencepost_model::finding::Study;

use super::{Estimate, Numbers, Spread, dominators, name};

/// The table, with a line of heads. Durations are in the study's unit.
pub fn csv(study: &Study) -> String {
    let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(study, point)).collect();
    let dominators = dominators(&numbers);
    let mut table = Writer::from_writer(Vec::new());
    let heads = "setting,settings,problem,runs,hours,unsafe_runs,unsafe_low,unsafe_high,unsafe_per_hour,split,split_low,split_high,overlap_per_hour,overlap_low,overlap_high,\
         lost,lost_low,lost_high,lost_by_mistake,entries_per_hour,requests,stale_accepted_per_hour,stale_refused_per_hour,\
         mistakes_per_hour,mistake_lasts,accuracy,detections,detection_p50,detection_p99,detection_max,\
         handovers,handover_p50,handover_p99,handover_max,dead_holders,dead_holder_p50,dead_holder_p99,dead_holder_max,held_at_the_end,dominated_by,searched";
    write(&mut table, heads.split(','));
    for (place, point) in study.points.iter().enumerate() {
        let mut cells = vec![
            (place + 1).to_string(),
            name(&point.settings),
            point.problem.clone().unwrap_or_default(),
            point.runs.to_string(),
        ];
        if let Some(numbers) = &numbers[place] {
            cells.push(numbers.hours.to_string());
            cells.extend(estimate(Some(numbers.unsafe_runs)));
            let seen = point.broken.get(&study.safety).copied().unwrap_or(0);
            cells.push((seen as f64 / numbers.hours).to_string());
            cells.extend(estimate(numbers.split));
            cells.extend(estimate(Some(numbers.overlap)));
            cells.extend(estimate(Some(numbers.idle)));
            let (accepted, refused) = numbers.stale.unzip();
            cells.extend([numbers.idle_by_mistake, numbers.entries, numbers.requests].map(|value| value.to_string()));
            cells.extend([accepted, refused, numbers.mistakes].map(optional));
            cells.extend([numbers.mistake_lasts, numbers.accuracy].map(optional));
            cells.extend([numbers.detection, numbers.handover, numbers.dead_hold].into_iter().flat_map(spread));
            cells.push(point.total.held_at_the_end.to_string());
            cells.push(dominators[place].map(|other| (other + 1).to_string()).unwrap_or_default());
        } else {
            cells.resize(40, String::new());
        }
        cells.push(study.searched(place).map(|finding| finding.verdict.word().to_owned()).unwrap_or_default());
        write(&mut table, &cells);
    }
    let bytes = table.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("it is written from text")
}

fn write(table: &mut Writer<Vec<u8>>, cells: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    table.write_record(cells).expect("memory can be written, and all lines have as many cells as the heads");
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn estimate(estimate: Option<Estimate>) -> [String; 3] {
    [|of: Estimate| of.value, |of: Estimate| of.low, |of: Estimate| of.high].map(|part| optional(estimate.map(part)))
}

fn spread(spread: Spread) -> [String; 4] {
    let at = |place: usize| optional(spread.at.map(|at| at[place]));
    [spread.count.to_string(), at(0), at(1), at(2)]
}
