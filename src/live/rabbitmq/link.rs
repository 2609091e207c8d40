//! One connection: what was sent on it, and what the broker says to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use fencepost_amqp::{BrokerError, FrameWriter, problem};
use fencepost_model::ids::{Call, SessionId};
use fencepost_rabbitmq::{Answer, Ask, RabbitmqMessage, Request};

use super::channel::ChannelCalls;

/// A connection of the client.
#[derive(Debug)]
pub(super) struct Link {
    id: SessionId,
    state: LinkState,
    channels: BTreeMap<u8, ChannelCalls>,
    /// The client's own `connection.close`.
    closing: Option<Call>,
}

#[derive(Debug)]
enum LinkState {
    /// It is being opened; these go when it is open.
    Opening(Vec<Ask>),
    Open(Arc<Mutex<FrameWriter>>),
    /// It is over; or its socket is closed, without a method.
    Over,
}

impl Link {
    pub(super) fn new(id: SessionId) -> Self {
        // Channel 1 is opened with the connection, and confirms.
        let channels = BTreeMap::from([(1, ChannelCalls::new(true))]);
        Link { id, state: LinkState::Opening(Vec::new()), channels, closing: None }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, LinkState::Over)
    }

    /// Sends a request, at once or when the connection is open. What the client hears at once.
    ///
    /// # Errors
    /// The request cannot be written.
    pub(super) fn send(&mut self, ask: Ask) -> Result<Option<RabbitmqMessage>, BrokerError> {
        let writer = match &mut self.state {
            LinkState::Opening(waiting) => {
                waiting.push(ask);
                return Ok(None);
            }
            LinkState::Over => return Ok(Some(RabbitmqMessage::Response(ask.call, Answer::Reset))),
            LinkState::Open(writer) => Arc::clone(writer),
        };
        let mut writer = writer.lock().expect("no thread panics while it writes");
        if ask.close_ok {
            writer.send(ask.channel.into(), AMQPClass::Channel(Channel::CloseOk(channel::CloseOk {})))?;
        }
        if ask.request == Request::Close {
            self.closing = Some(ask.call);
        } else {
            let calls = self.channels.entry(ask.channel).or_insert_with(|| ChannelCalls::new(false));
            calls.ask(ask.call, ask.request);
        }
        writer.request(ask.channel.into(), &ask.request)?;
        Ok(None)
    }

    /// The connection is open: what waited goes now.
    ///
    /// # Errors
    /// A request cannot be written.
    pub(super) fn opened(&mut self, writer: Arc<Mutex<FrameWriter>>) -> Result<(), BrokerError> {
        match std::mem::replace(&mut self.state, LinkState::Open(writer)) {
            LinkState::Opening(waiting) => waiting.into_iter().try_for_each(|ask| self.send(ask).map(|_| ())),
            LinkState::Open(_) => Ok(()),
            // The client has closed the socket before it was open.
            LinkState::Over => {
                self.hang_up();
                Ok(())
            }
        }
    }

    /// It could not be opened: who waits for an answer hears that the socket is closed.
    pub(super) fn failed(&mut self) -> Vec<RabbitmqMessage> {
        match std::mem::replace(&mut self.state, LinkState::Over) {
            LinkState::Opening(waiting) => {
                waiting.into_iter().map(|ask| RabbitmqMessage::Response(ask.call, Answer::Reset)).collect()
            }
            LinkState::Open(_) => vec![RabbitmqMessage::ConnectionClosed(self.id, None)],
            LinkState::Over => Vec::new(),
        }
    }

    /// A method of the broker on a channel; 0: about the connection. What the client hears of it.
    ///
    /// # Errors
    /// The model has no name for it.
    pub(super) fn hear(&mut self, channel: u16, class: &AMQPClass) -> Result<Vec<RabbitmqMessage>, BrokerError> {
        if self.is_over() {
            return Ok(Vec::new());
        }
        match class {
            AMQPClass::Connection(Connection::Close(close)) => {
                let why = problem(close.reply_code, close.reply_text.as_str())?;
                let mut calls = self.channels.values();
                let blamed = calls.find_map(|calls| calls.blamed(close.class_id, close.method_id));
                self.write(0, AMQPClass::Connection(Connection::CloseOk(connection::CloseOk {})))?;
                self.hang_up();
                Ok(vec![match blamed {
                    Some(call) => RabbitmqMessage::Response(call, Answer::Error(why)),
                    None => RabbitmqMessage::ConnectionClosed(self.id, Some(why)),
                }])
            }
            AMQPClass::Connection(Connection::CloseOk(_)) => {
                self.hang_up();
                Ok(self
                    .closing
                    .take()
                    .map(|call| RabbitmqMessage::Response(call, Answer::Closed))
                    .into_iter()
                    .collect())
            }
            class => {
                let channel = u8::try_from(channel).unwrap_or(0);
                let Some(calls) = self.channels.get_mut(&channel) else { return Ok(Vec::new()) };
                let answers = calls.hear(class)?;
                Ok(answers.into_iter().map(|(call, answer)| RabbitmqMessage::Response(call, answer)).collect())
            }
        }
    }

    /// Says farewell with `connection.close`; what was sent before it has arrived when it is answered.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn part(&mut self) -> Result<(), BrokerError> {
        match &self.state {
            LinkState::Open(writer) if self.closing.is_none() => {
                self.closing = Some(Call(0));
                writer.lock().expect("no thread panics while it writes").request(0, &Request::Close)
            }
            LinkState::Opening(_) => {
                self.state = LinkState::Over;
                Ok(())
            }
            LinkState::Open(_) | LinkState::Over => Ok(()),
        }
    }

    /// Closes the socket.
    pub(super) fn hang_up(&mut self) {
        if let LinkState::Open(writer) = std::mem::replace(&mut self.state, LinkState::Over) {
            writer.lock().expect("no thread panics while it writes").shut_down();
        }
    }

    /// Every call has another number.
    pub(super) fn renumber(&mut self, numbers: &BTreeMap<Call, Call>) {
        let new = |call: Call| numbers.get(&call).copied().unwrap_or(Call(0));
        self.channels.values_mut().for_each(|calls| calls.renumber(numbers));
        self.closing = self.closing.map(new);
        if let LinkState::Opening(waiting) = &mut self.state {
            waiting.iter_mut().for_each(|ask| ask.call = new(ask.call));
        }
    }

    fn write(&mut self, channel: u16, class: AMQPClass) -> Result<(), BrokerError> {
        match &self.state {
            LinkState::Open(writer) => writer.lock().expect("no thread panics while it writes").send(channel, class),
            LinkState::Opening(_) | LinkState::Over => Ok(()),
        }
    }
}
