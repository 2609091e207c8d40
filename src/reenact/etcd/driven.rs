//! What a plan has to know of etcd.

use fencepost_etcd::{Etcd, EtcdFault, EtcdMessage, OperatorKind, Request, Response, Timer};
use fencepost_model::fact::Fact;
use fencepost_model::ids::Call;
use fencepost_model::scenario::Scenario;
use fencepost_model::service_fault::ServiceFault;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, World};

use super::causes::{self, Cause};
use super::obstacles;
use crate::driven::{Driven, Means};
use crate::outcome::{Obstacle, ReenactmentOutcome};
use crate::plan::{AtServer, Bound, Builder, Margin, PlanError, TickRange};

/// How long a restart of the server may take, in milliseconds.
pub(super) const RESTART: i64 = 6_000;

/// The shortest TTL of a lease, in milliseconds, with the default election timeout (E-LS-1).
const TTL_MIN: i64 = 2_000;

/// The default election timeout, in milliseconds: E. A restarted server adds it to every lease (E-LD-2).
const ELECTION_TIMEOUT: i64 = 1_000;

/// The longest tick, in milliseconds.
const TICK_MAX: i64 = 120_000;

/// TTLs are whole seconds.
const SECOND: i64 = 1_000;

/// What a plan remembers.
#[derive(Default)]
pub struct EtcdMemory {
    /// Whether the server is down now.
    is_down: bool,
}

impl Driven for Etcd {
    /// E-LS-5: the scan of leases comes every 0.5 s.
    const TIMER_PERIOD: i64 = 500;

    type Cause = Cause;
    type Answer = Response;
    type Memory = EtcdMemory;

    fn at_server(action: &Action<Self>) -> AtServer<Self> {
        causes::at_server(action)
    }

    fn answer(message: &EtcdMessage) -> Option<(Call, Response)> {
        match message {
            EtcdMessage::Response(call, response) => Some((*call, *response)),
            EtcdMessage::Request(..) => None,
        }
    }

    /// No request has a duration in it: the TTL of a lease is a setting.
    fn refined(message: EtcdMessage, parts: i64) -> EtcdMessage {
        match message {
            EtcdMessage::Request(call, Request::Grant(lease, ttl)) => {
                EtcdMessage::Request(call, Request::Grant(lease, ttl.times(parts)))
            }
            other => other,
        }
    }

    fn obstacle_of_scenario(scenario: &Scenario<Self>) -> Option<Obstacle> {
        obstacles::of_scenario(scenario)
    }

    fn obstacle_of_action(_: &Scenario<Self>, action: &Action<Self>, means: Means) -> Option<Obstacle> {
        obstacles::of_action(action, means)
    }

    fn duration(builder: &Builder<'_, Self>, event: AtServer<Self>) -> Option<i64> {
        let is_restart = matches!(event, AtServer::Caused(Cause::Return)) && builder.memory.is_down;
        is_restart.then_some(RESTART)
    }

    /// A compaction, a pause and a restart concern each user of the server.
    fn is_alone(event: AtServer<Self>) -> bool {
        match event {
            AtServer::Caused(Cause::Operator(action)) => action.0 == OperatorKind::Compact,
            AtServer::Caused(Cause::Stop { .. }) => true,
            _ => false,
        }
    }

    fn is_at_once(_: Timer) -> bool {
        false
    }

    /// The scan may find a lease as soon as it is overdue (E-LS-5), also where the scenario gives it some time: nothing that matters to the
    /// lease comes between.
    fn lateness(scenario: &Scenario<Self>, _: &World<Self>, timer: Timer) -> Option<Ticks> {
        matches!(timer, Timer::Revoke(_)).then(|| Ticks::ZERO - scenario.service.scan_delay)
    }

    fn ticks(scenario: &Scenario<Self>) -> Result<TickRange, PlanError> {
        let settings = &scenario.service;
        let mut range = TickRange { least: 1, most: TICK_MAX, multiple_of: 1 };
        for ttl in settings.ttls.iter().chain([&settings.ttl]).map(|ttl| ttl.count()) {
            range.least = range.least.max((TTL_MIN + ttl - 1) / ttl);
            range.multiple_of = common_multiple(range.multiple_of, SECOND / common_divisor(ttl, SECOND));
        }
        if EtcdFault::Restart.kind().is_some_and(|kind| scenario.budget.affords(kind)) {
            let timeout = settings.election_timeout.count();
            let tick = if timeout > 0 { ELECTION_TIMEOUT / timeout } else { 0 };
            if tick < range.least || tick % range.multiple_of != 0 || tick * timeout != ELECTION_TIMEOUT {
                let needs = Obstacle::OtherServer;
                return Err(PlanError::Hopeless(ReenactmentOutcome::Outside { step: 0, needs }));
            }
            (range.least, range.most) = (tick, tick);
        }
        Ok(range)
    }

    fn fire(builder: &mut Builder<'_, Self>, timer: Timer, bounds: Option<(Bound, Bound)>, start: usize) {
        let Some((early, late)) = bounds else { return };
        builder.at_least((late.instant, late.ticks), start, 0, Margin::None);
        match timer {
            Timer::Revoke(_) => {
                if let Some(delay) = builder.scenario.synchrony.server_delay.map(Ticks::count) {
                    let margin = if delay == 0 { Margin::Prompt } else { Margin::Server };
                    builder.at_most((early.instant, early.ticks + delay), start, margin);
                }
                builder.unsettled.push(late);
            }
            // The user's command makes it happen.
            Timer::Return => builder.at_most((early.instant, early.ticks), start, Margin::Prompt),
            _ => {}
        }
    }

    fn note(builder: &mut Builder<'_, Self>, _: &World<Self>, _: &[Fact<Self>], place: usize) {
        match builder.draft.steps[place].event {
            AtServer::Caused(Cause::Stop { is_restart }) => builder.memory.is_down = is_restart,
            AtServer::Caused(Cause::Return) => builder.memory.is_down = false,
            _ => {}
        }
    }
}

fn common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

fn common_multiple(one: i64, other: i64) -> i64 {
    one / common_divisor(one, other) * other
}
