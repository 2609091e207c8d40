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

/// Somebody outside who has a clock, and may call a search off.
pub trait Supervisor: Send + Sync {
    /// Asked every few hundred states. An answer ends the search; it is the reason, as in "by …".
    fn stop(&self, progress: &Progress) -> Option<String>;

    /// Microseconds since some fixed moment.
    fn microseconds(&self) -> u64;
}

/// Nobody: the search runs to its end, and takes no time.
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
