//! What may stop a search: a clock, a look at the memory, a signal.

use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{process, thread};

use fencepost::checker::{Progress, Supervisor};
use indicatif::{ProgressBar, ProgressStyle};
use memory_stats::memory_stats;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{CommandError, Exit};

/// The first signal that came; 0: none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// What the first signal does.
static REACTION: AtomicU8 = AtomicU8::new(Reaction::Abandon as u8);

/// What a command does at the first signal.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Reaction {
    /// It has no partial result: the program says that it was stopped, and ends.
    Abandon,
    /// It asks [`was_interrupted`], and ends with what it has so far.
    Finish,
    /// It serves until it is stopped, and that is its regular end.
    Serve,
}

/// Makes every command end in order on SIGINT and SIGTERM: with a message and an exit code. A second signal ends it at once.
pub fn catch_signals() {
    let caught = Signals::new([SIGINT, SIGTERM]).map(|mut signals| {
        thread::spawn(move || signals.forever().for_each(receive));
    });
    if let Err(error) = caught {
        eprintln!("fencepost: a signal will end the program at once: {error}");
    }
}

fn receive(signal: i32) {
    let is_first = SIGNAL.swap(signal, Relaxed) == 0;
    let reaction = REACTION.load(Relaxed);
    if !is_first {
        process::exit(128 + signal);
    }
    if reaction == Reaction::Serve as u8 {
        process::exit(Exit::AsExpected as i32);
    }
    if reaction == Reaction::Abandon as u8 {
        eprintln!("fencepost: stopped by {}; there is no result", name(signal));
        process::exit(Exit::Undecided as i32);
    }
}

fn name(signal: i32) -> &'static str {
    if signal == SIGTERM { "SIGTERM" } else { "Ctrl-C" }
}

/// Makes the first signal end the command instead of the program: the command asks [`was_interrupted`].
pub fn stop_on_interrupt() {
    REACTION.store(Reaction::Finish as u8, Relaxed);
}

/// Makes the first signal the regular end of the program.
pub fn serve_until_interrupted() {
    REACTION.store(Reaction::Serve as u8, Relaxed);
}

/// Whether a signal has asked the command to end.
pub fn was_interrupted() -> bool {
    interruption().is_some()
}

/// The signal that has asked the command to end, as a person calls it.
pub fn interruption() -> Option<&'static str> {
    Some(SIGNAL.load(Relaxed)).filter(|signal| *signal != 0).map(name)
}

/// Ends a command that a signal has stopped: says what was done until then.
pub fn stopped(done: &str) -> Exit {
    eprintln!("fencepost: stopped by {}: {done}", interruption().unwrap_or("a signal"));
    Exit::Undecided
}

/// Supervises searches, several at a time if need be.
pub struct Watch {
    start: Instant,
    timeout: Option<Duration>,
    memory_max: Option<u64>,
    progress: ProgressBar,
    /// What is searched, if it is shown how far the search has come.
    name: Option<String>,
    /// The transitions that others have generated: the search goes on from a store.
    before: AtomicU64,
}

impl Watch {
    /// A watch that starts now. `memory_max` is in MiB.
    pub fn new(timeout: Option<Duration>, memory_max: Option<u64>) -> Result<Self, CommandError> {
        if memory_max.is_some() && resident().is_none() {
            return Err(CommandError::Input(
                "--max-memory: this system does not tell how much memory a program uses".to_owned(),
            ));
        }
        let (start, progress, before) = (Instant::now(), ProgressBar::hidden(), AtomicU64::new(0));
        Ok(Watch { start, timeout, memory_max, progress, name: None, before })
    }
}

impl Watch {
    /// Shows on a terminal how far the search has come.
    pub fn showing(self, name: &str) -> Self {
        let style =
            ProgressStyle::with_template("{spinner} {prefix}: {msg} {elapsed}").expect("the template is a constant");
        let progress = ProgressBar::new_spinner().with_style(style).with_prefix(name.to_owned());
        Watch { progress, name: Some(name.to_owned()), ..self }
    }

    /// Whether its time is over.
    pub fn is_over(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.start.elapsed() >= timeout)
    }

    /// Clears what was shown.
    pub fn finish(&self) {
        self.progress.finish_and_clear();
    }
}

impl Supervisor for Watch {
    fn stop(&self, progress: &Progress) -> Option<String> {
        if let Some(by) = self.stop_on_disk(progress) {
            return Some(by);
        }
        let memory_max = self.memory_max?;
        (resident()? > memory_max).then(|| format!("--max-memory {memory_max}"))
    }

    fn stop_on_disk(&self, progress: &Progress) -> Option<String> {
        if !self.progress.is_hidden() {
            if progress.transitions < self.before.load(Relaxed) {
                // Another search has begun.
                self.before.store(0, Relaxed);
            }
            let own = progress.transitions - self.before.load(Relaxed);
            let rate = own * 1_000_000 / self.microseconds().max(1);
            let Progress { states, transitions, frontier, depth } = progress;
            let level = if *depth > 0 { format!("level {depth}, {frontier} waiting, ") } else { String::new() };
            self.progress.set_message(format!("{level}{states} states, {transitions} transitions, {rate} per second,"));
            self.progress.tick();
        }
        if let Some(signal) = interruption() {
            return Some(signal.to_owned());
        }
        let timeout = self.timeout.filter(|timeout| self.start.elapsed() >= *timeout);
        timeout.map(|timeout| format!("--timeout {}", timeout.as_secs_f64()))
    }

    fn resumes(&self, progress: &Progress) {
        self.before.store(progress.transitions, Relaxed);
        let Progress { states, depth, .. } = progress;
        if let Some(name) = &self.name {
            self.progress.suspend(|| eprintln!("fencepost: {name}: goes on after {depth} levels with {states} states"));
        }
    }

    fn microseconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// The memory that this program uses, in MiB.
fn resident() -> Option<u64> {
    let bytes = memory_stats()?.physical_mem;
    u64::try_from(bytes).ok().map(|bytes| bytes >> 20)
}
