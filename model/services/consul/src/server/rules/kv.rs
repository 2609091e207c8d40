//! Rules about the key/value store: C-KV.

use super::*;
use crate::{OperatorAction, OperatorActionKind, Semaphore, operator};

#[test]
fn c_kv_1_a_plain_put_always_answers_true() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    lab.acquire(A, session);
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
}

#[test]
fn c_kv_5_get_answers_the_entry_or_404() {
    let mut lab = Lab::new();
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
    lab.put(LOCK, Opaque::Foreign, 3);
    assert!(matches!(lab.ask(A, Request::Get(LOCK)), Answer::Found(_)));
}

#[test]
fn c_kv_6_an_entry_shows_lock_index_flags_value_session_and_both_indexes() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.put(LOCK, Opaque::Foreign, 3);
    let create = lab.server.index;
    lab.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Name(A), 4)));
    let expected = Entry {
        value: Opaque::Name(A),
        flags: 4,
        lock_index: 1,
        session: Some(session),
        spelling: Spelling::default(),
        create,
        modify: create.next(),
    };
    assert_eq!(lab.entry(LOCK), expected);
}

#[test]
fn c_kv_7_a_write_that_changes_nothing_leaves_modify_index_alone() {
    let mut lab = Lab::new();
    lab.put(LOCK, Opaque::Foreign, 0);
    let before = lab.entry(LOCK);
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    assert_eq!(lab.entry(LOCK), before);
    lab.put(LOCK, Opaque::Foreign, 1);
    assert_eq!(lab.entry(LOCK), Entry { flags: 1, modify: lab.server.index, ..before });
}

#[test]
fn c_kv_8_a_plain_put_keeps_the_session_and_zeroes_lock_index() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    assert_eq!(lab.entry(LOCK).lock_index, 1);
    lab.put(LOCK, Opaque::Foreign, 0);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.lock_index, entry.session, entry.flags), (0, Some(session), 0));
}

#[test]
fn c_kv_9_cas_compares_modify_index_and_ignores_the_lock() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    let cas = |lab: &mut Lab, index, value| lab.ask(B, Request::Cas { key: LOCK, index, value, flags: 0 });
    assert_eq!(cas(&mut lab, Index(5), Opaque::Foreign), NO, "absent: only index 0 matches");
    assert_eq!(cas(&mut lab, Index(0), Opaque::Foreign), YES);
    assert_eq!(cas(&mut lab, Index(0), Opaque::Foreign), NO, "present: index 0 does not");
    lab.acquire(A, session);
    let index = lab.entry(LOCK).modify;
    assert_eq!(cas(&mut lab, index, Opaque::Foreign), YES);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.lock_index, entry.session), (0, Some(session)));
    assert_eq!(cas(&mut lab, entry.modify, Opaque::Foreign), YES, "equal contents win the same index again");
    assert_eq!(cas(&mut lab, entry.modify, Opaque::Foreign), YES, "and again");
}

#[test]
fn c_kv_10_acquire_counts_from_free_to_held_and_refuses_others_and_dead_sessions() {
    let mut lab = Lab::new();
    let (first, second) = (lab.session(A, terms(0, 0)), lab.session(B, terms(0, 0)));
    assert_eq!(lab.acquire(A, first), YES);
    assert_eq!((lab.entry(LOCK).lock_index, lab.entry(LOCK).create), (1, lab.server.index));
    assert_eq!(lab.acquire(B, second), NO);
    assert_eq!(lab.facts, [Fact::Refused { client: B, why: Refusal::Held }]);
    lab.release(A, first);
    assert_eq!(lab.acquire(B, second), YES);
    assert_eq!(lab.entry(LOCK).lock_index, 2);
    lab.ask(B, Request::DestroySession(second));
    assert_eq!(lab.acquire(B, second), Answer::InvalidSession);
}

#[test]
fn c_kv_11_the_holder_s_re_acquire_with_the_same_value_changes_nothing() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    let before = lab.entry(LOCK);
    assert_eq!(lab.acquire(A, session), YES);
    assert_eq!(lab.entry(LOCK), before);
    lab.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Empty, 0)));
    assert_eq!(lab.entry(LOCK), Entry { value: Opaque::Empty, modify: lab.server.index, ..before });
}

#[test]
fn c_kv_12_only_the_holder_s_session_releases_and_lock_index_stays() {
    let mut lab = Lab::new();
    let (first, second) = (lab.session(A, terms(0, 0)), lab.session(B, terms(0, 0)));
    assert_eq!(lab.release(A, first), NO, "absent");
    lab.acquire(A, first);
    assert_eq!(lab.release(B, second), NO, "another's");
    let before = lab.entry(LOCK);
    assert_eq!(lab.release(A, first), YES);
    let after = lab.entry(LOCK);
    assert_eq!((after.session, after.lock_index, after.create), (None, before.lock_index, before.create));
    assert_eq!(after.modify, lab.server.index);
    assert_eq!(lab.release(A, first), NO, "free");
}

#[test]
fn c_kv_13_anybody_who_knows_the_id_can_release() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    assert_eq!(lab.release(B, session), YES);
}

#[test]
fn c_kv_14_delete_ignores_locks_and_the_session_lives_on() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    assert_eq!(lab.ask(B, Request::Delete(LOCK)), YES);
    assert_eq!(lab.facts, [Fact::Freed { by: Ending::Deleted }]);
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::Renewed);
}

#[test]
fn c_kv_15_delete_cas_of_an_absent_key_is_true_for_any_index() {
    let mut lab = Lab::new();
    let delete = |lab: &mut Lab, index| lab.ask(B, Request::DeleteCas { key: LOCK, index });
    assert_eq!(delete(&mut lab, Index(77)), YES);
    lab.put(LOCK, Opaque::Foreign, 0);
    assert_eq!(delete(&mut lab, Index(0)), NO, "0 never matches a key that is there");
    let index = lab.entry(LOCK).modify;
    assert_eq!(delete(&mut lab, index), YES);
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_kv_16_release_writes_value_and_flags() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.ask(A, Request::Acquire(Claim::new(LOCK, session, Opaque::Name(A), 7)));
    lab.release(A, session);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.value, entry.flags), (Opaque::Empty, 0));
}

#[test]
fn c_kv_18_after_deletion_everything_starts_anew() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    for _ in 0..3 {
        lab.acquire(A, session);
        lab.release(A, session);
    }
    assert_eq!(lab.entry(LOCK).lock_index, 3);
    lab.ask(A, Request::Delete(LOCK));
    lab.acquire(A, session);
    assert_eq!(
        lab.entry(LOCK),
        Entry { lock_index: 1, create: lab.server.index, modify: lab.server.index, ..lab.server.entry(LOCK).unwrap() }
    );
    lab.ask(A, Request::Delete(LOCK));
    lab.put(LOCK, Opaque::Foreign, 0);
    assert_eq!(lab.entry(LOCK).lock_index, 0);
}

#[test]
fn c_kv_19_key_lock_index_and_session_are_not_a_unique_sequencer() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    let sequencer = |lab: &mut Lab| {
        lab.acquire(A, session);
        let entry = lab.entry(LOCK);
        (entry.lock_index, entry.session, entry.modify)
    };
    let first = sequencer(&mut lab);
    lab.ask(B, Request::Delete(LOCK));
    let second = sequencer(&mut lab);
    assert_eq!((first.0, first.1), (second.0, second.1), "after a deletion");
    lab.put(LOCK, Opaque::Foreign, 0);
    lab.release(A, session);
    let third = sequencer(&mut lab);
    assert_eq!((second.0, second.1), (third.0, third.1), "after a put");
    assert!(first.2 < second.2 && second.2 < third.2, "ModifyIndex right after the acquire is");
}

#[test]
fn c_kv_17_a_recursive_deletion_ignores_locks_and_uses_one_index() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 9));
    lab.acquire(A, session);
    lab.put(OTHER, Opaque::Foreign, 0);
    let before = lab.server.index;
    let context = Context { scenario: &lab.scenario, now: lab.now, me: ProcessId::Server };
    let mut out = Outbox::new();
    lab.server.begin_entry();
    lab.server.delete_tree(Prefix::All, &context, &mut out);
    assert_eq!(out.facts(), [Fact::Freed { by: Ending::Deleted }]);
    assert_eq!((lab.server.keys().count(), lab.server.index), (0, before.next()));
    let next = lab.session(B, terms(0, 0));
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_sem_8_a_semaphore_is_removed_only_while_nobody_who_lives_is_on_it() {
    let mut lab = Lab::new();
    lab.scenario.service.semaphore = Some(Semaphore { limits: vec![1], ..Semaphore::default() });
    lab.scenario.service.operator = vec![OperatorActionKind::DestroySlots.into()];
    let session = lab.session(A, deleting(0, 0));
    lab.ask(A, Request::Acquire(Claim::new(Key::Contender(session), session, Opaque::Empty, 0)));
    let holders = [session].into_iter().collect();
    lab.put(Key::Slots, Opaque::Slots(Slots { limit: 1, holders }), 0);
    let offered = |lab: &Lab| {
        let mut world = lab.scenario.start();
        world.server.process = lab.server.clone();
        let mut acts = Vec::new();
        operator::offers(&world, &lab.scenario, &mut |act| acts.push(act));
        acts
    };
    assert_eq!(offered(&lab), [], "the semaphore is in use");
    lab.ask(A, Request::DestroySession(session));
    let index = lab.entry(Key::Slots).modify;
    assert_eq!(offered(&lab), [OperatorAction::DeleteSlots(Some(index))], "at the index at which that was seen");
}
