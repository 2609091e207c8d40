//! What the kernel asks of the settings.

use super::Settings;
use crate::Etcd;
use fencepost_model::assumption::Declarations;
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{Note, Scenario, SettingError};
use fencepost_model::service;
use fencepost_model::time::Ticks;

impl service::Settings<Etcd> for Settings {
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings {
            ttl,
            ttls,
            renew_after,
            resend_after,
            done_loop,
            first_deadline,
            margin,
            election_timeout,
            outage,
            elections_apart,
            stall,
            freeze,
            checkpoint,
            scan_delay,
            clock_jump,
            scan_retry,
            apply_lag,
            apply_patience,
            ..
        } = self;
        [
            ttl,
            renew_after,
            resend_after,
            done_loop,
            margin,
            election_timeout,
            outage,
            elections_apart,
            stall,
            freeze,
            scan_delay,
            clock_jump,
            scan_retry,
            apply_lag,
            apply_patience,
        ]
        .into_iter()
        .chain(ttls)
        .chain(first_deadline)
        .chain(checkpoint)
        .for_each(visit);
    }

    /// Clients with TTLs of their own differ; a lease of all clients has the name of one.
    fn are_alike(&self, one: ClientId, other: ClientId) -> bool {
        !self.shared_lease && self.ttl_of_client(one) == self.ttl_of_client(other)
    }

    fn tokens_are_indexes(&self) -> bool {
        true
    }

    fn server_name(_: &Scenario<Etcd>, _: Option<(ClientId, &crate::EtcdMessage)>) -> String {
        "etcd".to_owned()
    }

    fn role(scenario: &Scenario<Etcd>, participant: ClientId) -> Option<String> {
        if participant.0 <= scenario.clients {
            return None;
        }
        let third_parties = || scenario.programs.iter().filter(|other| other.client > Some(ClientId(scenario.clients)));
        let program = third_parties().find(|program| program.client == Some(participant))?;
        let is_alone = third_parties().filter(|other| other.name == program.name).count() == 1;
        let name = program.name.replace('-', " ");
        Some(if is_alone { format!("the {name}") } else { format!("the {name} {}", participant.0) })
    }

    fn fault_is_possible(scenario: &Scenario<Etcd>, kind: usize) -> Result<(), &'static str> {
        super::validate::fault_is_possible(scenario, kind)
    }

    fn validate(scenario: &Scenario<Etcd>) -> Result<(), SettingError> {
        super::validate::validate(scenario)
    }

    fn notes(scenario: &Scenario<Etcd>) -> Vec<Note> {
        super::validate::notes(scenario)
    }

    fn assumptions(scenario: &Scenario<Etcd>, list: &mut Declarations<Etcd>) {
        crate::assumptions::declare(scenario, list);
    }
}
