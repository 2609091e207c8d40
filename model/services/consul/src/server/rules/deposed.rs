//! A leader that is deposed and does not know it; and what else is in the memory of one server only.

use super::*;
use crate::settings::{OldLeader, Renewals, Restarts};

/// A key that A holds, and then a leader that is cut off together with B, while the others have elected another one.
fn deposed() -> (Lab, SessionId, SessionId) {
    let mut lab = Lab::new();
    lab.scenario.service.servers.old_leader = OldLeader::Lingers;
    let (first, second) = (lab.session(A, terms(2, 0)), lab.session(B, terms(2, 0)));
    lab.acquire(A, first);
    lab.suffer(ConsulFault::Depose(Some(B)));
    lab.wake(Timer::Elect);
    (lab, first, second)
}

#[test]
fn c_con_2_a_deposed_leader_answers_default_reads_from_what_it_had() {
    let (mut lab, first, _) = deposed();
    lab.ask(A, Request::DestroySession(first));
    assert!(matches!(lab.ask(A, Request::Get(LOCK)), Answer::Found(Entry { session: None, .. })));
    assert!(matches!(lab.ask(B, Request::Get(LOCK)), Answer::Found(Entry { session: Some(_), .. })), "the old holder");
    lab.wake(Timer::StepDown);
    assert!(matches!(lab.ask(B, Request::Get(LOCK)), Answer::Found(Entry { session: None, .. })));
}

#[test]
fn c_con_3_a_consistent_read_needs_the_others() {
    let (mut lab, ..) = deposed();
    assert!(matches!(lab.ask(A, Request::GetConsistent(LOCK)), Answer::Found(_)));
    assert_eq!(lab.ask(B, Request::GetConsistent(LOCK)), Answer::NoLeader);
}

#[test]
fn c_con_5_writes_need_the_others_and_renewals_do_not() {
    let (mut lab, first, second) = deposed();
    assert_eq!(lab.acquire(B, second), Answer::NoLeader);
    let before = lab.expiry(second);
    lab.pass(1);
    assert_eq!(lab.ask(B, Request::RenewSession(second)), Answer::Renewed);
    assert_eq!(lab.expiry(second), before.map(|left| left - 1), "the new leader knows nothing of it");
    assert_eq!(lab.ask(A, Request::RenewSession(first)), Answer::Renewed);
    lab.scenario.service.servers.renewals = Renewals::WithQuorum;
    assert_eq!(lab.ask(B, Request::RenewSession(second)), Answer::NoLeader);
}

#[test]
fn c_blk_10_a_query_that_waits_at_a_deposed_leader_is_not_woken_by_what_happens_elsewhere() {
    let mut lab = Lab::new();
    lab.scenario.service.servers.old_leader = OldLeader::Lingers;
    let first = lab.session(A, terms(0, 0));
    lab.acquire(A, first);
    let index = lab.entry(LOCK).modify;
    lab.send(B, 7, Request::Watch(Watch { target: Target::Key(LOCK), index, wait: None }));
    lab.suffer(ConsulFault::Depose(Some(B)));
    lab.wake(Timer::Elect);
    assert_eq!(lab.send(A, 8, Request::DestroySession(first)).len(), 1, "only the destroy is answered");
    assert_eq!(lab.wake(Timer::StepDown).len(), 1, "then the query is");
}

#[test]
fn c_gen_2_lock_delays_and_timers_are_no_part_of_the_log() {
    let mut lab = Lab::new();
    let (first, second) = (lab.session(A, terms(2, 5)), lab.session(B, terms(3, 0)));
    lab.acquire(A, first);
    lab.ask(A, Request::DestroySession(first));
    lab.pass(2);
    let index = lab.server.index;
    lab.suffer(ConsulFault::Restart);
    assert_eq!(lab.server.index, index);
    assert_eq!(lab.expiry(second), Some(6), "timers begin again");
    assert_eq!(lab.acquire(B, second), NO);
    lab.pass(4);
    assert_eq!(lab.acquire(B, second), NO, "and so do lock-delays");
    lab.pass(1);
    assert_eq!(lab.acquire(B, second), YES);
}

#[test]
fn c_ld_13_a_snapshot_contains_no_lock_delays() {
    let mut lab = Lab::new();
    lab.scenario.service.servers.restarts = Restarts::FromSnapshot;
    let (first, second) = (lab.session(A, terms(0, 30)), lab.session(B, terms(0, 0)));
    lab.acquire(A, first);
    lab.ask(A, Request::DestroySession(first));
    assert_eq!(lab.acquire(B, second), NO);
    lab.suffer(ConsulFault::Restart);
    assert_eq!(lab.acquire(B, second), YES);
}

#[test]
fn c_ttl_7_without_a_leader_renewals_fail_and_no_session_ends() {
    let mut lab = Lab::new();
    let first = lab.session(A, terms(1, 0));
    lab.suffer(ConsulFault::LoseLeader);
    lab.pass(50);
    assert_eq!(lab.ask(A, Request::RenewSession(first)), Answer::NoLeader);
    assert_eq!(lab.expiry(first), None);
    lab.wake(Timer::Elect);
    assert_eq!(lab.expiry(first), Some(2));
}

#[test]
fn c_ttl_8_a_pause_of_the_server_counts_and_the_timer_wins_against_queued_renewals() {
    let mut lab = Lab::new();
    let first = lab.session(A, terms(1, 0));
    lab.pass(25);
    assert_eq!(lab.expiry(first), Some(2 - 25), "overdue");
    lab.expire(first);
    for call in 1..5 {
        assert_eq!(lab.send(A, call, Request::RenewSession(first)), [(A.into(), Answer::UnknownSession)]);
    }
}
