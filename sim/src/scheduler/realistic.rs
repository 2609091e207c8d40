//! Runs as they happen: messages take their time, users think, processes stall, and each budgeted mishap strikes at some
//! moment of the storm.

use std::collections::BTreeMap;

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::{Client, Context, Process};
use fencepost_model::protocol::{Opinion, Protocol};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, TICKS_MAX, Ticks};
use fencepost_model::world::{Action, Condition, Envelope, Fault, Link, Step, World};

use super::Scheduler;
use super::agenda::{Agenda, Plan};
use super::armed::Armed;
use super::gossip::Beside;
use crate::profile::Profile;
use crate::random::{Concern, Stream};
use crate::swarm::Swarm;

#[derive(Clone)]
pub(crate) struct Realistic<P: Protocol> {
    profile: Profile,
    /// How much finer the clock is than the scenario's.
    refinement: i64,
    agenda: Agenda<P>,
    armed: Armed<P>,
    /// Clients whose user has something in mind.
    wishing: Vec<bool>,
    /// Until when a process stands still: clients by place, the server last.
    asleep_until: Vec<Instant>,
    /// Until when a link does.
    clogged_until: BTreeMap<Link, Instant>,
    gossip: Option<Beside>,
    /// The end of the storm.
    storm: Instant,
    /// How long each clock takes to run away by a step; clients by place, the server last.
    drifts: Vec<Ticks>,
    clocks: Stream,
    latency: Stream,
    lateness: Stream,
    users: Stream,
    mishaps: Stream,
    stalls: Stream,
    clogs: Stream,
    choices: Stream,
    is_calm: bool,
    enabled: Vec<Action<P>>,
}

impl<P: Protocol> Realistic<P> {
    /// Plans everything that is known at the start. Mishaps strike before the end of the storm; a swarm leaves some out.
    pub(crate) fn new(
        seed: u64,
        (profile, refinement): (Profile, i64),
        swarm: Option<&Swarm>,
        storm: Ticks,
        scenario: &Scenario<P>,
        world: &World<P>,
    ) -> Self {
        let stream = |concern| Stream::new(seed, concern);
        let clients = world.clients.len();
        let gossip = profile.gossip.as_ref().map(|gossip| Beside::new(seed, gossip, clients, refinement));
        let mut new = Realistic {
            profile,
            refinement,
            agenda: Agenda::new(),
            armed: Armed::new(world.clients.len()),
            wishing: vec![false; world.clients.len()],
            asleep_until: vec![Instant::START; world.clients.len() + 1],
            clogged_until: BTreeMap::new(),
            gossip,
            storm: Instant::START + storm,
            drifts: Vec::new(),
            clocks: stream(Concern::Clocks),
            latency: stream(Concern::Latency),
            lateness: stream(Concern::Lateness),
            users: stream(Concern::Users),
            mishaps: stream(Concern::Mishaps),
            stalls: stream(Concern::Stalls),
            clogs: stream(Concern::Clogs),
            choices: stream(Concern::Choices),
            is_calm: false,
            enabled: Vec::new(),
        };
        for process in world.processes() {
            new.plan_process(scenario, world, process);
        }
        new.plan_mishaps(scenario, swarm, storm);
        if swarm.is_none_or(|swarm| swarm.has("slip")) {
            new.plan_clocks(scenario, world);
        }
        let is_bounded = scenario.synchrony.wake_delay.is_some() || scenario.synchrony.message_delay.is_some();
        if !is_bounded && swarm.is_none_or(Swarm::has_stalls) {
            new.plan_stall(world.now);
        }
        if !is_bounded && swarm.is_some_and(Swarm::has_clogs) {
            new.plan_clog(world.now);
        }
        new
    }

    /// What has been planned stays; what is left to chance from now on is another seed's.
    pub(crate) fn reseed(&mut self, seed: u64) {
        let stream = |concern| Stream::new(seed, concern);
        self.latency = stream(Concern::Latency);
        self.lateness = stream(Concern::Lateness);
        self.users = stream(Concern::Users);
        self.mishaps = stream(Concern::Mishaps);
        self.stalls = stream(Concern::Stalls);
        self.clogs = stream(Concern::Clogs);
        self.choices = stream(Concern::Choices);
        self.clocks = stream(Concern::Clocks);
        if let Some(gossip) = &mut self.gossip {
            gossip.reseed(seed);
        }
    }

    fn plan_mishaps(&mut self, scenario: &Scenario<P>, swarm: Option<&Swarm>, storm: Ticks) {
        let budget = scenario.budget;
        // Where there is gossip, it alone is wrong about nodes.
        let false_alarms = if self.gossip.is_some() { 0 } else { budget.false_alarms };
        let slips = if self.profile.drift.is_some() { 0 } else { budget.slips };
        let span = u64::try_from(storm.count()).unwrap_or(0).max(1);
        for (count, kind) in [
            (budget.losses, "lose"),
            (budget.duplicates, "duplicate"),
            (budget.crashes, "crash"),
            (budget.pauses, "pause"),
            (budget.cuts, "cut"),
            (slips, "slip"),
            (budget.operator, "operator"),
            (budget.outages + budget.server_restarts + false_alarms, "service-fault"),
        ] {
            let count = if swarm.is_none_or(|swarm| swarm.has(kind)) { count } else { 0 };
            for _ in 0..count {
                let at = i64::try_from(self.mishaps.below(span)).expect("the storm's length fits");
                self.agenda.plan(Instant::at(at), Plan::Mishap(kind));
            }
        }
    }

    /// Each clock has a rate of its own, and is set right now and then.
    fn plan_clocks(&mut self, scenario: &Scenario<P>, world: &World<P>) {
        let Some(rates) = self.profile.drift.clone().filter(|_| scenario.budget.slips > 0) else { return };
        for process in world.processes().filter(|process| *process != ProcessId::Resource) {
            // Without refinement a curve's numbers are what it says.
            let rate = rates.draw(1000, &mut self.clocks).count();
            let is_ahead = self.clocks.below(2) == 0;
            let period = i128::from(scenario.clocks.step.count()) * 1_000_000 / i128::from(rate.max(1));
            let period = Ticks::new(i64::try_from(period).unwrap_or(i64::MAX).clamp(1, TICKS_MAX / 4));
            self.drifts.push(period);
            if rate > 0 {
                self.agenda.plan(world.now + period, Plan::Drift(process, is_ahead));
            }
            self.plan_resync(world.now, process);
        }
    }

    fn plan_resync(&mut self, now: Instant, process: ProcessId) {
        if let Some(curve) = &self.profile.resync_every {
            let wait = curve.draw(self.refinement, &mut self.clocks).max(Ticks::new(1));
            self.agenda.plan(now + wait, Plan::Resync(process));
        }
    }

    /// A clock runs away by a step, as long as there is a budget for it.
    fn drift(
        &mut self,
        scenario: &Scenario<P>,
        world: &World<P>,
        process: ProcessId,
        is_ahead: bool,
    ) -> Option<Action<P>> {
        if world.left.slips == 0 {
            return None;
        }
        let place = process.client().map_or(self.drifts.len() - 1, ClientId::place);
        self.agenda.plan(world.now + self.drifts[place], Plan::Drift(process, is_ahead));
        let step = scenario.clocks.step;
        Some(Action::Slip { process, by: if is_ahead { step } else { step.times(-1) } })
    }

    /// A clock is set right, step by step, at once.
    fn resync(&mut self, scenario: &Scenario<P>, world: &World<P>, process: ProcessId) -> Option<Action<P>> {
        let wrong = world.skew(process) - scenario.clocks.offset(process);
        let step = scenario.clocks.step;
        let back = Action::Slip { process, by: if wrong > Ticks::ZERO { step.times(-1) } else { step } };
        if wrong != Ticks::ZERO && scenario.is_enabled(world, &back) {
            self.agenda.plan(world.now, Plan::Resync(process));
            return Some(back);
        }
        if world.left.slips > 0 {
            self.plan_resync(world.now, process);
        }
        None
    }

    fn plan_stall(&mut self, now: Instant) {
        let wait = self.profile.stall_every.draw(self.refinement, &mut self.stalls);
        self.agenda.plan(now + wait, Plan::Stall);
    }

    fn plan_clog(&mut self, now: Instant) {
        let wait = self.profile.stall_every.draw(self.refinement, &mut self.clogs);
        self.agenda.plan(now + wait, Plan::Clog);
    }

    /// Some direction between a client and the server, or the resource, stands still for as long as a process would.
    fn clog(&mut self, world: &World<P>) {
        let clients = u64::try_from(world.clients.len()).expect("a length fits");
        let client = usize::try_from(self.clogs.below(clients)).expect("an index fits");
        let client = ProcessId::Client(ClientId::of(client));
        let peer = if self.clogs.below(3) == 0 { ProcessId::Resource } else { ProcessId::Server };
        let link =
            if self.clogs.below(3) == 0 { Link { from: peer, to: client } } else { Link { from: client, to: peer } };
        let until = world.now + self.profile.stall.draw(self.refinement, &mut self.clogs);
        self.clogged_until.insert(link, until);
        self.plan_clog(world.now);
    }

    /// Plans what a process now waits for: its deadlines, and its user's next wish.
    fn plan_process(&mut self, scenario: &Scenario<P>, world: &World<P>, process: ProcessId) {
        if world.condition(process) != Condition::Up {
            return;
        }
        let is_bound = process.client().is_some();
        world.wakes(scenario, process, &mut |timer, due| {
            let is_allowed = is_bound || self.gossip.as_ref().is_none_or(|gossip| gossip.allows::<P>(timer));
            if !is_allowed || !self.armed.set(process, timer, due) {
                return;
            }
            let mut late = self.profile.lateness.draw(self.refinement, &mut self.lateness);
            if let Some(bound) = scenario.synchrony.wake_delay.filter(|_| is_bound) {
                late = late.min(bound);
            }
            self.agenda.plan(due.max(world.now) + late, Plan::Wake(process, timer, due));
        });
        let Some(client) = process.client() else { return };
        if world.clients[client.place()].process.choices() > 0 {
            self.agenda.plan(world.now, Plan::Choose(client));
        }
        if !self.wishing[client.place()] && !wishes(scenario, world, client).is_empty() {
            self.wishing[client.place()] = true;
            let thought = self.profile.thinking.draw(self.refinement, &mut self.users);
            self.agenda.plan(world.now + thought, Plan::Wish(client));
        }
    }

    fn plan_delivery(&mut self, scenario: &Scenario<P>, now: Instant, envelope: &Envelope<P>) {
        let curve = self.profile.latency_on(envelope.link());
        let mut latency = curve.draw(self.refinement, &mut self.latency);
        if let Some(bound) = scenario.synchrony.message_delay {
            latency = latency.min(bound);
        }
        self.agenda.plan(now + latency, Plan::Deliver(*envelope));
    }

    /// What a plan comes to, now that its time has come.
    fn realise(&mut self, scenario: &Scenario<P>, world: &World<P>, plan: Plan<P>) -> Option<Action<P>> {
        match plan {
            Plan::Deliver(envelope) => {
                if self.puts_off(world, envelope.to, plan) {
                    return None;
                }
                if let Some(until) = self.clogged_until.get(&envelope.link()).filter(|until| **until > world.now) {
                    self.agenda.plan(*until, plan);
                    return None;
                }
                let envelope = world.network.first_like(&envelope)?;
                Some(Action::Deliver(envelope))
            }
            Plan::Wake(process, timer, due) => {
                if self.puts_off(world, process, plan) || !self.armed.fire(process, timer, due) {
                    return None;
                }
                // Gossip may have changed its mind since.
                if process == ProcessId::Server && self.gossip.as_ref().is_some_and(|gossip| !gossip.allows::<P>(timer))
                {
                    return None;
                }
                Some(Action::Wake { process, timer })
            }
            Plan::Wish(client) => {
                if self.puts_off(world, ProcessId::Client(client), plan) {
                    return None;
                }
                self.wishing[client.place()] = false;
                let command = self.users.pick(&wishes(scenario, world, client))?;
                Some(Action::Command { client, command })
            }
            Plan::Choose(client) => {
                let options = u64::from(world.clients[client.place()].process.choices());
                let option = u8::try_from((options > 0).then(|| self.choices.below(options))?).expect("below a u8");
                Some(Action::Choose { process: client.into(), option })
            }
            Plan::Mishap(kind) => self.mishap(scenario, world, kind),
            Plan::Hear(client) => self.hear(scenario, world, client),
            Plan::Drift(process, is_ahead) => self.drift(scenario, world, process, is_ahead),
            Plan::Resync(process) => self.resync(scenario, world, process),
            Plan::Stall => {
                self.stall(world);
                None
            }
            Plan::Clog => {
                self.clog(world);
                None
            }
        }
    }

    /// Plans anew what a process that stands still cannot do yet.
    fn puts_off(&mut self, world: &World<P>, process: ProcessId, plan: Plan<P>) -> bool {
        let until = match process {
            ProcessId::Client(client) => self.asleep_until[client.place()],
            ProcessId::Server => self.asleep_until[world.clients.len()],
            ProcessId::Resource => return false,
        };
        let is_asleep = until > world.now;
        if is_asleep {
            self.agenda.plan(until, plan);
        }
        is_asleep
    }

    fn stall(&mut self, world: &World<P>) {
        let count = u64::try_from(self.asleep_until.len()).expect("a length fits");
        let sleeper = usize::try_from(self.stalls.below(count)).expect("an index fits");
        let until = world.now + self.profile.stall.draw(self.refinement, &mut self.stalls);
        self.asleep_until[sleeper] = until;
        if let Some(gossip) = &mut self.gossip {
            let is_client = sleeper < world.clients.len();
            let process = if is_client { ProcessId::Client(ClientId::of(sleeper)) } else { ProcessId::Server };
            gossip.sleep(process, until, world.now);
        }
        self.plan_stall(world.now);
    }

    fn mishap(&mut self, scenario: &Scenario<P>, world: &World<P>, kind: &'static str) -> Option<Action<P>> {
        scenario.enabled(world, &mut self.enabled);
        let has_gossip = self.gossip.is_some();
        self.enabled.retain(|action| action.kind() == kind && !(has_gossip && false_alarm(action).is_some()));
        let action = self.mishaps.pick(&self.enabled);
        if action.is_none() && !self.is_calm {
            // Nothing of the kind can happen at the moment: it waits for its chance.
            self.agenda.plan(world.now + Ticks::new((self.refinement / 4).max(1)), Plan::Mishap(kind));
        }
        action
    }

    /// The servers have another opinion of a client's node: deadlines that waited for it are planned. If the node is not silent,
    /// giving it up is a false alarm, and takes a budget for those.
    fn hear(&mut self, scenario: &Scenario<P>, world: &World<P>, client: ClientId) -> Option<Action<P>> {
        self.plan_process(scenario, world, ProcessId::Server);
        if self.gossip.as_ref()?.opinion(client) == Opinion::Alive {
            return None;
        }
        let mut is_silent = false;
        world.wakes(scenario, ProcessId::Server, &mut |timer, _| {
            is_silent |= P::told_by_gossip(timer) == Some((client, Opinion::Failed));
        });
        if is_silent {
            return None;
        }
        scenario.enabled(world, &mut self.enabled);
        self.enabled.iter().copied().find(|action| false_alarm(action) == Some(client))
    }

    /// What mends a mishap comes after it.
    fn plan_mending(&mut self, now: Instant, fault: Fault<P>) {
        let kind = match fault {
            Fault::Crash(_) => "restart",
            Fault::Pause(_) => "resume",
            Fault::Cut(_) => "heal",
            Fault::Restart(_) | Fault::Resume(_) | Fault::Heal(_) | Fault::Service(_) => return,
        };
        let after = self.profile.mending.draw(self.refinement, &mut self.mishaps);
        self.agenda.plan(now + after, Plan::Mishap(kind));
    }

    /// Lets nodes gossip up to an instant; whether the servers hear something before.
    fn listen(&mut self, limit: Instant, now: Instant) -> bool {
        let heard = self.gossip.as_mut().and_then(|gossip| gossip.run_until(limit));
        if let Some((at, client)) = heard {
            self.agenda.plan(at.max(now), Plan::Hear(client));
        }
        heard.is_some()
    }

    /// The same where nothing is planned, but somebody keeps trying: to the end of the storm, and after it until the servers are
    /// right about all nodes, for an hour at most where a tick is a second.
    fn listen_on(&mut self, world: &World<P>) -> bool {
        let hour = Ticks::new(3600 * self.refinement);
        let is_settled = self.is_calm && self.gossip.as_ref().is_none_or(Beside::is_right);
        let limit = if self.is_calm { world.now + hour } else { self.storm };
        !is_settled && world.waiting().next().is_some() && self.listen(limit, world.now)
    }

    /// A bound on lateness presses: something that is due happens now, although its plan is for later.
    fn urgent(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>> {
        scenario.enabled(world, &mut self.enabled);
        self.enabled.retain(|action| matches!(action, Action::Deliver(_) | Action::Wake { .. }));
        self.mishaps.pick(&self.enabled)
    }
}

/// The client whose node is given up wrongly by this.
fn false_alarm<P: Protocol>(action: &Action<P>) -> Option<ClientId> {
    match action {
        Action::Fault(Fault::Service(fault)) => P::false_alarm(*fault),
        _ => None,
    }
}

/// Whether what a plan came to may happen. A message was looked for in the network a moment ago.
fn is_possible<P: Protocol>(scenario: &Scenario<P>, world: &World<P>, action: &Action<P>) -> bool {
    match action {
        Action::Deliver(envelope) => scenario.may_arrive(world, envelope),
        _ => scenario.is_enabled(world, action),
    }
}

fn wishes<P: Protocol>(scenario: &Scenario<P>, world: &World<P>, client: ClientId) -> Vec<P::Command> {
    let seat = &world.clients[client.place()];
    let mut commands = Vec::new();
    if seat.condition == Condition::Up {
        let me = ProcessId::Client(client);
        seat.process.commands(&Context { scenario, now: world.clock(me), me }, &mut |command| commands.push(command));
    }
    commands
}

impl<P: Protocol> Scheduler<P> for Realistic<P> {
    fn pick(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>> {
        loop {
            let Some(at) = self.agenda.next_at() else {
                if self.listen_on(world) {
                    continue;
                }
                return None;
            };
            if at > world.now {
                let wait = match world.slack(scenario) {
                    // Less than nothing is left after a link was healed that held back what is overdue.
                    Some(slack) if slack <= Ticks::ZERO => return self.urgent(scenario, world),
                    Some(slack) => slack.min(at - world.now),
                    None => at - world.now,
                };
                if self.listen(world.now + wait, world.now) {
                    continue;
                }
                return Some(Action::Advance(wait));
            }
            let plan = self.agenda.pop()?;
            if let Some(action) = self.realise(scenario, world, plan)
                && is_possible(scenario, world, &action)
            {
                return Some(action);
            }
        }
    }

    fn learn(&mut self, scenario: &Scenario<P>, world: &World<P>, action: &Action<P>, step: &Step<P>) {
        for envelope in &step.sent {
            self.plan_delivery(scenario, world.now, envelope);
        }
        for process in &step.touched {
            self.plan_process(scenario, world, *process);
        }
        let Action::Fault(fault) = action else { return };
        self.plan_mending(world.now, *fault);
        if let Some(gossip) = &mut self.gossip {
            gossip.suffer(*fault, &scenario.service, world.now);
        }
        // Whatever was held back sets out again.
        if let Fault::Resume(_) | Fault::Heal(_) = fault {
            for envelope in world.network.iter() {
                self.plan_delivery(scenario, world.now, envelope);
            }
        }
    }

    fn calm(&mut self, scenario: &Scenario<P>, world: &World<P>) {
        self.is_calm = true;
        if let Some(gossip) = &mut self.gossip {
            gossip.calm();
        }
        self.agenda.forget(|plan| {
            matches!(plan, Plan::Stall | Plan::Clog | Plan::Mishap(_) | Plan::Drift(..) | Plan::Resync(_))
        });
        scenario.enabled(world, &mut self.enabled);
        let mendable: Vec<&'static str> = self
            .enabled
            .iter()
            .filter(|action| !action.is_mishap())
            .map(Action::kind)
            .filter(|kind| ["restart", "resume", "heal"].contains(kind))
            .collect();
        for kind in mendable {
            self.agenda.plan(world.now, Plan::Mishap(kind));
        }
    }
}
