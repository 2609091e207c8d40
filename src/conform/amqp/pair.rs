//! One sequence of methods, on both sides: the model's broker and a real one.

use std::thread;
use std::time::Duration;

use fencepost_amqp::ConnectionEnd;
use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{Answer, Ask, Bench, BrokerAction, Request};
use serde::{Deserialize, Serialize};

use super::broker::Broker;
use crate::ConformError;

/// What is done on one of the connections.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// A method.
    Ask {
        /// On which connection, from 1.
        connection: u16,
        /// On which of its channels, from 1.
        channel: u8,
        /// Whether `channel.close-ok` goes before it, if the broker has closed the channel.
        close_ok: bool,
        /// The request.
        request: Request,
    },
    /// The end of a socket, without a word.
    HangUp {
        /// Of which connection, from 1.
        connection: u16,
    },
}

/// A command with what was answered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// What was done.
    pub command: Command,
    /// What the broker said.
    pub answer: Option<Answer>,
    /// The model's response.
    pub expected: Option<Answer>,
}

/// How many connections there are.
pub(super) const LINES: usize = 3;

/// How long the broker may take to notice that a socket was closed (R-Q-39: a few milliseconds).
const NOTICE: Duration = Duration::from_millis(40);

/// Both sides.
pub struct Pair<'a> {
    model: Bench,
    broker: Option<&'a Broker>,
    prefix: String,
    lines: [Option<ConnectionEnd>; LINES],
    /// Which of its connections each client uses.
    numbers: [u16; LINES],
    /// Connections whose socket was closed, which the broker has not noticed.
    unnoticed: Vec<SessionId>,
    /// What was said.
    pub exchanges: Vec<Exchange>,
}

impl<'a> Pair<'a> {
    /// The model and a broker, on which queues' names begin with the prefix.
    pub fn live(broker: &'a Broker, prefix: String, mutation: Option<Mutation>) -> Self {
        Pair { broker: Some(broker), prefix, ..Pair::alone(mutation) }
    }

    /// The model alone.
    pub fn alone(mutation: Option<Mutation>) -> Self {
        Pair {
            model: Bench::new(mutation),
            broker: None,
            prefix: String::new(),
            lines: [const { None }; LINES],
            numbers: [1; LINES],
            unnoticed: Vec::new(),
            exchanges: Vec::new(),
        }
    }

    /// The model's response.
    pub fn expect(&mut self, command: Command) -> Option<Answer> {
        let id = |connection: u16, numbers: &[u16; LINES]| {
            SessionId::numbered(ClientId(connection), numbers[usize::from(connection) - 1])
        };
        match command {
            Command::Ask { connection, channel, close_ok, request } => {
                let ask = Ask { connection: id(connection, &self.numbers), channel, close_ok, call: Call(1), request };
                let answer = self.model.ask(ask);
                let is_over = match answer {
                    Some(Answer::Closed | Answer::Reset) => true,
                    Some(Answer::Error(problem)) => problem.is_fatal(),
                    _ => false,
                };
                if is_over {
                    self.numbers[usize::from(connection) - 1] += 1;
                }
                answer
            }
            Command::HangUp { connection } => {
                self.model.hang_up(id(connection, &self.numbers));
                self.numbers[usize::from(connection) - 1] += 1;
                None
            }
        }
    }

    /// What the model says, if the broker takes its time to notice that a socket was closed.
    pub(super) fn expect_later(&mut self, command: Command) -> Option<Answer> {
        let Command::HangUp { connection } = command else { return self.expect(command) };
        let number = &mut self.numbers[usize::from(connection) - 1];
        self.unnoticed.push(SessionId::numbered(ClientId(connection), *number));
        *number += 1;
        None
    }

    /// What may become of the model by itself, in one step.
    pub(super) fn developments(&self) -> Vec<Pair<'a>> {
        let noticed = self.unnoticed.iter().map(|connection| {
            let mut next = self.alone_as();
            next.model.notice(*connection);
            next.unnoticed.retain(|other| other != connection);
            next
        });
        let done = self.model.doings().map(|doing| {
            let mut next = self.alone_as();
            next.model.carry_on(doing);
            next
        });
        noticed.chain(done).collect()
    }

    /// How much is left to be done for connections that are over.
    pub(super) fn unfinished(&self) -> usize {
        let removals = self.model.doings().filter(|doing| matches!(doing, BrokerAction::Remove(..))).count();
        self.unnoticed.len() * 4 + removals
    }

    /// Whether nothing will ever tell the models apart.
    pub(super) fn is_as(&self, other: &Pair<'_>) -> bool {
        (&self.model, &self.numbers, &self.unnoticed) == (&other.model, &other.numbers, &other.unnoticed)
    }

    fn alone_as(&self) -> Pair<'a> {
        Pair {
            model: self.model.clone(),
            broker: None,
            prefix: String::new(),
            lines: [const { None }; LINES],
            numbers: self.numbers,
            unnoticed: self.unnoticed.clone(),
            exchanges: Vec::new(),
        }
    }

    /// Carries a command out on both sides; false: the answers differ.
    ///
    /// # Errors
    /// The broker cannot be talked to.
    pub fn carry_out(&mut self, command: Command) -> Result<bool, ConformError> {
        let expected = self.expect(command);
        let answer = match command {
            Command::Ask { connection, channel, close_ok, request } => {
                let place = usize::from(connection) - 1;
                let broker = self.broker.expect("a live pair");
                let line = match &mut self.lines[place] {
                    Some(line) => line,
                    empty => empty.insert(broker.line(&self.prefix)?),
                };
                let answer = line.ask(channel.into(), close_ok, &request)?;
                let is_over = match answer {
                    Some(Answer::Closed | Answer::Reset) => true,
                    Some(Answer::Error(problem)) => problem.is_fatal(),
                    _ => false,
                };
                if is_over {
                    self.lines[place] = None;
                }
                answer
            }
            Command::HangUp { connection } => {
                if self.lines[usize::from(connection) - 1].take().is_some() {
                    thread::sleep(NOTICE);
                }
                None
            }
        };
        self.exchanges.push(Exchange { command, answer, expected });
        Ok(answer == expected)
    }
}
