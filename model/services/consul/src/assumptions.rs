//! The assumptions of verdicts about Consul: the settings of sessions, checks and servers, and the limits of this
//! model.

use super::clients::others;
use super::settings::{Expiry, Health, Log, OldLeader, Renewals, Requests, Restarts, Revocations, Servers, Timers};
use super::{Command, Consul, ConsulFault, Server, Timer, TreeDeletions};
use fencepost_model::assumption::{Assumption, AssumptionValue, Class, Declarations, declare_retries};
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::{Scenario, UNLIMITED};
use fencepost_model::world::Action;

fn setting(kind: &'static str, source: &'static str, sentence: impl Into<String>) -> Assumption {
    Assumption::new(Class::Setting, kind, source, sentence.into())
}

pub(super) fn declare(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
    sessions(scenario, list);
    health(&scenario.service.health, list);
    log(&scenario.service.servers, list);
    leaders(scenario, list);
    restarts(scenario, list);
    recipes(scenario, list);
    third_parties(scenario, list);
}

fn third_parties(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
    let all = scenario.third_parties(others(scenario));
    if all.is_empty() || scenario.rounds == UNLIMITED {
        return;
    }
    let (rounds, restarts) = (scenario.rounds, scenario.budget.restarts);
    let again = if restarts > 0 { ", and once more after a restart" } else { "" };
    let sentence = format!("third parties that run programs do their work at most {rounds} × each{again}");
    let at_most = usize::from(rounds) + usize::from(restarts);
    list.declare(Assumption::limit("finite-work", &sentence).of(i64::from(rounds)), move |execution| {
        for client in &all {
            let works = |action: &Action<Consul>| {
                matches!(action, Action::Command { client: other, command: Command::Work } if other == client)
            };
            let count = execution.moments().filter(|moment| works(moment.action)).count();
            if count > at_most {
                return Err(format!("{client} does its work {count} times"));
            }
        }
        Ok(())
    });
}

fn sessions(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
    let settings = &scenario.service;
    let (ttl, multiplier) = (settings.ttl, settings.ttl_multiplier);
    if !scenario.programs.is_empty() {
        let is_of_contender = |client: Option<ClientId>| client.is_none_or(|client| client.0 <= scenario.clients);
        let machines = match scenario.programs.iter().any(|program| is_of_contender(program.client)) {
            true => String::new(),
            false => format!(
                "; those of contenders are created with {}",
                ttl.map_or("no TTL".to_owned(), |ttl| format!("a TTL of {ttl}"))
            ),
        };
        let sentence = format!(
            "programs say what their sessions are created with{machines}; the server multiplies a TTL by {multiplier}"
        );
        return list.leave_out(setting("session-terms", "program", sentence));
    }
    let assumption = match ttl {
        Some(ttl) => {
            let sentence = format!("sessions have a TTL of {ttl}, which the server multiplies by {multiplier}");
            setting("session-ttl", "service.ttl", sentence).of(ttl)
        }
        None => setting("session-ttl", "service.ttl", "sessions have no TTL"),
    };
    list.declare(assumption, move |execution| Server::sessions_have_ttl(execution, ttl, multiplier));
    let delay = settings.capped(settings.lock_delay);
    let assumption = setting("lock-delay", "service.lock_delay", format!("the lock-delay is {delay}")).of(delay);
    list.declare(assumption, move |execution| Server::lock_delays_are(execution, delay));
    if settings.has_catalog() {
        let checks = settings.terms().checks;
        let names: Vec<String> = settings.health.checks.iter().map(ToString::to_string).collect();
        let sentence = match names[..] {
            [] => "sessions are bound to no check".to_owned(),
            _ => format!("sessions are bound to {}", names.join(" and ")),
        };
        let value: AssumptionValue = names.into_iter().collect();
        list.declare(setting("session-checks", "service.health.checks", sentence).of(value), move |execution| {
            Server::sessions_are_bound_to(execution, checks)
        });
    }
}

fn health(health: &Health, list: &mut Declarations<Consul>) {
    if let Some(detection) = health.detection {
        let sentence = format!("gossip declares a node failed that was silent for at least {detection}");
        list.declare(
            setting("failure-detection", "service.health.detection", sentence).of(detection),
            move |execution| {
                Server::silent_before(execution, detection, |timer| match timer {
                    Timer::Suspect(node) => Some(node),
                    _ => None,
                })
            },
        );
    }
    if let Some(after) = health.reap_after {
        let sentence = format!("the servers remove a node that was silent for at least {after}");
        list.declare(setting("reaping", "service.health.reap_after", sentence).of(after), move |execution| {
            Server::silent_before(execution, after, |timer| match timer {
                Timer::Reap(node) => Some(node),
                _ => None,
            })
        });
    }
}

fn log(servers: &Servers, list: &mut Declarations<Consul>) {
    if servers.log == Log::Delayed {
        let sentence = "an acquire is applied some time after the leader checked the lock-delay (C-LD-9)";
        list.declare(setting("log", "service.servers.log", sentence).of("delayed"), Server::acquires_are_delayed);
    }
    if servers.expiry == Expiry::TwoSteps {
        let sentence = "a session ends some time after its timer has fired (C-TTL-5)";
        list.declare(setting("expiry", "service.servers.expiry", sentence).of("two-steps"), Server::expiry_is_delayed);
    }
    if servers.tree_deletions == TreeDeletions::ForEachKey {
        let sentence = "the deletion of a tree leaves a tombstone for each of its keys";
        let assumption = setting("tree-deletions", "service.servers.tree_deletions", sentence).of("for-each-key");
        // Of tombstones the model keeps one for all contenders, so an execution does not show the difference.
        list.leave_out(assumption);
    }
}

/// Only where the servers can lose their leader.
fn leaders(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
    let (budget, servers) = (scenario.budget, &scenario.service.servers);
    if !budget.affords(ConsulFault::LEADER_LOSS) && !budget.affords(ConsulFault::DEPOSITION) {
        return;
    }
    if let Some(most) = servers.outage_max {
        let sentence = format!("the servers are without a leader for at most {most}");
        let assumption = setting("outage-length", "service.servers.outage_max", sentence).of(most);
        list.declare(assumption, move |execution| Server::outages_last_at_most(execution, most));
    }
    let timers = servers.timers;
    let (sentence, value) = match timers {
        Timers::StartAnew => ("a new leader restarts the TTL of every session (C-TTL-6)", "start-anew"),
        Timers::GoOn => ("a new leader knows how much time was left of each TTL", "go-on"),
    };
    list.declare(setting("leader-timers", "service.servers.timers", sentence).of(value), move |execution| {
        Server::new_leaders_treat_timers(execution, timers)
    });
    let requests = servers.requests;
    let (sentence, value) = match requests {
        Requests::Held => ("a request without a leader is held until there is one (C-CON-6)", "held"),
        Requests::Refused => ("a request without a leader is answered with an error (C-CON-6)", "refused"),
    };
    let assumption = setting("requests-without-leader", "service.servers.requests", sentence).of(value);
    list.declare(assumption, move |execution| Server::requests_without_leader_are(execution, requests));
    if servers.old_leader == OldLeader::Lingers {
        deposed(servers, list);
    }
    let sentence = "a new leader has applied its whole log before it answers";
    list.declare(Assumption::limit("leader-is-complete", sentence), Server::new_leaders_are_complete);
}

fn deposed(servers: &Servers, list: &mut Declarations<Consul>) {
    if let Some(most) = servers.lingers_max {
        let sentence = format!("a deposed leader still acts as leader for at most {most} (C-CON-2)");
        let assumption = setting("leader-lease", "service.servers.lingers_max", sentence).of(most);
        list.declare(assumption, move |execution| Server::deposed_leaders_linger(execution, most));
    }
    if servers.renewals == Renewals::WithQuorum {
        let sentence = "a leader acknowledges a renewal only after it has confirmed its leadership";
        let assumption = setting("renewals", "service.servers.renewals", sentence).of("with-quorum");
        list.declare(assumption, Server::renewals_have_a_quorum);
    }
    if servers.revocations == Revocations::Forwarded {
        let sentence = "the end of a session is applied even if a former leader proposed it";
        let assumption = setting("revocations", "service.servers.revocations", sentence).of("forwarded");
        list.leave_out(assumption);
    }
}

/// Only where the servers can restart.
fn restarts(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
    if !scenario.budget.affords(ConsulFault::RESTART) {
        return;
    }
    let from = scenario.service.servers.restarts;
    let (sentence, value) = match from {
        Restarts::FromLog => {
            ("restarted servers replay their log: every TTL and lock-delay restarts (C-LD-12)", "from-log")
        }
        Restarts::FromSnapshot => (
            "restarted servers begin from a snapshot: every TTL restarts, and lock-delays are lost (C-LD-13)",
            "from-snapshot",
        ),
    };
    list.declare(setting("restarts-from", "service.servers.restarts", sentence).of(value), move |execution| {
        Server::restarts_are(execution, from)
    });
    let sentence = "restarted servers have every committed entry: neither log nor snapshot is stale or damaged";
    list.declare(Assumption::limit("snapshot-is-complete", sentence), Server::restarts_lose_nothing);
}

fn recipes(scenario: &Scenario<Consul>, list: &mut Declarations<Consul>) {
    let settings = &scenario.service;
    if settings.queue.is_some() {
        let sentence = "the lock belongs to the oldest contender key";
        list.leave_out(setting("lock-queue", "service.queue", sentence));
    }
    if let Some(semaphore) = &settings.semaphore {
        let limits = semaphore.limits.clone();
        let names: Vec<String> = limits.iter().map(u8::to_string).collect();
        let sentence = format!("the semaphore's limit is {}", names.join(" for the first client, then "));
        let value: AssumptionValue = names.into_iter().collect();
        list.declare(setting("semaphore-limit", "service.semaphore.limits", sentence).of(value), move |execution| {
            Server::limits_are_among(execution, &limits)
        });
    }
    declare_retries(scenario, list, "repeats", Timer::GiveUp);
    if !settings.operator.is_empty() {
        let names: Vec<String> = settings.operator.iter().map(|priced| name(&priced.kind())).collect();
        let sentence = format!("the operator may only: {}", names.join(", "));
        let value: AssumptionValue = names.into_iter().collect();
        let settings = settings.clone();
        let assumption = setting("operator-repertoire", "service.operator", sentence).of(value);
        list.declare(assumption, move |execution| {
            execution.each(|moment| match moment.action {
                Action::Operator(operator_action) if !super::operator::is_listed(*operator_action, &settings) => {
                    Err("`service.operator` does not list it".to_owned())
                }
                _ => Ok(()),
            })
        });
    }
}

/// The name of a setting's value in scenario files.
fn name(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
