//! Rules about the lock-delay: C-LD.

use super::*;

/// A lab in which A's session has just ended while it had the lock, and B has a session.
fn delayed(delay: i64) -> (Lab, SessionId) {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, delay));
    lab.acquire(A, session);
    lab.ask(A, Request::DestroySession(session));
    let next = lab.session(B, terms(0, 0));
    (lab, next)
}

#[test]
fn c_ld_1_the_delay_counts_from_the_server_s_own_clock_when_the_session_ends() {
    let (mut lab, next) = delayed(4);
    lab.pass(3);
    assert_eq!(lab.acquire(B, next), NO);
    lab.pass(1);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_ld_2_an_acquire_is_refused_while_the_deadline_is_ahead() {
    let (mut lab, next) = delayed(1);
    assert_eq!(lab.acquire(B, next), NO);
    assert_eq!(lab.facts, [Fact::Refused { client: B, why: Refusal::LockDelay }]);
}

#[test]
fn c_ld_3_zero_means_none() {
    let (mut lab, next) = delayed(0);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_ld_4_the_delay_comes_before_any_look_at_the_session() {
    let (mut lab, _) = delayed(3);
    let unknown = SessionId { creator: A, number: 9 };
    assert_eq!(lab.acquire(A, unknown), NO);
    lab.pass(3);
    assert_eq!(lab.acquire(A, unknown), Answer::InvalidSession);
}

#[test]
fn c_ld_5_put_cas_delete_and_release_are_not_delayed() {
    let (mut lab, _) = delayed(9);
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    let index = lab.entry(LOCK).modify;
    assert_eq!(lab.ask(B, Request::Cas { key: LOCK, index, value: Opaque::Empty, flags: 0 }), YES);
    assert_eq!(lab.ask(B, Request::Delete(LOCK)), YES);
}

#[test]
fn c_ld_6_release_and_deletion_start_no_delay() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 9));
    let next = lab.session(B, terms(0, 9));
    lab.acquire(A, session);
    lab.release(A, session);
    assert_eq!(lab.acquire(B, next), YES);
    lab.ask(A, Request::Delete(LOCK));
    lab.ask(B, Request::DestroySession(next));
    assert_eq!(lab.acquire(A, session), YES);
}

#[test]
fn c_ld_7_the_delay_belongs_to_the_name_and_outlives_the_entry() {
    let mut lab = Lab::new();
    let session = lab.session(A, deleting(0, 3));
    let next = lab.session(B, terms(0, 0));
    lab.acquire(A, session);
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    assert_eq!(lab.acquire(B, next), NO);
    lab.pass(3);
    assert_eq!(lab.acquire(B, next), YES);
}
