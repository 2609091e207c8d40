//! A deposed leader that does not know it yet. It answers from its own memory: default reads (C-CON-2), renewals
//! (C-CON-5). A default query waits there for a change that it will not see (C-BLK-9). Requests that need the other servers fail
//! (C-CON-3, C-CON-6).

use serde::{Deserialize, Serialize};

use super::{Asker, Server};
use crate::ConsulMutation;
use crate::messages::{Answer, Request, Timer};
use crate::settings::{Renewals, Revocations, Settings};
use crate::{Consul, ConsulEvent};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, StartTime};

/// The deposed leader, with its memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Deposed {
    /// The client that can reach no other server, if there is one.
    with: Option<ClientId>,
    pub(super) since: StartTime,
    /// The servers as they were then, and what it has changed since. No request waits in it, and it writes no entries, so it needs no
    /// position of the log.
    memory: Server,
}

impl Server {
    /// The leader is cut off from the others, with or without a client.
    pub(super) fn depose(&mut self, with: Option<ClientId>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let memory = Server {
            sessions: self.sessions.clone(),
            entries: self.entries.clone(),
            tombstones: self.tombstones.clone(),
            nodes: self.nodes.clone(),
            ..Server::default()
        };
        self.deposed = Some(Box::new(Deposed { with, since: StartTime(context.now), memory }));
        self.lose_leader(context, out);
    }

    /// Whether the client can reach the old leader only.
    pub(super) fn is_behind(&self, client: ClientId) -> bool {
        self.deposed.as_ref().is_some_and(|deposed| deposed.with == Some(client))
    }

    /// What the client reads by default: the memory of the deposed leader if it can reach no other server.
    pub(super) fn memory_for(&self, client: ClientId) -> &Server {
        self.deposed.as_ref().filter(|deposed| deposed.with == Some(client)).map_or(self, |deposed| &deposed.memory)
    }

    /// The response of the deposed leader to a client that can reach no other server; none as long as its query waits.
    pub(super) fn ask_deposed(
        &mut self,
        asker: Asker,
        request: Request,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Answer> {
        if let Request::Watch(watch) = request {
            return self.watch(asker, watch, false, context);
        }
        let memory = &mut self.deposed.as_mut()?.memory;
        Some(match request {
            Request::GetConsistent(key) if context.is_mutated(ConsulMutation::DeposedReadsConsistently) => {
                memory.get(key)
            }
            Request::RenewSession(session) if context.scenario.service.servers.renewals == Renewals::FromMemory => {
                let Some(row) = memory.sessions.iter_mut().find(|row| row.id == session) else {
                    return Some(Answer::UnknownSession);
                };
                row.expires = super::sessions::timer(&row.terms, context);
                out.record(Fact::Service(ConsulEvent::RenewedByDeposed(session)));
                Answer::Renewed
            }
            // It takes itself for the leader.
            Request::Leader => Answer::Leader(true),
            read => memory.read(read, context).unwrap_or(Answer::NoLeader),
        })
    }

    pub(super) fn deposed_wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        let Some(deposed) = &self.deposed else { return };
        due(Timer::StepDown, deposed.since.0);
        if scenario.service.servers.revocations == Revocations::Forwarded && self.has_leader() {
            let expiring = deposed.memory.sessions.iter().filter_map(|row| Some((row.id, row.expires?)));
            expiring.for_each(|(session, at)| due(Timer::Revoke(session), at.0));
        }
    }

    /// The deposed leader learns that it is no longer leader. C-BLK-10: it runs the queries that wait at it again, and those that must
    /// be consistent fail.
    pub(super) fn step_down(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if let Some(client) = self.deposed.take().and_then(|deposed| deposed.with) {
            self.fail_consistent(client, context, out);
        }
    }

    /// The deposed leader proposes the end of a session, in a service whose servers forward the proposal without
    /// checking the term.
    pub(super) fn revoke(&mut self, session: SessionId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if let Some(deposed) = &mut self.deposed {
            deposed.memory.sessions.retain(|row| row.id != session);
        }
        if self.row(session).is_some() {
            self.expire(session, context, out);
        }
    }

    /// The instant by which the deposed leader must have learned that it is no longer leader.
    pub(super) fn must_step_down_by(&self, settings: &Settings) -> Option<Instant> {
        Some(self.deposed.as_ref()?.since + settings.servers.lingers_max?)
    }
}
