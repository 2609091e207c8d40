//! The client: it asks every node, or the leader, and believes to have the lock with a majority.

use serde::{Deserialize, Serialize};

use super::messages::{Command, LockValue, RedlockMessage, Timer};
use super::settings::Validity;
use super::{COPIED, Redlock};
use crate::RedlockMutation;
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{ClientId, ProcessId, RawId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, LeaseEnd, Ticks};

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Locker {
    phase: Phase,
    /// The value of its current or last attempt.
    value: LockValue,
    rounds: u8,
    /// The number of nodes that it asks.
    nodes: u8,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    Idle,
    /// Requests are in flight.
    Asking {
        /// The nodes that have granted the lock, one bit each.
        yes: u8,
        /// The nodes that have refused, one bit each.
        no: u8,
        /// The end of the lease, counted from the request; none: there is no lease.
        until: Option<LeaseEnd>,
    },
    Inside {
        until: Option<LeaseEnd>,
    },
}

type Ctx<'a> = Context<'a, Redlock>;
type Out<'a> = &'a mut Outbox<Redlock>;

impl Locker {
    pub(super) fn new(id: ClientId, scenario: &Scenario<Redlock>) -> Self {
        let nodes = if scenario.system == COPIED { 0 } else { scenario.service.nodes };
        Locker { phase: Phase::Idle, value: LockValue::numbered(id, 0), rounds: scenario.rounds, nodes }
    }

    /// The nodes that it asks; 0 stands for the current leader.
    fn asked(&self) -> std::ops::RangeInclusive<u8> {
        self.nodes.min(1)..=self.nodes
    }

    fn acquire(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        self.value = self.value.next();
        self.phase = Phase::Asking { yes: 0, no: 0, until: self.lease_from(context.now, context) };
        self.asked().for_each(|node| out.send(ProcessId::Server, RedlockMessage::Lock(node, self.value)));
    }

    fn lease_from(&self, start: Instant, context: &Ctx<'_>) -> Option<LeaseEnd> {
        let settings = &context.scenario.service;
        let drift = if context.is_mutated(RedlockMutation::DriftIgnored) { Ticks::ZERO } else { settings.drift };
        (self.nodes > 0).then(|| LeaseEnd(start + settings.lease() - drift))
    }

    fn unlock(&self, out: Out<'_>) {
        self.asked().for_each(|node| out.send(ProcessId::Server, RedlockMessage::Unlock(node, self.value)));
    }

    fn give_up(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if !context.is_mutated(RedlockMutation::FailedAttemptKept) {
            self.unlock(out);
        }
        self.phase = Phase::Idle;
    }

    fn hear(&mut self, node: u8, is_locked: bool, context: &Ctx<'_>, out: Out<'_>) {
        let Phase::Asking { mut yes, mut no, until } = self.phase else { return };
        *(if is_locked { &mut yes } else { &mut no }) |= 1 << node;
        let all = u32::from(self.nodes.max(1));
        let needed = all / 2 + u32::from(!context.is_mutated(RedlockMutation::MinorityIsEnough));
        if yes.count_ones() >= needed {
            let until = match context.scenario.service.validity {
                Validity::FromRequest => until,
                Validity::FromAnswer => self.lease_from(context.now, context),
            };
            if until.is_some_and(|until| !until.covers(context.now)) {
                return self.give_up(context, out);
            }
            self.phase = Phase::Inside { until };
            out.record(Fact::Entered { client: context.client(), token: Token::NONE });
        } else if (yes | no).count_ones() == all {
            self.give_up(context, out);
        } else {
            self.phase = Phase::Asking { yes, no, until };
        }
    }

    fn leave(&mut self, why: Leaving, context: &Ctx<'_>, out: Out<'_>) {
        self.phase = Phase::Idle;
        out.record(Fact::Left { client: context.client(), why });
    }
}

impl Process<Redlock> for Locker {
    fn on(&mut self, input: Input<Redlock>, context: &Ctx<'_>, out: Out<'_>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Acquire)) => {
                rounds::take(&mut self.rounds);
                self.acquire(context, out);
            }
            (
                Phase::Asking { .. },
                Input::Message { message: Message::Service(RedlockMessage::Locked(node, value)), .. },
            ) if value == self.value => {
                self.hear(node, true, context, out);
            }
            (
                Phase::Asking { .. },
                Input::Message { message: Message::Service(RedlockMessage::Held(node, value)), .. },
            ) if value == self.value => {
                self.hear(node, false, context, out);
            }
            (Phase::Asking { .. }, Input::Wake(Timer::GiveUp)) => self.give_up(context, out),
            (Phase::Inside { .. }, Input::Wake(Timer::Lapse)) => self.leave(Leaving::Lapsed, context, out),
            (Phase::Inside { .. }, Input::Command(Command::Release)) => {
                self.unlock(out);
                self.leave(Leaving::Done, context, out);
            }
            // A response to an earlier attempt, or a response beyond the majority.
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<Redlock>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Asking { until: Some(until), .. } => due(Timer::GiveUp, until.0),
            Phase::Inside { until: Some(until) } => due(Timer::Lapse, until.0),
            _ => {}
        }
    }

    fn restarted(&self, _: &Scenario<Redlock>) -> Self {
        Locker { phase: Phase::Idle, ..*self }
    }
}

impl Client<Redlock> for Locker {
    fn commands(&self, _: &Ctx<'_>, offer: &mut dyn FnMut(Command)) {
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Acquire),
            Phase::Inside { .. } => offer(Command::Release),
            _ => {}
        }
    }

    fn belief(&self) -> Belief {
        match self.phase {
            Phase::Inside { until } => Belief { is_inside: true, until, ..Belief::default() },
            Phase::Asking { .. } => Belief { is_waiting: true, ..Belief::default() },
            Phase::Idle => Belief::default(),
        }
    }
}
