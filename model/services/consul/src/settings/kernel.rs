//! The interface of the settings to the kernel.

use super::detector;
use super::{Health, Monitor, Sequencer, Servers, SessionUse, Settings, Takes, notes, validate};
use crate::{Consul, ConsulFault, ConsulMessage, OperatorAction, Server, assumptions, operator};
use fencepost_model::assumption::Declarations;
use fencepost_model::held::Held;
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{AxisAlias, Note, Scenario, SettingError};
use fencepost_model::service;
use fencepost_model::time::Ticks;

impl service::Settings<Consul> for Settings {
    const ALIASES: &'static [AxisAlias] = detector::ALIASES;

    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings { ttl, lock_delay, lock_delay_max, renew_every, retry_every, watch_wait, patience, .. } = self;
        let optional = [ttl, lock_delay_max, renew_every, watch_wait, patience].into_iter().flatten();
        [lock_delay, retry_every].into_iter().chain(optional).for_each(&mut *visit);
        if let Some(Monitor { patience, wait, retry_every, .. }) = &mut self.monitor {
            [patience, wait].into_iter().flatten().chain([retry_every]).for_each(&mut *visit);
        }
        self.job.iter_mut().for_each(|job| visit(&mut job.grace));
        let Health { detection, reap_after, check_interval, .. } = &mut self.health;
        [detection, reap_after, check_interval].into_iter().flatten().for_each(&mut *visit);
        let Servers { election, outage_max, lingers_max, .. } = &mut self.servers;
        [outage_max, lingers_max].into_iter().flatten().chain([election]).for_each(&mut *visit);
        self.semaphore.iter_mut().for_each(|semaphore| visit(&mut semaphore.prune_wait));
    }

    fn capacity(&self) -> usize {
        let limits = self.semaphore.as_ref().map_or(&[1][..], |semaphore| &semaphore.limits);
        limits.iter().min().map_or(1, |least| usize::from(*least))
    }

    fn held(scenario: &Scenario<Consul>) -> Held {
        if scenario.service.semaphore.is_some() { Held::Slot } else { Held::Lock }
    }

    /// Where leaders change, no single server answers.
    fn server_name(scenario: &Scenario<Consul>, _: Option<(ClientId, &ConsulMessage)>) -> String {
        let change = [ConsulFault::LEADER_LOSS, ConsulFault::DEPOSITION, ConsulFault::RESTART];
        let is_one = !change.into_iter().any(|kind| scenario.budget.affords(kind));
        if is_one { "the server" } else { "Consul" }.to_owned()
    }

    /// Clients are not interchangeable if one looks a session up by its name (the first match wins), if they share a
    /// session (it is the first client's), or if they draw random numbers (which are distinguished by client).
    fn are_alike(&self, one: ClientId, other: ClientId) -> bool {
        let limits = self.semaphore.as_ref().is_none_or(|semaphore| semaphore.limit(one) == semaphore.limit(other));
        self.session == SessionUse::Own && self.sequencer != Sequencer::Random && limits
    }

    fn tokens_are_indexes(&self) -> bool {
        matches!(self.sequencer, Sequencer::ModifyIndex | Sequencer::CreateIndex)
    }

    fn operator_cost(&self, action: OperatorAction) -> u8 {
        operator::cost(action, self)
    }

    fn has_failure_detector(&self) -> bool {
        self.health.detection.is_some()
    }

    fn crash_takes_node(&self) -> bool {
        self.health.crash == Takes::Node
    }

    fn role(scenario: &Scenario<Consul>, participant: ClientId) -> Option<String> {
        let beyond = participant.0.checked_sub(scenario.clients).filter(|number| *number > 0)?;
        if let Some(program) = scenario.programs.iter().find(|program| program.client == Some(participant)) {
            let namesakes = scenario.programs.iter().filter(|other| other.client > Some(ClientId(scenario.clients)));
            let is_alone = namesakes.filter(|other| other.name == program.name).count() == 1;
            let name = program.name.replace('-', " ");
            return Some(if is_alone { format!("the {name}") } else { format!("the {name} {}", participant.0) });
        }
        Some(match beyond <= scenario.service.observers.into() {
            true => format!("observer {beyond}"),
            false => "the third party".to_owned(),
        })
    }

    fn fault_is_possible(scenario: &Scenario<Consul>, kind: usize) -> Result<(), &'static str> {
        Server::fault_is_possible(&scenario.service, kind)
    }

    fn validate(scenario: &Scenario<Consul>) -> Result<(), SettingError> {
        validate(scenario)
    }

    fn notes(scenario: &Scenario<Consul>) -> Vec<Note> {
        notes(scenario)
    }

    fn assumptions(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
        assumptions::declare(scenario, list);
    }
}
