//! Random sequences from a seed; one that differs is made shorter, by proptest.

use std::cell::RefCell;

use fencepost_etcd::mvcc::EtcdCall;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::class::{Class, class};
use super::draw::call;
use super::pair::{EtcdSequence, run};
use super::wire::EtcdServer;
use crate::error::ConformError;
use crate::tally::Histogram;

/// The most calls in one sequence.
const LENGTH: usize = 100;

/// The result of a hunt.
#[derive(Clone, Debug)]
pub struct EtcdHunt {
    /// Which answers came up.
    pub tally: Histogram<Class>,
    /// The shortest sequence that was found whose last answer differs.
    pub difference: Option<EtcdSequence>,
}

/// Sends at least this number of random calls to the model and to the server, until an answer differs. `each` hears what each sequence has
/// exchanged. Nothing is left behind in the server.
///
/// # Errors
/// The server cannot be talked to, or another program writes to it.
pub fn hunt(
    server: &EtcdServer,
    seed: u64,
    calls: u64,
    each: &mut dyn FnMut(&EtcdSequence),
) -> Result<EtcdHunt, ConformError> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = proptest::collection::vec(call(), 1..LENGTH);
    let mut found = EtcdHunt { tally: Histogram::default(), difference: None };
    while found.tally.total() < calls {
        let last: RefCell<Option<EtcdSequence>> = RefCell::default();
        let failure: RefCell<Option<ConformError>> = RefCell::default();
        let seen: RefCell<Option<EtcdSequence>> = RefCell::default();
        let once = |calls: Vec<EtcdCall>| match run(server, &calls) {
            Ok(sequence) if sequence.is_alike() => {
                seen.borrow_mut().get_or_insert(sequence);
                Ok(())
            }
            Ok(sequence) => {
                *last.borrow_mut() = Some(sequence);
                Err(TestCaseError::fail("the answers differ"))
            }
            Err(found) => {
                *failure.borrow_mut() = Some(found);
                Err(TestCaseError::reject("no answer"))
            }
        };
        let case = strategy.new_tree(&mut runner).expect("no sequence is refused");
        let _ = runner.run_one(case, once);
        if let Some(failure) = failure.take() {
            return Err(failure);
        }
        if let Some(sequence) = last.take() {
            server.reset()?;
            found.difference = Some(sequence);
            return Ok(found);
        }
        let sequence = seen.take().expect("it ran");
        sequence.exchanges.iter().for_each(|exchange| found.tally.count(class(exchange)));
        each(&sequence);
    }
    server.reset()?;
    Ok(found)
}
