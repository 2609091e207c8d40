//! The same recipe for real: at the Consul agent that `FENCEPOST_CONSUL` names.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use fencepost::consul::Terms;
use fencepost::model::time::Ticks;
use fencepost_live::{Agent, hold};
use row_lock::OurLock;

#[test]
fn two_holders_take_turns_at_a_real_agent() {
    let Ok(address) = std::env::var("FENCEPOST_CONSUL") else {
        return eprintln!("skipped: FENCEPOST_CONSUL names no agent");
    };
    // 100 ticks a second, and a TTL of 10 s.
    let agent = Agent::new(&address, "outside/our-lock").tick(Duration::from_millis(10));
    let terms = Terms {
        ttl: Some(Ticks::new(1_000)),
        lock_delay: Ticks::ZERO,
        behavior: Default::default(),
        checks: Default::default(),
    };
    let recipe = OurLock { terms, retry_every: Ticks::new(10), counts_from_answer: false };
    let inside = AtomicU32::new(0);
    thread::scope(|scope| {
        for client in 1..=2 {
            let (agent, recipe, inside) = (agent.clone().client(client), recipe.clone(), &inside);
            scope.spawn(move || {
                let held = hold(&agent, recipe, |tenure| {
                    assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                    let is_held = tenure.wait(Duration::from_millis(200));
                    inside.fetch_sub(1, SeqCst);
                    is_held
                });
                assert!(held.expect("the agent is there").value, "the lock was lost");
            });
        }
    });
}
