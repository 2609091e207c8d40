//! Gossip beside a run: what it thinks of nodes decides when the deadlines of the abstract detector fire, and when that is wrong.
//! It can do nothing that the scenario does not allow.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::protocol::{Opinion, Protocol};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Fault, Link};

use crate::detector::{Cuts, Gossip, Pool};
use crate::random::{Concern, Stream};

/// A pool of nodes: the servers, one node for each client, the others.
#[derive(Clone)]
pub(super) struct Beside {
    settings: Gossip,
    pool: Pool,
    refinement: i64,
    clients: u16,
}

/// The server whose opinion counts.
const LEADER: u16 = 0;

impl Beside {
    pub(super) fn new(seed: u64, settings: &Gossip, clients: usize, refinement: i64) -> Self {
        let stream = Stream::new(seed, Concern::Gossip);
        let pool = Pool::new(settings, settings.members(clients), stream);
        let clients = u16::try_from(clients).expect("a pool is small");
        Beside { settings: settings.clone(), pool, refinement, clients }
    }

    pub(super) fn reseed(&mut self, seed: u64) {
        self.pool.reseed(Stream::new(seed, Concern::Gossip));
    }

    fn node(&self, client: ClientId) -> u16 {
        self.settings.servers + u16::try_from(client.place()).expect("a pool is small")
    }

    /// An instant of the run in thousandths of a tick of the unrefined scenario.
    fn moment(&self, at: Instant) -> i64 {
        let ticks = i128::from((at - Instant::START).count());
        i64::try_from(ticks * 1000 / i128::from(self.refinement)).expect("at most 10^15")
    }

    /// Lets nodes gossip up to this instant, or until the servers change their opinion of a client's node.
    pub(super) fn run_until(&mut self, limit: Instant) -> Option<(Instant, ClientId)> {
        loop {
            while let Some(heard) = self.pool.heard() {
                let place = heard.about.checked_sub(self.settings.servers).filter(|place| *place < self.clients);
                if let (true, Some(place)) = (heard.by == LEADER, place) {
                    let ticks = i128::from(self.pool.now()) * i128::from(self.refinement) / 1000;
                    let at = Instant::START + Ticks::new(i64::try_from(ticks).expect("at most the limit"));
                    return Some((at.min(limit), ClientId::of(usize::from(place))));
                }
            }
            if self.pool.next_at() > self.moment(limit) {
                return None;
            }
            self.pool.step();
        }
    }

    /// What the servers think of the client's node.
    pub(super) fn opinion(&self, client: ClientId) -> Opinion {
        match self.node(client) {
            node if self.pool.has_forgotten(LEADER, node) => Opinion::Forgotten,
            node if self.pool.has_given_up(LEADER, node) => Opinion::Failed,
            _ => Opinion::Alive,
        }
    }

    /// Whether the servers think that of the node which this deadline waits for, if it waits for one.
    pub(super) fn allows<P: Protocol>(&self, timer: P::Timer) -> bool {
        P::told_by_gossip(timer).is_none_or(|(client, wanted)| match (wanted, self.opinion(client)) {
            (Opinion::Failed, Opinion::Forgotten) => true,
            (wanted, opinion) => wanted == opinion,
        })
    }

    /// Whether nothing is left to notice.
    pub(super) fn is_right(&self) -> bool {
        self.pool.is_right(LEADER)
    }

    /// A fault of the world, as far as it concerns nodes.
    pub(super) fn suffer<P: Protocol>(&mut self, fault: Fault<P>, config: &P::Config, now: Instant) {
        let moment = self.moment(now);
        match fault {
            Fault::Crash(client) if P::crash_takes_node(config) => self.pool.crash(self.node(client)),
            Fault::Restart(client) if P::crash_takes_node(config) => self.pool.restart(self.node(client), moment),
            Fault::Cut(link) => self.cut(link, true),
            Fault::Heal(link) => self.cut(link, false),
            Fault::Pause(process) => self.stall(process, i64::MAX, moment),
            Fault::Resume(process) => self.stall(process, moment, moment),
            _ => {}
        }
    }

    fn cut(&mut self, link: Link, is_cut: bool) {
        let (node, is_mute) = match (link.from, link.to) {
            (ProcessId::Client(client), ProcessId::Server) => (self.node(client), true),
            (ProcessId::Server, ProcessId::Client(client)) => (self.node(client), false),
            _ => return,
        };
        match (self.settings.cut, is_mute) {
            (Cuts::Node, true) => self.pool.set_mute(node, is_cut),
            (Cuts::Node, false) => self.pool.set_deaf(node, is_cut),
            (Cuts::Bridged, _) => {
                for server in 0..self.settings.servers {
                    let (from, to) = if is_mute { (node, server) } else { (server, node) };
                    self.pool.set_apart(from, to, is_cut);
                }
            }
        }
    }

    /// A process stands still for a while.
    pub(super) fn sleep(&mut self, process: ProcessId, until: Instant, now: Instant) {
        self.stall(process, self.moment(until), self.moment(now));
    }

    fn stall(&mut self, process: ProcessId, until: i64, now: i64) {
        let node = match process {
            ProcessId::Client(client) => self.node(client),
            ProcessId::Server => LEADER,
            ProcessId::Resource => return,
        };
        if self.settings.stalls_nodes {
            self.pool.sleep(node, until, now);
        }
    }

    pub(super) fn calm(&mut self) {
        self.pool.calm();
    }
}
