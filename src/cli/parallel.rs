//! Work on all cores, with results in the order of the items, and a bar on terminals.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Sender};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

/// How many threads can run at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does the work on all cores.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], bar: &ProgressBar, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    let all: Result<(), Infallible> = one_by_one(items, bar, work, |_, result| {
        results.push(result);
        Ok(())
    });
    let Ok(()) = all;
    results
}

/// Does the work on all cores, and shows each result as soon as it and those before it are there.
///
/// # Errors
/// That of the first result which is refused: what is not begun then is left out.
pub fn one_by_one<T: Sync, R: Send, E>(
    items: &[T],
    bar: &ProgressBar,
    work: impl Fn(&T) -> R + Sync,
    mut show: impl FnMut(&T, R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let stop = || next.store(items.len(), Relaxed);
    let (send, results) = mpsc::channel();
    let mut waiting = BTreeMap::new();
    let mut shown = (0, Ok(()));
    let run = |send: Sender<(usize, R)>| {
        loop {
            let place = next.fetch_add(1, Relaxed);
            let Some(item) = items.get(place) else { break };
            if send.send((place, work(item))).is_err() {
                break;
            }
        }
    };
    let run = &run;
    thread::scope(|scope| {
        let senders: Vec<_> = (0..cores().min(items.len())).map(|_| send.clone()).collect();
        let workers: Vec<_> = senders.into_iter().map(|send| scope.spawn(move || run(send))).collect();
        drop(send);
        for (place, result) in results {
            bar.inc(1);
            waiting.insert(place, result);
            while shown.1.is_ok()
                && let Some(result) = waiting.remove(&shown.0)
            {
                shown = (shown.0 + 1, bar.suspend(|| show(&items[shown.0], result)));
            }
            if shown.1.is_err() {
                stop();
            }
        }
        for worker in workers {
            // A panic keeps its message, for a program of the user's may be to blame.
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        }
    });
    bar.finish_and_clear();
    shown.1
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_shown_in_order_until_one_is_refused() {
        let items: Vec<usize> = (0..1000).collect();
        let hidden = ProgressBar::hidden();
        assert_eq!(in_parallel(&items, &hidden, |item| item * 2), (0..1000).map(|item| item * 2).collect::<Vec<_>>());
        let mut shown = Vec::new();
        let stopped = one_by_one(
            &items,
            &hidden,
            |item| item * 2,
            |_, result| {
                shown.push(result);
                if result == 200 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((stopped, shown), (Err("enough"), (0..=100).map(|item| item * 2).collect::<Vec<_>>()));
    }
}
