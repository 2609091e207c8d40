//! What is judged, and the exact scenario in which it has to hold: the settings as they are asked about, in microseconds.

use std::fmt;

use fencepost_consul::{Consul, Release, Sequencer};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::properties::{Level, Memory, Property, View};
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::{Promise as Judged, Scenario};

use crate::question::{Question, exact};

/// The system of scenarios about a semaphore.
const SEMAPHORE: &str = "consul-semaphore";

/// What a lock or a semaphore is expected to keep.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Promise {
    /// Never two clients at work at once.
    MutualExclusion,
    /// No write of an earlier holder is accepted after one of a later holder.
    NoLostUpdate,
    /// Never more clients at work at once than a semaphore has slots.
    SlotLimit,
    /// A holder that lives and can be reached does not lose the lock, or the slot.
    KeepsLock,
}

impl Promise {
    /// All of them.
    pub const ALL: [Promise; 4] =
        [Promise::MutualExclusion, Promise::NoLostUpdate, Promise::SlotLimit, Promise::KeepsLock];

    /// Those of a lock, or of a semaphore, in the order of a report.
    pub fn of(question: &Question) -> &'static [Promise] {
        match question.slots {
            None => &[Promise::MutualExclusion, Promise::NoLostUpdate, Promise::KeepsLock],
            Some(_) => &[Promise::SlotLimit, Promise::KeepsLock],
        }
    }

    /// The name everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Promise::MutualExclusion => Property::MutualExclusion.name(),
            Promise::NoLostUpdate => Property::NoLostUpdate.name(),
            Promise::SlotLimit => Property::SlotLimitBelief.name(),
            Promise::KeepsLock => "keeps-lock",
        }
    }

    /// The promise as a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Promise::MutualExclusion => "never two clients at work at once",
            Promise::NoLostUpdate => "no write of an earlier holder is accepted after one of a later holder",
            Promise::SlotLimit => "never more clients at work at once than there are slots",
            Promise::KeepsLock => "a holder that lives, and whose messages arrive in time, never loses the lock",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
pub(crate) fn exactly(question: &Question, promise: Promise) -> Scenario<Consul> {
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

/// The promise as the model knows it.
pub(crate) fn judged(scenario: &Scenario<Consul>) -> Judged {
    *scenario.promises.first().expect("each scenario here promises one thing")
}
