//! Executions at a real broker, where `FENCEPOST_RABBITMQ` names one: what happens, and what is refused.

use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::from_toml;
use fencepost_rabbitmq::{RabbitMq, RabbitmqMutation};
use fencepost_reenact::{RabbitmqBroker, ReenactmentOutcome, reenact};

use crate::catalogue::{counterexample, story};

/// The broker, if there is one.
fn broker() -> Option<RabbitmqBroker> {
    let Ok(address) = std::env::var("FENCEPOST_RABBITMQ") else {
        eprintln!("skipped: no real broker, for FENCEPOST_RABBITMQ names none");
        return None;
    };
    let (restart, tool) =
        (std::env::var("FENCEPOST_RABBITMQ_RESTART").ok(), std::env::var("FENCEPOST_RABBITMQCTL").ok());
    Some(RabbitmqBroker::connect(&address, restart, tool).expect("a broker"))
}

/// The broker, if it is there and the user's commands can do more to it.
fn broker_with(variable: &str) -> Option<RabbitmqBroker> {
    let is_set = std::env::var(variable).is_ok();
    if !is_set {
        eprintln!("skipped: {variable} is not set");
    }
    broker().filter(|_| is_set)
}

fn happens(name: &str, property: &str) {
    broker().into_iter().for_each(|broker| happens_at(&broker, name, property));
}

fn happens_at(broker: &RabbitmqBroker, name: &str, property: &str) {
    let trace = counterexample::<RabbitMq>(name, property, None);
    let result = reenact(&trace, broker).expect("a broker that answers");
    assert_eq!(result.outcome, ReenactmentOutcome::Happened, "{name} at RabbitMQ {}", broker.version());
}

#[test]
fn a_counterexample_happens_at_a_broker() {
    happens("f06-add-declares-one", "contiguity");
    happens("f31-shared-connection", "slot-exclusion");
    happens("b36-message-as-mutex", "mutual-exclusion");
    happens("f22-relative-retry", "size-as-asked");
    happens("f43-slot-deleted", "contiguity");
}

#[test]
fn a_holder_that_pauses_is_dropped_by_a_broker() {
    happens("f13-frozen-holder", "slot-exclusion");
}

#[test]
fn an_unused_queue_expires_at_a_broker() {
    happens("f23-slots-expire", "eventually-acquired");
}

#[test]
#[ignore = "it uses rabbitmqctl"]
fn an_operator_deletes_the_queue_of_a_holder() {
    let Some(broker) = broker_with("FENCEPOST_RABBITMQCTL") else { return };
    happens_at(&broker, "f33-passive-declare", "slot-exclusion");
}

/// An operator closes the connection of a holder by force, and the next client takes the slot. R-Q-38.
const CLOSED_BY_FORCE: [&str; 15] = [
    "client 1 is asked to acquire",
    "the server receives from client 1: publish to A[1], mandatory (on connection 1.1) [1]",
    "client 1 receives from the server: ack [1]",
    "the server receives from client 1: publish to B[1], mandatory (on connection 1.1) [2]",
    "client 1 receives from the server: returned with 312, and ack [2]",
    "the server receives from client 1: declare B[1], exclusive, keeping nothing (on connection 1.1) [3]",
    "client 1 receives from the server: declared [3]",
    "an operator closes connection 1.1",
    "client 2 is asked to acquire",
    "the server receives from client 2: publish to A[1], mandatory (on connection 2.1) [1]",
    "client 2 receives from the server: ack [1]",
    "the server receives from client 2: publish to B[1], mandatory (on connection 2.1) [2]",
    "client 2 receives from the server: returned with 312, and ack [2]",
    "the server receives from client 2: declare B[1], exclusive, keeping nothing (on connection 2.1) [3]",
    "client 2 receives from the server: declared [3]",
];

#[test]
#[ignore = "it uses rabbitmqctl"]
fn an_operator_closes_the_connection_of_a_holder() {
    let Some(broker) = broker_with("FENCEPOST_RABBITMQCTL") else { return };
    let scenarios = fencepost_rabbitmq::SCENARIOS;
    let (name, text) =
        scenarios.iter().find(|(name, _)| *name == "f33-passive-declare").expect("it is in the catalogue");
    let text = text.replace("delete-holder", "close-connection");
    let scenario = from_toml::<RabbitMq>(&text, name).expect("a scenario");
    let result = reenact(&story(&scenario, &CLOSED_BY_FORCE), &broker).expect("a broker that answers");
    assert_eq!(result.outcome, ReenactmentOutcome::Happened);
}

#[test]
#[ignore = "it restarts the broker"]
fn slots_are_gone_after_a_restart_of_the_broker() {
    let Some(broker) = broker_with("FENCEPOST_RABBITMQ_RESTART") else { return };
    happens_at(&broker, "f25-not-durable", "eventually-acquired");
}

/// What a broker says to a counterexample of a model with a fault: in which step, by which answer, and what the model says.
fn is_refused((name, property): (&str, &str), mutation: impl Into<Mutation>, [step, answer, model]: [&str; 3]) {
    let Some(broker) = broker() else { return };
    let trace = counterexample::<RabbitMq>(name, property, Some(mutation.into()));
    let result = reenact(&trace, &broker).expect("a broker that answers");
    assert!(matches!(result.outcome, ReenactmentOutcome::Refused { .. }), "{name}: {}", result.outcome);
    let refusal = result.outcome.to_string();
    let is_as_expected = refusal.contains(&format!("({step}")) && refusal.contains(answer) && refusal.ends_with(model);
    assert!(is_as_expected, "{name}: {refusal}");
}

#[test]
fn a_declaration_of_a_queue_that_is_owned_is_refused() {
    is_refused(
        ("f14-mutex", "single-administrator"),
        RabbitmqMutation::OwnerIgnored,
        [
            "the server receives from client",
            "declare the mutex, exclusive, keeping nothing: 405 RESOURCE_LOCKED",
            "says: declared",
        ],
    );
}

#[test]
fn a_message_that_is_lost_with_its_rejection_is_refused() {
    is_refused(
        ("b36-no-fault", "eventually-acquired"),
        RabbitmqMutation::RejectLosesMessage,
        ["the server receives from client", "get a message from the lock's queue: delivery 1", "says: empty"],
    );
}

#[test]
fn a_connection_that_is_dropped_before_its_time_is_refused() {
    is_refused(
        ("f36-lease", "slot-exclusion"),
        RabbitmqMutation::DropsAfterOneMiss,
        ["the server wakes: connection 1.1 has missed its heartbeats", "it is still open", "the connection is dropped"],
    );
}
