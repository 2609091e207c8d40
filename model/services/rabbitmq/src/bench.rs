//! The broker alone, for whoever holds it against a real one: requests in, answers out, and nothing left to do in between.

use super::messages::{Answer, Ask, Text, Timer};
use super::{Broker, RabbitMq};
use fencepost_model::ids::{ProcessId, SessionId};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Instant;

/// A broker without queues.
pub struct Bench {
    broker: Broker,
    scenario: Scenario<RabbitMq>,
}

impl Bench {
    /// One that is right, or has a fault built in.
    pub fn new(mutation: Option<Mutation>) -> Self {
        let mut scenario: Scenario<RabbitMq> = Scenario::new("bench");
        scenario.service.slots.clear();
        scenario.mutation = mutation;
        Bench { broker: Broker::at_start(&scenario), scenario }
    }

    /// What it answers; nothing, where RabbitMQ answers nothing.
    pub fn ask(&mut self, ask: Ask) -> Option<Answer> {
        let from = ProcessId::Client(ask.connection.creator);
        self.feed(Input::Message { from, message: Message::Service(Text::Ask(ask)) })
    }

    /// A client closes its socket without a word.
    pub fn hang_up(&mut self, connection: SessionId) {
        let from = ProcessId::Client(connection.creator);
        self.feed(Input::Message { from, message: Message::Service(Text::HangUp(connection)) });
    }

    /// Takes it in, and waits until everything is done that it leads to.
    fn feed(&mut self, input: Input<RabbitMq>) -> Option<Answer> {
        let context = Context { scenario: &self.scenario, now: Instant::START, me: ProcessId::Server };
        let mut answer = None;
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let mut out = Outbox::new();
            self.broker.on(input, &context, &mut out);
            for (_, message) in out.messages() {
                if let Message::Service(Text::Tell(_, told)) = message {
                    answer = answer.or(Some(*told));
                }
            }
            self.broker.wakes(&self.scenario, &mut |timer, _| {
                if matches!(timer, Timer::Notice(_) | Timer::Remove(..)) {
                    next = Some(Input::Wake(timer));
                }
            });
        }
        answer
    }
}
