//! The agents that the tests talk to.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fencepost_consul::{Behavior, Checks, GoLock, Terms};
use fencepost_live::Agent;
use fencepost_model::time::Ticks;
use fencepost_serve::{Clock, Server, Settings};

/// An agent with an unused lock, whose keys are removed with it.
pub struct Bench {
    pub agent: Agent,
    pub base: String,
    pub key: String,
    /// Ends with the test.
    _server: Option<Server>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What follows at the same agent wants it empty.
        if let Err(error) = ureq::delete(format!("{}/v1/kv/{}?recurse", self.base, self.key)).call() {
            eprintln!("the keys of {} stay at {}: {error}", self.key, self.base);
        }
    }
}

/// The stand-in; and the real agent, if there is one.
pub fn benches() -> Vec<Bench> {
    let server = Server::start(Settings { clock: Clock::Real, ..Settings::default() }, "127.0.0.1:0");
    let server = server.expect("a free port");
    let mut benches = vec![bench(&format!("http://{}", server.address()), Some(server))];
    match std::env::var("FENCEPOST_CONSUL") {
        Ok(address) => benches.push(bench(&address, None)),
        Err(_) => eprintln!("skipped: no real agent, for FENCEPOST_CONSUL names none; the stand-in answers"),
    }
    benches
}

fn bench(base: &str, server: Option<Server>) -> Bench {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // No key is a prefix of another bench's.
    let key = format!("fencepost-live/{}/{:04}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
    let agent = Agent::new(&base, &key).tick(TICK);
    Bench { agent, base, key, _server: server }
}

/// 200 ticks a second.
pub const TICK: Duration = Duration::from_millis(5);

/// The Go client's lock with a TTL of 10 s and no lock-delay.
pub fn go_lock() -> GoLock {
    let terms = Terms {
        ttl: Some(Ticks::new(2_000)),
        lock_delay: Ticks::ZERO,
        behavior: Behavior::Release,
        checks: Checks::default(),
    };
    GoLock::with(terms, 200)
}
