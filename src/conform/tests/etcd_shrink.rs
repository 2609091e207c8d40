//! A crowd at etcd whose answers differ is made smaller.

use fencepost_conform::LATENESS;
use fencepost_conform::etcd::{
    EtcdCrowd, EtcdExchange, EtcdOrder, EtcdPace, EtcdReply, EtcdScript, TRIES, TimedCall, order, shrink,
};
use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, EtcdVersion, Mvcc};
use serde_json::Value;

/// A stand-in that is asked one call after the other, and whose unlock removes nothing.
fn asked(script: &EtcdScript) -> EtcdCrowd {
    let mut store = Mvcc::empty_at(EtcdVersion::default(), 10);
    let none = || EtcdReply { status: 0, body: Value::Null };
    let said = |(turn, call): (i64, &EtcdCall)| {
        let answer = match call {
            EtcdCall::Unlock { .. } => EtcdAnswer::Done { revision: store.revision() },
            call => store.ask(call),
        };
        if answer == EtcdAnswer::Waits {
            store.leave(call);
        }
        let exchange = EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: none(), answer };
        // A second for each, of which a caller that waits is there for a third.
        let sent = turn * 1_000_000_000;
        let reply = exchange.expected();
        TimedCall { call: call.clone(), reply, sent, received: sent + 300_000_000 }
    };
    let calls = (0..).zip(script.calls()).map(said).collect();
    EtcdCrowd { version: EtcdVersion::default(), revision: 10, calls }
}

/// The crowd, if no order of it is possible.
fn differs(crowd: EtcdCrowd) -> Option<EtcdCrowd> {
    matches!(order(&crowd, LATENESS), EtcdOrder::Impossible { .. }).then_some(crowd)
}

#[test]
fn a_crowd_that_differs_is_made_smaller_until_every_call_is_needed() {
    let mut shrunk = 0;
    for number in 0..20 {
        let script = EtcdScript::drawn(1, number, EtcdPace::Queues);
        if differs(asked(&script)).is_none() {
            continue;
        }
        let mut tries = 0;
        let smallest = shrink(&script, TRIES, &mut |script| {
            tries += 1;
            Ok::<_, ()>(differs(asked(script)))
        });
        let crowd = smallest.expect("no error").expect("a smaller one");
        // A grant, a call that puts a key, and the unlock, whose answer shows the old revision.
        assert!((3..=4).contains(&crowd.calls.len()), "{number}: {crowd:?}");
        assert!(crowd.calls.iter().any(|said| matches!(said.call, EtcdCall::Unlock { .. })));
        assert!(tries <= TRIES);
        shrunk += 1;
    }
    assert!(shrunk >= 5, "{shrunk}");
}

#[test]
fn a_difference_that_does_not_come_up_again_is_not_sought_for_ever() {
    let script = EtcdScript::drawn(1, 0, EtcdPace::Slow);
    let mut sizes = Vec::new();
    let smallest: Result<Option<()>, ()> = shrink(&script, 60, &mut |script| {
        sizes.push(script.count());
        Ok(None)
    });
    assert_eq!(smallest, Ok(None));
    assert_eq!(sizes.len(), 60);
    assert_eq!(sizes[..3], [18, 18, 27], "halves first, then less");
    assert!(sizes.iter().all(|size| *size < script.count()));
}

#[test]
fn the_error_of_a_server_ends_it() {
    let script = EtcdScript::drawn(1, 0, EtcdPace::Busy);
    assert_eq!(shrink::<(), _>(&script, TRIES, &mut |_| Err("gone")), Err("gone"));
}
