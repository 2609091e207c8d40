//! Clients at other places: the same world with other names.

use super::Observed;
use crate::ids::{ClientId, ProcessId};
use crate::normal::Normal;
use crate::programs::ScenarioProgram;
use crate::scenario::Scenario;
use crate::service::{Service, Settings as _};
use crate::world::Rename;

impl<P: Service> Scenario<P> {
    /// Whether nothing in the scenario distinguishes two clients that start alike: the service treats them alike, their clocks have the same
    /// offset, and they run the same program.
    pub fn treats_alike(&self, one: ClientId, other: ClientId) -> bool {
        self.service.are_alike(one, other)
            && self.clocks.offset(one.into()) == self.clocks.offset(other.into())
            && self.runs_alike(one, other)
    }

    /// Whether two clients that start alike run the same program. After a prefix a client may have crashed: then its state does not show with which
    /// value it will begin again.
    pub fn runs_alike(&self, one: ClientId, other: ClientId) -> bool {
        ScenarioProgram::are_alike(&self.programs, (one, other), self.prefix.is_empty())
    }
}

impl<P: Service> Observed<P> {
    /// The same world in which clients have changed places: for each place, `order` has the place of the client that stands there afterwards.
    /// Each client has the name of its new place, wherever it is named.
    ///
    /// # Panics
    /// `order` has a place that no client has.
    #[must_use]
    pub fn arranged(&self, order: &[usize]) -> Self {
        let new_name = |client: ClientId| {
            let place = order.iter().position(|from| ClientId::of(*from) == client);
            place.map_or(client, ClientId::of)
        };
        let rename = |process: &mut ProcessId| {
            if let ProcessId::Client(client) = process {
                *client = new_name(*client);
            }
        };
        let mut arranged = self.clone();
        let Observed { world, monitor } = &mut arranged;
        for (place, from) in order.iter().enumerate() {
            world.clients[place] = self.clients[*from];
        }
        // What is remembered by place.
        for (held, from) in monitor.ghosts.held.iter_mut().zip(order) {
            *held = self.monitor.ghosts.held[*from];
        }
        let mut names = Rename::permuting(&new_name);
        world.visit(&mut names);
        monitor.visit(&mut names);
        for envelope in world.network.slots() {
            rename(&mut envelope.from);
            rename(&mut envelope.to);
            envelope.message.sort();
        }
        for link in world.cuts.iter_mut() {
            rename(&mut link.from);
            rename(&mut link.to);
        }
        world.cuts.sort_unstable();
        world.sort();
        monitor.sort();
        arranged
    }
}
