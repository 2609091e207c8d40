//! A program as a client: what it may be told, what it waits for, what it believes.

use super::desk::Permit;
use super::execute::Executor;
use super::run::TaskRuns;
use super::shared::SharedState;
use super::state::{Name, Node, Open, Program, Task};
use super::{Alarm, Programmable, Start, UserCommand};
use crate::ids::{Call, ClientId};
use crate::process::{Belief, Client, Context, Input, Outbox, Process};
use crate::rounds;
use crate::scenario::Scenario;
use crate::time::{Deadline, Instant};

impl<S: Programmable> Program<S> {
    /// The client of a scenario at its start, if the scenario has a program for it.
    ///
    /// # Panics
    /// The program is not known here: validation should have refused the scenario.
    pub fn at_start(scenario: &Scenario<S>, client: ClientId) -> Option<Self> {
        let start = Start::of(&scenario.programs, client)?;
        Some(Program::fresh(&start, scenario.rounds, Call(0)))
    }

    fn fresh(start: &Start<'_>, rounds: u8, last: Call) -> Self {
        Program::of(Node {
            rounds,
            last,
            newest: None,
            is_waiting: false,
            is_idle: true,
            is_at_work: false,
            lease: None,
            renewed: None,
            nap: None,
            inside: None,
            tasks: vec![Task::new(start.script())],
            shared: SharedState::default(),
            stopped: None,
        })
    }

    /// Whether it said in this instant that it has [renewed](super::Handle::renewed) what it believes in.
    pub fn has_renewed(&self, now: Instant) -> bool {
        self.node().renewed.is_some_and(|renewed| renewed.covers(now))
    }

    /// Whether the recipe itself waits for a time, and no task for an answer or for chance.
    pub fn rests(&self) -> bool {
        let node = self.node();
        let is_asked = |open: Open| {
            matches!(open, Open::Answer(_) | Open::Unasked | Open::Resource(_) | Open::Random(_) | Open::Now)
        };
        let waits = |task: &Task<S>| {
            task.open.iter().any(|(_, open)| *open != Open::LeaseEnd && task.due(*open, node.lease).is_some())
        };
        node.nap.is_none() && node.first(is_asked).is_none() && node.tasks.first().is_some_and(waits)
    }

    /// Its process sleeps: none of its deadlines comes before that, or before it is told something else.
    #[must_use]
    pub fn asleep(self, until: Deadline) -> Self {
        match self.name {
            Name::Stored(name) => Program::of(Node { nap: Some(until), ..(*name.get()).clone() }),
            Name::InPlace(name) => {
                let sleep = |node: &mut Node<S>, _: &mut TaskRuns<S>| {
                    node.nap = Some(until);
                    true
                };
                Program { name: Name::InPlace(name.step(sleep)) }
            }
        }
    }

    /// Takes a step.
    pub(super) fn take(&mut self, input: Input<S>, context: &Context<'_, S>, out: &mut Outbox<S>) {
        let start =
            Start::of(&context.scenario.programs, context.client()).expect("a client that runs a program has one");
        match self.name {
            Name::Stored(name) => {
                let (mut node, mut runs) = ((*name.get()).clone(), TaskRuns::new());
                if Executor::step((&mut node, &mut runs), &start, input, context, out) {
                    node.keep(runs, context.client());
                    *self = Program::of(node);
                }
            }
            Name::InPlace(name) => {
                let step = |node: &mut Node<S>, runs: &mut TaskRuns<S>| {
                    Executor::step((node, runs), &start, input, context, out)
                };
                self.name = Name::InPlace(name.step(step));
            }
        }
    }
}

impl<S: Programmable> Process<S> for Program<S> {
    fn on(&mut self, input: Input<S>, context: &Context<'_, S>, out: &mut Outbox<S>) {
        self.take(input, context, out);
    }

    fn wakes(&self, _: &Scenario<S>, due: &mut dyn FnMut(S::Timer, Instant)) {
        let node = self.node();
        for (place, task) in (0..).zip(&node.tasks) {
            for (operation, open) in &task.open {
                if let Some(at) = task.due(*open, node.lease) {
                    let at = node.nap.map_or(at, |nap| nap.0.max(at));
                    due(S::timer(Alarm { task: place, operation: *operation }), at);
                }
            }
        }
    }

    fn choices(&self) -> u8 {
        let node = self.node();
        let mut all = node.tasks.iter().flat_map(|task| &task.open);
        all.find_map(|(_, open)| match open {
            Open::Random(options) => Some(*options),
            _ => None,
        })
        .unwrap_or(0)
    }

    /// What survives a crash: what its user still wants. The program begins as the scenario has it, and connections are new.
    fn restarted(&self, _: &Scenario<S>) -> Self {
        let node = self.node();
        let rounds = rounds::with_another(node.rounds, S::ASKS_AGAIN && !node.is_idle);
        Program::of(Node {
            rounds,
            is_idle: true,
            is_waiting: false,
            is_at_work: false,
            lease: None,
            renewed: None,
            nap: None,
            inside: None,
            tasks: Vec::new(),
            shared: SharedState::default(),
            ..(*node).clone()
        })
    }
}

impl<S: Programmable> Client<S> for Program<S> {
    fn commands(&self, _: &Context<'_, S>, offer: &mut dyn FnMut(S::Command)) {
        let node = self.node();
        if node.stopped.is_some() {
            return;
        }
        if node.is_idle {
            if node.rounds > 0 {
                offer(S::command(UserCommand::Acquire));
            }
        } else if node.first(|open| open == Open::User).is_some() {
            if node.inside.is_some_and(|inside| inside.writes > 0) {
                offer(S::command(UserCommand::Write));
            }
            offer(S::command(UserCommand::Release));
        }
        if !node.is_idle && node.first(|open| open == Open::Verification).is_some() {
            S::verification().into_iter().for_each(offer);
        }
    }

    fn belief(&self) -> Belief {
        let node = self.node();
        let is_inside = node.inside.is_some();
        let (slots, slot) = match node.inside.map(|inside| inside.permit) {
            None | Some(Permit::Lock) => (None, None),
            Some(Permit::OneOf(slots)) => (Some(slots), None),
            Some(Permit::Slot(slot)) => (None, Some(slot)),
        };
        Belief { is_inside, until: node.lease.filter(|_| is_inside), slots, slot, is_waiting: node.is_waiting }
    }

    fn is_at_work(&self) -> bool {
        self.node().is_at_work
    }

    fn panic(&self) -> Option<String> {
        Program::panic(self)
    }
}
