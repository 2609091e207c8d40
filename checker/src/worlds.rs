//! A scenario as a space for our own engine. States are worlds in normal form.

mod stored;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fencepost_model::goal::Reached;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::trace::Trace;
use fencepost_model::world::{Action, World};

pub(crate) use self::stored::{Elsewhere, identity};

use crate::engine::{Allowance, Lanes, Marks, Paths, SearchPlan, Space, Transition, search};
use crate::explain::concretise;
use crate::options::Options;
use crate::outcome::{Exploration, InternalError};
use crate::reduction::{
    Collapsed, Form, Formed, LateFaults, Numbers, PackedChunk, PartialOrder, Pool, SharedPool, Stepper, Subsumption,
    Successor, Unheard,
};

/// The space of a scenario.
pub(crate) struct Worlds<P: Service> {
    scenario: Scenario<P>,
    form: Form,
    /// What has happened before the search begins.
    past: Vec<Action<P>>,
    /// Whether time passes to the next deadline at once.
    leaps: bool,
    /// The bits of a fingerprint that count: all, but for a mutant.
    bits: u64,
    /// Which worlds are left out because others cover them.
    subsumption: Subsumption,
    /// Whether worlds and their parts are compared in full, and not by hashes alone.
    is_exact: bool,
    /// What the worlds of the search are made of, for all workers.
    pool: SharedPool<P>,
    /// The number of workers in this process.
    workers: usize,
}

impl<P: Service> Worlds<P> {
    pub(crate) fn new(scenario: Scenario<P>, uses_symmetry: bool) -> Self {
        Worlds {
            form: Form::new(&scenario, uses_symmetry),
            bits: if scenario.is_mutated(CheckerMutation::FingerprintTruncated) { 0xff } else { u64::MAX },
            pool: Pool::of(&scenario, false),
            scenario,
            past: Vec::new(),
            leaps: false,
            subsumption: Subsumption::none(),
            is_exact: false,
            workers: 1,
        }
    }

    /// The same without messages to which no process reacts.
    pub(crate) fn without(mut self, unheard: Unheard) -> Self {
        self.form = self.form.without(unheard);
        self
    }

    /// The same with fewer actions of each state.
    pub(crate) fn with(mut self, order: PartialOrder, late_faults: LateFaults) -> Self {
        self.form = self.form.choosing(order, late_faults);
        self
    }

    /// The same without worlds that others cover.
    pub(crate) fn subsuming(self, subsumption: Subsumption) -> Self {
        Worlds { subsumption, ..self }
    }

    /// The same with worlds and their parts compared in full, if that is asked for.
    pub(crate) fn comparing(self, is_exact: bool) -> Self {
        Worlds { is_exact, pool: Pool::of(&self.scenario, is_exact), ..self }
    }

    /// What can follow these actions.
    pub(crate) fn around(scenario: Scenario<P>, past: Vec<Action<P>>, uses_symmetry: bool) -> Self {
        Worlds { past, leaps: true, ..Worlds::new(scenario, uses_symmetry) }
    }

    /// Searches it, as the options say. The execution of a violation is rebuilt, unless it is unwanted.
    pub(crate) fn explore(self, options: &Options, paths: Paths) -> Result<Exploration<P>, InternalError> {
        self.explore_in(None, options, paths)
    }

    /// The same on disk or with other processes, if that is asked for.
    pub(crate) fn explore_in(
        self,
        elsewhere: Option<Elsewhere>,
        options: &Options,
        paths: Paths,
    ) -> Result<Exploration<P>, InternalError> {
        let space = Arc::new(Worlds { workers: options.workers, ..self });
        let (limits, supervisor) = (options.limits, Arc::clone(&options.supervisor));
        let plan = SearchPlan { workers: options.workers, limits, supervisor, paths };
        let searched = match elsewhere {
            Some(elsewhere) => elsewhere.search(&space, &plan)?,
            None => search(&space, &plan).map_err(InternalError::of_panic)?,
        };
        let is_violated = searched.is_violated;
        let violation = searched.violation.map(|path| space.trace(&path)).transpose()?;
        let (states, transitions, depth) = (searched.states, searched.transitions, searched.depth);
        let marks = Marks { reached: space.form.reached(Reached(searched.marks.reached)).0, ..searched.marks };
        let mut reductions = space.form.reductions();
        reductions.extend(space.subsumption.sentence().map(str::to_owned));
        Ok(Exploration {
            states,
            transitions,
            depth,
            cut: searched.cut,
            marks,
            reductions,
            in_partial_order: space.form.is_in_partial_order(),
            takes_faults_late: space.form.takes_faults_late(),
            is_without_covered: space.subsumption.lanes().is_some(),
            is_exact: space.is_exact,
            is_violated,
            violation,
            is_shortest: true,
        })
    }

    fn start(&self) -> Formed<P> {
        let mut world = self.scenario.observed();
        for action in &self.past {
            world.step(&self.scenario, action);
        }
        self.form.of(world)
    }

    /// By this the search tells worlds apart.
    #[cfg(feature = "stateright")]
    pub(crate) fn fingerprint_of(&self, world: &Formed<P>) -> u64 {
        world.fingerprint() & self.bits
    }

    fn stepper(&self) -> Stepper<P> {
        Stepper::new(&self.scenario, self.form.normal(), Arc::clone(&self.pool), self.subsumption, self.workers)
    }

    /// Lists everything that may happen and is explored. Returns the kinds of faults that are not, as bits.
    fn enabled(&self, world: &World<P>, actions: &mut Vec<Action<P>>) -> u64 {
        self.scenario.enabled(world, actions);
        let left_out = self.form.leave_out_faults(&self.scenario, world, actions);
        if self.leaps {
            let leap = world.until_deadline(&self.scenario);
            actions.retain_mut(|action| match (action, leap) {
                (Action::Advance(ticks), Some(leap)) => {
                    *ticks = leap;
                    true
                }
                (Action::Advance(_), None) => false,
                _ => true,
            });
        }
        left_out
    }

    /// The run of the concrete world that takes these action indices.
    fn trace(&self, path: &[u16]) -> Result<Trace<P>, InternalError> {
        let mut world = self.start();
        let mut actions = Vec::new();
        let path = path.iter().skip(1).map(|action| {
            self.enabled(&world, &mut actions);
            let before = world.clone();
            let step = world.state_mut().step(&self.scenario, &actions[usize::from(*action)]);
            self.form.renew(&mut world, &before, &step);
            (world.clone(), !step.violations.is_empty())
        });
        let enabled = |world: &World<P>, actions: &mut Vec<Action<P>>| {
            self.enabled(world, actions);
        };
        concretise(&self.scenario, &self.form, &self.past, enabled, path)
    }
}

/// The message of a panic.
pub(crate) fn panicked(label: &str, panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("the model panicked at “{label}”: {}", text.unwrap_or("without a word"))
}

/// What is allocated once and used for every state.
pub(crate) struct Scratch<P: Service> {
    actions: Vec<Action<P>>,
    stepper: Option<Box<Stepper<P>>>,
}

impl<P: Service> Default for Scratch<P> {
    fn default() -> Self {
        Scratch { actions: Vec::new(), stepper: None }
    }
}

impl<P: Service> Space for Worlds<P> {
    /// Numbers of parts: a world itself is two kilobytes.
    type State = Collapsed;
    type Chunk = PackedChunk;
    type Scratch = Scratch<P>;

    fn starts(&self) -> Vec<Self::State> {
        vec![self.stepper().collapse(&self.start())]
    }

    fn fingerprint(&self, state: &Self::State) -> u64 {
        state.fingerprint() & self.bits
    }

    fn mutation(&self) -> Option<Mutation> {
        self.scenario.mutation
    }

    fn partition_key(&self, state: &Self::State) -> u32 {
        state.partition_key()
    }

    fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn write(&self, state: &Self::State, to: &mut Vec<u8>) {
        state.write_parts(to);
    }

    fn lanes(&self) -> Option<Lanes> {
        self.subsumption.lanes()
    }

    fn allowance(&self, state: &Self::State) -> Allowance {
        state.allowance()
    }

    fn identity(&self, waiting: &Numbers, scratch: &mut Scratch<P>) -> Option<(u64, Allowance)> {
        let stepper = scratch.stepper.get_or_insert_with(|| Box::new(self.stepper()));
        stepper.open(waiting);
        let (fingerprint, allowance) = stepper.identity();
        Some((fingerprint & self.bits, allowance))
    }

    fn is_broken(&self, state: &Self::State) -> bool {
        if self.subsumption.lanes().is_some() {
            // A world stands for more than those that differ in who is who.
            return false;
        }
        let world = || {
            let pool = self.pool.lock().expect("no worker panics while it holds the pool");
            Box::new(pool.world(&self.scenario, state))
        };
        self.form.sample(state.fingerprint(), world);
        false
    }

    fn expand(
        &self,
        last: &Numbers,
        scratch: &mut Scratch<P>,
        mut found: impl FnMut(Transition<Self::State>),
    ) -> Result<(), String> {
        let taken = Cell::new(None);
        let expand = || {
            let Scratch { actions, stepper } = scratch;
            let stepper = stepper.get_or_insert_with(|| Box::new(self.stepper()));
            let left_out = self.enabled(stepper.open(last), actions);
            if self.scenario.is_mutated(CheckerMutation::LastActionForgotten) && actions.len() > 1 {
                actions.pop();
            }
            let chosen = self.form.chosen(&self.scenario, stepper.opened(), actions);
            let is_chosen =
                |(place, _): &(u16, &Action<P>)| chosen.as_ref().is_none_or(|chosen| chosen.contains(place));
            let explored = || (0..).zip(actions.iter()).filter(is_chosen);
            stepper.ask(&self.scenario, explored().map(|(_, action)| action));
            for (nth, (place, action)) in explored().enumerate() {
                taken.set(Some(*action));
                let Successor { to: state, reached, is_violation } =
                    stepper.step(&self.scenario, self.form.normal(), (nth, action));
                let is_kept = is_violation && !self.scenario.is_mutated(CheckerMutation::StutterHidesViolation);
                if is_kept || !stepper.is_open(&state) {
                    // A fault that is not explored is possible all the same.
                    let marks = Marks { reached: reached.0, kinds: action.kind().bit() | left_out };
                    found(Transition { action: place, state, is_violation, marks });
                }
            }
        };
        catch_unwind(AssertUnwindSafe(expand)).map_err(|panic| {
            let label = taken.get().map_or_else(|| "listing what may happen".to_owned(), |action| action.to_string());
            panicked(&label, &*panic)
        })
    }
}
