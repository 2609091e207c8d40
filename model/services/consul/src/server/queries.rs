//! Blocking queries: parked requests, answered in the step that changes what they watch.

use serde::{Deserialize, Serialize};

use super::{Asker, Server};
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{Answer, ConsulMessage, Prefix, Target, Timer, Watch};
use fencepost_model::ids::{Call, ClientId, Index};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::{Deadline, Instant, Ticks};

/// A waiting blocking query.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Parked {
    client: ClientId,
    #[normal(of = client)]
    call: Call,
    target: Target,
    index: Index,
    until: Option<Deadline>,
    /// Whether the leader asks the others before it answers (C-CON-3).
    is_consistent: bool,
}

impl Parked {
    pub(super) fn asker(&self) -> Asker {
        (self.client, self.call)
    }
}

impl Server {
    /// C-BLK-1: answered at once if the index is already higher, or 0; otherwise it waits. A client has one query for a
    /// target at a time: an older query belongs to a closed connection and is dropped.
    pub(super) fn watch(
        &mut self,
        (client, call): Asker,
        watch: Watch,
        is_consistent: bool,
        context: &Context<'_, Consul>,
    ) -> Option<Answer> {
        let Watch { target, index, wait } = watch;
        let read = self.memory_for(client);
        if index == Index::NONE || read.has_passed(target, index, context) {
            return Some(read.look(target, context));
        }
        if !context.is_mutated(ConsulMutation::WatchForgotten) {
            let is_endless = context.is_mutated(ConsulMutation::QueryDeadlineForgotten);
            // C-BLK-2: a wait of 0 is none.
            let until = wait.filter(|wait| *wait > Ticks::ZERO && !is_endless).map(|wait| Deadline(context.now + wait));
            self.parked.retain(|parked| (parked.client, parked.target) != (client, target));
            self.parked.insert_sorted(Parked { client, call, target, index, until, is_consistent });
        }
        None
    }

    /// C-BLK-5: a key's watch wakes for changes of that key only; a prefix's for changes below it. An absent key was
    /// deleted or never existed: its index is that of the whole table, which is higher than any index that the client
    /// knows.
    fn has_passed(&self, target: Target, index: Index, context: &Context<'_, Consul>) -> bool {
        match target {
            Target::Key(key) if context.is_mutated(ConsulMutation::DeletionWakesNobody) => {
                self.entry(key).is_some_and(|entry| entry.modify > index)
            }
            Target::Key(key) => self.entry(key).is_none_or(|entry| entry.modify > index),
            Target::Prefix => self.prefix_index(Prefix::Semaphore) > index,
            Target::Keys(prefix) => self.prefix_index(prefix) > index,
        }
    }

    fn look(&self, target: Target, context: &Context<'_, Consul>) -> Answer {
        match target {
            Target::Key(key) => self.get(key),
            Target::Prefix => Answer::Listed(self.list(context)),
            Target::Keys(prefix) => self.key_list(prefix),
        }
    }

    /// C-BLK-8: the response is the current state, not the changes in between.
    pub(crate) fn answer_watchers(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        // C-BLK-9: a query that waits at a deposed leader is not answered.
        let hears = |server: &Server, parked: &Parked| !server.is_behind(parked.client);
        while let Some(place) = self
            .parked
            .iter()
            .position(|parked| hears(self, parked) && self.has_passed(parked.target, parked.index, context))
        {
            self.unpark(place, context, out);
        }
    }

    fn unpark(&mut self, place: usize, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Parked { client, call, target, .. } = self.parked.remove(place);
        let answer = self.memory_for(client).look(target, context);
        out.send(client.into(), ConsulMessage::Response(call, answer));
    }

    /// C-BLK-10: a consistent query that wakes up where there is no leader any more fails.
    pub(super) fn fail_consistent(
        &mut self,
        client: ClientId,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        while let Some(place) = self.parked.iter().position(|parked| {
            parked.client == client && parked.is_consistent && self.has_passed(parked.target, parked.index, context)
        }) {
            let Parked { call, .. } = self.parked.remove(place);
            out.send(client.into(), ConsulMessage::Response(call, Answer::NoLeader));
        }
    }

    /// C-BLK-1, C-BLK-9: at the deadline the response is what the last run has seen, changed or not: at a deposed leader its memory.
    pub(super) fn query_is_over(&mut self, asker: Asker, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let place = self.parked.iter().position(|parked| parked.asker() == asker);
        if let Some(place) = place {
            self.unpark(place, context, out);
        }
    }

    /// C-BLK-9: the loss of a leader does not interrupt them.
    pub(super) fn query_wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        for parked in &self.parked {
            if let Some(until) = parked.until {
                due(Timer::Deadline(parked.client, parked.call), until.0);
            }
        }
    }
}
