//! Rules about the semaphore recipe: C-SEM, C-GDE.

use super::*;
use crate::{AfterRace, AfterRelease, LostRace, OnConflict, OnUncertainty, Prunes, Waiting};

fn harness(limit: u8) -> ClientHarness {
    ClientHarness::new("consul-semaphore", |service| {
        service.semaphore = Some(Semaphore { limits: vec![limit], ..Semaphore::default() });
        service.monitor = Some(Monitor::default());
    })
}

/// The coordination entry: its limit, its holders and its index.
fn entry((limit, holders, modify): (u8, &[SessionId], u32)) -> Entry {
    Entry {
        value: Opaque::Slots(Slots { limit, holders: holders.iter().copied().collect() }),
        flags: 0,
        lock_index: 0,
        session: None,
        spelling: Spelling::default(),
        create: Index::numbered(1),
        modify: Index::numbered(modify),
    }
}

/// The listing below the prefix: the coordination entry, if it exists, and the sessions that are alive.
fn listing(slots: Option<(u8, &[SessionId], u32)>, alive: &[SessionId]) -> Answer {
    Answer::Listed(Listing {
        index: Index::numbered(40),
        slots: slots.map(entry),
        alive: alive.iter().copied().collect(),
    })
}

fn cas(limit: u8, holders: &[SessionId], index: u32) -> Request {
    let value = Opaque::Slots(Slots { limit, holders: holders.iter().copied().collect() });
    Request::Cas { key: Key::Slots, index: Index::numbered(index), value, flags: 0 }
}

/// A harness whose client has its contender key and has asked for the listing.
fn registered(limit: u8) -> ClientHarness {
    let mut harness = harness(limit);
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    assert_eq!(harness.answer(Answer::Done(true)), [Request::List]);
    harness
}

#[test]
fn c_sem_2_the_contender_key_is_named_after_the_session_and_acquired() {
    let mut harness = harness(1);
    harness.command(Command::Acquire);
    let sent = harness.answer(Answer::Created(MINE));
    assert!(
        matches!(sent[..], [Request::Acquire(claim)] if claim.key == Key::Contender(MINE) && claim.session == MINE)
    );
}

#[test]
fn c_gde_2_an_ended_session_is_an_error_and_a_new_one_is_created() {
    let mut harness = harness(1);
    harness.command(Command::Acquire);
    harness.answer(Answer::Created(MINE));
    assert_eq!(harness.answer(Answer::InvalidSession), []);
    assert!(matches!(harness.wake(Timer::Retry)[..], [Request::CreateSession(_)]));
}

#[test]
fn c_sem_3_the_coordination_entry_is_created_by_cas_at_0() {
    assert_eq!(registered(1).answer(listing(None, &[MINE])), [cas(1, &[MINE], 0)]);
}

#[test]
fn c_sem_3_the_go_client_writes_its_flags_and_refuses_an_entry_with_others() {
    let mut harness = ClientHarness::new("consul-semaphore", |service| {
        service.semaphore = Some(Semaphore { limits: vec![1], ..Semaphore::default() });
        service.flags = SEMAPHORE_FLAGS;
    });
    harness.command(Command::Acquire);
    let claim = Claim::new(Key::Contender(MINE), MINE, Opaque::Empty, SEMAPHORE_FLAGS);
    assert_eq!(harness.answer(Answer::Created(MINE)), [Request::Acquire(claim)]);
    harness.answer(Answer::Done(true));
    assert_eq!(harness.answer(listing(Some((1, &[], 8)), &[MINE])), [], "it is no semaphore");
    assert_eq!(harness.wake(Timer::Retry), [Request::List]);
    let Request::Cas { key, index, value, .. } = cas(1, &[MINE], 0) else { unreachable!() };
    let flagged = Request::Cas { key, index, value, flags: SEMAPHORE_FLAGS };
    assert_eq!(harness.answer(listing(None, &[MINE])), [flagged]);
}

#[test]
fn c_sem_4_a_contender_prunes_dead_holders_waits_if_full_refuses_another_limit_and_repeats_a_lost_race() {
    assert_eq!(registered(1).answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
    let mut full = registered(1);
    assert_eq!(full.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS])), []);
    assert_eq!(full.facts, [Fact::Service(ConsulEvent::Full(ME))]);
    let mut conflict = registered(2);
    conflict.answer(listing(Some((1, &[], 8)), &[MINE]));
    assert_eq!(conflict.facts, [Fact::Service(ConsulEvent::LimitConflict(ME))]);
    let mut late = registered(2);
    assert_eq!(late.answer(listing(Some((2, &[OTHERS], 8)), &[MINE, OTHERS])), [cas(2, &[MINE, OTHERS], 8)]);
    assert_eq!(late.answer(Answer::Done(false)), [Request::List]);
}

#[test]
fn c_sem_4_a_contender_that_watches_waits_for_the_next_change_below_the_prefix() {
    let mut harness = registered(1);
    harness.scenario.service.waiting = Waiting::Watch;
    let watch = Watch { target: Target::Prefix, index: Index::numbered(40), wait: None };
    assert_eq!(harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS])), [Request::Watch(watch)]);
    assert_eq!(harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
}

#[test]
fn c_sem_4_after_a_lost_race_the_go_client_repeats_its_query_and_the_guide_watches() {
    let from = |index| Request::Watch(Watch { target: Target::Prefix, index: Index::numbered(index), wait: None });
    for (after_race, at_first, later) in [
        (AfterRace::List, Request::List, Request::List),
        (AfterRace::SameQuery, Request::List, from(40)),
        (AfterRace::Watch, from(40), from(40)),
    ] {
        let mut harness = registered(1);
        harness.scenario.service.waiting = Waiting::Watch;
        harness.scenario.service.semaphore.as_mut().expect("a semaphore").after_race = after_race;
        harness.answer(listing(None, &[MINE]));
        assert_eq!(harness.answer(Answer::Done(false)), [at_first], "{after_race:?}: it was not full");
        assert_eq!(harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS])), [from(40)]);
        assert_eq!(harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
        assert_eq!(harness.answer(Answer::Done(false)), [later], "{after_race:?}: it was");
    }
}

#[test]
fn c_sem_7_c_sem_8_the_go_client_destroys_its_session_and_removes_an_entry_without_living_holders() {
    for (holder, next) in
        [(MINE, vec![Request::DeleteCas { key: Key::Slots, index: Index::numbered(15) }]), (OTHERS, vec![])]
    {
        let mut harness = holding(|_| {});
        (harness.scenario.service.ends_session, harness.scenario.service.cleanup) = (true, true);
        harness.command(Command::Release);
        assert_eq!(harness.answer(Answer::Absent), [Request::Delete(Key::Contender(MINE))]);
        let sent = harness.answer(Answer::Done(true));
        assert_eq!(sent, [Request::DestroySession(MINE), Request::List], "it does not wait for the answer");
        assert_eq!(harness.answer(listing(Some((2, &[holder], 15)), &[OTHERS])), next);
    }
}

#[test]
fn c_sem_9_the_go_client_destroys_its_session_if_it_gets_no_slot() {
    for error in [Answer::NoLeader, listing(Some((1, &[], 8)), &[MINE])] {
        let mut harness = registered(2);
        harness.scenario.service.ends_session = true;
        assert_eq!(harness.answer(error), [Request::DestroySession(MINE)]);
        assert_eq!(harness.due(Timer::Retry), None, "its attempt is over");
    }
}

#[test]
fn c_sem_6_with_retries_an_error_is_no_loss_yet() {
    let mut harness = registered(1);
    let retry_every = Ticks::new(2);
    harness.scenario.service.monitor = Some(Monitor { retries: 1, retry_every, ..Monitor::default() });
    harness.answer(listing(None, &[MINE]));
    harness.answer(Answer::Done(true));
    harness.tell(is_watch, Answer::NoLeader);
    assert!(matches!(harness.wake(Timer::Rewatch)[..], [Request::Watch(Watch { index: Index::NONE, .. })]));
    harness.tell(is_watch, Answer::NoLeader);
    assert!(!harness.is_inside());
}

#[test]
fn c_sem_6_the_monitor_checks_that_the_client_is_a_holder_and_alive() {
    for (slots, alive, stays) in [
        (Some((2, &[MINE, OTHERS][..], 9)), &[MINE][..], true),
        (Some((2, &[OTHERS][..], 9)), &[MINE], false),
        (Some((2, &[MINE][..], 9)), &[OTHERS], false),
        (None, &[MINE], false),
    ] {
        let mut harness = registered(2);
        harness.answer(listing(None, &[MINE]));
        harness.answer(Answer::Done(true));
        harness.tell(is_watch, listing(slots, alive));
        assert_eq!(harness.is_inside(), stays);
    }
}

#[test]
fn c_sem_7_release_removes_the_holder_repeats_after_a_lost_race_then_deletes_its_key_and_session() {
    let mut harness = registered(2);
    harness.answer(listing(None, &[MINE]));
    harness.answer(Answer::Done(true));
    assert_eq!(harness.command(Command::Release), [Request::Get(Key::Slots)]);
    assert_eq!(harness.answer(Answer::Found(entry((2, &[MINE, OTHERS], 9)))), [cas(2, &[OTHERS], 9)]);
    assert_eq!(harness.answer(Answer::Done(false)), [Request::Get(Key::Slots)]);
    assert_eq!(harness.answer(Answer::Found(entry((2, &[MINE], 12)))), [cas(2, &[], 12)]);
    assert_eq!(harness.answer(Answer::Done(true)), [Request::Delete(Key::Contender(MINE))]);
    assert_eq!(harness.answer(Answer::Done(true)), [Request::DestroySession(MINE)]);
}

#[test]
fn c_sem_11_a_slot_is_free_for_pruning_clients_as_soon_as_its_holders_session_has_ended() {
    let mut harness = registered(1);
    harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE, OTHERS]));
    harness.wake(Timer::Retry);
    assert_eq!(harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE])), [cas(1, &[MINE], 8)]);
}

/// A harness whose client has a slot, with other settings.
fn holding(change: impl FnOnce(&mut Semaphore)) -> ClientHarness {
    let mut harness = registered(2);
    change(harness.scenario.service.semaphore.as_mut().expect("a semaphore"));
    harness.answer(listing(None, &[MINE]));
    harness.answer(Answer::Done(true));
    assert!(harness.is_inside());
    harness
}

#[test]
fn c_seed_12_taken_literally_the_limit_is_compared_with_the_number_of_holders() {
    for (holders, refuses) in [(&[][..], true), (&[OTHERS][..], true), (&[OTHERS, MINE][..], false)] {
        let mut harness = registered(2);
        harness.scenario.service.semaphore.as_mut().unwrap().on_conflict = OnConflict::Literal;
        harness.answer(listing(Some((2, holders, 8)), &[MINE, OTHERS]));
        assert_eq!(harness.facts.contains(&Fact::Service(ConsulEvent::LimitConflict(ME))), refuses, "{holders:?}");
    }
}

#[test]
fn c_sem_4_a_client_that_never_prunes_counts_dead_holders() {
    let mut harness = registered(1);
    harness.scenario.service.semaphore.as_mut().unwrap().prunes = Prunes::Never;
    harness.answer(listing(Some((1, &[OTHERS], 8)), &[MINE]));
    assert_eq!(harness.facts, [Fact::Service(ConsulEvent::Full(ME))]);
}

#[test]
fn c_sem_5_a_client_that_ignores_its_own_entry_waits_for_itself() {
    for (unclear, enters) in [(OnUncertainty::Report, false), (OnUncertainty::ReadAgain, true)] {
        let mut harness = registered(1);
        harness.scenario.service.semaphore.as_mut().unwrap().unclear = unclear;
        harness.answer(listing(Some((1, &[MINE], 8)), &[MINE]));
        assert_eq!(harness.is_inside(), enters, "{unclear:?}");
    }
}

#[test]
fn b_27_with_a_hand_made_delay_a_dead_holder_keeps_its_slot_for_a_while() {
    let mut harness = registered(1);
    harness.scenario.service.semaphore.as_mut().unwrap().prune_wait = Ticks::new(3);
    let dead = listing(Some((1, &[OTHERS], 8)), &[MINE]);
    assert_eq!(harness.answer(dead), []);
    assert_eq!(harness.due(Timer::Retry), Some(3));
    assert_eq!(harness.wake(Timer::Retry), [Request::List]);
    assert_eq!(harness.answer(dead), [cas(1, &[MINE], 8)]);
}

#[test]
fn b_30_a_release_that_lost_its_race_may_stop_and_keep_its_key() {
    let mut harness = holding(|semaphore| {
        (semaphore.lost_race, semaphore.afterwards) = (LostRace::LetBe, AfterRelease::Kept);
    });
    harness.command(Command::Release);
    assert_eq!(harness.answer(Answer::Found(entry((2, &[MINE, OTHERS], 9)))), [cas(2, &[OTHERS], 9)]);
    assert_eq!(harness.answer(Answer::Done(false)), [], "neither once more, nor is anything removed");
    assert_eq!(harness.command(Command::Acquire), [Request::List], "with the same session and contender key");
}

#[test]
fn b_31_without_a_response_a_client_reads_reports_or_repeats() {
    for (unclear, next) in [
        (OnUncertainty::ReadAgain, Some(Request::List)),
        (OnUncertainty::Report, None),
        (OnUncertainty::Repeat, Some(cas(2, &[MINE], 0))),
    ] {
        let mut harness = registered(2);
        harness.scenario.service.patience = Some(Ticks::new(1));
        harness.scenario.budget.retries = 1;
        let semaphore = harness.scenario.service.semaphore.as_mut().unwrap();
        (semaphore.unclear, semaphore.afterwards) = (unclear, AfterRelease::Kept);
        harness.client = Participant::all(&harness.scenario, None)[0];
        harness.command(Command::Acquire);
        harness.answer(Answer::Created(MINE));
        harness.answer(Answer::Done(true));
        assert_eq!(harness.answer(listing(None, &[MINE])), [cas(2, &[MINE], 0)]);
        assert_eq!(harness.due(Timer::GiveUp), Some(1));
        assert_eq!(harness.wake(Timer::GiveUp), next.into_iter().collect::<Vec<_>>());
        if unclear == OnUncertainty::ReadAgain {
            harness.answer(listing(Some((2, &[MINE], 8)), &[MINE]));
            assert!(harness.is_inside(), "it had its slot already");
        }
    }
}

#[test]
fn c_sem_6_a_watch_that_is_not_renewed_notices_one_change_only() {
    let mut harness = holding(|semaphore| semaphore.watches_once = true);
    let still_mine = listing(Some((2, &[MINE], 9)), &[MINE]);
    let again = harness.tell(is_watch, still_mine);
    assert!(matches!(again[..], [Request::Watch(Watch { index, .. })] if index == Index::numbered(40)));
    assert_eq!(harness.tell(is_watch, still_mine), []);
}
