//! Validation of a Consul scenario: it refuses settings without meaning, and settings that would be ignored.

mod prefix;

use self::prefix::{queue, semaphore};
use super::{
    BeliefRule, DeadSession, Guard, OldLeader, OperatorActionKind, Reads, RenewalErrors, Renewals, Requests,
    Revocations, Sequencer, Servers, SessionUse, Settings, Timers,
};
use crate::clients::others;
use crate::{Consul, ConsulFault};
use fencepost_model::properties::{Level, Property};
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::{Note, Scenario, SettingError, UNLIMITED};
use fencepost_model::time::Ticks;

/// Settings without effect, because the budget that they need is 0.
pub(crate) fn notes(scenario: &Scenario<Consul>) -> Vec<Note> {
    let (settings, budget) = (&scenario.service, scenario.budget);
    let (servers, usual) = (&settings.servers, Servers::default());
    let has_outages = budget.affords(ConsulFault::LEADER_LOSS) || budget.affords(ConsulFault::DEPOSITION);
    let loses = match servers.old_leader {
        OldLeader::Dies => "leader_losses",
        OldLeader::Lingers => "depositions",
    };
    let destroys_crashed = settings.operator.iter().any(|priced| priced.kind() == OperatorActionKind::DestroyCrashed);
    [
        (servers.election > Ticks::ZERO && !has_outages, "service.servers.election", loses),
        (servers.outage_max.is_some() && !has_outages, "service.servers.outage_max", loses),
        (servers.timers == Timers::GoOn && !has_outages, "service.servers.timers", loses),
        (servers.requests == Requests::Held && !has_outages, "service.servers.requests", loses),
        (servers.old_leader != usual.old_leader && !has_outages, "service.servers.old_leader", loses),
        (!settings.operator.is_empty() && budget.operator == 0, "service.operator", "operator"),
        (destroys_crashed && budget.crashes == 0, "service.operator.destroy-crashed", "crashes"),
        (settings.patience.is_some() && budget.retries == 0, "service.patience", "retries"),
    ]
    .into_iter()
    .filter(|(is_idle, ..)| *is_idle)
    .map(|(_, path, needed)| Note::without_budget(path, needed))
    .collect()
}

type Verdict = Result<(), SettingError>;

fn wrong(path: &str, message: &str) -> Verdict {
    Err(SettingError::at(path, message))
}

pub(crate) fn validate(scenario: &Scenario<Consul>) -> Verdict {
    scenario.validate_programs_with_third_parties(others(scenario))?;
    durations(&scenario.service)?;
    recipe(scenario)?;
    servers(scenario)?;
    budgets(scenario)?;
    queue(scenario)?;
    semaphore(scenario)?;
    promises(scenario)
}

fn durations(settings: &Settings) -> Verdict {
    let Settings { ttl, renew_every, belief, renewal_errors, patience, monitor, retry_every, .. } = *settings;
    if ttl == Some(Ticks::ZERO) {
        return wrong(
            "service.ttl",
            "a TTL of 0 means none in Consul (C-SES-7); remove the setting, or write at least 1",
        );
    }
    if settings.ttl_multiplier == 0 {
        return wrong("service.ttl_multiplier", "the multiplier must be at least 1; Consul's is 2");
    }
    if ttl.is_none() && renew_every.is_some() {
        return wrong("service.renew_every", "renewals need a TTL (C-SES-18): set `service.ttl`");
    }
    if renew_every == Some(Ticks::ZERO) || retry_every == Ticks::ZERO || patience == Some(Ticks::ZERO) {
        return wrong(
            "service",
            "`renew_every`, `retry_every` and `patience` of 0 ticks would stop time; use 1 or more",
        );
    }
    let stops_time = |ticks: Option<Ticks>| ticks == Some(Ticks::ZERO);
    if monitor.is_some_and(|monitor| stops_time(monitor.patience) || stops_time(monitor.wait)) {
        return wrong("service.monitor", "`patience` and `wait` of 0 ticks would stop time; use 1 or more");
    }
    if monitor.is_some_and(|monitor| (monitor.retries > 0) != (monitor.retry_every > Ticks::ZERO)) {
        return wrong("service.monitor", "a monitor needs both `retries` and `retry_every`, or neither");
    }
    if belief == BeliefRule::ByMonitor && monitor.is_none() {
        return wrong("service.belief", "`by-monitor` needs a table [service.monitor]");
    }
    if stops_time(settings.watch_wait) || settings.watch_wait.is_some() && !settings.waiting.is_watching() {
        return wrong(
            "service.watch_wait",
            "`service.watch_wait` applies only with `service.waiting = \"watch\"` and must be at least 1",
        );
    }
    if ttl.is_none() && settings.counts_lease() {
        let who = if belief == BeliefRule::SelfLimiting { "self-limiting" } else { "suspending" };
        return Err(SettingError::at("service.belief", format!("a {who} client counts its TTL; set `ttl`")));
    }
    if belief == BeliefRule::Suspending && renew_every.is_none() {
        return wrong("service.belief", "a suspending client needs renewals: set `service.renew_every`");
    }
    if renewal_errors != RenewalErrors::GoOn && renew_every.is_none() {
        return wrong("service.renewal_errors", "this setting needs renewals: set `service.renew_every`");
    }
    if settings.ends_session && (settings.session != SessionUse::Own || settings.dead_session != DeadSession::Recreate)
    {
        return wrong(
            "service.ends_session",
            "a client that destroys its session has one of its own, and creates another one for its next attempt: remove `session` and `dead_session`",
        );
    }
    if settings.reads == Reads::Consistent && settings.observers == 0 {
        return wrong("service.reads", "only observers read so; set `observers`");
    }
    Ok(())
}

fn servers(scenario: &Scenario<Consul>) -> Verdict {
    let servers = &scenario.service.servers;
    let is_about_old_leader = servers.lingers_max.is_some()
        || servers.renewals == Renewals::WithQuorum
        || servers.revocations == Revocations::Forwarded;
    if is_about_old_leader && servers.old_leader != OldLeader::Lingers {
        return wrong(
            "service.servers",
            "`lingers_max`, `renewals` and `revocations` are about a deposed leader; set `old_leader = \"lingers\"`",
        );
    }
    if servers.outage_max.is_some_and(|most| most < servers.election) {
        return wrong("service.servers.outage_max", "an outage cannot last less than `election`");
    }
    Ok(())
}

fn recipe(scenario: &Scenario<Consul>) -> Verdict {
    let settings = &scenario.service;
    if settings.session == SessionUse::Shared && settings.ttl.is_some() {
        return wrong("service.session", "no client renews a shared session: remove `service.ttl`");
    }
    if scenario.rounds == UNLIMITED && settings.sequencer == Sequencer::Random {
        return wrong(
            "rounds",
            "a random sequencer is one that no other tenure has: with it, write a number of rounds",
        );
    }
    if (settings.sequencer == Sequencer::Version) != (scenario.resource == Accepts::Unchanged) {
        return wrong(
            "service.sequencer",
            "`service.sequencer = \"version\"` and `resource = \"unchanged\"` need each other",
        );
    }
    if settings.delegates && (settings.guard != Guard::None || !settings.sequencer.is_read_back()) {
        return wrong(
            "service.delegates",
            "a third party needs a sequencer that the server knows (`lock-index`, `modify-index` or `create-index`), and no `guard`",
        );
    }
    if settings.delegates && scenario.writes == 0 {
        return wrong("writes", "a third party needs writes; write at least 1");
    }
    if settings.guard == Guard::Transaction && scenario.resource != Accepts::All {
        return wrong("resource", "with `guard = \"transaction\"` writes go to the store itself; remove `resource`");
    }
    Ok(())
}

fn budgets(scenario: &Scenario<Consul>) -> Verdict {
    let Settings { ref operator, patience, .. } = scenario.service;
    let budget = scenario.budget;
    if budget.operator > 0 && operator.is_empty() {
        return wrong("budget.operator", "operator actions need both `budget.operator` and a list `service.operator`");
    }
    if operator.iter().any(|priced| priced.cost() == 0) {
        return wrong(
            "service.operator",
            "an operator action without a cost could repeat without limit; write a cost of at least 1",
        );
    }
    if budget.operator > 0 && operator.iter().all(|priced| priced.cost() > budget.operator) {
        return wrong("budget.operator", "the budget is less than the cost of every action of `service.operator`");
    }
    if budget.retries > 0 && patience.is_none() {
        return wrong("budget.retries", "requests are repeated only with both `budget.retries` and `service.patience`");
    }
    Ok(())
}

fn promises(scenario: &Scenario<Consul>) -> Verdict {
    let settings = &scenario.service;
    let judges_lease = scenario.promises.iter().any(|promise| promise.property == Property::LeaseExclusion);
    if judges_lease && settings.ttl.is_some() && !settings.remembers_lease() {
        return wrong(
            "service.keeps_lease",
            "`lease-exclusion` needs clients that track their lease: set `service.keeps_lease` to true",
        );
    }
    let is_semaphore = scenario.service.semaphore.is_some();
    for (place, promise) in scenario.promises.iter().enumerate() {
        let property = promise.property;
        let says = |message: String| Err(SettingError::at(&format!("promise.{place}.property"), message));
        if matches!(property, Property::TokenOrder | Property::SequencerComplete)
            && scenario.service.sequencer == Sequencer::None
        {
            return says(format!("`{property}` is about tokens, and `service.sequencer` is `none`; choose one"));
        }
        let is_about_both =
            matches!(property, Property::SessionConsistency | Property::NoPanic) || property.level() == Level::Progress;
        if property.is_about_slots() != is_semaphore && !is_about_both {
            let what = if is_semaphore { "a lock, but this is a semaphore" } else { "a semaphore, but this is a lock" };
            return says(format!("`{property}` is about {what}"));
        }
    }
    Ok(())
}
