//! A deposed leader that does not know it yet. It answers from its own memory: default reads (C-CON-2), renewals
//! (C-CON-5). Requests that need the other servers fail (C-CON-3, C-CON-6).

use serde::{Deserialize, Serialize};

use super::sessions::Row;
use super::{Asker, Server, reads};
use crate::ConsulMutation;
use crate::messages::{Answer, Entry, Key, Request, Target, Timer, Watch};
use crate::settings::{Renewals, Revocations, Settings};
use crate::{Consul, ConsulEvent};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, Index, SessionId};
use fencepost_model::inline_vec::InlineVec;
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
    #[normal(sorted)]
    entries: InlineVec<(Key, Entry), 1>,
    #[normal(sorted)]
    sessions: InlineVec<Row, 3>,
}

impl Server {
    /// The leader is cut off from the others, with or without a client.
    pub(super) fn depose(&mut self, with: Option<ClientId>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let (entries, sessions) = (self.entries.clone(), self.sessions.clone());
        self.deposed = Some(Box::new(Deposed { with, since: StartTime(context.now), entries, sessions }));
        self.lose_leader(context, out);
    }

    /// Whether the client can reach the old leader only.
    pub(super) fn is_behind(&self, client: ClientId) -> bool {
        self.deposed.as_ref().is_some_and(|deposed| deposed.with == Some(client))
    }

    /// The response of the deposed leader to a client that can reach no other server.
    pub(super) fn ask_deposed(
        &mut self,
        from: Option<Asker>,
        request: Request,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Answer> {
        let (client, _) = from?;
        let deposed = self.deposed.as_mut().filter(|deposed| deposed.with == Some(client))?;
        let entry = |wanted: Key| deposed.entries.iter().find(|(key, _)| *key == wanted).map(|(_, entry)| *entry);
        Some(match request {
            Request::Get(key) => entry(key).map_or(Answer::Absent, Answer::Found),
            Request::GetConsistent(key) if context.is_mutated(ConsulMutation::DeposedReadsConsistently) => {
                entry(key).map_or(Answer::Absent, Answer::Found)
            }
            Request::RenewSession(session) if context.scenario.service.servers.renewals == Renewals::FromMemory => {
                let Some(row) = deposed.sessions.iter_mut().find(|row| row.id == session) else {
                    return Some(Answer::UnknownSession);
                };
                row.expires = super::sessions::timer(&row.terms, context);
                out.record(Fact::Service(ConsulEvent::RenewedByDeposed(session)));
                Answer::Renewed
            }
            // C-CON-2: so is a default blocking query that has nothing to wait for.
            Request::Watch(Watch { target: Target::Key(key), index, .. })
                if index == Index(0) || entry(key).is_none_or(|entry| entry.modify > index) =>
            {
                entry(key).map_or(Answer::Absent, Answer::Found)
            }
            Request::SessionInfo(session) => reads::info(&deposed.sessions, session),
            Request::Sessions(node) => reads::list(&deposed.sessions, node),
            // It takes itself for the leader.
            Request::Leader => Answer::Leader(true),
            _ => Answer::NoLeader,
        })
    }

    pub(super) fn deposed_wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        let Some(deposed) = &self.deposed else { return };
        due(Timer::StepDown, deposed.since.0);
        if scenario.service.servers.revocations == Revocations::Forwarded && self.has_leader() {
            let expiring = deposed.sessions.iter().filter_map(|row| Some((row.id, row.expires?)));
            expiring.for_each(|(session, at)| due(Timer::Revoke(session), at.0));
        }
    }

    /// The deposed leader learns that it is no longer leader.
    pub(super) fn step_down(&mut self) {
        self.deposed = None;
    }

    /// The deposed leader proposes the end of a session, in a service whose servers forward the proposal without
    /// checking the term.
    pub(super) fn revoke(&mut self, session: SessionId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if let Some(deposed) = &mut self.deposed {
            deposed.sessions.retain(|row| row.id != session);
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
