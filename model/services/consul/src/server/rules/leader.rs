//! Rules about events among the servers: C-TTL-5, C-TTL-6, C-LD-9 to C-LD-12, C-CON-6, C-BLK-9.

use super::*;
use crate::{Requests, Timers};
use fencepost_model::scenario::UNLIMITED;

#[test]
fn c_ttl_5_a_renewal_between_timer_and_end_is_answered_with_200_but_has_no_effect() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.expiry = Expiry::TwoSteps;
    let session = harness.session(A, terms(5, 0));
    harness.expire(session);
    assert_eq!(harness.ask(A, Request::RenewSession(session)), Answer::Renewed);
    assert!(harness.facts.contains(&Fact::Service(ConsulEvent::RenewedInVain(session))));
    assert_eq!(harness.expiry(session), Some(10));
    harness.wake(Timer::Destroy(session));
    assert_eq!(harness.ask(A, Request::RenewSession(session)), Answer::UnknownSession);
}

#[test]
fn c_ttl_6_a_new_leader_starts_every_timer_in_full() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(5, 0));
    harness.pass(9);
    harness.suffer(ConsulFault::LoseLeader);
    assert_eq!(harness.expiry(session), None);
    harness.pass(3);
    harness.wake(Timer::Elect);
    assert_eq!(harness.expiry(session), Some(10));
}

#[test]
fn c_con_6_without_a_leader_everything_is_answered_with_an_error() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(5, 0));
    let before = harness.server.index;
    harness.suffer(ConsulFault::LoseLeader);
    for request in [Request::Get(LOCK), Request::RenewSession(session), Request::DestroySession(session)] {
        assert_eq!(harness.ask(A, request), Answer::NoLeader);
    }
    assert_eq!(harness.server.index, before);
    harness.wake(Timer::Elect);
    assert_eq!(harness.ask(A, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_con_6_a_request_that_is_held_is_answered_when_there_is_a_leader() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.requests = Requests::Held;
    let session = harness.session(A, terms(0, 0));
    harness.suffer(ConsulFault::LoseLeader);
    assert_eq!(harness.send(B, 1, Request::Get(LOCK)), []);
    assert_eq!(harness.send(A, 2, Request::Acquire(Claim::new(LOCK, session, Opaque::Empty, 0))), []);
    assert_eq!(harness.wake(Timer::Elect), [(B.into(), Answer::Absent), (A.into(), YES)], "in order of arrival");
    harness.suffer(ConsulFault::LoseLeader);
    assert_eq!(harness.send(B, 3, Request::Get(LOCK)), []);
    assert_eq!(harness.suffer(ConsulFault::Restart), [(B.into(), Answer::Disconnected)]);
}

#[test]
fn b_21_with_checkpoints_a_new_leader_knows_how_much_time_was_left() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.timers = Timers::GoOn;
    let session = harness.session(A, terms(5, 0));
    harness.pass(9);
    harness.suffer(ConsulFault::LoseLeader);
    harness.wake(Timer::Elect);
    assert_eq!(harness.expiry(session), Some(1));
}

#[test]
fn b_21_unlimited_elections_need_no_budget() {
    let mut harness = ServerHarness::new();
    harness.scenario.budget.allow::<ConsulFault>("leader_losses", UNLIMITED);
    harness.suffer(ConsulFault::LoseLeader);
    harness.wake(Timer::Elect);
    let mut world = harness.scenario.start();
    world.left.pay(ConsulFault::LEADER_LOSS);
    assert_eq!(world.left, harness.scenario.budget);
    let mut offered = Vec::new();
    Server::offer_faults(&world, &harness.scenario.service.servers, &mut |fault| offered.push(fault));
    assert_eq!(offered, [ConsulFault::LoseLeader]);
}

/// A harness in which A's lock has just been freed by the end of its session, and B has a session.
fn freed(delay: i64) -> (ServerHarness, SessionId) {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, delay));
    harness.acquire(A, session);
    let next = harness.session(B, terms(0, 0));
    harness.ask(B, Request::DestroySession(session));
    (harness, next)
}

#[test]
fn c_ld_9_an_acquire_that_passed_the_check_is_applied_although_the_delay_has_begun() {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.log = Log::Delayed;
    let session = harness.session(A, terms(0, 9));
    let claim = |session| Request::Acquire(Claim::new(LOCK, session, Opaque::Empty, 0));
    assert_eq!(harness.send(A, 1, claim(session)), []);
    assert_eq!(harness.wake(Timer::Apply(A, Call(1))), [(A.into(), YES)]);
    let next = harness.session(B, terms(0, 0));
    assert_eq!(harness.send(B, 7, claim(next)), []);
    harness.ask(A, Request::DestroySession(session));
    assert_eq!(harness.wake(Timer::Apply(B, Call(7))), [(B.into(), YES)]);
}

#[test]
fn c_ld_11_the_delays_of_a_new_leader_end_like_the_old_ones_or_restart() {
    for (elects, remains) in [(Timer::Elect, 5), (Timer::ElectBehind, 9)] {
        let (mut harness, next) = freed(9);
        harness.pass(4);
        harness.suffer(ConsulFault::LoseLeader);
        harness.wake(elects);
        harness.pass(remains - 1);
        assert_eq!(harness.acquire(B, next), NO, "{elects}");
        harness.pass(1);
        assert_eq!(harness.acquire(B, next), YES, "{elects}");
    }
}

#[test]
fn c_ld_12_a_restart_starts_the_delays_in_full() {
    let (mut harness, next) = freed(10);
    harness.pass(7);
    harness.suffer(ConsulFault::Restart);
    harness.pass(9);
    assert_eq!(harness.acquire(B, next), NO);
    harness.pass(1);
    assert_eq!(harness.acquire(B, next), YES);
}

#[test]
fn a_restart_answers_pending_requests_with_an_error() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let watch = Watch { target: Target::Key(LOCK), index: harness.entry(LOCK).modify, wait: None };
    assert_eq!(harness.send(A, 4, Request::Watch(watch)), []);
    assert_eq!(harness.suffer(ConsulFault::Restart), [(A.into(), Answer::Disconnected)]);
    assert_eq!(harness.suffer(ConsulFault::Restart), []);
}

#[test]
fn c_blk_9_a_blocked_query_is_not_interrupted_by_the_loss_of_the_leader() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let index = harness.entry(LOCK).modify;
    let watch = Watch { target: Target::Key(LOCK), index, wait: Some(Ticks::new(20)) };
    assert_eq!(harness.send(A, 1, Request::Watch(watch)), []);
    harness.suffer(ConsulFault::LoseLeader);
    assert_eq!(harness.due(Timer::Deadline(A, Call(1))), Some(20));
    assert!(matches!(harness.wake(Timer::Deadline(A, Call(1)))[..], [(_, Answer::Found(_))]));
}
