//! The store of the checker's world ([`Cluster`]) and the store as the API shows it ([`Mvcc`]), which a real server is held against, are
//! written apart. In random sequences of steps they give the same answers, and have the same keys afterwards. The second one has neither
//! time nor watches: leases end when the first one says so, and what a watch shows is read from its history.
//!
//! ```text
//! draw  random steps              names  leases, keys and revisions of the one in the other
//! pair  one step of both stores   api    what the second store answers to it
//! follows  watches of events, by the history of the second store
//! ```
//!
//! [`Cluster`]: fencepost_etcd::Cluster
//! [`Mvcc`]: fencepost_etcd::mvcc::Mvcc

mod api;
mod draw;
mod follows;
mod names;
mod pair;

use std::collections::BTreeSet;

use fencepost_checker::laws::Draw;
use fencepost_etcd::EtcdMutation;

use self::pair::{Pair, Told};

const SEQUENCES: u64 = 2_000;
const STEPS: usize = 60;

/// A sequence of steps from a seed: the kinds of answers, or the first difference.
fn run(seed: u64, mutation: Option<EtcdMutation>) -> Result<BTreeSet<String>, String> {
    let (mut pair, mut draw, mut kinds) =
        (Pair::new(mutation), Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), BTreeSet::new());
    let mut story = Vec::new();
    for _ in 0..STEPS {
        let step = pair.draw(&mut draw);
        story.push(format!("{step:?}"));
        let told =
            pair.step(step, draw.below(2) == 0).map_err(|why| format!("seed {seed}: {why}\n{}", story.join("\n")))?;
        let kind = |(_, _, response): &Told| {
            let text = format!("{response:?}");
            text.split(['(', ' ']).next().unwrap_or_default().to_owned()
        };
        kinds.extend(told.iter().map(kind));
    }
    Ok(kinds)
}

#[test]
fn the_store_of_the_world_and_the_store_of_the_api_answer_the_same() {
    let mut kinds = BTreeSet::new();
    for seed in 0..SEQUENCES {
        kinds.extend(run(seed, None).unwrap_or_else(|difference| panic!("{difference}")));
    }
    let all =
        ["Compacted", "Deleted", "Done", "Event", "Found", "Granted", "Holder", "Key", "NoLease", "Renewed", "Txn"];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all, "each kind of answer was given");
}

/// The law can fail: each of these mutants changes what the store answers.
#[test]
fn a_wrong_store_differs() {
    for mutation in [
        EtcdMutation::NewestIncludesOwn,
        EtcdMutation::NewKeyIsOldest,
        EtcdMutation::CompareIgnored,
        EtcdMutation::PutWithoutLease,
        EtcdMutation::OverdueRenewed,
        EtcdMutation::RevokeKeepsKeys,
        EtcdMutation::CompactionIgnored,
        EtcdMutation::WatchFromNow,
        EtcdMutation::DeletionUntold,
        EtcdMutation::EventsFromNow,
        EtcdMutation::PutKeepsValue,
        EtcdMutation::OldestIsNewest,
    ] {
        let differs = (0..SEQUENCES).any(|seed| run(seed, Some(mutation)).is_err());
        assert!(differs, "{mutation:?}");
    }
}
