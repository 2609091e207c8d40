//! Frames to a real broker. The codec is that of `amq-protocol`; connections are plain sockets, for here it matters which frame
//! goes when, and what comes back in which order.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use amq_protocol::frame::{AMQPFrame, WriteContext, gen_frame, parse_frame};
use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::channel::{self, AMQPMethod as Channel};
use amq_protocol::protocol::connection::{self, AMQPMethod as Connection};
use amq_protocol::types::{AMQPValue, FieldTable, ShortString};
use fencepost_rabbitmq::Request;

use crate::ConformError;

/// A running broker.
#[derive(Clone, Debug)]
pub struct Broker {
    address: String,
    /// Its version.
    pub version: String,
    /// Whether queues that a killed run has left behind are deleted; else they are an error.
    pub removes_leftovers: bool,
    /// A shell command that restarts it, if there may be restarts. Its data must outlast it.
    pub restart: Option<String>,
}

/// A connection to it.
pub struct ConnectionEnd {
    pub(super) socket: TcpStream,
    /// What was read and is not a whole frame yet.
    bytes: Vec<u8>,
    /// What goes before each queue's name.
    pub(super) prefix: String,
    /// The channels on which publishes are confirmed.
    pub(super) confirming: BTreeSet<u16>,
    /// The channels that the broker has closed, which receive no responses until the client acknowledges the close (R-Q-31).
    pub(super) deaf: BTreeSet<u16>,
    /// Whether messages were got on it.
    pub(super) got: bool,
    /// How long a read waits.
    patience: Duration,
}

/// The user as which connections are opened; its password is its name.
const GUEST: &str = "guest";

/// The user with few permissions; its password is its name, too.
const LIMITED: &str = "limited";

/// How an error begins that says that there is no such user.
const REFUSED: &str = "the broker refuses the user";

/// What comes from a socket within a time.
pub(super) enum Polled {
    /// A frame.
    Frame(Box<AMQPFrame>),
    /// No frame within the time.
    Quiet,
    /// The socket is closed.
    Closed,
}

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The channel that is asked for nothing but to tell that earlier frames were read.
pub(super) const FENCE: u16 = 9;

impl Broker {
    /// Connects to the broker at an address like `amqp://127.0.0.1:5672`, as guest.
    ///
    /// # Errors
    /// There is no RabbitMQ broker at the address.
    pub fn connect(address: &str) -> Result<Self, ConformError> {
        let address = address.trim_start_matches("amqp://").trim_end_matches('/').to_owned();
        let mut broker = Broker { address, version: String::new(), removes_leftovers: false, restart: None };
        let (_, version) = broker.open("", GUEST, 0)?;
        broker.version = version;
        Ok(broker)
    }

    /// Opens a connection with a channel 1 that confirms; each queue's name begins with the prefix.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn line(&self, prefix: &str) -> Result<ConnectionEnd, ConformError> {
        self.line_with_heartbeat(prefix, 0)
    }

    /// The same with a heartbeat value, in seconds; 0: no heartbeats.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn line_with_heartbeat(&self, prefix: &str, heartbeat: u16) -> Result<ConnectionEnd, ConformError> {
        self.open(prefix, GUEST, heartbeat).map(|(line, _)| line)
    }

    /// The same as the user with few permissions; none: there is no such user.
    ///
    /// # Errors
    /// It cannot be opened for another reason.
    pub fn limited_line(&self, prefix: &str) -> Result<Option<ConnectionEnd>, ConformError> {
        match self.open(prefix, LIMITED, 0) {
            Ok((line, _)) => Ok(Some(line)),
            Err(error) if error.0.contains(REFUSED) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open(&self, prefix: &str, user: &str, heartbeat: u16) -> Result<(ConnectionEnd, String), ConformError> {
        let failure = |what: &dyn fmt::Display| ConformError(format!("{}: {what}", self.address));
        let socket = TcpStream::connect(&self.address).map_err(|error| failure(&error))?;
        let ready = socket.set_nodelay(true).and_then(|()| socket.set_read_timeout(Some(PATIENCE)));
        ready.map_err(|error| failure(&error))?;
        let mut line = ConnectionEnd {
            socket,
            bytes: Vec::new(),
            prefix: prefix.to_owned(),
            confirming: BTreeSet::new(),
            deaf: BTreeSet::new(),
            got: false,
            patience: PATIENCE,
        };
        line.socket.write_all(b"AMQP\0\0\x09\x01").map_err(|error| failure(&error))?;
        let strange = || failure(&"it answers, but not as a RabbitMQ broker does");
        let Some(AMQPClass::Connection(Connection::Start(start))) = line.method()? else { return Err(strange()) };
        let properties = start.server_properties.inner();
        let version = properties.iter().find(|(key, _)| key.as_str() == "version").map(|(_, value)| text(value));
        let mut capabilities = FieldTable::default();
        capabilities.insert(short("authentication_failure_close"), AMQPValue::Boolean(true));
        capabilities.insert(short("consumer_cancel_notify"), AMQPValue::Boolean(true));
        let mut about = FieldTable::default();
        about.insert(short("capabilities"), AMQPValue::FieldTable(capabilities));
        line.send(
            0,
            AMQPClass::Connection(Connection::StartOk(connection::StartOk {
                client_properties: about,
                mechanism: short("PLAIN"),
                response: format!("\0{user}\0{user}").into(),
                locale: short("en_US"),
            })),
        )?;
        let tune = match line.method()? {
            Some(AMQPClass::Connection(Connection::Tune(tune))) => tune,
            Some(AMQPClass::Connection(Connection::Close(close))) if close.reply_code == 403 => {
                return Err(failure(&format!("{REFUSED} {user}")));
            }
            _ => return Err(strange()),
        };
        line.send(
            0,
            AMQPClass::Connection(Connection::TuneOk(connection::TuneOk {
                channel_max: tune.channel_max,
                frame_max: tune.frame_max,
                heartbeat,
            })),
        )?;
        line.send(0, AMQPClass::Connection(Connection::Open(connection::Open { virtual_host: short("/") })))?;
        let Some(AMQPClass::Connection(Connection::OpenOk(_))) = line.method()? else { return Err(strange()) };
        line.send(FENCE, AMQPClass::Channel(Channel::Open(channel::Open {})))?;
        let Some(AMQPClass::Channel(Channel::OpenOk(_))) = line.method()? else { return Err(strange()) };
        line.ask(1, false, &Request::OpenChannel { confirms: true })?;
        Ok((line, version.unwrap_or_default()))
    }
}

pub(super) fn short(text: &str) -> ShortString {
    ShortString::try_new(text).expect("short enough")
}

fn text(value: &AMQPValue) -> String {
    match value {
        AMQPValue::LongString(text) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
        _ => String::new(),
    }
}

impl ConnectionEnd {
    pub(super) fn send(&mut self, channel: u16, class: AMQPClass) -> Result<(), ConformError> {
        self.write(&AMQPFrame::Method(channel, class))
    }

    /// Writes a frame; a socket that the broker has closed is found out when it is read.
    pub(super) fn write(&mut self, frame: &AMQPFrame) -> Result<(), ConformError> {
        let mut buffer = vec![0; 4096];
        let context = gen_frame(frame)(WriteContext::from(io::Cursor::new(&mut buffer[..])))
            .map_err(|error| ConformError(format!("a frame that cannot be written: {error}")))?;
        let (_, length) = context.into_inner();
        let length = usize::try_from(length).expect("a small frame");
        let _ = self.socket.write_all(&buffer[..length]);
        Ok(())
    }

    pub(super) fn method(&mut self) -> Result<Option<AMQPClass>, ConformError> {
        Ok(self.next()?.map(|(_, class)| class))
    }

    /// The next method from the broker, and its channel; none: the socket is closed. Contents are skipped.
    pub(super) fn next(&mut self) -> Result<Option<(u16, AMQPClass)>, ConformError> {
        loop {
            match self.poll(PATIENCE)? {
                Polled::Frame(frame) => match *frame {
                    AMQPFrame::Method(channel, class) => return Ok(Some((channel, class))),
                    AMQPFrame::ProtocolHeader(_) => {
                        return Err(ConformError("the broker speaks another protocol".to_owned()));
                    }
                    _ => {}
                },
                Polled::Quiet => return Err(ConformError(format!("no answer for {} s", PATIENCE.as_secs()))),
                Polled::Closed => return Ok(None),
            }
        }
    }

    /// The next frame, if it comes within a time.
    pub(super) fn poll(&mut self, patience: Duration) -> Result<Polled, ConformError> {
        let failure = |error: io::Error| ConformError(format!("no answer: {error}"));
        loop {
            if let Ok((rest, frame)) = parse_frame(&self.bytes[..]) {
                let used = self.bytes.len() - rest.len();
                self.bytes.drain(..used);
                return Ok(Polled::Frame(Box::new(frame)));
            }
            if patience != self.patience {
                self.socket.set_read_timeout(Some(patience)).map_err(failure)?;
                self.patience = patience;
            }
            let mut chunk = [0; 4096];
            match self.socket.read(&mut chunk) {
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
