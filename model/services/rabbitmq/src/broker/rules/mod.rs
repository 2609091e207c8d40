//! A test for each rule about the broker, named after it. The rules are in `model/services/rabbitmq/rules.md`.

mod breaks;
mod cluster;
mod lifetime;
mod methods;
mod probes;

use super::{Broker, RabbitmqFault};
use crate::messages::{
    Answer, Ask, Difference, Keeps, Name, Problem, QueueProperties, RabbitmqEvent, RabbitmqMessage, Request, Timer,
};
use crate::{OperatorAction, RabbitMq, Settings, Split};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId, ProcessId, SessionId};
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::{Cap, Scenario};
use fencepost_model::service_fault::ServiceFault;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Fault, World};

const A: Name = Name::Slot(1);
const B: Name = Name::Holder(1);
const PLAIN: QueueProperties =
    QueueProperties { exclusive: false, durable: false, auto_delete: false, keeps: Keeps::All, expires: None };
const MINE: QueueProperties = QueueProperties { exclusive: true, ..PLAIN };
const OK: Answer = Answer::Declared { messages: 0 };
const RETURNED: Answer = Answer::Returned { confirmed: true };

/// A broker, its clock, and the facts of the last step.
struct ServerHarness {
    world: World<RabbitMq>,
    scenario: Scenario<RabbitMq>,
    words: Vec<RabbitmqEvent>,
    channel: u8,
    close_ok: bool,
}

impl ServerHarness {
    /// Without any queue.
    fn new() -> Self {
        ServerHarness::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut scenario: Scenario<RabbitMq> = Scenario::new("harness");
        scenario.service.slots.clear();
        change(&mut scenario.service);
        let mut world = scenario.start();
        world.now = Instant::at(100);
        (0..RabbitmqFault::KINDS.len()).for_each(|kind| world.left.add(Cap::of(kind, 9)).expect("there are few kinds"));
        ServerHarness { world, scenario, words: Vec::new(), channel: 1, close_ok: false }
    }

    /// The messages that the broker sends during a reaction.
    fn note(
        &mut self,
        during: impl FnOnce(&mut World<RabbitMq>, &Context<'_, RabbitMq>, &mut Outbox<RabbitMq>),
    ) -> Vec<RabbitmqMessage> {
        let mut out = Outbox::new();
        let context = Context { scenario: &self.scenario, now: self.world.now, me: ProcessId::Server };
        during(&mut self.world, &context, &mut out);
        let word = |fact: &Fact<RabbitMq>| match fact {
            Fact::Service(word) => Some(*word),
            _ => None,
        };
        self.words = out.facts().iter().filter_map(word).collect();
        let text = |(_, message): &(ProcessId, Message<RabbitMq>)| match message {
            Message::Service(text) => *text,
            other => panic!("the broker sends no writes: {other:?}"),
        };
        out.messages().iter().map(text).collect()
    }

    fn feed(&mut self, input: Input<RabbitMq>) -> Vec<RabbitmqMessage> {
        self.note(|world, context, out| world.server.process.on(input, context, out))
    }

    /// Sends a request on the client's first connection; returns none where the broker sends no response.
    fn ask(&mut self, client: u16, request: Request) -> Option<Answer> {
        let connection = connection(client);
        let (channel, close_ok) = (self.channel, std::mem::take(&mut self.close_ok));
        let ask = Ask { connection, channel, close_ok, call: Call(7), request };
        let message = Message::Service(RabbitmqMessage::Request(ask));
        let said = self.feed(Input::Message { from: ClientId(client).into(), message });
        let answer = |text: &RabbitmqMessage| match text {
            RabbitmqMessage::Response(Call(7), answer) => Some(*answer),
            _ => None,
        };
        said.iter().find_map(answer)
    }

    fn declare(&mut self, client: u16, name: Name, shape: QueueProperties) -> Answer {
        self.ask(client, Request::Declare { name, shape }).expect("an answer")
    }

    fn look(&mut self, client: u16, name: Name) -> Answer {
        self.ask(client, Request::Look(name)).expect("an answer")
    }

    fn delete(&mut self, client: u16, name: Name) -> Answer {
        self.ask(client, Request::Delete { name, if_empty: false }).expect("an answer")
    }

    fn probe(&mut self, client: u16, name: Name) -> Option<Answer> {
        self.ask(client, Request::Publish { name, mandatory: true })
    }

    /// Opens the channel again after the broker has closed it.
    fn reopen(&mut self, client: u16) {
        self.close_ok = true;
        assert_eq!(self.ask(client, Request::OpenChannel { confirms: true }), Some(Answer::Opened));
    }

    fn wake(&mut self, timer: Timer) -> Vec<RabbitmqMessage> {
        self.feed(Input::Wake(timer))
    }

    fn hang_up(&mut self, client: u16) {
        let message = Message::Service(RabbitmqMessage::SocketClosed(connection(client)));
        self.feed(Input::Message { from: ClientId(client).into(), message });
    }

    fn suffer(&mut self, fault: RabbitmqFault) -> Vec<RabbitmqMessage> {
        self.note(|world, context, out| Broker::suffer(world, fault, context, out))
    }

    fn operate(&mut self, operator_action: OperatorAction) -> Vec<RabbitmqMessage> {
        self.note(|world, context, out| world.server.process.operate(operator_action, context, out))
    }

    fn notice(&mut self, fault: Fault<RabbitMq>) {
        self.note(|world, context, _| world.server.process.notice(fault, context));
    }

    /// The due timers, with the number of ticks from now.
    fn due(&self) -> Vec<(Timer, i64)> {
        let mut found = Vec::new();
        let mut add = |timer, at: Instant| found.push((timer, (at - self.world.now).count()));
        self.world.server.process.wakes(&self.scenario, &mut add);
        found
    }

    fn pass(&mut self, ticks: i64) {
        self.world.now += Ticks::new(ticks);
    }

    fn exists(&self, name: Name) -> bool {
        self.world.server.process.names().any(|other| other == name)
    }
}

/// A client's first connection.
fn connection(client: u16) -> SessionId {
    SessionId::numbered(ClientId(client), 1)
}

fn refused(problem: Problem) -> Answer {
    Answer::Error(problem)
}
