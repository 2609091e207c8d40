//! `fencepost detector`: how soon gossip detects a crashed member, and how often it declares a live one failed.

use std::fmt::Write;

use clap::Args;
use fencepost::reports::chart::digits;
use fencepost::sim::{DetectorSettings, Profile, Trial, TrialOutcome, trial};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json, write};
use crate::parallel::{in_parallel, progress};
use crate::run_arguments::{ProfileFile, profile};
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};

#[derive(Args, Debug)]
pub struct Detector {
    /// Sizes of the pool
    #[arg(long, value_delimiter = ',', default_value = "3,10,30,100", value_name = "N,…", value_parser = clap::value_parser!(u16).range(3..=1000))]
    members: Vec<u16>,
    /// The rates of packet loss, in percent
    #[arg(long, value_delimiter = ',', default_value = "0,10,20,30", value_name = "PERCENT,…", value_parser = clap::value_parser!(u64).range(0..=100))]
    loss: Vec<u64>,
    /// The percentage of members that pause from time to time, as the profile's `stall` and `stall_every` say
    #[arg(long, value_delimiter = ',', default_value = "0,20", value_name = "PERCENT,…", value_parser = clap::value_parser!(u16).range(0..=90))]
    slow: Vec<u16>,
    /// The number of runs of each combination
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// The time for which all members are observed in each run, in seconds, before one of them crashes
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    watch: i64,
    /// How long things take, and what members do (`[detector]`): a TOML file, as reports/docs/simulator.md says
    #[arg(long, value_parser = profile, value_name = "FILE")]
    profile: Option<ProfileFile>,
}

/// One size under one weather, with and without Lifeguard.
struct Row {
    members: u16,
    loss: u64,
    slow: u16,
    is_lifeguard: bool,
    outcomes: Vec<TrialOutcome>,
}

pub fn run(detector: &Detector, common: &Common) -> Result<Exit, CommandError> {
    let trials = detector.trials()?;
    let seeds: Vec<(usize, u64)> =
        (0..trials.len()).flat_map(|place| (0..detector.seeds).map(move |seed| (place, seed))).collect();
    stop_on_interrupt();
    let bar = progress(seeds.len(), "runs", common.quiet);
    let outcomes =
        in_parallel(&seeds, &bar, |(place, seed)| (!was_interrupted()).then(|| trial(&trials[*place], *seed)));
    let size = usize::try_from(detector.seeds).map_err(|_| CommandError::Input("too many seeds".to_owned()))?;
    let complete = |outcomes: &[Option<TrialOutcome>]| outcomes.iter().cloned().collect::<Option<Vec<TrialOutcome>>>();
    let rows: Vec<Row> = trials
        .iter()
        .zip(outcomes.chunks(size))
        .filter_map(|(trial, outcomes)| Some((trial, complete(outcomes)?)))
        .map(|(trial, outcomes)| Row {
            members: trial.members,
            loss: trial.gossip.loss / 10,
            slow: trial.slow,
            is_lifeguard: trial.gossip.lifeguard,
            outcomes,
        })
        .collect();
    if common.json {
        rows.iter().for_each(|row| say_json(&row.line()));
    } else {
        say(&detector.table(&rows));
    }
    if rows.len() < trials.len() {
        return Ok(stopped(&format!("{} of {} rows are complete", rows.len(), trials.len())));
    }
    if let Some(out) = &common.out {
        write(&out.join("detector.md"), &detector.markdown(&rows))?;
    }
    Ok(Exit::AsExpected)
}

impl Detector {
    fn trials(&self) -> Result<Vec<Trial>, CommandError> {
        let Profile { stall, stall_every, detector: gossip, .. } =
            self.profile.as_ref().map(|pace| pace.profile.clone()).unwrap_or_default();
        let gossip = gossip.unwrap_or_default();
        gossip.validate(0).map_err(CommandError::Input)?;
        let mut trials = Vec::new();
        for &members in &self.members {
            for &loss in &self.loss {
                for &slow in &self.slow {
                    let slow = u16::try_from(u32::from(members) * u32::from(slow) / 100).expect("a part of them");
                    for lifeguard in [false, true] {
                        trials.push(Trial {
                            gossip: DetectorSettings { loss: loss * 10, lifeguard, ..gossip.clone() },
                            members,
                            slow: slow.min(members - 3),
                            stall: stall.clone(),
                            stall_every: stall_every.clone(),
                            watch: self.watch * 1000,
                        });
                    }
                }
            }
        }
        // In a small pool a small share of slow members is none, which is there already.
        let is_new = |place: usize| !trials[..place].contains(&trials[place]);
        Ok((0..trials.len()).filter(|place| is_new(*place)).map(|place| trials[place].clone()).collect())
    }

    fn table(&self, rows: &[Row]) -> String {
        let mut text = format!(
            "{:>7} {:>5} {:>5}  {:9}  {:>17}  {:>12}  {:>9}  {:>9}  {:>10}  {:>10}\n",
            "members",
            "loss",
            "slow",
            "",
            "server notices",
            "first/all",
            "good-bye",
            "missed",
            "mistakes/h",
            "of healthy"
        );
        for row in rows {
            let cells = row.cells();
            let _ = writeln!(
                text,
                "{:>7} {:>4}% {:>5}  {:9}  {:>17}  {:>12}  {:>9}  {:>9}  {:>10}  {:>10}",
                row.members,
                row.loss,
                row.slow,
                row.name(),
                cells[0],
                cells[1],
                cells[2],
                cells[3],
                cells[4],
                cells[5]
            );
        }
        text + "\n" + &COLUMNS.iter().map(|(head, about)| format!("{head:>14}  {about}\n")).collect::<String>()
    }

    fn markdown(&self, rows: &[Row]) -> String {
        let heads = COLUMNS.map(|(head, _)| head).join(" | ");
        let mut text = format!(
            "# RunArguments soon gossip notices the dead, and how often it is wrong\n\n\
             Written by `fencepost detector --seeds {} --watch {} --out DIR`: SWIM, and SWIM with Lifeguard, as memberlist has them on a local \
             network; times in seconds.\n\n| members | loss | slow | | {heads} |\n|--:|--:|--:|---|{}\n",
            self.seeds,
            self.watch,
            "--:|".repeat(COLUMNS.len())
        );
        for row in rows {
            let cells = row.cells().join(" | ");
            let _ = writeln!(text, "| {} | {} % | {} | {} | {cells} |", row.members, row.loss, row.slow, row.name());
        }
        text + "\n" + &COLUMNS.iter().map(|(head, about)| format!("* **{head}**: {about}\n")).collect::<String>()
    }
}

/// The heads of the columns, and what each shows.
const COLUMNS: [(&str, &str); 6] = [
    ("server notices", "from a crash until the first server has given the member up: median / 90 % / most"),
    ("first/all", "until the first member has, and until all have: medians"),
    ("good-bye", "from a member's saying that it leaves until the first server knows: median"),
    ("missed", "crashes that the first server did not notice within ten minutes"),
    ("mistakes/h", "how often per hour some member takes a living one for dead; <: 95 % bound where none was seen"),
    ("of healthy", "those of them about a member that never stops"),
];

impl Row {
    fn name(&self) -> &'static str {
        if self.is_lifeguard { "Lifeguard" } else { "SWIM" }
    }

    /// Times in order, in seconds.
    fn times(&self, time: impl Fn(&TrialOutcome) -> Option<i64>) -> Vec<f64> {
        let mut times: Vec<i64> = self.outcomes.iter().filter_map(time).collect();
        times.sort_unstable();
        times.into_iter().map(|time| time as f64 / 1000.0).collect()
    }

    fn mistakes(&self, which: usize) -> (u64, f64) {
        let count = self.outcomes.iter().map(|outcome| outcome.mistakes[which]).sum();
        let pairs = u64::from(self.members) * u64::from(self.members - 1);
        let watched: u64 = self.outcomes.iter().map(|outcome| outcome.watched / pairs).sum();
        (count, watched as f64 / 3_600_000.0)
    }

    fn cells(&self) -> [String; 6] {
        let at = |times: &[f64], part: usize| {
            let place = (times.len() * part).div_ceil(100).saturating_sub(1);
            times.get(place).map_or("–".to_owned(), |time| digits(*time))
        };
        let median = |which: usize| at(&self.times(|outcome| outcome.detected[which]), 50);
        let server = self.times(|outcome| outcome.detected[1]);
        let rate = |which| match self.mistakes(which) {
            (0, hours) => format!("< {}", digits(3.0 / hours)),
            (count, hours) => digits(count as f64 / hours),
        };
        [
            [50, 90, 100].map(|part| at(&server, part)).join(" / "),
            format!("{} / {}", median(0), median(2)),
            at(&self.times(|outcome| outcome.left), 50),
            (self.outcomes.len() - server.len()).to_string(),
            rate(0),
            rate(1),
        ]
    }

    fn line(&self) -> json::DetectionJson {
        let milliseconds = |which: usize| self.outcomes.iter().map(|outcome| outcome.detected[which]).collect();
        json::DetectionJson {
            members: self.members,
            loss_percent: self.loss,
            slow: self.slow,
            lifeguard: self.is_lifeguard,
            server_ms: milliseconds(1),
            first_ms: milliseconds(0),
            all_ms: milliseconds(2),
            left_ms: self.outcomes.iter().map(|outcome| outcome.left).collect(),
            mistakes: self.mistakes(0).0,
            mistakes_about_healthy: self.mistakes(1).0,
            hours: self.mistakes(0).1,
        }
    }
}
