//! Rules about blocking queries and listings: C-BLK, C-KV-21, C-KV-22.

use super::*;
use crate::{OperatorAction, Semaphore, TreeDeletions};
use fencepost_model::ids::RawId;
use fencepost_model::service::Service;

fn watch(target: Target, index: Index) -> Request {
    Request::Watch(Watch { target, index, wait: None })
}

const KEY: Target = Target::Key(LOCK);

#[test]
fn c_blk_1_a_query_returns_as_soon_as_the_index_is_higher() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let before = harness.entry(LOCK);
    assert_eq!(harness.send(A, 1, watch(KEY, Index::NONE)), [(A.into(), Answer::Found(before))]);
    assert_eq!(
        harness.send(A, 2, watch(KEY, Index::numbered(before.modify.raw() - 1))),
        [(A.into(), Answer::Found(before))]
    );
    assert_eq!(harness.send(A, 3, watch(KEY, before.modify)), []);
    let put = Request::Put { key: LOCK, value: Opaque::Foreign, flags: 0 };
    let answers = harness.send(B, 1, put);
    let now = harness.entry(LOCK);
    assert_eq!(answers, [(B.into(), YES), (A.into(), Answer::Found(now))]);
}

#[test]
fn c_blk_2_at_the_deadline_the_response_is_the_current_state() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let entry = harness.entry(LOCK);
    let request = Request::Watch(Watch { target: KEY, index: entry.modify, wait: Some(Ticks::new(5)) });
    assert_eq!(harness.send(A, 1, request), []);
    assert_eq!(harness.due(Timer::Deadline(A, Call(1))), Some(5));
    assert_eq!(harness.wake(Timer::Deadline(A, Call(1))), [(A.into(), Answer::Found(entry))]);
    assert_eq!(harness.due(Timer::Deadline(A, Call(1))), None);
}

#[test]
fn c_blk_2_a_wait_of_zero_is_none() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let index = harness.entry(LOCK).modify;
    let request = Request::Watch(Watch { target: KEY, index, wait: Some(Ticks::ZERO) });
    assert_eq!(harness.send(A, 1, request), []);
    assert_eq!(harness.due(Timer::Deadline(A, Call(1))), None);
}

#[test]
fn c_blk_5_other_keys_and_writes_without_a_change_wake_no_watcher() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let index = harness.entry(LOCK).modify;
    assert_eq!(harness.send(A, 1, watch(KEY, index)), []);
    assert_eq!(harness.put(OTHER, Opaque::Foreign, 0), YES);
    assert_eq!(harness.put(LOCK, Opaque::Empty, 0), YES);
    let answers = harness.send(B, 2, Request::Delete(LOCK));
    assert_eq!(answers, [(B.into(), YES), (A.into(), Answer::Absent)]);
}

#[test]
fn c_blk_8_intermediate_states_are_skipped() {
    let mut harness = ServerHarness::new();
    harness.put(LOCK, Opaque::Empty, 0);
    let index = harness.entry(LOCK).modify;
    harness.put(LOCK, Opaque::Foreign, 1);
    harness.put(LOCK, Opaque::Foreign, 2);
    let now = harness.entry(LOCK);
    assert_eq!(harness.send(A, 1, watch(KEY, index)), [(A.into(), Answer::Found(now))]);
}

#[test]
fn c_kv_21_the_index_of_a_listing_is_the_index_of_its_newest_entry() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    let slots = Opaque::Slots(Slots { limit: 2, holders: [session].into_iter().collect() });
    harness.put(Key::Slots, slots, 0);
    let claim = Claim::new(Key::Contender(session), session, Opaque::Empty, 0);
    harness.ask(A, Request::Acquire(claim));
    harness.put(OTHER, Opaque::Foreign, 0);
    let newest = harness.entry(Key::Contender(session)).modify;
    let Answer::Listed(listing) = harness.ask(A, Request::List) else { panic!("a listing") };
    assert_eq!((listing.index, &*listing.alive), (newest, &[session][..]));
    assert_eq!(listing.slots.map(|entry| entry.value), Some(slots));
}

#[test]
fn c_kv_22_a_deletion_below_the_prefix_raises_its_index_and_wakes_its_watchers() {
    let mut harness = ServerHarness::new();
    harness.put(Key::Slots, Opaque::Empty, 0);
    let index = harness.entry(Key::Slots).modify;
    assert_eq!(harness.send(A, 1, watch(Target::Prefix, index)), []);
    let answers = harness.send(B, 1, Request::Delete(Key::Slots));
    assert!(matches!(answers[..], [_, (_, Answer::Listed(listing))] if listing.index == index.next()));
}

/// Whether a watcher of the prefix notices the deletion of every key, after a contender key was deleted there or not.
fn notices_deletion(after_another: bool, tree_deletions: TreeDeletions) -> bool {
    let mut harness = ServerHarness::new();
    harness.scenario.service.servers.tree_deletions = tree_deletions;
    harness.scenario.service.semaphore = Some(Semaphore { limits: vec![1], ..Semaphore::default() });
    let session = harness.session(A, terms(0, 0));
    if after_another {
        harness.put(Key::Contender(session), Opaque::Empty, 0);
        harness.ask(B, Request::Delete(Key::Contender(session)));
    }
    harness.put(Key::Slots, Opaque::Foreign, 0);
    let Answer::Listed(listing) = harness.ask(B, Request::List) else { panic!("a listing") };
    let watch = Watch { target: Target::Prefix, index: listing.index, wait: None };
    assert_eq!(harness.send(B, 7, Request::Watch(watch)), []);
    let context = Context { scenario: &harness.scenario, now: harness.now, me: ProcessId::Server };
    let mut out = Outbox::new();
    Consul::operate(&mut harness.server, OperatorAction::DeleteTree, &context, &mut out);
    !out.messages().is_empty()
}

#[test]
fn c_blk_7_a_watcher_misses_the_deletion_of_everything_after_an_older_one() {
    assert!(notices_deletion(false, TreeDeletions::ForThePrefix));
    assert!(!notices_deletion(true, TreeDeletions::ForThePrefix));
    assert!(notices_deletion(true, TreeDeletions::ForEachKey), "as it should be");
}
