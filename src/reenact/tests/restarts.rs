//! An execution with a restart of the server. It is alone at the agent: a restart disturbs everything else there.

use fencepost_consul::Consul;
use fencepost_model::scenario::from_toml;
use fencepost_model::trace::Trace;
use fencepost_reenact::{Agent, Means, Obstacle, PlanError, ReenactmentOutcome, plan, reenact};

use crate::catalogue::story;

/// A session is destroyed, the server restarts, and the lock-delay begins anew. C-LD-12.
const STORY: [&str; 16] = [
    "client 1 is asked to take the lock",
    "the server receives from client 1: create a session [1]",
    "client 1 receives from the server: created session 1.1 [1]",
    "the server receives from client 1: acquire the key for session 1.1 [2]",
    "client 1 receives from the server: true [2]",
    "an operator destroys session 1.1",
    "the servers restart",
    "client 2 is asked to take the lock",
    "the server receives from client 2: create a session [1]",
    "client 2 receives from the server: created session 2.1 [1]",
    "the server receives from client 2: acquire the key for session 2.1 [2]",
    "client 2 receives from the server: false [2]",
    "1 tick passes",
    "client 2 wakes: time to try again",
    "the server receives from client 2: acquire the key for session 2.1 [3]",
    "client 2 receives from the server: true [3]",
];

fn execution() -> Trace<Consul> {
    let scenarios = fencepost_consul::SCENARIOS;
    let (name, text) = scenarios.iter().find(|(name, _)| *name == "consul-restart").expect("it is in the catalogue");
    let scenario = from_toml::<Consul>(text, name).expect("scenarios are tested");
    story(&scenario, &STORY)
}

#[test]
fn a_restart_needs_a_command() {
    assert!(plan(&execution(), Means { restart: true, ..Means::default() }, 1).is_ok());
    let Err(PlanError::Hopeless(outcome)) = plan(&execution(), Means::default(), 1) else { panic!("it is planned") };
    assert_eq!(outcome, ReenactmentOutcome::Outside { step: 7, needs: Obstacle::Restart });
}

#[test]
#[ignore = "it restarts the agent"]
fn a_lock_delay_begins_anew_at_a_restart() {
    let (Ok(address), Ok(command)) = (std::env::var("FENCEPOST_CONSUL"), std::env::var("FENCEPOST_CONSUL_RESTART"))
    else {
        return eprintln!("skipped: no agent to restart, for FENCEPOST_CONSUL or FENCEPOST_CONSUL_RESTART is not set");
    };
    let agent = Agent::connect(&address, Some(command)).expect("an agent");
    let result = reenact(&execution(), &agent).expect("an agent that answers");
    assert_eq!(result.outcome, ReenactmentOutcome::Happened);
}
