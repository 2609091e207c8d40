//! Rules about what happens among the servers: C-TTL-5, C-TTL-6, C-LD-9 to C-LD-12, C-CON-6, C-BLK-9.

use super::*;
use crate::{Requests, Timers};
use fencepost_model::scenario::UNLIMITED;

#[test]
fn c_ttl_5_a_renewal_between_timer_and_end_is_answered_with_200_and_in_vain() {
    let mut lab = Lab::new();
    lab.scenario.service.servers.expiry = Expiry::TwoSteps;
    let session = lab.session(A, terms(5, 0));
    lab.expire(session);
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::Renewed);
    assert!(lab.facts.contains(&Fact::Service(ConsulEvent::RenewedInVain(session))));
    assert_eq!(lab.expiry(session), Some(10));
    lab.wake(Timer::Destroy(session));
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::UnknownSession);
}

#[test]
fn c_ttl_6_a_new_leader_starts_every_timer_in_full() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(5, 0));
    lab.pass(9);
    lab.suffer(ConsulFault::LoseLeader);
    assert_eq!(lab.expiry(session), None);
    lab.pass(3);
    lab.wake(Timer::Elect);
    assert_eq!(lab.expiry(session), Some(10));
}

#[test]
fn c_con_6_without_a_leader_everything_is_answered_with_an_error() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(5, 0));
    let before = lab.server.index;
    lab.suffer(ConsulFault::LoseLeader);
    for request in [Request::Get(LOCK), Request::RenewSession(session), Request::DestroySession(session)] {
        assert_eq!(lab.ask(A, request), Answer::NoLeader);
    }
    assert_eq!(lab.server.index, before);
    lab.wake(Timer::Elect);
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_con_6_a_request_that_is_held_is_answered_when_there_is_a_leader() {
    let mut lab = Lab::new();
    lab.scenario.service.servers.requests = Requests::Held;
    let session = lab.session(A, terms(0, 0));
    lab.suffer(ConsulFault::LoseLeader);
    assert_eq!(lab.send(B, 1, Request::Get(LOCK)), []);
    assert_eq!(lab.send(A, 2, Request::Acquire(Claim::new(LOCK, session, Opaque::Empty, 0))), []);
    assert_eq!(
        lab.wake(Timer::Elect),
        [(B.into(), Answer::Absent), (A.into(), YES)],
        "in the order in which they came"
    );
    lab.suffer(ConsulFault::LoseLeader);
    assert_eq!(lab.send(B, 3, Request::Get(LOCK)), []);
    assert_eq!(lab.suffer(ConsulFault::Restart), [(B.into(), Answer::NoLeader)]);
}

#[test]
fn b_21_with_checkpoints_a_new_leader_knows_how_much_time_was_left() {
    let mut lab = Lab::new();
    lab.scenario.service.servers.timers = Timers::GoOn;
    let session = lab.session(A, terms(5, 0));
    lab.pass(9);
    lab.suffer(ConsulFault::LoseLeader);
    lab.wake(Timer::Elect);
    assert_eq!(lab.expiry(session), Some(1));
}

#[test]
fn b_21_elections_without_end_cost_no_budget() {
    let mut lab = Lab::new();
    lab.scenario.budget.allow::<ConsulFault>("leader_losses", UNLIMITED);
    lab.suffer(ConsulFault::LoseLeader);
    lab.wake(Timer::Elect);
    let mut world = lab.scenario.start();
    world.left.pay(ConsulFault::LEADER_LOSS);
    assert_eq!(world.left, lab.scenario.budget);
    let mut offered = Vec::new();
    Server::offer_faults(&world, &lab.scenario.service.servers, &mut |fault| offered.push(fault));
    assert_eq!(offered, [ConsulFault::LoseLeader]);
}

/// A lab in which A's lock has just been freed by the end of its session, and B has a session.
fn freed(delay: i64) -> (Lab, SessionId) {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, delay));
    lab.acquire(A, session);
    let next = lab.session(B, terms(0, 0));
    lab.ask(B, Request::DestroySession(session));
    (lab, next)
}

#[test]
fn c_ld_9_an_acquire_that_passed_the_look_is_applied_although_the_delay_has_begun() {
    let mut lab = Lab::new();
    lab.scenario.service.servers.log = Log::Delayed;
    let session = lab.session(A, terms(0, 9));
    let claim = |session| Request::Acquire(Claim::new(LOCK, session, Opaque::Empty, 0));
    assert_eq!(lab.send(A, 1, claim(session)), []);
    assert_eq!(lab.wake(Timer::Apply(A, Call(1))), [(A.into(), YES)]);
    let next = lab.session(B, terms(0, 0));
    assert_eq!(lab.send(B, 7, claim(next)), []);
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(lab.wake(Timer::Apply(B, Call(7))), [(B.into(), YES)]);
}

#[test]
fn c_ld_11_the_delays_of_a_new_leader_end_when_the_old_one_s_would_have_or_start_anew() {
    for (elects, remains) in [(Timer::Elect, 5), (Timer::ElectBehind, 9)] {
        let (mut lab, next) = freed(9);
        lab.pass(4);
        lab.suffer(ConsulFault::LoseLeader);
        lab.wake(elects);
        lab.pass(remains - 1);
        assert_eq!(lab.acquire(B, next), NO, "{elects}");
        lab.pass(1);
        assert_eq!(lab.acquire(B, next), YES, "{elects}");
    }
}

#[test]
fn c_ld_12_a_restart_starts_the_delays_in_full() {
    let (mut lab, next) = freed(10);
    lab.pass(7);
    lab.suffer(ConsulFault::Restart);
    lab.pass(9);
    assert_eq!(lab.acquire(B, next), NO);
    lab.pass(1);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn a_restart_answers_those_who_wait_with_an_error() {
    let mut lab = Lab::new();
    lab.put(LOCK, Opaque::Empty, 0);
    let watch = Watch { target: Target::Key(LOCK), index: lab.entry(LOCK).modify, wait: None };
    assert_eq!(lab.send(A, 4, Request::Watch(watch)), []);
    assert_eq!(lab.suffer(ConsulFault::Restart), [(A.into(), Answer::NoLeader)]);
    assert_eq!(lab.suffer(ConsulFault::Restart), []);
}

#[test]
fn c_blk_9_a_blocked_query_is_not_interrupted_by_the_loss_of_the_leader() {
    let mut lab = Lab::new();
    lab.put(LOCK, Opaque::Empty, 0);
    let index = lab.entry(LOCK).modify;
    let watch = Watch { target: Target::Key(LOCK), index, wait: Some(Ticks::new(20)) };
    assert_eq!(lab.send(A, 1, Request::Watch(watch)), []);
    lab.suffer(ConsulFault::LoseLeader);
    assert_eq!(lab.due(Timer::Deadline(A, Call(1))), Some(20));
    assert!(matches!(lab.wake(Timer::Deadline(A, Call(1)))[..], [(_, Answer::Found(_))]));
}
