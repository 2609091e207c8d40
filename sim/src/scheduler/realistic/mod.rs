//! Runs as they happen: messages take their time, users think, processes stall, and each budgeted fault strikes at some
//! moment of the storm.

mod clocks;
mod detector;
mod faults;

use std::collections::BTreeMap;

use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::{Client, Context, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Condition, Envelope, Fault, Link, Step, World};

use self::detector::DetectorPool;
use super::agenda::{Agenda, PlannedAction};
use super::armed::DueTimes;
use super::{Scheduler, SchedulerKind};
use crate::profile::Profile;
use crate::random::{Concern, Stream};
use crate::swarm::Swarm;

#[derive(Clone)]
pub(crate) struct Realistic<P: Service> {
    profile: Profile,
    /// How much finer the clock is than the scenario's.
    refinement: i64,
    agenda: Agenda<P>,
    armed: DueTimes<P>,
    /// Clients whose user has something in mind.
    is_command_planned: Vec<bool>,
    /// Until when a process stands still: clients by place, the server last.
    asleep_until: Vec<Instant>,
    /// Until when a link does.
    clogged_until: BTreeMap<Link, Instant>,
    detector: Option<DetectorPool>,
    /// The end of the storm.
    storm: Instant,
    /// How long each clock takes to run away by a step; clients by place, the server last.
    drifts: Vec<Ticks>,
    clocks: Stream,
    latency: Stream,
    lateness: Stream,
    users: Stream,
    faults: Stream,
    stalls: Stream,
    clogs: Stream,
    choices: Stream,
    is_calm: bool,
    enabled: Vec<Action<P>>,
}

impl<P: Service> Realistic<P> {
    /// Plans everything that is known at the start. Faults strike before the end of the storm; a swarm leaves some out.
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
        let detector = profile.detector.as_ref().map(|detector| DetectorPool::new(seed, detector, clients, refinement));
        let mut new = Realistic {
            profile,
            refinement,
            agenda: Agenda::new(),
            armed: DueTimes::new(world.clients.len()),
            is_command_planned: vec![false; world.clients.len()],
            asleep_until: vec![Instant::START; world.clients.len() + 1],
            clogged_until: BTreeMap::new(),
            detector,
            storm: world.now + storm,
            drifts: Vec::new(),
            clocks: stream(Concern::Clocks),
            latency: stream(Concern::Latency),
            lateness: stream(Concern::Lateness),
            users: stream(Concern::Users),
            faults: stream(Concern::Faults),
            stalls: stream(Concern::Stalls),
            clogs: stream(Concern::Clogs),
            choices: stream(Concern::Choices),
            is_calm: false,
            enabled: Vec::new(),
        };
        for process in world.processes() {
            new.plan_process(scenario, world, process);
        }
        new.plan_faults(world, swarm, storm);
        new.plan_what_is_under_way(scenario, world);
        if swarm.is_none_or(|swarm| swarm.has(ActionKind::Slip)) {
            new.plan_clocks(scenario, world);
        }
        if may_stand_still(scenario) && swarm.is_none_or(Swarm::has_stalls) {
            new.plan_stall(world.now);
        }
        if may_stand_still(scenario) && swarm.is_some_and(Swarm::has_clogs) {
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
        self.faults = stream(Concern::Faults);
        self.stalls = stream(Concern::Stalls);
        self.clogs = stream(Concern::Clogs);
        self.choices = stream(Concern::Choices);
        self.clocks = stream(Concern::Clocks);
        if let Some(detector) = &mut self.detector {
            detector.reseed(seed);
        }
    }

    /// Plans what a prefix has left: messages in flight, and what mends its faults.
    fn plan_what_is_under_way(&mut self, scenario: &Scenario<P>, world: &World<P>) {
        for envelope in world.network.iter() {
            self.plan_delivery(scenario, world.now, envelope);
        }
        for process in world.processes() {
            let fault = match (world.condition(process), process.client()) {
                (Condition::Down, Some(client)) => Fault::Crash(client),
                (Condition::Paused, _) => Fault::Pause(process),
                _ => continue,
            };
            self.suffer(fault, scenario, world);
        }
        for link in &world.cuts {
            self.suffer(Fault::Cut(*link), scenario, world);
        }
    }

    /// What mends a fault comes after it, and the detector notices it.
    fn suffer(&mut self, fault: Fault<P>, scenario: &Scenario<P>, world: &World<P>) {
        self.plan_mending(world.now, fault);
        if let Some(detector) = &mut self.detector {
            detector.suffer(fault, scenario, world);
        }
    }

    /// Plans the next events of a process: its deadlines, and its user's next command.
    fn plan_process(&mut self, scenario: &Scenario<P>, world: &World<P>, process: ProcessId) {
        if world.condition(process) != Condition::Up {
            return;
        }
        let is_bound = process.client().is_some();
        world.wakes(scenario, process, &mut |timer, due| {
            let is_allowed = is_bound || self.detector.as_ref().is_none_or(|detector| detector.allows::<P>(timer));
            if !is_allowed || !self.armed.set(process, timer, due) {
                return;
            }
            let mut late = self.profile.lateness.draw(self.refinement, &mut self.lateness);
            if let Some(bound) = scenario.synchrony.wake_delay.filter(|_| is_bound) {
                late = late.min(bound);
            }
            self.agenda.plan(due.max(world.now) + late, PlannedAction::Wake(process, timer, due));
        });
        let Some(client) = process.client() else { return };
        if world.clients[client.place()].process.choices() > 0 {
            self.agenda.plan(world.now, PlannedAction::Choose(client));
        }
        if !self.is_command_planned[client.place()] && has_command(scenario, world, client) {
            self.is_command_planned[client.place()] = true;
            let thought = self.profile.thinking.draw(self.refinement, &mut self.users);
            self.agenda.plan(world.now + thought, PlannedAction::Command(client));
        }
    }

    fn plan_delivery(&mut self, scenario: &Scenario<P>, now: Instant, envelope: &Envelope<P>) {
        let curve = self.profile.latency_on(envelope.link());
        let mut latency = curve.draw(self.refinement, &mut self.latency);
        if let Some(bound) = scenario.synchrony.message_delay {
            latency = latency.min(bound);
        }
        self.agenda.plan(now + latency, PlannedAction::Deliver(*envelope));
    }

    /// What a plan comes to, now that its time has come.
    fn realise(&mut self, scenario: &Scenario<P>, world: &World<P>, plan: PlannedAction<P>) -> Option<Action<P>> {
        match plan {
            PlannedAction::Deliver(envelope) => {
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
            PlannedAction::Wake(process, timer, _) => {
                if self.puts_off(world, process, plan) {
                    return None;
                }
                self.armed.fire(process, timer);
                // The detector may have changed its mind since.
                if process == ProcessId::Server
                    && self.detector.as_ref().is_some_and(|detector| !detector.allows::<P>(timer))
                {
                    return None;
                }
                Some(Action::Wake { process, timer })
            }
            PlannedAction::Command(client) => {
                if self.puts_off(world, ProcessId::Client(client), plan) {
                    return None;
                }
                self.is_command_planned[client.place()] = false;
                let command = self.users.pick(&commands(scenario, world, client))?;
                Some(Action::Command { client, command })
            }
            PlannedAction::Choose(client) => {
                let options = u64::from(world.clients[client.place()].process.choices());
                let option = u8::try_from((options > 0).then(|| self.choices.below(options))?).expect("below a u8");
                Some(Action::Choose { process: client.into(), option })
            }
            PlannedAction::Fault(kind) => self.fault(scenario, world, kind),
            PlannedAction::Hear(client) => {
                if self.puts_off(world, ProcessId::Server, plan) {
                    return None;
                }
                self.hear(scenario, world, client)
            }
            PlannedAction::Drift(process, is_ahead) => self.drift(scenario, world, process, is_ahead),
            PlannedAction::Resync(process) => self.resync(scenario, world, process),
            PlannedAction::Stall => {
                self.stall(world);
                None
            }
            PlannedAction::Clog => {
                self.clog(world);
                None
            }
        }
    }
}

/// Whether processes and links stand still for a while: not where lateness is bounded.
pub(crate) fn may_stand_still<P: Service>(scenario: &Scenario<P>) -> bool {
    scenario.synchrony.wake_delay.is_none() && scenario.synchrony.message_delay.is_none()
}

/// Whether what a plan came to may happen. A message was looked for in the network a moment ago.
fn is_possible<P: Service>(scenario: &Scenario<P>, world: &World<P>, action: &Action<P>) -> bool {
    match action {
        Action::Deliver(envelope) => scenario.may_arrive(world, envelope),
        _ => scenario.is_enabled(world, action),
    }
}

fn has_command<P: Service>(scenario: &Scenario<P>, world: &World<P>, client: ClientId) -> bool {
    let mut has_one = false;
    offer_commands(scenario, world, client, &mut |_| has_one = true);
    has_one
}

fn commands<P: Service>(scenario: &Scenario<P>, world: &World<P>, client: ClientId) -> Vec<P::Command> {
    let mut commands = Vec::new();
    offer_commands(scenario, world, client, &mut |command| commands.push(command));
    commands
}

fn offer_commands<P: Service>(
    scenario: &Scenario<P>,
    world: &World<P>,
    client: ClientId,
    offer: &mut dyn FnMut(P::Command),
) {
    let host = &world.clients[client.place()];
    if host.condition == Condition::Up {
        let me = ProcessId::Client(client);
        host.process.commands(&Context { scenario, now: world.clock(me), me }, offer);
    }
}

impl<P: Service> Scheduler<P> for Realistic<P> {
    fn name(&self) -> &str {
        SchedulerKind::Realistic.name()
    }

    fn pick(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>> {
        loop {
            let Some((at, plan)) = self.agenda.peek() else {
                if self.listen_on(world) {
                    continue;
                }
                return None;
            };
            // A deadline that has been put off is nothing to wait for.
            if let PlannedAction::Wake(process, timer, due) = *plan
                && !self.armed.is_set(process, timer, due)
            {
                self.agenda.pop();
                continue;
            }
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
        self.suffer(*fault, scenario, world);
        // Whatever was held back sets out again.
        if let Fault::Resume(_) | Fault::Heal(_) = fault {
            for envelope in world.network.iter() {
                self.plan_delivery(scenario, world.now, envelope);
            }
        }
    }

    fn calm(&mut self, scenario: &Scenario<P>, world: &World<P>) {
        self.is_calm = true;
        if let Some(detector) = &mut self.detector {
            detector.calm();
        }
        self.agenda.forget(|plan| {
            matches!(
                plan,
                PlannedAction::Stall
                    | PlannedAction::Clog
                    | PlannedAction::Fault(_)
                    | PlannedAction::Drift(..)
                    | PlannedAction::Resync(_)
            )
        });
        scenario.enabled(world, &mut self.enabled);
        let mendable: Vec<ActionKind> = self.enabled.iter().map(Action::kind).filter(|kind| kind.is_repair()).collect();
        for kind in mendable {
            self.agenda.plan(world.now, PlannedAction::Fault(kind));
        }
    }
}
