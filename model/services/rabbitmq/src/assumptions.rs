//! The assumptions of verdicts about the broker: its settings, and the limits of this model.

use super::{Broker, RabbitMq, RabbitmqFault, Timer};
use fencepost_model::assumption::{Assumption, Class, Declarations, Execution, declare_retries};
use fencepost_model::ids::ClientId;
use fencepost_model::process::Client;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;

fn setting(kind: &'static str, source: &'static str, sentence: String) -> Assumption {
    Assumption::new(Class::Setting, kind, source, sentence)
}

pub(super) fn declare(scenario: &Scenario<RabbitMq>, list: &mut Declarations<RabbitMq>) {
    let settings = &scenario.service;
    let heartbeat = settings.heartbeat;
    let assumption = match heartbeat {
        Some(beat) => {
            let sentence = format!("a connection without frames is dropped after 2 to 3 heartbeats of {beat} (R-Q-43)");
            setting("heartbeat", "service.heartbeat", sentence).of(beat)
        }
        None => {
            let sentence = "there are no heartbeats: silence is never noticed (R-Q-46)".to_owned();
            setting("heartbeat", "service.heartbeat", sentence)
        }
    };
    list.declare(assumption, move |execution| Broker::silence_is_noticed_after(execution, heartbeat));
    if let Some(margin) = settings.lease_margin {
        let sentence =
            format!("a holder stops by itself after its last answered request: 2 heartbeats later, minus {margin}");
        let assumption = setting("lease-margin", "service.lease_margin", sentence).of(margin);
        let lease = settings.heartbeat.unwrap_or_default().times(2) - margin;
        list.declare(assumption, move |execution| leases_last_at_most(execution, lease));
    }
    if settings.cluster.nodes > 1 {
        let nodes = settings.cluster.nodes;
        let sentence = format!("the broker has {nodes} nodes");
        let assumption = setting("nodes", "service.cluster.nodes", sentence).of(i64::from(nodes));
        list.declare(assumption, move |execution| Broker::nodes_are_at_most(execution, nodes));
    }
    declare_retries(scenario, list, "gives up", Timer::GiveUp);
    if scenario.budget.affords(RabbitmqFault::RESTART) {
        let sentence = "a restarted broker still has every durable queue: its disk is neither stale nor damaged";
        list.declare(Assumption::limit("disk-is-complete", sentence), Broker::restarts_keep_durable_queues);
    }
    let sentence = "queues are classic: quorum queues, mirrors, consumers and their timeouts are not modelled";
    list.leave_out(Assumption::limit("classic-queues", sentence));
    let sentence = "every client has every permission: permissions are not modelled";
    list.leave_out(Assumption::limit("no-permissions", sentence));
}

/// Checks that no client believes to hold a slot beyond its lease, by its own clock.
fn leases_last_at_most(execution: &Execution<RabbitMq>, lease: Ticks) -> Result<(), String> {
    execution.each(|moment| {
        for (place, host) in moment.after.clients.iter().enumerate() {
            let belief = host.process.belief();
            let Some(until) = belief.until.filter(|_| belief.is_inside) else { continue };
            if until.0 - moment.after.clock(ClientId::of(place).into()) > lease {
                return Err(format!("{} believes for longer than its lease", ClientId::of(place)));
            }
        }
        Ok(())
    })
}
