//! The checks of the settings.

use super::{
    Acquire, Callback, Cancels, Expiry, GivesUp, Guard, Memory, OnCancel, OnLoss, Rate, RefusedCreate, Release,
    RowClock, Settings, Tokens,
};
use crate::{LeaseFault, ObservedLease, ROW};
use fencepost_model::ids::ClientId;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Note, OptionalBudget, Scenario, SettingError};
use fencepost_model::service::Settings as _;
use fencepost_model::service_fault::ServiceFault;
use fencepost_model::time::Ticks;

type Checked = Result<(), SettingError>;

fn wrong(path: &str, message: impl Into<String>) -> Checked {
    Err(SettingError::at(path, message))
}

/// Settings without effect, because the budget that they need is 0.
pub(super) fn notes(scenario: &Scenario<ObservedLease>) -> Vec<Note> {
    let settings = &scenario.service;
    let mut notes = Vec::new();
    if settings.nap > Ticks::ZERO && !scenario.budget.affords(LeaseFault::NAP) {
        notes.push(Note::without_budget("service.nap", LeaseFault::KINDS[LeaseFault::NAP].budget));
    }
    if !settings.operator.is_empty() && scenario.budget.operator == 0 {
        notes.push(Note::without_budget("service.operator", "operator"));
    }
    notes
}

pub(super) fn fault_is_possible(scenario: &Scenario<ObservedLease>, kind: usize) -> Result<(), &'static str> {
    match kind {
        _ if scenario.system == ROW => Err("the database of a `lease-row` has no such fault"),
        LeaseFault::NAP if scenario.service.nap == Ticks::ZERO => Err("a process sleeps only with `service.nap`"),
        _ => Ok(()),
    }
}

pub(super) fn validate(scenario: &Scenario<ObservedLease>) -> Checked {
    let settings = &scenario.service;
    if settings.lease == Ticks::ZERO {
        return wrong("service.lease", "a lease must be at least 1 tick");
    }
    if settings.retry_period == Ticks::ZERO {
        return wrong("service.retry_period", "a retry after 0 ticks would stop time; write at least 1");
    }
    if settings.wall_ahead.iter().any(|ahead| *ahead < Ticks::ZERO) {
        return wrong("service.wall_ahead", "a wall clock is ahead by 0 or more: move all of them by the same");
    }
    if settings.grain < Ticks::new(1) {
        return wrong("service.grain", "drawn lengths are multiples of it: write at least 1");
    }
    if settings.longest() > Ticks::new(1_000_000_000) {
        return wrong("service", "a duration is longer than 1000000000 ticks");
    }
    // A message carries the length of a sleep.
    if settings.nap.count() / settings.grain.count() > u16::MAX.into() {
        return wrong(
            "service.nap",
            format!("a sleep has at most {} times `grain`; write less, or a longer `grain`", u16::MAX),
        );
    }
    scenario.has_none(&[OptionalBudget::Retries])?;
    if scenario.budget.operator > 0 && settings.operator.is_empty() {
        return wrong("service.operator", "`budget.operator` needs actions: list them here");
    }
    if scenario.system == ROW { row(scenario) } else { elector(scenario) }?;
    programs(scenario)?;
    promises(scenario)
}

/// What programs cannot have.
fn programs(scenario: &Scenario<ObservedLease>) -> Checked {
    scenario.validate_programs_with_third_parties(scenario.clients)?;
    if scenario.programs.is_empty() {
        return Ok(());
    }
    let settings = &scenario.service;
    if !settings.rates.is_empty() && settings.expiry == Expiry::WriterClock {
        return wrong("service.rates", "wall clocks that programs read are a constant apart: remove it");
    }
    Ok(())
}

/// What the constructor refuses (OL-K-1), and what does not fit together.
fn elector(scenario: &Scenario<ObservedLease>) -> Checked {
    let (settings, plain) = (&scenario.service, Settings::default());
    for (is_said, path) in [
        (settings.row_clock != plain.row_clock, "service.row_clock"),
        (settings.task > Ticks::ZERO, "service.task"),
        (settings.at_least > Ticks::ZERO, "service.at_least"),
        (settings.preparation > Ticks::ZERO, "service.preparation"),
        (settings.keep_alive, "service.keep_alive"),
    ] {
        if is_said {
            return wrong(path, "this setting applies to a `lease-row` only");
        }
    }
    if settings.terms.len() > usize::from(scenario.clients) {
        return wrong("service.terms", "there are more entries than clients");
    }
    for place in 0..scenario.clients.min(64) {
        durations(settings, ClientId::of(place.into()))?;
    }
    let has_no_guard = matches!(settings.guard, Guard::None);
    if (settings.guard == Guard::SafeTime) != (settings.safe_time > Ticks::ZERO) {
        return wrong("service.safe_time", "`guard = \"safe-time\"` and `safe_time` need each other");
    }
    if settings.holds_on_error && has_no_guard {
        return wrong("service.holds_on_error", "only a deadline of the work is held up: set `guard`");
    }
    if settings.request_timeout == Some(Ticks::ZERO) || settings.call_again == Some(Ticks::ZERO) {
        return wrong("service.request_timeout", "0 ticks would stop time; write at least 1, for `call_again` too");
    }
    if settings.renew_period == Some(Ticks::ZERO) {
        return wrong("service.renew_period", "renewals after 0 ticks would stop time; write at least 1");
    }
    if settings.second == Some(Ticks::ZERO) {
        return wrong("service.second", "a second has at least 1 tick");
    }
    if settings.repeats_requests && settings.request_timeout.is_none() {
        return wrong("service.request_timeout", "a library repeats requests that time out: set it");
    }
    if settings.release == Release::Never && (settings.release_repeats || settings.on_loss != OnLoss::ReleaseThenTell) {
        return wrong("service.release", "nothing is released; remove `release_repeats` and `on_loss`, or set it");
    }
    if settings.call_again.is_some() && settings.patience.is_none() {
        return wrong("service.call_again", "a call that waits for ever does not end: set `patience`");
    }
    if settings.memory == Memory::PerCall && settings.patience.is_none() {
        return wrong("service.memory", "a call that waits for ever does not end: set `patience`");
    }
    if (settings.acquire == Acquire::CreateOnly) != (settings.expiry == Expiry::Never) {
        return wrong("service.expiry", "`acquire = \"create-only\"` and `expiry = \"never\"` need each other");
    }
    if settings.refused_create == RefusedCreate::ReRead && settings.acquire != Acquire::CreateOnly {
        return wrong("service.refused_create", "it applies to `acquire = \"create-only\"`");
    }
    if (settings.read_back_after > Ticks::ZERO) && settings.acquire != Acquire::WriteAndReadBack {
        return wrong("service.read_back_after", "it applies to `acquire = \"write-and-read-back\"`");
    }
    if settings.callback == Callback::Silent && settings.gives_up == GivesUp::Never {
        return wrong("service.callback", "this elector never gives up");
    }
    cancelling(settings)?;
    if scenario.writes > 0 && settings.token == Tokens::None && scenario.resource != Default::default() {
        return wrong("service.token", "a resource that compares tokens needs one");
    }
    Ok(())
}

fn cancelling(settings: &Settings) -> Checked {
    let waits = settings.on_cancel != OnCancel::ReleaseAtOnce;
    if settings.cancels == Cancels::Never && (waits || settings.grace.is_some()) {
        return wrong("service.cancels", "the caller never cancels: set it, or remove `on_cancel` and `grace`");
    }
    if settings.grace.is_some() && !waits {
        return wrong("service.grace", "it applies to an `on_cancel` that waits");
    }
    Ok(())
}

/// The constructor: L > D, D > 1.2 R (OL-K-1).
fn durations(settings: &Settings, client: ClientId) -> Checked {
    let (lease, deadline, retry) = (settings.lease_of(client), settings.deadline_of(client), settings.retry_of(client));
    if lease == Ticks::ZERO || retry == Ticks::ZERO {
        return wrong("service.terms", "each duration must be at least 1 tick");
    }
    if settings.gives_up != GivesUp::Never {
        if lease <= deadline {
            return wrong("service.lease", "it must be longer than `renew_deadline` (OL-K-1)");
        }
        if deadline.count() * 5 <= retry.count() * 6 {
            return wrong("service.renew_deadline", "it must be longer than 1.2 times `retry_period` (OL-K-1)");
        }
    }
    let Some(Rate { shows, per }) = settings.rates.get(client.place()) else { return Ok(()) };
    if *shows == 0 || *per == 0 {
        return wrong("service.rates", "a rate has at least 1 tick of each");
    }
    for length in [lease, deadline, retry] {
        if length.count() * i64::from(*per) % i64::from(*shows) != 0 {
            return wrong("service.rates", "lease, deadline and period must be whole ticks on this clock");
        }
    }
    Ok(())
}

/// What belongs to electors only, and the bounds that comparisons of stamps need.
fn row(scenario: &Scenario<ObservedLease>) -> Checked {
    let (settings, budget) = (&scenario.service, &scenario.budget);
    // Durations that electors have by default are not compared: a refined scenario has other ones.
    let expected = Settings {
        lease: settings.lease,
        retry_period: settings.retry_period,
        wall_ahead: settings.wall_ahead.clone(),
        row_clock: settings.row_clock,
        task: settings.task,
        at_least: settings.at_least,
        preparation: settings.preparation,
        keep_alive: settings.keep_alive,
        renew_deadline: settings.renew_deadline,
        sleep_max: settings.sleep_max,
        grain: settings.grain,
        ..Settings::default()
    };
    if *settings != expected {
        return wrong(
            "service",
            "a `lease-row` takes `lease`, `retry_period`, `wall_ahead` and the settings of rows only",
        );
    }
    if settings.task == Ticks::ZERO {
        return wrong("service.task", "set how long a task takes");
    }
    if settings.keep_alive && settings.lease < settings.grain.times(2) {
        return wrong("service.lease", "a row that is kept alive is extended after half of it: write at least 2");
    }
    if settings.keep_alive && settings.row_clock == RowClock::Client {
        return wrong("service.keep_alive", "only rows by the database's clock are extended in this model");
    }
    if settings.row_clock == RowClock::Client {
        let is_bounded = scenario.synchrony.message_delay.is_some_and(|delay| delay < settings.lease);
        if !is_bounded || budget.cuts > 0 || budget.pauses > 0 {
            return wrong(
                "service.row_clock",
                "the time of a client needs `synchrony.message_delay` shorter than `lease`, and neither cuts nor pauses",
            );
        }
    }
    if settings.row_clock == RowClock::Database && settings.preparation > Ticks::ZERO && budget.pauses > 0 {
        return wrong("service.preparation", "it stands for a pause already; remove `budget.pauses`");
    }
    Ok(())
}

fn promises(scenario: &Scenario<ObservedLease>) -> Checked {
    let is_row = scenario.system == ROW;
    if is_row && scenario.writes > 0 {
        return wrong("writes", "these clients do not write; remove `writes`");
    }
    for (place, promise) in scenario.promises.iter().enumerate() {
        let property = promise.property;
        let fits = match property {
            Property::SingleOwner | Property::MutualExclusion | Property::EventuallyAcquired | Property::Progress => {
                true
            }
            Property::LeaseExclusion => !is_row,
            Property::TokenOrder => scenario.service.token != Tokens::None,
            Property::NoLostUpdate => scenario.writes > 0,
            Property::NoPanic => !scenario.programs.is_empty(),
            Property::Own(_) => true,
            _ => false,
        };
        if !fits {
            let message = format!("`{property}` does not apply to such a `{}`", scenario.system);
            return wrong(&format!("promise.{place}.property"), message);
        }
    }
    Ok(())
}
