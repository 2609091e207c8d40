//! Work on all cores, with results in the order of the items, and a bar on terminals.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

/// How many threads can run at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does the work on all cores.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], bar: &ProgressBar, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, R>> = Mutex::default();
    let workers = cores().min(items.len());
    thread::scope(|scope| {
        let work = || {
            loop {
                let place = next.fetch_add(1, Relaxed);
                let Some(item) = items.get(place) else { break };
                let result = work(item);
                results.lock().expect("no worker panics").insert(place, result);
                bar.inc(1);
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // A panic keeps its message, for a program of the user's may be to blame.
            if let Err(panic) = worker.join() {
                next.store(items.len(), Relaxed);
                resume_unwind(panic);
            }
        }
    });
    bar.finish_and_clear();
    results.into_inner().expect("no worker panics").into_values().collect()
}

/// A bar on terminals only.
pub fn progress(length: usize, what: &str, is_quiet: bool) -> ProgressBar {
    if is_quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {prefix}, {elapsed} {msg}")
        .expect("the template is a constant");
    ProgressBar::new(length as u64).with_style(style).with_prefix(what.to_owned())
}
