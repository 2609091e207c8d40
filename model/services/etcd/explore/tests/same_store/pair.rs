//! Both stores, and one step of them.

use std::collections::BTreeMap;

use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, EtcdRefusal, Mvcc, RangeRead};
use fencepost_etcd::{
    Cluster, Etcd, EtcdMessage, EtcdMutation, Key, OperatorAction, OperatorKind, Request, Response, Shown, Timer,
};
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, RawId, SessionId};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};

use super::follows::Follows;
use super::names::{index, number, one, shifted, shown};

/// One step.
#[derive(Copy, Clone, Debug)]
pub(super) enum StoreStep {
    /// A client asks.
    Ask(ClientId, Request),
    /// An operator acts.
    Operate(OperatorKind),
    /// The scan finds the lease that is overdue first.
    Expire,
    /// Time passes.
    Pass(i64),
}

/// An answer of the first store: to whom, on which call.
pub(super) type Told = (ClientId, Call, Response);

/// A watch that has not been answered: of which key, from which revision on.
#[derive(Copy, Clone)]
struct OpenWatch {
    client: ClientId,
    call: Call,
    key: Key,
    from: Index,
}

/// Both stores.
pub(super) struct Pair {
    scenario: Scenario<Etcd>,
    cluster: Cluster,
    pub(super) mvcc: Mvcc,
    now: Instant,
    call: Call,
    watches: Vec<OpenWatch>,
    /// Renewals of overdue leases, which wait.
    renewals: BTreeMap<(ClientId, SessionId), Call>,
    /// Who created the key with this create revision.
    pub(super) creators: BTreeMap<i64, ClientId>,
    /// The keys that were seen, and at which revision of the store.
    pub(super) seen: Vec<(Key, Index)>,
    /// The events, and who watches them.
    pub(super) follows: Follows,
}

impl Pair {
    pub(super) fn new(mutation: Option<EtcdMutation>) -> Self {
        let mut scenario = Scenario::<Etcd>::new("same-store").service(|settings| settings.history = true);
        scenario.mutation = mutation.map(Mutation::from);
        Pair {
            scenario,
            cluster: Cluster::default(),
            mvcc: Mvcc::default(),
            now: Instant::at(0),
            call: Call(0),
            watches: Vec::new(),
            renewals: BTreeMap::new(),
            creators: BTreeMap::new(),
            seen: Vec::new(),
            follows: Follows::default(),
        }
    }

    /// When the scan of the first store finds which lease: at the end of its TTL.
    fn scanned(&self) -> Vec<(Instant, SessionId)> {
        let mut due = Vec::new();
        self.cluster.wakes(&self.scenario, &mut |timer, at| {
            if let Timer::Revoke(lease) = timer {
                due.push((at, lease));
            }
        });
        due
    }

    /// One step of both. What both have said; or what differs.
    pub(super) fn step(&mut self, step: StoreStep, by_recipe: bool) -> Result<Vec<Told>, String> {
        let mut out = Outbox::new();
        let mut expected: Vec<Told> = Vec::new();
        let (mut ended, mut asked) = (None, None);
        let (scanned, keys, revision) = (self.scanned(), self.waiting(), self.mvcc.revision());
        let overdue: Vec<SessionId> =
            scanned.iter().filter(|(at, _)| *at <= self.now).map(|(_, lease)| *lease).collect();
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        match step {
            StoreStep::Ask(client, request) => {
                self.call = self.call.next();
                asked = Some(self.call);
                let message = Message::Service(EtcdMessage::Request(self.call, request));
                self.cluster.on(Input::Message { from: client.into(), message }, &context, &mut out);
                if let Request::Revoke(lease) = request {
                    ended = Some(lease);
                }
                let is_held = matches!(request, Request::Renew(_)) && out.messages().is_empty();
                if let Request::Renew(lease) = request
                    && is_held != overdue.contains(&lease)
                {
                    return Err(format!("a renewal of {lease}, held: {is_held}"));
                }
                match request {
                    Request::Follow(range, cursor) => {
                        expected.extend(self.follows.ask(&mut self.mvcc, (client, self.call), range, cursor)?);
                    }
                    Request::Watch(key, from) => self.watches.push(OpenWatch { client, call: self.call, key, from }),
                    Request::Renew(lease) if is_held => drop(self.renewals.insert((client, lease), self.call)),
                    request => expected.push((client, self.call, self.answer(client, request, by_recipe))),
                }
            }
            StoreStep::Operate(kind) => {
                Etcd::operate(&mut self.cluster, OperatorAction(kind), &context, &mut out);
                ended = self.operate(kind);
            }
            StoreStep::Expire => {
                if let Some((at, lease)) = scanned.into_iter().min() {
                    self.now = self.now.max(at);
                    let context = Context { now: self.now, ..context };
                    self.cluster.on(Input::Wake(Timer::Revoke(lease)), &context, &mut out);
                    self.mvcc.revoke(number(lease)).map_err(|_| format!("{lease} expires, and does not exist"))?;
                    ended = Some(lease);
                }
            }
            StoreStep::Pass(ticks) => self.now += Ticks::new(ticks),
        }
        if let Some(lease) = ended {
            let over = |held: &(ClientId, SessionId)| held.1 == lease;
            let answers = self.renewals.iter().filter(|(held, _)| over(held));
            expected.extend(answers.map(|((client, _), call)| (*client, *call, Response::NoLease)));
            self.renewals.retain(|held, _| !over(held));
        }
        self.watched(asked, &mut expected);
        expected.extend(self.follows.happen(&mut self.mvcc, revision, &keys));
        let mut told: Vec<Told> = out.messages().iter().map(told).collect();
        told.sort_unstable();
        expected.sort_unstable();
        if told != expected {
            return Err(format!("{told:?} of the world's store, {expected:?} of the API's"));
        }
        self.compare()?;
        Ok(told)
    }

    /// The watches that are over: their key was absent at some revision since, or a revision that they need is compacted (E-W-2, E-W-5).
    fn watched(&mut self, asked: Option<Call>, expected: &mut Vec<Told>) {
        for watch in std::mem::take(&mut self.watches) {
            let (from, now) = (shifted(watch.from), self.mvcc.revision());
            let mut at = |revision| self.mvcc.ask(&EtcdCall::Range(RangeRead { revision, ..one(watch.key) }));
            // One that began before the compaction has told of everything up to it.
            if asked == Some(watch.call) && at(from) == EtcdAnswer::Refused(EtcdRefusal::Compacted) {
                expected.push((watch.client, watch.call, Response::Compacted));
            } else if (from..=now).any(|revision| matches!(at(revision), EtcdAnswer::Range { count: 0, .. })) {
                expected.push((watch.client, watch.call, Response::Deleted));
            } else {
                self.watches.push(watch);
            }
        }
    }

    /// The keys, and the token, are the same.
    fn compare(&mut self) -> Result<(), String> {
        let expected: Vec<Shown> = self.waiting().iter().map(shown).collect();
        let token = expected.first().map_or(0, |oldest| oldest.created.raw());
        let mut found = Vec::new();
        let mut before = Index::numbered(u32::MAX);
        let mut cluster = self.cluster.clone();
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        while found.len() <= expected.len() {
            let mut out = Outbox::new();
            let message = Message::Service(EtcdMessage::Request(Call(0), Request::Newest(before)));
            cluster.on(Input::Message { from: ClientId(1).into(), message }, &context, &mut out);
            match told(&out.messages()[0]) {
                (_, _, Response::Found(Some(next), _)) => {
                    found.insert(0, next);
                    before = next.created;
                }
                (_, _, Response::Found(None, now)) if now == index(self.mvcc.revision()) => break,
                other => return Err(format!("{other:?}, and the API's store is at {}", self.mvcc.revision())),
            }
        }
        let shows = Etcd::record(&self.cluster, &self.scenario).token.raw();
        if found != expected || shows != token {
            return Err(format!(
                "keys {found:?} of the world's store, {expected:?} of the API's; tokens {shows}, {token}"
            ));
        }
        Etcd::inspect(&self.cluster)
    }
}

fn told((to, message): &(ProcessId, Message<Etcd>)) -> Told {
    match (to, message) {
        (ProcessId::Client(client), Message::Service(EtcdMessage::Response(call, response))) => {
            (*client, *call, *response)
        }
        other => panic!("not an answer: {other:?}"),
    }
}
