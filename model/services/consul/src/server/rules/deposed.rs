//! A deposed leader that does not know it, and other state that only one server has.

use super::*;
use crate::settings::{OldLeader, Renewals, Restarts};

/// A key held by A, and a leader that is cut off together with B while the others have elected another leader.
fn deposed() -> (ServerHarness, SessionId, SessionId) {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.old_leader = OldLeader::Lingers;
    let (first, second) = (harness.session(A, terms(2, 0)), harness.session(B, terms(2, 0)));
    harness.acquire(A, first);
    harness.suffer(ConsulFault::Depose(Some(B)));
    harness.wake(Timer::Elect);
    (harness, first, second)
}

#[test]
fn c_con_2_a_deposed_leader_answers_default_reads_from_its_memory() {
    let (mut harness, first, _) = deposed();
    harness.ask(A, Request::DestroySession(first));
    assert!(matches!(harness.ask(A, Request::Get(LOCK)), Answer::Found(Entry { session: None, .. })));
    assert!(
        matches!(harness.ask(B, Request::Get(LOCK)), Answer::Found(Entry { session: Some(_), .. })),
        "the old holder"
    );
    harness.wake(Timer::StepDown);
    assert!(matches!(harness.ask(B, Request::Get(LOCK)), Answer::Found(Entry { session: None, .. })));
}

#[test]
fn c_con_3_a_consistent_read_needs_the_others() {
    let (mut harness, ..) = deposed();
    assert!(matches!(harness.ask(A, Request::GetConsistent(LOCK)), Answer::Found(_)));
    assert_eq!(harness.ask(B, Request::GetConsistent(LOCK)), Answer::NoLeader);
}

#[test]
fn c_con_2_a_default_query_with_nothing_to_wait_for_is_answered_from_memory_too() {
    let (mut harness, first, second) = deposed();
    harness.ask(A, Request::DestroySession(first));
    let watch = Watch { target: Target::Key(LOCK), index: Index::NONE, wait: None };
    let held = |answer| matches!(answer, Answer::Found(Entry { session: Some(_), .. }));
    assert!(held(harness.ask(B, Request::Watch(watch))), "the old holder");
    assert!(!held(harness.ask(A, Request::Watch(watch))));
    assert_eq!(harness.ask(B, Request::WatchConsistent(watch)), Answer::NoLeader, "C-CON-3");
    // Sessions, too: the new leader has ended that of A.
    assert_ne!(harness.ask(B, Request::SessionInfo(first)), Answer::Session(None));
    assert_eq!(harness.ask(A, Request::SessionInfo(first)), Answer::Session(None));
    let sessions = |answer| matches!(answer, Answer::Sessions(list) if list.ids[..] == [first, second]);
    assert!(sessions(harness.ask(B, Request::Sessions(None))));
    assert_eq!(harness.ask(B, Request::Leader), Answer::Leader(true), "it takes itself for the leader");
}

#[test]
fn c_con_2_lists_are_read_from_memory_too() {
    let (mut harness, first, _) = deposed();
    let index = harness.entry(LOCK).modify;
    harness.ask(A, Request::DestroySession(first));
    let tree = |answer| match answer {
        Answer::Tree(tree) => (tree.rows[0].modify, tree.rows[0].session),
        other => panic!("{other}"),
    };
    assert_eq!(tree(harness.ask(B, Request::Tree(Prefix::All))), (index, Some(first)));
    let (newer, holder) = tree(harness.ask(A, Request::Tree(Prefix::All)));
    assert!(newer > index && holder.is_none());
}

#[test]
fn c_con_2_a_default_query_waits_at_a_deposed_leader_and_ends_with_what_it_remembers() {
    let (mut harness, first, _) = deposed();
    let index = harness.entry(LOCK).modify;
    let watch = Watch { target: Target::Key(LOCK), index, wait: Some(Ticks::new(3)) };
    assert_eq!(harness.send(B, 7, Request::Watch(watch)), []);
    assert_eq!(harness.send(A, 8, Request::DestroySession(first)).len(), 1, "only the destroy is answered");
    harness.pass(3);
    let answers = harness.wake(Timer::Deadline(B, Call(7)));
    assert!(
        matches!(answers[..], [(_, Answer::Found(Entry { session: Some(_), modify, .. }))] if modify == index),
        "C-BLK-1: what the last run has seen, {answers:?}"
    );
}

#[test]
fn c_con_5_writes_need_the_others_and_renewals_do_not() {
    let (mut harness, first, second) = deposed();
    assert_eq!(harness.acquire(B, second), Answer::NoLeader);
    let before = harness.expiry(second);
    harness.pass(1);
    assert_eq!(harness.ask(B, Request::RenewSession(second)), Answer::Renewed);
    assert_eq!(harness.expiry(second), before.map(|left| left - 1), "the new leader does not know the renewal");
    assert_eq!(harness.ask(A, Request::RenewSession(first)), Answer::Renewed);
    harness.scenario.service.servers.renewals = Renewals::WithQuorum;
    assert_eq!(harness.ask(B, Request::RenewSession(second)), Answer::NoLeader);
}

#[test]
fn c_blk_10_a_consistent_query_fails_when_its_leader_learns_that_it_is_deposed() {
    for (request, expected) in [(Request::Watch as fn(Watch) -> Request, true), (Request::WatchConsistent, false)] {
        let mut harness = ServerHarness::new();
        harness.scenario.service.servers.old_leader = OldLeader::Lingers;
        let first = harness.session(A, terms(0, 0));
        harness.acquire(A, first);
        let index = harness.entry(LOCK).modify;
        harness.send(B, 7, request(Watch { target: Target::Key(LOCK), index, wait: None }));
        harness.suffer(ConsulFault::Depose(Some(B)));
        harness.wake(Timer::Elect);
        harness.send(A, 8, Request::DestroySession(first));
        let answers = harness.wake(Timer::StepDown);
        let [(_, answer)] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!(matches!(answer, Answer::Found(Entry { session: None, .. })), expected, "{answer}");
        assert_eq!(*answer == Answer::NoLeader, !expected);
    }
}

#[test]
fn c_blk_10_changes_at_other_servers_do_not_wake_a_query_at_a_deposed_leader() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.old_leader = OldLeader::Lingers;
    let first = harness.session(A, terms(0, 0));
    harness.acquire(A, first);
    let index = harness.entry(LOCK).modify;
    harness.send(B, 7, Request::Watch(Watch { target: Target::Key(LOCK), index, wait: None }));
    harness.suffer(ConsulFault::Depose(Some(B)));
    harness.wake(Timer::Elect);
    assert_eq!(harness.send(A, 8, Request::DestroySession(first)).len(), 1, "only the destroy is answered");
    assert_eq!(harness.wake(Timer::StepDown).len(), 1, "then the query is");
}

#[test]
fn c_gen_2_lock_delays_and_timers_are_not_in_the_log() {
    let mut harness = ServerHarness::new();
    let (first, second) = (harness.session(A, terms(2, 5)), harness.session(B, terms(3, 0)));
    harness.acquire(A, first);
    harness.ask(A, Request::DestroySession(first));
    harness.pass(2);
    let index = harness.server.index;
    harness.suffer(ConsulFault::Restart);
    assert_eq!(harness.server.index, index);
    assert_eq!(harness.expiry(second), Some(6), "timers begin again");
    assert_eq!(harness.acquire(B, second), NO);
    harness.pass(4);
    assert_eq!(harness.acquire(B, second), NO, "and so do lock-delays");
    harness.pass(1);
    assert_eq!(harness.acquire(B, second), YES);
}

#[test]
fn c_ld_13_a_snapshot_contains_no_lock_delays() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.restarts = Restarts::FromSnapshot;
    let (first, second) = (harness.session(A, terms(0, 30)), harness.session(B, terms(0, 0)));
    harness.acquire(A, first);
    harness.ask(A, Request::DestroySession(first));
    assert_eq!(harness.acquire(B, second), NO);
    harness.suffer(ConsulFault::Restart);
    assert_eq!(harness.acquire(B, second), YES);
}

#[test]
fn c_ttl_7_without_a_leader_renewals_fail_and_no_session_ends() {
    let mut harness = ServerHarness::new();
    let first = harness.session(A, terms(1, 0));
    harness.suffer(ConsulFault::LoseLeader);
    harness.pass(50);
    assert_eq!(harness.ask(A, Request::RenewSession(first)), Answer::NoLeader);
    assert_eq!(harness.expiry(first), None);
    harness.wake(Timer::Elect);
    assert_eq!(harness.expiry(first), Some(2));
}

#[test]
fn c_ttl_8_a_pause_of_the_server_counts_and_the_timer_wins_against_queued_renewals() {
    let mut harness = ServerHarness::new();
    let first = harness.session(A, terms(1, 0));
    harness.pass(25);
    assert_eq!(harness.expiry(first), Some(2 - 25), "overdue");
    harness.expire(first);
    for call in 1..5 {
        assert_eq!(harness.send(A, call, Request::RenewSession(first)), [(A.into(), Answer::UnknownSession)]);
    }
}
