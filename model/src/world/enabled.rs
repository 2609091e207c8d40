//! The enabled actions. Every action that repeats is paid from a budget or returns to an earlier state.

use super::{Action, Condition, Envelope, Fault, Link, World};
use crate::ids::{ClientId, ProcessId};
use crate::mutation::KernelMutation;
use crate::process::{Client, Context, Process};
use crate::scenario::{Drift, Scenario, Ways};
use crate::service::{Service, Settings as _};
use crate::time::Ticks;

impl<P: Service> Scenario<P> {
    /// Lists every enabled action in a fixed order. Time advances by one tick: longer advances are sequences of ticks.
    pub fn enabled(&self, world: &World<P>, out: &mut Vec<Action<P>>) {
        self.offered(world, out);
        if !self.fault_places.is_empty() && !self.is_mutated(KernelMutation::FaultsAnywhere) {
            self.keep_in_place(world, out);
        }
    }

    /// The same with faults at any place.
    fn offered(&self, world: &World<P>, out: &mut Vec<Action<P>>) {
        out.clear();
        for place in 0..world.clients.len() {
            let client = ClientId::of(place);
            self.commands(world, client, &mut |command| out.push(Action::Command { client, command }));
        }
        world.network.each_distinct(|envelope| {
            if self.may_arrive(world, envelope) {
                out.push(Action::Deliver(*envelope));
            }
        });
        let slack = world.alarms(self, &mut |process, timer| out.push(Action::Wake { process, timer }));
        if slack.is_none_or(|slack| slack > Ticks::ZERO) {
            out.push(Action::Advance(Ticks::new(1)));
        }
        self.operator_actions(world, &mut |operator_action| out.push(Action::Operator(operator_action)));
        if world.left.losses > 0 {
            world.network.each_distinct(|envelope| out.push(Action::Lose(*envelope)));
        }
        if world.left.duplicates > 0 {
            world.network.each_distinct(|envelope| out.push(Action::Duplicate(*envelope)));
        }
        self.faults(world, &mut |fault| out.push(Action::Fault(fault)));
        if world.left.slips > 0 {
            for process in world.processes() {
                for by in [self.clocks.step, self.clocks.step.times(-1)] {
                    if self.may_slip(world, process, by) {
                        out.push(Action::Slip { process, by });
                    }
                }
            }
        }
        for process in world.processes() {
            out.extend((0..self.options(world, process)).map(|option| Action::Choose { process, option }));
        }
    }

    /// Whether one given action is enabled. The answer is that of [`Scenario::enabled`], without listing every action;
    /// in addition, time may pass by any amount that keeps the bounds on delays.
    pub fn is_enabled(&self, world: &World<P>, action: &Action<P>) -> bool {
        if self.has_place(action) && !self.is_mutated(KernelMutation::FaultsAnywhere) {
            let mut enabled = Vec::new();
            self.enabled(world, &mut enabled);
            return enabled.contains(action);
        }
        let exists = |process: ProcessId| {
            process.client().is_none_or(|client| client.0 > 0 && client.place() < world.clients.len())
        };
        match action {
            Action::Command { client, command } => {
                let mut found = false;
                if exists(ProcessId::Client(*client)) {
                    self.commands(world, *client, &mut |offered| found |= offered == *command);
                }
                found
            }
            Action::Deliver(envelope) => self.offers(world, envelope) && self.may_arrive(world, envelope),
            Action::Wake { process, timer } => {
                let mut found = false;
                if exists(*process) {
                    self.due(world, *process, &mut |due| found |= due == *timer);
                }
                found
            }
            Action::Advance(ticks) => *ticks > Ticks::ZERO && world.slack(self).is_none_or(|slack| slack >= *ticks),
            Action::Operator(operator_action) => {
                let mut found = false;
                self.operator_actions(world, &mut |offered| found |= offered == *operator_action);
                found
            }
            Action::Lose(envelope) => world.left.losses > 0 && world.network.offers(envelope),
            Action::Duplicate(envelope) => world.left.duplicates > 0 && world.network.offers(envelope),
            Action::Fault(fault) => {
                let mut found = false;
                self.faults(world, &mut |offered| found |= offered == *fault);
                found
            }
            Action::Slip { process, by } => {
                let is_step = *by == self.clocks.step || *by == self.clocks.step.times(-1);
                let has_clock = *process != ProcessId::Resource && exists(*process);
                world.left.slips > 0 && is_step && has_clock && self.may_slip(world, *process, *by)
            }
            Action::Choose { process, option } => exists(*process) && *option < self.options(world, *process),
        }
    }

    /// Whether exactly this message may be taken, of several with the same content.
    fn offers(&self, world: &World<P>, envelope: &Envelope<P>) -> bool {
        let is_any =
            self.is_mutated(KernelMutation::AnyAlikeIsEnabled) && world.network.iter().any(|other| other == envelope);
        is_any || world.network.offers(envelope)
    }

    fn commands(&self, world: &World<P>, client: ClientId, offer: &mut dyn FnMut(P::Command)) {
        let host = &world.clients[client.place()];
        if host.condition != Condition::Up {
            return;
        }
        let me = ProcessId::Client(client);
        host.process.commands(&Context { scenario: self, now: world.clock(me), me }, offer);
    }

    /// A message waits for a paused receiver and at a cut link; a message to a crashed receiver arrives and is lost.
    pub fn may_arrive(&self, world: &World<P>, envelope: &Envelope<P>) -> bool {
        let is_heard =
            world.condition(envelope.to) != Condition::Paused || self.is_mutated(KernelMutation::PausedHears);
        let is_through = !world.is_cut(envelope.link(), self) || self.is_mutated(KernelMutation::CutLeaks);
        is_heard && is_through
    }

    fn due(&self, world: &World<P>, process: ProcessId, fire: &mut dyn FnMut(P::Timer)) {
        if world.condition(process) != Condition::Up {
            return;
        }
        world.wakes(self, process, &mut |timer, due| {
            if world.now >= due {
                fire(timer);
            }
        });
    }

    /// The operator actions that are possible and that the budget allows.
    fn operator_actions(&self, world: &World<P>, offer: &mut dyn FnMut(P::OperatorAction)) {
        if world.left.operator == 0 {
            return;
        }
        P::operator_actions(world, self, &mut |operator_action| {
            if self.service.operator_cost(operator_action) <= world.left.operator
                || self.is_mutated(KernelMutation::CostUnasked)
            {
                offer(operator_action);
            }
        });
    }

    /// The number of options of a pending random choice of a process.
    fn options(&self, world: &World<P>, process: ProcessId) -> u8 {
        if world.condition(process) != Condition::Up {
            return 0;
        }
        match process {
            ProcessId::Client(client) => world.clients[client.place()].process.choices(),
            ProcessId::Server => world.server.process.choices(),
            ProcessId::Resource => 0,
        }
    }

    fn may_slip(&self, world: &World<P>, process: ProcessId, by: Ticks) -> bool {
        if self.clocks.drift == Drift::SlowClients && (process.client().is_none() || by > Ticks::ZERO) {
            return false;
        }
        let offset =
            if self.is_mutated(KernelMutation::OffsetUncounted) { Ticks::ZERO } else { self.clocks.offset(process) };
        let skew = world.skew(process) + by - offset;
        (-self.clocks.skew.count()..=self.clocks.skew.count()).contains(&skew.count())
    }

    fn faults(&self, world: &World<P>, offer: &mut dyn FnMut(Fault<P>)) {
        let left = world.left;
        for process in world.processes() {
            let condition = world.condition(process);
            if let Some(client) = process.client() {
                match condition {
                    Condition::Up if left.crashes > 0 => offer(Fault::Crash(client)),
                    Condition::Down if left.restarts > 0 => offer(Fault::Restart(client)),
                    _ => {}
                }
            }
            match condition {
                Condition::Up if left.pauses > 0 => offer(Fault::Pause(process)),
                Condition::Paused => offer(Fault::Resume(process)),
                _ => {}
            }
        }
        if left.cuts > 0 {
            let is_whole = |link: &Link| !world.cuts.contains(link);
            self.links(world).filter(is_whole).for_each(|link| offer(Fault::Cut(link)));
        }
        if !self.is_mutated(KernelMutation::HealNever) {
            world.cuts.iter().for_each(|link| offer(Fault::Heal(*link)));
        }
        P::faults(world, self, &mut |fault| offer(Fault::Service(fault)));
        // One that has nothing to forget yet would stay as it is.
        if left.resource_restarts > 0 && world.resource != world.resource.restarted() {
            offer(Fault::RestartResource);
        }
    }

    /// Every link that carries messages: each direction by itself, unless a cut affects both.
    fn links(&self, world: &World<P>) -> impl Iterator<Item = Link> + use<P> {
        let has_writes = self.writes > 0 || self.work_items > 0;
        let goes_back = self.network.ways == Ways::One;
        (0..world.clients.len()).map(ClientId::of).map(ProcessId::Client).flat_map(move |client| {
            [ProcessId::Server, ProcessId::Resource]
                .into_iter()
                .filter(move |peer| has_writes || *peer == ProcessId::Server)
                .flat_map(move |peer| {
                    let back = goes_back.then_some(Link { from: peer, to: client });
                    [Link { from: client, to: peer }].into_iter().chain(back)
                })
        })
    }
}
