//! What the clients of a crowd do, drawn before any of them begins, so that the same can be done again, or less of it.

use std::time::Duration;

use fencepost_etcd::mvcc::EtcdCall;
use proptest::prelude::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::cluster::EtcdChange;
use super::crowd::EtcdPace;
use super::draw::{LEASES, LONG};
use super::draw_beside::{beside_ends, beside_others, in_queues};
use super::own_leases::with_own_leases;

/// How often a crowd is run again at most to leave calls out: enough for most, and a few minutes for the slow ones.
pub const TRIES: u32 = 100;

/// The calls of each client, one after the other.
#[derive(Clone, PartialEq, Debug)]
pub struct EtcdScript {
    pub(super) clients: Vec<Vec<Turn>>,
    /// Whether all that is written is watched meanwhile. Then nothing is compacted.
    pub(super) is_watched: bool,
    /// What happens to the members of a cluster, after this time.
    pub(super) change: Option<(Duration, EtcdChange)>,
}

/// A call of a client.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Turn {
    /// How long the client waits before it.
    pub pause: Duration,
    /// The call; its revisions are distances.
    pub call: EtcdCall,
}

impl EtcdScript {
    /// Draws the calls of a crowd.
    pub fn drawn(seed: u64, number: u64, pace: EtcdPace) -> Self {
        let client = |place: u8| {
            let config = Config { failure_persistence: None, ..Config::default() };
            let mut runner = TestRunner::new_with_rng(config, draws(seed, number, place));
            let turn = |turn: usize| {
                let pause = pause(pace, runner.rng());
                let drawn = match pace {
                    EtcdPace::Busy => beside_others().new_tree(&mut runner).map(|tree| tree.current()),
                    EtcdPace::Members if turn == 0 => Ok(EtcdCall::Grant { id: LEASES[0], ttl: 3 }),
                    EtcdPace::Slow | EtcdPace::Members => {
                        beside_ends().new_tree(&mut runner).map(|tree| tree.current())
                    }
                    EtcdPace::Queues if turn == 0 => {
                        Ok(EtcdCall::Grant { id: LEASES[usize::from(place) % LEASES.len()], ttl: LONG })
                    }
                    EtcdPace::Queues => in_queues().new_tree(&mut runner).map(|tree| tree.current()),
                };
                Turn { pause, call: drawn.expect("no call is refused") }
            };
            let turns = (0..pace.calls()).map(turn).collect();
            if pace == EtcdPace::Members { with_own_leases(place, turns) } else { turns }
        };
        let change = (pace == EtcdPace::Members).then(|| {
            let mut random = draws(seed, number, u8::MAX);
            let after = Duration::from_millis(500 + u64::from(random.next_u32() % 2_500));
            (after, EtcdChange::ALL[usize::try_from(number).unwrap_or_default() % EtcdChange::ALL.len()])
        });
        let mut clients: Vec<Vec<Turn>> = (0..pace.clients()).map(client).collect();
        let is_watched = pace == EtcdPace::Busy && number.is_multiple_of(4);
        if is_watched {
            clients.iter_mut().for_each(|turns| turns.retain(|turn| !matches!(turn.call, EtcdCall::Compact(_))));
        }
        EtcdScript { clients, is_watched, change }
    }

    /// The number of calls.
    pub fn count(&self) -> usize {
        self.clients.iter().map(Vec::len).sum()
    }

    /// The calls, those of one client after those of another.
    pub fn calls(&self) -> impl Iterator<Item = &EtcdCall> {
        self.clients.iter().flatten().map(|turn| &turn.call)
    }

    /// The same without this number of calls from a place on. What comes after them keeps its instant.
    fn without(&self, from: usize, count: usize) -> Self {
        let mut place = 0;
        let mut left_of = |turns: &Vec<Turn>| {
            let (mut left, mut skipped) = (Vec::new(), Duration::ZERO);
            for Turn { pause, call } in turns {
                let pause = *pause + skipped;
                if (from..from + count).contains(&place) {
                    skipped = pause;
                } else {
                    left.push(Turn { pause, call: call.clone() });
                    skipped = Duration::ZERO;
                }
                place += 1;
            }
            left
        };
        EtcdScript { clients: self.clients.iter().map(&mut left_of).collect(), ..*self }
    }
}

/// Leaves calls out of a script as long as `run` still finds a difference in what is left, at most this number of times: first half of them, then
/// ever fewer. The last difference found; none: there was none again. What overlaps is up to the machine, so that a difference may fail to
/// come up again.
///
/// # Errors
/// Those of `run`.
pub fn shrink<T, E>(
    script: &EtcdScript,
    tries_max: u32,
    run: &mut dyn FnMut(&EtcdScript) -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let (mut script, mut smallest, mut tries) = (script.clone(), None, 0);
    let mut count = script.count() / 2;
    while count > 0 {
        let (mut from, mut is_shorter) = (0, false);
        while from < script.count() {
            if tries == tries_max {
                return Ok(smallest);
            }
            tries += 1;
            let shorter = script.without(from, count);
            if let Some(found) = run(&shorter)? {
                (script, smallest, is_shorter) = (shorter, Some(found), true);
            } else {
                from += count;
            }
        }
        // What was needed for another call may be idle after that one is gone.
        count = if is_shorter && count == 1 { 1 } else { count / 2 };
    }
    Ok(smallest)
}

/// The pause before a call.
fn pause(pace: EtcdPace, random: &mut TestRng) -> Duration {
    let milliseconds = match pace {
        EtcdPace::Busy => 0,
        EtcdPace::Slow | EtcdPace::Members => random.next_u32() % 900,
        EtcdPace::Queues => (random.next_u32() % 240).saturating_sub(120),
    };
    Duration::from_millis(u64::from(milliseconds))
}

fn draws(seed: u64, number: u64, client: u8) -> TestRng {
    let mut bytes = [5; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    bytes[16] = client;
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}
