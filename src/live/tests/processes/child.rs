//! What runs in a process of its own: a client that holds a lock some times, and says when it is inside.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fencepost_consul::{Behavior, Checks, GoLock, GoSemaphore, Terms};
use fencepost_etcd::{GoElection, GoMutex};
use fencepost_live::{Agent, LiveBroker, LiveEtcd, Tenure, hold};
use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{MessageMutex, SlotTaker};

use crate::agents::TICK;
use crate::etcd::{heeds_done, terms as session_terms};
use crate::semaphores::slots;

/// The variable with the address of the server, the key, the kind of lock, the number of the client, its rounds, and how long it stays
/// inside, in milliseconds.
pub const TASK: &str = "FENCEPOST_LIVE_PROCESS";

/// The name of the test that is the process.
pub const NAME: &str = "processes::child::a_client_in_a_process_of_its_own";

/// The time that all processes of the machine share.
#[allow(clippy::disallowed_methods, reason = "reports of several processes are compared by it")]
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right")
}

#[test]
#[ignore = "it is a part of other tests"]
fn a_client_in_a_process_of_its_own() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let [address, key, kind, client, rounds, inside] = words[..] else { panic!("{task}") };
    let number = |text: &str| text.parse::<u16>().expect("a number");
    let length = Duration::from_millis(inside.parse().expect("milliseconds"));
    let agent = || Agent::new(address, key).tick(TICK).client(number(client));
    let etcd = || LiveEtcd::new(address, key).client(number(client));
    let broker = || LiveBroker::new(address, key).expect("an address").tick(TICK).client(number(client)).heartbeat(1);
    let work = |tenure: &Tenure| {
        println!("\nreport inside {client} {}", now().as_nanos());
        tenure.wait(length);
        println!("\nreport outside {client} {}", now().as_nanos());
    };
    // 200 ticks a second: a TTL of 2 s, and no lock-delay.
    let terms =
        |behavior| Terms { ttl: Some(Ticks::new(400)), lock_delay: Ticks::ZERO, behavior, checks: Checks::default() };
    for _ in 0..number(rounds) {
        let held = match kind {
            "lock" => hold(&agent(), GoLock::with(terms(Behavior::Release), 200), work).map(|_| ()),
            "semaphore" => hold(&agent(), GoSemaphore::with(terms(Behavior::Delete), 2, 200), work).map(|_| ()),
            "semaphore-of-1" => hold(&agent(), GoSemaphore::with(terms(Behavior::Delete), 1, 200), work).map(|_| ()),
            "slot" => hold(&broker(), SlotTaker::of(&slots(), 0), work).map(|_| ()),
            "message" => hold(&broker(), MessageMutex::of(&slots()), work).map(|_| ()),
            "etcd-mutex" => hold(&etcd(), GoMutex::with(session_terms(), heeds_done()), work).map(|_| ()),
            "etcd-election" => hold(&etcd(), GoElection::with(session_terms(), heeds_done()), work).map(|_| ()),
            other => panic!("a client of kind {other}"),
        };
        held.expect("the server is there");
    }
}
