//! The normal form: worlds that differ only in values without absolute meaning become equal, and so do worlds that differ only
//! in who is who among interchangeable clients.
//!
//! Instants are shifted so that now is 0, and what lies further back than any comparison looks is clamped (Lamport,
//! CHARME 2005). Indexes, tenures, calls and the numbers of sessions keep their order only. Interchangeable clients stand in
//! the order of what can be seen of them. Without symmetry the normal form is what the model calls the representative.

use std::ops::Deref;

use fencepost_model::ids::ProcessId;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::World;

use super::names::Rules;
use super::parts::Parts;
use super::symmetry::{Symmetry, arrange, outside, traces_in};

/// How the worlds of a scenario are brought into normal form.
#[derive(Clone, Debug)]
pub(crate) struct NormalForm {
    pub(super) rules: Rules,
    pub(super) symmetry: Symmetry,
    mutation: Option<Mutation>,
}

/// A world in normal form.
#[derive(Debug)]
pub(crate) struct Formed<P: Service> {
    pub(super) world: World<P>,
    pub(super) parts: Parts,
}

impl<P: Service> Clone for Formed<P> {
    fn clone(&self) -> Self {
        Formed { world: self.world.clone(), parts: self.parts.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.world.clone_from(&other.world);
        self.parts.clone_from(&other.parts);
    }
}

impl<P: Service> Deref for Formed<P> {
    type Target = World<P>;
    fn deref(&self) -> &World<P> {
        &self.world
    }
}

impl<P: Service> Formed<P> {
    /// 64 bits that tell it from other worlds; the same on every machine.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.parts.fingerprint
    }

    /// The world, to take a step in; afterwards it has to be [brought into form](NormalForm::renew) again.
    pub(crate) fn world_mut(&mut self) -> &mut World<P> {
        &mut self.world
    }

    /// Takes back a step from a world, after it was brought into form.
    pub(crate) fn undo(&mut self, before: &Self) {
        let clients = self.world.clients.len();
        let is_new = |place: usize| self.parts.new.contains(place);
        for place in (0..clients).filter(|place| is_new(*place)) {
            self.world.clients[place] = before.world.clients[place];
        }
        if is_new(clients) {
            self.world.server.clone_from(&before.world.server);
        }
        if is_new(clients + 1) {
            self.world.resource = before.world.resource;
            self.world.ghosts.clone_from(&before.world.ghosts);
        }
        let (now, then) = (self.world.network.places(), before.world.network.places());
        let has_other_messages = now.len() != then.len() || self.parts.has_new_messages(clients);
        if has_other_messages {
            self.world.network.clone_from(&before.world.network);
        }
        self.parts.undo(&before.parts, clients, has_other_messages);
        self.world.now = before.world.now;
        self.world.left = before.world.left;
        self.world.cuts.clone_from(&before.world.cuts);
    }
}

impl NormalForm {
    /// That of a scenario, in which some clients are interchangeable.
    pub(crate) fn new<P: Service>(scenario: &Scenario<P>, symmetry: Symmetry) -> Self {
        NormalForm { rules: Rules::of(scenario), symmetry, mutation: scenario.mutation }
    }

    /// Which clients are interchangeable.
    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// Brings a world into form.
    pub(crate) fn form<P: Service>(&self, mut world: World<P>) -> Formed<P> {
        let mut parts = Parts::default();
        self.bring(&mut world, &mut parts);
        Formed { world, parts }
    }

    /// Brings a world into form in which one step was taken, by the processes that it touched; before it, it was like the
    /// other one.
    pub(crate) fn renew<P: Service>(&self, next: &mut Formed<P>, before: &Formed<P>, touched: &[ProcessId]) {
        let Formed { world, parts } = next;
        let touched = if self.mutation == Some(CheckerMutation::RenewalSparesServer.into()) {
            let is_server = |process: &&ProcessId| **process == ProcessId::Server;
            &touched[touched.iter().take_while(is_server).count()..]
        } else {
            touched
        };
        parts.keep(world, (&before.world, &before.parts), touched);
        self.finish(world, parts);
    }

    /// Brings a world into form of which nothing is known.
    fn bring<P: Service>(&self, world: &mut World<P>, parts: &mut Parts) {
        parts.forget(world);
        parts.outsides = world.clients.iter().map(|_| 0).collect();
        self.finish(world, parts);
    }

    fn finish<P: Service>(&self, world: &mut World<P>, parts: &mut Parts) {
        self.name(world, parts);
        if !self.symmetry.is_none() {
            for place in (0..world.clients.len()).filter(|place| parts.new.contains(*place)) {
                parts.outsides[place] = outside::<P>(place, &world.clients[place]);
            }
            let outside = |place: usize| parts.outsides[place] ^ u64::from(world.ghosts.held[place].0);
            let order = self.symmetry.order(world.clients.len(), outside, |place| traces_in(world, place));
            if let Some(order) = order {
                arrange(world, &order);
                parts.arrange(&order);
                if self.mutation != Some(CheckerMutation::ArrangedMessagesUnsorted.into()) {
                    parts.order(world);
                }
                parts.hash(world);
            }
        }
        parts.sum_up(world);
    }

    /// Gives everything that is new its name, and each of these parts its hash.
    fn name<P: Service>(&self, world: &mut World<P>, parts: &mut Parts) {
        let shift = world.now - Instant::START;
        let server = world.clients.len();
        if shift != Ticks::ZERO {
            // What it remembers may be meaningless by now.
            parts.new.add(server);
        }
        if parts.new.contains(server) {
            let more = Ticks::new(i64::from(self.mutation == Some(CheckerMutation::ServerSettlesTooEarly.into())));
            let oldest = world.clock(ProcessId::Server) - self.rules.horizon.back + more;
            world.server.process.settle(oldest);
        }
        parts.look(world, &self.rules);
        parts.rename(world, &self.rules, shift);
        if self.mutation != Some(CheckerMutation::NowIsKept.into()) {
            world.now = Instant::START;
        }
        parts.order(world);
        parts.hash(world);
    }
}
