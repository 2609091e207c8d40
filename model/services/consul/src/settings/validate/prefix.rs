//! Validation of recipes with their own prefix and a key for each contender: the queue and the semaphore.

use super::super::{
    AfterRace, AfterRelease, Behavior, BeliefRule, DeadSession, Guard, Killed, OnLoss, OnUncertainty,
    OperatorActionKind, Priced, Prunes, Registers, Sequencer, SessionUse, Unlock, Waiting,
};
use super::{Verdict, wrong};
use crate::{Consul, SEMAPHORE};
use fencepost_model::scenario::{Scenario, SettingError};
use fencepost_model::time::Ticks;

/// Settings that the queue's recipe does not have would be ignored.
pub(super) fn queue(scenario: &Scenario<Consul>) -> Verdict {
    let settings = &scenario.service;
    if settings.queue.is_none() {
        return Ok(());
    }
    if scenario.system == SEMAPHORE {
        return wrong("service.queue", "a queue is a lock, and this is a semaphore");
    }
    if settings.behavior != Behavior::Delete {
        return wrong(
            "service.behavior",
            "in a queue the end of a session must delete its key: set `delete` (C-INV-1)",
        );
    }
    if settings.sequencer != Sequencer::CreateIndex {
        return wrong("service.sequencer", "a queue is ordered by `create-index`, which is its fencing token, too");
    }
    if settings.session != SessionUse::Own
        || settings.belief == BeliefRule::Suspending
        || settings.monitor.is_some()
        || settings.guard != Guard::None
        || settings.delegates
        || settings.unlock != Unlock::Release
        || settings.waiting != Waiting::Retry
        || settings.cleanup
        || settings.names_leader
        || settings.observers > 0
    {
        return wrong(
            "service.queue",
            "the queue's recipe does not have `session`, `monitor`, `guard`, `delegates`, `unlock`, `waiting`, `cleanup`, `names_leader`, `observers` and `belief = \"suspending\"`; remove these settings",
        );
    }
    let is_about_sessions = |priced: &Priced| {
        matches!(
            priced.kind(),
            OperatorActionKind::DestroySession
                | OperatorActionKind::DestroyWaiting
                | OperatorActionKind::DestroyCrashed
                | OperatorActionKind::RenewSession
        )
    };
    if !settings.operator.iter().all(|priced| is_about_sessions(priced) || priced.kind().is_about_health()) {
        return wrong("service.operator", "this operator action changes the lock's key, which a queue does not have");
    }
    Ok(())
}

/// The maximum number of clients in a list of live sessions, and the highest limit.
const CONTENDERS_MAX: u16 = 6;
const LIMIT_MAX: u8 = 4;

pub(super) fn semaphore(scenario: &Scenario<Consul>) -> Verdict {
    let settings = &scenario.service;
    let Some(semaphore) = &settings.semaphore else {
        return if scenario.system == SEMAPHORE {
            wrong("system", "a semaphore needs a table [service.semaphore] with `limits`")
        } else {
            Ok(())
        };
    };
    if scenario.system != SEMAPHORE {
        return Err(SettingError::at("system", format!("[service.semaphore] belongs to the system `{SEMAPHORE}`")));
    }
    let is_limit = |limit: &u8| (1..=LIMIT_MAX).contains(limit);
    if semaphore.limits.is_empty() || !semaphore.limits.iter().all(is_limit) {
        return Err(SettingError::at(
            "service.semaphore.limits",
            format!("write at least one limit, from 1 to {LIMIT_MAX}"),
        ));
    }
    if scenario.clients > CONTENDERS_MAX {
        return Err(SettingError::at("clients", format!("a semaphore has at most {CONTENDERS_MAX} contenders")));
    }
    let acts_on_the_lock = |priced: &Priced| {
        !priced.kind().is_about_health()
            && !matches!(
                priced.kind(),
                OperatorActionKind::DestroySession
                    | OperatorActionKind::DestroyWaiting
                    | OperatorActionKind::DestroyCrashed
                    | OperatorActionKind::DeleteTree
                    | OperatorActionKind::DeleteSlots
                    | OperatorActionKind::DestroySlots
                    | OperatorActionKind::RenewSession
            )
    };
    if settings.operator.iter().any(acts_on_the_lock) {
        return wrong(
            "service.operator",
            "this operator action changes the lock's key, which a semaphore does not have",
        );
    }
    if settings.job.is_some_and(|job| job.killed == Killed::Shell) {
        return wrong("service.job", "the job of a semaphore is killed with its process group");
    }
    let by_count = semaphore.registers == Registers::CountThenRegister;
    if by_count && (semaphore.prunes != Prunes::Dead || semaphore.unclear != OnUncertainty::ReadAgain) {
        return wrong(
            "service.semaphore.registers",
            "a client that counts contender keys has no list to prune and no entry to read",
        );
    }
    if semaphore.prune_wait > Ticks::ZERO && (by_count || semaphore.prunes == Prunes::Never) {
        return wrong("service.semaphore.prune_wait", "a client that prunes no holders has no such delay");
    }
    if semaphore.unclear == OnUncertainty::Repeat && settings.patience.is_none() {
        return wrong("service.semaphore.unclear", "a repeated request needs a deadline: set `service.patience`");
    }
    if semaphore.has_neighbour && (by_count || semaphore.prunes != Prunes::Dead) {
        return wrong("service.semaphore.has_neighbour", "this setting needs clients that prune by contender keys");
    }
    if settings.ends_session && (semaphore.afterwards == AfterRelease::Kept || semaphore.has_neighbour) {
        let message = "a client that keeps its session, or uses it in another semaphore, does not destroy it";
        return wrong("service.ends_session", message);
    }
    if semaphore.after_race != AfterRace::List && (by_count || !settings.waiting.is_watching()) {
        let message = "a query from an index needs clients that take their slots by compare-and-set, and `service.waiting = \"watch\"`";
        return wrong("service.semaphore.after_race", message);
    }
    if semaphore.watches_once && settings.monitor.is_none() {
        return wrong("service.semaphore.watches_once", "this setting needs a monitor: add a table [service.monitor]");
    }
    if settings.monitor.is_some_and(|monitor| monitor.on_loss != OnLoss::Forget) {
        return wrong("service.monitor", "a client that loses its slot forgets its session; remove `on_loss`");
    }
    if settings.session != SessionUse::Own
        || settings.belief == BeliefRule::Suspending
        || settings.dead_session != DeadSession::Recreate
        || settings.delegates
        || settings.sequencer != Sequencer::None
        || settings.guard != Guard::None
        || settings.unlock != Unlock::Release
        || matches!(settings.waiting, Waiting::WatchThenRest | Waiting::ReadThenWatch)
        || settings.cleanup && !settings.ends_session
        || settings.names_leader
        || scenario.writes > 0
        || settings.observers > 0
    {
        return wrong(
            "service.semaphore",
            "the semaphore's recipe does not have `session`, `dead_session`, `sequencer`, `guard`, `delegates`, `unlock`, `cleanup` without `ends_session`, `names_leader`, `observers`, `writes`, a belief that is `suspending` and waiting that is `watch-then-rest` or `read-then-watch`; remove these settings",
        );
    }
    Ok(())
}
