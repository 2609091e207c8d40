//! Faults of the broker, and its reactions to faults of clients and links.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Broker, Ctx, Out, cluster, note};
use crate::RabbitmqMutation;
use crate::messages::{Problem, RabbitmqEvent};
use crate::operator::{NOT_EXCLUSIVE, OperatorAction};
use crate::settings::{Settings, Socket};
use crate::{RabbitMq, display};
use fencepost_model::ids::{ProcessId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service_fault::{FaultKind, ServiceFault};
use fencepost_model::time::{Deadline, StartTime};
use fencepost_model::world::{Fault, World};

/// A fault of the broker, or its end.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RabbitmqFault {
    /// The broker drops the connection of a live client.
    Drop(SessionId),
    /// The broker restarts.
    Restart,
    /// Memory or disk is full.
    Alarm,
    /// Memory or disk has space again.
    Relief,
    /// A node goes down.
    Down(u8),
    /// A node restarts.
    Up(u8),
    /// A node is cut off from the others.
    Split(u8),
    /// The partition heals.
    Heal,
}

/// The indices of the kinds of fault.
impl RabbitmqFault {
    pub(crate) const LOST_CONNECTION: usize = 0;
    pub(crate) const RESTART: usize = 1;
    pub(crate) const ALARM: usize = 2;
    pub(crate) const CRASH: usize = 3;
    pub(crate) const PARTITION: usize = 4;
}

impl ServiceFault for RabbitmqFault {
    const KINDS: &'static [FaultKind] = &[
        FaultKind::new("lost_connections", "connection lost by the broker", Some("false_alarms")),
        FaultKind::new("broker_restarts", "restart of the broker", Some("server_restarts")),
        FaultKind::new("disk_alarms", "disk alarm of the broker", Some("outages")),
        FaultKind::new("node_crashes", "crash of a broker node", Some("outages")),
        FaultKind::new("partitions", "partition of the broker's cluster", Some("outages")),
    ];

    fn kind(self) -> Option<usize> {
        match self {
            RabbitmqFault::Drop(_) => Some(RabbitmqFault::LOST_CONNECTION),
            RabbitmqFault::Restart => Some(RabbitmqFault::RESTART),
            RabbitmqFault::Alarm => Some(RabbitmqFault::ALARM),
            RabbitmqFault::Down(_) => Some(RabbitmqFault::CRASH),
            RabbitmqFault::Split(_) => Some(RabbitmqFault::PARTITION),
            RabbitmqFault::Relief | RabbitmqFault::Up(_) | RabbitmqFault::Heal => None,
        }
    }
}

impl Broker {
    pub(in super::super) fn offer_faults(
        world: &World<RabbitMq>,
        scenario: &Scenario<RabbitMq>,
        offer: &mut dyn FnMut(RabbitmqFault),
    ) {
        let broker = &world.server.process;
        let affords = |kind: usize| world.left.affords(kind);
        let settings = &scenario.service;
        if affords(RabbitmqFault::LOST_CONNECTION) {
            broker.connections().for_each(|connection| offer(RabbitmqFault::Drop(connection.id)));
        }
        if affords(RabbitmqFault::RESTART) {
            offer(RabbitmqFault::Restart);
        }
        if settings.alarms {
            match broker.alarm {
                true => offer(RabbitmqFault::Relief),
                false if affords(RabbitmqFault::ALARM) => offer(RabbitmqFault::Alarm),
                false => {}
            }
        }
        let apart = broker.nodes.apart();
        if apart.is_some() {
            offer(RabbitmqFault::Heal);
        }
        for node in 1..=settings.cluster.nodes {
            let is_down = broker.nodes.is_down(node);
            let goes_down = settings.cluster.go_down.contains(&node);
            if goes_down && is_down && apart.is_none() {
                offer(RabbitmqFault::Up(node));
            }
            if goes_down && !is_down && affords(RabbitmqFault::CRASH) {
                offer(RabbitmqFault::Down(node));
            }
            if settings.cluster.splits && apart.is_none() && affords(RabbitmqFault::PARTITION) {
                offer(RabbitmqFault::Split(node));
            }
        }
    }

    pub(in super::super) fn fault_is_possible(settings: &Settings, kind: usize) -> Result<(), &'static str> {
        let (is_possible, what) = match kind {
            RabbitmqFault::ALARM => (settings.alarms, "the broker runs out of disk only with `service.alarms = true`"),
            RabbitmqFault::CRASH => {
                (!settings.cluster.go_down.is_empty(), "nodes crash only if `service.cluster.go_down` names them")
            }
            RabbitmqFault::PARTITION => {
                (settings.cluster.splits, "the cluster is partitioned only with `service.cluster.splits = true`")
            }
            _ => (true, ""),
        };
        if is_possible { Ok(()) } else { Err(what) }
    }

    pub(in super::super) fn suffer(world: &mut World<RabbitMq>, fault: RabbitmqFault, context: &Ctx<'_>, out: Out<'_>) {
        let broker = &mut world.server.process;
        match fault {
            RabbitmqFault::Drop(id) => broker.lose(id, Some(None), context, out),
            RabbitmqFault::Restart => broker.restart(context, out),
            RabbitmqFault::Alarm => {
                broker.alarm = true;
                note(RabbitmqEvent::Alarm(true), out);
            }
            RabbitmqFault::Relief => {
                broker.alarm = false;
                note(RabbitmqEvent::Alarm(false), out);
                broker.read_again(context, out);
            }
            RabbitmqFault::Down(node) => broker.take_down(node, context, out),
            RabbitmqFault::Up(node) => broker.bring_up(node, out),
            RabbitmqFault::Split(node) => broker.split(node, context, out),
            RabbitmqFault::Heal => broker.heal(context, out),
        }
    }

    /// Carries out an operator action.
    pub(in super::super) fn operate(&mut self, operator_action: OperatorAction, context: &Ctx<'_>, out: Out<'_>) {
        match operator_action {
            OperatorAction::Delete(name) => self.remove_all(out, |queue| queue.name == name),
            OperatorAction::Declare(name) => {
                self.declare_from_outside(name, NOT_EXCLUSIVE, cluster::all(&context.scenario.service));
            }
            OperatorAction::Close(id) => self.lose(id, Some(Some(Problem::Forced)), context, out),
        }
    }

    /// A client crashes, pauses, or is cut off: its connections end or become silent.
    pub(in super::super) fn notice(&mut self, fault: Fault<RabbitMq>, context: &Ctx<'_>) {
        let settings = &context.scenario.service;
        let falls_silent = |broker: &mut Broker, process: ProcessId| {
            let Some(client) = process.client().filter(|_| settings.heartbeat.is_some()) else { return };
            for connection in broker.of_client(client).filter(|connection| !connection.is_silent) {
                connection.is_silent = true;
                connection.last_frame = Some(StartTime(context.now - settings.beat));
            }
        };
        let speaks = |broker: &mut Broker, process: ProcessId| {
            let Some(client) = process.client() else { return };
            let may_be_late = context.scenario.synchrony.message_delay.is_none();
            for connection in broker.of_client(client).filter(|connection| connection.is_silent) {
                connection.is_silent = false;
                connection.last_frame = may_be_late.then_some(StartTime(context.now));
            }
        };
        match fault {
            Fault::Crash(_) if context.is_mutated(RabbitmqMutation::ClosedSocketUnnoticed) => {}
            Fault::Crash(client) if settings.crash == Socket::Closes => {
                self.of_client(client).for_each(|connection| connection.lost = Some(Deadline(context.now)));
            }
            Fault::Crash(client) => falls_silent(self, client.into()),
            Fault::Pause(process) => falls_silent(self, process),
            Fault::Cut(link) if link.to == ProcessId::Server => falls_silent(self, link.from),
            Fault::Resume(process) => speaks(self, process),
            Fault::Heal(link) if link.to == ProcessId::Server => speaks(self, link.from),
            _ => {}
        }
    }
}

impl fmt::Display for RabbitmqFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RabbitmqFault::Drop(id) => write!(f, "{} breaks", display::connection(*id)),
            RabbitmqFault::Restart => f.write_str("the broker restarts"),
            RabbitmqFault::Alarm => f.write_str("the broker's disk is full"),
            RabbitmqFault::Relief => f.write_str("the broker's disk has space again"),
            RabbitmqFault::Down(node) => write!(f, "node {node} goes down"),
            RabbitmqFault::Up(node) => write!(f, "node {node} comes back"),
            RabbitmqFault::Split(node) => write!(f, "node {node} is cut off from the others"),
            RabbitmqFault::Heal => f.write_str("the partition heals"),
        }
    }
}
