//! Rules about the semaphore recipe: C-SEM, C-GDE.

use super::*;
use crate::protocols::consul::Waiting;

fn desk(limit: u8) -> Desk {
    Desk::new("consul-semaphore", |service| {
        service.semaphore =
            Some(Semaphore { limits: vec![limit], on_conflict: Default::default(), registers: Default::default() });
        service.monitor = Some(Monitor::default());
    })
}

/// What is below the prefix: the coordination entry at an index, if it is there, and who is alive.
fn listing(slots: Option<(u8, &[SessionId], u32)>, alive: &[SessionId]) -> Answer {
    let entry = |(limit, holders, modify): (u8, &[SessionId], u32)| Entry {
        value: Opaque::Slots(Slots { limit, holders: holders.iter().copied().collect() }),
        flags: 0,
        lock_index: 0,
        session: None,
        spelling: Spelling::default(),
        create: Index(1),
        modify: Index(modify),
    };
    Answer::Listed(Listing { index: Index(40), slots: slots.map(entry), alive: alive.iter().copied().collect() })
}

fn cas(limit: u8, holders: &[SessionId], index: u32) -> Request {
    let value = Opaque::Slots(Slots { limit, holders: holders.iter().copied().collect() });
    Request::Cas { key: Key::Slots, index: Index(index), value, flags: 0 }
}

/// A desk whose client has its contender key and has asked for the listing.
fn registered(limit: u8) -> Desk {
    let mut desk = desk(limit);
    desk.wish(Wish::Acquire);
    desk.answer(Answer::Created(MINE));
    assert_eq!(desk.answer(Answer::Done(true)), [Request::List]);
    desk
}

#[test]
fn c_sem_2_the_contender_key_is_named_by_the_session_and_acquired() {
    let mut desk = desk(1);
    desk.wish(Wish::Acquire);
    let sent = desk.answer(Answer::Created(MINE));
    assert!(
        matches!(sent[..], [Request::Acquire(claim)] if claim.key == Key::Contender(MINE) && claim.session == MINE)
    );
}

#[test]
fn c_gde_2_a_session_that_is_gone_is_an_error_and_a_new_one_is_made() {
    let mut desk = desk(1);
    desk.wish(Wish::Acquire);
    desk.answer(Answer::Created(MINE));
    assert_eq!(desk.answer(Answer::InvalidSession), []);
    assert!(matches!(desk.wake(Timer::Retry)[..], [Request::CreateSession(_)]));
}

#[test]
fn c_sem_3_the_coordination_entry_is_created_by_cas_at_0() {
    assert_eq!(registered(1).answer(listing(None, &[MINE])), [cas(1, &[MINE], 0)]);
}

#[test]
fn c_sem_4_dead_holders_are_pruned_a_full_set_is_waited_for_another_limit_refused_and_a_lost_race_repeated() {
    assert_eq!(registered(1).answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
    let mut full = registered(1);
    assert_eq!(full.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS])), []);
    assert_eq!(full.facts, [Fact::Service(Word::Full(ME))]);
    let mut conflict = registered(2);
    conflict.answer(listing(Some((1, &[], 8)), &[MINE]));
    assert_eq!(conflict.facts, [Fact::Service(Word::LimitConflict(ME))]);
    let mut late = registered(2);
    assert_eq!(late.answer(listing(Some((2, &[OTHERS], 8)), &[MINE, OTHERS])), [cas(2, &[MINE, OTHERS], 8)]);
    assert_eq!(late.answer(Answer::Done(false)), [Request::List]);
}

#[test]
fn c_sem_4_a_contender_that_watches_waits_for_the_next_change_below_the_prefix() {
    let mut desk = registered(1);
    desk.scenario.service.waiting = Waiting::Watch;
    let watch = Watch { target: Target::Prefix, index: Index(40), wait: None };
    assert_eq!(desk.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS])), [Request::Watch(watch)]);
    assert_eq!(desk.answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
}

#[test]
fn c_sem_6_with_retries_an_error_is_no_loss_yet() {
    let mut desk = registered(1);
    let retry_every = Ticks::new(2);
    desk.scenario.service.monitor = Some(Monitor { retries: 1, retry_every, ..Monitor::default() });
    desk.answer(listing(None, &[MINE]));
    desk.answer(Answer::Done(true));
    desk.tell(is_watch, Answer::NoLeader);
    assert!(matches!(desk.wake(Timer::Rewatch)[..], [Request::Watch(Watch { index: Index(0), .. })]));
    desk.tell(is_watch, Answer::NoLeader);
    assert!(!desk.is_inside());
}

#[test]
fn c_sem_6_the_monitor_looks_whether_it_is_among_the_holders_and_alive() {
    for (slots, alive, stays) in [
        (Some((2, &[MINE, OTHERS][..], 9)), &[MINE][..], true),
        (Some((2, &[OTHERS][..], 9)), &[MINE], false),
        (Some((2, &[MINE][..], 9)), &[OTHERS], false),
        (None, &[MINE], false),
    ] {
        let mut desk = registered(2);
        desk.answer(listing(None, &[MINE]));
        desk.answer(Answer::Done(true));
        desk.tell(is_watch, listing(slots, alive));
        assert_eq!(desk.is_inside(), stays);
    }
}

#[test]
fn c_sem_7_release_takes_itself_off_and_repeats_after_a_lost_race_then_deletes_its_key_and_session() {
    let mut desk = registered(2);
    desk.answer(listing(None, &[MINE]));
    desk.answer(Answer::Done(true));
    assert_eq!(desk.wish(Wish::Release), [Request::List]);
    assert_eq!(desk.answer(listing(Some((2, &[MINE, OTHERS], 9)), &[MINE])), [cas(2, &[OTHERS], 9)]);
    assert_eq!(desk.answer(Answer::Done(false)), [Request::List]);
    assert_eq!(desk.answer(listing(Some((2, &[MINE], 12)), &[MINE])), [cas(2, &[], 12)]);
    assert_eq!(desk.answer(Answer::Done(true)), [Request::Delete(Key::Contender(MINE))]);
    assert_eq!(desk.answer(Answer::Done(true)), [Request::DestroySession(MINE)]);
}

#[test]
fn c_sem_11_a_slot_is_free_for_those_who_prune_as_soon_as_the_session_of_its_holder_is_gone() {
    let mut desk = registered(1);
    desk.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS]));
    desk.wake(Timer::Retry);
    assert_eq!(desk.answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
}
