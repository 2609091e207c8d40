//! Opening a connection, and frames that arrive on it.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use amq_protocol::frame::{AMQPFrame, parse_frame};
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use amq_protocol::types::{AMQPValue, FieldTable};
use fencepost_rabbitmq::Request;

use crate::{BrokerAddress, BrokerError, FrameWriter, short};

/// The client's end of a connection to a broker.
#[derive(Debug)]
pub struct ConnectionEnd {
    /// The side on which frames go to the broker.
    pub writer: FrameWriter,
    /// What was read and is not a whole frame yet.
    bytes: Vec<u8>,
    /// The channels on which publishes are confirmed.
    pub(crate) confirming: BTreeSet<u16>,
    /// The channels that the broker has closed, which receive no responses until the client acknowledges the close (R-Q-31).
    pub(crate) deaf: BTreeSet<u16>,
    /// Whether messages were got on it.
    pub(crate) got: bool,
    /// How long a read waits.
    patience: Duration,
}

/// What comes from a socket within a time.
#[derive(Debug)]
pub enum Polled {
    /// A frame.
    Frame(Box<AMQPFrame>),
    /// No frame within the time.
    Quiet,
    /// The socket is closed.
    Closed,
}

/// A connection that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The client's end.
    pub end: ConnectionEnd,
    /// The broker's version.
    pub version: String,
}

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The channel that is asked for nothing but to tell that earlier frames were read.
pub(crate) const FENCE: u16 = 1_000;

impl BrokerAddress {
    /// Opens a connection with a channel 1 that confirms; each queue's name begins with the prefix. The heartbeat value is in
    /// seconds; 0: no heartbeats.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(&self, prefix: &str, heartbeat: u16) -> Result<Opened, BrokerError> {
        let failure =
            |what: &dyn fmt::Display| BrokerError::Unreachable { address: self.authority(), why: what.to_string() };
        let socket = TcpStream::connect((self.host.as_str(), self.port)).map_err(|error| failure(&error))?;
        let ready = socket.set_nodelay(true).and_then(|()| socket.set_read_timeout(Some(PATIENCE)));
        ready.map_err(|error| failure(&error))?;
        let mut end = ConnectionEnd {
            writer: FrameWriter { socket, prefix: prefix.to_owned() },
            bytes: Vec::new(),
            confirming: BTreeSet::new(),
            deaf: BTreeSet::new(),
            got: false,
            patience: PATIENCE,
        };
        end.writer.socket.write_all(b"AMQP\0\0\x09\x01").map_err(|error| failure(&error))?;
        let strange = || failure(&"it answers, but not as a RabbitMQ broker does");
        let Some(AMQPClass::Connection(Connection::Start(start))) = end.method()? else { return Err(strange()) };
        let properties = start.server_properties.inner();
        let version = properties.iter().find(|(key, _)| key.as_str() == "version").map(|(_, value)| text(value));
        end.writer.send(0, AMQPClass::Connection(Connection::StartOk(self.start_ok())))?;
        let tune = match end.method()? {
            Some(AMQPClass::Connection(Connection::Tune(tune))) => tune,
            Some(AMQPClass::Connection(Connection::Close(close))) if close.reply_code == 403 => {
                return Err(BrokerError::UserRefused { address: self.authority(), user: self.user.clone() });
            }
            _ => return Err(strange()),
        };
        let (channel_max, frame_max) = (tune.channel_max, tune.frame_max);
        let tune_ok = connection::TuneOk { channel_max, frame_max, heartbeat };
        end.writer.send(0, AMQPClass::Connection(Connection::TuneOk(tune_ok)))?;
        let virtual_host = short(&self.virtual_host);
        end.writer.send(0, AMQPClass::Connection(Connection::Open(connection::Open { virtual_host })))?;
        match end.method()? {
            Some(AMQPClass::Connection(Connection::OpenOk(_))) => {}
            Some(AMQPClass::Connection(Connection::Close(close))) => return Err(failure(&close.reply_text)),
            _ => return Err(strange()),
        }
        end.writer.send(FENCE, AMQPClass::Channel(Channel::Open(channel::Open {})))?;
        let Some(AMQPClass::Channel(Channel::OpenOk(_))) = end.method()? else { return Err(strange()) };
        end.ask(1, false, &Request::OpenChannel { confirms: true })?;
        Ok(Opened { end, version: version.unwrap_or_default() })
    }

    fn start_ok(&self) -> connection::StartOk {
        let mut capabilities = FieldTable::default();
        capabilities.insert(short("authentication_failure_close"), AMQPValue::Boolean(true));
        capabilities.insert(short("consumer_cancel_notify"), AMQPValue::Boolean(true));
        let mut client_properties = FieldTable::default();
        client_properties.insert(short("capabilities"), AMQPValue::FieldTable(capabilities));
        connection::StartOk {
            client_properties,
            mechanism: short("PLAIN"),
            response: format!("\0{}\0{}", self.user, self.password).into(),
            locale: short("en_US"),
        }
    }
}

fn text(value: &AMQPValue) -> String {
    match value {
        AMQPValue::LongString(text) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
        _ => String::new(),
    }
}

impl ConnectionEnd {
    /// The side on which frames go to the broker, for another thread.
    ///
    /// # Errors
    /// The socket cannot be shared.
    pub fn shared_writer(&self) -> Result<FrameWriter, BrokerError> {
        let socket = self.writer.socket.try_clone().map_err(|error| BrokerError::Socket(error.to_string()))?;
        Ok(FrameWriter { socket, prefix: self.writer.prefix.clone() })
    }

    pub(crate) fn method(&mut self) -> Result<Option<AMQPClass>, BrokerError> {
        Ok(self.next()?.map(|(_, class)| class))
    }

    /// The next method from the broker, and its channel; none: the socket is closed. Contents are skipped.
    pub(crate) fn next(&mut self) -> Result<Option<(u16, AMQPClass)>, BrokerError> {
        loop {
            match self.poll(PATIENCE)? {
                Polled::Frame(frame) => match *frame {
                    AMQPFrame::Method(channel, class) => return Ok(Some((channel, class))),
                    AMQPFrame::ProtocolHeader(_) => {
                        return Err(BrokerError::Unknown("the broker speaks another protocol".to_owned()));
                    }
                    _ => {}
                },
                Polled::Quiet => return Err(BrokerError::Silent(PATIENCE.as_secs())),
                Polled::Closed => return Ok(None),
            }
        }
    }

    /// The next frame, if it comes within a time.
    ///
    /// # Errors
    /// The socket fails in another way than by being closed.
    pub fn poll(&mut self, patience: Duration) -> Result<Polled, BrokerError> {
        let failure = |error: io::Error| BrokerError::Socket(error.to_string());
        loop {
            if let Ok((rest, frame)) = parse_frame(&self.bytes[..]) {
                let used = self.bytes.len() - rest.len();
                self.bytes.drain(..used);
                return Ok(Polled::Frame(Box::new(frame)));
            }
            if patience != self.patience {
                self.writer.socket.set_read_timeout(Some(patience)).map_err(failure)?;
                self.patience = patience;
            }
            let mut chunk = [0; 4096];
            match self.writer.socket.read(&mut chunk) {
                Ok(0) => return Ok(Polled::Closed),
                Ok(count) => self.bytes.extend_from_slice(&chunk[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(Polled::Quiet);
                }
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {
                    return Ok(Polled::Closed);
                }
                Err(error) => return Err(failure(error)),
            }
        }
    }
}
