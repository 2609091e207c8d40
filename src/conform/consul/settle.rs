//! Forgetting: a log may be long, and what makes no difference any more would be carried along for ever.

use fencepost_model::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::time::{Instant, Ticks};

use super::Agent;

impl Agent {
    /// Forgets what makes no difference from an instant on: lock-delays that are over, and how large the gaps between log
    /// positions are (C-GEN-4).
    pub fn settle(&mut self, oldest: Instant) {
        self.tidy(oldest);
        let mut all: Vec<Index> = vec![Index::NONE, Index::numbered(1), Index::numbered(u32::MAX)];
        self.each_index(&mut |index| all.push(*index));
        all.sort_unstable();
        all.dedup();
        self.names.forget_but(&all);
        all.extend(self.names.told());
        all.sort_unstable();
        all.dedup();
        let mut rank = |index: &mut Index| {
            let place = all.binary_search(index).expect("all were seen");
            *index = Index::numbered(u32::try_from(place).expect("few enough"));
        };
        self.each_index(&mut rank);
        self.names.renumber(rank);
    }

    /// Forgets lock-delays that are over at an instant, sessions that have ended, and checks that are not registered. Log
    /// positions stay as they are.
    pub fn tidy(&mut self, oldest: Instant) {
        self.server.settle(oldest);
        let server = &self.server;
        let live: Vec<SessionId> = server.sessions().collect();
        self.cards.retain(|card| live.binary_search(&card.id).is_ok());
        self.names.forget_checks(|node, kind| !server.is_listed(node) || server.check(node, kind).is_some());
    }

    /// Every log position, but for those that have been told.
    fn each_index(&mut self, each: &mut dyn FnMut(&mut Index)) {
        self.server.visit(&mut Indexes(each));
        self.cards.iter_mut().for_each(|card| each(&mut card.create));
    }
}

/// Sees log positions only.
struct Indexes<'a>(&'a mut dyn FnMut(&mut Index));

impl Visitor for Indexes<'_> {
    fn index(&mut self, index: &mut Index) {
        (self.0)(index);
    }

    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn elapsed(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}
    fn token(&mut self, _: &mut Token) {}
    fn tenure(&mut self, _: &mut Tenure) {}
    fn session(&mut self, _: &mut SessionId) {}
    fn call(&mut self, _: &mut Call) {}
    fn call_of(&mut self, _: ClientId, _: &mut Call) {}
    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
}
