//! Several clients at the same time: what each asks for is drawn from a seed, what overlaps with what is up to the machine. `order` judges
//! what was said.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use fencepost_etcd::mvcc::{EtcdCall, Mvcc};
use proptest::prelude::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::draw::{beside_ends, beside_others, placed};
use super::wire::{EtcdReply, EtcdServer};
use crate::error::ConformError;

/// How a crowd goes about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EtcdPace {
    /// Five clients with six calls each, one right after the other.
    Busy,
    /// Three clients with twelve calls each, with pauses, so that leases end between them.
    Slow,
}

impl EtcdPace {
    const fn clients(self) -> u8 {
        match self {
            EtcdPace::Busy => 5,
            EtcdPace::Slow => 3,
        }
    }

    const fn calls(self) -> usize {
        match self {
            EtcdPace::Busy => 6,
            EtcdPace::Slow => 12,
        }
    }

    /// How many calls a crowd makes.
    pub const fn total(self) -> usize {
        self.clients() as usize * self.calls()
    }
}

/// A call with its answer, and when it was sent and received, in nanoseconds since the crowd began.
#[derive(Clone, PartialEq, Debug)]
pub struct TimedCall {
    /// The call.
    pub call: EtcdCall,
    /// The answer.
    pub reply: EtcdReply,
    /// When it was sent.
    pub sent: i64,
    /// When the answer was received.
    pub received: i64,
}

/// What a crowd has exchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct EtcdCrowd {
    /// The revision of the store, which was empty and compacted, before the first call.
    pub revision: i64,
    /// The calls, in the order in which they were sent.
    pub calls: Vec<TimedCall>,
}

/// Lets a crowd loose, and returns what was said. Nothing is left behind in the server.
///
/// # Errors
/// The server cannot be talked to, or another program writes to it.
pub fn crowd(server: &EtcdServer, seed: u64, number: u64, pace: EtcdPace) -> Result<EtcdCrowd, ConformError> {
    let revision = server.reset()?.revision();
    let (began, calls) = (Instant::now(), Mutex::new(Vec::new()));
    let now = || i64::try_from(began.elapsed().as_nanos()).expect("no crowd lasts for centuries");
    let client = |place: u8| {
        let mut seen = revision;
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, draws(seed, number, place));
        for _ in 0..pace.calls() {
            if pace == EtcdPace::Slow {
                thread::sleep(Duration::from_millis(u64::from(runner.rng().next_u32() % 900)));
            }
            let drawn = match pace {
                EtcdPace::Busy => beside_others().new_tree(&mut runner).expect("no call is refused").current(),
                EtcdPace::Slow => beside_ends().new_tree(&mut runner).expect("no call is refused").current(),
            };
            let call = placed(&drawn, &mut Mvcc::empty_at(seen));
            let sent = now();
            let reply = server.ask(&call)?;
            let received = now();
            seen = reply.revision().unwrap_or(seen);
            calls.lock().expect("no client panics").push(TimedCall { call, reply, sent, received });
        }
        Ok(())
    };
    let outcome: Result<(), ConformError> = thread::scope(|scope| {
        let client = &client;
        let clients: Vec<_> = (0..pace.clients()).map(|place| scope.spawn(move || client(place))).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))
    });
    server.reset()?;
    outcome?;
    let mut calls = calls.into_inner().expect("no client panics");
    calls.sort_by_key(|call| call.sent);
    Ok(EtcdCrowd { revision, calls })
}

fn draws(seed: u64, number: u64, client: u8) -> TestRng {
    let mut bytes = [5; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    bytes[16] = client;
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}
