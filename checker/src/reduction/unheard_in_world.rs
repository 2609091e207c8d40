//! The messages of a whole world to which no process reacts: for the engine that keeps worlds whole, and for laws.

use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Envelope;

use super::names::{Looking, Rules};
use super::parts::visit;
use super::piece::Layout;
use super::unheard::{About, Unheard};

impl Unheard {
    /// The messages of a world to which no process reacts.
    pub(crate) fn in_world<P: Service>(self, scenario: &Scenario<P>, world: &Observed<P>) -> Vec<Envelope<P>> {
        let (rules, layout) = (Rules::of(scenario), Layout::of(world.clients.len()));
        let mut copy = world.clone();
        let mut look = |place: usize| {
            let mut looking = Looking::new(&rules);
            visit(&mut copy, place, &mut looking);
            looking.look
        };
        let mut unheard = Vec::new();
        for (place, envelope) in world.network.places().iter().enumerate() {
            let message = look(layout.server + 2 + place);
            let answers = || self.only_answers(&world.server.process, envelope);
            if self.contains(About::of(envelope), &message, |client| look(client.place()), answers) {
                unheard.push(*envelope);
            }
        }
        unheard
    }
}
