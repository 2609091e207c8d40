//! The interface of the settings to the kernel.

use super::{Connections, Operation, Settings, notes, validate};
use crate::{Broker, MUTEX, RabbitMq, RabbitmqMessage, assumptions};
use fencepost_model::assumption::Declarations;
use fencepost_model::held::Held;
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{Note, Scenario, SettingError};
use fencepost_model::service;
use fencepost_model::time::Ticks;

impl service::Settings<RabbitMq> for Settings {
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings { queues, heartbeat, beat, retry_every, patience, verify_every, lease_margin, cluster, .. } = self;
        let optional = [&mut queues.expires, heartbeat, patience, verify_every, lease_margin].into_iter().flatten();
        [beat, retry_every, &mut cluster.tick].into_iter().chain(optional).for_each(visit);
    }

    /// R-Q-46: silence is noticed after at most three heartbeats.
    fn longest(&self) -> Ticks {
        let mut longest = self.heartbeat.map_or(Ticks::ZERO, |beat| beat.times(3));
        self.clone().durations(&mut |ticks| longest = longest.max(*ticks));
        longest
    }

    fn capacity(&self) -> usize {
        let created = self.administration.does.iter().flatten().filter_map(|operation| match operation {
            Operation::Create(size) => Some(usize::from(*size)),
            _ => None,
        });
        created.chain([self.slots.len(), 1]).max().unwrap_or(1)
    }

    fn capacity_at_start(&self) -> Option<u16> {
        u16::try_from(self.slots.len()).ok()
    }

    fn held(scenario: &Scenario<RabbitMq>) -> Held {
        if scenario.system == MUTEX { Held::Lock } else { Held::Slot }
    }

    fn server_name(scenario: &Scenario<RabbitMq>, message: Option<(ClientId, &RabbitmqMessage)>) -> String {
        match (scenario.service.cluster.nodes, message) {
            (1, _) => "the broker".to_owned(),
            (_, Some((client, _))) => format!("node {}", scenario.service.cluster.node_of(client.place())),
            (_, None) => "the cluster".to_owned(),
        }
    }

    /// Clients on different nodes differ. If all clients share a connection, its opener differs from the others.
    fn are_alike(&self, one: ClientId, other: ClientId) -> bool {
        let node = |client: ClientId| self.cluster.node_of(client.place());
        self.connections == Connections::Own && node(one) == node(other)
    }

    fn role(scenario: &Scenario<RabbitMq>, participant: ClientId) -> Option<String> {
        let beyond = participant.0.checked_sub(scenario.clients).filter(|number| *number > 0)?;
        Some(format!("administrator {beyond}"))
    }

    fn fault_is_possible(scenario: &Scenario<RabbitMq>, kind: usize) -> Result<(), &'static str> {
        Broker::fault_is_possible(&scenario.service, kind)
    }

    fn validate(scenario: &Scenario<RabbitMq>) -> Result<(), SettingError> {
        validate(scenario)
    }

    fn notes(scenario: &Scenario<RabbitMq>) -> Vec<Note> {
        notes(scenario)
    }

    fn assumptions(scenario: &Scenario<RabbitMq>, list: &mut Declarations<RabbitMq>) {
        assumptions::declare(scenario, list);
    }
}
