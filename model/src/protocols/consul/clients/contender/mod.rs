//! The lock recipe: create a session, acquire the key, read back the sequencer, work, release, perhaps clean up.
//! Leader election is the same recipe with a name in the key.

mod tenure;

use serde::{Deserialize, Serialize};

use super::ask;
use super::membership::{Membership, News, lease_from, overstay};
use crate::fact::{Fact, Leaving};
use crate::ids::{Call, ClientId, SessionId, Token};
use crate::mutation::Mutation;
use crate::process::{Belief, Context, Input, Message, Outbox};
use crate::protocols::consul::settings::{self, Release, Sequencer, SessionUse};
use crate::protocols::consul::{Answer, Claim, Consul, Entry, LOCK, Opaque, Request, Text, Timer, Wish};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::world::normal::{Normal, Visitor};

/// A client that wants the lock.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Contender {
    phase: Phase,
    session: Option<Membership>,
    /// How often the user may still ask for the lock.
    rounds: u8,
    /// How many requests may still be given up and sent anew.
    retries: u8,
    /// The number of the newest call.
    last: Call,
}

/// Where it stands.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// The user wants nothing.
    Idle,
    /// Refused, or without a session again; it tries anew.
    Waiting { retry: Instant },
    /// A request is under way that decides how it goes on.
    Calling { call: Call, what: What, give_up: Option<Instant> },
    /// It believes that it has the lock. `pending` is the write whose answer it awaits.
    Inside { token: Token, writes: u8, pending: Option<Call> },
}

/// What the request is about.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// A session. The lease counts from here, not from the answer.
    Create { until_if_created: Option<Instant> },
    /// The lock.
    Acquire,
    /// The entry, for the sequencer.
    ReadBack,
    /// Giving the lock up; whether it goes on acting meanwhile.
    Release { is_inside: bool },
    /// The entry, for its ModifyIndex, before cleaning up.
    Look,
    /// Removing the key.
    Remove,
}

impl Contender {
    pub(in crate::protocols::consul) fn new(scenario: &Scenario<Consul>, shared: Option<SessionId>) -> Self {
        Contender {
            phase: Phase::Idle,
            session: shared.map(Membership::shared),
            rounds: scenario.rounds,
            retries: scenario.budget.retries,
            last: Call(0),
        }
    }

    pub(super) fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Wish::Acquire)) => {
                self.rounds -= 1;
                self.attempt(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.attempt(context, out),
            (Phase::Inside { .. }, Input::Command(Wish::Write)) => self.write(context, out),
            (Phase::Inside { .. }, Input::Command(Wish::Release)) => self.release(context, out),
            (_, Input::Wake(Timer::Lapse)) => self.leave(Leaving::Lapsed, context, out),
            (_, Input::Wake(Timer::Renew)) => self.renew(context, out),
            (Phase::Calling { what, .. }, Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.repeat(what, context, out);
            }
            (
                Phase::Calling { call, what, .. },
                Input::Message { message: Message::Service(Text::Tell(to, answer)), .. },
            ) if to == call => {
                self.hear(what, answer, context, out);
            }
            (_, Input::Message { message: Message::Service(Text::Tell(to, answer)), .. }) => {
                self.hear_renewal(to, answer, context, out)
            }
            (_, Input::Message { message: Message::Written { to, accepted }, .. }) => {
                self.hear_resource(to, accepted, context, out)
            }
            // Timers that were overtaken; requests are not for clients.
            _ => {}
        }
    }

    /// Asks for a session if it has none, else for the lock.
    fn attempt(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        let Some(session) = self.session else {
            if settings.session == SessionUse::Shared {
                return self.rest();
            }
            let what = What::Create { until_if_created: lease_from(context) };
            return self.call(what, Request::CreateSession(settings.terms()), context, out);
        };
        let value = if settings.names_leader { Opaque::Name(me(context)) } else { Opaque::Empty };
        self.call(
            What::Acquire,
            Request::Acquire(Claim { key: LOCK, session: session.id, value, flags: 0 }),
            context,
            out,
        );
    }

    fn call(&mut self, what: What, request: Request, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let call = ask(&mut self.last, request, out);
        let give_up =
            context.scenario.service.patience.filter(|_| self.retries > 0).map(|patience| context.now + patience);
        self.phase = Phase::Calling { call, what, give_up };
    }

    /// Sends anew what was not answered, on a new connection.
    fn repeat(&mut self, what: What, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match what {
            What::Create { .. } | What::Acquire => self.attempt(context, out),
            What::ReadBack => self.call(what, Request::Get(LOCK), context, out),
            What::Release { is_inside } => self.send_release(is_inside, context, out),
            What::Look | What::Remove => self.rest(),
        }
    }

    fn hear(&mut self, what: What, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (what, answer) {
            (What::Create { until_if_created }, Answer::Created(id)) => {
                self.session = Some(Membership::new(id, until_if_created, context));
                self.attempt(context, out);
            }
            (What::Acquire, Answer::Done(true)) if context.scenario.service.sequencer == Sequencer::None => {
                self.enter(Token(0), context, out);
            }
            (What::Acquire, Answer::Done(true)) => self.call(What::ReadBack, Request::Get(LOCK), context, out),
            (What::Acquire, Answer::InvalidSession) => {
                self.session = None;
                self.wait(context);
            }
            (What::ReadBack, Answer::Found(entry)) if self.is_mine(&entry) => {
                self.enter(context.scenario.service.token(&entry), context, out);
            }
            (What::Acquire, _) => self.wait(context),
            // Lost again before it could enter: the round is over, which bounds LockIndex by the rounds.
            (What::ReadBack, _) => self.rest(),
            (What::Release { is_inside }, _) => {
                if is_inside {
                    out.record(Fact::Left { client: me(context), why: Leaving::Done });
                }
                self.finish(context, out);
            }
            // C-LCK-10: absent or in use means that there is nothing to clean up.
            (What::Look, Answer::Found(Entry { session: None, modify, .. })) => {
                self.call(What::Remove, Request::DeleteCas { key: LOCK, index: modify }, context, out);
            }
            (What::Create { .. } | What::Look | What::Remove, _) => self.rest(),
        }
    }

    fn is_mine(&self, entry: &Entry) -> bool {
        self.session.is_some_and(|session| entry.session == Some(session.id))
    }

    fn wait(&mut self, context: &Context<'_, Consul>) {
        self.phase = Phase::Waiting { retry: context.now + context.scenario.service.retry_every };
    }

    fn renew(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Contender { session: Some(session), last, retries, .. } = self else { return };
        session.renew(last, retries, context, out);
    }

    fn hear_renewal(&mut self, to: Call, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(session) = &mut self.session else { return };
        if session.hear(to, answer, context) != Some(News::Gone) {
            return;
        }
        if context.scenario.service.belief != settings::Belief::None {
            self.leave(Leaving::Told, context, out);
        }
        self.session = None;
    }

    pub(super) fn commands(&self, context: &Context<'_, Consul>, offer: &mut dyn FnMut(Wish)) {
        let settings = &context.scenario.service;
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Wish::Acquire),
            Phase::Inside { writes, pending, .. } => {
                if writes > 0 && pending.is_none() {
                    offer(Wish::Write);
                }
                let is_waiting = pending.is_some() && !context.is_mutated(Mutation::ReleaseWithoutWaiting);
                if settings.release != Release::Never && !is_waiting {
                    offer(Wish::Release);
                }
            }
            _ => {}
        }
    }

    pub(super) fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Waiting { retry } => due(Timer::Retry, retry),
            Phase::Calling { give_up: Some(at), .. } if self.retries > 0 => due(Timer::GiveUp, at),
            _ => {}
        }
        let Some(session) = self.session else { return };
        session.wakes(self.retries, due);
        if self.belief().is_inside
            && scenario.service.belief == settings::Belief::SelfLimiting
            && let Some(until) = session.until
        {
            due(Timer::Lapse, until + overstay(scenario));
        }
    }

    /// What survives a crash: what its user still wants. The session does not, and connections are new.
    pub(super) fn restarted(&self, scenario: &Scenario<Consul>) -> Self {
        let shared =
            (scenario.service.session == SessionUse::Shared).then_some(SessionId { creator: ClientId(1), number: 1 });
        Contender { rounds: self.rounds, retries: self.retries, last: self.last, ..Contender::new(scenario, shared) }
    }

    pub(super) fn belief(&self) -> Belief {
        let is_inside =
            matches!(self.phase, Phase::Inside { .. } | Phase::Calling { what: What::Release { is_inside: true }, .. });
        Belief { is_inside, until: self.session.and_then(|session| session.until), slots: None }
    }
}

fn me(context: &Context<'_, Consul>) -> ClientId {
    context.me.client().expect("a contender is a client")
}

impl Normal for Contender {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match &mut self.phase {
            Phase::Idle => {}
            Phase::Waiting { retry } => visitor.deadline(retry),
            Phase::Calling { call, what, give_up } => {
                visitor.call(call);
                if let What::Create { until_if_created: Some(until) } = what {
                    visitor.until(until);
                }
                if let Some(give_up) = give_up {
                    visitor.deadline(give_up);
                }
            }
            Phase::Inside { token, pending, .. } => {
                visitor.token(token);
                if let Some(call) = pending {
                    visitor.call(call);
                }
            }
        }
        if let Some(session) = &mut self.session {
            session.visit(visitor);
        }
        visitor.call(&mut self.last);
    }
}
