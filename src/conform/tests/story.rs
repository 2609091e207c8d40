//! Logs of RabbitMQ traffic, made line by line.

use fencepost_conform::amqp::traffic::{Event, Happening, Log, Method, Reply, Verb, Verdict, judge, read, write};
use fencepost_rabbitmq::{Answer, Name, Problem, QueueProperties, Request};

pub const A: Name = Name::Slot(1);
pub const B: Name = Name::Holder(1);
pub const OPENED: Reply = Reply::Plain(Answer::Opened);
pub const CONFIRMED: Reply = Reply::Plain(Answer::Confirmed);
pub const EMPTY: Reply = Reply::Plain(Answer::Empty);
pub const GET: Method = Method::Get { name: A, no_ack: false };
pub const LOOK: Method = Method::Plain(Request::Look(A));
pub const CONSUME: Method = Method::Consume { name: A, tag: 1, no_ack: false, exclusive: false };
pub const OPEN: Method = Method::Plain(Request::OpenChannel { confirms: true });
pub const CLOSE_CHANNEL: Method = Method::Plain(Request::CloseChannel);

/// A channel of a connection.
pub type On = (u16, u8);

pub const ONE: On = (1, 1);
pub const TWO: On = (2, 1);
pub const THREE: On = (3, 1);

/// A log, made line by line, a millisecond apart.
#[derive(Clone)]
pub struct Story {
    pub log: Log,
    /// When the next line is, in microseconds.
    clock: u64,
}

impl Story {
    /// A log with the slot queue.
    pub fn new() -> Self {
        let log = Log { version: "3.10.8".to_owned(), is_complete: true, line: 1, ..Log::default() };
        Story { log, clock: 0 }.ask(ONE, declare(A, false), declared(0, 0))
    }

    pub fn line(&mut self, (connection, channel): On, happened: Happening) -> usize {
        self.clock += 1_000;
        self.log.events.push(Event { at: self.clock, connection, channel, happened });
        self.log.events.len()
    }

    /// Nothing happens until this time, in milliseconds after the beginning.
    pub fn until(mut self, milliseconds: u64) -> Self {
        self.clock = self.clock.max(1_000 * milliseconds - 1_000);
        self
    }

    /// A method that has no answer.
    pub fn tell(mut self, on: On, method: Method) -> Self {
        self.line(on, Happening::Sent(method));
        self
    }

    /// A method and its answer.
    pub fn ask(mut self, on: On, method: Method, reply: Reply) -> Self {
        let to = self.line(on, Happening::Sent(method));
        self.line(on, Happening::Answered { to, reply });
        self
    }

    /// Methods that are in flight at the same time.
    pub fn all(mut self, asked: &[(On, Method, Reply)]) -> Self {
        let places: Vec<usize> = asked.iter().map(|(on, method, _)| self.line(*on, Happening::Sent(*method))).collect();
        for ((on, _, reply), to) in asked.iter().zip(places) {
            self.line(*on, Happening::Answered { to, reply: *reply });
        }
        self
    }

    pub fn delivered(mut self, on: On, tag: u64, body: u32, redelivered: bool) -> Self {
        self.line(on, Happening::Delivered { consumer: 1, tag, body, redelivered });
        self
    }

    pub fn cancelled(mut self, on: On) -> Self {
        self.line(on, Happening::Cancelled { consumer: 1 });
        self
    }

    pub fn published(self, on: On, name: Name, body: u32) -> Self {
        self.ask(on, publish(name, body), CONFIRMED)
    }

    pub fn is_possible(&self) -> bool {
        // It is read as it is written.
        let log = read(&write(std::slice::from_ref(&self.log))).expect("a log").remove(0);
        assert_eq!(log, self.log);
        match judge(&log, None) {
            Verdict::Possible(_) => true,
            Verdict::Impossible(_) => false,
            Verdict::Undecided { line } => panic!("undecided at line {line}"),
        }
    }
}

pub fn declare(name: Name, exclusive: bool) -> Method {
    let shape = QueueProperties { exclusive, ..QueueProperties::default() };
    Method::Plain(Request::Declare { name, shape })
}

pub fn publish(name: Name, body: u32) -> Method {
    Method::Publish { name, body, mandatory: false, expiration: None, persistent: false }
}

pub fn declared(messages: u32, consumers: u32) -> Reply {
    Reply::Declared { messages, consumers }
}

pub fn got(tag: u64, body: u32, redelivered: bool, messages: u32) -> Reply {
    Reply::Got { tag, body, redelivered, messages }
}

pub fn settle(verb: Verb, tag: u64, multiple: bool) -> Method {
    Method::Settle { verb, tag, multiple, requeue: verb != Verb::Ack }
}

pub fn error(problem: Problem) -> Reply {
    Reply::Plain(Answer::Error(problem))
}
