//! What has to be known of a service, so that one of its real servers can be driven through an execution.

use std::fmt::{Debug, Display};

use fencepost_model::fact::Fact;
use fencepost_model::ids::Call;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, World};

use crate::outcome::Obstacle;
use crate::plan::{AtServer, Bound, Builder, PlanError, TickRange};

/// A service with real servers that can be driven.
pub trait Driven: Service {
    /// How long the server may take to see that a timer is due, in milliseconds.
    const TIMER_PERIOD: i64 = 0;

    /// What is done to the server in a step, from outside.
    type Cause: Copy + Debug + Send + Sync;
    /// What the server answers to a request.
    type Answer: Copy + PartialEq + Debug + Display + Send + Sync;
    /// What a plan remembers of the steps so far, besides the world.
    type Memory: Default;

    /// What an action means for the server.
    fn at_server(action: &Action<Self>) -> AtServer<Self>;

    /// The answer in a message, if there is one in it.
    fn answer(message: &Self::Message) -> Option<(Call, Self::Answer)>;

    /// The message where a tick has a number of parts.
    fn refined(message: Self::Message, parts: i64) -> Self::Message;

    /// What in the scenario describes another server.
    fn obstacle_of_scenario(scenario: &Scenario<Self>) -> Option<Obstacle>;

    /// What in the action cannot be caused.
    fn obstacle_of_action(scenario: &Scenario<Self>, action: &Action<Self>, means: Means) -> Option<Obstacle>;

    /// How long a step takes, in milliseconds, if it takes longer than a request.
    fn duration(builder: &Builder<'_, Self>, event: AtServer<Self>) -> Option<i64>;

    /// Whether it concerns each user of the server: then nothing else can go on at it.
    fn is_alone(event: AtServer<Self>) -> bool {
        matches!(event, AtServer::Restart)
    }

    /// Whether the server takes this step at once, so that nothing can come before.
    fn is_at_once(timer: Self::Timer) -> bool;

    /// How much later than it is due a real server may be made to take this step; none: it does not take it by itself.
    fn lateness(scenario: &Scenario<Self>, world: &World<Self>, timer: Self::Timer) -> Option<Ticks>;

    /// The lengths of a tick with which every duration is one that the server takes.
    ///
    /// # Errors
    /// No length of a tick suits the server.
    fn ticks(scenario: &Scenario<Self>) -> Result<TickRange, PlanError>;

    /// A timer of the server fires at an instant. `bounds` says when it is due: at the earliest, at the latest.
    fn fire(builder: &mut Builder<'_, Self>, timer: Self::Timer, bounds: Option<(Bound, Bound)>, start: usize);

    /// What else an action says about the instant at which it happens.
    fn constrain(_builder: &mut Builder<'_, Self>, _action: &Action<Self>, _start: usize) {}

    /// Remembers what a step has done; `place` is its place in the plan.
    fn note(builder: &mut Builder<'_, Self>, before: &World<Self>, facts: &[Fact<Self>], place: usize);
}

/// What the user's commands can do to a server.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Means {
    /// It can be restarted.
    pub restart: bool,
    /// Its operator's tool can be used.
    pub tool: bool,
    /// Its process can be stopped, and go on.
    pub pause: bool,
}
