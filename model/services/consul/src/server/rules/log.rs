//! Rules about the log: C-GEN.

use super::*;
use fencepost_model::ids::RawId;

#[test]
fn c_gen_3_every_effect_of_an_invalidation_has_the_same_index() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.acquire(A, session);
    harness.ask(A, Request::Acquire(Claim::new(OTHER, session, Opaque::Empty, 0)));
    harness.ask(A, Request::DestroySession(session));
    assert_eq!(harness.entry(LOCK).modify, harness.entry(OTHER).modify);
    assert_eq!(harness.entry(LOCK).modify, harness.server.index);
}

#[test]
fn c_gen_4_writes_without_effect_use_an_index_and_refusals_before_the_log_do_not() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(5, 3));
    let other = harness.session(B, terms(0, 0));
    harness.acquire(A, session);
    let uses = |harness: &mut ServerHarness, request| {
        let before = harness.server.index.raw();
        harness.ask(B, request);
        harness.server.index.raw() - before
    };
    let gone = SessionId::numbered(B, 9);
    assert_eq!(uses(&mut harness, Request::Acquire(Claim::new(LOCK, other, Opaque::Empty, 0))), 1, "held by another");
    assert_eq!(uses(&mut harness, Request::Acquire(Claim::new(LOCK, gone, Opaque::Empty, 0))), 1, "unknown session");
    assert_eq!(
        uses(&mut harness, Request::Release(Claim::new(LOCK, other, Opaque::Empty, 0))),
        1,
        "release of another's"
    );
    assert_eq!(
        uses(&mut harness, Request::Cas { key: LOCK, index: Index::numbered(1), value: Opaque::Empty, flags: 0 }),
        1,
        "stale cas"
    );
    assert_eq!(uses(&mut harness, Request::Delete(OTHER)), 1, "delete of nothing");
    assert_eq!(uses(&mut harness, Request::DeleteCas { key: LOCK, index: Index::numbered(1) }), 1, "stale delete-cas");
    assert_eq!(uses(&mut harness, Request::DestroySession(gone)), 1, "destroy of nothing");
    assert_eq!(uses(&mut harness, Request::RenewSession(session)), 0, "renewal");
    assert_eq!(uses(&mut harness, Request::Get(LOCK)), 0, "read");
    harness.ask(A, Request::DestroySession(session));
    assert_eq!(uses(&mut harness, Request::Acquire(Claim::new(LOCK, other, Opaque::Empty, 0))), 0, "lock-delay");
}
