//! What a plan has to know of RabbitMQ.

use fencepost_model::fact::Fact;
use fencepost_model::ids::Call;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, World};
use fencepost_rabbitmq::{Answer, Ask, QueueProperties, RabbitMq, RabbitmqMessage, Request, Timer};

use super::causes::{self, Cause};
use super::{obstacles, silence};
use crate::driven::{Driven, Means};
use crate::outcome::Obstacle;
use crate::plan::{AtServer, Bound, Builder, Margin, PlanError, TickRange};

/// How long a restart of the broker may take, in milliseconds.
const RESTART: i64 = 20_000;

/// How long the operator's tool may take, in milliseconds.
const TOOL: i64 = 6_000;

/// The shortest and the longest tick, in milliseconds, without heartbeats.
const TICKS: (i64, i64) = (200, 120_000);

/// Heartbeat values are whole seconds.
const SECOND: i64 = 1_000;

impl Driven for RabbitMq {
    type Cause = Cause;
    type Answer = Answer;
    type Memory = ();

    fn at_server(action: &Action<Self>) -> AtServer<Self> {
        causes::at_server(action)
    }

    fn answer(message: &RabbitmqMessage) -> Option<(Call, Answer)> {
        match message {
            RabbitmqMessage::Response(call, answer) => Some((*call, *answer)),
            _ => None,
        }
    }

    fn refined(message: RabbitmqMessage, parts: i64) -> RabbitmqMessage {
        match message {
            RabbitmqMessage::Request(ask) => {
                RabbitmqMessage::Request(Ask { request: refined(ask.request, parts), ..ask })
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

    fn duration(_: &Builder<'_, Self>, event: AtServer<Self>) -> Option<i64> {
        match event {
            AtServer::Restart => Some(RESTART),
            AtServer::Caused(Cause::Operator(action)) => obstacles::needs_tool(action).then_some(TOOL),
            _ => None,
        }
    }

    /// R-Q-40: the queues of a connection that has ended go one after the other, within some 10 ms.
    fn is_at_once(timer: Timer) -> bool {
        matches!(timer, Timer::Remove(..))
    }

    fn lateness(scenario: &Scenario<Self>, world: &World<Self>, timer: Timer) -> Option<Ticks> {
        match timer {
            Timer::Miss(id) => silence::lateness(scenario, world, id),
            Timer::Expire(_) => Some(Ticks::ZERO),
            _ => None,
        }
    }

    fn ticks(scenario: &Scenario<Self>) -> Result<TickRange, PlanError> {
        let (least, most) = TICKS;
        let multiple_of = scenario.service.heartbeat.map_or(1, |beat| SECOND / common_divisor(beat.count(), SECOND));
        Ok(TickRange { least, most, multiple_of })
    }

    fn fire(builder: &mut Builder<'_, Self>, timer: Timer, bounds: Option<(Bound, Bound)>, start: usize) {
        let Some((early, late)) = bounds else { return };
        let scenario = builder.scenario;
        let now = Bound { instant: start, ticks: 0 };
        let mut not_after = |lateness: i64| {
            let margin = if lateness == 0 { Margin::Prompt } else { Margin::Server };
            builder.at_most((early.instant, early.ticks + lateness), start, margin);
        };
        match timer {
            Timer::Miss(id) => {
                not_after(silence::lateness_when_silent(scenario).count());
                builder.at_least((late.instant, late.ticks), start, 0, Margin::Server);
                builder.keep_silence(id, start);
                builder.unsettled.push(now);
            }
            Timer::Expire(_) => {
                if let Some(delay) = scenario.synchrony.server_delay {
                    not_after(delay.count());
                }
                builder.at_least((late.instant, late.ticks), start, 0, Margin::None);
                builder.unsettled.push(late);
            }
            _ => builder.at_least((late.instant, late.ticks), start, 0, Margin::None),
        }
    }

    /// R-Q-39: a broker notices the end of a socket some milliseconds later.
    fn note(builder: &mut Builder<'_, Self>, _: &World<Self>, _: &[Fact<Self>], place: usize) {
        let step = &builder.draft.steps[place];
        if let AtServer::Caused(Cause::Close(_)) = step.event {
            builder.unsettled.push(Bound { instant: step.start, ticks: 0 });
        }
    }
}

/// The request where a tick has a number of parts.
pub(super) fn refined(request: Request, parts: i64) -> Request {
    let finer = |shape: QueueProperties| {
        let expires = shape.expires.map(|expires| expires.times(parts));
        QueueProperties { expires, ..shape }
    };
    match request {
        Request::Declare { name, shape } => Request::Declare { name, shape: finer(shape) },
        Request::DeclareSilently { name, shape } => Request::DeclareSilently { name, shape: finer(shape) },
        other => other,
    }
}

fn common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
