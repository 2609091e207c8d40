//! Which worlds count as one, by the normal form and the symmetry of interchangeable clients; and which of their actions are explored.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fencepost_model::goal::Reached;
use fencepost_model::monitor::Observed;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Step, World};

use super::late_faults::LateFaults;
use super::normal_form::{Formed, NormalForm};
use super::partial_order::{Chosen, PartialOrder};
use super::symmetry::Symmetry;
use super::unheard::Unheard;

/// Of this number of new states, one is a sample of the gain by symmetry. Its fingerprint selects it, so that it is the same
/// for any number of workers.
const SAMPLE: u64 = 256;

/// How a search brings its worlds into form.
pub(crate) struct Form {
    normal: NormalForm,
    /// New states that were looked at, and how many worlds they stand for.
    sampled: AtomicU64,
    worlds: AtomicU64,
    /// All ways in which clients can change places, for those samples.
    orders: OnceLock<Vec<Vec<usize>>>,
    /// What one client reaches counts for all that are interchangeable with it.
    shares_goals: bool,
    order: PartialOrder,
    late_faults: LateFaults,
}

impl Form {
    /// The same where only some of a world's actions are explored.
    pub(crate) fn choosing(mut self, order: PartialOrder, late_faults: LateFaults) -> Self {
        (self.order, self.late_faults) = (order, late_faults);
        self
    }

    /// Whether some actions wait for others.
    pub(crate) fn is_in_partial_order(&self) -> bool {
        !self.order.is_none()
    }

    /// Whether some losses and pauses are not explored.
    pub(crate) fn takes_faults_late(&self) -> bool {
        !self.late_faults.is_none()
    }

    /// Takes the losses and pauses that are not explored out of what may happen in a world. Returns their kinds, as bits.
    pub(crate) fn leave_out_faults<P: Service>(
        &self,
        scenario: &Scenario<P>,
        world: &World<P>,
        actions: &mut Vec<Action<P>>,
    ) -> u64 {
        self.late_faults.leave_out(scenario, world, actions)
    }

    /// The actions of a world that are explored, by their indices among these; `None` if all are.
    pub(crate) fn chosen<P: Service>(
        &self,
        scenario: &Scenario<P>,
        world: &Formed<P>,
        actions: &[Action<P>],
    ) -> Option<Chosen> {
        self.order.choose(scenario, world, actions)
    }

    /// The same without messages to which no process reacts.
    pub(crate) fn without(mut self, unheard: Unheard) -> Self {
        self.normal = self.normal.without(unheard);
        self
    }

    /// The form of a scenario's worlds.
    pub(crate) fn new<P: Service>(scenario: &Scenario<P>, uses_symmetry: bool) -> Self {
        let symmetry = if uses_symmetry { Symmetry::of(scenario) } else { Symmetry::none() };
        Form {
            normal: NormalForm::new(scenario, symmetry),
            sampled: AtomicU64::new(0),
            worlds: AtomicU64::new(0),
            orders: OnceLock::new(),
            order: PartialOrder::none(),
            late_faults: LateFaults::none(),
            shares_goals: !scenario.is_mutated(CheckerMutation::GoalsOfOneClient),
        }
    }

    /// The normal form.
    pub(crate) fn normal(&self) -> &NormalForm {
        &self.normal
    }

    /// The world at the start.
    pub(crate) fn start<P: Service>(&self, scenario: &Scenario<P>) -> Formed<P> {
        self.of(scenario.observed())
    }

    /// Brings a world into form.
    pub(crate) fn of<P: Service>(&self, state: Observed<P>) -> Formed<P> {
        self.normal.form(state)
    }

    /// Brings a world into form after one step.
    pub(crate) fn renew<P: Service>(&self, next: &mut Formed<P>, before: &Formed<P>, step: &Step<P>) {
        self.normal.renew(next, before, &step.touched);
    }

    /// Counts how many worlds some of the new states stand for.
    pub(crate) fn sample<P: Service, W: Deref<Target = Observed<P>>>(
        &self,
        fingerprint: u64,
        state: impl FnOnce() -> W,
    ) {
        let symmetry = self.normal.symmetry();
        if !symmetry.is_none() && fingerprint.is_multiple_of(SAMPLE) {
            let state = state();
            let orders = self.orders.get_or_init(|| symmetry.orders(state.clients.len()));
            let orbit = Symmetry::orbit(&*state, orders) as u64;
            self.sampled.fetch_add(1, Relaxed);
            self.worlds.fetch_add(orbit, Relaxed);
        }
    }

    /// What [`Form::sample`] has counted.
    pub(crate) fn samples(&self) -> [u64; 2] {
        [&self.sampled, &self.worlds].map(|count| count.load(Relaxed))
    }

    /// Continues to count from there.
    pub(crate) fn restore_samples(&self, [sampled, worlds]: [u64; 2]) {
        self.sampled.store(sampled, Relaxed);
        self.worlds.store(worlds, Relaxed);
    }

    /// Adds what another process has counted.
    pub(crate) fn add_samples(&self, [sampled, worlds]: [u64; 2]) {
        self.sampled.fetch_add(sampled, Relaxed);
        self.worlds.fetch_add(worlds, Relaxed);
    }

    /// What one client can reach, its like can reach as well.
    pub(crate) fn reached(&self, mut reached: Reached) -> Reached {
        for group in self.normal.symmetry().groups().filter(|_| self.shares_goals) {
            if group.iter().any(|client| reached.has_entered(*client)) {
                group.iter().for_each(|client| reached.enter(*client));
            }
        }
        reached
    }

    /// The reductions in force, as sentences.
    pub(crate) fn reductions(&self) -> Vec<String> {
        let mut list = vec![
            "instants are relative to now, and clamped beyond the longest compared duration".to_owned(),
            "log indexes, tenures and session numbers are replaced by ranks, calls are compared by identity".to_owned(),
        ];
        list.extend(self.order.sentence().into_iter().chain(self.late_faults.sentences()).map(str::to_owned));
        if !self.normal.unheard().is_none() {
            list.push("messages that no process reacts to are removed".to_owned());
        }
        for group in self.normal.symmetry().groups() {
            let names: Vec<String> = group.iter().map(|client| client.0.to_string()).collect();
            list.push(format!("clients {} are interchangeable", names.join(", ")));
        }
        let (sampled, worlds) = (self.sampled.load(Relaxed), self.worlds.load(Relaxed));
        if let Some(hundredths) = (worlds * 100).checked_div(sampled) {
            list.push(format!(
                "a state represents {}.{:02} worlds of interchangeable clients (a sample of {sampled} states)",
                hundredths / 100,
                hundredths % 100
            ));
        }
        list
    }
}
