//! The checks of the settings.

use super::{Guard, Leave, Nested, OnError, Reads, Settings, Stop};
use crate::{ELECTION, Etcd, EtcdFault};
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Note, OptionalBudget, Scenario, SettingError};
use fencepost_model::time::Ticks;

type Checked = Result<(), SettingError>;

fn wrong(path: &str, message: impl Into<String>) -> Checked {
    Err(SettingError::at(path, message))
}

/// Settings without effect, because the budget that they need is 0.
pub(super) fn notes(scenario: &Scenario<Etcd>) -> Vec<Note> {
    let (settings, budget) = (&scenario.service, &scenario.budget);
    let mut notes = Vec::new();
    if !settings.operator.is_empty() && budget.operator == 0 {
        notes.push(Note::without_budget("service.operator", "operator"));
    }
    for (is_said, path, kind, name) in [
        (settings.stall > Ticks::ZERO, "service.stall", EtcdFault::STALL, "leader_stalls"),
        (settings.freeze > Ticks::ZERO, "service.freeze", EtcdFault::FREEZE, "server_pauses"),
        (settings.clock_jump > Ticks::ZERO, "service.clock_jump", EtcdFault::CLOCK, "wall_clock_jumps"),
        (settings.apply_lag > Ticks::ZERO, "service.apply_lag", EtcdFault::SLOW_APPLY, "slow_applies"),
        (settings.elections_apart > Ticks::ZERO, "service.elections_apart", EtcdFault::LOSS, "leader_losses"),
    ] {
        if is_said && !budget.affords(kind) {
            notes.push(Note::without_budget(path, name));
        }
    }
    notes
}

pub(super) fn fault_is_possible(scenario: &Scenario<Etcd>, kind: usize) -> Result<(), &'static str> {
    let settings = &scenario.service;
    match kind {
        EtcdFault::STALL if settings.stall == Ticks::ZERO => Err("a leader stalls only with `service.stall`"),
        EtcdFault::FREEZE if settings.freeze == Ticks::ZERO => Err("the server pauses only with `service.freeze`"),
        EtcdFault::CLOCK if settings.clock_jump == Ticks::ZERO => Err("its clock jumps only with `service.clock_jump`"),
        EtcdFault::LAG if settings.reads == Reads::Never => Err("a member that lags matters only with `service.reads`"),
        _ => Ok(()),
    }
}

pub(super) fn validate(scenario: &Scenario<Etcd>) -> Checked {
    let settings = &scenario.service;
    let is_zero = |length: &Ticks| *length == Ticks::ZERO;
    if is_zero(&settings.ttl) || settings.ttls.iter().any(is_zero) {
        return wrong("service.ttl", "a lease lasts at least 1 tick, each of `ttls` too");
    }
    if settings.ttls.len() > usize::from(scenario.clients) {
        return wrong("service.ttls", "there are more entries than clients");
    }
    if is_zero(&settings.renew_after) || is_zero(&settings.resend_after) {
        return wrong(
            "service.renew_after",
            "renewals after 0 ticks would stop time; write at least 1, for `resend_after` too",
        );
    }
    if settings.first_deadline.as_ref().is_some_and(is_zero) || settings.checkpoint.as_ref().is_some_and(is_zero) {
        return wrong("service.first_deadline", "0 ticks would stop time; write at least 1, for `checkpoint` too");
    }
    if is_zero(&settings.scan_retry) {
        return wrong("service.scan_retry", "the scan comes again after at least 1 tick");
    }
    let shortest = settings.ttls.iter().chain([&settings.ttl]).min().copied().unwrap_or_default();
    if settings.margin > Ticks::ZERO && (settings.stop != Stop::BeforeExpiry || settings.margin >= shortest) {
        return wrong("service.margin", "it needs `stop = \"before-expiry\"`, and is shorter than every TTL");
    }
    if !settings.looks_before_entry && settings.stop == Stop::Never {
        return wrong("service.looks_before_entry", "a client that never stops looks at nothing: set `stop`");
    }
    if settings.stall > Ticks::ZERO && settings.stall < settings.outage {
        return wrong("service.stall", "a stall shorter than `outage` deposes no leader");
    }
    if settings.stalled_client && settings.stall == Ticks::ZERO {
        return wrong("service.stalled_client", "no leader stalls: set `stall`");
    }
    if !settings.renews && (settings.stop == Stop::OnDone || settings.done_cancels) {
        return wrong("service.renews", "a session that is not renewed has no `Done` to look at");
    }
    if settings.limits_close && !settings.closes_session {
        return wrong("service.limits_close", "no session is closed: `closes_session` is false");
    }
    if settings.checkpoint_persists && settings.checkpoint.is_none() {
        return wrong("service.checkpoint_persists", "nothing is logged: set `checkpoint`");
    }
    scenario.has_none(&[OptionalBudget::Retries])?;
    if scenario.budget.operator > 0 && settings.operator.is_empty() {
        return wrong("service.operator", "`budget.operator` needs actions: list them here");
    }
    if scenario.budget.pauses > 0 && scenario.budget.affords(EtcdFault::FREEZE) {
        return wrong("budget.pauses", "the server pauses with `budget.server_pauses` already");
    }
    systems(scenario)?;
    scenario.validate_programs_with_third_parties(scenario.clients)?;
    if settings.history && scenario.programs.is_empty() {
        return wrong("service.history", "only programs watch events: name one in `[[program]]`");
    }
    if settings.shows_compacted_deletes && !settings.history {
        return wrong("service.shows_compacted_deletes", "no watch of events is shown anything: set `history`");
    }
    promises(scenario)
}

/// What belongs to one of the two systems.
fn systems(scenario: &Scenario<Etcd>) -> Checked {
    let settings = &scenario.service;
    let is_election = scenario.system == ELECTION;
    let fails = matches!(settings.leave, Leave::FailAndForget | Leave::FailAndRepeat);
    for (is_said, belongs, path) in [
        (settings.final_get, !is_election, "service.final_get"),
        (settings.unlock_compares, !is_election, "service.unlock_compares"),
        (settings.nested != Nested::No, !is_election, "service.nested"),
        (settings.on_error != OnError::Keep, is_election, "service.on_error"),
        (fails, is_election, "service.leave"),
    ] {
        if is_said && !belongs {
            return wrong(path, format!("this setting does not apply to an `{}`", scenario.system));
        }
    }
    Ok(())
}

fn promises(scenario: &Scenario<Etcd>) -> Checked {
    let settings: &Settings = &scenario.service;
    for (place, promise) in scenario.promises.iter().enumerate() {
        let property = promise.property;
        let fits = match property {
            Property::SingleOwner
            | Property::MutualExclusion
            | Property::EventuallyAcquired
            | Property::Progress
            | Property::TtlLowerBound
            | Property::SessionConsistency
            | Property::TokenOrder => true,
            Property::NoPanic => !scenario.programs.is_empty(),
            Property::NoLostUpdate | Property::SequencerSound | Property::SequencerComplete => scenario.writes > 0,
            Property::Linearizable => settings.reads != Reads::Never,
            _ => false,
        };
        if !fits {
            let message = format!("`{property}` does not apply to such an `{}`", scenario.system);
            return wrong(&format!("promise.{place}.property"), message);
        }
    }
    if settings.guard == Guard::Txn && scenario.resource != Default::default() {
        return wrong("service.guard", "a key of etcd is guarded by its transaction; remove `resource`");
    }
    Ok(())
}
