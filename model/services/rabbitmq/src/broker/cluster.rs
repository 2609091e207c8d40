//! Nodes: the record of each node while some nodes are down or partitioned (R-Q-61 to R-Q-71).

use serde::{Deserialize, Serialize};

use super::{Broker, Ctx, Out, Queue, note};
use crate::RabbitmqMutation;
use crate::Settings;
use crate::messages::{Name, Problem, RabbitmqEvent, Request, Timer};
use crate::settings::{OnHeal, Split};
use fencepost_model::normal::Normal;
use fencepost_model::time::{Instant, StartTime};

/// A node's bit.
pub(super) fn bit(node: u8) -> u8 {
    1 << (node - 1)
}

/// Every node's bit.
pub(super) fn all(settings: &Settings) -> u8 {
    (1 << settings.cluster.nodes) - 1
}

/// The nodes and their partition.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub(super) struct Nodes {
    /// The nodes that are down, one bit each.
    down: u8,
    /// The node that is cut off from the others, and since when.
    apart: Option<(u8, StartTime)>,
    /// The nodes that have noticed the partition, one bit each.
    noticed: u8,
}

impl Nodes {
    pub(super) fn is_down(self, node: u8) -> bool {
        self.down & bit(node) != 0
    }

    pub(super) fn apart(self) -> Option<u8> {
        self.apart.map(|(node, _)| node)
    }

    /// The nodes on the same side, including the node itself.
    fn side(self, node: u8, all: u8) -> u8 {
        match self.apart {
            None => all,
            Some((apart, _)) if apart == node => bit(node),
            Some((apart, _)) => all & !bit(apart),
        }
    }

    /// R-Q-63: each side notices by its own clock.
    pub(super) fn wakes(self, settings: &Settings, due: &mut dyn FnMut(Timer, Instant)) {
        let Some((_, since)) = self.apart else { return };
        for node in 1..=settings.cluster.nodes {
            if (self.noticed | self.down) & bit(node) == 0 {
                due(Timer::Tick(node), since + settings.cluster.tick);
            }
        }
    }
}

impl Broker {
    /// Whether a node can use a queue that it has on record. It cannot if the queue's home is down or known to be
    /// unreachable (R-Q-62).
    pub(super) fn is_in_reach(&self, place: usize, node: u8) -> bool {
        let Queue { home, owner, .. } = self.queues[place];
        let is_apart = self.nodes.noticed & bit(node) != 0 && self.nodes.side(node, u8::MAX) & bit(home) == 0;
        owner.is_some() || !(self.nodes.is_down(home) || is_apart)
    }

    /// Whether a change of the record must wait: until a node has noticed the partition, or, where a majority has to
    /// agree, until the node is part of a majority again (R-Q-69).
    pub(super) fn must_wait(&self, place: usize, request: Request, context: &Ctx<'_>) -> bool {
        let settings = &context.scenario.service;
        if self.nodes.apart.is_none() || !matches!(request, Request::Declare { .. } | Request::Delete { .. }) {
            return false;
        }
        let node = self.connections[place].node;
        let all_nodes = all(settings);
        let is_minority = self.nodes.side(node, all_nodes).count_ones() * 2 <= all_nodes.count_ones();
        match settings.cluster.split {
            Split::KhepriDrops | Split::KhepriKeeps => {
                is_minority && !context.is_mutated(RabbitmqMutation::MinorityDeclares)
            }
            Split::Ignore | Split::Autoheal | Split::PauseMinority => self.nodes.noticed & bit(node) == 0,
        }
    }

    /// The nodes that record a new queue that is declared through this node.
    pub(super) fn seen_from(&self, node: u8, settings: &Settings) -> u8 {
        self.nodes.side(node, all(settings))
    }

    /// A node goes down. Its connections and exclusive queues end, and so do queues that do not survive that.
    pub(super) fn take_down(&mut self, node: u8, context: &Ctx<'_>, out: Out<'_>) {
        self.nodes.down |= bit(node);
        note(RabbitmqEvent::Node(node, false), out);
        self.close_all_at(node, context, out);
        let loses_all = context.is_mutated(RabbitmqMutation::NodeLosesDurable);
        self.remove_all(out, |queue| {
            queue.home == node && (queue.owner.is_some() || !queue.shape.durable || loses_all)
        });
    }

    pub(super) fn bring_up(&mut self, node: u8, out: Out<'_>) {
        self.nodes.down &= !bit(node);
        note(RabbitmqEvent::Node(node, true), out);
    }

    pub(super) fn split(&mut self, node: u8, context: &Ctx<'_>, out: Out<'_>) {
        self.nodes.apart = Some((node, StartTime(context.now)));
        note(RabbitmqEvent::Split(node, true), out);
    }

    /// A node notices that it cannot reach some nodes.
    pub(super) fn tick(&mut self, node: u8, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        self.nodes.noticed |= bit(node);
        let all_nodes = all(settings);
        let side = self.nodes.side(node, all_nodes);
        let is_majority = side.count_ones() * 2 > all_nodes.count_ones();
        let drops = match settings.cluster.split {
            Split::Ignore | Split::Autoheal => true,
            Split::PauseMinority if is_majority || context.is_mutated(RabbitmqMutation::MinorityGoesOn) => true,
            // R-Q-66: the minority closes its connections and stops.
            Split::PauseMinority => return self.take_down(node, context, out),
            Split::KhepriDrops => is_majority,
            Split::KhepriKeeps => false,
        };
        // R-Q-64: it drops the exclusive queues of the other side.
        for queue in self.queues.iter_mut().filter(|queue| drops && queue.owner.is_some()) {
            if side & bit(queue.home) == 0 {
                queue.seen &= !bit(node);
            }
        }
        self.remove_all(out, |queue| queue.seen == 0);
        self.queues.sort_unstable();
        self.serve_parked(context, out);
    }

    /// The partition heals.
    pub(super) fn heal(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let Some((apart, _)) = self.nodes.apart.take() else { return };
        let had_noticed = self.nodes.noticed != 0;
        self.nodes.noticed = 0;
        note(RabbitmqEvent::Split(apart, false), out);
        match settings.on_heal.filter(|_| had_noticed) {
            Some(OnHeal::Doubles) => {
                note(RabbitmqEvent::Doubled, out);
                self.copy_or_lose_the_lock(false);
            }
            Some(OnHeal::Vanishes) => {
                note(RabbitmqEvent::Vanished, out);
                self.copy_or_lose_the_lock(true);
            }
            None => {}
        }
        if self.nodes.is_down(apart) {
            self.bring_up(apart, out);
        } else if settings.cluster.split == Split::Autoheal
            && had_noticed
            && !context.is_mutated(RabbitmqMutation::AutohealSparesLoser)
        {
            // R-Q-65: the losing side restarts.
            self.take_down(apart, context, out);
            self.bring_up(apart, out);
        }
        if settings.cluster.split != Split::Ignore {
            // Every node takes over the queues of the others, if there is no conflict.
            let all_nodes = all(settings);
            let names: Vec<Name> = self.queues.iter().map(|queue| queue.name).collect();
            for (place, queue) in self.queues.iter_mut().enumerate() {
                let is_alone = names.iter().enumerate().all(|(other, name)| other == place || *name != queue.name);
                if is_alone {
                    queue.seen = all_nodes;
                }
            }
        }
        self.serve_parked(context, out);
    }

    /// Every connection to a node is closed by force.
    fn close_all_at(&mut self, node: u8, context: &Ctx<'_>, out: Out<'_>) {
        let there: Vec<_> = self.connections().filter(|connection| connection.node == node).map(|it| it.id).collect();
        for id in there {
            self.lose(id, Some(Some(Problem::Forced)), context, out);
        }
    }

    /// All nodes restart: they lose everything that is not on disk, and every connection (R-Q-56, R-Q-58).
    pub(super) fn restart(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        note(RabbitmqEvent::Restarted, out);
        let keeps_all = context.is_mutated(RabbitmqMutation::RestartKeepsAll);
        let loses_all = context.is_mutated(RabbitmqMutation::RestartLosesDurable);
        self.remove_all(out, |queue| !keeps_all && (queue.owner.is_some() || !queue.shape.durable || loses_all));
        let open: Vec<_> = self.connections().map(|connection| connection.id).collect();
        for id in open {
            self.lose(id, Some(Some(Problem::Forced)), context, out);
        }
        self.queues.iter_mut().filter(|queue| queue.name != Name::Lock).for_each(|queue| queue.ready = 0);
        let all_nodes = all(&context.scenario.service);
        self.queues.iter_mut().for_each(|queue| queue.seen = all_nodes);
        self.alarm = false;
        self.nodes = Nodes::default();
    }
}
