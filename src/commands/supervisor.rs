//! Who may call a search off: a clock, a look at the memory, Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fencepost::checker::{Progress, Supervisor};
use indicatif::{ProgressBar, ProgressStyle};

use super::Trouble;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C end searches instead of the program; a second one ends the program.
pub fn heed_interrupts() {
    let handler = || {
        if INTERRUPTED.swap(true, Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("fencepost: Ctrl-C will end the program at once: {error}");
    }
}

/// Whether somebody has pressed Ctrl-C.
pub fn was_interrupted() -> bool {
    INTERRUPTED.load(Relaxed)
}

/// Supervises searches, several at a time if need be.
pub struct Watch {
    start: Instant,
    timeout: Option<Duration>,
    memory_max: Option<u64>,
    progress: ProgressBar,
}

impl Watch {
    /// A watch that starts now. `memory_max` is in MiB.
    pub fn new(timeout: Option<Duration>, memory_max: Option<u64>) -> Result<Self, Trouble> {
        if memory_max.is_some() && resident().is_none() {
            return Err(Trouble::Input(
                "--max-memory: this system does not tell how much memory a program uses".to_owned(),
            ));
        }
        Ok(Watch { start: Instant::now(), timeout, memory_max, progress: ProgressBar::hidden() })
    }
}

impl Watch {
    /// Shows on a terminal how far the search has come.
    pub fn showing(self, name: &str) -> Self {
        let style =
            ProgressStyle::with_template("{spinner} {prefix}: {msg} {elapsed}").expect("the template is a constant");
        let progress = ProgressBar::new_spinner().with_style(style).with_prefix(name.to_owned());
        Watch { progress, ..self }
    }

    /// Clears what was shown.
    pub fn finish(&self) {
        self.progress.finish_and_clear();
    }
}

impl Supervisor for Watch {
    fn stop(&self, progress: &Progress) -> Option<String> {
        if !self.progress.is_hidden() {
            let rate = progress.transitions * 1_000_000 / self.microseconds().max(1);
            let Progress { states, transitions, frontier, depth } = progress;
            let level = if *depth > 0 { format!("level {depth}, {frontier} waiting, ") } else { String::new() };
            self.progress.set_message(format!("{level}{states} states, {transitions} transitions, {rate} per second,"));
            self.progress.tick();
        }
        if was_interrupted() {
            return Some("Ctrl-C".to_owned());
        }
        if let Some(timeout) = self.timeout.filter(|timeout| self.start.elapsed() >= *timeout) {
            return Some(format!("--timeout {}", timeout.as_secs_f64()));
        }
        let memory_max = self.memory_max?;
        (resident()? > memory_max).then(|| format!("--max-memory {memory_max}"))
    }

    fn microseconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// The memory that this program uses, in MiB.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}
