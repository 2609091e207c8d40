//! What may cut a search. A search that was cut says so, and by what; it is never green.

/// Bounds that the search itself can count.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// States to expand, at most.
    pub states: Option<u64>,
    /// Levels to explore, at most; the initial state is level 1.
    pub depth: Option<u64>,
}

/// How far a search has come.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Distinct states.
    pub states: u64,
    /// Transitions generated.
    pub transitions: u64,
    /// States that wait to be expanded, as far as the engine knows.
    pub frontier: u64,
    /// The level that is being explored; 0 if the engine does not know.
    pub depth: u64,
}

/// A supervisor of a search. It has a clock and may stop the search.
pub trait Supervisor: Send + Sync {
    /// Called every few hundred states. A returned reason ends the search; it completes "stopped by …".
    fn stop(&self, progress: &Progress) -> Option<String>;

    /// The same for a search that keeps its states on disk: how much memory the process uses is no reason to stop it.
    fn stop_on_disk(&self, progress: &Progress) -> Option<String> {
        self.stop(progress)
    }

    /// A search goes on from a store that has the levels before this one.
    fn resumes(&self, _progress: &Progress) {}

    /// Microseconds since some fixed moment.
    fn microseconds(&self) -> u64;
}

/// No supervisor: the search runs to its end and reads no clock.
#[derive(Copy, Clone, Debug, Default)]
pub struct Unsupervised;

impl Supervisor for Unsupervised {
    fn stop(&self, _: &Progress) -> Option<String> {
        None
    }

    fn microseconds(&self) -> u64 {
        0
    }
}
