//! What an elector does after it was told something: as the client of the model, and as the package's.

use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::Message;
use fencepost_model::world::Step;
use fencepost_observed_lease::{ObservedLease, ObservedLeaseMessage, Request};

use super::super::package::PackageMove;
use super::super::wire::{WireRequest, identity, milliseconds, modelled, time};
use super::{Sent, SideBySide};

/// What an elector does: the callbacks that it calls, and what it waits for then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElectorMove {
    /// `started` and `stopped`.
    pub callbacks: Vec<String>,
    /// What it waits for.
    pub next: NextMove,
}

/// What an elector waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextMove {
    /// The answer to a request.
    Answer(WireRequest),
    /// The end of a sleep, in milliseconds.
    Sleep(i64),
    /// Nothing: `run()` has ended in this way.
    Ended(String),
}

impl SideBySide<'_> {
    /// What a client of the model has done in a step, and its request, if there is one.
    pub(super) fn move_of(&mut self, client: ClientId, step: &Step<ObservedLease>) -> (ElectorMove, Option<Sent>) {
        let callbacks = step.facts.iter().filter_map(|fact| match fact {
            Fact::Entered { client: of, .. } if *of == client => Some("started".to_owned()),
            Fact::Left { client: of, .. } if *of == client => Some("stopped".to_owned()),
            _ => None,
        });
        let callbacks = callbacks.collect();
        let sent = step.sent.iter().copied().find(|envelope| envelope.from == ProcessId::from(client));
        let next = match sent.map(|envelope| envelope.message) {
            Some(Message::Service(ObservedLeaseMessage::Request(_, request))) => {
                NextMove::Answer(self.timed(client, request))
            }
            Some(other) => panic!("the elector sends {other}"),
            None => match self.wakes(client) {
                Some((at, _)) => NextMove::Sleep((at - self.world.now).count() * self.schedule.tick),
                None => NextMove::Ended("returned".to_owned()),
            },
        };
        (ElectorMove { callbacks, next }, sent)
    }

    /// A request of the model with the times that OL-K-21 says: renewTime is the beginning of the attempt, and acquireTime, too, unless
    /// the client has read its own name.
    fn timed(&mut self, client: ClientId, request: Request) -> WireRequest {
        let (now, tick, lock) = (self.now(), self.schedule.tick, self.schedule.lock);
        let plan = &self.schedule.electors[client.place()];
        let watched = &mut self.clients[client.place()];
        if request == Request::Get {
            watched.began = (now + plan.ahead) * tick;
            watched.read = None;
            let is_at_end = watched.observed.is_some_and(|(_, since)| since + plan.terms[0] == now);
            if is_at_end {
                self.count("at the very end of the lease");
            }
            return WireRequest::Get;
        }
        let began = time(watched.began);
        let read = watched.read.as_ref().map(|content| lock.record(content));
        let acquired = read.filter(|record| record.holder == identity(client)).map(|record| record.acquired);
        modelled(request, tick, &acquired.unwrap_or_else(|| began.clone()), &began)
    }

    /// What the package's elector has done.
    pub(super) fn real(&self, told: &PackageMove) -> ElectorMove {
        assert_eq!(told.timeout, None, "the package's requests have no timeout");
        let next = match told {
            PackageMove { ended: Some(how), .. } => NextMove::Ended(how.clone()),
            PackageMove { sleep: Some(seconds), .. } => NextMove::Sleep(milliseconds(*seconds)),
            PackageMove { method: Some(method), url: Some(url), .. } => {
                NextMove::Answer(self.schedule.lock.request(method, url, told.body.as_ref()))
            }
            other => panic!("elector.py says {other:?}"),
        };
        ElectorMove { callbacks: told.callbacks.clone(), next }
    }
}
