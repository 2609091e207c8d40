//! What is judged, and the exact scenario in which it has to hold: the settings as they are asked about, in microseconds.

use fencepost_consul::{Consul, Release, Sequencer};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::properties::{Level, Memory, Property, View};
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::Scenario;

use super::question::LockQuestion;
use crate::promise::Promise;
use crate::rounding::exact;

/// The system of scenarios about a semaphore.
const SEMAPHORE: &str = "consul-semaphore";

/// Adds what the promise means to a scenario.
pub(crate) fn promising(scenario: Scenario<Consul>, promise: Promise, fencing: bool) -> Scenario<Consul> {
    match promise {
        Promise::MutualExclusion => scenario.promise(Property::MutualExclusion),
        Promise::SlotLimit => about_slots(scenario).promise(Property::SlotLimitBelief),
        Promise::NoLostUpdate if fencing => {
            let fenced = scenario.writes(1).resource(Accepts::NotLower);
            fenced.service(|consul| consul.sequencer = Sequencer::ModifyIndex).promise(Property::NoLostUpdate)
        }
        Promise::NoLostUpdate => scenario.writes(1).promise(Property::NoLostUpdate),
        Promise::KeepsLock => {
            // One who never gives the lock up by itself, so that whatever ends its session is a loss.
            let alone = scenario.clients(1).service(|consul| consul.release = Release::Never);
            alone.own_property(Promise::KeepsLock.name(), Level::Record, keeps_lock)
        }
        Promise::KeepsLease => unreachable!("it is no promise of a lock"),
    }
}

/// The scenario as one of a semaphore.
fn about_slots(scenario: Scenario<Consul>) -> Scenario<Consul> {
    Scenario { system: SEMAPHORE.to_owned(), ..scenario }
}

/// The session of a holder expires, or the holder stops because its own lease is over.
fn keeps_lock(view: &View<'_, Consul>, _: &mut Memory) -> Result<(), String> {
    for fact in view.facts {
        match fact {
            Fact::Expired { session } => return Err(format!("{session} expires, and its client lives")),
            Fact::Left { client, why: Leaving::Lapsed } => {
                return Err(format!("{client} stops: its lease is over, and no renewal was acknowledged in time"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The question as it is, in ticks of a microsecond. It is much too fine to be explored: executions are accepted by it.
pub(crate) fn exactly(question: &LockQuestion, promise: Promise) -> Scenario<Consul> {
    let mut scenario = Scenario::<Consul>::new(&format!("doctor-{}-{}", question.recipe, promise.name()))
        .message_delay(exact(question.message()))
        .wake_delay(exact(question.pause));
    if question.slots.is_some() {
        scenario = about_slots(scenario);
    }
    scenario.service = question.settings();
    scenario.about = format!("{}: {}, exactly, in ticks of 1us.", question.recipe, promise.about());
    if question.false_alarm && promise != Promise::KeepsLock {
        scenario = scenario.allow("false_alarms", 1);
    }
    promising(scenario, promise, question.fencing)
}
