//! Rules about the key/value store: C-KV.

use super::*;
use crate::{OperatorAction, OperatorActionKind, Semaphore, operator};
use fencepost_model::ids::RawId;

#[test]
fn c_kv_1_a_plain_put_always_answers_true() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    assert_eq!(harness.put(LOCK, Opaque::Foreign, 0), YES);
    harness.acquire(A, session);
    assert_eq!(harness.put(LOCK, Opaque::Foreign, 0), YES);
}

#[test]
fn c_kv_5_get_answers_the_entry_or_404() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.ask(A, Request::Get(LOCK)), Answer::Absent);
    harness.put(LOCK, Opaque::Foreign, 3);
    assert!(matches!(harness.ask(A, Request::Get(LOCK)), Answer::Found(_)));
}

#[test]
fn c_kv_6_an_entry_shows_lock_index_flags_value_session_and_both_indexes() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.put(LOCK, Opaque::Foreign, 3);
    let create = harness.server.index;
    harness.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Name(A), 4)));
    let expected = Entry {
        value: Opaque::Name(A),
        flags: 4,
        lock_index: 1,
        session: Some(session),
        spelling: Spelling::default(),
        create,
        modify: create.next(),
    };
    assert_eq!(harness.entry(LOCK), expected);
}

#[test]
fn c_kv_7_a_write_that_changes_nothing_leaves_modify_index_alone() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Foreign, 0);
    let before = harness.entry(LOCK);
    assert_eq!(harness.put(LOCK, Opaque::Foreign, 0), YES);
    assert_eq!(harness.entry(LOCK), before);
    harness.put(LOCK, Opaque::Foreign, 1);
    assert_eq!(harness.entry(LOCK), Entry { flags: 1, modify: harness.server.index, ..before });
}

#[test]
fn c_kv_8_a_plain_put_keeps_the_session_and_zeroes_lock_index() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.acquire(A, session);
    assert_eq!(harness.entry(LOCK).lock_index, 1);
    harness.put(LOCK, Opaque::Foreign, 0);
    let entry = harness.entry(LOCK);
    assert_eq!((entry.lock_index, entry.session, entry.flags), (0, Some(session), 0));
}

#[test]
fn c_kv_9_cas_compares_modify_index_and_ignores_the_lock() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    let cas =
        |harness: &mut ServerHarness, index, value| harness.ask(B, Request::Cas { key: LOCK, index, value, flags: 0 });
    assert_eq!(cas(&mut harness, Index::numbered(5), Opaque::Foreign), NO, "absent: only index 0 matches");
    assert_eq!(cas(&mut harness, Index::NONE, Opaque::Foreign), YES);
    assert_eq!(cas(&mut harness, Index::NONE, Opaque::Foreign), NO, "present: index 0 does not");
    harness.acquire(A, session);
    let index = harness.entry(LOCK).modify;
    assert_eq!(cas(&mut harness, index, Opaque::Foreign), YES);
    let entry = harness.entry(LOCK);
    assert_eq!((entry.lock_index, entry.session), (0, Some(session)));
    assert_eq!(cas(&mut harness, entry.modify, Opaque::Foreign), YES, "equal contents win the same index again");
    assert_eq!(cas(&mut harness, entry.modify, Opaque::Foreign), YES, "and again");
}

#[test]
fn c_kv_10_acquire_counts_from_free_to_held_and_refuses_others_and_dead_sessions() {
    let mut harness = ServerHarness::new();
    let (first, second) = (harness.session(A, terms(0, 0)), harness.session(B, terms(0, 0)));
    assert_eq!(harness.acquire(A, first), YES);
    assert_eq!((harness.entry(LOCK).lock_index, harness.entry(LOCK).create), (1, harness.server.index));
    assert_eq!(harness.acquire(B, second), NO);
    assert_eq!(harness.facts, [Fact::Refused { client: B, why: Refusal::Held }]);
    harness.release(A, first);
    assert_eq!(harness.acquire(B, second), YES);
    assert_eq!(harness.entry(LOCK).lock_index, 2);
    harness.ask(B, Request::DestroySession(second));
    assert_eq!(harness.acquire(B, second), Answer::InvalidSession);
}

#[test]
fn c_kv_11_the_holder_s_re_acquire_with_the_same_value_changes_nothing() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.acquire(A, session);
    let before = harness.entry(LOCK);
    assert_eq!(harness.acquire(A, session), YES);
    assert_eq!(harness.entry(LOCK), before);
    harness.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Empty, 0)));
    assert_eq!(harness.entry(LOCK), Entry { value: Opaque::Empty, modify: harness.server.index, ..before });
}

#[test]
fn c_kv_12_only_the_holder_s_session_releases_and_lock_index_stays() {
    let mut harness = ServerHarness::new();
    let (first, second) = (harness.session(A, terms(0, 0)), harness.session(B, terms(0, 0)));
    assert_eq!(harness.release(A, first), NO, "absent");
    harness.acquire(A, first);
    assert_eq!(harness.release(B, second), NO, "another's");
    let before = harness.entry(LOCK);
    assert_eq!(harness.release(A, first), YES);
    let after = harness.entry(LOCK);
    assert_eq!((after.session, after.lock_index, after.create), (None, before.lock_index, before.create));
    assert_eq!(after.modify, harness.server.index);
    assert_eq!(harness.release(A, first), NO, "free");
}

#[test]
fn c_kv_13_any_client_that_knows_the_id_can_release() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.acquire(A, session);
    assert_eq!(harness.release(B, session), YES);
}

#[test]
fn c_kv_14_delete_ignores_locks_and_the_session_lives_on() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.acquire(A, session);
    assert_eq!(harness.ask(B, Request::Delete(LOCK)), YES);
    assert_eq!(harness.facts, [Fact::Freed { by: Ending::Deleted }]);
    assert_eq!(harness.ask(A, Request::Get(LOCK)), Answer::Absent);
    assert_eq!(harness.ask(A, Request::RenewSession(session)), Answer::Renewed);
}

#[test]
fn c_kv_15_delete_cas_of_an_absent_key_is_true_for_any_index() {
    let mut harness = ServerHarness::new();
    let delete = |harness: &mut ServerHarness, index| harness.ask(B, Request::DeleteCas { key: LOCK, index });
    assert_eq!(delete(&mut harness, Index::numbered(77)), YES);
    harness.put(LOCK, Opaque::Foreign, 0);
    assert_eq!(delete(&mut harness, Index::NONE), NO, "0 never matches an existing key");
    let index = harness.entry(LOCK).modify;
    assert_eq!(delete(&mut harness, index), YES);
    assert_eq!(harness.ask(A, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_kv_16_release_writes_value_and_flags() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Name(A), 7)));
    harness.release(A, session);
    let entry = harness.entry(LOCK);
    assert_eq!((entry.value, entry.flags), (Opaque::Empty, 0));
}

#[test]
fn c_kv_18_a_key_starts_from_zero_after_its_deletion() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    for _ in 0..3 {
        harness.acquire(A, session);
        harness.release(A, session);
    }
    assert_eq!(harness.entry(LOCK).lock_index, 3);
    harness.ask(A, Request::Delete(LOCK));
    harness.acquire(A, session);
    assert_eq!(
        harness.entry(LOCK),
        Entry {
            lock_index: 1,
            create: harness.server.index,
            modify: harness.server.index,
            ..harness.server.entry(LOCK).unwrap()
        }
    );
    harness.ask(A, Request::Delete(LOCK));
    harness.put(LOCK, Opaque::Foreign, 0);
    assert_eq!(harness.entry(LOCK).lock_index, 0);
}

#[test]
fn c_kv_19_key_lock_index_and_session_are_not_a_unique_sequencer() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    let sequencer = |harness: &mut ServerHarness| {
        harness.acquire(A, session);
        let entry = harness.entry(LOCK);
        (entry.lock_index, entry.session, entry.modify)
    };
    let first = sequencer(&mut harness);
    harness.ask(B, Request::Delete(LOCK));
    let second = sequencer(&mut harness);
    assert_eq!((first.0, first.1), (second.0, second.1), "after a deletion");
    harness.put(LOCK, Opaque::Foreign, 0);
    harness.release(A, session);
    let third = sequencer(&mut harness);
    assert_eq!((second.0, second.1), (third.0, third.1), "after a put");
    assert!(first.2 < second.2 && second.2 < third.2, "ModifyIndex right after the acquire is");
}

#[test]
fn c_kv_17_a_recursive_deletion_ignores_locks_and_uses_one_index() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 9));
    harness.acquire(A, session);
    harness.put(OTHER, Opaque::Foreign, 0);
    let before = harness.server.index;
    let context = Context { scenario: &harness.scenario, now: harness.now, me: ProcessId::Server };
    let mut out = Outbox::new();
    harness.server.begin_entry();
    harness.server.delete_tree(Prefix::All, &context, &mut out);
    assert_eq!(out.facts(), [Fact::Freed { by: Ending::Deleted }]);
    assert_eq!((harness.server.keys().count(), harness.server.index), (0, before.next()));
    let next = harness.session(B, terms(0, 0));
    assert_eq!(harness.acquire(B, next), YES);
}

#[test]
fn c_sem_8_a_semaphore_is_removed_only_without_live_holders() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.semaphore = Some(Semaphore { limits: vec![1], ..Semaphore::default() });
    harness.scenario.service.operator = vec![OperatorActionKind::DestroySlots.into()];
    let session = harness.session(A, deleting(0, 0));
    harness.ask(A, Request::Acquire(Claim::new(Key::Contender(session), session, Opaque::Empty, 0)));
    let holders = [session].into_iter().collect();
    harness.put(Key::Slots, Opaque::Slots(Slots { limit: 1, holders }), 0);
    let offered = |harness: &ServerHarness| {
        let mut world = harness.scenario.start();
        world.server.process = harness.server.clone();
        let mut actions = Vec::new();
        operator::offers(&world, &harness.scenario, &mut |action| actions.push(action));
        actions
    };
    assert_eq!(offered(&harness), [], "the semaphore is in use");
    harness.ask(A, Request::DestroySession(session));
    let index = harness.entry(Key::Slots).modify;
    assert_eq!(offered(&harness), [OperatorAction::DeleteSlots(Some(index))], "at the index of that read");
}
