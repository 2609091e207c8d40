//! Blocking queries: a read waits at a real agent while something random is done, and the model says whether that answers it.

use std::thread;
use std::time::Duration;

use super::consul::Waking;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::commands::{Rarities, disturbance, sequence};
use super::error::ConformError;
use super::sequence::{Exchange, Sequence, Stop};
use super::wire::{Consul, get};

/// How many reads were answered as the model says.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Watched {
    /// Answered before their time was up.
    pub woken: u32,
    /// Not answered.
    pub slept: u32,
    /// The number of queries for which both answers are right.
    pub either: u32,
}

/// A read that was answered, and should not have been, or the other way round.
#[derive(Clone, Debug)]
pub struct Missed {
    /// The read.
    pub url: String,
    /// The model's answer.
    pub expected: Waking,
    /// Everything that was said.
    pub exchanges: Vec<Exchange>,
}

/// How long a read waits at the agent; a 16th of that is added at random (C-BLK-2).
const WAIT: Duration = Duration::from_millis(200);

/// How long until it is certain that it waits.
const PARKED: Duration = Duration::from_millis(25);

/// Runs this number of random waiting reads. The agent is empty afterwards.
///
/// # Errors
/// The agent cannot be talked to.
pub fn watches(consul: &Consul, seed: u64, cases: u32) -> Result<Result<Watched, Missed>, ConformError> {
    let watched = each_in_turn(consul, seed, cases)?;
    consul.clean()?;
    Ok(watched)
}

fn each_in_turn(consul: &Consul, seed: u64, cases: u32) -> Result<Result<Watched, Missed>, ConformError> {
    let mut bytes = [1; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = (sequence(12, Rarities::default()), disturbance());
    let mut watched = Watched::default();
    let position = consul.position()?;
    for case in 0..cases {
        let (commands, (target, last)) = strategy.new_tree(&mut runner).expect("nothing is refused").current();
        let mut sequence = Sequence::new(consul, format!("fencepost/{position}-watch-{seed}-{case}/"))?;
        match sequence.run(&commands) {
            Ok(()) => {}
            Err(Stop::ConformError(failure)) => return Err(failure),
            Err(Stop::Differs(exchanges)) => {
                return Ok(Err(Missed { url: String::new(), expected: Waking::Either, exchanges }));
            }
        }
        let url = sequence.target(target);
        let index = consul.ask(&get(&url))?.index.unwrap_or(0);
        let Some(watch) = sequence.agent.park(&url).filter(|_| index > 0) else { continue };
        let mark = if url.contains('?') { '&' } else { '?' };
        let question = get(&format!("{url}{mark}index={index}&wait={}ms", WAIT.as_millis()));
        let reply = thread::scope(|scope| {
            let waiting = scope.spawn(|| consul.ask(&question));
            thread::sleep(PARKED);
            let done = sequence.carry_out(&last);
            let reply = waiting.join().expect("it does not panic");
            (reply, done)
        });
        let reply = match reply {
            (Err(failure), _) | (_, Err(Stop::ConformError(failure))) => return Err(failure),
            (_, Err(Stop::Differs(exchanges))) => {
                return Ok(Err(Missed { url, expected: Waking::Either, exchanges }));
            }
            (Ok(reply), Ok(())) => reply,
        };
        let is_woken = reply.index.is_some_and(|now| now > index);
        let expected = sequence.agent.waking(&watch);
        match (expected, is_woken) {
            (Waking::Wakes, true) => watched.woken += 1,
            (Waking::Sleeps, false) => watched.slept += 1,
            (Waking::Either, _) => watched.either += 1,
            _ => return Ok(Err(Missed { url, expected, exchanges: std::mem::take(&mut sequence.exchanges) })),
        }
    }
    Ok(Ok(watched))
}
