//! The transition function: `step` is a function of scenario, world and action.

use super::{Action, Condition, Envelope, Fault, Link, World};
use crate::fact::{Fact, Leaving};
use crate::ids::{ClientId, ProcessId, Tenure};
use crate::inline_vec::InlineVec;
use crate::mutation::KernelMutation;
use crate::process::{Client, Context, Input, Message, Outbox, Process};
use crate::scenario::{Cutting, Replies, Scenario};
use crate::service::{Service, Settings as _};
use crate::service_fault::ServiceFault;
use crate::time::{Deadline, Ticks};

/// The result of one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<P: Service> {
    /// The facts.
    pub facts: InlineVec<Fact<P>, 4>,
    /// The messages that were sent.
    pub sent: InlineVec<Envelope<P>, 2>,
    /// The messages that a cut link has lost, including messages lost while they were sent.
    pub dropped: InlineVec<Envelope<P>, 0>,
    /// The processes that took part. The state of all others is unchanged.
    pub touched: InlineVec<ProcessId, 2>,
}

/// The tenures with which sent writes are stamped; for properties only.
#[derive(Copy, Clone, Debug, Default)]
pub struct Stamps<'a> {
    /// For each client, the newest tenure that it was granted; clients beyond the list have none.
    pub held: &'a [Tenure],
    /// A mutant stamps all writes with this tenure.
    pub newest: Option<Tenure>,
}

impl Stamps<'_> {
    fn of(&self, writer: ClientId) -> Tenure {
        self.newest.or(self.held.get(writer.place()).copied()).unwrap_or_default()
    }
}

impl<P: Service> Scenario<P> {
    /// Carries out one action without a monitor. See [`Observed`](crate::monitor::Observed) for a step that is judged.
    ///
    /// # Panics
    /// The action is not enabled and has no meaning: the caller made a mistake.
    pub fn step(&self, world: &mut World<P>, action: &Action<P>) -> Step<P> {
        self.step_stamped(world, action, Stamps::default())
    }

    /// The same, with the tenures that stamp writes.
    pub(crate) fn step_stamped(&self, world: &mut World<P>, action: &Action<P>, stamps: Stamps<'_>) -> Step<P> {
        if let Action::Advance(ticks) = action {
            // Time passes and no process reacts: every other step of a simulation is such a step.
            world.now += *ticks;
            return Step {
                facts: InlineVec::new(),
                sent: InlineVec::new(),
                dropped: InlineVec::new(),
                touched: InlineVec::new(),
            };
        }
        let mut out = Outbox::new();
        let mut touched = InlineVec::new();
        let sender = self.act(world, action, &mut out, &mut touched);
        let prompt = self.hear_at_once(world, action, &mut out, &mut touched);
        let mut sent = self.post(world, sender, &out, stamps);
        if let Some((caller, prompt)) = prompt {
            self.post(world, caller, &prompt, stamps).iter().for_each(|envelope| sent.push(*envelope));
        }
        let dropped = self.drop_at_cuts(world);
        Step { facts: out.facts, sent, dropped, touched }
    }

    /// Carries out the action; returns the process whose outbox was filled.
    fn act(
        &self,
        world: &mut World<P>,
        action: &Action<P>,
        out: &mut Outbox<P>,
        touched: &mut InlineVec<ProcessId, 2>,
    ) -> ProcessId {
        match *action {
            Action::Command { client, command } => {
                self.feed(world, ProcessId::Client(client), Input::Command(command), out, touched)
            }
            Action::Deliver(envelope) => {
                assert!(world.network.take(&envelope), "a message that is not in flight cannot arrive: {envelope:?}");
                self.deliver(world, envelope, out, touched)
            }
            Action::Wake { process, timer } => self.feed(world, process, Input::Wake(timer), out, touched),
            Action::Advance(_) => unreachable!("time passes by itself"),
            Action::Operator(operator_action) => {
                world.left.operator -= self.service.operator_cost(operator_action);
                touched.push(ProcessId::Server);
                let context = Context { scenario: self, now: world.clock(ProcessId::Server), me: ProcessId::Server };
                P::operate(&mut world.server.process, operator_action, &context, out);
                ProcessId::Server
            }
            Action::Lose(envelope) => {
                assert!(world.network.take(&envelope), "a message that is not in flight cannot be lost: {envelope:?}");
                if self.is_mutated(KernelMutation::LossKeepsMessage) {
                    world.network.post(envelope);
                }
                world.left.losses -= 1;
                ProcessId::Resource
            }
            Action::Duplicate(envelope) => {
                world.left.duplicates -= 1;
                if self.is_mutated(KernelMutation::DuplicateTakesOriginal) {
                    world.network.take(&envelope);
                }
                out.messages.push((envelope.to, envelope.message));
                envelope.from
            }
            Action::Fault(fault) => self.strike(world, fault, out, touched),
            Action::Slip { process, by } => {
                world.left.slips -= 1;
                let by = if self.is_mutated(KernelMutation::SlipForwardsOnly) { by.max(Ticks::ZERO) } else { by };
                *world.skew_mut(process) = world.skew(process) + by;
                touched.push(process);
                process
            }
            Action::Choose { process, option } => self.feed(world, process, Input::Choice(option), out, touched),
        }
    }

    fn feed(
        &self,
        world: &mut World<P>,
        process: ProcessId,
        input: Input<P>,
        out: &mut Outbox<P>,
        touched: &mut InlineVec<ProcessId, 2>,
    ) -> ProcessId {
        touched.push(process);
        let context = Context { scenario: self, now: world.clock(process), me: process };
        match process {
            ProcessId::Client(client) => world.clients[client.place()].process.on(input, &context, out),
            ProcessId::Server => world.server.process.on(input, &context, out),
            ProcessId::Resource => panic!("the resource has neither users nor deadlines"),
        }
        process
    }

    fn deliver(
        &self,
        world: &mut World<P>,
        envelope: Envelope<P>,
        out: &mut Outbox<P>,
        touched: &mut InlineVec<ProcessId, 2>,
    ) -> ProcessId {
        let Envelope { from, to, message, .. } = envelope;
        if world.condition(to) == Condition::Down {
            out.record(Fact::Unheard);
            return to;
        }
        let write = match (to, message) {
            (ProcessId::Resource, Message::Write(write)) => write,
            (ProcessId::Resource, Message::Read(call)) => {
                let version = Message::Version { to: call, version: world.resource.highest };
                out.messages.push((from, version));
                return ProcessId::Resource;
            }
            (ProcessId::Resource, Message::ReadKey { call, key }) => {
                let version = Message::Version { to: call, version: world.resource.keys.of(key) };
                out.messages.push((from, version));
                return ProcessId::Resource;
            }
            (ProcessId::Resource, Message::NextItem { call, takes }) => {
                let item = world.resource.next_item(self.work_items, takes, self.mutation);
                out.messages.push((from, Message::QueueItem { to: call, item }));
                return ProcessId::Resource;
            }
            _ => return self.feed(world, to, Input::Message { from, message }, out, touched),
        };
        let writer = from.client().expect("only clients write");
        let fact = world.resource.judge(writer, write, self.resource, self.mutation);
        out.record(fact);
        let accepted = matches!(fact, Fact::Written { .. });
        if accepted && let Some(fact) = world.resource.carry_out(writer, write.target, self.mutation) {
            out.record(fact);
        }
        if let Some(to) = write.call {
            out.messages.push((from, Message::Written { to, accepted }));
        }
        ProcessId::Resource
    }

    /// Where responses take no time, the client receives them now; its own messages go to a separate outbox.
    fn hear_at_once(
        &self,
        world: &mut World<P>,
        action: &Action<P>,
        out: &mut Outbox<P>,
        touched: &mut InlineVec<ProcessId, 2>,
    ) -> Option<(ProcessId, Outbox<P>)> {
        let Action::Deliver(Envelope { from: caller, to: peer, .. }) = *action else { return None };
        let hears = caller.client().is_some() && world.condition(caller) == Condition::Up;
        let back = Link { from: peer, to: caller };
        let travels = self.network.replies == Replies::Travel || self.is_mutated(KernelMutation::RepliesTravel);
        if travels || !hears || world.is_cut(back, self) {
            return None;
        }
        let mut own = Outbox::new();
        let is_for_caller = |(to, _): &(ProcessId, Message<P>)| *to == caller;
        let answers: InlineVec<(ProcessId, Message<P>), 2> =
            out.messages.iter().copied().filter(is_for_caller).collect();
        out.messages.retain(|message| !is_for_caller(message));
        for (_, message) in &answers {
            let input = Input::Message { from: peer, message: *message };
            self.feed(world, caller, input, &mut own, touched);
        }
        own.facts.iter().for_each(|fact| out.record(*fact));
        Some((caller, own))
    }

    /// Carries out a fault; returns the process whose outbox was filled.
    fn strike(
        &self,
        world: &mut World<P>,
        fault: Fault<P>,
        out: &mut Outbox<P>,
        touched: &mut InlineVec<ProcessId, 2>,
    ) -> ProcessId {
        let context = Context { scenario: self, now: world.clock(ProcessId::Server), me: ProcessId::Server };
        P::on_environment_fault(&mut world.server.process, fault, &context);
        touched.push(ProcessId::Server);
        match fault {
            Fault::Service(fault) => {
                if let Some(kind) = fault.kind() {
                    world.left.pay(kind);
                }
                P::apply_fault(world, fault, &context, out);
                return ProcessId::Server;
            }
            Fault::Crash(client) => {
                world.left.crashes -= u8::from(!self.is_mutated(KernelMutation::CrashIsFree));
                let host = &mut world.clients[client.place()];
                if host.process.belief().is_inside {
                    out.record(Fact::Left { client, why: Leaving::Crashed });
                }
                if !self.is_mutated(KernelMutation::CrashKeepsMemory) {
                    host.process = host.process.restarted(self);
                }
                host.condition = Condition::Down;
                touched.push(ProcessId::Client(client));
            }
            Fault::Restart(client) => {
                world.left.restarts -= 1;
                world.clients[client.place()].condition = Condition::Up;
                touched.push(ProcessId::Client(client));
            }
            Fault::Pause(process) => {
                world.left.pauses -= 1;
                set_condition(world, process, Condition::Paused);
                touched.push(process);
            }
            Fault::Resume(process) => {
                set_condition(world, process, Condition::Up);
                touched.push(process);
            }
            Fault::Cut(link) => {
                world.left.cuts -= 1;
                world.cuts.insert_sorted(link);
            }
            Fault::Heal(link) => {
                assert!(world.cuts.take(&link), "only a cut link can heal");
            }
            Fault::RestartResource => {
                world.left.resource_restarts -= 1;
                if !self.is_mutated(KernelMutation::RestartedResourceRemembers) {
                    world.resource = world.resource.restarted();
                }
            }
        }
        ProcessId::Resource
    }

    /// Sends the messages of the outbox; writes are stamped with the current tenure of their sender.
    fn post(
        &self,
        world: &mut World<P>,
        from: ProcessId,
        out: &Outbox<P>,
        stamps: Stamps<'_>,
    ) -> InlineVec<Envelope<P>, 2> {
        let more = Ticks::new(i64::from(self.is_mutated(KernelMutation::MessageDelayTooLong)));
        let due = self.synchrony.message_delay.map(|delay| Deadline(world.now + delay + more));
        let mut sent = InlineVec::new();
        for &(to, mut message) in &out.messages {
            if let (Some(tenure), Some(writer)) = (message.ghost(), from.client())
                && *tenure == Tenure::default()
            {
                *tenure = stamps.of(writer);
            }
            let envelope = Envelope { to, from, message, due };
            world.network.post(envelope);
            sent.push(envelope);
        }
        sent
    }

    /// Messages on a cut link are lost, if the scenario says so.
    fn drop_at_cuts(&self, world: &mut World<P>) -> InlineVec<Envelope<P>, 0> {
        if self.network.cuts == Cutting::Hold || world.cuts.is_empty() || self.is_mutated(KernelMutation::CutHolds) {
            return InlineVec::new();
        }
        let cuts = world.cuts.clone();
        world.network.drop_all(|link| self.network.is_among(&cuts, link))
    }
}

fn set_condition<P: Service>(world: &mut World<P>, process: ProcessId, condition: Condition) {
    match process {
        ProcessId::Client(client) => world.clients[client.place()].condition = condition,
        ProcessId::Server => world.server.condition = condition,
        ProcessId::Resource => panic!("the resource does not pause"),
    }
}
