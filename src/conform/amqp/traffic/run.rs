//! One sequence on a real broker: rounds of methods, everything that is received, and the verdict on it.

use std::thread;
use std::time::{Duration, Instant};

use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{Name, QueueProperties, Request};

use super::client::{Client, SideLife};
use super::draw::{How, Round, Wanted};
use super::judge::{Verdict, judge};
use super::log::{Access, CHANNELS, Event, Happening, Log};
use super::method::{Method, Verb};
use crate::ConformError;
use crate::amqp::pair::LINES;
use crate::amqp::wire::Broker;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// For how long deliveries are awaited at the end, and how long if they are missed.
const QUIET: [Duration; 3] = [Duration::from_millis(8), Duration::from_millis(300), Duration::from_millis(700)];

/// A sequence, and how it went.
pub(super) struct LiveSequence<'a> {
    broker: &'a Broker,
    prefix: String,
    began: Instant,
    clients: [Option<Client>; LINES],
    bodies: u32,
    pub log: Log,
    /// How many methods were sent, and how many of them while other channels had some in flight.
    pub methods: [u64; 2],
}

impl<'a> LiveSequence<'a> {
    pub(super) fn new(broker: &'a Broker, prefix: String, access: Access) -> Self {
        let log = Log { version: broker.version.clone(), access, line: 1, ..Log::default() };
        let clients = [const { None }; LINES];
        LiveSequence { broker, prefix, began: Instant::now(), clients, bodies: 0, log, methods: [0; 2] }
    }

    /// Carries out rounds, the first of which declares a queue.
    pub(super) fn rounds(&mut self, opening: QueueProperties, rounds: &[Round]) -> Result<(), ConformError> {
        self.round(&Round::Alone((1, 1), Wanted::Declare(Name::Slot(1), opening)))?;
        rounds.iter().try_for_each(|round| self.round(round))
    }

    /// The verdict, after everything that is still on its way has arrived.
    pub(super) fn verdict(&mut self, mutation: Option<Mutation>) -> Result<Verdict, ConformError> {
        self.log.is_complete = true;
        let mut verdict = Verdict::Possible(0);
        for quiet in QUIET {
            let before = self.log.events.len();
            for line in 0..LINES {
                self.drain(line, quiet)?;
            }
            if quiet == QUIET[0] || self.log.events.len() > before {
                verdict = judge(&self.log, mutation);
            }
            // Only something that is missing may still come.
            let without_end = Log { is_complete: false, ..self.log.clone() };
            if !matches!(verdict, Verdict::Impossible(_))
                || matches!(judge(&without_end, mutation), Verdict::Impossible(_))
            {
                break;
            }
        }
        Ok(verdict)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).expect("no sequence lasts for ages")
    }

    fn push(&mut self, line: usize, channel: u8, happened: Happening) {
        let connection = u16::try_from(line + 1).expect("few");
        self.log.events.push(Event { at: self.now(), connection, channel, happened });
    }

    fn round(&mut self, round: &Round) -> Result<(), ConformError> {
        match round {
            Round::Pause(milliseconds) => {
                thread::sleep(Duration::from_millis(*milliseconds));
                Ok(())
            }
            Round::Alone((connection, _), Wanted::HangUp) => {
                let line = usize::from(*connection) - 1;
                if self.clients[line].take().is_some() {
                    self.push(line, 1, Happening::Sent(Method::HangUp));
                    self.methods[0] += 1;
                }
                Ok(())
            }
            Round::Alone(place, wanted) => self.burst(&[(*place, vec![wanted.clone()])]),
            Round::Crowd(crowd) => self.burst(crowd),
        }
    }

    /// Sends everything, a method for each channel in turn, and then awaits every answer.
    fn burst(&mut self, crowd: &[((u16, u8), Vec<Wanted>)]) -> Result<(), ConformError> {
        let lines: Vec<usize> = crowd.iter().map(|((connection, _), _)| usize::from(*connection) - 1).collect();
        for line in &lines {
            self.connect(*line)?;
        }
        let mut count = 0;
        for turn in 0..crowd.iter().map(|(_, wanted)| wanted.len()).max().unwrap_or(0) {
            for ((connection, channel), wanted) in crowd {
                let line = usize::from(*connection) - 1;
                let Some(wanted) = wanted.get(turn) else { continue };
                count += self.send_wanted(line, *channel, wanted)?;
            }
        }
        for ((connection, channel), _) in crowd {
            let line = usize::from(*connection) - 1;
            let side = &self.side(line, *channel);
            if side.needs_fence() {
                let prefetch = side.prefetch;
                self.send(line, *channel, Method::Qos(prefetch))?;
            }
        }
        self.methods[0] += count;
        self.methods[1] += if crowd.len() > 1 { count } else { 0 };
        lines.iter().try_for_each(|line| self.await_answers(*line))
    }

    fn side(&self, line: usize, channel: u8) -> &super::client::Side {
        &self.clients[line].as_ref().expect("it is connected").sides[usize::from(channel) - 1]
    }

    /// Connects a client that is not connected, or no longer.
    fn connect(&mut self, line: usize) -> Result<(), ConformError> {
        if self.clients[line].as_ref().is_some_and(|client| !client.is_over) {
            return Ok(());
        }
        let is_limited = line == 2 && self.log.access == Access::Limited;
        let end = match is_limited {
            true => self
                .broker
                .limited_line(&self.prefix)?
                .ok_or_else(|| ConformError("the broker has no user limited, which it had a moment ago".to_owned()))?,
            false => self.broker.line(&self.prefix)?,
        };
        self.clients[line] = Some(Client::new(end));
        Ok(())
    }

    fn send(&mut self, line: usize, channel: u8, method: Method) -> Result<(), ConformError> {
        let place = self.log.events.len();
        self.push(line, channel, Happening::Sent(method));
        self.clients[line].as_mut().expect("it is connected").send(channel, place, method)
    }

    /// Sends what is wanted, on a channel that is open; the number of methods.
    fn send_wanted(&mut self, line: usize, channel: u8, wanted: &Wanted) -> Result<u64, ConformError> {
        let confirms = !matches!(wanted, Wanted::OpenUnconfirmed);
        let mut count = 1;
        match self.side(line, channel).life {
            SideLife::Open if confirms => count = 0,
            SideLife::Open => {
                self.send(line, channel, Method::Plain(Request::CloseChannel))?;
                self.await_answers(line)?;
                if self.clients[line].as_ref().is_none_or(|client| client.is_over) {
                    return Ok(count);
                }
                let broken = self.side(line, channel).life == SideLife::Broken;
                let open =
                    if broken { Method::Reopen { confirms } } else { Method::Plain(Request::OpenChannel { confirms }) };
                self.send(line, channel, open)?;
                return Ok(2);
            }
            SideLife::Closed => self.send(line, channel, Method::Plain(Request::OpenChannel { confirms }))?,
            SideLife::Broken => self.send(line, channel, Method::Reopen { confirms })?,
        }
        let Some(method) = self.method(line, channel, wanted) else { return Ok(count) };
        self.send(line, channel, method)?;
        Ok(count + 1)
    }

    /// The method that is wanted; none: there is nothing to do it to.
    fn method(&mut self, line: usize, channel: u8, wanted: &Wanted) -> Option<Method> {
        let side = self.side(line, channel);
        let settle = |how: How, tag: u64, multiple: bool| {
            let (verb, requeue) = match how {
                How::Ack => (Verb::Ack, false),
                How::Nack { requeue } => (Verb::Nack, requeue),
                How::Reject { requeue } => (Verb::Reject, requeue),
            };
            Method::Settle { verb, tag, multiple: multiple && verb != Verb::Reject, requeue }
        };
        Some(match *wanted {
            Wanted::Declare(name, shape) => Method::Plain(Request::Declare { name, shape }),
            Wanted::Look(name) => Method::Plain(Request::Look(name)),
            Wanted::Delete(name, if_empty) => Method::Plain(Request::Delete { name, if_empty }),
            Wanted::Publish { name, mandatory, expiration } => {
                self.bodies += 1;
                Method::Publish { name, body: self.bodies, mandatory, expiration }
            }
            Wanted::Get { name, no_ack } => Method::Get { name, no_ack },
            Wanted::Settle { which, how, multiple } => {
                let tag = side.unsettled.get(which % side.unsettled.len().max(1))?;
                settle(how, *tag, multiple)
            }
            Wanted::SettleUnknown(how) => settle(how, 9_999, false),
            Wanted::Recover => Method::Recover,
            Wanted::Qos(prefetch) => Method::Qos(prefetch),
            // Which of several was refused, the broker does not say.
            Wanted::Consume { .. } if side.awaits_consumer() => return None,
            Wanted::Consume { name, no_ack, exclusive } => {
                let taken = side.taken();
                let tag = (1..).find(|tag| !taken.contains(tag))?;
                Method::Consume { name, tag, no_ack, exclusive }
            }
            Wanted::ConsumeAgain(name) => {
                let tag = *side.consumers.first()?;
                Method::Consume { name, tag, no_ack: false, exclusive: false }
            }
            Wanted::Cancel(which) => {
                let consuming = side.consuming();
                Method::Cancel(consuming.get(which % consuming.len().max(1)).copied().unwrap_or(77))
            }
            Wanted::Purge(name) => Method::Purge(name),
            Wanted::CloseChannel => Method::Plain(Request::CloseChannel),
            Wanted::Close => Method::Plain(Request::Close),
            Wanted::OpenUnconfirmed | Wanted::HangUp => return None,
        })
    }

    /// Reads until nothing is awaited on a connection.
    fn await_answers(&mut self, line: usize) -> Result<(), ConformError> {
        loop {
            let Some(client) = self.clients[line].as_mut() else { return Ok(()) };
            if client.is_over || (0..CHANNELS).all(|side| client.sides[side].is_quiet()) {
                return Ok(());
            }
            let heard = client.receive(PATIENCE)?;
            let heard = heard.ok_or_else(|| ConformError(format!("no answer for {} s", PATIENCE.as_secs())))?;
            heard.into_iter().for_each(|(channel, happened)| self.push(line, channel, happened));
        }
    }

    /// Reads until nothing comes for a time.
    fn drain(&mut self, line: usize, quiet: Duration) -> Result<(), ConformError> {
        loop {
            let Some(client) = self.clients[line].as_mut().filter(|client| !client.is_over) else { return Ok(()) };
            let Some(heard) = client.receive(quiet)? else { return Ok(()) };
            heard.into_iter().for_each(|(channel, happened)| self.push(line, channel, happened));
        }
    }
}
