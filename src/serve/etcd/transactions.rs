//! A body as a transaction (E-TXN-3, E-TXN-5).

use fencepost_etcd::mvcc::{Compared, Comparison, EtcdCall, EtcdRefusal, Relation, Transaction};
use serde_json::Value;

use super::decode::{NoCall, delete, put, range};
use super::fields::Fields;

/// E-TXN-5: the most compares, and the most operations of a branch.
const OPERATIONS_MAX: usize = 128;

/// A transaction; one that is too large is refused.
pub(super) fn transaction(fields: &Fields<'_>) -> Result<Transaction, NoCall> {
    let compare = fields.list("compare")?.iter().map(comparison).collect::<Result<Vec<_>, _>>()?;
    let branch = |name| fields.list(name)?.iter().map(operation).collect::<Result<Vec<_>, NoCall>>();
    let txn = Transaction { compare, success: branch("success")?, failure: branch("failure")? };
    let most = txn.compare.len().max(txn.success.len()).max(txn.failure.len());
    if most > OPERATIONS_MAX {
        return Err(NoCall::Bad("etcdserver: too many operations in txn request".to_owned()));
    }
    Ok(txn)
}

fn operation(value: &Value) -> Result<EtcdCall, NoCall> {
    let fields = Fields::of(value)?;
    for (name, read) in OPERATIONS {
        if let Some(inner) = fields.get(name) {
            return read(&Fields::of(inner)?);
        }
    }
    // E-TXN-5: an empty operation.
    Err(NoCall::Refused(EtcdRefusal::KeyNotFound))
}

/// How an operation is read.
type ReadOperation = fn(&Fields<'_>) -> Result<EtcdCall, NoCall>;

const OPERATIONS: [(&str, ReadOperation); 4] = [
    ("request_range", |fields| range(fields).map(EtcdCall::Range)),
    ("request_put", |fields| put(fields).map(EtcdCall::Put)),
    ("request_delete_range", |fields| delete(fields).map(EtcdCall::Delete)),
    ("request_txn", |fields| transaction(fields).map(EtcdCall::Txn)),
];

fn comparison(value: &Value) -> Result<Comparison, NoCall> {
    let fields = Fields::of(value)?;
    let relation = fields.one_of(
        "result",
        &[
            ("EQUAL", Relation::Equal),
            ("GREATER", Relation::Greater),
            ("LESS", Relation::Less),
            ("NOT_EQUAL", Relation::NotEqual),
        ],
    )?;
    let target = fields.one_of("target", &[("VERSION", 0), ("CREATE", 1), ("MOD", 2), ("VALUE", 3), ("LEASE", 4)])?;
    // E-TXN-3: the operand of another target is none.
    let compared = match target {
        0 => Compared::Version(fields.number("version")?),
        1 => Compared::Created(fields.number("create_revision")?),
        2 => Compared::Modified(fields.number("mod_revision")?),
        3 => Compared::Value(fields.text("value")?),
        _ => Compared::Lease(fields.number("lease")?),
    };
    Ok(Comparison { key: fields.text("key")?, end: fields.text("range_end")?, relation, compared })
}
