//! The lock recipe: create a session, acquire the key, read back the sequencer, work, release, perhaps clean up.
//! Leader election is the same recipe with a name in the key.
//!
//! `attempt` is the way in, `queue` the way in through a queue, `tenure` the time inside, `loss` the loss of the lock.

mod attempt;
mod loss;
mod queue;
mod tenure;

use serde::{Deserialize, Serialize};

use super::membership::{Membership, overstay};
use super::monitor::Watching;
use super::{ask, third_party};
use crate::ConsulMutation;
use crate::settings::{Release, SessionUse};
use crate::{Command, Consul, ConsulMessage, Entry, Request, Timer};
use fencepost_model::ids::{Call, ClientId, SessionId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Context, Input, Message, Outbox};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, LeaseEnd};

/// A contender for the lock.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Contender {
    phase: Phase,
    session: Option<Membership>,
    /// How often the user may still ask for the lock.
    rounds: u8,
    /// How many requests it may still give up and repeat.
    retries: u8,
    /// The number of the newest call.
    #[normal(counter)]
    last: Call,
    /// The value that it will send with writes, if it knows the value before it has the lock.
    stake: Token,
    /// The blocking query by which it watches its key.
    monitor: Option<Watching>,
    /// Whether a job that it started still runs, because it could not kill it.
    has_orphan: bool,
}

/// The phase of a contender.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// Idle: the user has given no command.
    Idle,
    /// It was refused or has lost its session, and tries again later.
    Waiting { retry: Deadline },
    /// A request is in flight whose response decides the next step.
    Calling { call: Call, what: What, give_up: Option<Deadline> },
    /// It believes that it has the lock. `pending` is the response that it awaits before it continues to write.
    Inside { token: Token, writes: u8, pending: Option<Pending> },
    /// It draws a random number.
    Drawing,
    /// In jeopardy: it had the lock, and does not act before it learns that its session is alive.
    Suspended { token: Token, writes: u8 },
    /// The lock is lost, and the job is being killed.
    Killing { at: Deadline },
}

/// The purpose of the request.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// Create a session. The lease counts from the request, not from the response.
    Create { until_if_created: Option<LeaseEnd> },
    /// The lock.
    Acquire,
    /// The entry, for the sequencer.
    ReadBack,
    /// Release the lock; whether the client keeps acting meanwhile.
    Release { is_inside: bool },
    /// The entry, for its ModifyIndex, before cleaning up.
    Look,
    /// Removing the key.
    Remove,
    /// Find a session that has the common name.
    Find,
    /// Read the version of the resource.
    ReadVersion,
    /// The entry, before it asks for the lock at all.
    ReadFirst,
    /// Read the entry, to find the holder.
    LookWhoHasIt,
    /// Watch the entry for a change.
    Await,
    /// Read the entry before a deletion; whether the client keeps acting meanwhile.
    LookToDelete { is_inside: bool },
    /// Destroy its session.
    Destroy,
    /// Acquire the lock again, with the session of its tenure.
    Reassert,
    /// List older contenders in the queue.
    LineUp,
    /// Watch the key before its own for its end.
    AwaitTurn,
    /// Read its own key, after its turn has come.
    Recheck,
}

/// The response that a client inside awaits.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pending {
    /// The resource's answer to a write.
    Write(Call),
    /// The entry, to see whether it still has the lock.
    Look(Call),
    /// The store's answer to a transaction.
    Commit(Call),
    /// The third party's answer.
    Order(Call),
}

impl Contender {
    pub(crate) fn new(scenario: &Scenario<Consul>, shared: Option<SessionId>) -> Self {
        Contender {
            phase: Phase::Idle,
            session: shared.map(Membership::shared),
            rounds: scenario.rounds,
            retries: scenario.budget.retries,
            last: Call(0),
            stake: Token::NONE,
            monitor: None,
            has_orphan: false,
        }
    }

    pub(super) fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Acquire)) => {
                rounds::take(&mut self.rounds);
                self.attempt(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.attempt(context, out),
            (Phase::Drawing, Input::Choice(option)) => self.draw(option, context, out),
            (Phase::Inside { .. }, Input::Command(Command::Write)) => self.write(context, out),
            (Phase::Inside { .. }, Input::Command(Command::Release)) => self.release(context, out),
            (_, Input::Command(Command::Finish)) => self.orphan_ends(context, out),
            (_, Input::Wake(Timer::Lapse)) => self.lapse(context, out),
            (_, Input::Wake(Timer::Renew)) => self.renew(context, out),
            (_, Input::Wake(Timer::Unwatch)) => self.lose_by_monitor(context, out),
            (_, Input::Wake(Timer::Rewatch)) => self.watch_again(context, out),
            (Phase::Killing { .. }, Input::Wake(Timer::Kill)) => self.job_is_killed(context, out),
            (Phase::Calling { what, .. }, Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.repeat(what, context, out);
            }
            (_, Input::Message { message, .. }) => self.hear_message(message, context, out),
            // Timers of an earlier phase.
            _ => {}
        }
    }

    /// Only the current connection delivers a response; a response on a closed connection is lost.
    fn hear_message(&mut self, message: Message<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match (self.phase, message) {
            (Phase::Calling { call, what, .. }, Message::Service(ConsulMessage::Response(to, answer)))
                if to == call =>
            {
                self.hear(what, answer, context, out);
            }
            (Phase::Calling { call, what: What::ReadVersion, .. }, Message::Version { to, version }) if to == call => {
                self.stake = version.to_token();
                self.acquire(context, out);
            }
            (
                Phase::Inside { pending: Some(Pending::Look(call) | Pending::Commit(call)), .. },
                Message::Service(ConsulMessage::Response(to, answer)),
            ) if to == call => self.hear_guard(answer, context, out),
            (_, Message::Service(ConsulMessage::Response(to, answer)))
                if self.monitor.is_some_and(|watching| watching.hears(to)) =>
            {
                self.hear_monitor(answer, context, out);
            }
            (_, Message::Service(ConsulMessage::Response(to, answer))) => self.hear_renewal(to, answer, context, out),
            (_, Message::Service(ConsulMessage::OrderDone(_, to, done))) => {
                self.hear_write(Pending::Order(to), done, context, out);
            }
            (_, Message::Written { to, accepted }) => self.hear_write(Pending::Write(to), accepted, context, out),
            // Requests are not for clients.
            _ => {}
        }
    }

    fn call(&mut self, what: What, request: Request, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let call = ask(&mut self.last, request, out);
        self.phase = Phase::Calling { call, what, give_up: self.give_up(context) };
    }

    fn give_up(&self, context: &Context<'_, Consul>) -> Option<Deadline> {
        context.scenario.service.patience.filter(|_| self.retries > 0).map(|patience| Deadline(context.now + patience))
    }

    fn is_mine(&self, entry: &Entry) -> bool {
        self.session.is_some_and(|session| entry.session == Some(session.id))
    }

    pub(super) fn commands(&self, context: &Context<'_, Consul>, offer: &mut dyn FnMut(Command)) {
        let settings = &context.scenario.service;
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Acquire),
            Phase::Inside { writes, pending, .. } => {
                if writes > 0 && pending.is_none() {
                    offer(Command::Write);
                }
                let is_waiting = pending.is_some() && !context.is_mutated(ConsulMutation::ReleaseWithoutWaiting);
                if settings.release != Release::Never && !is_waiting {
                    offer(Command::Release);
                }
            }
            _ => {}
        }
        if self.has_orphan {
            offer(Command::Finish);
        }
    }

    /// A random number has two values for each tenure: lower or higher than the numbers of others.
    pub(super) fn choices(&self) -> u8 {
        if matches!(self.phase, Phase::Drawing) { 2 } else { 0 }
    }

    pub(super) fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Waiting { retry } => due(Timer::Retry, retry.0),
            Phase::Calling { give_up: Some(at), .. } if self.retries > 0 => due(Timer::GiveUp, at.0),
            Phase::Killing { at } => due(Timer::Kill, at.0),
            _ => {}
        }
        self.monitor.iter().for_each(|watching| watching.wakes(due));
        let Some(session) = self.session else { return };
        session.wakes(self.retries, due);
        if self.is_acting()
            && scenario.service.counts_lease()
            && let Some(until) = session.until
        {
            due(Timer::Lapse, until.0 + overstay(scenario));
        }
    }

    /// What survives a crash: what its user still wants. The session does not, and connections are new.
    pub(super) fn restarted(&self, scenario: &Scenario<Consul>) -> Self {
        let shared = (scenario.service.session == SessionUse::Shared).then_some(SessionId::numbered(ClientId(1), 1));
        Contender { rounds: self.rounds, retries: self.retries, last: self.last, ..Contender::new(scenario, shared) }
    }

    /// Whether it acts as the holder, and can still decide to stop.
    fn is_acting(&self) -> bool {
        matches!(
            self.phase,
            Phase::Inside { .. }
                | Phase::Calling {
                    what: What::Release { is_inside: true } | What::LookToDelete { is_inside: true },
                    ..
                }
        )
    }

    /// Whether it is on its way to the lock, or back to it.
    fn is_waiting(&self) -> bool {
        match self.phase {
            Phase::Waiting { .. } | Phase::Drawing | Phase::Suspended { .. } => true,
            Phase::Calling { what, .. } => match what {
                What::Create { .. }
                | What::Acquire
                | What::ReadBack
                | What::Find
                | What::ReadVersion
                | What::ReadFirst
                | What::LookWhoHasIt
                | What::Await
                | What::LineUp
                | What::AwaitTurn
                | What::Recheck
                | What::Reassert => true,
                What::Release { .. } | What::Look | What::Remove | What::LookToDelete { .. } | What::Destroy => false,
            },
            Phase::Idle | Phase::Inside { .. } | Phase::Killing { .. } => false,
        }
    }

    pub(super) fn belief(&self) -> Belief {
        let is_inside = self.is_acting() || self.has_orphan || matches!(self.phase, Phase::Killing { .. });
        let until = self.session.and_then(|session| session.until);
        Belief { is_inside, until, is_waiting: self.is_waiting(), ..Belief::default() }
    }
}
