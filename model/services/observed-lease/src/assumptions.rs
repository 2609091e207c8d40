//! The assumptions of verdicts about observed leases.

use super::settings::{GivesUp, Settings};
use super::{ObservedLease, ROW};
use fencepost_model::assumption::{Assumption, Class, Declarations};
use fencepost_model::scenario::Scenario;

pub(super) fn declare(scenario: &Scenario<ObservedLease>, list: &mut Declarations<ObservedLease>) {
    let settings = &scenario.service;
    if scenario.system == ROW {
        let Settings { lease, task, .. } = settings;
        let sentence = format!("a row ends {lease} after it was taken, and a task takes {task}");
        list.leave_out(Assumption::new(Class::Setting, "row", "service.lease", sentence).of(*lease));
        let sentence = "each statement is one transaction, which never waits for another one";
        return list.leave_out(Assumption::limit("atomic-statements", sentence));
    }
    let Settings { lease, retry_period, .. } = settings;
    let deadline = match (settings.gives_up, settings.renew_deadline) {
        (GivesUp::Never, _) | (_, None) => "has no deadline to renew".to_owned(),
        (_, Some(deadline)) => format!("retries a renewal for {deadline}"),
    };
    let sentence = format!("a lease lasts {lease}; a holder renews every {retry_period}, and {deadline}");
    list.leave_out(Assumption::new(Class::Setting, "lease-terms", "service.lease", sentence).of(*lease));
    if !settings.rates.is_empty() {
        let rates: Vec<String> = settings.rates.iter().map(|rate| format!("{}/{}", rate.shows, rate.per)).collect();
        let sentence = format!("the clocks of the first clients run at constant rates of {}", rates.join(", "));
        list.leave_out(Assumption::new(Class::Setting, "constant-rates", "service.rates", sentence));
    }
    let sentence = "the store never fails and forgets nothing; each request is one atomic step of it";
    list.leave_out(Assumption::limit("atomic-store", sentence));
    let sentence = "a client that has lost the lease runs again only if its user asks for it again";
    list.leave_out(Assumption::limit("no-restart-loop", sentence));
}
