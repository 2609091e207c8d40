//! A study for the terminal: a line for each setting.

use fencepost_model::finding::{Search, Study};

use super::grid::grid;
use super::{Numbers, dominators, interval, name, risk};
use crate::chart::{digits, percent};
use crate::matrix::mark;

/// The heads of the columns, and what each shows.
const COLUMNS: [(&str, &str); 8] = [
    ("unsafe runs", "runs that break the promise, with their 95 % interval; ≈: by importance splitting"),
    ("overlap/h", "how long too many are inside, per hour"),
    ("lost", "share of time in which the lock is free while a client waits"),
    ("handover", "time between two tenures while a client waits: median / 99 % / maximum"),
    ("dead holder", "how long a crashed owner stays on record: median / most; +: still there at the end of a run"),
    ("mistakes/h", "sessions of living clients that end by themselves"),
    ("entries/h", "number of entries per hour"),
    ("requests", "requests to the service per unit of time"),
];

/// The table.
pub fn table(study: &Study) -> String {
    let numbers: Vec<_> = study.points.iter().map(|point| Numbers::of(study, point)).collect();
    let dominators = dominators(&numbers);
    let mut lines = vec![COLUMNS.map(|(head, _)| head.to_owned()).to_vec()];
    let mut names = vec![String::new()];
    for (place, point) in study.points.iter().enumerate() {
        let front = if dominators[place].is_none() && numbers[place].is_some() { "●" } else { " " };
        let searched = study.searched(place).map_or(" ", |finding| mark(&finding.verdict));
        names.push(format!("{:>3} {front} {searched} {}", place + 1, name(&point.settings)));
        lines.push(match &numbers[place] {
            Some(numbers) => cells(study, numbers, point.total.held_at_the_end),
            None => vec![point.problem.clone().unwrap_or_default()],
        });
    }
    let first = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter(|line| line.len() > 1).filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = format!("{}\n\n", study.title);
    for (name, line) in names.iter().zip(&lines) {
        text += &format!("{name:first$}");
        for (cell, width) in line.iter().zip(&widths) {
            text += &if line.len() > 1 { format!("  {cell:>width$}") } else { format!("  {cell}") };
        }
        text += "\n";
    }
    text += "\n● on the Pareto front: no other setting is safer and loses less time\n";
    if (0..study.points.len()).any(|place| study.searched(place).is_some()) {
        text += &format!(
            "✓ every run keeps {0}, in the smaller world that is searched below; ✗ some run breaks it\n",
            study.safety
        );
    }
    for (head, about) in COLUMNS {
        let about = about.replace("the promise", study.safety.name());
        text += &format!("{head:>11}  {about}\n");
    }
    let searched =
        |search: &Search| format!("\n{} ({}), every run searched:\n{}", search.title, search.scenario, grid(search));
    text + &study.searches.iter().map(searched).collect::<String>()
}

fn cells(study: &Study, numbers: &Numbers, held: u64) -> Vec<String> {
    let unit = &study.unit;
    let spread = |at: Option<[f64; 3]>, which: &[usize]| match at {
        Some(at) => format!("{} {unit}", which.iter().map(|place| digits(at[*place])).collect::<Vec<_>>().join("/")),
        None => "–".to_owned(),
    };
    let danger = match numbers.split.filter(|split| split.value > 0.0) {
        Some(split) => format!("≈{} ({})", percent(split.value), interval(split)),
        None => format!("{} ({})", risk(numbers.unsafe_runs), interval(numbers.unsafe_runs)),
    };
    vec![
        danger,
        format!("{} {unit}", digits(numbers.overlap.value)),
        percent(numbers.idle.value),
        spread(numbers.handover.at, &[0, 1, 2]),
        format!("{}{}", spread(numbers.dead_hold.at, &[0, 2]), if held > 0 { "+" } else { "" }),
        numbers.mistakes.map_or("–".to_owned(), digits),
        digits(numbers.entries),
        format!("{}/{unit}", digits(numbers.requests)),
    ]
}
