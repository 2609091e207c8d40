//! Executions at agents: what happens, and what is refused.

use fencepost_consul::ConsulMutation;
use fencepost_model::mutation::Mutation;
use fencepost_reenact::{ReenactmentOutcome, reenact};

use crate::agents::benches;
use crate::catalogue::counterexample;

#[test]
fn a_counterexample_happens() {
    for (name, property) in [
        ("b01-fencing", "mutual-exclusion"),
        ("b06-lock-index-cleanup", "token-order"),
        ("certain-node-removed", "mutual-exclusion"),
        ("b32-count-then-register", "slot-limit"),
    ] {
        let trace = counterexample(name, property, None);
        for bench in benches() {
            let result = reenact(&trace, &bench.agent).expect("an agent that answers");
            assert_eq!(result.outcome, ReenactmentOutcome::Happened, "{name} at Consul {}", bench.agent.version);
        }
    }
}

/// What the agents say to a counterexample of a model with a fault.
fn refusals(name: &str, property: &str, mutation: impl Into<Mutation>) -> Vec<String> {
    let trace = counterexample(name, property, Some(mutation.into()));
    let refusal = |bench: crate::agents::Bench| {
        let result = reenact(&trace, &bench.agent).expect("an agent that answers");
        assert!(matches!(result.outcome, ReenactmentOutcome::Refused { .. }), "{}", result.outcome);
        result.outcome.to_string()
    };
    benches().into_iter().map(refusal).collect()
}

#[test]
fn an_acquire_of_a_key_that_is_held_is_refused() {
    for refusal in refusals("b17-stop-then-release", "mutual-exclusion", ConsulMutation::AcquireSteals) {
        assert!(refusal.contains("acquire the key for session ") && refusal.contains(": 200 false"), "{refusal}");
        assert!(refusal.ends_with("the model says: true"), "{refusal}");
    }
}

#[test]
fn a_session_that_ends_before_its_time_is_refused() {
    for refusal in refusals("dial-unbounded", "mutual-exclusion", ConsulMutation::TtlNotMultiplied) {
        assert!(refusal.contains("the TTL of session 1.1 runs out"), "{refusal}");
        assert!(refusal.ends_with("the model says: the session is gone"), "{refusal}");
    }
}
