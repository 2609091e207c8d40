//! Liveness properties. Only infinite executions violate them, so the whole state graph is built, and searched for a fair
//! cycle on which an obligation is never met.
//!
//! ```text
//! build       a graph while it is built, by one thread or several
//! expand      what can follow a state
//! edges       the edges of the whole graph, in memory or on disk
//! labels      the class of fairness of an edge, and who enters by it
//! obligation  what has to happen eventually, and where it is open
//! prune       the part of the graph in which a fair run may stay while it is open
//! graph       states by number, edges with labels, classes of fairness
//! fair        the components of that part in which a fair run can stay
//! lasso       the round trip of such a run
//! ```
//!
//! Worlds are in normal form, and clients keep their names: who changes places cannot be treated fairly one by one.

mod build;
pub(crate) mod edges;
mod expand;
pub(crate) mod fair;
pub(crate) mod graph;
pub(crate) mod labels;
mod lasso;
pub(crate) mod obligation;
pub(crate) mod prune;

use std::sync::Arc;

use fencepost_model::ids::ClientId;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::trace::{Lasso as Endless, Trace};
use fencepost_model::work_queue::QueueItems;

use self::build::Build;
use self::edges::EdgeLog;
use self::graph::{CycleCriterion, Graph, Node};
use self::lasso::Lasso;
use self::obligation::{Obligation, OpenFacts};
use self::prune::Remainder;
use crate::engine::Marks;
use crate::explain::concretise_lasso;
use crate::limits::{Progress, Supervisor};
use crate::options::Options;
use crate::outcome::InternalError;
use crate::reduction::Form;

/// This number of states of a graph is looked at in memory, without passes over all edges before it.
const ENOUGH: usize = 1 << 22;

/// About as many bytes as a state takes there, with its edges. If the graph is in a store, as many of them are looked at in memory as its
/// buffers have room for.
const STATE: usize = 64;

/// The state graph of a scenario.
pub(crate) struct Liveness<P: Service> {
    scenario: Scenario<P>,
    /// The labels and classes of its edges.
    graph: Graph,
    edges: EdgeLog,
    /// For each state: what is open in it.
    facts: Vec<OpenFacts>,
    /// For each label: the clients that enter.
    enters: Vec<u32>,
    pub(crate) depth: u64,
    pub(crate) cut: Option<String>,
    /// Whether it was cut by the supervisor or an error, and not by a limit of its own.
    is_called_off: bool,
    /// The part of the graph in which a fair run may stay need not have fewer states than this.
    enough: usize,
    supervisor: Arc<dyn Supervisor>,
    pub(crate) marks: Marks,
}

/// What becomes of a promise.
pub(crate) enum Judgement<P: Service> {
    /// No execution in the graph breaks it.
    Kept,
    /// This one breaks it.
    Broken(Box<Trace<P>>),
    /// The supervisor has called it off, or an error of the store: the reason.
    CalledOff(String),
}

impl<P: Service> Liveness<P> {
    /// Builds the graph. If there is a store, its edges are there.
    ///
    /// # Errors
    /// The model panicked: an internal error. Or the store is refused.
    pub(crate) fn build(scenario: Scenario<P>, options: &Options) -> Result<Self, InternalError> {
        let mut build = Build::new(&scenario, options)?;
        build.run()?;
        let Build { graph, edges, facts, labels, depth, cut, is_called_off, marks, .. } = build;
        let (enters, supervisor) = (labels.enters, Arc::clone(&options.supervisor));
        let enough = options.store.as_ref().map_or(ENOUGH, |store| store.room() / STATE);
        Ok(Liveness { graph, edges, facts, enters, depth, cut, is_called_off, enough, supervisor, marks, scenario })
    }

    /// States and transitions.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.facts.len() as u64, self.edges.edges_len())
    }

    /// Whether an endless fair run breaks the promise. One in a graph that was cut by a limit is as good as any: it stays in states of which all
    /// edges are known.
    ///
    /// # Errors
    /// It could not be repeated: an internal error. Or the store cannot be read.
    pub(crate) fn judge(&self, property: Property) -> Result<Judgement<P>, InternalError> {
        if let Some(by) = self.cut.clone().filter(|_| self.is_called_off) {
            return Ok(Judgement::CalledOff(by));
        }
        for obligation in Obligation::of(&self.scenario, property) {
            let is_open = |node: Node| obligation.is_open(self.facts[node as usize]);
            let stays_open = |label: u16| {
                let counts = !self.scenario.is_mutated(CheckerMutation::EntriesLeaveItOpen);
                obligation.stays_open(if counts { self.enters[usize::from(label)] } else { 0 })
            };
            let question = CycleCriterion { is_open: &is_open, stays_open: &stays_open };
            let mut by = None;
            let mut may_go_on = || {
                by = self.supervisor.stop(&self.progress());
                by.is_none()
            };
            let Some(left) = Remainder::of(&self.edges, &self.graph, &question, self.enough, &mut may_go_on)? else {
                return Ok(Judgement::CalledOff(by.unwrap_or_default()));
            };
            let is_open = |node: Node| left.contains(node);
            let question = CycleCriterion { is_open: &is_open, stays_open: &stays_open };
            if let Some(component) = fair::component(&left.graph, &question) {
                let first = left.states[component[0] as usize];
                let (stem, round) = (self.edges.way_to(first)?, lasso::round(&left.graph, &question, &component));
                let waiting = obligation.waiting(&self.scenario, self.facts[first as usize]);
                let trace = self.trace(&Lasso { stem, round }, property, waiting)?;
                return Ok(Judgement::Broken(Box::new(trace)));
            }
        }
        Ok(Judgement::Kept)
    }

    fn progress(&self) -> Progress {
        let (states, transitions) = self.counts();
        Progress { states, transitions, frontier: 0, depth: self.depth }
    }

    fn trace(&self, lasso: &Lasso, property: Property, waiting: Vec<ClientId>) -> Result<Trace<P>, InternalError> {
        let form = Form::new(&self.scenario, false);
        let mut world = form.start(&self.scenario);
        let mut actions = Vec::new();
        let mut path = Vec::new();
        for place in lasso.stem.iter().chain(&lasso.round) {
            self.scenario.enabled(&world, &mut actions);
            let action = actions[usize::from(*place)];
            let before = world.clone();
            let step = world.state_mut().step(&self.scenario, &action);
            form.renew(&mut world, &before, &step);
            path.push((action, world.clone()));
        }
        let left = path.last().map_or(&world, |(_, world)| world).unhandled(&self.scenario);
        let message = self.complaint(property, &waiting, left);
        let endless = Endless { from: lasso.stem.len(), property, message };
        concretise_lasso(&self.scenario, &form, path, endless)
    }

    fn complaint(&self, property: Property, waiting: &[ClientId], left: QueueItems) -> String {
        let names: Vec<String> = waiting.iter().map(ToString::to_string).collect();
        let (names, tries) = (names.join(" and "), if waiting.len() == 1 { "tries" } else { "try" });
        match property {
            Property::EveryItemHandled => format!("{left} {} never handled", if left.is_one() { "is" } else { "are" }),
            Property::EventuallyAcquired if self.scenario.service.capacity() > 1 => {
                format!("a slot is free, and {names} {tries} for ever")
            }
            Property::EventuallyAcquired => format!("the lock stays free while {names} {tries} for ever"),
            _ => format!("{names} {tries} for ever and never enters"),
        }
    }
}
