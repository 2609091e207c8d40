//! Rules about the lock-delay: C-LD.

use super::*;

/// A harness: A's session has just ended while it had the lock, and B has a session.
fn delayed(delay: i64) -> (ServerHarness, SessionId) {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, delay));
    harness.acquire(A, session);
    harness.ask(A, Request::DestroySession(session));
    let next = harness.session(B, terms(0, 0));
    (harness, next)
}

#[test]
fn c_ld_1_the_delay_counts_from_the_server_s_own_clock_when_the_session_ends() {
    let (mut harness, next) = delayed(4);
    harness.pass(3);
    assert_eq!(harness.acquire(B, next), NO);
    harness.pass(1);
    assert_eq!(harness.acquire(B, next), YES);
}

#[test]
fn c_ld_2_an_acquire_is_refused_while_the_deadline_is_ahead() {
    let (mut harness, next) = delayed(1);
    assert_eq!(harness.acquire(B, next), NO);
    assert_eq!(harness.facts, [Fact::Refused { client: B, why: Refusal::LockDelay }]);
}

#[test]
fn c_ld_3_zero_means_none() {
    let (mut harness, next) = delayed(0);
    assert_eq!(harness.acquire(B, next), YES);
}

#[test]
fn c_ld_4_the_delay_is_checked_before_the_session() {
    let (mut harness, _) = delayed(3);
    let unknown = SessionId::numbered(A, 9);
    assert_eq!(harness.acquire(A, unknown), NO);
    harness.pass(3);
    assert_eq!(harness.acquire(A, unknown), Answer::InvalidSession);
}

#[test]
fn c_ld_5_put_cas_delete_and_release_are_not_delayed() {
    let (mut harness, _) = delayed(9);
    assert_eq!(harness.put(LOCK, Opaque::Foreign, 0), YES);
    let index = harness.entry(LOCK).modify;
    assert_eq!(harness.ask(B, Request::Cas { key: LOCK, index, value: Opaque::Empty, flags: 0 }), YES);
    assert_eq!(harness.ask(B, Request::Delete(LOCK)), YES);
}

#[test]
fn c_ld_6_release_and_deletion_start_no_delay() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 9));
    let next = harness.session(B, terms(0, 9));
    harness.acquire(A, session);
    harness.release(A, session);
    assert_eq!(harness.acquire(B, next), YES);
    harness.ask(A, Request::Delete(LOCK));
    harness.ask(B, Request::DestroySession(next));
    assert_eq!(harness.acquire(A, session), YES);
}

#[test]
fn c_ld_7_the_delay_belongs_to_the_name_and_outlives_the_entry() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, deleting(0, 3));
    let next = harness.session(B, terms(0, 0));
    harness.acquire(A, session);
    harness.ask(A, Request::DestroySession(session));
    assert_eq!(harness.put(LOCK, Opaque::Foreign, 0), YES);
    assert_eq!(harness.acquire(B, next), NO);
    harness.pass(3);
    assert_eq!(harness.acquire(B, next), YES);
}
