//! Rules about transactions: C-TXN.

use super::*;
use fencepost_model::ids::RawId;

fn commit(operations: &[Operation]) -> Request {
    Request::Commit(Transaction { operations: operations.iter().copied().collect(), tenure: Default::default() })
}

fn claim(session: SessionId) -> Claim<Plain> {
    Claim::new(LOCK, session, Plain::Empty, 0)
}

const SET: Operation = Operation::Set { key: Key::Data, value: Plain::Foreign, flags: 0 };

#[test]
fn c_txn_2_verbs_have_the_effects_of_single_requests() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    assert_eq!(harness.ask(A, commit(&[Operation::Lock(claim(session))])), Answer::Committed);
    let locked = harness.entry(LOCK);
    assert_eq!((locked.session, locked.lock_index), (Some(session), 1));
    let (key, value) = (LOCK, Plain::Foreign);
    let cas = |index| Operation::Cas { key, index, value, flags: 0 };
    assert_eq!(harness.ask(A, commit(&[cas(Index::numbered(1))])), Answer::RolledBack(0));
    assert_eq!(harness.ask(A, commit(&[cas(locked.modify)])), Answer::Committed);
    assert_eq!(harness.entry(LOCK).lock_index, 0, "as C-KV-9 says");
    assert_eq!(harness.ask(A, commit(&[Operation::Unlock(claim(session))])), Answer::Committed);
    assert_eq!(harness.ask(A, commit(&[Operation::Unlock(claim(session))])), Answer::RolledBack(0));
}

#[test]
fn c_txn_3_all_or_nothing_at_one_index_each_seeing_the_former_ones() {
    let mut harness = ServerHarness::new();
    let (first, second) = (harness.session(A, terms(0, 0)), harness.session(B, terms(0, 0)));
    let before = harness.server.index;
    let hand_over = [Operation::Lock(claim(first)), Operation::Unlock(claim(first)), Operation::Lock(claim(second))];
    assert_eq!(harness.ask(A, commit(&hand_over)), Answer::Committed);
    let entry = harness.entry(LOCK);
    assert_eq!((entry.session, entry.lock_index, entry.modify), (Some(second), 2, before.next()));
    assert_eq!(harness.ask(A, commit(&[SET, Operation::Lock(claim(first))])), Answer::RolledBack(1));
    assert_eq!(harness.ask(A, Request::Get(Key::Data)), Answer::Absent);
}

#[test]
fn c_txn_6_a_check_of_the_session_makes_the_write_conditional_on_the_lock() {
    let mut harness = ServerHarness::new();
    let (mine, other) = (harness.session(A, terms(0, 0)), harness.session(B, terms(0, 0)));
    let check = |session| Operation::CheckSession { key: LOCK, session, spelling: Spelling::default() };
    assert_eq!(harness.ask(A, commit(&[check(None), SET])), Answer::RolledBack(0), "an absent key fails every check");
    harness.acquire(A, mine);
    for (session, answer) in
        [(Some(mine), Answer::Committed), (Some(other), Answer::RolledBack(0)), (None, Answer::RolledBack(0))]
    {
        assert_eq!(harness.ask(A, commit(&[check(session), SET])), answer);
    }
    let index = harness.entry(LOCK).modify;
    assert_eq!(harness.ask(A, commit(&[Operation::CheckIndex { key: LOCK, index }, SET])), Answer::Committed);
    harness.release(A, mine);
    assert_eq!(harness.ask(A, commit(&[Operation::CheckIndex { key: LOCK, index }, SET])), Answer::RolledBack(0));
    assert_eq!(harness.ask(A, commit(&[check(None), SET])), Answer::Committed);
}

#[test]
fn c_txn_8_the_lock_delay_is_checked_before_the_log() {
    let mut harness = ServerHarness::new();
    let (ending, next) = (harness.session(A, terms(0, 9)), harness.session(B, terms(0, 0)));
    harness.acquire(A, ending);
    harness.ask(A, Request::DestroySession(ending));
    let before = harness.server.index;
    assert_eq!(harness.ask(B, commit(&[SET, Operation::Lock(claim(next))])), Answer::RolledBack(1));
    assert_eq!(harness.server.index, before);
}
