//! The worlds of a scenario as a stateright model, whatever its service is. States are worlds in normal form.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use stateright::{Model, Property};

use super::erased::{Choice, ErasedWorld, Transitions};
use crate::engine::Marks;
use crate::limits::{Limits, Progress, Supervisor};

/// The name of the one property that stateright judges.
pub(super) const KEPT: &str = "every promise is kept";

/// How many states are expanded between two questions to the supervisor.
const ROUND: u64 = 256;

/// A world in normal form, and whether the step into it broke a promise.
#[derive(Debug)]
pub(super) struct State {
    pub(super) world: Box<dyn ErasedWorld>,
    pub(super) is_violated: bool,
    /// The level on which it was found first, from 0. Not a part of the state: neither compared nor hashed.
    level: u32,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State { world: self.world.copy(), ..*self }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.is_violated == other.is_violated && self.world.is_same(&*other.world)
    }
}

impl Eq for State {}

impl Hash for State {
    /// One word: our own fingerprint, the same on every machine.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.world.fingerprint() ^ u64::from(self.is_violated));
    }
}

/// The space of a scenario, with the counters of one search.
pub(super) struct Space {
    of: Arc<dyn Transitions>,
    limits: Limits,
    supervisor: Arc<dyn Supervisor>,
    /// Set by the first violation, which is thereby the only one.
    is_violated: AtomicBool,
    /// The level on which a violation was found first: that level is completed, and none beyond it is begun.
    violated_at: AtomicU32,
    /// Set when the search is over: rebuilding a path is not searching.
    is_over: AtomicBool,
    expanded: AtomicU64,
    transitions: AtomicU64,
    reached: AtomicU64,
    kinds: AtomicU64,
    cut: Mutex<Option<String>>,
    is_cut: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Space {
    pub(super) fn new(of: Arc<dyn Transitions>, limits: Limits, supervisor: Arc<dyn Supervisor>) -> Self {
        Space {
            of,
            limits,
            supervisor,
            is_violated: AtomicBool::new(false),
            violated_at: AtomicU32::new(u32::MAX),
            is_over: AtomicBool::new(false),
            expanded: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            reached: AtomicU64::new(0),
            kinds: AtomicU64::new(0),
            cut: Mutex::new(None),
            is_cut: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    pub(super) fn transitions(&self) -> u64 {
        self.transitions.load(Relaxed)
    }

    /// What the transitions showed.
    pub(super) fn marks(&self) -> Marks {
        Marks { reached: self.reached.load(Relaxed), kinds: self.kinds.load(Relaxed) }
    }

    /// Why the search was cut.
    pub(super) fn cut(&self) -> Option<String> {
        self.cut.lock().expect("no thread panics while it holds this").clone()
    }

    /// What panicked.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().expect("no thread panics while it holds this").clone()
    }

    pub(super) fn stop_counting(&self) {
        self.is_over.store(true, Relaxed);
    }

    /// Whether the search goes on. Once cut, states are neither expanded nor forgotten: they were generated.
    fn may_expand(&self) -> bool {
        if self.is_over.load(Relaxed) {
            return true;
        }
        if self.is_cut.load(Relaxed) {
            return false;
        }
        let states = self.expanded.fetch_add(1, Relaxed);
        let by = match self.limits.states {
            Some(limit) if states >= limit => Some(format!("--max-states {limit}")),
            _ if states.is_multiple_of(ROUND) => {
                self.supervisor.stop(&Progress { states, transitions: self.transitions(), ..Progress::default() })
            }
            _ => None,
        };
        let Some(by) = by else { return true };
        self.is_cut.store(true, Relaxed);
        *self.cut.lock().expect("no thread panics while it holds this") = Some(by);
        false
    }

    fn fail(&self, failure: String) {
        *self.failure.lock().expect("no thread panics while it holds this") = Some(failure);
        self.is_cut.store(true, Relaxed);
    }

    fn count(&self, marks: Marks) {
        self.transitions.fetch_add(1, Relaxed);
        add_bits(&self.kinds, marks.kinds);
        add_bits(&self.reached, marks.reached);
    }
}

fn add_bits(to: &AtomicU64, bits: u64) {
    if to.load(Relaxed) & bits != bits {
        to.fetch_or(bits, Relaxed);
    }
}

impl Model for Space {
    type State = State;
    type Action = Choice;

    fn init_states(&self) -> Vec<State> {
        vec![State { world: self.of.start(), is_violated: false, level: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Choice>) {
        let is_needed = self.is_over.load(Relaxed) || state.level < self.violated_at.load(Relaxed);
        if is_needed && self.may_expand() {
            add_bits(&self.kinds, self.of.list(&*state.world, actions));
        }
    }

    fn next_state(&self, last: &State, action: Choice) -> Option<State> {
        let taken = self.of.take(&*last.world, &action).map_err(|failure| self.fail(failure)).ok()?;
        let next = State { world: taken.world, is_violated: taken.is_violation, level: last.level + 1 };
        if next.is_violated {
            self.violated_at.fetch_min(next.level, Relaxed);
        }
        if taken.is_same && !next.is_violated {
            return None;
        }
        self.count(taken.marks);
        Some(next)
    }

    /// For the Explorer.
    fn format_action(&self, action: &Choice) -> String {
        action.label()
    }

    /// For the Explorer.
    fn format_step(&self, last: &State, action: Choice) -> Option<String> {
        Some(self.of.tell(&*last.world, &action))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(KEPT, |space: &Self, state: &State| {
            space.of.sample(&*state.world);
            !state.is_violated || space.is_violated.swap(true, Relaxed)
        })]
    }
}
