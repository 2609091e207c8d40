//! The broker alone, for comparison with a real broker: each request is processed completely before the next one.

use std::sync::Arc;

use super::messages::{Answer, Ask, Name, RabbitmqMessage, Timer};
use super::{Broker, RabbitMq};
use fencepost_model::ids::{ProcessId, RawId, SessionId};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Instant;

/// A broker without queues.
#[derive(Clone)]
pub struct Bench {
    broker: Broker,
    scenario: Arc<Scenario<RabbitMq>>,
}

impl PartialEq for Bench {
    /// The differences between brokers of one scenario.
    fn eq(&self, other: &Self) -> bool {
        self.broker == other.broker
    }
}

/// An action that a broker takes by itself, at once or later.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BrokerAction {
    /// It removes a queue of a connection whose end it has noticed (R-Q-40).
    Remove(SessionId, Name),
    /// It removes a queue that was not used for too long (R-Q-25).
    Expire(Name),
}

impl Bench {
    /// A broker without a mutation, or with one.
    pub fn new(mutation: Option<Mutation>) -> Self {
        let mut scenario: Scenario<RabbitMq> = Scenario::new("bench");
        scenario.service.slots.clear();
        scenario.mutation = mutation;
        Bench { broker: Broker::at_start(&scenario), scenario: Arc::new(scenario) }
    }

    /// The broker's response; none where RabbitMQ sends none.
    pub fn ask(&mut self, ask: Ask) -> Option<Answer> {
        let from = ProcessId::Client(ask.connection.raw().creator);
        self.feed(ask.connection, Input::Message { from, message: Message::Service(RabbitmqMessage::Request(ask)) })
    }

    /// A client closes its socket without a close method, and the broker processes that.
    pub fn hang_up(&mut self, connection: SessionId) {
        self.notice(connection);
        while let Some(doing) =
            self.doings().find(|doing| matches!(doing, BrokerAction::Remove(of, _) if *of == connection))
        {
            self.carry_on(doing);
        }
    }

    /// The broker notices that a socket was closed; the connection's queues are removed later, one by one.
    pub fn notice(&mut self, connection: SessionId) {
        let from = ProcessId::Client(connection.raw().creator);
        self.take(Input::Message { from, message: Message::Service(RabbitmqMessage::SocketClosed(connection)) });
    }

    /// The actions that the broker may take by itself.
    pub fn doings(&self) -> impl Iterator<Item = BrokerAction> + use<> {
        let mut doings = Vec::new();
        self.broker.wakes(&self.scenario, &mut |timer, _| match timer {
            Timer::Remove(connection, name) => doings.push(BrokerAction::Remove(connection, name)),
            Timer::Expire(name) => doings.push(BrokerAction::Expire(name)),
            _ => {}
        });
        doings.into_iter()
    }

    /// The broker takes the action.
    pub fn carry_on(&mut self, doing: BrokerAction) {
        self.take(Input::Wake(match doing {
            BrokerAction::Remove(connection, name) => Timer::Remove(connection, name),
            BrokerAction::Expire(name) => Timer::Expire(name),
        }));
    }

    fn take(&mut self, input: Input<RabbitMq>) {
        let context = Context { scenario: &self.scenario, now: Instant::START, me: ProcessId::Server };
        self.broker.on(input, &context, &mut Outbox::new());
    }

    /// Delivers an input, and processes every consequence on this connection.
    fn feed(&mut self, connection: SessionId, input: Input<RabbitMq>) -> Option<Answer> {
        let context = Context { scenario: &self.scenario, now: Instant::START, me: ProcessId::Server };
        let mut answer = None;
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let mut out = Outbox::new();
            self.broker.on(input, &context, &mut out);
            for (_, message) in out.messages() {
                if let Message::Service(RabbitmqMessage::Response(_, response)) = message {
                    answer = answer.or(Some(*response));
                }
            }
            self.broker.wakes(&self.scenario, &mut |timer, _| {
                if matches!(timer, Timer::Notice(of) | Timer::Remove(of, _) if of == connection) {
                    next = Some(Input::Wake(timer));
                }
            });
        }
        answer
    }
}
