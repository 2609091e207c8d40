//! What the kernel asks of the settings.

use super::{ClientTerms, Settings};
use crate::ObservedLease;
use fencepost_model::assumption::Declarations;
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{Note, Scenario, SettingError};
use fencepost_model::service;
use fencepost_model::time::Ticks;

impl service::Settings<ObservedLease> for Settings {
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings {
            lease,
            renew_deadline,
            retry_period,
            sleep_max,
            grain,
            terms,
            renew_period,
            request_timeout,
            second,
            read_back_after,
            safe_time,
            grace,
            stop_time,
            patience,
            call_again,
            wall_ahead,
            nap,
            task,
            at_least,
            preparation,
            ..
        } = self;
        for ClientTerms { lease, renew_deadline, retry_period } in terms {
            [lease, renew_deadline, retry_period].into_iter().for_each(&mut *visit);
        }
        [
            lease,
            renew_deadline,
            retry_period,
            sleep_max,
            grain,
            read_back_after,
            safe_time,
            stop_time,
            nap,
            task,
            at_least,
            preparation,
        ]
        .into_iter()
        .chain(renew_period)
        .chain(request_timeout)
        .chain(second)
        .chain(grace)
        .chain(patience)
        .chain(call_again)
        .chain(wall_ahead)
        .for_each(visit);
    }

    /// A stamp counts up to the lease and the offset of a wall clock.
    fn longest(&self) -> Ticks {
        let mut longest = Ticks::ZERO;
        self.clone().durations(&mut |ticks| longest = longest.max(*ticks));
        longest + self.wall_ahead.iter().copied().max().unwrap_or_default() + Ticks::new(1)
    }

    /// Clients with durations, wall clocks or rates of their own differ.
    fn are_alike(&self, one: ClientId, other: ClientId) -> bool {
        let own = |client: ClientId| {
            let rate = self.rates.get(client.place()).map(|rate| (rate.shows, rate.per));
            (self.lease_of(client), self.deadline_of(client), self.retry_of(client), self.ahead(client), rate)
        };
        own(one) == own(other)
    }

    fn role(scenario: &Scenario<ObservedLease>, participant: ClientId) -> Option<String> {
        let program = scenario.programs.iter().find(|program| program.client == Some(participant))?;
        (participant.0 > scenario.clients).then(|| format!("the {}", program.name.replace('-', " ")))
    }

    fn tokens_are_indexes(&self) -> bool {
        self.token == super::Tokens::ResourceVersion
    }

    fn fault_is_possible(scenario: &Scenario<ObservedLease>, kind: usize) -> Result<(), &'static str> {
        super::validate::fault_is_possible(scenario, kind)
    }

    fn validate(scenario: &Scenario<ObservedLease>) -> Result<(), SettingError> {
        super::validate::validate(scenario)
    }

    fn notes(scenario: &Scenario<ObservedLease>) -> Vec<Note> {
        super::validate::notes(scenario)
    }

    fn assumptions(scenario: &Scenario<ObservedLease>, list: &mut Declarations<ObservedLease>) {
        crate::assumptions::declare(scenario, list);
    }
}
