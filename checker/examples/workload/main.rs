//! The two engines on the same stateright model: counts, rates and memory, one search per call.
//!
//! ```sh
//! cargo run --release -p fencepost-checker --example workload -- L dataflow 2
//! ```

mod session_lock;

use std::sync::Arc;
use std::time::Instant;
use std::{env, fs};

use fencepost_checker::engine::{Paths, SearchPlan, search};
use fencepost_checker::{Limits, Searchable, Unsupervised};
use session_lock::{SIZES, SessionLock, Size};
use stateright::{Checker, Model};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let word = |place: usize, default: &'static str| words.get(place).map_or(default, String::as_str).to_owned();
    let (name, engine, workers) = (word(0, "M"), word(1, "dataflow"), word(2, "1"));
    let Some(size) = SIZES.iter().find(|size| size.name == name) else {
        return eprintln!("there are the sizes tiny, S, M, M4, L and XL4");
    };
    let workers = workers.parse().unwrap_or(1).clamp(1, 64);
    let (distinct, generated, seconds) = match engine.as_str() {
        "dataflow" => by_dataflow(size, workers),
        "stateright" => by_stateright(size),
        _ => return eprintln!("there are the engines dataflow and stateright"),
    };
    assert_eq!((distinct, generated), (size.distinct, size.generated), "the counts are known");
    let rate = distinct as f64 / seconds / 1e6;
    print!("{name} {engine} {workers}: {distinct} states, {generated} generated, {seconds:.2} s, {rate:.2} M states/s");
    match peak() {
        Some(bytes) => println!(", {:.1} bytes per state", bytes as f64 / distinct as f64),
        None => println!(),
    }
}

fn by_dataflow(size: &Size, workers: usize) -> (u64, u64, f64) {
    let (limits, supervisor) = (Limits::default(), Arc::new(Unsupervised));
    let plan = SearchPlan { workers, limits, supervisor, paths: Paths::SearchedAgain };
    let run = |model| search(&Arc::new(Searchable::new(model)), &plan).expect("the model does not panic");
    let start = Instant::now();
    let searched = run(size.model);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(searched.depth, size.levels);
    let broken = run(SessionLock { is_exclusive: true, ..size.model });
    assert_eq!(broken.violation.map(|path| path.len() - 1), size.shortest, "the shortest violation is known");
    (searched.states, searched.transitions + 1, seconds)
}

fn by_stateright(size: &Size) -> (u64, u64, f64) {
    let start = Instant::now();
    let checker = size.model.checker().threads(1).spawn_bfs().join();
    (checker.unique_state_count() as u64, checker.state_count() as u64, start.elapsed().as_secs_f64())
}

/// The most memory that this program had, in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
