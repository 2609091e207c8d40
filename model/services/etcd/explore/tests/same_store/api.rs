//! What the store of the API answers where the store of the world is asked: by plain calls, or by those of its locks and elections.

use fencepost_etcd::mvcc::{
    Compared, Comparison, DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, KeyValue, LeaderKey, Put, RangeRead,
    Relation, Sorted, Transaction,
};
use fencepost_etcd::{Compare, Key, Operation, OperatorKind, Request, Response};
use fencepost_model::ids::{ClientId, Index, SessionId};

use super::names::{NAME, entries, first, index, leases, number, one, path, shifted, shown, text};
use super::pair::Pair;

impl Pair {
    /// The keys of the second store, the oldest first.
    pub(super) fn waiting(&mut self) -> Vec<KeyValue> {
        entries(self.mvcc.ask(&EtcdCall::Range(RangeRead { limit: 0, ..first(Sorted::Ascending) })))
    }

    fn has(&mut self, lease: SessionId) -> bool {
        matches!(self.mvcc.ask(&EtcdCall::Renew(number(lease))), EtcdAnswer::Lease { ttl, .. } if ttl > 0)
    }

    /// What the second store answers to a request that is answered at once.
    pub(super) fn answer(&mut self, client: ClientId, request: Request, by_recipe: bool) -> Response {
        match request {
            Request::Grant(lease, ttl) => match self.mvcc.ask(&EtcdCall::Grant { id: number(lease), ttl: ttl.count() })
            {
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
            Request::Put(key, lease, value) => {
                let lease = lease.map_or(0, number);
                let before = self.mvcc.revision();
                let put = Put { key: path(key), lease, value: text(value), ..Put::default() };
                match self.mvcc.ask(&EtcdCall::Put(put)) {
                    EtcdAnswer::Put { .. } => {
                        self.note_creator(client, key, before);
                        Response::Done
                    }
                    EtcdAnswer::Refused(EtcdRefusal::LeaseNotFound) => Response::NoLease,
                    other => panic!("{other:?}"),
                }
            }
            Request::First { .. } => {
                let oldest = entries(self.mvcc.ask(&EtcdCall::Range(first(Sorted::Ascending)))).first().map(shown);
                Response::Found(oldest, index(self.mvcc.revision()))
            }
            Request::Watch(..) | Request::Follow(..) => unreachable!("it is kept"),
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
            compared: Compared::Created(if created == Index::NONE { 0 } else { shifted(created) }),
        };
        let write = match operation {
            Operation::Put(lease) | Operation::PutValue(lease, _) => EtcdCall::Put(Put {
                key: path(key),
                lease: number(lease),
                value: text(operation.value()),
                ..Put::default()
            }),
            Operation::Delete => EtcdCall::Delete(DeleteRange { key: path(key), ..DeleteRange::default() }),
            Operation::Write(_) => EtcdCall::Put(Put { key: "protected".to_owned(), ..Put::default() }),
        };
        let answer = match operation {
            Operation::Put(lease) if by_recipe && key == Key::Of(lease) && created == Index::NONE => {
                self.mvcc.ask(&EtcdCall::Lock { name: NAME.to_owned(), lease: number(lease) })
            }
            Operation::PutValue(lease, value) if by_recipe && created != Index::NONE => {
                let (name, key) = (NAME.to_owned(), path(key));
                let leader = LeaderKey { name, key, created: shifted(created), lease: number(lease) };
                self.mvcc.ask(&EtcdCall::Proclaim { leader, value: text(value) })
            }
            Operation::Delete if by_recipe && created != Index::NONE => {
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
        self.note_creator(client, key, before);
        let own = entries(self.mvcc.ask(&EtcdCall::Range(one(key)))).first().map(shown);
        if matches!(operation, Operation::PutValue(..)) {
            return Response::Key(own);
        }
        let oldest = entries(self.mvcc.ask(&EtcdCall::Range(first(Sorted::Ascending)))).first().map(shown);
        match answer {
            EtcdAnswer::Locked { .. } => assert_eq!(oldest.map(|oldest| oldest.key), Some(key), "it has the lock"),
            EtcdAnswer::Waits => assert_ne!(oldest.map(|oldest| oldest.key), Some(key), "it waits"),
            _ => {}
        }
        Response::Txn { created: own.map(|own| own.created), oldest }
    }

    /// Whose key it is, if it was created since.
    fn note_creator(&mut self, client: ClientId, key: Key, before: i64) {
        let own = entries(self.mvcc.ask(&EtcdCall::Range(one(key)))).first().map(|entry| entry.created);
        if let Some(created) = own.filter(|created| *created > before) {
            self.creators.insert(created, client);
        }
    }

    /// The operator's action at the second store, and the lease that it ends.
    pub(super) fn operate(&mut self, kind: OperatorKind) -> Option<SessionId> {
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
}
