//! Validation of the settings of a RabbitMQ scenario.

use super::{Connections, NUMBERS, Operation, Silence};
use crate::{MUTEX, RabbitMq, RabbitmqFault};
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Note, Scenario, SettingError};
use fencepost_model::time::Ticks;

/// Settings without effect, because the budget that they need is 0.
pub fn notes(scenario: &Scenario<RabbitMq>) -> Vec<Note> {
    let (settings, budget) = (&scenario.service, scenario.budget);
    [
        (settings.patience.is_some() && budget.retries == 0, "service.patience", "retries"),
        (!settings.operator.is_empty() && budget.operator == 0, "service.operator", "operator"),
        (settings.alarms && !budget.affords(RabbitmqFault::ALARM), "service.alarms", "disk_alarms"),
        (
            !settings.cluster.go_down.is_empty() && !budget.affords(RabbitmqFault::CRASH),
            "service.cluster.go_down",
            "node_crashes",
        ),
        (settings.cluster.splits && !budget.affords(RabbitmqFault::PARTITION), "service.cluster.splits", "partitions"),
    ]
    .into_iter()
    .filter(|(is_idle, ..)| *is_idle)
    .map(|(_, path, needed)| Note::without_budget(path, needed))
    .collect()
}

type Verdict = Result<(), SettingError>;

fn wrong(path: &str, message: impl Into<String>) -> Verdict {
    Err(SettingError::at(path, message))
}

/// Looks for settings that contradict each other.
pub fn validate(scenario: &Scenario<RabbitMq>) -> Verdict {
    programs(scenario)?;
    time(scenario)?;
    slots(scenario)?;
    administration(scenario)?;
    cluster(scenario)?;
    budget(scenario)?;
    promises(scenario)
}

fn programs(scenario: &Scenario<RabbitMq>) -> Verdict {
    let administrators = scenario.service.administration.does.len();
    scenario.validate_programs_of(scenario.clients + u16::try_from(administrators).unwrap_or(u16::MAX))?;
    if scenario.service.connections == Connections::Shared && !scenario.programs.is_empty() {
        return wrong("service.connections", "a program has connections of its own, and shares none");
    }
    Ok(())
}

fn time(scenario: &Scenario<RabbitMq>) -> Verdict {
    let settings = &scenario.service;
    if settings.retry_every == Ticks::ZERO {
        return wrong("service.retry_every", "a retry after 0 ticks would stop time; write at least 1");
    }
    if settings.heartbeat == Some(Ticks::ZERO) {
        return wrong("service.heartbeat", "a heartbeat of 0 disables heartbeats; remove the setting instead");
    }
    if settings.heartbeat.is_none() && settings.beat > Ticks::ZERO {
        return wrong("service.beat", "`beat` needs a heartbeat: set `service.heartbeat`");
    }
    if settings.heartbeat.is_some_and(|heartbeat| settings.beat > heartbeat) {
        return wrong("service.beat", "`beat` must not be longer than `service.heartbeat`");
    }
    match (settings.lease_margin, settings.heartbeat) {
        (Some(_), None) => {
            return wrong("service.lease_margin", "a lease needs a heartbeat: set `service.heartbeat`");
        }
        (Some(margin), Some(heartbeat)) if margin >= heartbeat.times(2) => {
            return wrong("service.lease_margin", "the margin must be less than twice the heartbeat");
        }
        _ => {}
    }
    if settings.verify_every == Some(Ticks::ZERO) {
        return wrong("service.verify_every", "a verification every 0 ticks would stop time; write at least 1");
    }
    if settings.silence != Silence::default() && settings.patience.is_none() {
        return wrong("service.silence", "a reaction to a missing response needs a deadline: set `service.patience`");
    }
    if scenario.budget.retries > 0 && settings.patience.is_none() {
        return wrong("budget.retries", "requests are given up only with both `budget.retries` and `service.patience`");
    }
    Ok(())
}

fn slots(scenario: &Scenario<RabbitMq>) -> Verdict {
    let settings = &scenario.service;
    let is_sorted = settings.slots.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_sorted || settings.slots.last().is_some_and(|last| *last > NUMBERS) {
        return wrong("service.slots", format!("slot numbers must be in ascending order, from 1 to {NUMBERS}"));
    }
    if settings.attempts == Some(0) {
        return wrong("service.attempts", "with 0 attempts no client gets a slot; write at least 1");
    }
    if settings.queues.exclusive {
        return wrong("service.queues.exclusive", "slot queues have no owner; only holders' queues are exclusive");
    }
    if settings.queues.expires == Some(Ticks::ZERO) {
        return wrong("service.queues.expires", "a queue that expires at once cannot be used; write at least 1");
    }
    if settings.connections == Connections::Shared && scenario.budget.crashes > 0 {
        return wrong(
            "budget.crashes",
            "clients that share a connection are one process: remove the budgets for crashes and pauses of single clients",
        );
    }
    Ok(())
}

fn administration(scenario: &Scenario<RabbitMq>) -> Verdict {
    let does = &scenario.service.administration.does;
    if scenario.system == MUTEX && !does.is_empty() {
        return wrong("service.administration", "this system has no administrators");
    }
    if does.iter().any(Vec::is_empty) {
        return wrong(
            "service.administration.does",
            "an administrator needs at least one operation; remove the empty list",
        );
    }
    let largest = |operation: &Operation| match operation {
        Operation::Create(size) | Operation::Add(size) | Operation::Remove(size) => *size,
        Operation::Destroy => 0,
    };
    let added: u32 = does.iter().flatten().map(|operation| u32::from(largest(operation))).sum();
    let at_start = scenario.service.slots.last().copied().unwrap_or(0);
    if added + u32::from(at_start) > u32::from(NUMBERS) {
        return wrong("service.administration.does", format!("these operations may create more than {NUMBERS} slots"));
    }
    Ok(())
}

fn cluster(scenario: &Scenario<RabbitMq>) -> Verdict {
    let cluster = &scenario.service.cluster;
    if !(1..=3).contains(&cluster.nodes) {
        return wrong("service.cluster.nodes", "write a number of nodes from 1 to 3");
    }
    let is_strange = |node: &u8| !(1..=cluster.nodes).contains(node);
    for (list, path) in [
        (&cluster.clients_at, "service.cluster.clients_at"),
        (&cluster.slots_at, "service.cluster.slots_at"),
        (&cluster.go_down, "service.cluster.go_down"),
    ] {
        if list.iter().any(is_strange) {
            return wrong(path, format!("the cluster has nodes 1 to {} only", cluster.nodes));
        }
    }
    if cluster.splits && cluster.nodes == 1 {
        return wrong("service.cluster.splits", "a partition needs at least 2 nodes: set `service.cluster.nodes`");
    }
    Ok(())
}

fn budget(scenario: &Scenario<RabbitMq>) -> Verdict {
    let (settings, budget) = (&scenario.service, scenario.budget);
    if budget.operator > 0 && settings.operator.is_empty() {
        return wrong("budget.operator", "operator actions need both `budget.operator` and `service.operator`");
    }
    Ok(())
}

fn promises(scenario: &Scenario<RabbitMq>) -> Verdict {
    let is_mutex = scenario.system == MUTEX;
    for (place, promise) in scenario.promises.iter().enumerate() {
        let property = promise.property;
        let fits = match property {
            Property::MutualExclusion | Property::SlotConservation => is_mutex,
            Property::SlotLimit
            | Property::SlotLimitBelief
            | Property::SlotExclusion
            | Property::Contiguity
            | Property::CountExact
            | Property::SizeAsAsked
            | Property::SingleAdministrator
            | Property::LeaseExclusion
            | Property::VerifyTruthful => !is_mutex,
            Property::SingleOwner | Property::EventuallyAcquired | Property::Progress => true,
            Property::NoPanic => !scenario.programs.is_empty(),
            _ => false,
        };
        if !fits {
            let message = format!("`{property}` does not apply to a `{}`", scenario.system);
            return wrong(&format!("promise.{place}.property"), message);
        }
        if property == Property::VerifyTruthful && !scenario.service.verifies_when_asked {
            return wrong(
                "service.verifies_when_asked",
                "this property needs verifications: set `service.verifies_when_asked` to true",
            );
        }
    }
    Ok(())
}
