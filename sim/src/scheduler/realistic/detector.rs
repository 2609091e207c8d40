//! The failure detector beside an execution: what it thinks of nodes decides when the deadlines of the abstract detector fire, and
//! when that is wrong.
//! It can do nothing that the scenario does not allow.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Opinion, Service, ServiceTimer as _, Settings as _};
use fencepost_model::service_fault::ServiceFault as _;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Fault, Link, World};

use super::super::agenda::PlannedAction;
use super::Realistic;
use crate::detector::{Cuts, DetectorSettings, Pool};
use crate::random::{Concern, Stream};

/// A pool of nodes: the servers, one node for each client, the others.
#[derive(Clone)]
pub(super) struct DetectorPool {
    settings: DetectorSettings,
    pool: Pool,
    refinement: i64,
    clients: u16,
}

/// The server whose opinion counts.
const LEADER: u16 = 0;

impl DetectorPool {
    pub(super) fn new(seed: u64, settings: &DetectorSettings, clients: usize, refinement: i64) -> Self {
        let stream = Stream::new(seed, Concern::Detector);
        let pool = Pool::new(settings, settings.members(clients), stream);
        let clients = u16::try_from(clients).expect("a pool is small");
        DetectorPool { settings: settings.clone(), pool, refinement, clients }
    }

    pub(super) fn reseed(&mut self, seed: u64) {
        self.pool.reseed(Stream::new(seed, Concern::Detector));
    }

    fn node(&self, client: ClientId) -> u16 {
        self.settings.servers + u16::try_from(client.place()).expect("a pool is small")
    }

    /// An instant of the run in thousandths of a tick of the unrefined scenario.
    fn moment(&self, at: Instant) -> i64 {
        let ticks = i128::from((at - Instant::START).count());
        i64::try_from(ticks * 1000 / i128::from(self.refinement)).expect("at most 10^15")
    }

    /// Lets nodes detector up to this instant, or until the servers change their opinion of a client's node.
    pub(super) fn run_until(&mut self, limit: Instant) -> Option<(Instant, ClientId)> {
        loop {
            while let Some(change) = self.pool.next_change() {
                let place = change.about.checked_sub(self.settings.servers).filter(|place| *place < self.clients);
                if let (true, Some(place)) = (change.by == LEADER, place) {
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
    pub(super) fn allows<P: Service>(&self, timer: P::Timer) -> bool {
        timer.detector_opinion().is_none_or(|(client, wanted)| match (wanted, self.opinion(client)) {
            (Opinion::Failed, Opinion::Forgotten) => true,
            (wanted, opinion) => wanted == opinion,
        })
    }

    /// Whether nothing is left to notice.
    pub(super) fn is_right(&self) -> bool {
        self.pool.is_right(LEADER)
    }

    /// A fault of the world, as far as it concerns nodes.
    pub(super) fn suffer<P: Service>(&mut self, fault: Fault<P>, scenario: &Scenario<P>, world: &World<P>) {
        let moment = self.moment(world.now);
        let config = &scenario.service;
        match fault {
            Fault::Crash(client) if config.crash_takes_node() => self.pool.crash(self.node(client)),
            Fault::Restart(client) if config.crash_takes_node() => self.pool.restart(self.node(client), moment),
            Fault::Cut(link) | Fault::Heal(link) => {
                let client = link.from.client().or(link.to.client());
                client.into_iter().for_each(|client| self.reconnect(client, scenario, world));
            }
            Fault::Pause(process) => self.stall(process, i64::MAX, moment),
            Fault::Resume(process) => self.stall(process, moment, moment),
            _ => {}
        }
    }

    /// What the client and the servers hear of each other is what the world's cuts leave of it.
    fn reconnect<P: Service>(&mut self, client: ClientId, scenario: &Scenario<P>, world: &World<P>) {
        let (node, client) = (self.node(client), ProcessId::Client(client));
        let is_mute = world.is_cut(Link { from: client, to: ProcessId::Server }, scenario);
        let is_deaf = world.is_cut(Link { from: ProcessId::Server, to: client }, scenario);
        match self.settings.cut {
            Cuts::Node => {
                self.pool.set_mute(node, is_mute);
                self.pool.set_deaf(node, is_deaf);
            }
            Cuts::Bridged => {
                for server in 0..self.settings.servers {
                    self.pool.set_apart(node, server, is_mute);
                    self.pool.set_apart(server, node, is_deaf);
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

impl<P: Service> Realistic<P> {
    /// The servers have another opinion of a client's node: deadlines that waited for it are planned. If the node is not silent,
    /// giving it up is a false alarm, and takes a budget for those.
    pub(super) fn hear(&mut self, scenario: &Scenario<P>, world: &World<P>, client: ClientId) -> Option<Action<P>> {
        self.plan_process(scenario, world, ProcessId::Server);
        if self.detector.as_ref()?.opinion(client) == Opinion::Alive {
            return None;
        }
        let mut is_silent = false;
        world.wakes(scenario, ProcessId::Server, &mut |timer, _| {
            is_silent |= timer.detector_opinion() == Some((client, Opinion::Failed));
        });
        if is_silent {
            return None;
        }
        scenario.enabled(world, &mut self.enabled);
        self.enabled.iter().copied().find(|action| false_alarm(action) == Some(client))
    }

    /// Lets nodes detector up to an instant; whether the servers hear something before.
    pub(super) fn listen(&mut self, limit: Instant, now: Instant) -> bool {
        let change = self.detector.as_mut().and_then(|detector| detector.run_until(limit));
        if let Some((at, client)) = change {
            self.agenda.plan(at.max(now), PlannedAction::Hear(client));
        }
        change.is_some()
    }

    /// The same where nothing is planned, but a client is waiting: to the end of the storm, and after it until the servers are
    /// right about all nodes, for an hour at most where a tick is a second.
    pub(super) fn listen_on(&mut self, world: &World<P>) -> bool {
        let hour = Ticks::new(3600 * self.refinement);
        let is_settled = self.is_calm && self.detector.as_ref().is_none_or(DetectorPool::is_right);
        let limit = if self.is_calm { world.now + hour } else { self.storm };
        !is_settled && world.waiting().next().is_some() && self.listen(limit, world.now)
    }
}

/// The client whose node is given up wrongly by this.
pub(super) fn false_alarm<P: Service>(action: &Action<P>) -> Option<ClientId> {
    match action {
        Action::Fault(Fault::Service(fault)) => fault.false_alarm(),
        _ => None,
    }
}
