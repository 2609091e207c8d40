//! The servers as one process: their log, and the leader's memory. A request is one atomic step with one
//! log position (C-GEN-3).
//!
//! ```text
//! kv          the store                          sessions     their life and end
//! lock_delay  keys that cannot be acquired yet   transaction  all or nothing
//! queries     blocking queries, parked           leader       outages, elections, restarts
//! catalog     nodes and checks                   agents       updates of the catalogue by gossip and agents
//! id_table    state for readers of the HTTP API   deposed      a deposed leader that does not know it
//! items       how nodes and checks were written        contender_queue    contender keys as a queue
//! reads       lists of sessions, keys and nodes
//! ```

mod agents;
mod assumed;
mod catalog;
mod contender_queue;
mod deposed;
mod id_table;
mod items;
mod kv;
mod leader;
mod lock_delay;
mod queries;
mod reads;
mod sessions;
mod transaction;

#[cfg(test)]
mod rules;

use serde::{Deserialize, Serialize};

use self::deposed::Deposed;
use self::id_table::IdTable;
use self::kv::Decided;
use self::leader::Held;
use self::lock_delay::Delay;
use self::queries::Parked;
use self::sessions::Row;
use super::clients::with_nodes;
use super::messages::{Answer, ConsulMessage, Entry, Key, LOCK, Opaque, Request, Slots, Timer};
use super::settings::Registers;
use super::{Consul, SessionUse};
use fencepost_model::ids::{Call, ClientId, Index, RawId, SessionId};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, StartTime};

pub use catalog::{Node, Status};
pub use id_table::{Query, QueryRefusal};
pub use items::ItemRecord;
pub use leader::ConsulFault;
pub use transaction::{Failure, OperationResult};

/// Consul's servers as one process. Lists without inline capacity belong to features that most scenarios do not use.
#[derive(PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[normal(settle = Server::forget_delays)]
pub struct Server {
    /// The position of the last log entry. C-GEN-4: every write uses one, with or without an effect.
    index: Index,
    /// Live sessions, by id.
    #[normal(sorted)]
    sessions: InlineVec<Row, 3>,
    /// Entries of the store, by key.
    #[normal(sorted)]
    entries: InlineVec<(Key, Entry), 1>,
    /// C-GEN-2: in memory only, by key.
    #[normal(sorted)]
    delays: InlineVec<Delay, 1>,
    /// The last session id given to each creator. C-SES-2: ids are always fresh.
    #[normal(sorted)]
    given: InlineVec<SessionId, 3>,
    /// The tombstones: positions of deletions, by the deleted name. C-KV-22.
    #[normal(sorted)]
    tombstones: InlineVec<(Key, Index), 1>,
    /// The instant since which there has been no leader.
    leaderless: Option<StartTime>,
    /// Acquires that the leader has accepted and the log has not applied yet, by client.
    #[normal(sorted)]
    decided: InlineVec<Decided, 0>,
    /// Requests that wait for a leader, in order of arrival.
    held: InlineVec<Held, 0>,
    /// Waiting blocking queries, by client.
    #[normal(sorted)]
    parked: InlineVec<Parked, 0>,
    /// The catalogue, by node; empty if the scenario does not use it.
    #[normal(sorted)]
    nodes: InlineVec<Node, 0>,
    /// The former leader, while it takes itself for the leader.
    deposed: Option<Box<Deposed>>,
    /// State for readers of the HTTP API; none without such readers.
    id_table: Option<Box<IdTable>>,
}

impl Clone for Server {
    fn clone(&self) -> Self {
        let mut copy = Server::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        let Server { index, sessions, entries, delays, given, tombstones, leaderless, .. } = other;
        let Server { decided, held, parked, nodes, deposed, id_table, .. } = other;
        (self.index, self.leaderless) = (*index, *leaderless);
        self.tombstones.clone_from(tombstones);
        self.deposed.clone_from(deposed);
        self.id_table.clone_from(id_table);
        self.sessions.clone_from(sessions);
        self.entries.clone_from(entries);
        self.delays.clone_from(delays);
        self.given.clone_from(given);
        self.decided.clone_from(decided);
        self.held.clone_from(held);
        self.parked.clone_from(parked);
        self.nodes.clone_from(nodes);
    }
}

/// The sender of a request, with its call.
type Asker = (ClientId, Call);

impl Server {
    /// The initial server, with the shared session if the scenario has one.
    pub(super) fn at_start(scenario: &Scenario<Consul>) -> (Server, Option<SessionId>) {
        let mut server = Server { index: Index::numbered(1), ..Server::default() };
        if scenario.service.has_catalog() {
            server.nodes = with_nodes(scenario).map(Node::of).collect();
        }
        if scenario.service.session != SessionUse::Shared {
            return (server, None);
        }
        let id = server.fresh_session(ClientId(1));
        server.sessions.push(Row { id, terms: scenario.service.terms(), expires: None, is_expiring: false });
        (server, Some(id))
    }

    /// C-GEN-3: what follows is one log entry.
    pub fn begin_entry(&mut self) {
        self.index = self.index.next();
    }

    /// The entry of a key.
    pub fn entry(&self, key: Key) -> Option<Entry> {
        self.entries.iter().find(|(other, _)| *other == key).map(|(_, entry)| *entry)
    }

    /// Keys that have an entry.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.entries.iter().map(|(key, _)| *key)
    }

    /// Live sessions.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> + '_ {
        self.sessions.iter().map(|row| row.id)
    }

    /// Whether there is a leader to answer.
    pub(super) fn has_leader(&self) -> bool {
        self.leaderless.is_none()
    }

    /// Nodes that the catalogue knows of.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.is_listed)
    }

    /// The sender that awaits a response, with its call.
    fn waiting(&self) -> impl Iterator<Item = Asker> {
        let parked = self.parked.iter().map(Parked::asker);
        let held = self.held.iter().map(Held::asker);
        self.decided.iter().map(Decided::asker).chain(held).chain(parked)
    }

    /// The content of the semaphore's coordination entry.
    pub(super) fn slots(&self) -> Option<Slots> {
        match self.entry(Key::Slots)?.value {
            Opaque::Slots(slots) => Some(slots),
            _ => None,
        }
    }

    /// Sessions that hold an entry below the semaphore's prefix.
    pub(super) fn contenders(&self) -> impl Iterator<Item = SessionId> + '_ {
        let below = self.entries.iter().filter(|(key, _)| key.is_below_prefix());
        below.filter_map(|(_, entry)| entry.session)
    }

    /// Checks the internal consistency: every held key's session exists, and no index is beyond the log.
    pub(super) fn inspect(&self) -> Result<(), String> {
        for (key, entry) in &self.entries {
            if let Some(session) = entry.session
                && self.row(session).is_none()
            {
                return Err(format!("{key} is held by {session}, which does not exist"));
            }
            if entry.modify > self.index || entry.create > entry.modify {
                return Err(format!(
                    "{key} was created at {} and modified at {}, but the log is at {}",
                    entry.create, entry.modify, self.index
                ));
            }
        }
        Ok(())
    }

    /// Whether a request changes nothing, now and later: a read does not, nor does the renewal of a session that is gone, for its id
    /// is never given again (C-SES-2).
    pub(super) fn only_answers(&self, request: &Request) -> bool {
        let has_leader = self.has_leader() && self.deposed.is_none();
        has_leader
            && match request {
                Request::Get(_) | Request::GetConsistent(_) | Request::FindSession => true,
                Request::List | Request::Before(_) | Request::Keys(_) | Request::Tree(_) => true,
                Request::SessionInfo(_) | Request::Sessions(_) => true,
                Request::Leader | Request::Nodes | Request::NodeHealth(_) => true,
                Request::RenewSession(session) => self.row(*session).is_none(),
                _ => false,
            }
    }

    /// Carries out a request of a client or of an operator. Without a response the request waits.
    pub(super) fn serve(
        &mut self,
        from: Option<Asker>,
        request: Request,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Answer> {
        if let Some(asker) = from.filter(|(client, _)| self.is_behind(*client)) {
            return self.ask_deposed(asker, request, context, out);
        }
        if request == Request::Leader {
            // Each server answers from what it knows, also without a leader.
            return Some(Answer::Leader(self.has_leader()));
        }
        if !self.has_leader() {
            return self.do_without_leader(from, request, context);
        }
        if let Some(answer) = self.read(request, context) {
            return Some(answer);
        }
        let client = from.map(|(client, _)| client);
        let answer = match request {
            Request::RenewSession(session) => self.renew_session(session, context, out),
            Request::GetConsistent(key) => self.get(key),
            Request::Watch(watch) => return self.watch(asker(from), watch, false, context),
            Request::WatchConsistent(watch) => return self.watch(asker(from), watch, true, context),
            Request::Acquire(claim) => return self.request_lock(from, claim, context, out),
            Request::Commit(transaction) => self.commit(asker(from).0, transaction, context, out),
            write => {
                self.index = self.index.next();
                match write {
                    Request::CreateSession(terms) => self.create_session(asker(from).0, terms, context, out),
                    Request::DestroySession(session) => self.destroy_session(session, context, out),
                    Request::Put { key, value, flags } => self.put(key, (value, flags), context, out),
                    Request::Cas { key, index, value, flags } => self.cas(key, index, (value, flags), context, out),
                    Request::Release(claim) => self.release(client, claim, context, out),
                    Request::Delete(key) => self.delete(key, context, out),
                    Request::DeleteCas { key, index } => self.delete_cas(key, index, context, out),
                    Request::DeleteTree(prefix) => self.delete_tree(prefix, context, out),
                    Request::SetCheck(..) | Request::DeregisterCheck(..) | Request::DeregisterNode(_) => {
                        self.change_catalog(write, context, out)
                    }
                    _ => unreachable!("reads and acquires were served above"),
                }
            }
        };
        Some(answer)
    }
}

impl Process<Consul> for Server {
    fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let first = self.first_in_queue(context);
        match input {
            Input::Message { from, message: Message::Service(ConsulMessage::Request(call, request)) } => {
                let asker = from.client().map(|client| (client, call));
                if let Some(answer) = self.serve(asker, request, context, out) {
                    out.send(from, ConsulMessage::Response(call, answer));
                }
            }
            Input::Wake(timer) => self.wake(timer, context, out),
            // Servers receive no responses, no messages of the resource and no commands.
            Input::Message { .. } | Input::Command(_) | Input::Choice(_) => {}
        }
        self.note_turn(first, context, out);
        self.answer_watchers(context, out);
    }

    fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        self.leader_wakes(scenario, due);
        self.deposed_wakes(scenario, due);
        if self.has_leader() {
            self.session_wakes(due);
            self.log_wakes(due);
            self.catalog_wakes(scenario, due);
        }
        self.query_wakes(due);
    }

    fn restarted(&self, _: &Scenario<Consul>) -> Self {
        self.clone()
    }
}

impl Server {
    fn wake(&mut self, timer: Timer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match timer {
            Timer::Expire(session) => self.timer_fires(session, context, out),
            Timer::Destroy(session) => self.expire(session, context, out),
            Timer::Apply(client, call) => self.apply((client, call), context, out),
            Timer::Deadline(client, call) => self.query_is_over((client, call), context, out),
            Timer::Elect => self.elect(false, context, out),
            Timer::ElectBehind => self.elect(true, context, out),
            Timer::StepDown => self.step_down(context, out),
            Timer::Revoke(session) => self.revoke(session, context, out),
            Timer::Suspect(node) => self.suspect(node, context, out),
            Timer::Reap(node) => self.deregister_node(node, context, out),
            Timer::CheckFails(node) => self.check_fails(node, context, out),
            Timer::Sync(node) => self.sync(node, context),
            // Clients' deadlines.
            Timer::Renew
            | Timer::Retry
            | Timer::GiveUp
            | Timer::Lapse
            | Timer::Unwatch
            | Timer::Rewatch
            | Timer::Kill
            | Timer::Program(_) => {}
        }
    }
}

impl Server {
    /// Removes the lock-delays that have ended, by the earliest instant that the clock may still show.
    fn forget_delays(&mut self, oldest: Instant) {
        self.delays.retain(|delay| !delay.until.is_due(oldest));
    }
}

/// Whether the fact is about the lock that the scenario judges.
fn is_lock(key: Key) -> bool {
    key == LOCK
}

/// Whether holding a contender key is holding a slot.
fn is_slot(key: Key, context: &Context<'_, Consul>) -> bool {
    let registers = context.scenario.service.semaphore.as_ref().map(|semaphore| semaphore.registers);
    matches!(key, Key::Contender(_)) && registers == Some(Registers::CountThenRegister)
}

/// The client behind a request; none for an operator.
fn asker(from: Option<Asker>) -> Asker {
    from.expect("only clients create sessions, watch and commit")
}
