//! Transactions.

use std::cmp::Ordering;

use super::kv::Writing;
use super::{Compared, Comparison, EtcdAnswer, EtcdCall, EtcdRefusal, KeyValue, Mvcc, Put, Relation, Transaction};

impl Mvcc {
    /// E-TXN-1 to E-TXN-7.
    pub(super) fn transact(&mut self, txn: &Transaction) -> Result<EtcdAnswer, EtcdRefusal> {
        super::check::transaction(txn)?;
        let mut branches = Vec::new();
        self.choose(txn, &mut branches);
        self.check_puts(txn, &mut branches.iter().copied())?;
        self.check_ranges(txn, &mut branches.iter().copied())?;
        let mut writing = self.writing();
        let (succeeded, answers) = writing.carry_out(txn, &mut branches.iter().copied());
        Ok(EtcdAnswer::Txn { revision: Some(writing.commit()), succeeded, answers })
    }

    /// Which branches are taken, before anything is written (E-TXN-7): in the order in which they are come by.
    fn choose(&self, txn: &Transaction, branches: &mut Vec<bool>) {
        let holds = txn.compare.iter().all(|compare| self.holds(compare));
        branches.push(holds);
        for call in branch(txn, holds) {
            if let EtcdCall::Txn(inner) = call {
                self.choose(inner, branches);
            }
        }
    }

    fn holds(&self, compare: &Comparison) -> bool {
        let mut entries = self.within(&compare.key, &compare.end, i64::MAX).peekable();
        if entries.peek().is_none() {
            // E-TXN-2.
            return !matches!(compare.compared, Compared::Value(_)) && is_so(compare, &KeyValue::default());
        }
        entries.all(|entry| is_so(compare, entry))
    }

    /// E-TXN-6.
    pub(super) fn check_put(&self, put: &Put, lease_first: bool) -> Result<(), EtcdRefusal> {
        let is_lease_missing = put.lease != 0 && !self.leases.contains_key(&put.lease);
        let is_key_missing = (put.ignore_value || put.ignore_lease) && self.present(&put.key).is_none();
        match (is_lease_missing, is_key_missing) {
            (true, true) if lease_first => Err(EtcdRefusal::LeaseNotFound),
            (_, true) => Err(EtcdRefusal::KeyNotFound),
            (true, false) => Err(EtcdRefusal::LeaseNotFound),
            (false, false) => Ok(()),
        }
    }

    fn check_puts(&self, txn: &Transaction, branches: &mut dyn Iterator<Item = bool>) -> Result<(), EtcdRefusal> {
        let holds = branches.next().unwrap_or_default();
        branch(txn, holds).iter().try_for_each(|call| match call {
            EtcdCall::Put(put) => self.check_put(put, false),
            EtcdCall::Txn(inner) => self.check_puts(inner, branches),
            _ => Ok(()),
        })
    }

    /// A revision below 0 is a compacted one here, and the present in a read of its own.
    fn check_ranges(&self, txn: &Transaction, branches: &mut dyn Iterator<Item = bool>) -> Result<(), EtcdRefusal> {
        let holds = branches.next().unwrap_or_default();
        branch(txn, holds).iter().try_for_each(|call| match call {
            EtcdCall::Range(range) if range.revision > self.revision => Err(EtcdRefusal::Future),
            EtcdCall::Range(range) if range.revision != 0 && range.revision < self.compacted => {
                Err(EtcdRefusal::Compacted)
            }
            EtcdCall::Txn(inner) => self.check_ranges(inner, branches),
            _ => Ok(()),
        })
    }
}

impl Writing<'_> {
    fn carry_out(&mut self, txn: &Transaction, branches: &mut dyn Iterator<Item = bool>) -> (bool, Vec<EtcdAnswer>) {
        let holds = branches.next().unwrap_or_default();
        let mut answers = Vec::new();
        for call in branch(txn, holds) {
            answers.push(match call {
                EtcdCall::Range(range) => self.store.read(range, self.revision()),
                EtcdCall::Put(put) => self.put(put),
                EtcdCall::Delete(delete) => self.delete(delete),
                EtcdCall::Txn(inner) => {
                    let (succeeded, answers) = self.carry_out(inner, branches);
                    EtcdAnswer::Txn { revision: None, succeeded, answers }
                }
                _ => EtcdAnswer::Refused(EtcdRefusal::NoKey),
            });
        }
        (holds, answers)
    }
}

fn branch(txn: &Transaction, holds: bool) -> &[EtcdCall] {
    if holds { &txn.success } else { &txn.failure }
}

fn is_so(compare: &Comparison, entry: &KeyValue) -> bool {
    let order = match &compare.compared {
        Compared::Version(operand) => entry.version.cmp(operand),
        Compared::Created(operand) => entry.created.cmp(operand),
        Compared::Modified(operand) => entry.modified.cmp(operand),
        Compared::Value(operand) => entry.value.cmp(operand),
        Compared::Lease(operand) => entry.lease.cmp(operand),
    };
    match compare.relation {
        Relation::Equal => order == Ordering::Equal,
        Relation::NotEqual => order != Ordering::Equal,
        Relation::Greater => order == Ordering::Greater,
        Relation::Less => order == Ordering::Less,
    }
}
