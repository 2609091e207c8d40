//! The client as a process: inputs, deadlines, commands and belief.

use super::{Call, Contender, ContenderStep, Ctx, Out};
use crate::messages::{Command, EtcdMessage, Request, Response, Timer};
use crate::rarely::Rarely;
use crate::settings::Reads;
use crate::{Etcd, EtcdEvent};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::RawId;
use fencepost_model::process::{Belief, Client, Input, Message, Process};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Instant;

impl Contender {
    fn command(&mut self, command: Command, context: &Ctx<'_>, out: Out<'_>) {
        match command {
            Command::Acquire => {
                rounds::take(&mut self.rounds);
                match self.session {
                    Some(_) => self.begin(context, out),
                    None => self.open(context, out),
                }
            }
            Command::Release => self.release(context, out),
            Command::Write => self.write(context, out),
            Command::Look => {
                rounds::take(&mut self.rounds);
                let call = self.send(Request::Holder, out);
                self.step = ContenderStep::Reading(call);
            }
        }
    }

    /// The call whose answer the step waits for.
    fn awaited(&self) -> Option<Call> {
        match self.step {
            ContenderStep::Opening(call, _)
            | ContenderStep::Nesting(call)
            | ContenderStep::Locking(call)
            | ContenderStep::Looking(call)
            | ContenderStep::Watching(call, ..)
            | ContenderStep::Checking(call)
            | ContenderStep::Withdrawing(call)
            | ContenderStep::Unlocking(call)
            | ContenderStep::Unnesting(call)
            | ContenderStep::Closing(call, _)
            | ContenderStep::Reading(call) => Some(call),
            ContenderStep::Idle | ContenderStep::Inside { .. } => None,
        }
    }

    /// Whether it is on its way to the lock.
    fn is_on_its_way(&self) -> bool {
        matches!(
            self.step,
            ContenderStep::Opening(..)
                | ContenderStep::Nesting(_)
                | ContenderStep::Locking(_)
                | ContenderStep::Looking(_)
                | ContenderStep::Watching(..)
                | ContenderStep::Checking(_)
        )
    }

    fn hear(&mut self, call: Call, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        let renewal = self.session.and_then(|session| session.renewal).filter(|renewal| renewal.call == call);
        if let Some(renewal) = renewal {
            self.hear_renewal(renewal, response, context, out);
        } else if self.own_watch == Some(call) {
            self.hear_own_watch(response, context, out);
        } else if self.awaited() == Some(call) {
            match (self.step, response) {
                (ContenderStep::Reading(_), Response::Holder(holder)) => {
                    self.step = ContenderStep::Idle;
                    out.record(Fact::Service(EtcdEvent::Read { client: context.client(), holder }));
                }
                _ if self.is_on_its_way() => self.hear_wait(response, context, out),
                _ => self.hear_end(response, context, out),
            }
        }
    }

    /// A holder learns that its own key is deleted.
    fn hear_own_watch(&mut self, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        self.own_watch = None;
        if response == Response::Disconnected {
            return self.watch_own_key(out);
        }
        self.leave(Leaving::Notified, context, out);
        self.finish(context, out);
    }
}

impl Process<Etcd> for Contender {
    fn on(&mut self, input: Input<Etcd>, context: &Ctx<'_>, out: Out<'_>) {
        match input {
            Input::Command(command) => self.command(command, context, out),
            Input::Message { message: Message::Service(EtcdMessage::Response(call, response)), .. } => {
                self.hear_write(call);
                self.hear(call, response, context, out);
            }
            Input::Message { message: Message::Written { to, .. }, .. } => self.hear_write(to),
            Input::Wake(Timer::Renewal) => self.renew(context, out),
            Input::Wake(Timer::SessionDone) => self.lose_session(Leaving::Lapsed, context, out),
            Input::Wake(Timer::Stop) => {
                self.leave(Leaving::Lapsed, context, out);
                self.finish(context, out);
            }
            // "If revoke takes longer than the ttl, lease is expired anyway" (E-CC-6).
            Input::Wake(Timer::Close) => self.step = ContenderStep::Idle,
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<Etcd>, due: &mut dyn FnMut(Timer, Instant)) {
        if let ContenderStep::Closing(_, Rarely(Some(limit))) = self.step {
            due(Timer::Close, limit.0);
        }
        let Some(session) = &self.session else { return };
        if let Some(next) = session.next {
            due(Timer::Renewal, next.0);
        }
        if let Some(done) = session.done {
            due(Timer::SessionDone, done.0);
        }
        if let (Some(stops), ContenderStep::Inside { .. }) = (session.stops, self.step) {
            due(Timer::Stop, stops.0);
        }
    }

    /// The memory is lost. The next session has another lease.
    fn restarted(&self, scenario: &Scenario<Etcd>) -> Self {
        let fresh = Contender::new(self.lease.raw().creator, scenario);
        Contender { rounds: self.rounds, call: self.call, lease: self.lease, ..fresh }
    }
}

impl Client<Etcd> for Contender {
    fn commands(&self, context: &Ctx<'_>, offer: &mut dyn FnMut(Command)) {
        match self.step {
            ContenderStep::Idle if self.rounds > 0 => {
                offer(Command::Acquire);
                if context.scenario.service.reads != Reads::Never {
                    offer(Command::Look);
                }
            }
            ContenderStep::Inside { writes, pending: None } => {
                if writes > 0 {
                    offer(Command::Write);
                }
                offer(Command::Release);
            }
            _ => {}
        }
    }

    fn belief(&self) -> Belief {
        Belief {
            is_inside: matches!(self.step, ContenderStep::Inside { .. }),
            is_waiting: self.is_on_its_way(),
            ..Belief::default()
        }
    }
}
