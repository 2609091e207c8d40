//! What stands in files against what was explored.

use fencepost_checker::Options;
use fencepost_consul_explore::SERVICE;
use fencepost_doctor::LockScenario;
use fencepost_doctor::lock::Keeping;
use fencepost_model::finding::Verdict;
use fencepost_model::scenario::Expect;

use crate::random::{Random, count, first};

fn keeping(seed: u64) -> Keeping {
    let mut random = Random(seed);
    let ttl = random.within(1..=6);
    let periods = [None, Some(random.within(1..=ttl)), Some(random.within(1..=ttl))];
    Keeping {
        ttl,
        multiplier: random.one_of(&[1, 2]),
        renew: random.one_of(&periods),
        wake: random.within(0..=2),
        message: random.within(0..=2),
        counts: random.one_of(&[true, false]),
    }
}

/// A file asks whether a write is accepted after the end of the tenure: that is so if and only if the lock is lost.
#[test]
fn a_file_about_a_kept_lock_has_the_verdict_of_what_was_explored() {
    let (mut proven, mut violated) = (0, 0);
    for seed in first()..first() + count(60) {
        let coarse = LockScenario::Keeping(keeping(seed));
        let verdict = |scenario| {
            let outcome = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error").remove(0);
            match outcome.finding.verdict {
                Verdict::Proven(_) => true,
                Verdict::Violated(_) => false,
                other => panic!("{coarse}: {other:?}"),
            }
        };
        let explored = verdict(coarse.scenario());
        assert_eq!(verdict(coarse.for_file(Expect::Proven, String::new())), explored, "seed {seed}: {coarse}");
        if explored { proven += 1 } else { violated += 1 }
    }
    assert!(proven > count(60) / 6 && violated > count(60) / 6, "{proven} proven, {violated} violated");
}
