//! A scenario as a stateright model. States are worlds in normal form.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use fencepost_model::action_kind::ActionKind;
use fencepost_model::goal::Reached;
use fencepost_model::ids::ClientId;
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;
use stateright::{Model, Property};

use crate::limits::{Limits, Progress, Supervisor};
use crate::reduction::{Form, Formed};
use crate::worlds::{kind_bit, panicked};

/// The name of the one property that stateright judges.
pub(super) const KEPT: &str = "every promise is kept";

/// How many states are expanded between two questions to the supervisor.
const ROUND: u64 = 256;

/// A world in normal form, and whether the step into it broke a promise.
#[derive(Clone, Debug)]
pub(super) struct State<P: Service> {
    /// Boxed: stateright moves states about, and a world is a kilobyte.
    pub(super) world: Box<Formed<P>>,
    pub(super) is_violated: bool,
    /// The level on which it was found first, from 0. Not a part of the state: neither compared nor hashed.
    level: u32,
}

impl<P: Service> PartialEq for State<P> {
    fn eq(&self, other: &Self) -> bool {
        (&**self.world, self.is_violated) == (&**other.world, other.is_violated)
    }
}

impl<P: Service> Eq for State<P> {}

impl<P: Service> Hash for State<P> {
    /// One word: our own fingerprint, the same on every machine.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.world.fingerprint() ^ u64::from(self.is_violated));
    }
}

/// The space of a scenario, with the counters of one search.
pub(super) struct Space<P: Service> {
    scenario: Scenario<P>,
    pub(super) form: Form,
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

impl<P: Service> Space<P> {
    pub(super) fn new(scenario: Scenario<P>, form: Form, limits: Limits, supervisor: Arc<dyn Supervisor>) -> Self {
        Space {
            scenario,
            form,
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

    pub(super) fn reached(&self) -> Reached {
        Reached(self.reached.load(Relaxed))
    }

    pub(super) fn kinds(&self) -> u64 {
        self.kinds.load(Relaxed)
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

    fn fail(&self, action: &Action<P>, panic: &(dyn std::any::Any + Send)) {
        let failure = panicked(&action.to_string(), panic);
        *self.failure.lock().expect("no thread panics while it holds this") = Some(failure);
        self.is_cut.store(true, Relaxed);
    }

    fn count(&self, action: &Action<P>, reached: Reached) {
        self.transitions.fetch_add(1, Relaxed);
        add_bits(&self.kinds, kind_bit(action));
        add_bits(&self.reached, reached.0);
    }
}

fn add_bits(to: &AtomicU64, bits: u64) {
    if to.load(Relaxed) & bits != bits {
        to.fetch_or(bits, Relaxed);
    }
}

impl<P: Service> Model for Space<P> {
    type State = State<P>;
    type Action = Action<P>;

    fn init_states(&self) -> Vec<State<P>> {
        vec![State { world: Box::new(self.form.start(&self.scenario)), is_violated: false, level: 0 }]
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Action<P>>) {
        let is_needed = self.is_over.load(Relaxed) || state.level < self.violated_at.load(Relaxed);
        if is_needed && self.may_expand() {
            self.scenario.enabled(&state.world, actions);
            if self.form.leave_out_losses(actions) {
                add_bits(&self.kinds, 1 << ActionKind::Lose as u64);
            }
            if let Some(chosen) = self.form.chosen(&self.scenario, &state.world, actions) {
                *actions = chosen.iter().map(|place| actions[usize::from(*place)]).collect();
            }
        }
    }

    fn next_state(&self, last: &State<P>, action: Action<P>) -> Option<State<P>> {
        let take = || {
            // All of the next world is looked at, whatever the step changed: our own search keeps what it knows of the rest,
            // and the two must agree.
            let mut world = Observed::clone(&last.world);
            let step = world.step(&self.scenario, &action);
            (Box::new(self.form.of(world)), step)
        };
        let (world, step) = match catch_unwind(AssertUnwindSafe(take)) {
            Ok(taken) => taken,
            Err(panic) => {
                self.fail(&action, &*panic);
                return None;
            }
        };
        let next = State { world, is_violated: !step.violations.is_empty(), level: last.level + 1 };
        if next.is_violated {
            self.violated_at.fetch_min(next.level, Relaxed);
        }
        if **next.world == **last.world && !next.is_violated {
            return None;
        }
        self.count(&action, self.scenario.reached(&step.facts));
        Some(next)
    }

    /// For the Explorer: the action as a sentence.
    fn format_action(&self, action: &Action<P>) -> String {
        action.to_string()
    }

    /// For the Explorer: what became true, who has the lock and who believes so.
    fn format_step(&self, last: &State<P>, action: Action<P>) -> Option<String> {
        let mut world = Observed::clone(&last.world);
        let step = world.step(&self.scenario, &action);
        let names = |clients: &mut dyn Iterator<Item = ClientId>| {
            let names: Vec<String> = clients.map(|client| client.0.to_string()).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(" ") }
        };
        let owners = P::record(&world.server.process, &self.scenario).owners;
        let mut lines: Vec<String> = step.facts.iter().map(ToString::to_string).collect();
        lines.push(format!("record: {}   inside: {}", names(&mut owners.iter().copied()), names(&mut world.inside())));
        lines
            .extend(step.violations.iter().map(|violation| format!("✗ {}: {}", violation.property, violation.message)));
        Some(lines.join("\n"))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(KEPT, |space: &Self, state: &State<P>| {
            space.form.sample(state.world.fingerprint(), || &**state.world);
            !state.is_violated || space.is_violated.swap(true, Relaxed)
        })]
    }
}
