//! Calls for one of several members. A transaction that writes, and reads a revision that is compacted or yet to come, is refused by the member that
//! has to answer it. The others leave its reads out, and carry out its writes: the members differ from then on, for ever (E-TXN-6).

use fencepost_etcd::mvcc::{EtcdCall, RangeRead, Transaction};

/// The same call, in which a transaction that writes reads only what is there now.
pub(super) fn for_member(call: EtcdCall) -> EtcdCall {
    if writes(&call) { without_past(call) } else { call }
}

fn writes(call: &EtcdCall) -> bool {
    match call {
        EtcdCall::Put(_) | EtcdCall::Delete(_) => true,
        EtcdCall::Txn(txn) => txn.success.iter().chain(&txn.failure).any(writes),
        _ => false,
    }
}

fn without_past(call: EtcdCall) -> EtcdCall {
    let all = |calls: Vec<EtcdCall>| calls.into_iter().map(without_past).collect();
    match call {
        EtcdCall::Range(range) => EtcdCall::Range(RangeRead { revision: 0, ..range }),
        EtcdCall::Txn(Transaction { compare, success, failure }) => {
            EtcdCall::Txn(Transaction { compare, success: all(success), failure: all(failure) })
        }
        call => call,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::super::draw::{call, placed};
    use super::*;

    fn reads_past(call: &EtcdCall) -> bool {
        match call {
            EtcdCall::Range(range) => range.revision != 0,
            EtcdCall::Txn(txn) => txn.success.iter().chain(&txn.failure).any(reads_past),
            _ => false,
        }
    }

    #[test]
    fn e_txn_6_no_transaction_that_writes_reads_another_revision_at_one_of_several_members() {
        let (mut runner, mut changed) = (TestRunner::deterministic(), 0);
        for _ in 0..5_000 {
            let drawn = call().new_tree(&mut runner).expect("no call is refused").current();
            let drawn = placed(&drawn, 20, |_| None);
            let sent = for_member(drawn.clone());
            let is_dangerous = matches!(drawn, EtcdCall::Txn(_)) && writes(&drawn) && reads_past(&drawn);
            assert_eq!(sent != drawn, is_dangerous, "{drawn:?}");
            assert!(!is_dangerous || writes(&sent) && !reads_past(&sent), "{sent:?}");
            changed += u32::from(is_dangerous);
        }
        assert!(changed > 50, "{changed}");
    }
}
