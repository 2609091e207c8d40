//! How many transitions per second the checker generates on one thread where clients run programs, beside the state machine.
//!
//! ```sh
//! cargo bench -p fencepost-checker --bench programs
//! ```
//!
//! Both search the same number of states of `consul-lock-3`, and both keep the same promises, so that neither stops early. States of
//! programs stay in the process that met them; so each search has a process of its own, and the median of a few is told.

use std::env;
use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Instant;

use fencepost::consul::{Consul, GoLock, SERVICE};
use fencepost::model::finding::Verdict;
use fencepost::{Property, Scenario, catalogue};
use fencepost_checker::{Limits, Options};

/// Says that this process searches, and what.
const INSIDE: &str = "FENCEPOST_BENCH_INSIDE";

/// The number of searched states.
const STATES: u64 = 300_000;

/// The number of searches of each kind.
const SEARCHES: usize = 5;

const SUBJECTS: [(&str, &str); 2] = [("machine", "the recipe `lock`"), ("program", "the program `go-lock`")];

fn main() -> ExitCode {
    if let Ok(subject) = env::var(INSIDE) {
        println!("{}", search(&subject));
        return ExitCode::SUCCESS;
    }
    let mut last = None;
    for (subject, name) in SUBJECTS {
        let speed = match measure(subject) {
            Ok(speed) => speed,
            Err(reason) => {
                println!("{name}: {reason}");
                return ExitCode::FAILURE;
            }
        };
        let share = last.map(|last| format!(", {} % of the one before", 100 * speed / last)).unwrap_or_default();
        println!("{speed:>9} transitions per second: {name}{share}");
        last = Some(speed);
    }
    ExitCode::SUCCESS
}

/// The scenario with the promises that both keep: the Go client sends no token with its writes.
fn scenario(is_program: bool) -> Scenario<Consul> {
    let found = catalogue::named("consul-lock-3");
    let mut scenario = found.and_then(|it| it.of::<Consul>().cloned()).expect("it is in the catalogue");
    scenario.promises.retain(|promise| promise.property != Property::NoLostUpdate);
    if !is_program {
        return scenario.promise(Property::NoPanic);
    }
    let (settings, mut lock) = (&scenario.service, GoLock::with(scenario.service.terms(), 1));
    lock.wait = settings.watch_wait.unwrap_or(settings.retry_every);
    lock.retry_every = settings.retry_every;
    scenario.programs(lock)
}

/// Searches, and says how many transitions a second that took.
///
/// # Panics
/// The search ended before it came to its limit.
fn search(subject: &str) -> u64 {
    let scenario = scenario(subject == "program");
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let start = Instant::now();
    let outcomes = SERVICE.any(&scenario).check(&Options { limits, ..Options::default() }).expect("no internal error");
    let microseconds = start.elapsed().as_micros();
    for outcome in &outcomes {
        let Verdict::Bounded { .. } = outcome.finding.verdict else {
            panic!("{}: {}", outcome.finding.property, outcome.finding.verdict.word());
        };
    }
    u64::try_from(u128::from(outcomes[0].finding.transitions) * 1_000_000 / microseconds).expect("it is small")
}

/// The median of the speeds of a few processes.
fn measure(subject: &str) -> Result<u64, Box<dyn Error>> {
    let mut speeds = Vec::new();
    for _ in 0..SEARCHES {
        let output = Command::new(env::current_exe()?).env(INSIDE, subject).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        speeds.push(String::from_utf8(output.stdout)?.trim().parse()?);
    }
    speeds.sort_unstable();
    Ok(speeds[SEARCHES / 2])
}
