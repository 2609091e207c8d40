//! Rules about transactions: C-TXN.

use super::*;

fn commit(operations: &[Operation]) -> Request {
    Request::Commit(Transaction { operations: operations.iter().copied().collect(), tenure: Default::default() })
}

fn claim(session: SessionId) -> Claim<Plain> {
    Claim::new(LOCK, session, Plain::Empty, 0)
}

const SET: Operation = Operation::Set { key: Key::Data, value: Plain::Foreign, flags: 0 };

#[test]
fn c_txn_2_verbs_do_what_single_requests_do() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    assert_eq!(lab.ask(A, commit(&[Operation::Lock(claim(session))])), Answer::Committed);
    let locked = lab.entry(LOCK);
    assert_eq!((locked.session, locked.lock_index), (Some(session), 1));
    let (key, value) = (LOCK, Plain::Foreign);
    let cas = |index| Operation::Cas { key, index, value, flags: 0 };
    assert_eq!(lab.ask(A, commit(&[cas(Index(1))])), Answer::RolledBack(0));
    assert_eq!(lab.ask(A, commit(&[cas(locked.modify)])), Answer::Committed);
    assert_eq!(lab.entry(LOCK).lock_index, 0, "as C-KV-9 says");
    assert_eq!(lab.ask(A, commit(&[Operation::Unlock(claim(session))])), Answer::Committed);
    assert_eq!(lab.ask(A, commit(&[Operation::Unlock(claim(session))])), Answer::RolledBack(0));
}

#[test]
fn c_txn_3_all_or_nothing_at_one_index_each_seeing_the_former_ones() {
    let mut lab = Lab::new();
    let (first, second) = (lab.session(A, terms(0, 0)), lab.session(B, terms(0, 0)));
    let before = lab.server.index;
    let hand_over = [Operation::Lock(claim(first)), Operation::Unlock(claim(first)), Operation::Lock(claim(second))];
    assert_eq!(lab.ask(A, commit(&hand_over)), Answer::Committed);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.session, entry.lock_index, entry.modify), (Some(second), 2, before.next()));
    assert_eq!(lab.ask(A, commit(&[SET, Operation::Lock(claim(first))])), Answer::RolledBack(1));
    assert_eq!(lab.ask(A, Request::Get(Key::Data)), Answer::Absent);
}

#[test]
fn c_txn_6_a_check_of_the_session_makes_the_write_conditional_on_the_lock() {
    let mut lab = Lab::new();
    let (mine, other) = (lab.session(A, terms(0, 0)), lab.session(B, terms(0, 0)));
    let check = |session| Operation::CheckSession { key: LOCK, session, spelling: Spelling::default() };
    assert_eq!(lab.ask(A, commit(&[check(None), SET])), Answer::RolledBack(0), "an absent key fails every check");
    lab.acquire(A, mine);
    for (session, answer) in
        [(Some(mine), Answer::Committed), (Some(other), Answer::RolledBack(0)), (None, Answer::RolledBack(0))]
    {
        assert_eq!(lab.ask(A, commit(&[check(session), SET])), answer);
    }
    let index = lab.entry(LOCK).modify;
    assert_eq!(lab.ask(A, commit(&[Operation::CheckIndex { key: LOCK, index }, SET])), Answer::Committed);
    lab.release(A, mine);
    assert_eq!(lab.ask(A, commit(&[Operation::CheckIndex { key: LOCK, index }, SET])), Answer::RolledBack(0));
    assert_eq!(lab.ask(A, commit(&[check(None), SET])), Answer::Committed);
}

#[test]
fn c_txn_8_the_lock_delay_is_looked_at_before_the_log() {
    let mut lab = Lab::new();
    let (ending, next) = (lab.session(A, terms(0, 9)), lab.session(B, terms(0, 0)));
    lab.acquire(A, ending);
    lab.ask(A, Request::DestroySession(ending));
    let before = lab.server.index;
    assert_eq!(lab.ask(B, commit(&[SET, Operation::Lock(claim(next))])), Answer::RolledBack(1));
    assert_eq!(lab.server.index, before);
}
