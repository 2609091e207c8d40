//! What the executor does with an operation that a task begins: what it waits for from now on, and what is sent for it.

use super::Programmable;
use super::clock::{ProgramClock, WallTime, is_short};
use super::desk::{Compared, Outcome, What};
use super::error::ProgramErrorKind;
use super::execute::{Event, Executor, TaskName};
use super::intern::Interned;
use super::names::ShowsReading;
use super::state::Open;
use crate::ids::{Call, ProcessId, RawId, SessionId, Token};
use crate::normal::Normal as _;
use crate::resource::Accepts;
use crate::service::Settings as _;
use crate::time::{Deadline, LeaseEnd, Ticks};
use crate::world::Horizon;

impl<S: Programmable> Executor<'_, S> {
    pub(super) fn begin(&mut self, place: usize, operation: u16, what: What<S>) {
        let (now, task) = (self.context.now, &self.node.tasks[place]);
        let name = self.name(place);
        let open = match what {
            What::Request(request) => Open::Answer(self.ask(place, request)),
            What::Listen => Open::Unasked,
            What::Write(target, compared) => {
                let token = self.sent(place, compared);
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
            What::ReadKey(key) => {
                let call = self.next_call();
                self.out.read_key(key, call);
                Open::Resource(call)
            }
            What::Sleep(ticks) => Open::At(Deadline(now + self.span(place, ticks))),
            What::Deadline(ticks) => Open::Deadline(LeaseEnd(now + self.span(place, ticks))),
            What::WallTime => {
                let time = self.known(place, self.clock().wall(now));
                self.at_once(name, operation, Outcome::WallTime(time.into()))
            }
            What::DeadlineAfter(time, ticks) => {
                let length = ticks.times(self.start.factor());
                let at = self.clock().shows_after(WallTime::from(time), length, self.longest());
                // How long ago it came is not known of a reading that was clamped.
                let back = Horizon::back(self.context.scenario);
                let at = self.known(place, at).max(now - back - Ticks::new(1));
                Open::Deadline(LeaseEnd(at))
            }
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
                let number = self.node.newest.map_or(0, |newest| newest.raw().number) + 1;
                let id = SessionId::numbered(creator, number);
                self.node.newest = Some(id);
                self.at_once(name, operation, Outcome::Unique(id))
            }
            What::Random(options) => Open::Random(options),
            What::User => Open::User,
            What::Verification => Open::Verification,
            What::Ended(other) if self.place(Some(other)).is_none() => self.at_once(name, operation, Outcome::Ended),
            What::Ended(other) => Open::Ended(Interned::new(other.to_owned())),
            What::Cell(of) => {
                let value = self.node.shared.cell(of);
                self.at_once(name, operation, Outcome::Shared(value))
            }
            What::Change(of) => Open::Change(Interned::new(of.to_owned())),
            What::Message(of) => {
                if self.node.shared.has_message(of) {
                    self.events.push_back(Event::Deliver(name, operation));
                }
                Open::Message(Interned::new(of.to_owned()))
            }
            What::LeaseEnd => Open::LeaseEnd,
        };
        self.node.tasks[place].open.push((operation, open));
    }

    /// Something that the client knows already.
    fn at_once(&mut self, name: TaskName, operation: u16, outcome: Outcome<S>) -> Open {
        self.events.push_back(Event::Tell(name, operation, outcome));
        Open::Now
    }

    fn clock(&self) -> ProgramClock {
        S::clock(&self.context.scenario.service, self.context.client())
    }

    /// The longest span that the service counts from a start time.
    fn longest(&self) -> Ticks {
        self.context.scenario.service.longest()
    }

    /// True ticks of the scenario, in which the clock of the client shows that many ticks of the program more.
    fn span(&self, place: usize, ticks: Ticks) -> Ticks {
        self.known(place, self.clock().span(ticks.times(self.start.factor())))
    }

    /// What the scenario says of its clocks; otherwise the program is refused.
    fn known<T>(&self, place: usize, found: Result<T, String>) -> T {
        found.unwrap_or_else(|error| self.node.tasks[place].script.fail(ProgramErrorKind::Clock(error)))
    }

    pub(super) fn ask(&mut self, place: usize, mut request: S::Request) -> Call {
        let mut readings = ShowsReading(false);
        request.visit(&mut readings);
        let mut is_known = Ok(());
        S::durations(&mut request, &mut |ticks| {
            *ticks = ticks.times(self.start.factor());
            if readings.0 && is_known.is_ok() {
                is_known = is_short(*ticks, self.longest());
            }
        });
        self.known(place, is_known);
        if let Some(why) = S::refuses(self.context, &request) {
            self.node.tasks[place].script.fail(ProgramErrorKind::Request(why));
        }
        let call = self.next_call();
        self.out.send(ProcessId::Server, S::ask(call, request));
        call
    }

    /// What goes with a write. A resource that counts its writes has nothing to compare with a token.
    pub(super) fn sent(&self, place: usize, compared: Compared) -> Token {
        match compared {
            Compared::Version(version) => version.to_token(),
            Compared::Token(_) if self.context.scenario.resource == Accepts::Unchanged => {
                self.node.tasks[place].script.fail(ProgramErrorKind::NoVersion)
            }
            Compared::Token(token) => token,
        }
    }

    fn next_call(&mut self) -> Call {
        self.node.last = self.node.last.next();
        self.node.last
    }
}
