//! Rules about the log: C-GEN.

use super::*;

#[test]
fn c_gen_3_all_that_an_invalidation_does_carries_one_index() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    lab.ask(A, Request::Acquire(Claim::new(OTHER, session, Opaque::Empty, 0)));
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(lab.entry(LOCK).modify, lab.entry(OTHER).modify);
    assert_eq!(lab.entry(LOCK).modify, lab.server.index);
}

#[test]
fn c_gen_4_useless_writes_use_up_an_index_and_refusals_before_the_log_do_not() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(5, 3));
    let other = lab.session(B, terms(0, 0));
    lab.acquire(A, session);
    let uses = |lab: &mut Lab, request| {
        let before = lab.server.index.0;
        lab.ask(B, request);
        lab.server.index.0 - before
    };
    let gone = SessionId { creator: B, number: 9 };
    assert_eq!(uses(&mut lab, Request::Acquire(Claim::new(LOCK, other, Opaque::Empty, 0))), 1, "held by another");
    assert_eq!(uses(&mut lab, Request::Acquire(Claim::new(LOCK, gone, Opaque::Empty, 0))), 1, "unknown session");
    assert_eq!(uses(&mut lab, Request::Release(Claim::new(LOCK, other, Opaque::Empty, 0))), 1, "release of another's");
    assert_eq!(
        uses(&mut lab, Request::Cas { key: LOCK, index: Index(1), value: Opaque::Empty, flags: 0 }),
        1,
        "stale cas"
    );
    assert_eq!(uses(&mut lab, Request::Delete(OTHER)), 1, "delete of nothing");
    assert_eq!(uses(&mut lab, Request::DeleteCas { key: LOCK, index: Index(1) }), 1, "stale delete-cas");
    assert_eq!(uses(&mut lab, Request::DestroySession(gone)), 1, "destroy of nothing");
    assert_eq!(uses(&mut lab, Request::RenewSession(session)), 0, "renewal");
    assert_eq!(uses(&mut lab, Request::Get(LOCK)), 0, "read");
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(uses(&mut lab, Request::Acquire(Claim::new(LOCK, other, Opaque::Empty, 0))), 0, "lock-delay");
}
