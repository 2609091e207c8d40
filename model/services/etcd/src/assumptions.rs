//! The assumptions of verdicts about etcd.

use super::settings::{Settings, Stop};
use super::{Command, Etcd, EtcdFault};
use fencepost_model::assumption::{Assumption, Class, Declarations};
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{Scenario, UNLIMITED};
use fencepost_model::time::Ticks;
use fencepost_model::world::Action;

pub(super) fn declare(scenario: &Scenario<Etcd>, list: &mut Declarations<Etcd>) {
    let settings = &scenario.service;
    terms(scenario, list);
    third_parties(scenario, list);
    members(scenario, list);
    let sentence = "each log entry is one atomic step, and every linearizable request is answered from its result";
    list.leave_out(Assumption::limit("atomic-entries", sentence));
    if settings.renews && !has_programs(scenario) {
        let period = settings.done_loop;
        let sentence = format!("the loop that drops sessions comes {period} after their deadlines, as late as it may");
        list.leave_out(Assumption::new(Class::Timing, "done-loop", "service.done_loop", sentence).of(period));
    }
    if settings.scan_delay > Ticks::ZERO {
        let delay = settings.scan_delay;
        let sentence = format!("the leader finds an overdue lease {delay} after the end of its TTL");
        list.leave_out(Assumption::new(Class::Timing, "scan-delay", "service.scan_delay", sentence).of(delay));
    }
    if let Some(after) = settings.checkpoint {
        let sentence = format!("the leader logs the rest of a lease {after} after its last renewal");
        list.leave_out(Assumption::new(Class::Setting, "checkpoint", "service.checkpoint", sentence).of(after));
    }
}

/// Whether a client that wants the lock runs a program.
fn has_programs(scenario: &Scenario<Etcd>) -> bool {
    scenario.programs.iter().any(|program| program.client.is_none_or(|client| client.0 <= scenario.clients))
}

/// What third parties do: they are told to look once in a round.
fn third_parties(scenario: &Scenario<Etcd>, list: &mut Declarations<Etcd>) {
    let all = scenario.third_parties(scenario.clients);
    if all.is_empty() || scenario.rounds == UNLIMITED {
        return;
    }
    let rounds = scenario.rounds;
    let sentence = format!("third parties that run programs do their work at most {rounds} ×");
    list.declare(Assumption::limit("finite-work", &sentence).of(i64::from(rounds)), move |execution| {
        for client in &all {
            let looks = |action: &Action<Etcd>| {
                matches!(action, Action::Command { client: other, command: Command::Look } if other == client)
            };
            let count = execution.moments().filter(|moment| looks(moment.action)).count();
            if count > usize::from(rounds) {
                return Err(format!("{client} does its work {count} times"));
            }
        }
        Ok(())
    });
}

/// What clients count with: a program has lengths of its own.
fn terms(scenario: &Scenario<Etcd>, list: &mut Declarations<Etcd>) {
    let settings = &scenario.service;
    if has_programs(scenario) {
        let runs = |client| scenario.programs.iter().any(|of| of.client.is_none_or(|other| other == ClientId(client)));
        let own = match (1..=scenario.clients).all(runs) {
            true => String::new(),
            false => format!("; the lease of a state machine lasts {}", settings.ttl),
        };
        let sentence = format!("programs say how long their leases last, when they renew them and when they stop{own}");
        return list.leave_out(Assumption::new(Class::Setting, "lease-terms", "program", sentence));
    }
    let sentence = format!("a lease lasts {}, and is renewed {} after an answer", settings.ttl, settings.renew_after);
    list.leave_out(Assumption::new(Class::Setting, "lease-terms", "service.ttl", sentence).of(settings.ttl));
    if settings.stop == Stop::BeforeExpiry {
        let sentence = format!("a holder stops {} before its lease could end", settings.margin);
        list.leave_out(Assumption::new(Class::Setting, "stop-margin", "service.margin", sentence).of(settings.margin));
    }
}

/// The bounds on what happens among the members.
fn members(scenario: &Scenario<Etcd>, list: &mut Declarations<Etcd>) {
    let Settings { outage, elections_apart, stall, freeze, clock_jump, apply_lag, .. } = scenario.service;
    let affords = |kind: usize| scenario.budget.affords(kind);
    let mut timing = |kind, source, length: Ticks, sentence: String| {
        list.leave_out(Assumption::new(Class::Timing, kind, source, sentence).of(length));
    };
    if affords(EtcdFault::LOSS) || affords(EtcdFault::RESTART) || affords(EtcdFault::STALL) {
        timing(
            "outage",
            "service.outage",
            outage,
            format!("a new leader is promoted {outage} after the loss of the old one"),
        );
    }
    if affords(EtcdFault::LOSS) && elections_apart > Ticks::ZERO {
        let sentence = format!("a leader stays for at least {elections_apart}");
        timing("elections-apart", "service.elections_apart", elections_apart, sentence);
    }
    if affords(EtcdFault::STALL) {
        timing("stall", "service.stall", stall, format!("the loop of a leader is stuck for at most {stall}"));
    }
    if affords(EtcdFault::FREEZE) {
        timing("server-pause", "service.freeze", freeze, format!("the server pauses for {freeze}"));
    }
    if affords(EtcdFault::SLOW_APPLY) {
        let sentence = format!("the apply of the leader lags behind by {apply_lag}");
        timing("apply-lag", "service.apply_lag", apply_lag, sentence);
    }
    if affords(EtcdFault::CLOCK) {
        timing(
            "clock-jump",
            "service.clock_jump",
            clock_jump,
            format!("the wall clock of the leader jumps by {clock_jump}"),
        );
    }
}
