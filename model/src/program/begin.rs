//! What the executor does with an operation that a task begins: what it waits for from now on, and what is sent for it.

use super::Programmable;
use super::desk::{Outcome, What};
use super::execute::{Event, Executor, TaskName};
use super::intern::Interned;
use super::state::Open;
use crate::ids::{Call, ProcessId, SessionId};
use crate::time::{Deadline, LeaseEnd, Ticks};

impl<S: Programmable> Executor<'_, S> {
    pub(super) fn begin(&mut self, place: usize, operation: u16, what: What<S>) {
        let (now, task) = (self.context.now, &self.node.tasks[place]);
        let length = |ticks: Ticks| ticks.times(self.start.factor());
        let name = self.name(place);
        let open = match what {
            What::Request(request) => Open::Answer(self.ask(request)),
            What::Listen => Open::Unasked,
            What::Write(target, token) => {
                let call = self.next_call();
                self.out.write_to(target, token, Some(call));
                Open::Resource(call)
            }
            What::Item(takes) => {
                let call = self.next_call();
                self.out.next_item(call, takes);
                Open::Resource(call)
            }
            What::Read => {
                let call = self.next_call();
                self.out.read(call);
                Open::Resource(call)
            }
            What::Sleep(ticks) => Open::At(Deadline(now + length(ticks))),
            What::Deadline(ticks) => Open::Deadline(LeaseEnd(now + length(ticks))),
            What::Until(deadline) => Open::Until(deadline),
            What::IsOver(deadline) => {
                let is_over = task.deadline(deadline).is_some_and(|at| !at.covers(now));
                self.at_once(name, operation, Outcome::Is(is_over))
            }
            What::HasCome(deadline) => {
                let has_come = task.deadline(deadline).is_some_and(|at| now >= at.0);
                self.at_once(name, operation, Outcome::Is(has_come))
            }
            What::LeaseHasCome => {
                let has_come = self.node.lease.is_some_and(|at| now >= at.0);
                self.at_once(name, operation, Outcome::Is(has_come))
            }
            What::LeaseIsOver => {
                let is_over = self.node.lease.is_some_and(|at| !at.covers(now));
                self.at_once(name, operation, Outcome::Is(is_over))
            }
            What::Unique => {
                let creator = self.context.client();
                let number = self.node.newest.map_or(0, |newest| newest.number) + 1;
                let id = SessionId { creator, number };
                self.node.newest = Some(id);
                self.at_once(name, operation, Outcome::Unique(id))
            }
            What::Random(options) => Open::Random(options),
            What::User => Open::User,
            What::Verification => Open::Verification,
            What::Ended(other) if self.place(Some(other)).is_none() => self.at_once(name, operation, Outcome::Ended),
            What::Ended(other) => Open::Ended(Interned::new(other.to_owned())),
            What::LeaseEnd => Open::LeaseEnd,
        };
        self.node.tasks[place].open.push((operation, open));
    }

    /// Something that the client knows already.
    fn at_once(&mut self, name: TaskName, operation: u16, outcome: Outcome<S>) -> Open {
        self.events.push_back(Event::Tell(name, operation, outcome));
        Open::Now
    }

    pub(super) fn ask(&mut self, mut request: S::Request) -> Call {
        S::durations(&mut request, &mut |ticks| *ticks = ticks.times(self.start.factor()));
        let call = self.next_call();
        self.out.send(ProcessId::Server, S::ask(call, request));
        call
    }

    fn next_call(&mut self) -> Call {
        self.node.last = self.node.last.next();
        self.node.last
    }
}
