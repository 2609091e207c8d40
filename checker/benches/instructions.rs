//! How many instructions a transition takes, and where they go: free of noise, so two versions can be compared.
//!
//! ```sh
//! cargo bench -p fencepost-checker --bench instructions            # needs valgrind
//! ```
//!
//! Runs itself under callgrind on the first states of `consul-lock-3`, without symmetry.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use fencepost::catalogue;
use fencepost_checker::{Limits, Options};

/// Says that this is the run inside callgrind.
const INSIDE: &str = "FENCEPOST_BENCH_INSIDE";

/// The number of searched states: most steps are cache hits by then.
const STATES: u64 = 200_000;

/// Parts of the work, each with what marks the function that does it.
const PARTS: [(&str, &str); 3] = [
    ("listing what may happen", "Scenario<P>>::enabled"),
    ("looking up what has been seen", "Worker<M>::receive"),
    ("steps: looking them up, judging and naming what they do", "components::Stepper<P>::step"),
];

/// Parts of the last of them.
const STEPS: [(&str, &str); 2] = [
    ("of these, taking those that were not taken before", "Scenario<P>>::step"),
    ("of these, bringing what they lead to into form", "NormalForm::renew"),
];

fn main() -> ExitCode {
    if env::var_os(INSIDE).is_some() {
        println!("{}", search());
        return ExitCode::SUCCESS;
    }
    match measure(&env::temp_dir().join(format!("fencepost-instructions-{}", std::process::id()))) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            println!("no instructions counted: {reason} (valgrind is what counts them: apt-get install valgrind)");
            ExitCode::FAILURE
        }
    }
}

/// Searches, and says how many transitions that took.
fn search() -> u64 {
    let scenario = catalogue::named("consul-lock-3");
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let options = Options { limits, symmetry: false, ..Options::default() };
    let outcomes = scenario.expect("it is in the catalogue").check(&options).expect("no internal error");
    outcomes[0].finding.transitions
}

fn measure(profile: &Path) -> Result<String, String> {
    let me = env::current_exe().map_err(|error| error.to_string())?;
    let out = format!("--callgrind-out-file={}", profile.display());
    let inside = run(Command::new("valgrind").args(["--quiet", "--tool=callgrind", &out]).arg(me).env(INSIDE, "1"))?;
    let transitions: u64 = inside.trim().parse().map_err(|_| format!("the search said {inside:?}"))?;
    let table = run(Command::new("callgrind_annotate")
        .args(["--inclusive=yes", "--threshold=100", "--show-percs=no"])
        .arg(profile));
    fs::remove_file(profile).map_err(|error| error.to_string())?;
    let table = table?;
    let cost = |mark: &str| table.lines().filter(|line| line.contains(mark)).filter_map(first_number).max();
    let total = cost("PROGRAM TOTALS").ok_or("callgrind named no total")?;
    let mut report = format!("{} instructions per transition, of {transitions} transitions\n", total / transitions);
    let part = |mark| cost(mark).ok_or_else(|| format!("callgrind saw no `{mark}`: was it renamed, or inlined?"));
    let mut rest = total;
    for (name, mark) in PARTS {
        rest = rest.saturating_sub(part(mark)?);
        report += &format!("{:>8}  {name}\n", part(mark)? / transitions);
    }
    for (name, mark) in STEPS {
        report += &format!("{:>8}  {name}\n", part(mark)? / transitions);
    }
    Ok(report + &format!("{:>8}  all the rest, and reading the catalogue", rest / transitions))
}

fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number at the beginning of a line, without its commas.
fn first_number(line: &str) -> Option<u64> {
    line.split_whitespace().next()?.replace(',', "").parse().ok()
}
