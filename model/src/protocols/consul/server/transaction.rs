//! Transactions: several operations at one log position, all of them or none (C-TXN-3).

use super::Server;
use crate::fact::{Fact, Refusal};
use crate::ids::{ClientId, Token};
use crate::mutation::Mutation;
use crate::process::{Context, Outbox};
use crate::protocols::consul::Consul;
use crate::protocols::consul::messages::{Answer, Key, Operation, Transaction};

impl Server {
    /// C-TXN-8: the leader looks at all operations first; what it refuses uses no log position. C-TXN-3: the others are
    /// tried in order, each sees the effects of the former ones, and the first that fails undoes them all.
    pub(super) fn commit(
        &mut self,
        client: ClientId,
        transaction: Transaction,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let operations = transaction.operations;
        let is_delayed = |operation: &Operation| match operation {
            Operation::Lock(claim) => self.is_delayed(claim.key, context),
            _ => false,
        };
        if let Some(place) = operations.iter().position(is_delayed) {
            out.record(Fact::Refused { client, why: Refusal::LockDelay });
            return Answer::RolledBack(number(place));
        }
        self.index = self.index.next();
        let before = (self.entries.clone(), self.tombstone);
        let mut facts = Outbox::new();
        for (place, operation) in operations.iter().enumerate() {
            if self.attempt(client, *operation, context, &mut facts) {
                continue;
            }
            let is_half_kept = context.is_mutated(Mutation::TransactionKeepsHalf);
            if !is_half_kept {
                (self.entries, self.tombstone) = before;
            }
            if let Some(write) = write_of(client, &transaction, is_half_kept && place > 0) {
                out.record(write);
            }
            return Answer::RolledBack(number(place));
        }
        facts.facts.iter().for_each(|fact| out.record(*fact));
        if let Some(write) = write_of(client, &transaction, true) {
            out.record(write);
        }
        Answer::Committed
    }

    /// C-TXN-2: the verbs do what the single requests do. Returns whether it worked.
    fn attempt(
        &mut self,
        client: ClientId,
        operation: Operation,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> bool {
        let answer = match operation {
            Operation::Nothing => Answer::Done(true),
            // C-TXN-6: without a session it means that nobody must have the key. An absent key always fails.
            Operation::CheckSession { key, session } => {
                let is_so = self.entry(key).is_some_and(|entry| entry.session == session);
                Answer::Done(is_so || context.is_mutated(Mutation::CheckSessionPasses))
            }
            Operation::CheckIndex { key, index } => {
                Answer::Done(self.entry(key).is_some_and(|entry| entry.modify == index))
            }
            Operation::Set { key, value, flags } => self.put(key, (value.into(), flags), context, out),
            Operation::Cas { key, index, value, flags } => self.cas(key, index, (value.into(), flags), context, out),
            Operation::Lock(claim) => self.lock(Some(client), claim.into(), context, out),
            Operation::Unlock(claim) => self.release(Some(client), claim.into(), context, out),
        };
        answer == Answer::Done(true)
    }
}

fn number(place: usize) -> u8 {
    u8::try_from(place).expect("a transaction has few operations")
}

/// The fact that the transaction wrote, or did not write, what the lock protects.
fn write_of(client: ClientId, transaction: &Transaction, is_accepted: bool) -> Option<Fact<Consul>> {
    let writes = |operation: &Operation| {
        matches!(operation, Operation::Set { key: Key::Data, .. } | Operation::Cas { key: Key::Data, .. })
    };
    let (token, tenure) = (Token(0), transaction.tenure);
    transaction.operations.iter().any(writes).then_some(if is_accepted {
        Fact::Written { client, token, tenure }
    } else {
        Fact::WriteRefused { client, token, tenure }
    })
}
