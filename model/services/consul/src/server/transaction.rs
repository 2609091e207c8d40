//! Transactions: several operations at one log position, applied atomically (C-TXN-3).

use super::Server;
use super::items::ItemRecord;
use crate::ConsulMutation;
use crate::messages::{Answer, Entry, Item, Key, Operation, Registration, Spelling, Transaction};
use crate::{Consul, Opaque};
use fencepost_model::fact::{Fact, Refusal};
use fencepost_model::ids::{ClientId, Index, RawId, SessionId, Token};
use fencepost_model::process::{Context, Outbox};

/// The result of a successful operation (C-TXN-4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperationResult {
    /// No result.
    Silent,
    /// The entry, without its value.
    Entry(Key, Entry),
    /// The entry.
    Whole(Key, Entry),
    /// All entries below a prefix.
    Tree(Vec<(Key, Entry)>),
    /// A node, a service or a check.
    Item(Item, ItemRecord),
}

/// The reason why an operation failed (C-TXN-5).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Another session has the key.
    Held,
    /// The session does not exist.
    NoSession,
    /// The key is not the session's to release.
    NotHeld,
    /// The key is not at the index.
    Stale,
    /// The key is at this index, not at the given one.
    AtIndex(Index),
    /// The key belongs to this session, not to the given one.
    OfSession(Option<(SessionId, Spelling)>),
    /// The key does not exist.
    Absent,
    /// The key exists.
    Present,
    /// The node is not registered.
    NoNode,
    /// The service is not registered.
    NoService,
    /// The node, service or check does not exist.
    Unregistered,
    /// A service or a check without an id.
    NoId,
    /// The index of the node, service or check is not known.
    Untold,
    /// The verb is unknown.
    UnknownVerb,
}

impl Server {
    /// The result of a client's transaction: the response names the first failed operation.
    pub(super) fn commit(
        &mut self,
        client: ClientId,
        transaction: Transaction,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let mut first = None;
        if let Some(place) = self.delayed(&transaction.operations, context).next() {
            out.record(Fact::Refused { client, why: Refusal::LockDelay });
            return Answer::RolledBack(number(place));
        }
        let mut facts = Outbox::new();
        let has_kept = self.transact(client, &transaction.operations, context, &mut facts, &mut |place, outcome| {
            if outcome.is_err() {
                first.get_or_insert(place);
            }
        });
        let Some(place) = first else {
            facts.facts().iter().for_each(|fact| out.record(*fact));
            write_of(client, &transaction, true).into_iter().for_each(|write| out.record(write));
            return Answer::Committed;
        };
        write_of(client, &transaction, has_kept).into_iter().for_each(|write| out.record(write));
        Answer::RolledBack(number(place))
    }

    /// C-TXN-8: the leader checks all operations first; a refused transaction uses no log position.
    pub fn delayed<'a>(
        &'a self,
        operations: &'a [Operation],
        context: &'a Context<'_, Consul>,
    ) -> impl Iterator<Item = usize> + 'a {
        let is_delayed = |operation: &Operation| match operation {
            Operation::Lock(claim) => {
                self.is_delayed(claim.key, context) && !context.is_mutated(ConsulMutation::TransactionIgnoresLockDelay)
            }
            _ => false,
        };
        operations.iter().enumerate().filter(move |(_, operation)| is_delayed(operation)).map(|(place, _)| place)
    }

    /// C-TXN-3: all operations are tried in order, each sees the effects of the earlier ones, and a failed one undoes
    /// them all, but for lock-delays (C-LD-8). Returns whether anything was kept.
    pub fn transact(
        &mut self,
        client: ClientId,
        operations: &[Operation],
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
        each: &mut dyn FnMut(usize, Result<OperationResult, Failure>),
    ) -> bool {
        // C-TXN-7: a transaction without writes is a read and is not logged.
        if operations.iter().any(Operation::writes) {
            self.index = self.index.next();
        }
        let before = (self.entries.clone(), self.tombstones.clone());
        let about_nodes = operations.iter().any(Operation::is_about_nodes);
        let rest = about_nodes.then(|| (self.sessions.clone(), self.nodes.clone()));
        let id_table = self.id_table.clone();
        let mut has_failed = false;
        let mut has_worked = false;
        for (place, operation) in operations.iter().enumerate() {
            let outcome = self.attempt(client, *operation, context, out);
            has_failed |= outcome.is_err();
            has_worked |= outcome.is_ok();
            each(place, outcome);
        }
        if has_failed && !context.is_mutated(ConsulMutation::TransactionKeepsHalf) {
            let (entries, tombstones) = before;
            self.entries = entries;
            if !context.is_mutated(ConsulMutation::RollbackKeepsTombstones) {
                self.tombstones = tombstones;
            }
            self.id_table = id_table;
            if let Some((sessions, nodes)) = rest {
                (self.sessions, self.nodes) = (sessions, nodes);
            }
            if context.is_mutated(ConsulMutation::RollbackForgetsDelays) {
                self.delays.clear();
            }
            return false;
        }
        has_worked
    }

    /// C-TXN-2: the verbs have the effects of the single requests.
    fn attempt(
        &mut self,
        client: ClientId,
        operation: Operation,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Result<OperationResult, Failure> {
        let (key, answer) = match operation {
            Operation::Nothing => return Ok(OperationResult::Silent),
            Operation::Unknown => return Err(Failure::UnknownVerb),
            Operation::CheckSession { key, session, spelling } => {
                let wanted = session.map(|session| (session, spelling));
                return self.check_session(key, wanted, context);
            }
            Operation::CheckIndex { key, index } => {
                let entry = self.entry(key).ok_or(Failure::Absent)?;
                let is_there = entry.modify == index || context.is_mutated(ConsulMutation::CheckIndexPasses);
                return if is_there {
                    Ok(OperationResult::Entry(key, entry))
                } else {
                    Err(Failure::AtIndex(entry.modify))
                };
            }
            Operation::CheckNotExists(key) => {
                return if self.entry(key).is_some() { Err(Failure::Present) } else { Ok(OperationResult::Silent) };
            }
            Operation::Get(key) => {
                return self.entry(key).map(|entry| OperationResult::Whole(key, entry)).ok_or(Failure::Absent);
            }
            Operation::GetTree(prefix) => return Ok(OperationResult::Tree(self.below(prefix).collect())),
            Operation::Delete(key) => {
                self.delete(key, context, out);
                return Ok(OperationResult::Silent);
            }
            Operation::DeleteTree(prefix) => {
                self.delete_tree(prefix, context, out);
                return Ok(OperationResult::Silent);
            }
            Operation::DeleteCas { key, index } => {
                let answer = self.delete_cas(key, index, context, out);
                return if answer == Answer::Done(true) { Ok(OperationResult::Silent) } else { Err(Failure::Stale) };
            }
            Operation::SetCheck(node, kind, status) => {
                self.node(node).ok_or(Failure::NoNode)?;
                self.apply_check(node, kind, status, context, out);
                return Ok(OperationResult::Silent);
            }
            Operation::Register(registration) => {
                self.register(registration, context, out)?;
                return Ok(self.shown(registration.item()));
            }
            Operation::RegisterAt(registration, index) => return self.register_at(registration, index, context, out),
            Operation::Show(item) => {
                return self
                    .record(item)
                    .map(|record| OperationResult::Item(item, record))
                    .ok_or(Failure::Unregistered);
            }
            Operation::Deregister(item) => {
                self.drop_item(item, context, out);
                return Ok(OperationResult::Silent);
            }
            Operation::DeregisterAt(item, index) => {
                // C-TXN-10: unlike a key, what is absent is at no index.
                if self.record(item).is_none() || !self.is_at(item, index, context)? {
                    return Err(Failure::Stale);
                }
                self.drop_item(item, context, out);
                return Ok(OperationResult::Silent);
            }
            Operation::Set { key, value, flags } => (key, self.put(key, (value.into(), flags), context, out)),
            Operation::Cas { key, index, value, flags } => {
                (key, self.cas(key, index, (value.into(), flags), context, out))
            }
            Operation::Lock(claim) => (claim.key, self.lock(Some(client), claim.into(), context, out)),
            Operation::Unlock(claim) => (claim.key, self.release(Some(client), claim.into(), context, out)),
        };
        match (answer, operation) {
            (Answer::Done(true), _) => {
                Ok(self.entry(key).map_or(OperationResult::Silent, |entry| OperationResult::Entry(key, entry)))
            }
            (Answer::InvalidSession, _) => Err(Failure::NoSession),
            (_, Operation::Lock(_)) => Err(Failure::Held),
            (_, Operation::Unlock(_)) => Err(Failure::NotHeld),
            _ => Err(Failure::Stale),
        }
    }

    /// C-TXN-10: registers something if it is at an index.
    fn register_at(
        &mut self,
        registration: Registration,
        index: Index,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Result<OperationResult, Failure> {
        let item = registration.item();
        if !self.is_at(item, index, context)? {
            return Err(Failure::Stale);
        }
        match self.register(registration, context, out) {
            // C-TXN-11: that a check could not be registered is not told.
            Err(_) if matches!(registration, Registration::Check { .. }) => Ok(self.shown(item)),
            outcome => outcome.map(|()| self.shown(item)),
        }
    }

    fn shown(&self, item: Item) -> OperationResult {
        self.record(item).map_or(OperationResult::Silent, |record| OperationResult::Item(item, record))
    }

    fn drop_item(&mut self, item: Item, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match item {
            Item::Node(node) => self.drop_node(node, context, out),
            Item::Service(node, service) => self.drop_service(node, service, context, out),
            Item::Check(node, kind) => self.drop_check(node, kind, context, out),
        }
    }

    /// C-TXN-6: without a session, the check passes if the key is free. An absent key always fails.
    fn check_session(
        &self,
        key: Key,
        wanted: Option<(SessionId, Spelling)>,
        context: &Context<'_, Consul>,
    ) -> Result<OperationResult, Failure> {
        let passes = context.is_mutated(ConsulMutation::CheckSessionPasses);
        let Some(entry) = self.entry(key) else {
            return if passes { Ok(OperationResult::Silent) } else { Err(Failure::Absent) };
        };
        if entry.holder() == wanted || passes {
            return Ok(OperationResult::Entry(key, entry));
        }
        Err(Failure::OfSession(entry.holder()))
    }
}

impl Operation {
    /// Whether it belongs into the log.
    pub fn writes(&self) -> bool {
        !matches!(
            self,
            Operation::Nothing
                | Operation::Unknown
                | Operation::Get(_)
                | Operation::GetTree(_)
                | Operation::CheckSession { .. }
                | Operation::CheckIndex { .. }
                | Operation::CheckNotExists(_)
                | Operation::Show(_)
        )
    }

    /// The node, the service or the check that it is about.
    pub fn item(&self) -> Option<Item> {
        match self {
            Operation::Register(registration) | Operation::RegisterAt(registration, _) => Some(registration.item()),
            Operation::Show(item) | Operation::Deregister(item) | Operation::DeregisterAt(item, _) => Some(*item),
            _ => None,
        }
    }

    fn is_about_nodes(&self) -> bool {
        matches!(self, Operation::SetCheck(..)) || self.item().is_some() && self.writes()
    }

    /// Whether it writes the protected resource.
    fn writes_data(&self) -> bool {
        matches!(self, Operation::Set { key: Key::Data, .. } | Operation::Cas { key: Key::Data, .. })
    }
}

impl Entry {
    /// The holder's session, as a string.
    pub fn holder(&self) -> Option<(SessionId, Spelling)> {
        self.session.map(|session| (session, self.spelling))
    }

    /// C-KV-7: whether these values would change nothing.
    pub(super) fn says(
        &self,
        lock_index: u32,
        holder: Option<(SessionId, Spelling)>,
        value: Opaque,
        flags: u8,
    ) -> bool {
        (self.lock_index, self.holder(), self.flags, self.value) == (lock_index, holder, flags, value)
    }
}

fn number(place: usize) -> u8 {
    u8::try_from(place).expect("a transaction has few operations")
}

/// The fact that the transaction wrote the protected resource, or did not.
fn write_of(client: ClientId, transaction: &Transaction, is_accepted: bool) -> Option<Fact<Consul>> {
    let (token, tenure) = (Token::NONE, transaction.tenure);
    transaction.operations.iter().any(Operation::writes_data).then_some(if is_accepted {
        Fact::Written { client, token, tenure, key: None }
    } else {
        Fact::WriteRefused { client, token, tenure }
    })
}
