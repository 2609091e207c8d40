//! The assumptions of verdicts about observed leases.

use super::events::{LENGTHS_MAX, LeaseFault};
use super::settings::{Expiry, GivesUp, NapsFrom, RowClock, SLEEPS_MAX, Settings};
use super::{ObservedLease, ROW};
use fencepost_model::assumption::{Assumption, AssumptionValue, Class, Declarations, Execution};
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, Fault};

pub(super) fn declare(scenario: &Scenario<ObservedLease>, list: &mut Declarations<ObservedLease>) {
    let settings = &scenario.service;
    surroundings(scenario, list);
    let are_programs = !scenario.programs.is_empty();
    if scenario.system == ROW {
        let Settings { lease, task, .. } = settings;
        if are_programs {
            let sentence = "programs say when a row ends, and how long a task takes".to_owned();
            list.leave_out(Assumption::new(Class::Setting, "row", "program", sentence));
        } else {
            let sentence = format!("a row ends {lease} after it was taken, and a task takes {task}");
            list.leave_out(Assumption::new(Class::Setting, "row", "service.lease", sentence).of(*lease));
        }
        let sentence = "each statement is one transaction, which never waits for another one";
        return list.leave_out(Assumption::limit("atomic-statements", sentence));
    }
    let Settings { lease, retry_period, .. } = settings;
    let deadline = match settings.gives_up {
        GivesUp::Never => "has no deadline to renew".to_owned(),
        _ => format!("retries a renewal for {}", settings.renew_deadline),
    };
    if !are_programs {
        let sentence = format!("a lease lasts {lease}; a holder renews every {retry_period}, and {deadline}");
        list.leave_out(Assumption::new(Class::Setting, "lease-terms", "service.lease", sentence).of(*lease));
    } else {
        let sentence = "programs say how long a lease lasts, and when they renew and give up".to_owned();
        list.leave_out(Assumption::new(Class::Setting, "lease-terms", "program", sentence));
    }
    if !settings.rates.is_empty() {
        let rates: Vec<String> = settings.rates.iter().map(|rate| format!("{}/{}", rate.shows, rate.per)).collect();
        let sentence = format!("the clocks of the first clients run at constant rates of {}", rates.join(", "));
        let value = rates.into_iter().collect::<AssumptionValue>();
        list.leave_out(timing("constant-rates", "service.rates", sentence).of(value));
    }
    let clients = (1..=scenario.clients).map(ClientId);
    if !are_programs && clients.map(|client| settings.sleep_spread(client)).any(|spread| spread > SLEEPS_MAX) {
        let sentence =
            format!("{} lengths of a sleep between two attempts are explored, evenly spread", SLEEPS_MAX + 1);
        list.leave_out(Assumption::limit("sleep-lengths", &sentence));
    }
    let sentence = "the store never fails and forgets nothing; each request is one atomic step of it";
    list.leave_out(Assumption::limit("atomic-store", sentence));
    let sentence = "a client that has lost the lease runs again only if its user asks for it again";
    list.leave_out(Assumption::limit("no-restart-loop", sentence));
}

/// The bounds on what happens to clients and their clocks, as far as the settings of the service say them.
fn surroundings(scenario: &Scenario<ObservedLease>, list: &mut Declarations<ObservedLease>) {
    let settings = &scenario.service;
    if scenario.budget.affords(LeaseFault::NAP) {
        let when = if settings.naps_from == NapsFrom::Renewal { ", right after a renewal" } else { "" };
        let (nap, grain) = (settings.nap, settings.grain);
        let sentence = format!("a sleep of a process between two requests lasts at most {nap}{when}");
        list.declare(timing("nap-length", "service.nap", sentence).of(nap), move |execution| {
            naps_at_most(execution, nap, grain)
        });
        if nap.count() / grain.count() > LENGTHS_MAX {
            let sentence = format!("{LENGTHS_MAX} lengths of a sleep of a process are explored, evenly spread");
            list.leave_out(Assumption::limit("nap-lengths", &sentence));
        }
    }
    if settings.stop_time > Ticks::ZERO && settings.work_ends {
        let sentence = format!("work that is told to stop goes on for {}", settings.stop_time);
        list.leave_out(timing("stop-time", "service.stop_time", sentence).of(settings.stop_time));
    }
    let reads_wall_clocks = settings.expiry == Expiry::WriterClock || settings.row_clock == RowClock::Client;
    if settings.wall_ahead.is_empty() && (reads_wall_clocks || !scenario.programs.is_empty()) {
        let sentence = "all wall clocks show the same time".to_owned();
        list.leave_out(timing("wall-clocks", "service.wall_ahead", sentence));
    }
    if !settings.wall_ahead.is_empty() {
        let ahead: Vec<String> = settings.wall_ahead.iter().map(ToString::to_string).collect();
        let sentence = format!("the wall clocks of the first clients are ahead by {}", ahead.join(", "));
        list.leave_out(
            timing("wall-clocks", "service.wall_ahead", sentence).of(ahead.into_iter().collect::<AssumptionValue>()),
        );
    }
    if settings.preparation > Ticks::ZERO && scenario.programs.is_empty() {
        let sentence = format!("a client reads its clock at most {} before its statement", settings.preparation);
        list.leave_out(timing("preparation", "service.preparation", sentence).of(settings.preparation));
    }
}

fn timing(kind: &'static str, source: &'static str, sentence: String) -> Assumption {
    Assumption::new(Class::Timing, kind, source, sentence)
}

fn naps_at_most(execution: &Execution<ObservedLease>, nap: Ticks, grain: Ticks) -> Result<(), String> {
    execution.each(|moment| match moment.action {
        Action::Fault(Fault::Service(LeaseFault::Nap(_, grains))) if grain.times((*grains).into()) > nap => {
            Err(format!("a sleep of {grains} grains is longer than {nap}"))
        }
        _ => Ok(()),
    })
}
