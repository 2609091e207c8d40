//! A client that contends for a slot: the published recipe, literally or corrected (R-Q-87 to R-Q-90).
//!
//! `search` is the way in, `tenure` the time inside and the way out.

mod search;
mod tenure;

use serde::{Deserialize, Serialize};

use super::connection::{ClientConnection, ConnectionAnswer, Pending};
use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Command, Request, Timer};
use crate::settings::{First, Release, Settings};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Context, Input, Outbox};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, LeaseEnd};

/// A client that contends for a slot.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Taker {
    phase: Phase,
    connection: ClientConnection,
    rounds: u8,
    retries: u8,
}

/// The phase of a taker.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// Idle: the user has given no command.
    Idle,
    /// A random choice decides at which number it begins.
    Choosing { options: u8 },
    /// It waits to try again.
    Waiting { retry: Deadline },
    /// A request of the search is in progress.
    Searching { pending: Pending<Search>, at: Position },
    /// It believes that it holds the slot.
    Inside(Tenure),
    /// It was refused and takes that as final, although its user still waits (B-38).
    Resigned,
    /// It releases the slot.
    Leaving(Pending<Request>),
}

/// The progress of the search.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Position {
    slot: u8,
    /// The number at which it began.
    first: u8,
    /// The number of lost races.
    lost: u8,
}

/// The purpose of a request of the search.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Search {
    /// Whether the slot exists.
    Slot,
    /// Whether a client holds it.
    Holder,
    /// Taking it.
    Take,
    /// Verifying it before success is reported.
    Check(Check),
    /// Releasing it, because it was removed.
    Undo,
}

/// A step of a verification.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Check {
    /// The holder's queue: a passive declare.
    Look,
    /// The holder's queue: a probe.
    Probe,
    /// The holder's queue: declared again.
    Redeclare,
    /// The slot queue: a probe.
    Slot,
    /// The redeclaration by a library on a new connection (F-35).
    Recover,
}

/// The time inside.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Tenure {
    slot: u8,
    writes: u8,
    /// A verification in progress.
    check: Option<Pending<Check>>,
    /// Whether the user has asked for it.
    is_asked: bool,
    /// The instant at which the next one begins by itself.
    next: Option<Deadline>,
    /// The end of its lease, by its own clock (R-Q-90).
    until: Option<LeaseEnd>,
}

impl Taker {
    pub(super) fn new(id: ClientId, scenario: &Scenario<RabbitMq>) -> Self {
        let connection = ClientConnection::new(id, scenario);
        Taker { phase: Phase::Idle, connection, rounds: scenario.rounds, retries: scenario.budget.retries }
    }

    pub(super) fn act(&mut self, input: Input<RabbitMq>, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Acquire)) => {
                rounds::take(&mut self.rounds);
                self.begin(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.begin(context, out),
            (Phase::Choosing { .. }, Input::Choice(option)) => self.search_from(option + 1, context, out),
            (Phase::Inside(tenure), Input::Command(command)) => self.command(tenure, command, context, out),
            (Phase::Inside(_), Input::Wake(Timer::Lapse)) => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Lapsed });
                if !context.is_mutated(RabbitmqMutation::LapseKeepsSlot) {
                    self.connection.hang_up(out);
                }
                self.phase = Phase::Idle;
            }
            (Phase::Inside(tenure), Input::Wake(Timer::Verify)) => self.verify(tenure, false, context, out),
            (_, Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.give_up(context, out);
            }
            _ => {}
        }
    }

    pub(super) fn hear(
        &mut self,
        to: Call,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        match self.phase {
            Phase::Searching { pending, at } if pending.call == to => match self.connection.take(&pending, answer) {
                ConnectionAnswer::Reopened => self.send(pending.what, at, context, out),
                ConnectionAnswer::Answer(answer) => self.go_on(pending, at, answer, context, out),
                ConnectionAnswer::Over => self.connection_is_over(context, out),
            },
            Phase::Inside(tenure @ Tenure { check: Some(pending), .. }) if pending.call == to => {
                match self.connection.take(&pending, answer) {
                    ConnectionAnswer::Reopened => self.check(tenure, pending.what, context, out),
                    ConnectionAnswer::Answer(answer) => self.checked(tenure, pending, answer, context, out),
                    ConnectionAnswer::Over => self.connection_is_over(context, out),
                }
            }
            Phase::Leaving(pending) if pending.call == to => match self.connection.take(&pending, answer) {
                ConnectionAnswer::Reopened => self.leave(pending.what, context, out),
                ConnectionAnswer::Over => self.connection_is_over(context, out),
                ConnectionAnswer::Answer(Answer::Closed) => {
                    self.connection.forget();
                    self.phase = Phase::Idle;
                }
                ConnectionAnswer::Answer(_) => self.phase = Phase::Idle,
            },
            _ => {}
        }
    }

    pub(super) fn lose_connection(
        &mut self,
        id: SessionId,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        if self.connection.is(id) {
            self.connection_is_over(context, out);
        }
    }

    /// Its reaction to the loss of its connection, with any slot.
    fn connection_is_over(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.connection.forget();
        match self.phase {
            Phase::Inside(tenure) => self.lost_inside(tenure, context, out),
            Phase::Searching { .. } => self.wait(context),
            Phase::Leaving(_) => self.phase = Phase::Idle,
            Phase::Idle | Phase::Resigned | Phase::Choosing { .. } | Phase::Waiting { .. } => {}
        }
    }

    fn wait(&mut self, context: &Context<'_, RabbitMq>) {
        self.phase = Phase::Waiting { retry: Deadline(context.now + settings(context).retry_every) };
    }

    pub(super) fn wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        let gives_up = match self.phase {
            Phase::Waiting { retry } => {
                due(Timer::Retry, retry.0);
                None
            }
            Phase::Searching { pending, .. } => pending.gives_up(),
            Phase::Leaving(pending) => pending.gives_up(),
            Phase::Inside(tenure) => {
                tenure.until.iter().for_each(|until| due(Timer::Lapse, until.0));
                tenure.next.iter().filter(|_| tenure.check.is_none()).for_each(|next| due(Timer::Verify, next.0));
                tenure.check.and_then(|pending| pending.gives_up())
            }
            Phase::Idle | Phase::Resigned | Phase::Choosing { .. } => None,
        };
        gives_up.iter().filter(|_| self.retries > 0).for_each(|at| due(Timer::GiveUp, at.0));
    }

    pub(super) fn choices(&self) -> u8 {
        match self.phase {
            Phase::Choosing { options } => options,
            _ => 0,
        }
    }

    pub(super) fn commands(&self, context: &Context<'_, RabbitMq>, offer: &mut dyn FnMut(Command)) {
        let settings = settings(context);
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Acquire),
            Phase::Inside(Tenure { check: None, writes, .. }) => {
                if settings.verifies_when_asked {
                    offer(Command::Verify);
                }
                if writes > 0 {
                    offer(Command::Write);
                }
                if settings.release != Release::Never {
                    offer(Command::Release);
                }
            }
            _ => {}
        }
    }

    pub(super) fn belief(&self) -> Belief {
        match self.phase {
            Phase::Inside(Tenure { until, slot, .. }) => {
                Belief { is_inside: true, until, slot: Some(slot), ..Belief::default() }
            }
            Phase::Resigned | Phase::Choosing { .. } | Phase::Waiting { .. } | Phase::Searching { .. } => {
                Belief { is_waiting: true, ..Belief::default() }
            }
            Phase::Idle | Phase::Leaving(_) => Belief::default(),
        }
    }

    pub(super) fn restarted(&self) -> Self {
        let mut connection = self.connection;
        connection.forget();
        Taker { phase: Phase::Idle, connection, ..*self }
    }

    /// Starts the search for a free slot.
    fn begin(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match settings(context).first {
            First::At(first) => self.search_from(first, context, out),
            First::Random(options) => self.phase = Phase::Choosing { options },
        }
    }
}

fn settings<'a>(context: &'a Context<'_, RabbitMq>) -> &'a Settings {
    &context.scenario.service
}
