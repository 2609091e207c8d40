//! Checks of assumptions against the broker's state, step by step.

use super::{Broker, RabbitmqFault};
use crate::RabbitMq;
use crate::messages::Timer;
use fencepost_model::assumption::Execution;
use fencepost_model::ids::ProcessId;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, Fault};

type Checked = Result<(), String>;
type BrokerExecution = Execution<RabbitMq>;

impl Broker {
    /// A connection is dropped for missing heartbeats only after two heartbeats, and never without heartbeats.
    pub(in super::super) fn silence_is_noticed_after(run: &BrokerExecution, heartbeat: Option<Ticks>) -> Checked {
        run.each(|moment| {
            let Action::Wake { process: ProcessId::Server, timer: Timer::Miss(id) } = *moment.action else {
                return Ok(());
            };
            let Some(beat) = heartbeat else { return Err("silence is noticed without heartbeats".to_owned()) };
            let connections = &moment.before.server.process.connections;
            let last_frame =
                connections.iter().find(|connection| connection.id == id).and_then(|connection| connection.last_frame);
            let silence = last_frame.map(|last_frame| last_frame.elapsed(moment.after.clock(ProcessId::Server)));
            match silence.is_some_and(|silence| silence >= beat.times(2)) {
                true => Ok(()),
                false => Err("the connection was not silent for two heartbeats".to_owned()),
            }
        })
    }

    /// Queues live on these nodes only.
    pub(in super::super) fn nodes_are_at_most(run: &BrokerExecution, nodes: u8) -> Checked {
        run.each(|moment| {
            let mut queues = moment.after.server.process.queues.iter();
            let acts_elsewhere = match moment.action {
                Action::Fault(Fault::Service(
                    RabbitmqFault::Down(node) | RabbitmqFault::Up(node) | RabbitmqFault::Split(node),
                )) => *node > nodes,
                _ => false,
            };
            match acts_elsewhere || queues.any(|queue| queue.home > nodes) {
                true => Err("there is another node".to_owned()),
                false => Ok(()),
            }
        })
    }

    /// A restart of the broker keeps every durable queue that is not exclusive.
    pub(in super::super) fn restarts_keep_durable_queues(run: &BrokerExecution) -> Checked {
        run.each(|moment| {
            if !matches!(moment.action, Action::Fault(Fault::Service(RabbitmqFault::Restart))) {
                return Ok(());
            }
            let after = &moment.after.server.process.queues;
            let mut durable =
                moment.before.server.process.queues.iter().filter(|queue| queue.shape.durable && queue.owner.is_none());
            match durable.any(|queue| !after.iter().any(|other| other.name == queue.name)) {
                true => Err("a durable queue is lost".to_owned()),
                false => Ok(()),
            }
        })
    }
}
