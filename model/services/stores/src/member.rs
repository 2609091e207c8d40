//! The client: it sends the requests of its recipe step by step, enters when the store gives it a slot, and releases
//! the slot.

use serde::{Deserialize, Serialize};

use super::messages::{Answer, Command, Request, StoreMessage, Timer};
use super::settings::{GiveBack, Joins, Nodes, Sequence};
use super::{QUEUE, RANKED, Stores, TOKENS};
use crate::StoresMutation;
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, Index, ProcessId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, LeaseEnd, StartTime};

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Member {
    phase: Phase,
    /// Its entry in the queue while it waits; 0: none.
    entry: Index,
    /// The number of its last call.
    call: Call,
    rounds: u8,
    /// How often it may still repeat a request that was not answered.
    retries: u8,
    limit: u8,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    Idle,
    /// A request is in flight, on the last call.
    Asking {
        request: Request,
        give_up: Option<Deadline>,
        /// The end of the lease if the store gives it a slot now.
        until: Option<LeaseEnd>,
    },
    /// It was refused, and asks again later.
    Waiting {
        retry: Deadline,
    },
    Inside {
        number: Index,
        until: Option<LeaseEnd>,
    },
    /// It has left, and its release is in flight on the last call: it sends no request before the response arrives.
    Leaving {
        request: Request,
        give_up: Option<Deadline>,
    },
}

impl Member {
    pub(super) fn new(scenario: &Scenario<Stores>) -> Self {
        let (rounds, retries, limit) = (scenario.rounds, scenario.budget.retries, scenario.service.limit);
        Member { phase: Phase::Idle, entry: Index::NONE, call: Call(0), rounds, retries, limit }
    }

    /// Sends a request; returns the deadline at which it is given up.
    fn send(&mut self, request: Request, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) -> Option<Deadline> {
        self.call = self.call.next();
        out.send(ProcessId::Server, StoreMessage::Request(self.call, request));
        context.scenario.service.patience.map(|patience| Deadline(context.now + patience))
    }

    fn ask(&mut self, request: Request, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        let give_up = self.send(request, context, out);
        let until = match request {
            Request::Take => context.scenario.service.ttl_of(context.client()).map(|ttl| LeaseEnd(context.now + ttl)),
            _ => None,
        };
        self.phase = Phase::Asking { request, give_up, until };
    }

    fn say(&mut self, request: Request, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        let give_up = self.send(request, context, out);
        self.phase = Phase::Leaving { request, give_up };
    }

    /// The first request for a slot.
    fn first(&self, context: &Context<'_, Stores>) -> Request {
        let settings = &context.scenario.service;
        match &*context.scenario.system {
            QUEUE => Request::Enqueue { named: settings.nodes == Nodes::Named },
            RANKED => match (settings.sequence, settings.joins) {
                (Sequence::Timestamps, _) => Request::Join(Some(StartTime(context.now))),
                (Sequence::Tickets, Joins::Atomic) => Request::Join(None),
                (Sequence::Tickets, Joins::StepByStep) => Request::Draw,
            },
            _ => Request::Take,
        }
    }

    fn retry(&mut self, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        let request = match self.entry {
            Index::NONE if context.scenario.service.stale_after.is_some() => Request::Reap,
            Index::NONE => self.first(context),
            entry => Request::Place(entry),
        };
        self.ask(request, context, out);
    }

    fn wait(&mut self, context: &Context<'_, Stores>) {
        self.phase = Phase::Waiting { retry: Deadline(context.now + context.scenario.service.retry_every) };
    }

    fn enter(
        &mut self,
        number: Index,
        until: Option<LeaseEnd>,
        context: &Context<'_, Stores>,
        out: &mut Outbox<Stores>,
    ) {
        if until.is_some_and(|until| !until.covers(context.now)) {
            return self.wait(context);
        }
        self.entry = Index::NONE;
        self.phase = Phase::Inside { number, until };
        out.record(Fact::Entered { client: context.client(), token: number.token() });
    }

    fn hear(
        &mut self,
        request: Request,
        until: Option<LeaseEnd>,
        answer: Answer,
        context: &Context<'_, Stores>,
        out: &mut Outbox<Stores>,
    ) {
        let beyond = u8::from(context.is_mutated(StoresMutation::RankBeyondLimit));
        match (request, answer) {
            (Request::Take, Answer::Number(number)) => self.enter(number, until, context, out),
            (Request::Reap, _) => self.ask(self.first(context), context, out),
            (Request::Draw, Answer::Number(number)) => self.ask(Request::Insert(number), context, out),
            (Request::Insert(number), _) | (Request::Enqueue { .. }, Answer::Number(number)) => {
                self.ask(Request::Place(number), context, out);
            }
            (_, Answer::Placed(number, before)) if before < self.limit + beyond => {
                self.enter(number, None, context, out)
            }
            (_, Answer::Placed(number, _)) if context.scenario.system == QUEUE => {
                self.entry = number;
                self.wait(context);
            }
            (_, Answer::Placed(..)) if context.is_mutated(StoresMutation::RankKept) => self.wait(context),
            (_, Answer::Placed(number, _)) => self.ask(Request::Remove(number), context, out),
            _ => {
                self.entry = Index::NONE;
                self.wait(context);
            }
        }
    }

    fn leave(&mut self, number: Index, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        out.record(Fact::Left { client: context.client(), why: Leaving::Done });
        let request = match context.scenario.service.give_back {
            _ if context.scenario.system != TOKENS => Request::Remove(number),
            GiveBack::Unconditional => Request::Push(number),
            GiveBack::CheckThenPush => Request::Check(number),
            GiveBack::Conditional => Request::GiveBack(number),
        };
        self.say(request, context, out);
    }
}

impl Process<Stores> for Member {
    fn on(&mut self, input: Input<Stores>, context: &Context<'_, Stores>, out: &mut Outbox<Stores>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Acquire)) => {
                rounds::take(&mut self.rounds);
                self.ask(self.first(context), context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.retry(context, out),
            (Phase::Asking { request, .. }, Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.ask(request, context, out);
            }
            (Phase::Leaving { request, .. }, Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.say(request, context, out);
            }
            (
                Phase::Leaving { request, .. },
                Input::Message { message: Message::Service(StoreMessage::Response(call, answer)), .. },
            ) if call == self.call => match (request, answer) {
                (Request::Check(number), Answer::Yes) => self.say(Request::Push(number), context, out),
                _ => self.phase = Phase::Idle,
            },
            (
                Phase::Asking { request, until, .. },
                Input::Message { message: Message::Service(StoreMessage::Response(call, answer)), .. },
            ) if call == self.call => self.hear(request, until, answer, context, out),
            (Phase::Inside { number, .. }, Input::Command(Command::Release)) => self.leave(number, context, out),
            (Phase::Inside { .. }, Input::Wake(Timer::Lapse)) => {
                self.phase = Phase::Idle;
                out.record(Fact::Left { client: context.client(), why: Leaving::Lapsed });
            }
            // A response that the client no longer waits for.
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<Stores>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Waiting { retry } => due(Timer::Retry, retry.0),
            Phase::Asking { give_up: Some(at), .. } | Phase::Leaving { give_up: Some(at), .. } if self.retries > 0 => {
                due(Timer::GiveUp, at.0);
            }
            Phase::Inside { until: Some(until), .. } => due(Timer::Lapse, until.0),
            _ => {}
        }
    }

    /// Its user starts the round again in which the client crashed.
    fn restarted(&self, _: &Scenario<Stores>) -> Self {
        let rounds = rounds::with_another(self.rounds, self.phase != Phase::Idle);
        Member { phase: Phase::Idle, entry: Index::NONE, rounds, ..*self }
    }
}

impl Client<Stores> for Member {
    fn commands(&self, _: &Context<'_, Stores>, offer: &mut dyn FnMut(Command)) {
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Acquire),
            Phase::Inside { .. } => offer(Command::Release),
            _ => {}
        }
    }

    fn belief(&self) -> Belief {
        match self.phase {
            Phase::Inside { until, .. } => {
                Belief { is_inside: true, until, slots: Some(self.limit.into()), ..Belief::default() }
            }
            Phase::Idle | Phase::Leaving { .. } => Belief::default(),
            Phase::Asking { .. } | Phase::Waiting { .. } => Belief { is_waiting: true, ..Belief::default() },
        }
    }
}
