//! The queues of one execution. No other execution sees them.

use fencepost_amqp::ConnectionEnd;
use fencepost_model::scenario::Scenario;
use fencepost_rabbitmq::{Answer, Keeps, NUMBERS, Name, QueueProperties, RabbitMq, Request};

use super::broker::RabbitmqBroker;
use super::driven::refined;
use crate::error::ServerError;

/// What an execution has at the broker.
pub(super) struct Stage<'a> {
    pub(super) broker: &'a RabbitmqBroker,
    /// What every queue begins with.
    pub(super) prefix: String,
    /// The length of a tick in milliseconds.
    pub(super) tick: i64,
    /// The queues that there are at the start, with messages in them.
    queues: Vec<(Name, QueueProperties, u8)>,
    /// A connection of its own, for what operators do and for looking.
    own: ConnectionEnd,
    /// Whether the broker has closed its channel.
    is_broken: bool,
}

impl<'a> Stage<'a> {
    /// Prepares an execution. The queues come later.
    pub(super) fn set(
        broker: &'a RabbitmqBroker,
        scenario: &Scenario<RabbitMq>,
        tick: i64,
    ) -> Result<Self, ServerError> {
        let settings = &scenario.service;
        let shape = settings.slot_shape();
        let queues = match scenario.system == "rabbitmq-mutex" {
            // B-36: the queue of the lock keeps its message; no client declares it.
            true => vec![(Name::Lock, QueueProperties { keeps: Keeps::All, ..shape }, 1)],
            false => settings.slots.iter().map(|slot| (Name::Slot(*slot), shape, 0)).collect(),
        };
        let prefix = broker.fresh_prefix()?;
        let own = broker.line(&prefix, 0)?;
        Ok(Stage { broker, prefix, tick, queues, own, is_broken: false })
    }

    /// Declares the queues that there are at the start, and fills them.
    pub(super) fn declare(&mut self) -> Result<(), ServerError> {
        for (name, shape, messages) in self.queues.clone() {
            self.done(Request::Declare { name, shape })?;
            for _ in 0..messages {
                self.done(Request::Publish { name, mandatory: true })?;
            }
        }
        Ok(())
    }

    /// Asks on a connection of its own.
    pub(super) fn ask(&mut self, request: Request) -> Result<Option<Answer>, ServerError> {
        if std::mem::take(&mut self.is_broken) {
            self.own.ask(1, true, &Request::OpenChannel { confirms: true })?;
        }
        let answer = self.own.ask(1, false, &refined(request, self.tick))?;
        self.is_broken = matches!(answer, Some(Answer::Error(_)));
        Ok(answer)
    }

    /// The same, for a success.
    pub(super) fn done(&mut self, request: Request) -> Result<(), ServerError> {
        match self.ask(request)? {
            Some(Answer::Declared { .. } | Answer::Confirmed | Answer::Deleted { .. }) => Ok(()),
            answer => Err(ServerError(format!("{request}: {}", said(answer)))),
        }
    }

    /// Opens its own connection again, after the broker was restarted.
    pub(super) fn reconnect(&mut self) -> Result<(), ServerError> {
        self.own = self.broker.line(&self.prefix, 0)?;
        self.is_broken = false;
        Ok(())
    }

    /// The name of a queue, as the broker has it.
    pub(super) fn queue(&self, name: Name) -> String {
        self.own.queue(name)
    }

    /// Removes everything that the connections of clients do not take along.
    pub(super) fn strike(mut self) -> Result<(), ServerError> {
        // B-43: some clients begin at 0.
        let numbered = (0..=NUMBERS).flat_map(|number| [Name::Slot(number), Name::Holder(number)]);
        for name in numbered.chain([Name::Mutex, Name::Lock]) {
            self.ask(Request::Delete { name, if_empty: false })?;
        }
        Ok(())
    }
}

/// An answer on one line.
pub(super) fn said(answer: Option<Answer>) -> String {
    answer.map_or_else(|| "no answer".to_owned(), |answer| answer.to_string())
}
