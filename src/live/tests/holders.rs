//! Holders of a lock, and how they lose it.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use fencepost_live::hold;
use fencepost_model::fact::Leaving;

use crate::agents::{benches, go_lock};

#[test]
fn holders_take_turns() {
    for bench in benches() {
        let (inside, tenures) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for client in 1..=3 {
                let (agent, inside, tenures) = (bench.agent.clone().client(client), &inside, &tenures);
                scope.spawn(move || {
                    for _ in 0..2 {
                        let held = hold(&agent, go_lock(), |tenure| {
                            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                            let is_held = tenure.wait(Duration::from_millis(50));
                            inside.fetch_sub(1, SeqCst);
                            is_held
                        });
                        let held = held.expect("the agent is there");
                        assert!(held.value, "it was lost");
                        assert_eq!(held.left, Leaving::Done);
                        tenures.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(tenures.load(SeqCst), 6, "{}", bench.base);
    }
}

#[test]
fn a_holder_that_loses_its_session_is_notified() {
    for bench in benches() {
        let held = hold(&bench.agent, go_lock(), |tenure| {
            let session = holder(&bench.base, &bench.key);
            put(&format!("{}/v1/session/destroy/{session}", bench.base));
            !tenure.wait(Duration::from_secs(30))
        });
        let held = held.expect("the agent is there");
        assert!(held.value, "it was not told");
        assert_eq!(held.left, Leaving::Notified);
    }
}

#[test]
fn code_that_panics_gives_the_lock_back() {
    for bench in benches() {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = hold(&bench.agent, go_lock(), |_| panic!("on purpose"));
        }));
        assert!(panicked.is_err());
        hold(&bench.agent, go_lock(), |_| ()).expect("the lock is free");
    }
}

/// The session that holds the key.
fn holder(base: &str, key: &str) -> String {
    let mut response = ureq::get(format!("{base}/v1/kv/{key}")).call().expect("it is there");
    let text = response.body_mut().read_to_string().expect("text");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value[0]["Session"].as_str().expect("it is held").to_owned()
}

fn put(url: &str) {
    ureq::put(url).send_empty().expect("it answers");
}
