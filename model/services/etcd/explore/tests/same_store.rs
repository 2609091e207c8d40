//! The store of the checker's world ([`Cluster`]) and the store as the API shows it ([`Mvcc`]), which a real server is held against, are
//! written apart. In random sequences of steps they give the same answers, and have the same keys afterwards. The second one has neither
//! time nor watches: leases end when the first one says so, and what a watch shows is read from its history.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_checker::laws::Draw;
use fencepost_etcd::mvcc::{
    Compared, Comparison, DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, KeyValue, LeaderKey, Mvcc, Put, RangeRead,
    Relation, SortBy, Sorted, Transaction,
};
use fencepost_etcd::{
    Cluster, Compare, Etcd, EtcdMessage, EtcdMutation, Key, Operation, OperatorAction, OperatorKind, Request, Response,
    Shown, Timer,
};
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};

const NAME: &str = "lock";
const SEQUENCES: u64 = 2_000;
const STEPS: usize = 60;

/// One step.
#[derive(Copy, Clone, Debug)]
enum StoreStep {
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
type Told = (ClientId, Call, Response);

/// A watch that has not been answered: of which key, from which revision on.
#[derive(Copy, Clone)]
struct OpenWatch {
    client: ClientId,
    call: Call,
    key: Key,
    from: Index,
}

/// Both stores.
struct Pair {
    scenario: Scenario<Etcd>,
    cluster: Cluster,
    mvcc: Mvcc,
    now: Instant,
    call: Call,
    watches: Vec<OpenWatch>,
    /// Renewals of overdue leases, which wait.
    renewals: BTreeMap<(ClientId, SessionId), Call>,
    /// Who created the key with this create revision.
    creators: BTreeMap<i64, ClientId>,
    /// The keys that were seen, and at which revision of the store.
    seen: Vec<(Key, Index)>,
}

/// The number of a lease.
fn number(lease: SessionId) -> i64 {
    i64::from(lease.creator.0) * 16 + i64::from(lease.number)
}

/// The name of a key.
fn path(key: Key) -> String {
    match key {
        Key::Of(lease) => format!("{NAME}/{:x}", number(lease)),
        Key::Below(lease) => format!("{NAME}/sub/{:x}", number(lease)),
        Key::Stranger => format!("{NAME}/stranger"),
    }
}

/// A fresh store of the world has revision 0, and a fresh server has 1 (E-GEN-3).
fn shifted(index: Index) -> i64 {
    i64::from(index.0) + 1
}

fn index(revision: i64) -> Index {
    Index(u32::try_from(revision - 1).expect("a small number"))
}

fn one(key: Key) -> RangeRead {
    RangeRead { key: path(key), ..RangeRead::default() }
}

/// The first key of the prefix in an order by create revision.
fn first(sorted: Sorted) -> RangeRead {
    RangeRead { limit: 1, sorted, by: SortBy::Created, ..queue() }
}

/// All keys of the prefix.
fn queue() -> RangeRead {
    RangeRead { key: format!("{NAME}/"), end: format!("{NAME}0"), ..RangeRead::default() }
}

fn leases() -> impl Iterator<Item = SessionId> {
    (1..=3).flat_map(|client| (1..=2).map(move |number| SessionId { creator: ClientId(client), number }))
}

fn keys() -> impl Iterator<Item = Key> {
    leases().flat_map(|lease| [Key::Of(lease), Key::Below(lease)]).chain([Key::Stranger])
}

fn entries(answer: EtcdAnswer) -> Vec<KeyValue> {
    match answer {
        EtcdAnswer::Range { entries, .. } => entries,
        other => panic!("not a range: {other:?}"),
    }
}

fn shown(entry: &KeyValue) -> Shown {
    let key = keys().find(|key| path(*key) == entry.key).expect("it is one of ours");
    Shown { key, created: index(entry.created) }
}

impl Pair {
    fn new(mutation: Option<EtcdMutation>) -> Self {
        let mut scenario = Scenario::<Etcd>::new("same-store");
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
        }
    }

    /// The keys of the second store, the oldest first.
    fn waiting(&mut self) -> Vec<KeyValue> {
        entries(self.mvcc.ask(&EtcdCall::Range(RangeRead { limit: 0, ..first(Sorted::Ascending) })))
    }

    fn has(&mut self, lease: SessionId) -> bool {
        matches!(self.mvcc.ask(&EtcdCall::Renew(number(lease))), EtcdAnswer::Lease { ttl, .. } if ttl > 0)
    }

    /// A step that changes something, or one that is refused.
    fn draw(&mut self, draw: &mut Draw) -> StoreStep {
        let queue = self.waiting();
        let now = index(self.mvcc.revision());
        let client = ClientId(1 + u16::try_from(draw.below(3)).expect("it is below 3"));
        let pick = |draw: &mut Draw, count: usize| usize::try_from(draw.below(count as u64)).expect("it is small");
        let lease = leases().nth(pick(draw, 6)).expect("there are six");
        let key = match draw.below(4) {
            0 => Key::Below(lease),
            1 => keys().nth(pick(draw, 13)).expect("there are thirteen"),
            _ => Key::Of(lease),
        };
        let created = match queue.iter().find(|entry| entry.key == path(key)) {
            Some(entry) if draw.below(4) > 0 => index(entry.created),
            _ => Index(u32::try_from(draw.below(2) * draw.below(u64::from(now.0) + 1)).expect("it is small")),
        };
        let compare = Compare { key, created };
        let request = match draw.below(24) {
            0..4 => Request::Grant(lease),
            4..6 => Request::Renew(lease),
            6 => Request::Revoke(lease),
            7..13 => Request::Txn(compare, Operation::Put(lease)),
            13 => Request::Txn(compare, Operation::Delete),
            14 => Request::Txn(compare, Operation::Write(Tenure::default())),
            15..17 => Request::Newest(Index(1 + u32::try_from(draw.below(u64::from(now.0) + 2)).expect("it is small"))),
            17 => Request::Get(key),
            18..20 if !self.seen.is_empty() => {
                let (key, from) = self.seen[pick(draw, self.seen.len())];
                Request::Watch(key, from)
            }
            18..20 => Request::Get(key),
            20 => Request::Delete(key),
            21 => Request::Holder,
            22 => return self.draw_operator(draw).map_or(StoreStep::Pass(1), StoreStep::Operate),
            _ if draw.below(2) == 0 => return StoreStep::Expire,
            _ => return StoreStep::Pass(1 + i64::try_from(draw.below(2)).expect("it is small")),
        };
        StoreStep::Ask(client, request)
    }

    /// What an operator can do here: `can_operate` is not public.
    fn draw_operator(&mut self, draw: &mut Draw) -> Option<OperatorKind> {
        let queue = self.waiting();
        let (held, next) = (queue.first(), queue.get(1));
        let kinds = [
            (OperatorKind::DeleteHeld, held.is_some()),
            (OperatorKind::DeleteWaiting, next.is_some()),
            (OperatorKind::RevokeHeld, held.is_some_and(|entry| entry.lease != 0)),
            (OperatorKind::RevokeWaiting, next.is_some_and(|entry| entry.lease != 0)),
            (OperatorKind::Detach, held.is_some_and(|entry| entry.lease != 0)),
            (OperatorKind::PutStranger, queue.iter().all(|entry| entry.key != path(Key::Stranger))),
            (OperatorKind::Compact, self.mvcc.revision() > 1),
        ];
        let possible: Vec<OperatorKind> = kinds.iter().filter(|(_, may)| *may).map(|(kind, _)| *kind).collect();
        let count = possible.len() as u64;
        (count > 0).then(|| possible[usize::try_from(draw.below(count)).expect("it is small")])
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
    fn step(&mut self, step: StoreStep, by_recipe: bool) -> Result<Vec<Told>, String> {
        let mut out = Outbox::new();
        let mut expected: Vec<Told> = Vec::new();
        let (mut ended, mut asked) = (None, None);
        let scanned = self.scanned();
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
        let mut told: Vec<Told> = out.messages().iter().map(told).collect();
        told.sort_unstable();
        expected.sort_unstable();
        if told != expected {
            return Err(format!("{told:?} of the world's store, {expected:?} of the API's"));
        }
        self.compare()?;
        Ok(told)
    }

    /// What the second store answers to a request that is answered at once.
    fn answer(&mut self, client: ClientId, request: Request, by_recipe: bool) -> Response {
        match request {
            Request::Grant(lease) => match self.mvcc.ask(&EtcdCall::Grant { id: number(lease), ttl: 3 }) {
                EtcdAnswer::Lease { .. } | EtcdAnswer::Refused(EtcdRefusal::LeaseExists) => Response::Granted,
                other => panic!("{other:?}"),
            },
            Request::Renew(lease) if self.has(lease) => Response::Renewed,
            Request::Renew(_) => Response::NoLease,
            Request::Revoke(lease) => match self.mvcc.ask(&EtcdCall::Revoke(number(lease))) {
                EtcdAnswer::Done { .. } => Response::Done,
                _ => Response::NoLease,
            },
            Request::Txn(compare, operation) => self.transact(client, compare, operation, by_recipe),
            Request::Newest(before) => {
                let read = RangeRead { max_created: shifted(before) - 1, ..first(Sorted::Descending) };
                self.found(read)
            }
            Request::Get(key) => self.found(one(key)),
            Request::Delete(key) if by_recipe => self.done(EtcdCall::Unlock { key: path(key) }),
            Request::Delete(key) => {
                self.done(EtcdCall::Delete(DeleteRange { key: path(key), ..DeleteRange::default() }))
            }
            Request::Holder => Response::Holder(match self.mvcc.ask(&EtcdCall::Leader { name: NAME.to_owned() }) {
                EtcdAnswer::Leads { entry, .. } => self.creators.get(&entry.created).copied(),
                _ => None,
            }),
            Request::Watch(..) => unreachable!("it is kept"),
        }
    }

    fn done(&mut self, call: EtcdCall) -> Response {
        match self.mvcc.ask(&call) {
            EtcdAnswer::Done { .. } | EtcdAnswer::Deleted { .. } => Response::Done,
            other => panic!("{other:?}"),
        }
    }

    fn found(&mut self, read: RangeRead) -> Response {
        let found = entries(self.mvcc.ask(&EtcdCall::Range(read))).first().map(shown);
        let now = index(self.mvcc.revision());
        self.seen.extend(found.map(|shown| (shown.key, now)));
        Response::Found(found, now)
    }

    fn transact(&mut self, client: ClientId, compare: Compare, operation: Operation, by_recipe: bool) -> Response {
        let Compare { key, created } = compare;
        let before = self.mvcc.revision();
        let holds = Comparison {
            key: path(key),
            end: String::new(),
            relation: Relation::Equal,
            compared: Compared::Created(if created == Index(0) { 0 } else { shifted(created) }),
        };
        let write = match operation {
            Operation::Put(lease) => EtcdCall::Put(Put { key: path(key), lease: number(lease), ..Put::default() }),
            Operation::Delete => EtcdCall::Delete(DeleteRange { key: path(key), ..DeleteRange::default() }),
            Operation::Write(_) => EtcdCall::Put(Put { key: "protected".to_owned(), ..Put::default() }),
        };
        let answer = match operation {
            Operation::Put(lease) if by_recipe && key == Key::Of(lease) && created == Index(0) => {
                self.mvcc.ask(&EtcdCall::Lock { name: NAME.to_owned(), lease: number(lease) })
            }
            Operation::Delete if by_recipe && created != Index(0) => {
                let leader = LeaderKey { name: NAME.to_owned(), key: path(key), created: shifted(created), lease: 1 };
                self.mvcc.ask(&EtcdCall::Resign(leader))
            }
            _ => self.mvcc.ask(&EtcdCall::Txn(Transaction {
                compare: vec![holds],
                success: vec![write],
                failure: vec![],
            })),
        };
        if matches!(answer, EtcdAnswer::Refused(EtcdRefusal::LeaseNotFound | EtcdRefusal::RecipeLeaseNotFound)) {
            return Response::NoLease;
        }
        let own = entries(self.mvcc.ask(&EtcdCall::Range(one(key)))).first().map(|entry| entry.created);
        let oldest = entries(self.mvcc.ask(&EtcdCall::Range(first(Sorted::Ascending)))).first().map(shown);
        match answer {
            EtcdAnswer::Locked { .. } => assert_eq!(oldest.map(|oldest| oldest.key), Some(key), "it has the lock"),
            EtcdAnswer::Waits => assert_ne!(oldest.map(|oldest| oldest.key), Some(key), "it waits"),
            _ => {}
        }
        if let Some(created) = own.filter(|created| *created > before) {
            self.creators.insert(created, client);
        }
        Response::Txn { created: own.map(index), oldest }
    }

    /// The operator's action at the second store, and the lease that it ends.
    fn operate(&mut self, kind: OperatorKind) -> Option<SessionId> {
        let queue = self.waiting();
        let at = |place: usize| queue[place].clone();
        let lease = |entry: KeyValue| leases().find(|lease| number(*lease) == entry.lease);
        let call = match kind {
            OperatorKind::DeleteHeld => EtcdCall::Delete(DeleteRange { key: at(0).key, ..DeleteRange::default() }),
            OperatorKind::DeleteWaiting => EtcdCall::Delete(DeleteRange { key: at(1).key, ..DeleteRange::default() }),
            OperatorKind::RevokeHeld => EtcdCall::Revoke(at(0).lease),
            OperatorKind::RevokeWaiting => EtcdCall::Revoke(at(1).lease),
            OperatorKind::PutStranger => EtcdCall::Put(Put { key: path(Key::Stranger), ..Put::default() }),
            OperatorKind::Detach => EtcdCall::Put(Put { key: at(0).key, ..Put::default() }),
            OperatorKind::Compact => EtcdCall::Compact(self.mvcc.revision()),
        };
        self.mvcc.ask(&call);
        match kind {
            OperatorKind::RevokeHeld => lease(at(0)),
            OperatorKind::RevokeWaiting => lease(at(1)),
            _ => None,
        }
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
        let token = expected.first().map_or(0, |oldest| oldest.created.0);
        let mut found = Vec::new();
        let mut before = Index(u32::MAX);
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
        let shows = Etcd::record(&self.cluster, &self.scenario).token.0;
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

/// A sequence of steps from a seed: the kinds of answers, or the first difference.
fn run(seed: u64, mutation: Option<EtcdMutation>) -> Result<BTreeSet<String>, String> {
    let (mut pair, mut draw, mut kinds) =
        (Pair::new(mutation), Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), BTreeSet::new());
    let mut story = Vec::new();
    for _ in 0..STEPS {
        let step = pair.draw(&mut draw);
        story.push(format!("{step:?}"));
        let told =
            pair.step(step, draw.below(2) == 0).map_err(|why| format!("seed {seed}: {why}\n{}", story.join("\n")))?;
        let kind = |(_, _, response): &Told| {
            let text = format!("{response:?}");
            text.split(['(', ' ']).next().unwrap_or_default().to_owned()
        };
        kinds.extend(told.iter().map(kind));
    }
    Ok(kinds)
}

#[test]
fn the_store_of_the_world_and_the_store_of_the_api_answer_the_same() {
    let mut kinds = BTreeSet::new();
    for seed in 0..SEQUENCES {
        kinds.extend(run(seed, None).unwrap_or_else(|difference| panic!("{difference}")));
    }
    let all = ["Compacted", "Deleted", "Done", "Found", "Granted", "Holder", "NoLease", "Renewed", "Txn"];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all, "each kind of answer was given");
}

/// The law can fail: each of these mutants changes what the store answers.
#[test]
fn a_wrong_store_differs() {
    for mutation in [
        EtcdMutation::NewestIncludesOwn,
        EtcdMutation::NewKeyIsOldest,
        EtcdMutation::CompareIgnored,
        EtcdMutation::PutWithoutLease,
        EtcdMutation::OverdueRenewed,
        EtcdMutation::RevokeKeepsKeys,
        EtcdMutation::CompactionIgnored,
        EtcdMutation::WatchFromNow,
        EtcdMutation::DeletionUntold,
    ] {
        let differs = (0..SEQUENCES).any(|seed| run(seed, Some(mutation)).is_err());
        assert!(differs, "{mutation:?}");
    }
}
