//! The runner of the random laws of the judge: the same cases in each run.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::{RngSeed, TestRunner};

pub(super) fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(26),
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}
