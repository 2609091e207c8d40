//! One sequence on a real broker: rounds of methods, everything that is received, and the verdict on it.

use std::thread;
use std::time::{Duration, Instant};

use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{Name, QueueProperties, Request};

use super::client::Client;
use super::draw::{Kind, Round, Wanted};
use super::judge::{Verdict, explain, judge};
use super::log::{Access, CHANNELS, Event, Happening, Log};
use super::method::{Method, Reply};
use super::side::{Side, SideLife};
use crate::ConformError;
use crate::amqp::broker::Broker;
use crate::amqp::class::Class;
use crate::amqp::pair::LINES;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// For how long deliveries are awaited at the end, and how long if they are missed.
const QUIET: [Duration; 3] = [Duration::from_millis(8), Duration::from_millis(300), Duration::from_millis(700)];

/// How long it takes to find out that a socket is closed.
const LOOK: Duration = Duration::from_millis(5);

/// How often heartbeat frames are sent where they must be, if the interval is one second: any byte in two intervals is enough (R-Q-44).
const BEAT: Duration = Duration::from_millis(900);

/// A sequence, and how it went.
pub(super) struct LiveSequence<'a> {
    broker: &'a Broker,
    prefix: String,
    began: Instant,
    clients: [Option<Client>; LINES],
    /// The heartbeat value of each connection; none: no heartbeats, which the log does not mention.
    heartbeats: [Option<u16>; LINES],
    bodies: u32,
    pub log: Log,
    /// How many methods were sent, and how many of them while other channels had some in flight.
    pub methods: [u64; 2],
    /// What no answer shows, and has come up.
    pub noted: Vec<Class>,
}

impl<'a> LiveSequence<'a> {
    pub(super) fn new(broker: &'a Broker, prefix: String, kind: Kind, access: Access) -> Self {
        let has_silences = kind == Kind::Silences;
        let lateness = broker.lateness.filter(|_| has_silences);
        let log = Log { version: broker.version.clone(), access, lateness, line: 1, ..Log::default() };
        let heartbeats = if has_silences { [Some(1), Some(0), None] } else { [None; LINES] };
        let clients = [const { None }; LINES];
        LiveSequence {
            broker,
            prefix,
            began: Instant::now(),
            clients,
            heartbeats,
            bodies: 0,
            log,
            methods: [0; 2],
            noted: Vec::new(),
        }
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
                (verdict, self.noted) = explain(&self.log, mutation);
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
            Round::Silence(milliseconds) => {
                thread::sleep(Duration::from_millis(*milliseconds));
                (0..LINES).try_for_each(|line| self.drain(line, LOOK))
            }
            Round::Beats(count) => {
                for _ in 0..*count {
                    self.beat()?;
                    thread::sleep(BEAT);
                    (0..LINES).try_for_each(|line| self.drain(line, LOOK))?;
                }
                Ok(())
            }
            Round::Restart => self.restart(),
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

    fn side(&self, line: usize, channel: u8) -> &Side {
        &self.clients[line].as_ref().expect("it is connected").sides[usize::from(channel) - 1]
    }

    /// Connects a client that is not connected, or no longer.
    fn connect(&mut self, line: usize) -> Result<(), ConformError> {
        if self.clients[line].as_ref().is_some_and(|client| !client.is_over) {
            return Ok(());
        }
        let heartbeat = self.heartbeats[line];
        if let Some(heartbeat) = heartbeat {
            self.push(line, 1, Happening::Sent(Method::Connect { heartbeat }));
        }
        let to = self.log.events.len();
        let is_limited = line == 2 && self.log.access == Access::Limited;
        let end = match is_limited {
            true => self
                .broker
                .limited_line(&self.prefix)?
                .ok_or_else(|| ConformError("the broker has no user limited, which it had a moment ago".to_owned()))?,
            false => self.broker.line_with_heartbeat(&self.prefix, heartbeat.unwrap_or(0))?,
        };
        self.clients[line] = Some(Client::new(end));
        if heartbeat.is_some() {
            self.push(line, 1, Happening::Answered { to, reply: Reply::Connected });
        }
        Ok(())
    }

    /// A heartbeat frame on every connection that has to send them.
    fn beat(&mut self) -> Result<(), ConformError> {
        for line in 0..LINES {
            let is_open = self.clients[line].as_ref().is_some_and(|client| !client.is_over);
            if is_open && self.heartbeats[line].is_some_and(|heartbeat| heartbeat > 0) {
                self.send(line, 1, Method::Beat)?;
            }
        }
        Ok(())
    }

    /// Restarts the broker; what clients receive meanwhile is left out, except the ends of their connections.
    fn restart(&mut self) -> Result<(), ConformError> {
        let Some(command) = self.broker.restart.as_ref() else { return Ok(()) };
        let since = self.now();
        self.broker.restart_with(command)?;
        for line in 0..LINES {
            let Some(mut client) = self.clients[line].take() else { continue };
            while !client.is_over {
                let heard = client.receive(PATIENCE)?;
                let heard = heard.ok_or_else(|| ConformError("a connection outlives the restart".to_owned()))?;
                let losses = heard.into_iter().filter(|(_, happened)| matches!(happened, Happening::Lost(_)));
                losses.for_each(|(channel, happened)| self.push(line, channel, happened));
            }
        }
        let happened = Happening::Restarted { since };
        self.log.events.push(Event { at: self.now(), connection: 0, channel: 0, happened });
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
        let Some(method) = self.side(line, channel).choose(wanted, self.bodies + 1) else { return Ok(count) };
        self.bodies += u32::from(matches!(method, Method::Publish { .. }));
        self.send(line, channel, method)?;
        Ok(count + 1)
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

#[cfg(test)]
mod tests {
    use fencepost_amqp::BrokerAddress;

    use super::*;

    #[test]
    fn a_sequence_with_silences_is_judged_with_the_lateness_of_the_broker() {
        let mut broker = Broker::at(BrokerAddress::parse("amqp://127.0.0.1:1").expect("an address"), String::new());
        let lateness =
            |broker: &Broker, kind: Kind| LiveSequence::new(broker, String::new(), kind, Access::Full).log.lateness;
        assert_eq!((lateness(&broker, Kind::Silences), lateness(&broker, Kind::Plain)), (Some(900), None));
        broker.lateness = Some(2_000);
        assert_eq!(lateness(&broker, Kind::Silences), Some(2_000));
        broker.lateness = None;
        assert_eq!(lateness(&broker, Kind::Silences), None);
    }
}
