//! What is refused before the log, by the form of a call alone.

use std::collections::BTreeSet;

use super::kv::is_within;
use super::{DeleteRange, EtcdCall, EtcdRefusal, Put, RangeRead, Transaction};

pub(super) fn range(range: &RangeRead) -> Result<(), EtcdRefusal> {
    key(&range.key)
}

pub(super) fn delete(delete: &DeleteRange) -> Result<(), EtcdRefusal> {
    key(&delete.key)
}

pub(super) fn put(put: &Put) -> Result<(), EtcdRefusal> {
    key(&put.key)?;
    if put.ignore_value && !put.value.is_empty() {
        return Err(EtcdRefusal::ValueGiven);
    }
    if put.ignore_lease && put.lease != 0 {
        return Err(EtcdRefusal::LeaseGiven);
    }
    Ok(())
}

fn key(key: &str) -> Result<(), EtcdRefusal> {
    if key.is_empty() { Err(EtcdRefusal::NoKey) } else { Ok(()) }
}

/// E-TXN-5.
pub(super) fn transaction(txn: &Transaction) -> Result<(), EtcdRefusal> {
    form(txn)?;
    writes(&txn.success)?;
    writes(&txn.failure)?;
    Ok(())
}

fn form(txn: &Transaction) -> Result<(), EtcdRefusal> {
    txn.compare.iter().try_for_each(|compare| key(&compare.key))?;
    txn.success.iter().chain(&txn.failure).try_for_each(|call| match call {
        EtcdCall::Range(range) => self::range(range),
        EtcdCall::Put(put) => self::put(put),
        EtcdCall::Delete(delete) => self::delete(delete),
        EtcdCall::Txn(txn) => form(txn),
        _ => Err(EtcdRefusal::NoKey),
    })
}

/// The keys that a branch puts, and the intervals that it deletes.
type Writes<'a> = (BTreeSet<&'a str>, Vec<&'a DeleteRange>);

/// Refused: two puts of one key that can both be carried out, and a put of a key that a delete covers. An interval up to `\0` counts as
/// empty here.
fn writes(calls: &[EtcdCall]) -> Result<Writes<'_>, EtcdRefusal> {
    let mut puts = BTreeSet::new();
    let mut deletes: Vec<&DeleteRange> =
        calls.iter().filter_map(|call| if let EtcdCall::Delete(delete) = call { Some(delete) } else { None }).collect();
    let is_deleted = |deletes: &[&DeleteRange], key: &str| {
        deletes.iter().any(|delete| delete.end != "\0" && is_within(key, &delete.key, &delete.end))
    };
    for call in calls {
        let EtcdCall::Txn(txn) = call else { continue };
        let (then, deletes_then) = writes(&txn.success)?;
        let (otherwise, deletes_otherwise) = writes(&txn.failure)?;
        for key in &then {
            if is_deleted(&deletes, key) || !puts.insert(*key) {
                return Err(EtcdRefusal::DuplicateKey);
            }
        }
        for key in &otherwise {
            if is_deleted(&deletes, key) || !puts.insert(*key) && !then.contains(key) {
                return Err(EtcdRefusal::DuplicateKey);
            }
        }
        deletes.extend(deletes_then);
        deletes.extend(deletes_otherwise);
    }
    for call in calls {
        let EtcdCall::Put(put) = call else { continue };
        if is_deleted(&deletes, &put.key) || !puts.insert(&put.key) {
            return Err(EtcdRefusal::DuplicateKey);
        }
    }
    Ok((puts, deletes))
}
