//! The normal form: worlds that differ only in values without absolute meaning become equal, and so do worlds that differ only
//! in who is who among interchangeable clients.
//!
//! Instants are shifted so that now is 0, and what lies further back than any comparison looks is clamped (Lamport,
//! CHARME 2005). Indexes, tenures, calls and the numbers of sessions keep their order only. Interchangeable clients stand in
//! the order of what can be seen of them. Without symmetry the normal form is what the model calls the representative.

use std::ops::Deref;

use fencepost_model::ids::ProcessId;
use fencepost_model::monitor::{Observed, name_closed_calls};
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};

use super::names::Rules;
use super::parts::Parts;
use super::symmetry::{Symmetry, arrange, outside, traces_in};
use super::unheard::Unheard;

/// How the worlds of a scenario are brought into normal form.
#[derive(Clone, Debug)]
pub(crate) struct NormalForm {
    pub(super) rules: Rules,
    pub(super) symmetry: Symmetry,
    pub(super) unheard: Unheard,
    mutation: Option<Mutation>,
}

/// A world in normal form.
#[derive(Debug)]
pub(crate) struct Formed<P: Service> {
    pub(super) state: Observed<P>,
    pub(super) parts: Parts,
}

impl<P: Service> Clone for Formed<P> {
    fn clone(&self) -> Self {
        Formed { state: self.state.clone(), parts: self.parts.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.state.clone_from(&other.state);
        self.parts.clone_from(&other.parts);
    }
}

impl<P: Service> Deref for Formed<P> {
    type Target = Observed<P>;
    fn deref(&self) -> &Observed<P> {
        &self.state
    }
}

impl<P: Service> Formed<P> {
    /// 64 bits that tell it from other worlds; the same on every machine.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.parts.fingerprint
    }

    /// The world, to take a step in; afterwards it has to be [brought into form](NormalForm::renew) again.
    pub(crate) fn state_mut(&mut self) -> &mut Observed<P> {
        &mut self.state
    }

    /// Takes back a step from a world, after it was brought into form.
    pub(crate) fn undo(&mut self, before: &Self) {
        let Observed { world, monitor } = &mut self.state;
        let clients = world.clients.len();
        let is_new = |place: usize| self.parts.new.contains(place);
        for place in (0..clients).filter(|place| is_new(*place)) {
            world.clients[place] = before.clients[place];
        }
        if is_new(clients) {
            world.server.clone_from(&before.server);
        }
        if is_new(clients + 1) {
            world.resource = before.resource;
            monitor.clone_from(&before.monitor);
        }
        let (now, then) = (world.network.places(), before.network.places());
        let has_other_messages = now.len() != then.len() || self.parts.has_new_messages(clients);
        if has_other_messages {
            world.network.clone_from(&before.network);
        }
        self.parts.undo(&before.parts, clients, has_other_messages);
        world.now = before.now;
        world.left = before.left;
        world.cuts.clone_from(&before.cuts);
    }
}

impl NormalForm {
    /// That of a scenario, in which some clients are interchangeable.
    pub(crate) fn new<P: Service>(scenario: &Scenario<P>, symmetry: Symmetry) -> Self {
        NormalForm { rules: Rules::of(scenario), symmetry, unheard: Unheard::none(), mutation: scenario.mutation }
    }

    /// The same without messages to which no process reacts.
    pub(crate) fn without(mut self, unheard: Unheard) -> Self {
        self.unheard = unheard;
        self
    }

    /// Which messages are left out.
    pub(crate) fn unheard(&self) -> Unheard {
        self.unheard
    }

    /// Which clients are interchangeable.
    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// Brings a world into form.
    pub(crate) fn form<P: Service>(&self, mut state: Observed<P>) -> Formed<P> {
        let mut parts = Parts::default();
        self.bring(&mut state, &mut parts);
        Formed { state, parts }
    }

    /// Brings a world into form in which one step was taken, by the processes that it touched; before it, it was like the
    /// other one.
    pub(crate) fn renew<P: Service>(&self, next: &mut Formed<P>, before: &Formed<P>, touched: &[ProcessId]) {
        self.keep(next, before, touched);
        self.finish(&mut next.state, &mut next.parts);
    }

    /// The same, but clients may be left where they are: then the answer is true, and they are to change places as parts. They cannot, and have
    /// changed places already, where the names of calls are told by the names of clients.
    pub(super) fn renew_in_place<P: Service>(
        &self,
        next: &mut Formed<P>,
        before: &Formed<P>,
        touched: &[ProcessId],
    ) -> bool {
        self.keep(next, before, touched);
        let Formed { state, parts } = next;
        let is_careless = self.mutation == Some(CheckerMutation::TakenIgnoresClosedCalls.into());
        let is_placed = self.name(state, parts) && !is_careless;
        if is_placed {
            self.arrange(state, parts);
        }
        parts.sum_up(state);
        !is_placed
    }

    /// Keeps what is known of the parts that a step has left as they were.
    fn keep<P: Service>(&self, next: &mut Formed<P>, before: &Formed<P>, touched: &[ProcessId]) {
        let Formed { state, parts } = next;
        let touched = if self.mutation == Some(CheckerMutation::RenewalSparesServer.into()) {
            let is_server = |process: &&ProcessId| **process == ProcessId::Server;
            &touched[touched.iter().take_while(is_server).count()..]
        } else {
            touched
        };
        parts.keep(state, (&before.state, &before.parts), touched);
    }

    /// Brings a world into form of which nothing is known.
    fn bring<P: Service>(&self, state: &mut Observed<P>, parts: &mut Parts) {
        parts.forget(state);
        parts.outsides = state.clients.iter().map(|_| 0).collect();
        self.finish(state, parts);
    }

    fn finish<P: Service>(&self, state: &mut Observed<P>, parts: &mut Parts) {
        self.name(state, parts);
        self.arrange(state, parts);
        parts.sum_up(state);
    }

    /// Lets interchangeable clients stand in the order of what can be seen of them.
    fn arrange<P: Service>(&self, state: &mut Observed<P>, parts: &mut Parts) {
        if self.symmetry.is_none() {
            return;
        }
        for place in (0..state.clients.len()).filter(|place| parts.new.contains(*place)) {
            parts.outsides[place] = outside::<P>(place, &state.clients[place]);
        }
        let held = &state.monitor.ghosts.held;
        let outside = |place: usize| parts.outsides[place] ^ u64::from(held[place].0);
        let order = self.symmetry.order(state.clients.len(), outside, |place| traces_in(state, place));
        let Some(order) = order else { return };
        arrange(state, &order);
        parts.arrange(&order);
        // Where closed calls occur is told with the names of clients.
        if parts.has_closed_calls(state) {
            name_closed_calls(&mut state.world);
            parts.look_again(state, &self.rules);
        }
        if self.mutation != Some(CheckerMutation::ArrangedMessagesUnsorted.into()) {
            parts.order(state);
        }
        parts.hash(state);
    }

    /// Gives everything that is new its name, and each of these parts its hash. Whether there are closed calls, which are named by where they occur.
    fn name<P: Service>(&self, state: &mut Observed<P>, parts: &mut Parts) -> bool {
        let shift = state.now - Instant::START;
        let server = state.clients.len();
        if shift != Ticks::ZERO {
            // What it remembers may be meaningless by now.
            parts.new.add(server);
        }
        if parts.new.contains(server) {
            let more = Ticks::new(i64::from(self.mutation == Some(CheckerMutation::ServerSettlesTooEarly.into())));
            let oldest = state.clock(ProcessId::Server) - self.rules.horizon.back + more;
            state.world.server.process.settle(oldest);
        }
        parts.look(state, &self.rules);
        parts.leave_out(state, self.unheard);
        parts.rename(state, &self.rules, shift);
        let has_closed_calls = parts.has_closed_calls(state);
        if has_closed_calls {
            name_closed_calls(&mut state.world);
            parts.look_again(state, &self.rules);
        }
        if self.mutation != Some(CheckerMutation::NowIsKept.into()) {
            state.world.now = Instant::START;
        }
        parts.order(state);
        parts.hash(state);
        has_closed_calls
    }
}
