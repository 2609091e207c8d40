//! Rules about sessions, their end and their TTL: C-SES, C-INV, C-TTL.

use super::*;
use fencepost_model::ids::RawId;

#[test]
fn c_ses_1_a_session_has_the_requested_terms() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, deleting(7, 3));
    assert_eq!(harness.server.row(session).map(|row| row.terms), Some(deleting(7, 3)));
}

#[test]
fn c_ses_2_ids_are_always_fresh() {
    let mut harness = ServerHarness::new();
    let first = harness.session(A, terms(0, 0));
    harness.ask(A, Request::DestroySession(first));
    assert_ne!(harness.session(A, terms(0, 0)), first);
}

#[test]
fn c_ses_9_lock_delay_is_kept_as_asked_and_capped_at_use() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.lock_delay_max = Some(Ticks::new(60));
    let session = harness.session(A, terms(0, 120));
    assert_eq!(harness.server.row(session).map(|row| row.terms.lock_delay), Some(Ticks::new(120)));
    harness.acquire(A, session);
    harness.ask(A, Request::DestroySession(session));
    let next = harness.session(B, terms(0, 0));
    harness.pass(59);
    assert_eq!(harness.acquire(B, next), NO);
    harness.pass(1);
    assert_eq!(harness.acquire(B, next), YES);
}

#[test]
fn c_ses_14_creation_uses_one_index_and_renewal_none() {
    let mut harness = ServerHarness::new();
    let before = harness.server.index;
    let session = harness.session(A, terms(5, 0));
    assert_eq!(harness.server.index, before.next());
    harness.ask(A, Request::RenewSession(session));
    assert_eq!(harness.server.index, before.next());
}

#[test]
fn c_ses_18_renewal_answers_404_for_the_unknown_and_does_nothing_without_ttl() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    assert_eq!(harness.ask(A, Request::RenewSession(session)), Answer::Renewed);
    assert_eq!(harness.expiry(session), None);
    assert_eq!(harness.ask(A, Request::RenewSession(SessionId::numbered(A, 9))), Answer::UnknownSession);
}

#[test]
fn c_ses_19_destroy_is_always_true_for_any_client() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    assert_eq!(harness.ask(B, Request::DestroySession(session)), YES);
    assert_eq!(harness.facts, [Fact::Destroyed { session }]);
    assert_eq!(harness.ask(B, Request::DestroySession(session)), YES);
    assert_eq!(harness.facts, []);
}

#[test]
fn c_inv_1_release_behaviour_keeps_the_entry_and_delete_behaviour_removes_it() {
    let mut harness = ServerHarness::new();
    let keeping = harness.session(A, terms(0, 0));
    harness.acquire(A, keeping);
    let before = harness.entry(LOCK);
    harness.ask(A, Request::DestroySession(keeping));
    assert!(harness.facts.contains(&Fact::Freed { by: Ending::Invalidated }));
    assert_eq!(harness.entry(LOCK), Entry { session: None, modify: harness.server.index, ..before });
    let removing = harness.session(A, deleting(0, 0));
    harness.acquire(A, removing);
    harness.ask(A, Request::DestroySession(removing));
    assert_eq!(harness.ask(B, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_inv_2_keys_released_before_are_not_touched_and_not_delayed() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 5));
    harness.acquire(A, session);
    harness.release(A, session);
    let before = harness.entry(LOCK);
    harness.ask(A, Request::DestroySession(session));
    assert_eq!(harness.entry(LOCK), before);
    let next = harness.session(B, terms(0, 5));
    assert_eq!(harness.acquire(B, next), YES);
}

#[test]
fn c_inv_11_invalidation_leaves_value_flags_and_lock_index() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Name(A), 7)));
    harness.ask(A, Request::DestroySession(session));
    let entry = harness.entry(LOCK);
    assert_eq!((entry.value, entry.flags, entry.lock_index), (Opaque::Name(A), 7, 1));
}

#[test]
fn c_ttl_1_the_timer_starts_on_creation_and_on_renewal() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(5, 0));
    assert_eq!(harness.expiry(session), Some(10));
    harness.pass(4);
    harness.ask(A, Request::RenewSession(session));
    assert_eq!(harness.expiry(session), Some(10));
}

#[test]
fn c_ttl_2_the_timer_is_twice_the_ttl() {
    let mut harness = ServerHarness::new();
    assert_eq!(Settings::default().ttl_multiplier, 2);
    let session = harness.session(A, terms(15, 0));
    assert_eq!(harness.expiry(session), Some(30));
}

#[test]
fn c_ttl_3_a_renewal_after_the_ttl_is_accepted_and_restarts_the_timer() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(10, 0));
    harness.pass(12);
    assert_eq!(harness.ask(A, Request::RenewSession(session)), Answer::Renewed);
    assert_eq!(harness.expiry(session), Some(20));
}

#[test]
fn c_ttl_4_when_the_timer_fires_the_session_is_destroyed_in_the_log() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(1, 0));
    harness.acquire(A, session);
    let before = harness.server.index;
    harness.expire(session);
    assert_eq!(harness.facts, [Fact::Expired { session }, Fact::Freed { by: Ending::Invalidated }]);
    assert_eq!(harness.server.index, before.next());
    assert_eq!(harness.ask(A, Request::RenewSession(session)), Answer::UnknownSession);
}
