//! Rules about the lock recipe: C-API, C-LCK, C-CLI.

use super::*;
use crate::{Behavior, BeliefRule, Job, Killed, Queue, Reads, RenewalErrors, Sequencer, Waiting};

fn harness(change: impl FnOnce(&mut Settings)) -> ClientHarness {
    ClientHarness::new("consul-lock", change)
}

fn watch(index: u32) -> Request {
    Request::Watch(Watch { target: Target::Key(LOCK), index: Index::numbered(index), wait: None })
}

#[test]
fn c_api_2_renewals_are_repeated_until_the_ttl_has_passed() {
    let mut harness = harness(|lock| {
        (lock.ttl, lock.renew_every) = (Some(Ticks::new(4)), Some(Ticks::new(2)));
        lock.renewal_errors = RenewalErrors::RetryForTtl;
    });
    harness.enter();
    for (passes, renews_again) in [(2, true), (2, true), (2, false)] {
        harness.now += Ticks::new(passes);
        assert_eq!(harness.wake(Timer::Renew), [Request::RenewSession(MINE)]);
        harness.answer(Answer::NoLeader);
        assert_eq!(harness.due(Timer::Renew).is_some(), renews_again);
    }
}

#[test]
fn c_lck_3_a_refused_client_watches_the_key_from_its_index() {
    let mut harness = harness(|lock| lock.waiting = Waiting::Watch);
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    assert_eq!(harness.answer(Answer::Done(false)), [Request::Get(LOCK)]);
    assert_eq!(harness.answer(held_by(Some(OTHERS), 9)), [watch(9)]);
    assert!(matches!(harness.answer(held_by(None, 12))[..], [Request::Acquire(_)]));
}

#[test]
fn c_lck_3_the_go_client_reads_before_it_asks_and_watches_from_that_read() {
    let mut harness = harness(|lock| lock.waiting = Waiting::ReadThenWatch);
    harness.command(Command::Acquire);
    assert_eq!(harness.answer(Answer::Created(MINE)), [Request::Get(LOCK)]);
    assert_eq!(harness.answer(held_by(Some(OTHERS), 9)), [watch(9)]);
    assert_eq!(harness.answer(held_by(Some(OTHERS), 11)), [watch(11)], "its wait was over, and nothing has changed");
    assert!(matches!(harness.answer(held_by(None, 12))[..], [Request::Acquire(_)]));
    assert_eq!(harness.answer(Answer::Done(false)), [Request::Get(LOCK)]);
    assert_eq!(harness.answer(held_by(Some(OTHERS), 14)), [watch(14)]);
}

#[test]
fn c_lck_5_a_client_does_not_ask_again_for_a_key_that_its_session_holds() {
    let mut harness = harness(|lock| lock.waiting = Waiting::ReadThenWatch);
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    assert_eq!(harness.answer(held_by(Some(MINE), 9)), []);
    assert!(harness.is_inside());
}

#[test]
fn c_lck_3_the_go_client_writes_its_flags_and_refuses_a_key_with_others() {
    let with_flags = |flags| match held_by(None, 12) {
        Answer::Found(entry) => Answer::Found(Entry { flags, ..entry }),
        other => other,
    };
    let mut harness = harness(|lock| (lock.waiting, lock.flags) = (Waiting::ReadThenWatch, LOCK_FLAGS));
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    assert_eq!(harness.answer(with_flags(0)), [], "it is no lock");
    assert_eq!(harness.wake(Timer::Retry), [Request::Get(LOCK)]);
    let claim = Claim::new(LOCK, MINE, Opaque::Empty, LOCK_FLAGS);
    assert_eq!(harness.answer(with_flags(LOCK_FLAGS)), [Request::Acquire(claim)]);
    harness.answer(Answer::Done(true));
    assert!(harness.is_inside());
    assert_eq!(harness.command(Command::Release), [Request::Release(claim)]);
}

#[test]
fn c_lck_4_a_free_key_after_a_refusal_means_a_lock_delay_and_the_client_sleeps() {
    let mut harness = harness(|lock| (lock.waiting, lock.retry_every) = (Waiting::Watch, Ticks::new(5)));
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    harness.answer(Answer::Done(false));
    assert_eq!(harness.answer(held_by(None, 9)), []);
    assert_eq!(harness.due(Timer::Retry), Some(5));
}

#[test]
fn c_lck_6_the_monitor_continues_while_the_key_has_its_session_and_any_other_answer_is_a_loss() {
    for loss in [held_by(None, 9), held_by(Some(OTHERS), 9), Answer::Absent, Answer::NoLeader] {
        let mut harness = harness(|lock| lock.monitor = Some(Monitor::default()));
        assert_eq!(harness.enter(), [watch(0)]);
        assert_eq!(harness.tell(is_watch, held_by(Some(MINE), 7)), [watch(7)]);
        assert!(harness.is_inside());
        harness.tell(is_watch, loss);
        assert!(!harness.is_inside(), "{loss}");
    }
}

#[test]
fn c_lck_6_the_go_clients_queries_are_consistent() {
    let mut harness = harness(|lock| lock.monitor = Some(Monitor { reads: Reads::Consistent, ..Monitor::default() }));
    let consistent = |index| Watch { target: Target::Key(LOCK), index: Index::numbered(index), wait: None };
    assert_eq!(harness.enter(), [Request::WatchConsistent(consistent(0))]);
    assert_eq!(harness.tell(is_watch, held_by(Some(MINE), 7)), [Request::WatchConsistent(consistent(7))]);
}

#[test]
fn c_lck_6_with_retries_an_error_is_no_loss_and_an_answer_resets_them() {
    let mut harness = harness(|lock| {
        let retry_every = Ticks::new(2);
        lock.monitor = Some(Monitor { retries: 1, retry_every, ..Monitor::default() });
    });
    harness.enter();
    for _ in 0..2 {
        harness.tell(is_watch, Answer::NoLeader);
        assert_eq!(harness.due(Timer::Rewatch), Some(2));
        assert_eq!(harness.wake(Timer::Rewatch), [watch(0)]);
        assert_eq!(harness.tell(is_watch, held_by(Some(MINE), 7)), [watch(7)]);
    }
    harness.tell(is_watch, Answer::NoLeader);
    harness.wake(Timer::Rewatch);
    assert!(harness.is_inside());
    harness.tell(is_watch, Answer::NoLeader);
    assert!(!harness.is_inside(), "twice in a row is once too often");
}

#[test]
fn c_lck_2_a_holder_does_not_ask_for_the_lock_again() {
    let mut harness = harness(|_| {});
    harness.enter();
    assert_eq!(harness.command(Command::Acquire), []);
    assert!(harness.is_inside());
}

#[test]
fn c_lck_7_a_renewal_that_fails_is_no_loss() {
    let mut harness = harness(|lock| {
        (lock.ttl, lock.renew_every) = (Some(Ticks::new(4)), Some(Ticks::new(2)));
        lock.monitor = Some(Monitor::default());
    });
    harness.enter();
    for _ in 0..5 {
        harness.now += Ticks::new(2);
        harness.wake(Timer::Renew);
        harness.tell(|request| matches!(request, Request::RenewSession(_)), Answer::NoLeader);
    }
    assert!(harness.is_inside());
}

#[test]
fn c_lck_7_with_a_monitor_a_refused_renewal_is_no_loss() {
    for (belief, stays) in [(BeliefRule::ByMonitor, true), (BeliefRule::UntilTold, false)] {
        let mut harness = harness(|lock| {
            (lock.ttl, lock.renew_every, lock.belief) = (Some(Ticks::new(4)), Some(Ticks::new(2)), belief);
            lock.monitor = Some(Monitor::default());
        });
        harness.enter();
        harness.wake(Timer::Renew);
        harness.tell(|request| matches!(request, Request::RenewSession(_)), Answer::UnknownSession);
        assert_eq!(harness.is_inside(), stays);
        assert_eq!(harness.due(Timer::Renew), None, "C-API-2: the renewer has stopped");
        harness.tell(is_watch, held_by(None, 9));
        assert!(!harness.is_inside());
    }
}

#[test]
fn c_le_1_a_candidate_waits_before_it_asks_for_a_free_key() {
    let mut harness = harness(|lock| (lock.waiting, lock.retry_every) = (Waiting::WatchThenRest, Ticks::new(5)));
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    harness.answer(Answer::Done(false));
    assert_eq!(harness.answer(held_by(Some(OTHERS), 9)), [watch(9)]);
    assert_eq!(harness.answer(held_by(None, 12)), []);
    assert_eq!(harness.due(Timer::Retry), Some(5));
    assert!(matches!(harness.wake(Timer::Retry)[..], [Request::Acquire(_)]));
}

#[test]
fn b_26_in_a_queue_a_client_waits_for_the_key_before_its_own_and_a_careful_client_checks_its_own_key() {
    for rechecks in [false, true] {
        let mut harness = harness(|lock| {
            (lock.behavior, lock.sequencer) = (Behavior::Delete, Sequencer::CreateIndex);
            lock.queue = Some(Queue { rechecks });
        });
        harness.enter();
        assert_eq!(harness.answer(held_by(Some(MINE), 8)), [Request::Before(Index::numbered(3))]);
        let target = Target::Key(Key::Contender(OTHERS));
        let turn = Request::Watch(Watch { target, index: Index::numbered(2), wait: None });
        assert_eq!(harness.answer(Answer::Before(Some((OTHERS, Index::numbered(2))))), [turn]);
        assert_eq!(harness.answer(Answer::Absent), [Request::Before(Index::numbered(3))]);
        let last_look = harness.answer(Answer::Before(None));
        if rechecks {
            assert_eq!(last_look, [Request::Get(Key::Contender(MINE))]);
            harness.answer(Answer::Absent);
        }
        assert_eq!(harness.is_inside(), !rechecks, "its own key may have been deleted");
    }
}

#[test]
fn c_lck_9_the_response_to_a_release_does_not_matter() {
    for answer in [Answer::Done(true), Answer::Done(false), Answer::NoLeader] {
        let mut harness = harness(|_| {});
        harness.enter();
        assert!(matches!(harness.command(Command::Release)[..], [Request::Release(_)]));
        assert!(!harness.is_inside());
        assert_eq!(harness.answer(answer), []);
        assert!(matches!(harness.command(Command::Acquire)[..], [Request::Acquire(_)]), "on to the next round");
    }
}

#[test]
fn c_lck_9_the_go_client_destroys_its_session_after_the_release_and_does_not_wait() {
    let mut harness = harness(|lock| lock.ends_session = true);
    harness.enter();
    harness.command(Command::Release);
    assert_eq!(harness.answer(Answer::Done(false)), [Request::DestroySession(MINE)]);
    assert!(matches!(harness.command(Command::Acquire)[..], [Request::CreateSession(_)]), "a round later");
}

#[test]
fn c_lck_2_the_go_client_destroys_its_session_if_it_does_not_get_the_lock() {
    for error in [Answer::NoLeader, Answer::InvalidSession] {
        let mut harness = harness(|lock| lock.ends_session = true);
        harness.command(Command::Acquire);
        harness.answer(Answer::Created(MINE));
        assert_eq!(harness.answer(error), [Request::DestroySession(MINE)]);
        assert_eq!(harness.due(Timer::Retry), None, "its attempt is over");
    }
}

#[test]
fn c_lck_8_after_a_loss_the_renewer_continues_unless_a_setting_stops_it() {
    for (on_loss, sends, renews) in [
        (OnLoss::Keep, vec![], true),
        (OnLoss::Forget, vec![], false),
        (OnLoss::Destroy, vec![Request::DestroySession(MINE)], false),
    ] {
        let mut harness = harness(|lock| {
            (lock.ttl, lock.renew_every) = (Some(Ticks::new(4)), Some(Ticks::new(2)));
            lock.monitor = Some(Monitor { on_loss, ..Monitor::default() });
        });
        harness.enter();
        assert_eq!(harness.tell(is_watch, Answer::NoLeader), sends);
        assert_eq!(harness.due(Timer::Renew).is_some(), renews, "{on_loss:?}");
    }
}

#[test]
fn c_cli_2_the_group_is_killed_within_its_grace_and_only_then_the_lock_released() {
    let mut harness = harness(|lock| {
        lock.monitor = Some(Monitor::default());
        lock.job = Some(Job { killed: Killed::Group, grace: Ticks::new(5) });
    });
    harness.enter();
    assert_eq!(harness.tell(is_watch, Answer::Absent), []);
    assert!(harness.is_inside());
    assert_eq!(harness.due(Timer::Kill), Some(5));
    assert!(matches!(harness.wake(Timer::Kill)[..], [Request::Release(_)]));
    assert!(!harness.is_inside());
}

#[test]
fn a_job_continues_after_the_release_if_only_its_shell_is_killed() {
    let mut harness = harness(|lock| {
        lock.monitor = Some(Monitor::default());
        lock.job = Some(Job { killed: Killed::Shell, grace: Ticks::ZERO });
    });
    harness.enter();
    assert!(matches!(harness.tell(is_watch, Answer::Absent)[..], [Request::Release(_)]));
    assert!(harness.is_inside());
    harness.command(Command::Finish);
    assert!(!harness.is_inside());
}
