//! What a plan has to know of Consul.

use fencepost_consul::{Answer, Consul, ConsulMessage, Request, Terms, Timer, Watch};
use fencepost_model::fact::Fact;
use fencepost_model::ids::Call;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, World};

use super::causes::{self, Cause};
use super::delays::Delays;
use super::obstacles;
use crate::driven::{Driven, Means};
use crate::outcome::{Obstacle, ReenactmentOutcome};
use crate::plan::{AtServer, Bound, Builder, Margin, PlanError, TickRange};

/// How long a restart of the server may take, in milliseconds.
const RESTART: i64 = 12_000;

/// The longest tick, in milliseconds.
const TICK_MAX: i64 = 120_000;

/// The shortest TTL of a session, in milliseconds, with `session_ttl_min = "1s"`. C-SES-7.
const TTL_MIN: i64 = 1_000;

/// C-LD-3: the longest lock-delay, in milliseconds.
const LOCK_DELAY_MAX: i64 = 60_000;

/// The shortest tick, in milliseconds, of a scenario without TTLs.
const TICK_MIN: i64 = 200;

impl Driven for Consul {
    type Cause = Cause;
    type Answer = Answer;
    type Memory = Delays;

    fn at_server(action: &Action<Self>) -> AtServer<Self> {
        causes::at_server(action)
    }

    fn answer(message: &ConsulMessage) -> Option<(Call, Answer)> {
        match message {
            ConsulMessage::Response(call, answer) => Some((*call, *answer)),
            _ => None,
        }
    }

    fn refined(message: ConsulMessage, parts: i64) -> ConsulMessage {
        let ConsulMessage::Request(call, request) = message else { return message };
        let longer = |watch: Watch| Watch { wait: watch.wait.map(|wait| wait.times(parts)), ..watch };
        let request = match request {
            Request::CreateSession(terms) => {
                let ttl = terms.ttl.map(|ttl| ttl.times(parts));
                Request::CreateSession(Terms { ttl, lock_delay: terms.lock_delay.times(parts), ..terms })
            }
            Request::Watch(watch) => Request::Watch(longer(watch)),
            Request::WatchConsistent(watch) => Request::WatchConsistent(longer(watch)),
            other => other,
        };
        ConsulMessage::Request(call, request)
    }

    fn obstacle_of_scenario(scenario: &Scenario<Self>) -> Option<Obstacle> {
        obstacles::of_scenario(scenario)
    }

    fn obstacle_of_action(scenario: &Scenario<Self>, action: &Action<Self>, means: Means) -> Option<Obstacle> {
        obstacles::of_action(scenario, action, means)
    }

    fn duration(_: &Builder<'_, Self>, event: AtServer<Self>) -> Option<i64> {
        matches!(event, AtServer::Restart).then_some(RESTART)
    }

    fn is_at_once(timer: Timer) -> bool {
        matches!(timer, Timer::Destroy(_) | Timer::Apply(..))
    }

    fn lateness(_: &Scenario<Self>, _: &World<Self>, timer: Timer) -> Option<Ticks> {
        matches!(timer, Timer::Expire(_) | Timer::Deadline(..)).then_some(Ticks::ZERO)
    }

    /// The shortest and the longest tick with which every TTL and lock-delay is one that the server takes.
    fn ticks(scenario: &Scenario<Self>) -> Result<TickRange, PlanError> {
        let settings = &scenario.service;
        let least = settings.ttl.map_or(TICK_MIN, |ttl| (TTL_MIN + ttl.count() - 1) / ttl.count().max(1)).max(1);
        let delay = settings.lock_delay.count();
        let between = |least, most| Ok(TickRange { least, most, multiple_of: 1 });
        let Some(most) = settings.lock_delay_max.map(|most| most.count()).filter(|most| delay > *most) else {
            let most = if delay > 0 { LOCK_DELAY_MAX / delay } else { TICK_MAX };
            return between(least, most.min(TICK_MAX));
        };
        // The cap has an effect: it must be the server's own.
        if most == 0 || LOCK_DELAY_MAX % most != 0 || LOCK_DELAY_MAX / most < least {
            let needs = Obstacle::OtherServer;
            return Err(PlanError::Hopeless(ReenactmentOutcome::Outside { step: 0, needs }));
        }
        between(LOCK_DELAY_MAX / most, LOCK_DELAY_MAX / most)
    }

    fn fire(builder: &mut Builder<'_, Self>, timer: Timer, bounds: Option<(Bound, Bound)>, start: usize) {
        let mut not_before = |Bound { instant, ticks }| {
            builder.at_least((instant, ticks), start, 0, Margin::None);
        };
        match (timer, bounds) {
            (Timer::Expire(session), Some((early, late))) => {
                not_before(late);
                builder.memory.ending.insert(session, (early, late));
                builder.unsettled.push(late);
            }
            (Timer::Destroy(session), _) => {
                if let Some((_, late)) = builder.memory.ending.get(&session).copied() {
                    builder.unsettled.push(late);
                }
            }
            // C-BLK-2: up to a sixteenth longer.
            (Timer::Deadline(..), Some((_, late))) => {
                not_before(late);
                let Bound { instant, ticks } = late;
                builder.unsettled.push(Bound { instant, ticks: ticks + (ticks + 15) / 16 });
            }
            (_, Some((_, late))) => not_before(late),
            (_, None) => {}
        }
    }

    fn constrain(builder: &mut Builder<'_, Self>, action: &Action<Self>, start: usize) {
        builder.ask_for_keys(action, start);
    }

    fn note(builder: &mut Builder<'_, Self>, before: &World<Self>, facts: &[Fact<Self>], place: usize) {
        builder.note_ends(before, facts, place);
    }
}
