//! The thread that reads a connection, and sends its heartbeats.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use amq_protocol::frame::AMQPFrame;
use amq_protocol::protocol::AMQPClass;
use fencepost_amqp::{BrokerError, ConnectionEnd, FrameWriter, Polled};
use fencepost_model::ids::SessionId;
use fencepost_rabbitmq::RabbitmqMessage;

use super::broker::LiveBroker;
use crate::server::Post;

/// What comes from a connection.
#[derive(Debug)]
pub struct Arrival {
    pub(super) connection: SessionId,
    pub(super) what: Arrived,
}

#[derive(Debug)]
pub(super) enum Arrived {
    /// It is open.
    Opened(Arc<Mutex<FrameWriter>>),
    /// It cannot be opened, or be read any more.
    Failed(BrokerError),
    /// A method of the broker on a channel; 0: about the connection.
    Method(u16, AMQPClass),
    /// What is known here already.
    Told(RabbitmqMessage),
    /// Its socket is closed, or nothing has come for two heartbeats.
    Closed,
}

/// How often a connection without heartbeats is looked at.
const GLANCE: Duration = Duration::from_secs(60);

/// Opens the connection and reads it until it ends, in a thread of its own.
pub(super) fn read(broker: &LiveBroker, connection: SessionId, post: Post<Arrival>) {
    let broker = broker.clone();
    thread::spawn(move || {
        let deliver = |what| post.deliver(Arrival { connection, what });
        let end = follow(&broker, &deliver);
        deliver(end.map_or_else(Arrived::Failed, |()| Arrived::Closed));
    });
}

/// Opens the connection, and reads it until it ends or the round is over.
fn follow(broker: &LiveBroker, deliver: &impl Fn(Arrived) -> bool) -> Result<(), BrokerError> {
    let end = broker.address.open(&broker.semaphore, broker.heartbeat)?.end;
    let writer = Arc::new(Mutex::new(end.shared_writer()?));
    if deliver(Arrived::Opened(Arc::clone(&writer))) { listen(end, &writer, broker.heartbeat, deliver) } else { Ok(()) }
}

/// Reads until the socket is closed, or the broker is silent for two heartbeats (R-Q-43).
fn listen(
    mut end: ConnectionEnd,
    writer: &Mutex<FrameWriter>,
    heartbeat: u16,
    deliver: &impl Fn(Arrived) -> bool,
) -> Result<(), BrokerError> {
    // R-Q-43: a side sends a heartbeat every T/2.
    let pause = if heartbeat == 0 { GLANCE } else { Duration::from_secs(heartbeat.into()) / 2 };
    let (mut heard, mut beat) = (Instant::now(), Instant::now() + pause);
    loop {
        match end.poll(beat.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)))? {
            Polled::Frame(frame) => {
                heard = Instant::now();
                if let AMQPFrame::Method(channel, class) = *frame {
                    deliver(Arrived::Method(channel, class));
                }
            }
            Polled::Quiet if heartbeat > 0 && heard.elapsed() > 4 * pause => return Ok(()),
            Polled::Quiet => {}
            Polled::Closed => return Ok(()),
        }
        if heartbeat > 0 && Instant::now() >= beat {
            writer.lock().expect("no thread panics while it writes").write(&AMQPFrame::Heartbeat)?;
            beat = Instant::now() + pause;
        } else if heartbeat == 0 {
            beat = Instant::now() + pause;
        }
    }
}
