//! The server: one log, applied at once. A request is one atomic step with one log position (C-GEN-3).
//!
//! `kv` is the store, `sessions` their life and end, `lock_delay` the table of keys that cannot be acquired yet.

mod kv;
mod lock_delay;
mod sessions;

#[cfg(test)]
mod rules;

use serde::{Deserialize, Serialize};

use self::lock_delay::Delay;
use self::sessions::Row;
use super::messages::{Answer, Entry, Key, LOCK, Request, Text, Timer};
use super::{Consul, SessionUse};
use crate::ids::{ClientId, Index, SessionId};
use crate::list::List;
use crate::process::{Context, Input, Message, Outbox, Process};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::world::normal::{Normal, Visitor};

/// Consul's servers as one: what their log says, the leader's TTL timers and lock-delay table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Server {
    /// The position of the last log entry. C-GEN-4: every write uses one up, useful or not.
    index: Index,
    /// Live sessions, by id.
    sessions: List<Row, 3>,
    /// Entries of the store, by key.
    entries: List<(Key, Entry), 1>,
    /// C-GEN-2: in memory only, by key.
    delays: List<Delay, 1>,
    /// The last session id given to each creator. C-SES-2: ids are always fresh.
    given: List<SessionId, 3>,
}

impl Server {
    /// The server at the start, and the session that everybody shares where the scenario wants one.
    pub(super) fn at_start(scenario: &Scenario<Consul>) -> (Server, Option<SessionId>) {
        let mut server = Server { index: Index(1), ..Server::default() };
        if scenario.service.session == SessionUse::Own {
            return (server, None);
        }
        let id = server.fresh_session(ClientId(1));
        server.sessions.push(Row { id, terms: scenario.service.terms(), expires: None });
        (server, Some(id))
    }

    /// The entry of a key.
    pub fn entry(&self, key: Key) -> Option<Entry> {
        self.entries.iter().find(|(other, _)| *other == key).map(|(_, entry)| *entry)
    }

    /// Live sessions.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> + '_ {
        self.sessions.iter().map(|row| row.id)
    }

    /// Whether the bookkeeping is in order: every held key's session lives, and no key is from the future.
    pub(super) fn inspect(&self) -> Result<(), String> {
        for (key, entry) in &self.entries {
            if let Some(session) = entry.session
                && self.row(session).is_none()
            {
                return Err(format!("{key} is held by {session}, which does not exist"));
            }
            if entry.modify > self.index || entry.create > entry.modify {
                return Err(format!(
                    "{key} was created at {} and modified at {}, and the log is at {}",
                    entry.create, entry.modify, self.index
                ));
            }
        }
        Ok(())
    }

    /// Carries out a request of a client, or of somebody from outside.
    pub(super) fn serve(
        &mut self,
        from: Option<ClientId>,
        request: Request,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        match request {
            Request::CreateSession(terms) => self.create_session(from, terms, context, out),
            Request::RenewSession(session) => self.renew_session(session, context, out),
            Request::DestroySession(session) => self.destroy_session(session, context, out),
            Request::Get(key) => self.get(key),
            Request::Put { key, value, flags } => self.put(key, value, flags, context),
            Request::Cas { key, index, value, flags } => self.cas(key, index, value, flags, context),
            Request::Acquire(claim) => self.acquire(asker(from), claim, context, out),
            Request::Release(claim) => self.release(from, claim, context, out),
            Request::Delete(key) => self.delete(key, context, out),
            Request::DeleteCas { key, index } => self.delete_cas(key, index, context, out),
        }
    }
}

impl Process<Consul> for Server {
    fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match input {
            Input::Message { from, message: Message::Service(Text::Ask(call, request)) } => {
                let answer = self.serve(from.client(), request, context, out);
                out.send(from, Text::Tell(call, answer));
            }
            Input::Wake(Timer::Expire(session)) => self.expire(session, context, out),
            // Answers, the resource's words, wishes and clients' deadlines are not for servers.
            Input::Message { .. } | Input::Wake(_) | Input::Command(_) | Input::Choice(_) => {}
        }
    }

    fn wakes(&self, _: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        for row in &self.sessions {
            if let Some(expires) = row.expires {
                due(Timer::Expire(row.id), expires);
            }
        }
    }

    fn restarted(&self, _: &Scenario<Consul>) -> Self {
        self.clone()
    }
}

impl Normal for Server {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        for row in self.sessions.iter_mut() {
            visitor.session(&mut row.id);
            if let Some(expires) = &mut row.expires {
                visitor.deadline(expires);
            }
        }
        for (_, entry) in self.entries.iter_mut() {
            entry.visit(visitor);
        }
        for delay in self.delays.iter_mut() {
            visitor.deadline(&mut delay.until);
        }
        visitor.index(&mut self.index);
        for id in self.given.iter_mut() {
            visitor.session(id);
        }
    }

    fn settle(&mut self, oldest: Instant) {
        self.delays.retain(|delay| delay.until > oldest);
    }

    fn sort(&mut self) {
        self.sessions.sort_unstable();
    }
}

/// Whether the fact is about the lock that the scenario judges.
fn is_lock(key: Key) -> bool {
    key == LOCK
}

/// The client behind a request; an operator acts for nobody.
fn asker(from: Option<ClientId>) -> ClientId {
    from.expect("only clients acquire and create sessions")
}
