//! Random sequences from a seed; one that differs is made shorter, by proptest.

use std::cell::{Cell, RefCell};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::commands::{Command, Rarities, sequence};
use super::error::ConformError;
use super::sequence::{Exchange, Sequence, Stop};
use super::tally::Tally;
use super::wire::Consul;

/// The most commands in one sequence, besides its prelude.
const LENGTH: usize = 100;

/// The result of a hunt.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which answers came up.
    pub tally: Tally,
    /// The shortest sequence that was found whose last answer differs.
    pub difference: Option<Vec<Exchange>>,
}

/// Sends at least this number of random commands to the model and to the agent, until an answer differs. `each` hears what each
/// sequence has exchanged. Nothing is left behind in the agent.
///
/// # Errors
/// The agent cannot be talked to.
pub fn hunt(
    consul: &Consul,
    seed: u64,
    commands: u64,
    each: &mut dyn FnMut(&[Exchange]),
) -> Result<Found, ConformError> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let rarities = Rarities { restarts: consul.restart.is_some(), failures: consul.second.is_some() };
    let strategy = sequence(LENGTH, rarities);
    let mut tally = Tally::default();
    let trees = Cell::new(0_u64);
    let position = consul.position()?;
    while tally.total() < commands {
        let last: RefCell<Option<Differing>> = RefCell::default();
        let failure: RefCell<Option<ConformError>> = RefCell::default();
        let seen: RefCell<Option<Vec<Exchange>>> = RefCell::default();
        let run = |commands: Vec<Command>| {
            trees.set(trees.get() + 1);
            match once(consul, format!("fencepost/{position}-{seed}-{}/", trees.get()), &commands) {
                Ok(exchanges) => {
                    seen.borrow_mut().get_or_insert(exchanges);
                    Ok(())
                }
                Err(Stop::Differs(exchanges)) => {
                    *last.borrow_mut() = Some(Differing { commands, exchanges });
                    Err(TestCaseError::fail("the answers differ"))
                }
                Err(Stop::ConformError(found)) => {
                    *failure.borrow_mut() = Some(found);
                    Err(TestCaseError::reject("no answer"))
                }
            }
        };
        let case = strategy.new_tree(&mut runner).expect("no sequence is refused");
        let _ = runner.run_one(case, run);
        if let Some(failure) = failure.take() {
            return Err(failure);
        }
        if let Some(differing) = last.take() {
            let run = |commands: &[Command]| {
                trees.set(trees.get() + 1);
                once(consul, format!("fencepost/{position}-{seed}-{}/", trees.get()), commands)
            };
            let difference = without_idle_commands(differing, run)?;
            consul.clean()?;
            return Ok(Found { tally, difference: Some(difference) });
        }
        let exchanges = seen.take().expect("it ran");
        exchanges.iter().for_each(|exchange| tally.count(exchange.expected.class));
        each(&exchanges);
    }
    consul.clean()?;
    Ok(Found { tally, difference: None })
}

/// A sequence of commands, with the exchanges up to the one that differs.
struct Differing {
    commands: Vec<Command>,
    exchanges: Vec<Exchange>,
}

/// Leaves out, one at a time, every command without which an answer differs still: proptest tries each once only, and one that was needed
/// for another may be idle after that one is gone.
fn without_idle_commands(
    differing: Differing,
    mut run: impl FnMut(&[Command]) -> Result<Vec<Exchange>, Stop>,
) -> Result<Vec<Exchange>, ConformError> {
    let Differing { mut commands, mut exchanges } = differing;
    let (mut place, mut tried) = (commands.len(), 0);
    while tried < commands.len() {
        place = place.checked_sub(1).unwrap_or(commands.len() - 1);
        let mut fewer = commands.clone();
        fewer.remove(place);
        match run(&fewer) {
            Err(Stop::Differs(shorter)) => (commands, exchanges, tried) = (fewer, shorter, 0),
            Ok(_) => tried += 1,
            Err(Stop::ConformError(failure)) => return Err(failure),
        }
    }
    Ok(exchanges)
}

/// One sequence, below a tree of its own.
fn once(consul: &Consul, tree: String, commands: &[Command]) -> Result<Vec<Exchange>, Stop> {
    let mut sequence = Sequence::new(consul, tree)?;
    let outcome = sequence.run(commands);
    sequence.revive_second()?;
    outcome?;
    Ok(sequence.exchanges)
}
