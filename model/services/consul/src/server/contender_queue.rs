//! Contender keys as a queue: the session with the oldest key has the lock. The store does not know that; this module
//! emits the facts for the monitor.

use super::Server;
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{Entry, Key};
use fencepost_model::fact::{Ending, Fact};
use fencepost_model::ids::{Index, RawId, SessionId, Token};
use fencepost_model::process::{Context, Outbox};

impl Server {
    /// Held contender keys, with their sessions.
    fn queue(&self) -> impl Iterator<Item = (SessionId, Entry)> + '_ {
        self.entries.iter().filter_map(|(key, entry)| match key {
            Key::Contender(_) => entry.session.map(|session| (session, *entry)),
            _ => None,
        })
    }

    /// The session with the oldest key, and its token.
    pub(crate) fn first(&self) -> Option<(SessionId, Token)> {
        let oldest = self.queue().min_by_key(|(_, entry)| entry.create);
        oldest.map(|(session, entry)| (session, entry.create.token()))
    }

    /// The newest of the keys that are older than this one, as a client finds it in a recursive read: its session, and
    /// the ModifyIndex from which it can be watched.
    /// the ModifyIndex from which it can be watched.
    pub(super) fn before(&self, index: Index, context: &Context<'_, Consul>) -> Option<(SessionId, Index)> {
        let counts_itself = context.is_mutated(ConsulMutation::QueueCountsItself);
        let older = self.queue().filter(|(_, entry)| entry.create < index || entry.create == index && counts_itself);
        older.max_by_key(|(_, entry)| entry.create).map(|(session, entry)| (session, entry.modify))
    }

    /// The same as [`Server::first`] if the lock is a queue; otherwise none.
    pub(crate) fn first_in_queue(&self, context: &Context<'_, Consul>) -> Option<(SessionId, Token)> {
        context.scenario.service.queue.and_then(|_| self.first())
    }

    /// When the first key ends, the lock passes to the session of the next key.
    pub(crate) fn note_turn(
        &self,
        before: Option<(SessionId, Token)>,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let now = self.first_in_queue(context);
        if now == before {
            return;
        }
        if let Some((session, _)) = before {
            let by = if self.row(session).is_none() { Ending::Invalidated } else { Ending::Deleted };
            out.record(Fact::Freed { by });
        }
        if let Some((session, token)) = now {
            out.record(Fact::Granted { client: session.raw().creator, token, fresh: true, stolen: false });
        }
    }
}
