//! The executor of one step: it tells tasks what they wait for, one thing after the other, and does what they do.

use std::collections::VecDeque;

use super::cut;
use super::desk::{Outcome, Output};
use super::error::ProgramErrorKind;
use super::kind::LapValue;
use super::lap_script::LapScript;
use super::run::TaskRuns;
use super::shared::SharedState;
use super::state::{Inside, Node, Open, Stop, Task};
use super::{Gone, Lap, Programmable, Start, TOLD_MAX, UserCommand};
use crate::fact::{Fact, Leaving};
use crate::ids::Call;
use crate::process::{Context, Input, Message, Outbox};
use crate::rounds;
use crate::time::{LeaseEnd, Ticks};

/// What has to be done yet in this step.
pub(super) enum Event<S: Programmable> {
    /// The lap of this task begins.
    Begin(TaskName),
    /// This operation of a task has come to something.
    Tell(TaskName, u16, Outcome<S>),
    /// If this operation of a task still waits for a message, and there is one, it receives it.
    Deliver(TaskName, u16),
}

impl<S: Programmable> Event<S> {
    /// The task that it is about.
    fn task(&self) -> TaskName {
        match self {
            Event::Begin(name) | Event::Tell(name, ..) | Event::Deliver(name, _) => *name,
        }
    }
}

/// The recipe itself, or what it has spawned.
pub(super) type TaskName = Option<&'static str>;

/// A program that does more in one step does not wait.
const EVENTS_MAX: u32 = 256;

pub(super) struct Executor<'a, S: Programmable> {
    pub(super) node: &'a mut Node<S>,
    /// Of tasks that took part in this step, or that were at hand before it.
    runs: &'a mut TaskRuns<S>,
    /// The value after a lap that has just ended, if it was encoded.
    encoded: Option<LapValue>,
    pub(super) events: VecDeque<Event<S>>,
    pub(super) context: &'a Context<'a, S>,
    pub(super) start: &'a Start<'a>,
    pub(super) out: &'a mut Outbox<S>,
}

impl<'a, S: Programmable> Executor<'a, S> {
    /// Takes a step with the runs that are at hand; those of its tasks are there afterwards. False: nothing waits for the input,
    /// and nothing is changed.
    pub(super) fn step(
        (node, runs): (&'a mut Node<S>, &'a mut TaskRuns<S>),
        start: &'a Start<'a>,
        input: Input<S>,
        context: &'a Context<'a, S>,
        out: &'a mut Outbox<S>,
    ) -> bool {
        let mut executor = Executor { node, runs, encoded: None, events: VecDeque::new(), context, start, out };
        let Some(heard) = executor.hear(input) else { return false };
        executor.node.nap = None;
        let mut next = Some(heard);
        for done in 0.. {
            let Some(event) = next.take().or_else(|| executor.events.pop_front()) else { break };
            let Some(place) = executor.place(event.task()) else { continue };
            if done > EVENTS_MAX {
                executor.node.tasks[place].script.fail(ProgramErrorKind::NeverWaits);
            }
            match event {
                Event::Begin(_) => executor.go_on(place, None),
                Event::Tell(_, operation, outcome) => executor.tell(place, operation, outcome),
                Event::Deliver(_, operation) => executor.deliver(place, operation),
            }
        }
        let Executor { node, runs, .. } = executor;
        runs.retain(|(name, _)| node.place(*name).is_some());
        true
    }

    /// What an input has to do with the program; none if nothing waits for it.
    fn hear(&mut self, input: Input<S>) -> Option<Event<S>> {
        if self.node.stopped.is_some() {
            return None;
        }
        let (place, operation, outcome) = match input {
            Input::Command(command) if S::verification() == Some(command) => {
                let (place, operation) = self.node.first(|open| open == Open::Verification)?;
                (place, operation, Outcome::Over)
            }
            Input::Command(command) => match S::user_command(&command)? {
                UserCommand::Acquire if self.node.is_idle && self.node.rounds > 0 => {
                    rounds::take(&mut self.node.rounds);
                    (self.node.is_idle, self.node.is_waiting) = (false, true);
                    if self.node.tasks.is_empty() {
                        // It has crashed since.
                        self.node.tasks.push(Task::new(self.start.script::<S>()));
                    }
                    return Some(Event::Begin(None));
                }
                UserCommand::Acquire => return None,
                command => {
                    let (place, operation) = self.node.first(|open| open == Open::User)?;
                    if command == UserCommand::Write {
                        self.node.inside.as_mut()?.writes -= 1;
                    }
                    (place, operation, Outcome::User(command))
                }
            },
            Input::Wake(timer) => {
                let alarm = S::alarm(&timer)?;
                let task = self.node.tasks.get(usize::from(alarm.task))?;
                task.due(task.open(alarm.operation)?, self.node.lease)?;
                (alarm.task.into(), alarm.operation, Outcome::Over)
            }
            Input::Choice(option) => {
                let (place, operation) = self.node.first(|open| matches!(open, Open::Random(_)))?;
                (place, operation, Outcome::Chosen(option))
            }
            Input::Message { message, .. } => self.answered(&message)?,
        };
        Some(Event::Tell(self.name(place), operation, outcome))
    }

    /// Which operation a message answers.
    fn answered(&self, message: &Message<S>) -> Option<(usize, u16, Outcome<S>)> {
        let resource = |call: Call| self.node.first(|open| open == Open::Resource(call));
        let ((place, operation), outcome) = match message {
            Message::Service(message) => {
                let (call, mut answer) = S::answer(message)?;
                let factor = self.start.factor();
                S::answered_durations(&mut answer, &mut |ticks| *ticks = Ticks::new(ticks.count() / factor));
                let asked = |open| matches!(open, Open::Answer(open) if call.is_none_or(|call| call == open));
                let unasked = |open| call.is_none() && open == Open::Unasked;
                let open = self.node.first(unasked).or_else(|| self.node.first(asked))?;
                (open, Outcome::Answer(answer))
            }
            Message::Version { to, version } => (resource(*to)?, Outcome::Version(*version)),
            Message::Written { to, accepted } => (resource(*to)?, Outcome::Is(*accepted)),
            Message::QueueItem { to, item } => (resource(*to)?, Outcome::Item(*item)),
            Message::Write(_) | Message::Read(_) | Message::ReadKey { .. } | Message::NextItem { .. } => return None,
        };
        Some((place, operation, outcome))
    }

    /// Tells a task what came of an operation, unless it has dropped that.
    fn tell(&mut self, place: usize, operation: u16, outcome: Outcome<S>) {
        let task = &mut self.node.tasks[place];
        if task.open(operation).is_none() {
            return;
        }
        task.close(operation);
        if task.script.length() >= usize::from(TOLD_MAX) {
            if let Some(place) = task.script.place() {
                cut::note(self.context.scenario, place);
            }
            return self.stop(Stop::Cut, Fact::Cut { client: self.context.client() });
        }
        self.go_on(place, Some((operation, outcome)));
    }

    /// Gives a task the oldest message, if it still waits for one of that type and there is one.
    fn deliver(&mut self, place: usize, operation: u16) {
        let Some(Open::Message(name)) = self.node.tasks[place].open(operation) else { return };
        if let Some(message) = self.node.shared.receive(&name.get()) {
            self.tell(place, operation, Outcome::Shared(Some(message)));
        }
    }

    /// Tells every operation that waits for something that it has come.
    fn tell_all(&mut self, waits: impl Fn(Open) -> bool, tell: impl Fn(TaskName, u16) -> Event<S>) {
        for (place, task) in self.node.tasks.iter().enumerate() {
            for (operation, _) in task.open.iter().filter(|(_, open)| waits(*open)) {
                self.events.push_back(tell(self.name(place), *operation));
            }
        }
    }

    /// Lets a task run until it waits.
    fn go_on(&mut self, place: usize, told: Option<(u16, Outcome<S>)>) {
        let (me, name) = (self.context.client(), self.name(place));
        let running = self.runs.iter().position(|(other, _)| *other == name);
        let running = running.map(|running| self.runs.swap_remove(running).1);
        let script = &mut self.node.tasks[place].script;
        let mut run = match told {
            None => script.begin(me, running),
            Some(_) => running.unwrap_or_else(|| script.restored(me)),
        };
        if let Some((operation, outcome)) = told {
            script.tell(operation, outcome);
        }
        let mut outputs = run.poll(script.kind(), told, script.at_end());
        script.compare(&outputs);
        let is_over = matches!(outputs.last(), Some(Output::End(..) | Output::Panic(_)));
        if !is_over || run.is_between() {
            self.runs.push((name, run));
        } else {
            self.encoded = run.encoded();
        }
        for output in outputs.drain(..) {
            // Something that it did may have stopped it.
            let Some(place) = self.place(name) else { return };
            self.carry_out(place, output);
        }
        if let Some((_, run)) = self.runs.iter_mut().find(|(other, _)| *other == name) {
            run.recycle(outputs);
        }
        let Some(place) = self.place(name) else { return };
        let waits = self.node.tasks[place].open.iter().any(|(_, open)| !matches!(open, Open::Deadline(_)));
        if !is_over && !waits && !self.events.iter().any(|event| event.task() == name) {
            self.node.tasks[place].script.fail(ProgramErrorKind::WaitsForNothing);
        }
    }

    fn carry_out(&mut self, place: usize, output: Output<S>) {
        let client = self.context.client();
        match output {
            Output::Begin(operation, what) => self.begin(place, operation, what),
            Output::Drop(operation) => self.node.tasks[place].close(operation),
            Output::Work(is_at_work) => self.node.is_at_work = is_at_work,
            Output::Enter(token, permit) => {
                self.node.inside = Some(Inside { token, permit, writes: self.context.scenario.writes });
                self.node.is_waiting = false;
                self.out.record(Fact::Entered { client, token });
            }
            Output::Leave(why) => self.leave(why),
            Output::Lease(deadline) => {
                self.node.lease = deadline.and_then(|deadline| self.node.tasks[place].deadline(deadline));
            }
            Output::LeaseBefore(deadline) => {
                let end = self.node.tasks[place].deadline(deadline);
                let tick = Ticks::new(self.start.factor());
                self.node.lease = end.map(|end| LeaseEnd(end.0 - tick));
            }
            Output::Renewed => self.node.renewed = Some(LeaseEnd(self.context.now)),
            Output::Write(target, compared) => {
                let token = self.sent(place, compared);
                self.out.write_to(target, token, None);
            }
            Output::Send(request) => match S::fact(client, &request) {
                Some(fact) => self.out.record(fact),
                None => {
                    self.ask(place, request);
                }
            },
            Output::Spawn(kind, head) => {
                self.remove(Some(kind.name));
                let is_before = |task: &Task<S>| task.script.kind().name < kind.name;
                let rank = self.node.tasks[1..].iter().take_while(|task| is_before(task)).count();
                self.node.tasks.insert(1 + rank, Task::new(LapScript::head(kind, head)));
                self.events.push_back(Event::Begin(Some(kind.name)));
            }
            Output::Stop(name) => self.end(name),
            Output::Set(value) => {
                self.node.shared.set(value);
                let waits = |open| matches!(open, Open::Change(name) if *name.get() == value.name());
                self.tell_all(waits, |name, operation| Event::Tell(name, operation, Outcome::Shared(Some(value))));
            }
            Output::Post(message) => {
                if let Err(name) = self.node.shared.post(message) {
                    self.node.tasks[place].script.fail(ProgramErrorKind::Unread(name));
                }
                let waits = |open| matches!(open, Open::Message(name) if *name.get() == message.name());
                self.tell_all(waits, Event::Deliver);
            }
            Output::End(head, end) => self.lap_is_over(place, head, end),
            Output::Panic(message) => self.stop(Stop::Panicked(message), Fact::Panicked { client }),
        }
    }

    fn lap_is_over(&mut self, place: usize, head: String, end: Result<Lap, Gone>) {
        let (name, kind) = (self.name(place), self.node.tasks[place].script.kind());
        self.forget(name);
        match (name, end) {
            (_, Ok(Lap::Again)) => {
                let task = &mut self.node.tasks[place];
                task.script.next_lap(head, self.encoded.take());
                task.open.clear();
                self.events.push_back(Event::Begin(name));
            }
            (Some(name), Ok(Lap::Done) | Err(Gone)) => self.end(name),
            (None, Ok(Lap::Done)) if self.node.rounds > 0 => self.rest(LapScript::head(kind, head)),
            (None, end) => {
                if self.node.inside.is_some() {
                    self.leave(if end.is_ok() { Leaving::Done } else { Leaving::Notified });
                }
                self.node.tasks.truncate(1);
                self.node.lease = None;
                self.node.shared = SharedState::default();
                self.rest(self.start.script::<S>());
            }
        }
    }

    /// Until its user wants the lock again.
    fn rest(&mut self, script: LapScript<S>) {
        (self.node.is_idle, self.node.is_waiting, self.node.is_at_work) = (true, false, false);
        self.node.tasks[0] = Task::new(script);
    }

    fn leave(&mut self, why: Leaving) {
        self.node.renewed = None;
        if self.node.inside.take().is_some() {
            self.out.record(Fact::Left { client: self.context.client(), why });
        }
    }

    /// Ends a task, and tells those that wait for that.
    fn end(&mut self, name: &'static str) {
        if !self.remove(Some(name)) {
            return;
        }
        let waits = |open| matches!(open, Open::Ended(other) if *other.get() == name);
        self.tell_all(waits, |name, operation| Event::Tell(name, operation, Outcome::Ended));
    }

    fn remove(&mut self, name: TaskName) -> bool {
        let Some(place) = self.place(name) else { return false };
        self.node.tasks.remove(place);
        self.runs.retain(|(other, _)| *other != name);
        self.forget(name);
        true
    }

    /// The program takes no part any more.
    fn stop(&mut self, why: Stop, fact: Fact<S>) {
        self.leave(Leaving::Crashed);
        self.out.record(fact);
        self.events.clear();
        self.runs.clear();
        self.node.tasks.clear();
        self.node.shared = SharedState::default();
        (self.node.is_waiting, self.node.is_at_work) = (false, false);
        (self.node.lease, self.node.stopped) = (None, Some(why));
    }

    /// What a lap was to be told is for no other lap.
    fn forget(&mut self, name: TaskName) {
        self.events.retain(|event| event.task() != name || matches!(event, Event::Begin(_)));
    }

    pub(super) fn name(&self, place: usize) -> TaskName {
        (place > 0).then(|| self.node.tasks[place].script.kind().name)
    }

    pub(super) fn place(&self, name: TaskName) -> Option<usize> {
        self.node.place(name)
    }
}
