//! Executions at a real broker, where `FENCEPOST_RABBITMQ` names one: what happens, and what is refused.

use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{RabbitMq, RabbitmqMutation};
use fencepost_reenact::{RabbitmqBroker, ReenactmentOutcome, reenact};

use crate::catalogue::counterexample;

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

#[test]
#[ignore = "it restarts the broker"]
fn slots_are_gone_after_a_restart_of_the_broker() {
    let Some(broker) = broker_with("FENCEPOST_RABBITMQ_RESTART") else { return };
    happens_at(&broker, "f25-not-durable", "eventually-acquired");
}

/// What a broker says to a counterexample of a model with a fault.
fn refusal(name: &str, property: &str, mutation: impl Into<Mutation>) -> Option<String> {
    let broker = broker()?;
    let trace = counterexample::<RabbitMq>(name, property, Some(mutation.into()));
    let result = reenact(&trace, &broker).expect("a broker that answers");
    assert!(matches!(result.outcome, ReenactmentOutcome::Refused { .. }), "{}", result.outcome);
    Some(result.outcome.to_string())
}

#[test]
fn a_declaration_of_a_queue_that_is_owned_is_refused() {
    let Some(refusal) = refusal("rabbitmq-semaphore-2", "slot-exclusion", RabbitmqMutation::OwnerIgnored) else {
        return;
    };
    assert!(refusal.contains("declare B[1], exclusive, keeping nothing: 405 RESOURCE_LOCKED"), "{refusal}");
    assert!(refusal.ends_with("the model says: declared"), "{refusal}");
}

#[test]
fn a_connection_that_is_dropped_before_its_time_is_refused() {
    let Some(refusal) = refusal("f36-lease", "slot-exclusion", RabbitmqMutation::DropsAfterOneMiss) else { return };
    assert!(refusal.contains("has missed its heartbeats"), "{refusal}");
    assert!(refusal.ends_with("the model says: the connection is dropped"), "{refusal}");
}
