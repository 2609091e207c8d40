//! Blocking queries: a read waits at a real agent while something random is done, and the model says whether that answers it.

use std::thread;
use std::time::{Duration, Instant};

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
        let mut was_over = false;
        let reply = thread::scope(|scope| {
            let waiting = scope.spawn(|| (consul.ask(&question), Instant::now()));
            thread::sleep(PARKED);
            let done = sequence.carry_out(&last);
            let changed = Instant::now();
            let (reply, answered) = waiting.join().expect("it does not panic");
            was_over = answered < changed;
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
        if !watched.count(expected, is_woken, was_over) {
            return Ok(Err(Missed { url, expected, exchanges: std::mem::take(&mut sequence.exchanges) }));
        }
    }
    Ok(Ok(watched))
}

impl Watched {
    /// Counts a read; false: it was not answered as the model says. `was_over`: its answer came before that of the change, so that its time
    /// may have been up when the server got to the change.
    fn count(&mut self, expected: Waking, is_woken: bool, was_over: bool) -> bool {
        let count = match (expected, is_woken) {
            (Waking::Wakes, true) => &mut self.woken,
            (Waking::Sleeps, false) => &mut self.slept,
            (Waking::Either, _) => &mut self.either,
            (Waking::Wakes, false) if was_over => &mut self.either,
            (Waking::Wakes, false) | (Waking::Sleeps, true) => return false,
        };
        *count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_whose_time_was_up_before_the_change_was_answered_may_have_slept() {
        let mut watched = Watched::default();
        assert!(watched.count(Waking::Wakes, true, false) && watched.count(Waking::Sleeps, false, false));
        assert!(watched.count(Waking::Wakes, false, true));
        assert_eq!(watched, Watched { woken: 1, slept: 1, either: 1 });
        assert!(!watched.count(Waking::Wakes, false, false) && !watched.count(Waking::Sleeps, true, true));
    }
}
